"""The virtual machine: functions of an executable by name, called with what Python has.

A function that returns gives its value: tensors as `Tensor`, tuples as tuples. A prim_func writes in place into the
arrays that it is given and returns None (or the scalar that it returns).
"""

from collections.abc import Iterable, Mapping, Sequence

from refmlc.diag import RefmlcError, fail
from refmlc.diag.catalogue import BAD_INPUT, BAD_USAGE
from refmlc.diag.entry import entry_point, shortened
from refmlc.lang.ir import relax, tir
from refmlc.native.tier.choosing import DECLINED, Choosing
from refmlc.run.interp.hooks import Hooks
from refmlc.run.interp.machine import Machine
from refmlc.run.interp.tensorir.c_abi import is_packed_entry
from refmlc.run.memory.budget import Budget
from refmlc.vm.arguments import accept, as_value, ordered
from refmlc.vm.executable import Executable
from refmlc.vm.parameters import aliases, parameters_of
from refmlc.vm.repeated import Repeated, as_arrays
from refmlc.vm.tiers import AUTO


class VirtualMachine:
    """Runs an executable. Not for concurrent use: take one per thread.

    `budget`: what the last call used, of what it might. `native`: what executes functions in C, with `counts`.
    """

    @entry_point
    def __init__(self, executable: Executable, *, hooks: Hooks | None = None) -> None:
        """`hooks` watches every run, which the interpreter then does alone (None: nothing watches)."""
        if not isinstance(executable, Executable):
            raise fail(BAD_USAGE, f"an executable is run, an object of type {type(executable).__qualname__} is given")
        self.executable = executable
        self.budget = Budget() if executable.budget is None else executable.budget
        self.native = _native(executable, self.budget)
        self._machine = Machine(
            executable.module,
            hooks=hooks,
            budget=self.budget,
            allow=executable.allow,
            registry=executable.registry,
            math=executable.math,
            substitutes=self.native,
        )
        self._functions: dict[str, VMFunction] = {}

    def __repr__(self) -> str:
        """Its functions, in one line."""
        return f"<VirtualMachine {', '.join(self.executable.module.functions)}: {self.executable.tier}>"

    @entry_point
    def __getitem__(self, name: str) -> "VMFunction":
        """The function `name`. Fails: RM112 when the module has none, or it is extern."""
        found = self._functions.get(name)
        if found is None:
            watched = self._machine.substitutes is None
            found = self._functions[name] = VMFunction(self._machine, name, None if watched else self.native)
        return found


class VMFunction:
    """A function of the module, to be called."""

    def __init__(self, machine: Machine, name: str, native: Choosing | None = None) -> None:
        """Look the function up; `native` knows calls that begin quickly. Fails: RM112."""
        functions = machine.module.functions
        function = functions.get(name)
        if function is None:
            raise fail(BAD_USAGE, f"the module has no function `{name}`", None, f"its functions: {_list(functions)}")
        if isinstance(function, relax.ExternFunc):
            raise fail(BAD_USAGE, f"`{name}` is an extern function: it has no body to run", function.span)
        self.name = name
        self.parameters = parameters_of(function)
        self._function = function
        self._aliases = aliases(function)
        self._packed = isinstance(function, tir.PrimFunc) and is_packed_entry(function)
        self._machine = machine
        self._repeated = None if native is None else Repeated(machine, name, native)

    def __repr__(self) -> str:
        """Its name and its parameters, in one line."""
        return f"<VMFunction {self.name}({', '.join(one.name for one in self.parameters)})>"

    def __str__(self) -> str:
        return str(self._function)

    def __call__(self, *args: object, **named: object) -> object:
        """Run the function on `args`, in the order of its parameters or by their names.

        Fails: RM111 (count, names, kinds, dtypes, shapes of the arguments), and whatever the program does.
        """
        __tracebackhide__ = True
        try:
            repeated = self._repeated
            if repeated is None:
                return self._run(args, named)
            if repeated.last is not None and not named:
                result = repeated.last(args)
                if result is not DECLINED:
                    return result
            return self._again(repeated, args, named)
        except RefmlcError as failure:  # as of an entry point, without the time that a wrapper takes
            raise shortened(failure)  # noqa: B904 - it is the same exception

    def _again(self, repeated: Repeated, args: tuple[object, ...], named: Mapping[str, object]) -> object:
        """The call as one of a kind that was seen before, if it is one; else as one that is seen now."""
        given = as_arrays(args if self._packed or not named else tuple(self._ordered(args, named)))
        result = repeated.call(given)
        if result is DECLINED:
            result = self._run(args, named)
            repeated.learn(given)
        return result

    def _run(self, args: tuple[object, ...], named: Mapping[str, object]) -> object:
        """The call, every argument looked at."""
        try:
            values = self._open(args) if self._packed and not named else self._fitting(args, named)
        except RecursionError:
            raise fail(BAD_INPUT, f"an argument of `{self.name}` nests too deep, or holds itself") from None
        machine = self._machine
        if machine.depth == 0:
            machine.budget.renew()
        return machine.call(self.name, values)

    def _fitting(self, args: Sequence[object], named: Mapping[str, object]) -> list[object]:
        """The arguments as the parameters declare them."""
        return accept(self.name, self.parameters, self._ordered(args, named))

    def _ordered(self, args: Sequence[object], named: Mapping[str, object]) -> list[object]:
        """The arguments in the order of the parameters."""
        by_name = {self._aliases.get(name, name): value for name, value in named.items()}
        return ordered(self.name, self.parameters, args, by_name)

    def _open(self, args: Sequence[object]) -> list[object]:
        """The arguments of a function with the C interface, which checks them itself."""
        return [as_value(arg, None, f"argument {number} of `{self.name}`") for number, arg in enumerate(args)]


def _native(executable: Executable, budget: Budget) -> Choosing | None:
    """What executes functions in C; None: the executable has none."""
    if executable.native is None:
        return None
    return Choosing(executable.native, budget, waits=executable.tier == AUTO)


def _list(names: Iterable[str]) -> str:
    return ", ".join(names) or "none"
