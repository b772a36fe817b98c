"""Statements and blocks as lines of Python; threads run one after the other.

Threads can run one after the other only where the threads of a machine do not exchange values:

| a function                                                                        | is                            |
|-----------------------------------------------------------------------------------|-------------------------------|
| whose threads wait for each other (`refmlc.lang.ir.threads.exchanges`)            | not taken                     |
| with memory private to each index of an axis (`refmlc.lang.ir.scopes`), allocated | not taken                     |
| outside of the axis, and used in several loops over it or outside too             |                               |
| else                                                                              | run one index after the other |

Memory of a thread that is used in one loop over the axis only may be the same for all indices: none reads what another
one wrote, it would read what it has not written.

A block is its predicate, the axes, its allocations, views of regions, the init where a reduction begins, the body.
"""

from collections.abc import Callable, Sequence
from typing import TypeAlias, assert_never

import numpy as np

from refmlc.lang.dtypes import DType
from refmlc.lang.dtypes.storage import itemsize
from refmlc.lang.ir import tir, tirx
from refmlc.lang.ir.kinds import IterKind
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.scopes import axes_of, is_thread
from refmlc.lang.ir.threads import exchanges, has_threads, return_of_a_thread, tag_of
from refmlc.lang.ir.unexecuted import refusal
from refmlc.lang.ir.visit import children
from refmlc.oracle.implementations.loops import memory
from refmlc.oracle.implementations.loops.expressions import array_offset, place, source, trap
from refmlc.oracle.implementations.loops.memory import Meaningless, Pointer, view
from refmlc.oracle.implementations.loops.operators import NotTaken
from refmlc.oracle.implementations.loops.writer import Writer

Place: TypeAlias = tuple[tuple[int, str], ...]


def check_threads(func: tir.PrimFunc) -> None:
    """Fails: `NotTaken` where the threads of `func` cannot be run one after the other."""
    if return_of_a_thread(func.body) is not None:
        raise NotTaken("a thread of several that returns")
    if not has_threads(func):
        return
    if exchanges(func):
        raise NotTaken("threads that wait for each other")
    places: dict[tir.Buffer, set[Place]] = {}
    homes: dict[tir.Buffer, Place] = {}
    _visit(func.body, (), places, homes)
    for buffer, home in homes.items():
        beginnings = axes_of(buffer.scope)
        if beginnings and len({_below(place, home, beginnings) for place in places.get(buffer, set())}) > 1:
            raise NotTaken(f"memory of scope `{buffer.scope}` that several loops over threads share")


def _below(place: Place, home: Place, beginnings: tuple[str, ...]) -> Place:
    """The loops over axes that the memory is private to, from where it is allocated to where it is used."""
    return tuple(step for step in place[len(home) :] if step[1].startswith(beginnings))


def _visit(node: Node, around: Place, places: dict[tir.Buffer, set[Place]], homes: dict[tir.Buffer, Place]) -> None:
    match node:
        case tir.AllocBuffer(buffer=buffer) | tir.DeclBuffer(buffer=buffer):
            homes[buffer] = around
        case tir.SBlock(alloc_buffers=buffers):
            homes.update(dict.fromkeys(buffers, around))
        case tir.BufferLoad(buffer=buffer) | tir.BufferStore(buffer=buffer) | tir.BufferData(buffer=buffer):
            places.setdefault(buffer, set()).add(around)
        case _:
            pass
    tag = tag_of(node)
    if is_thread(tag) and all(tag != other for _, other in around):
        around = (*around, (id(node), tag))
    for child in children(node):
        _visit(child, around, places, homes)


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
    for declared, actual in declarations:
        if isinstance(declared, tir.Var) and declared not in writer.vars:
            writer.line(f"{writer.declare(declared, 'n')} = {actual}")
        else:
            later.append((declared, actual))
    for declared, actual in later:
        writer.line(f"{writer.bind('agree', agree)}({source(writer, declared)}, {actual})")


def agree(declared: int, actual: int) -> None:
    """Fails: `Meaningless` where a declaration says otherwise."""
    if declared != actual:
        raise Meaningless(f"declared is {declared}, there is {actual}")


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


LAUNCHES = ("thread_extent", "virtual_thread")


def write(writer: Writer, node: tir.Stmt) -> None:
    """Write `node`. Fails: `NotTaken`."""
    match node:
        case tir.Bind(var=var, value=value):
            bound = source(writer, value)
            writer.line(f"{writer.declare(var)} = {bound}")
        case tir.AssertStmt(condition=condition, message=message, kind=kind):
            trap_message = writer.bind("said", f"{kind}: {''.join(message)}")
            writer.line(f"if not {source(writer, condition)}: {writer.bind('trap', trap)}({trap_message})")
        case tir.For():
            tag = node.tag
            thread_vars = [] if node.thread is None or node.thread.var is None else [node.thread.var]
            step = [] if node.step is None else [node.step]
            _loop(writer, tag, (node.loop_var, *thread_vars), [node.min, node.extent, *step], node.body)
        case tir.While(condition=condition, body=body):
            writer.line(f"while {writer.meter}.tick() and {source(writer, condition)}:")
            _inside(writer, body)
        case tir.BufferStore():
            _store(writer, node)
        case tir.AllocBuffer(buffer=buffer):
            allocate(writer, buffer)
        case tir.DeclBuffer(buffer=buffer, data=data):
            _declare(writer, buffer, data)
        case tir.AttrStmt():
            _attribute(writer, node)
        case tir.SeqStmt(seq=parts):
            for part in parts:
                write(writer, part)
        case tir.IfThenElse(condition=condition, then_case=yes, else_case=no):
            writer.line(f"if {source(writer, condition)}:")
            _inside(writer, yes)
            if no is not None:
                writer.line("else:")
                _inside(writer, no)
        case tir.Evaluate(value=value):
            _evaluate(writer, value)
        case tir.Break():
            writer.line("break")
        case tir.Continue():
            writer.line("continue")
        case tir.Return(value=value):
            writer.line(f"return {source(writer, value)}")
        case tir.SBlockRealize():
            realize(writer, node, write, allocate)
        case tirx.ScopeIdDef() | tirx.TilePrimitiveCall():
            raise NotTaken(refusal(node))
        case _:
            assert_never(node)


def _inside(writer: Writer, body: tir.Stmt) -> None:
    with writer.indented():
        write(writer, body)


def _loop(writer: Writer, tag: str, variables: Sequence[tir.Var], bounds: Sequence[tir.Expr], body: tir.Stmt) -> None:
    """A loop; over a thread axis that is bound already there is nothing to go over (TIR-208)."""
    if tag in writer.threads:
        for var in variables:
            writer.vars[var] = writer.threads[tag]
        write(writer, body)
        return
    limits = ", ".join(source(writer, bound) for bound in bounds)
    name = writer.declare(variables[0], "i")
    for var in variables[1:]:
        writer.vars[var] = name
    if is_thread(tag):
        writer.threads[tag] = name
    writer.line(f"for {name} in {writer.meter}.span({limits}):")
    _inside(writer, body)
    writer.threads.pop(tag, None)


def _attribute(writer: Writer, node: tir.AttrStmt) -> None:
    match node:
        case tir.AttrStmt(node=tir.ThreadVar(tag=tag, var=tir.Var() as var), key=key) if key in LAUNCHES:
            if not isinstance(node.value, tir.Expr):
                raise NotTaken(f"the attribute `{key}` of this node")
            _loop(writer, tag, [var], [tir.IntImm(var.dtype, 0), node.value], node.body)
        case tir.AttrStmt(key=key) if key in LAUNCHES:
            raise NotTaken(f"the attribute `{key}` of this node")
        case tir.AttrStmt(key=tirx.DEVICE_ENTRY):
            raise NotTaken(refusal(node))
        case _:
            write(writer, node.body)


def _store(writer: Writer, node: tir.BufferStore) -> None:
    array = writer.buffer(node.buffer)
    if node.buffer.dtype.kind == "handle":
        raise NotTaken("memory that holds handles")
    if isinstance(node.value, tir.Call) and node.value.callee == "undef":
        return
    value = source(writer, node.value)
    indices = [source(writer, index) for index in node.indices]
    if node.indices and node.indices[-1].dtype.is_vector:
        on = "None" if node.predicate is None else source(writer, node.predicate)
        before = "".join(f"{coordinate}, " for coordinate in indices[:-1])
        writer.line(f"{writer.bind('scatter', memory.scatter)}({array}, ({before}), {indices[-1]}, {value}, {on})")
    elif node.predicate is not None:
        raise NotTaken("a predicate on a scalar access")
    else:
        writer.line(f"{array}[{place(indices)}] = {value}")


def allocate(writer: Writer, buffer: tir.Buffer) -> None:
    """Fresh memory for `buffer`, and its array."""
    shape, strides, offset = _form(writer, buffer)
    kind = writer.bind(f"put_dtype_{buffer.dtype}", buffer.dtype)
    array, pointer = writer.declare_buffer(buffer)
    writer.line(f"{pointer} = {writer.meter}.fresh({kind}, {shape}, {strides}, {offset})")
    writer.line(f"{array} = {writer.bind('view', view)}({pointer}, {kind}, {shape}, {strides}, {offset})")


def _declare(writer: Writer, buffer: tir.Buffer, data: tir.Expr | None) -> None:
    if data is None:
        allocate(writer, buffer)
        return
    at = source(writer, data)
    shape, strides, offset = _form(writer, buffer)
    kind = writer.bind(f"put_dtype_{buffer.dtype}", buffer.dtype)
    array, pointer = writer.declare_buffer(buffer)
    writer.line(f"{pointer} = {at}")
    writer.line(f"{array} = {writer.bind('view', view)}({pointer}, {kind}, {shape}, {strides}, {offset})")


def _form(writer: Writer, buffer: tir.Buffer) -> tuple[str, str, str]:
    """Shape, strides and offset of a buffer, all of whose variables are bound. Fails: `NotTaken`."""
    if refusal(buffer):
        raise NotTaken(refusal(buffer))
    shape = "".join(f"{source(writer, extent)}, " for extent in buffer.shape)
    strides = "".join(f"{source(writer, step)}, " for step in buffer.strides)
    return f"({shape})", f"({strides})", "0" if buffer.elem_offset is None else source(writer, buffer.elem_offset)


def _evaluate(writer: Writer, value: tir.Expr) -> None:
    match value:
        case tir.Call(callee="ret", args=args):
            result = args[0] if args else None
            writer.line(f"return {source(writer, result)}" if isinstance(result, tir.Expr) else "return None")
        case _:
            writer.line(source(writer, value))
