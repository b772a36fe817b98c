"""Blocks: the predicate, the axes, what is allocated, views of regions, the init where a reduction begins, the body."""

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from refmlc.lang.dtypes import DType
from refmlc.lang.dtypes.storage import itemsize
from refmlc.lang.ir import tir
from refmlc.lang.ir.kinds import IterKind
from refmlc.oracle.implementations.loops.calls import array_offset
from refmlc.oracle.implementations.loops.expressions import source
from refmlc.oracle.implementations.loops.memory import Meaningless, Pointer
from refmlc.oracle.implementations.loops.operators import NotTaken
from refmlc.oracle.implementations.loops.writer import Writer

Write: TypeAlias = Callable[[Writer, tir.Stmt], None]
Allocate: TypeAlias = Callable[[Writer, tir.Buffer], None]


def realize(writer: Writer, node: tir.SBlockRealize, write: Write, allocate: Allocate) -> None:
    """One instance of a block."""
    if isinstance(node.predicate, tir.IntImm) and node.predicate.value:
        _instance(writer, node, write, allocate)
        return
    writer.line(f"if {source(writer, node.predicate)}:")
    with writer.indented():
        _instance(writer, node, write, allocate)


def _instance(writer: Writer, node: tir.SBlockRealize, write: Write, allocate: Allocate) -> None:
    block = node.block
    for axis, value in zip(block.iter_vars, node.iter_values, strict=True):
        bound = source(writer, value)
        writer.line(f"{writer.declare(axis.var)} = {bound}")
    for buffer in block.alloc_buffers:
        allocate(writer, buffer)
    for match in block.match_buffers:
        _match(writer, match)
    if block.init is not None:
        axes = [axis for axis in block.iter_vars if axis.kind is IterKind.REDUCE]
        firsts = [f"{writer.var(axis.var)} == {source(writer, axis.dom.min)}" for axis in axes]
        writer.line(f"if {' and '.join(firsts) or 'True'}:")
        with writer.indented():
            write(writer, block.init)
    write(writer, block.body)


def _match(writer: Writer, match: tir.MatchBufferRegion) -> None:
    """A buffer on a region of another. Variables of its declaration that have no value take the region's."""
    buffer, region = match.buffer, match.source
    if buffer.dtype != region.buffer.dtype:
        raise NotTaken(f"a region of {region.buffer.dtype} matched as {buffer.dtype}")
    corner = "".join(
        f"({source(writer, extent_range.min)}, {source(writer, extent_range.extent)}), "
        for extent_range in region.region
    )
    base, pointer = writer.buffer(region.buffer), writer.places[region.buffer]
    kind = writer.bind(f"put_dtype_{buffer.dtype}", buffer.dtype)
    array, place = writer.declare_buffer(buffer)
    writer.line(f"{place} = {pointer}")
    writer.line(f"{array} = {writer.bind('region', region_of)}({base}, ({corner}), {len(buffer.shape)})")
    declarations = [(extent, f"{array}.shape[{axis}]") for axis, extent in enumerate(buffer.shape)]
    size = itemsize(buffer.dtype)
    declarations += [(step, f"{array}.strides[{axis}] // {size}") for axis, step in enumerate(buffer.strides)]
    if buffer.elem_offset is not None:
        offset = f"{writer.bind('offset', offset_of)}({array}, {place}, {kind})"
        declarations.append(
            (buffer.elem_offset, f"{writer.bind('multiple', multiple)}({offset}, {buffer.offset_factor})")
        )
    bind_declared(writer, declarations)


def bind_declared(writer: Writer, declarations: Sequence[tuple[tir.Expr, str]]) -> None:
    """Variables that have no value take the one that is there; then the rest is compared (TIR-004)."""
    later = []
    for declared, there in declarations:
        if isinstance(declared, tir.Var) and declared not in writer.vars:
            writer.line(f"{writer.declare(declared, 'n')} = {there}")
        else:
            later.append((declared, there))
    for declared, there in later:
        writer.line(f"{writer.bind('agree', agree)}({source(writer, declared)}, {there})")


def agree(declared: int, there: int) -> None:
    """Fails: `Meaningless` where a declaration says otherwise."""
    if declared != there:
        raise Meaningless(f"declared is {declared}, there is {there}")


def multiple(offset: int, factor: int) -> int:
    """An offset of a matched region. Fails: `Meaningless` if it is not a multiple of the declared factor (TIR-004)."""
    if offset % factor:
        raise Meaningless(f"an offset of {offset}, not a multiple of {factor}")
    return offset


def region_of(array: np.ndarray, corner: Sequence[tuple[int, int]], rank: int) -> np.ndarray:
    """The region, without the leading axes that the buffer does not have."""
    for (first, extent), size in zip(corner, array.shape, strict=False):
        if first < 0 or first + extent > size:
            raise Meaningless(f"a region {first} … {first + extent - 1} of {size}")
    region = array[tuple(slice(first, first + extent) for first, extent in corner)]
    dropped = len(corner) - rank
    if dropped < 0 or any(extent != 1 for _, extent in corner[:dropped]):
        raise Meaningless("a region of other axes than the buffer's")
    return np.squeeze(region, tuple(range(dropped)))  # always a view: an item is a copy


def offset_of(array: np.ndarray, pointer: Pointer, kind: DType) -> int:
    """Where the array begins after the place. Units: elements."""
    return array_offset(array, pointer) // itemsize(kind)
