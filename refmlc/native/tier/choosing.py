"""Choosing: the interpreter executes until a compilation pays, then C does; the interpreter's substitute.

| tier     | compiled                                                                                             |
|----------|------------------------------------------------------------------------------------------------------|
| `native` | when the module is built                                                                             |
| `auto`   | once, all functions together, when interpreting what was called takes as long as a compilation would |

Decision: what is counted for `auto` is what calls announce (extents of loops) before they run, and the steps that they
took where those were more.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, TypeAlias

from refmlc.lang.ir import relax, tir
from refmlc.lazy import load
from refmlc.native.tier.module import NativeModule
from refmlc.native.tier.work import COMPILATION, EACH_FUNCTION, Work
from refmlc.run.interp.graph.activation import Activation
from refmlc.run.interp.machine import Machine
from refmlc.run.interp.substitutes import BlockRun, Prepared
from refmlc.run.memory.budget import Budget

if TYPE_CHECKING:
    from refmlc.native.tier.calls import Counts
    from refmlc.native.tier.tier import NativeTier


class Declined:
    """What a quick call gives that was not made."""


DECLINED: Final = Declined()
Quick: TypeAlias = Callable[[tuple[object, ...]], object]


class Choosing:
    """The substitute of one virtual machine. Not for concurrent use."""

    def __init__(self, native: NativeModule, budget: Budget, *, waits: bool) -> None:
        self._native = native
        self._budget = budget
        self._tier: NativeTier | None = None
        self._work = 0
        self._worth = COMPILATION + EACH_FUNCTION * len(native.module.functions) if waits else 0

    @property
    def counts(self) -> "Counts | None":
        """What happened in C so far; None: nothing is compiled."""
        return None if self._tier is None else self._tier.counts

    @property
    def steps(self) -> int:
        """The steps of the run so far."""
        return self._budget.steps

    def function(self, name: str, interpreted: Callable[[], Prepared]) -> Prepared:
        """The prim_func `name`: in C as soon as it is compiled."""
        func = self._native.module.functions[name]
        return _Function(self, func, name, interpreted) if isinstance(func, tir.PrimFunc) else interpreted()

    def block(self, function: str, block: relax.DataflowBlock) -> BlockRun | None:
        """What executes the runs of bindings of `block` that are fused, as soon as they are compiled."""
        del function
        return _Block(self, block).run

    def quick(self, machine: Machine, name: str, args: Sequence[object], forget: Callable[[], None]) -> Quick | None:
        """The quick call of the function `name` on `machine` for arguments like `args`; None: there is none.

        `forget` is called when there is a better one.
        """
        return None if self._tier is None else self._tier.quick(machine, name, args, forget)

    def announce(self, iterations: int) -> None:
        """So many iterations will be executed, or were."""
        self._work += iterations

    def tier(self) -> "NativeTier | None":
        """What is compiled; None: it does not pay yet."""
        if self._tier is None and (self._work >= self._worth or self._native.made is not None):
            module, compiled = self._native.module, self._native.compiled()
            self._tier = load("refmlc.native.tier.tier:NativeTier")(module, compiled, self._budget)
        return self._tier


class _Function:
    """A prim_func that is interpreted until it is compiled."""

    def __init__(self, choosing: Choosing, func: tir.PrimFunc, name: str, interpreted: Callable[[], Prepared]) -> None:
        self._choosing = choosing
        self._name = name
        self._work = Work(func)
        self._prepare = interpreted
        self._interpreted: Prepared | None = None
        self._chosen: Prepared | None = None

    def __call__(self, args: Sequence[object]) -> object:
        if self._chosen is not None:
            return self._chosen(args)
        choosing = self._choosing
        announced = self._work.iterations(args)
        choosing.announce(announced)
        tier = choosing.tier()
        if tier is not None:
            self._chosen = tier.function(self._name, self._in_the_interpreter)
            return self._chosen(args)
        before = choosing.steps
        result = self._in_the_interpreter()(args)
        choosing.announce(max(0, choosing.steps - before - announced))
        return result

    def _in_the_interpreter(self) -> Prepared:
        if self._interpreted is None:
            self._interpreted = self._prepare()
        return self._interpreted


class _Block:
    """A dataflow block whose fused runs of bindings are executed in C as soon as they are compiled."""

    def __init__(self, choosing: Choosing, block: relax.DataflowBlock) -> None:
        self._choosing = choosing
        self._block = block
        self._calls: Mapping[int, Callable[[Activation], int]] | None = None

    def run(self, env: Activation, done: int) -> int:
        """Execute bindings from number `done` on; how many."""
        if self._calls is None:
            tier = self._choosing.tier()
            if tier is None:
                return 0
            self._calls = tier.block(self._block)
        call = self._calls.get(done)
        return 0 if call is None else call(env)
