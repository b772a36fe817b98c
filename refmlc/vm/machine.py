"""The virtual machine: functions of an executable by name, called with objects of Python.

A function that returns gives its value: tensors as `Tensor`, tuples as tuples. A prim_func writes in place into the
arrays among its arguments and returns None (or the scalar that it returns).
"""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from threading import RLock

from refmlc.diag import RefmlcError, fail
from refmlc.diag.catalogue import BAD_INPUT, BAD_USAGE
from refmlc.diag.entry import entry_point, shortened
from refmlc.lang.ir import relax, tir
from refmlc.native.tier.tier_switch import NOT_APPLICABLE, TierSwitch
from refmlc.run.interp.hooks import Hooks
from refmlc.run.interp.machine import Machine
from refmlc.run.interp.tensorir.c_abi import is_packed_entry
from refmlc.run.memory.budget import Budget
from refmlc.vm.arguments import accept, as_value, ordered
from refmlc.vm.call_cache import CallCache, as_arrays
from refmlc.vm.executable import Executable
from refmlc.vm.parameters import aliases, parameters_of
from refmlc.vm.tiers import AUTO


class VirtualMachine:
    """Runs an executable. Calls from several threads are executed one after the other: better take one per thread.

    A packed function may call the machine again, from the thread that it is called in.
    `budget`: the limits, and what the last call used of them. `native`: the switch to C, with `counts` of calls.
    """

    @entry_point
    def __init__(self, executable: Executable, *, hooks: Hooks | None = None) -> None:
        """`hooks` watches every run, which the interpreter then executes alone (None: nothing watches)."""
        if not isinstance(executable, Executable):
            raise fail(BAD_USAGE, f"an executable is run, an object of type {type(executable).__qualname__} is given")
        self.executable = executable
        self.budget = Budget() if executable.budget is None else executable.budget
        compiled = executable.native
        self.native = None if compiled is None else TierSwitch(compiled, self.budget, waits=executable.tier == AUTO)
        self._machine = Machine(
            executable.module,
            hooks=hooks,
            budget=self.budget,
            allow=executable.allow,
            registry=executable.registry,
            math=executable.math,
            substitutes=self.native,
        )
        self._lock = RLock()
        self._functions: dict[str, VMFunction] = {}

    def __repr__(self) -> str:
        """Its functions, in one line."""
        return f"<VirtualMachine {', '.join(self.executable.module.functions)}: {self.executable.tier}>"

    @entry_point
    def __getitem__(self, name: str) -> "VMFunction":
        """The function `name`. Fails: RM112 when the module has none, or it is extern."""
        function = self._functions.get(name)
        if function is None:
            watched = self._machine.substitutes is None
            native = None if watched else self.native
            function = self._functions.setdefault(name, VMFunction(self._machine, name, self._lock, native))
        return function


class VMFunction:
    """A function of the module, which Python can call."""

    def __init__(
        self, machine: Machine, name: str, lock: AbstractContextManager[bool], native: TierSwitch | None = None
    ) -> None:
        """Look the function up; `lock` is held in calls, `native` makes its cached calls. Fails: RM112."""
        functions = machine.module.functions
        function = functions.get(name)
        if function is None:
            names = ", ".join(functions) or "none"
            raise fail(BAD_USAGE, f"the module has no function `{name}`", None, f"its functions: {names}")
        if isinstance(function, relax.ExternFunc):
            raise fail(BAD_USAGE, f"`{name}` is an extern function: it has no body to run", function.span)
        self.name = name
        self.parameters = parameters_of(function)
        self._function = function
        self._aliases = aliases(function)
        self._packed = isinstance(function, tir.PrimFunc) and is_packed_entry(function)
        self._machine = machine
        self._lock = lock
        self._cache = None if native is None else CallCache(machine, name, native)

    def __repr__(self) -> str:
        """Its name and its parameters, in one line."""
        return f"<VMFunction {self.name}({', '.join(parameter.name for parameter in self.parameters)})>"

    def __str__(self) -> str:
        return str(self._function)

    def __call__(self, *args: object, **named: object) -> object:
        """Run the function on `args`, in the order of its parameters or by their names.

        Fails: RM111 (count, names, kinds, dtypes, shapes of the arguments), and whatever the program does.
        """
        __tracebackhide__ = True
        try:
            cache = self._cache
            last = None if cache is None else cache.last  # once: another thread's call may evict it
            if last is not None and not named:
                result = last(args)  # without the lock: it does not share what another call needs
                if result is not NOT_APPLICABLE:
                    return result
            with self._lock:
                return self._run(args, named) if cache is None else self._cached(cache, args, named)
        except RefmlcError as failure:  # as of an entry point, without the time that a wrapper takes
            raise shortened(failure)  # noqa: B904 - it is the same exception

    def _cached(self, cache: CallCache, args: tuple[object, ...], named: Mapping[str, object]) -> object:
        """The call by the cache; if it has none, the general call, which is then cached."""
        arrays = as_arrays(args if self._packed or not named else tuple(self._ordered(args, named)))
        result = cache.call(arrays)
        if result is NOT_APPLICABLE:
            result = self._run(args, named)
            cache.add(arrays)
        return result

    def _run(self, args: tuple[object, ...], named: Mapping[str, object]) -> object:
        """The general call: every argument is checked."""
        try:
            if self._packed and not named:  # the C interface checks its arguments itself
                place = f"argument {{}} of `{self.name}`".format
                values = [as_value(arg, None, place(number)) for number, arg in enumerate(args)]
            else:
                values = accept(self.name, self.parameters, self._ordered(args, named))
        except RecursionError:
            raise fail(BAD_INPUT, f"an argument of `{self.name}` nests too deep, or holds itself") from None
        machine = self._machine
        if machine.depth == 0:
            machine.budget.renew()
        return machine.call(self.name, values)

    def _ordered(self, args: Sequence[object], named: Mapping[str, object]) -> list[object]:
        """The arguments in the order of the parameters."""
        by_name = {self._aliases.get(name, name): value for name, value in named.items()}
        return ordered(self.name, self.parameters, args, by_name)
