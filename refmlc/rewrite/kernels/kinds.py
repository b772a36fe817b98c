"""What kind of computation a function is, by its blocks: the questions of TVM's rules for kernels.

| question               | the function                                                                          |
|------------------------|---------------------------------------------------------------------------------------|
| `is_matmul`            | has one reduction `C[S, I, J] += A[S, I, K] * B[S, J, K]`, and spatial blocks          |
| `is_matrix_vector`     | is a reduction over the last axis of a matrix with a vector, and what follows          |
| `is_reduction`         | adds up what it reads, and what follows                                                |
| `is_general_reduction` | has reductions along the same last axes, and a spatial block: softmax, norms           |
| `is_transposition`     | copies with the two axes swapped                                                       |
| `is_root_mean_square`  | squares, adds up, takes the inverse root, and scales                                   |

Spatial blocks are inlined first where that is legal, as the rules do.

Source: `python/tvm/s_tir/dlight/gpu` of TVM 0.27; where a rule there ends in an exception, the answer is no.
"""

from collections.abc import Iterator, Sequence
from math import prod

from refmlc.lang.arith.polynomial import Opaque
from refmlc.lang.ir import tir
from refmlc.lang.ir.equal import structural_equal
from refmlc.lang.ir.kinds import IterKind
from refmlc.lang.ir.visit import walk
from refmlc.rewrite.kernels.blocks import KernelBlock, is_one, kernel_blocks, leaf_blocks
from refmlc.rewrite.kernels.mapping import inline_neighbours
from refmlc.rewrite.schedule import Schedule, get_block, get_child_blocks
from refmlc.rewrite.schedule.digits import polynomial_of
from refmlc.rewrite.transform.deduce import deduced_function

SHARED_BYTES = 49152
"""What a block of threads may keep of a vector. Units: bytes."""

Factors = list[tuple[tir.Var, int]]


def _func(schedule: Schedule) -> tir.PrimFunc:
    """The function, each block with what it reads and writes: a step may leave that out."""
    func = deduced_function(schedule.mod.functions["main"])  # type: ignore[arg-type]
    assert isinstance(func, tir.PrimFunc)  # noqa: S101 - a schedule of a function has it there
    return func


def _inlined(schedule: Schedule) -> list[KernelBlock]:
    """The blocks that are left when spatial ones are inlined; none where they are of no such form."""
    blocks = kernel_blocks(schedule)
    return [] if blocks is None else inline_neighbours(schedule, blocks)


# ------------------------------------------------------------------------------------------------------ accesses


def _axes_of(block: tir.SBlock, region: tir.BufferRegion) -> set[tir.Var]:
    """The axes of a block, but for those of extent 1, in the indices of a region."""
    own = {axis.var for axis in block.iter_vars if not is_one(axis.dom.extent)}
    return {node for part in region.region for node in walk(part.min) if isinstance(node, tir.Var) and node in own}


def _is_pointwise(region: tir.BufferRegion) -> bool:
    return all(is_one(part.extent) for part in region.region)


def _reads(block: tir.SBlock) -> tuple[tir.BufferRegion, ...]:
    return block.reads or ()


def _writes(block: tir.SBlock) -> tuple[tir.BufferRegion, ...]:
    return block.writes or ()


def _adds_up(block: tir.SBlock) -> bool:
    """Whether the body is `X[…] = X[…] + …`."""
    match block.body:
        case tir.BufferStore(buffer, tir.Apply("add", (tir.BufferLoad() as load, _)), indices):
            return load.buffer is buffer and structural_equal(load, tir.BufferLoad(buffer, indices))
        case _:
            return False


def _dominant_axes(block: tir.SBlock) -> Factors | None:
    """The axes in the place of the read element that has the most, the slowest first, each with what divides it.

    None where the place is not that simple, or not 0 where all axes are.
    """
    if not _reads(block):
        return None
    region = max(_reads(block), key=lambda item: len(_axes_of(block, item)))
    units = {axis.var for axis in block.iter_vars if is_one(axis.dom.extent)}
    factors: Factors = []
    for part in region.region:
        index = polynomial_of(part.min, {})
        if index is None or index.constant:
            return None
        for key, _ in sorted(index.terms.items(), key=lambda term: -term[1]):
            match key:
                case (tir.Var() as var,):
                    factors += [] if var in units else [(var, 1)]
                case (Opaque("floordiv", (divided, divisor), _),) if isinstance(divided.atom, tir.Var):
                    factors.append((divided.atom, divisor.constant))
                case _:
                    return None
    variables = [var for var, _ in factors]
    return factors if len(variables) == len(set(variables)) else None


# ---------------------------------------------------------------------------------------------------- the questions


def is_matmul(schedule: Schedule) -> bool:
    """Whether one block is a matrix product, its matrices read by any number of axes."""
    func = _func(schedule)
    blocks = [get_block(func, name).block for name in get_child_blocks(func, "root")]
    kinds = [{axis.kind for axis in block.iter_vars} for block in blocks]
    both = {IterKind.SPATIAL, IterKind.REDUCE}
    reductions = [block for block, own in zip(blocks, kinds, strict=True) if own == both]
    return (
        all(own in (both, {IterKind.SPATIAL}) for own in kinds) and len(reductions) == 1 and _is_product(reductions[0])
    )


def _is_product(block: tir.SBlock) -> bool:
    """Whether the axes of two reads and a write are those of `C[S, I, J] += A[S, I, K] * B[S, J, K]`."""
    regions = (*_reads(block), *_writes(block))
    if len(_reads(block)) != 2 or len(_writes(block)) != 1 or not all(map(_is_pointwise, regions)):
        return False
    a, b, c = (_axes_of(block, region) for region in regions)
    roles: set[str] = set()
    for axis in (axis for axis in block.iter_vars if not is_one(axis.dom.extent)):
        places = "".join(name for name, axes in zip("abc", (a, b, c), strict=True) if axis.var in axes)
        spatial = {"abc": "S", "ac": "I", "bc": "J"}
        role = spatial.get(places) if axis.kind is IterKind.SPATIAL else {"ab": "K"}.get(places)
        if role is None:
            return False
        roles.add(role)
    return {"I", "J", "K"} <= roles


def _first_and_last(schedule: Schedule) -> tuple[KernelBlock, tir.SBlock] | None:
    """The first of one or two blocks, the second of which is spatial."""
    blocks = _inlined(schedule)
    if len(blocks) not in (1, 2) or not all(block.is_injective() for block in blocks[1:]):
        return None
    return blocks[0], get_block(_func(schedule), blocks[0].name).block


def is_matrix_vector(schedule: Schedule) -> bool:
    """Whether a matrix is multiplied by a vector along its last axis, and the vector fits into the shared memory."""
    first = _first_and_last(schedule)
    if first is None or len(first[0].iters) not in (2, 3):
        return False
    info, block = first
    reads, writes = _reads(block), _writes(block)
    if not info.is_reduction() or len(reads) < 2 or len(writes) != 1 or not _adds_up(block):
        return False
    used = [_axes_of(block, region) & _variables(info) for region in reads]
    if not all(map(_is_pointwise, (*reads, *writes))) or not _axes_of(block, writes[0]) & _variables(info):
        return False
    vectors = [region.buffer for region, axes in zip(reads, used, strict=True) if 0 < len(axes) < len(info.iters)]
    factors = _dominant_axes(block)
    if not 0 < len(vectors) < len(reads) or not factors:
        return False
    kinds = {axis.var: axis.kind for axis in info.iters}
    if any(var not in kinds or (divisor > 1 and kinds[var] != "R") for var, divisor in factors):
        return False
    batch = {var for var, _ in factors if all(var in axes for axes in (*used, _axes_of(block, writes[0])))}
    spatial = [var for var, _ in factors if kinds[var] == "S" and var not in batch]
    if not spatial or kinds[factors[-1][0]] != "R" or sum(divisor > 1 for _, divisor in factors) > 1:
        return False
    return len(vectors) == 1 or not _fits(vectors)


def _variables(info: KernelBlock) -> set[tir.Var]:
    return {axis.var for axis in info.iters if axis.var is not None}


def _fits(buffers: Sequence[tir.Buffer]) -> bool:
    """Whether the shared memory holds all of these buffers."""
    total = 0
    for buffer in buffers:
        extents = [extent.value for extent in buffer.shape if isinstance(extent, tir.IntImm)]
        if len(extents) != len(buffer.shape):
            return False
        total += prod(extents) * buffer.dtype.bits // 8
    return total <= SHARED_BYTES


def is_reduction(schedule: Schedule) -> bool:
    """Whether elements of one buffer are added up, all axes being in its indices."""
    first = _first_and_last(schedule)
    if first is None:
        return False
    info, block = first
    if not info.is_reduction() or "R" not in info.dom_kind() or len(_writes(block)) != 1 or not _adds_up(block):
        return False
    factors = _dominant_axes(block)
    if not factors or sum(divisor > 1 for _, divisor in factors) > 1:
        return False
    read = {var for var, _ in factors}
    others = [axis for axis in info.iters if axis.var not in read]
    return all(axis.kind == "S" and is_one(axis.extent) for axis in others) and any(
        axis.kind == "R" and axis.var in read for axis in info.iters
    )


def is_general_reduction(schedule: Schedule) -> bool:
    """Whether reductions along the same last axes are followed by one spatial block."""
    blocks = _inlined(schedule)
    if not blocks:
        return False
    kinds = blocks[0].dom_kind()
    return (
        kinds.endswith("R")
        and all(block.dom_kind() == kinds for block in blocks[1:-1])
        and blocks[-1].is_injective()
        and len(blocks[-1].dom_kind()) <= len(kinds)
    )


def is_transposition(schedule: Schedule) -> bool:
    """Whether the last block that is no spatial one, or copies with other axes, copies a matrix transposed."""
    func, blocks = _func(schedule), kernel_blocks(schedule)
    for place, info in reversed(list(enumerate(blocks or ()))):
        if _is_transposed(get_block(func, info.name).block, info):
            return len(info.iters) == 2 and all(block.is_injective() for block in (blocks or ())[: max(place - 1, 0)])
        if not info.is_injective():
            return False
    return False


def _is_transposed(block: tir.SBlock, info: KernelBlock) -> bool:
    match block.body:
        case tir.BufferStore(_, tir.BufferLoad(_, read), written):
            own = _variables(info)
            return all(index in own for index in (*read, *written)) and read != written and {*read} == {*written}
        case _:
            return False


def is_root_mean_square(schedule: Schedule) -> bool:
    """Whether four blocks, besides copies and casts, square, add up, take the inverse root, and scale."""
    func = _func(schedule)
    blocks = [get_block(func, name).block for name in leaf_blocks(func)]
    computing = [block for block in blocks if not _is_copy(block)]
    return len(computing) == 4 and _takes_inverse_root(computing[2])


def _stores(block: tir.SBlock) -> Iterator[tir.BufferStore]:
    if len(_reads(block)) == 1 and len(_writes(block)) == 1 and isinstance(block.body, tir.BufferStore):
        yield block.body


def _is_copy(block: tir.SBlock) -> bool:
    """Whether a block copies, or casts, element by element."""
    for store in _stores(block):
        value = store.value.value if isinstance(store.value, tir.Cast) else store.value
        return isinstance(value, tir.BufferLoad) and [*map(id, value.indices)] == [*map(id, store.indices)]
    return False


def _takes_inverse_root(block: tir.SBlock) -> bool:
    return any(isinstance(store.value, tir.Apply) and store.value.op == "rsqrt" for store in _stores(block))
