"""`Schedule`: TVM's names over the steps of `refmlc.schedule`. A step that is not shown to be legal is refused: RM504.

Blocks and loops are held by handles: a block by its name, a loop by its variable; both survive a step.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from refmlc import schedule as steps
from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE
from refmlc.ir import IRModule, tir
from refmlc.ir.visit import walk
from refmlc.schedule.places import get_loop, place_of_block
from refmlc.te import Value

Made = TypeVar("Made")


@dataclass(frozen=True)
class BlockRV:
    """A block of a function, by name."""

    name: str
    func: str


@dataclass(frozen=True)
class LoopRV:
    """A loop of a function, by its variable."""

    var: tir.Var
    func: str


class Schedule:
    """A module that is changed step by step. `validate` is told by the step itself: none changes the meaning."""

    def __init__(self, mod: "IRModule | tir.PrimFunc", *, debug_mask: object = "none", **_: object) -> None:
        """Begin with a module, or with one function, then called `main`."""
        del debug_mask
        self._module = IRModule({"main": mod}) if isinstance(mod, tir.PrimFunc) else mod
        self._work_on = "main"

    @property
    def mod(self) -> IRModule:
        """The module as it is now."""
        return self._module

    def copy(self) -> "Schedule":
        """Another one that goes on from here."""
        other = Schedule(self._module)
        other.work_on(self._work_on)
        return other

    def work_on(self, func_name: str) -> None:
        """The function in which blocks are looked up where none is named."""
        self._work_on = func_name

    def show(self, *, dialect: str | None = None) -> None:
        """Print the module."""
        self._module.show(dialect=dialect)

    def get(self, rv: BlockRV | LoopRV) -> tir.SBlock | tir.For:
        """The block or loop that a handle holds. Fails: RM112."""
        func = self._func(rv.func)
        return steps.get_block(func, rv.name).block if isinstance(rv, BlockRV) else get_loop(func, rv.var)

    # ------------------------------------------------------------------------------------------------ places

    def get_block(self, name: str, func_name: str | None = None) -> BlockRV:
        """The block called `name`. Fails: RM112."""
        found = func_name or self._work_on
        steps.get_block(self._func(found), name)
        return BlockRV(name, found)

    get_sblock = get_block

    def get_loops(self, block: BlockRV) -> list[LoopRV]:
        """The loops around a block, outermost first."""
        around = place_of_block(self._func(block.func), block.name).around
        return [LoopRV(one.loop_var, block.func) for one in around if isinstance(one, tir.For)]

    # ------------------------------------------------------------------------------------------------- loops

    def split(
        self, loop: LoopRV, factors: "Sequence[int | Value | None]", preserve_unit_iters: object = None, **_: object
    ) -> list[LoopRV]:
        """The loop as several; one of the factors may be None. Fails: RM112, RM504."""
        del preserve_unit_iters
        func, made = steps.split(self._func(loop.func), loop.var, self._factors(loop, factors))
        return [LoopRV(var, loop.func) for var in self._put(loop.func, func, made)]

    def _factors(self, loop: LoopRV, factors: "Sequence[int | Value | None]") -> list[int | None]:
        """The factors, with what None stands for where it is not the first."""
        known: list[int | None] = [_number(one) for one in factors]
        if None in known[1:]:
            extent = get_loop(self._func(loop.func), loop.var).extent
            if not isinstance(extent, tir.IntImm):
                raise fail(BAD_USAGE, "a loop of unknown extent takes None as the first factor only")
            volume = 1
            for one in known:
                volume *= one or 1
            known = [-(-extent.value // volume) if one is None else one for one in known]
        return known

    def fuse(self, *loops: LoopRV, preserve_unit_iters: bool = True) -> LoopRV:
        """Loops, each all that the one before contains, as one. Fails: RM112, RM504."""
        del preserve_unit_iters
        first, *others = loops
        for other in others:
            func, var = steps.fuse(self._func(first.func), first.var, other.var)
            self._put(first.func, func, var)
            first = LoopRV(var, first.func)
        return first

    def reorder(self, *loops: LoopRV) -> None:
        """The loops in this order. Fails: RM112, RM504."""
        func = steps.reorder(self._func(loops[0].func), [one.var for one in loops])
        self._put(loops[0].func, func, None)

    def parallel(self, loop: LoopRV) -> None:
        """The loop parallel. Fails: RM112, RM504."""
        self._kind(steps.parallel, loop)

    def vectorize(self, loop: LoopRV) -> None:
        """The loop vectorised. Fails: RM112, RM504."""
        self._kind(steps.vectorize, loop)

    def unroll(self, loop: LoopRV) -> None:
        """The loop unrolled. Fails: RM112, RM504."""
        self._kind(steps.unroll, loop)

    def _kind(self, step: Callable[[tir.PrimFunc, tir.Var], tir.PrimFunc], loop: LoopRV) -> None:
        self._put(loop.func, step(self._func(loop.func), loop.var), None)

    # ------------------------------------------------------------------------------------------------ blocks

    def compute_inline(self, block: BlockRV) -> None:
        """What a block computes in the place of what reads it. Fails: RM112, RM504."""
        self._put(block.func, steps.compute_inline(self._func(block.func), block.name), None)

    def decompose_reduction(self, block: BlockRV, loop: LoopRV) -> BlockRV:
        """The init as a block of its own, before `loop`; that block. Fails: RM112, RM504."""
        before = self._blocks(block.func)
        func = steps.decompose_reduction(self._func(block.func), block.name, loop.var)
        self._put(block.func, func, None)
        return self._new(block.func, before, "_init")

    def cache_read(self, block: BlockRV, read_buffer_index: int, storage_scope: str = "global") -> BlockRV:
        """The block reads a copy; the block that copies. Fails: RM112, RM504."""
        buffer = self._buffer(block, read_buffer_index, "reads")
        before = self._blocks(block.func)
        func = steps.cache_read(self._func(block.func), block.name, buffer, storage_scope)
        self._put(block.func, func, None)
        return self._new(block.func, before, "")

    def cache_write(self, block: BlockRV, write_buffer_index: int, storage_scope: str = "global") -> BlockRV:
        """The block writes a copy; the block that copies back. Fails: RM112, RM504."""
        self._buffer(block, write_buffer_index, "writes")
        before = self._blocks(block.func)
        self._put(block.func, steps.cache_write(self._func(block.func), block.name, storage_scope), None)
        return self._new(block.func, before, "")

    def _buffer(self, block: BlockRV, index: int, which: str) -> tir.Buffer:
        """Buffer `index` of those that the block reads or writes."""
        found = steps.get_block(self._func(block.func), block.name).block
        kind = tir.BufferLoad if which == "reads" else tir.BufferStore
        declared = found.reads if which == "reads" else found.writes
        used = [node.buffer for node in walk(found.body) if isinstance(node, kind)]
        buffers = list(dict.fromkeys(used if declared is None else [one.buffer for one in declared]))
        if not 0 <= index < len(buffers):
            raise fail(BAD_USAGE, f"`{block.name}` {which} {len(buffers)} buffers; there is none of index {index}")
        return buffers[index]

    def _blocks(self, func: str) -> list[str]:
        return [node.name for node in walk(self._func(func).body) if isinstance(node, tir.SBlock)]

    def _new(self, func: str, before: list[str], ending: str) -> BlockRV:
        """The block that a step has added."""
        added = [name for name in self._blocks(func) if name not in before]
        return BlockRV(next((name for name in added if name.endswith(ending)), added[0]), func)

    # ------------------------------------------------------------------------------------------------ module

    def _func(self, name: str) -> tir.PrimFunc:
        found = self._module.functions.get(name)
        if not isinstance(found, tir.PrimFunc):
            raise fail(BAD_USAGE, f"the module has no TensorIR function `{name}`")
        return found

    def _put(self, name: str, func: tir.PrimFunc, made: Made) -> Made:
        self._module = replace(self._module, functions={**self._module.functions, name: func})
        return made


def _number(factor: "int | Value | None") -> int | None:
    if isinstance(factor, Value):
        return factor.expr.value if isinstance(factor.expr, tir.IntImm) else None
    return factor
