"""The blocks of a function whose axes are its loops, one for one: what rules for kernels look at.

Axes of extent 1 say nothing and are left out. A block that has then no spatial axis has one of extent 1 at the front.

Source: `NormalizePrimFunc` of TVM 0.27, `src/s_tir/schedule/transform.cc`, which changes the blocks so.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from refmlc.lang.ir import tir
from refmlc.lang.ir.kinds import IterKind
from refmlc.lang.ir.visit import walk
from refmlc.rewrite.schedule import LoopRV, Schedule, get_block
from refmlc.rewrite.schedule.handles import BlockRV

KINDS = {IterKind.SPATIAL: "S", IterKind.REDUCE: "R"}


@dataclass(frozen=True)
class BlockIter:
    """An axis of a block and its loop. `kind`: S spatial, R reduced, O any other; `var` None: it was added."""

    kind: str
    var: tir.Var | None
    extent: tir.Expr
    loop_rv: LoopRV | None

    @property
    def dom(self) -> int | tir.Expr:
        """The extent, a number where it is one."""
        return self.extent.value if isinstance(self.extent, tir.IntImm) else self.extent


@dataclass(frozen=True)
class KernelBlock:
    """A block with its axes. Names of attributes are TVM's."""

    name: str
    iters: tuple[BlockIter, ...]
    block_rv: BlockRV
    has_init: bool

    def dom(self) -> list[int | tir.Expr]:
        """The extents."""
        return [axis.dom for axis in self.iters]

    def dom_kind(self) -> str:
        """The kinds of the axes, as `SSR`."""
        return "".join(axis.kind for axis in self.iters)

    def is_injective(self) -> bool:
        """Whether all axes are spatial."""
        return set(self.dom_kind()) <= {"S"}

    def is_reduction(self) -> bool:
        """Whether an element is started and then changed along an axis."""
        return self.has_init and set(self.dom_kind()) <= {"S", "R"}

    def get_loops(self) -> list[LoopRV | None]:
        """The loops of the axes."""
        return [axis.loop_rv for axis in self.iters]


def kernel_blocks(schedule: Schedule, func_name: str = "main") -> list[KernelBlock] | None:
    """The innermost blocks, in the order of the text; None where the axes of one are not its loops."""
    func = schedule.mod.functions[func_name]
    if not isinstance(func, tir.PrimFunc):
        return None
    names = leaf_blocks(func)
    if not all(_has_own_loops(schedule, func, name) for name in names):
        return None
    return [_block(schedule, func, name) for name in names]


def leaf_blocks(func: tir.PrimFunc) -> list[str]:
    """The names of the blocks that hold no others, without the root."""
    blocks = [node for node in walk(func) if isinstance(node, tir.SBlock) and node.name != "root"]
    return [
        block.name
        for block in blocks
        if not any(isinstance(node, tir.SBlock) and node is not block for node in walk(block))
    ]


def _loops(schedule: Schedule, name: str) -> Sequence[tuple[LoopRV, tir.For]]:
    handles = schedule.get_loops(schedule.get_block(name))
    pairs = ((handle, schedule.get(handle)) for handle in handles)
    return [(handle, loop) for handle, loop in pairs if isinstance(loop, tir.For)]


def _has_own_loops(schedule: Schedule, func: tir.PrimFunc, name: str) -> bool:
    """Whether the values of the axes are the variables of the loops around, which start at 0."""
    loops, values = _loops(schedule, name), get_block(func, name).iter_values
    return not loops or (
        len(loops) == len(values)
        and all(
            value is loop.loop_var and isinstance(loop.min, tir.IntImm) and loop.min.value == 0
            for (_, loop), value in zip(loops, values, strict=True)
        )
    )


def _block(schedule: Schedule, func: tir.PrimFunc, name: str) -> KernelBlock:
    block = get_block(func, name).block
    handles: Sequence[LoopRV | None] = [handle for handle, _ in _loops(schedule, name)] or [None] * len(block.iter_vars)
    axes = [
        BlockIter(KINDS.get(axis.kind, "O"), axis.var, axis.dom.extent, handle)
        for axis, handle in zip(block.iter_vars, handles, strict=True)
    ]
    iters = [axis for axis in axes if not is_one(axis.extent)]
    if axes and not any(axis.kind == "S" for axis in iters):
        added = BlockIter("S", None, tir.IntImm(axes[0].extent.dtype, 1), None)
        iters.insert(0, next((axis for axis in axes if axis.kind == "S"), added))
    return KernelBlock(name, tuple(iters), schedule.get_block(name), block.init is not None)


def is_one(extent: tir.Expr) -> bool:
    """Whether an extent is certainly 1."""
    return isinstance(extent, tir.IntImm) and extent.value == 1
