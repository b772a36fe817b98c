"""The switch of tiers: the interpreter executes until a compilation pays, then C does.

| tier     | compiled                                                                                             |
|----------|------------------------------------------------------------------------------------------------------|
| `native` | when the module is built                                                                             |
| `auto`   | once, all functions together, when interpreting the calls so far took as long as a compilation would |

Decision: under `auto` calls count what they announce (extents of loops) before they run, and the steps that they took
where those were more.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, TypeAlias

from refmlc.lang.ir import relax, tir
from refmlc.lazy import load
from refmlc.native.tier.native_module import NativeModule
from refmlc.native.tier.work import Work
from refmlc.run.interp.graph.activation import Activation
from refmlc.run.interp.machine import Machine
from refmlc.run.interp.substitutes import BlockRun, Prepared
from refmlc.run.memory.budget import Budget

if TYPE_CHECKING:
    from refmlc.native.tier.native_call import Counts
    from refmlc.native.tier.native_tier import NativeTier


class NotApplicable:
    """Returned by a cached call that does not take its arguments, and has done nothing."""


NOT_APPLICABLE: Final = NotApplicable()
CachedCall: TypeAlias = Callable[[tuple[object, ...]], object]


class TierSwitch:
    """The interpreter's substitute in one virtual machine. Not for concurrent use.

    `waits`: compile when it pays (`auto`), or after `worth` iterations, not at once.
    """

    def __init__(self, native: NativeModule, budget: Budget, *, waits: bool, worth: int | None = None) -> None:
        self._native = native
        self._budget = budget
        self._tier: NativeTier | None = None
        self._work = 0
        self._worth = 0 if not waits else native.cost if worth is None else worth

    @property
    def counts(self) -> "Counts | None":
        """The calls in C so far; None: nothing is compiled."""
        return None if self._tier is None else self._tier.counts

    @property
    def is_final(self) -> bool:
        """Whether functions are compiled, and no better code is to come."""
        return self._tier is not None and self._tier.is_final

    @property
    def steps(self) -> int:
        """The steps of the run so far."""
        return self._budget.steps

    def function(self, name: str, interpreted: Callable[[], Prepared]) -> Prepared:
        """The prim_func `name`: in C as soon as it is compiled."""
        func = self._native.module.functions[name]
        return _Function(self, func, name, interpreted) if isinstance(func, tir.PrimFunc) else interpreted()

    def block(self, function: str, block: relax.Block) -> BlockRun | None:
        """The executor of the fused bindings of `block`, as soon as they are compiled."""
        del function
        return _Block(self, block).run

    def cached_call(
        self, machine: Machine, name: str, args: Sequence[object], evict: Callable[[], None]
    ) -> CachedCall | None:
        """A cached call of the function `name` on `machine` for arguments like `args`; None: it has none.

        The call runs `evict` when a better one can be made.
        """
        return None if self._tier is None else self._tier.cached_call(machine, name, args, evict)

    def announce(self, iterations: int) -> None:
        """Count iterations that will be executed, or were."""
        self._work += iterations

    def tier(self, announced: int = 0) -> "NativeTier | None":
        """The compiled tier for a call that announces iterations; None: a compilation does not pay yet."""
        if not self.is_final and (self._work >= self._worth or self._native.if_compiled is not None):
            module, compiled, former = self._native.module, self._native.code(self._work, announced), self._tier
            if former is None:
                self._tier = load("refmlc.native.tier.native_tier:NativeTier")(module, compiled, self._budget)
            elif compiled is not former.compiled:
                self._tier = former.exchanged(compiled)
        return self._tier


class _Function:
    """A prim_func that is interpreted until it is compiled."""

    def __init__(self, switch: TierSwitch, func: tir.PrimFunc, name: str, interpreted: Callable[[], Prepared]) -> None:
        self._switch = switch
        self._name = name
        self._work = Work(func)
        self._prepare = interpreted
        self._interpreted: Prepared | None = None
        self._native: Prepared | None = None

    def __call__(self, args: Sequence[object]) -> object:
        if self._native is not None:
            return self._native(args)
        switch = self._switch
        announced = self._work.iterations(args)
        switch.announce(announced)
        tier = switch.tier(announced)
        if tier is not None:
            native = tier.function(self._name, self._in_the_interpreter)
            self._native = native if tier.is_final else None
            return native(args)
        before = switch.steps
        result = self._in_the_interpreter()(args)
        switch.announce(max(0, switch.steps - before - announced))
        return result

    def _in_the_interpreter(self) -> Prepared:
        if self._interpreted is None:
            self._interpreted = self._prepare()
        return self._interpreted


class _Block:
    """A block whose fused bindings are executed in C as soon as they are compiled: quick code has none."""

    def __init__(self, switch: TierSwitch, block: relax.Block) -> None:
        self._switch = switch
        self._block = block
        self._calls: Mapping[int, Callable[[Activation], int]] | None = None

    def run(self, env: Activation, done: int) -> int:
        """Execute bindings from number `done` on; returns how many."""
        if self._calls is None:
            tier = self._switch.tier()
            if tier is None or not tier.is_final:
                return 0
            self._calls = tier.block(self._block)
        call = self._calls.get(done)
        return 0 if call is None else call(env)
