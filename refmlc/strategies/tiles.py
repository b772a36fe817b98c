"""An intrinsic for a nest of a function: its description and an implementation.

| of the nest below a loop (`blockize`)      | in the description                                                  |
|--------------------------------------------|---------------------------------------------------------------------|
| the part of a buffer that it accesses      | a buffer of the part's size; indices begin at 0                     |
| a loop                                     | the same                                                            |
| an axis that is a loop, or fixed           | the loop, or 0                                                      |

There is no intrinsic (None) for parts without a constant size and for other axes. The implementation is the same nest
over views of any stride and offset, its loops unrolled or not.
"""

from collections.abc import Mapping
from dataclasses import replace

from refmlc.lang.dtypes import BOOL, HANDLE, INT32
from refmlc.lang.ir import tir
from refmlc.lang.ir.kinds import ForKind
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.visit import rewrite, substitute, walk
from refmlc.rewrite.schedule import TensorIntrin, blockize, get_block
from refmlc.rewrite.schedule.accesses import accesses
from refmlc.rewrite.schedule.boxes import box
from refmlc.rewrite.schedule.linear import Sum, atoms, sum_of

Parts = Mapping[tir.Buffer, tuple[tuple[int, int], ...]]
"""The start and the length of the part of each buffer by dimension, while the loops outside are at 0."""


def intrinsic_of(func: tir.PrimFunc, loop: tir.Var, *, unrolled: bool) -> TensorIntrin | None:
    """The intrinsic of the nest below `loop`. Fails: RM504 if it cannot be a block."""
    whole, name = blockize(func, loop)
    outer = get_block(whole, name).block
    if outer.init is not None or outer.match_buffers or outer.alloc_buffers:
        return None
    zero: dict[Node, Node] = {axis.var: tir.IntImm(axis.var.dtype, 0) for axis in outer.iter_vars}
    at_zero = substitute(outer, zero)
    nest = _plain_axes(at_zero.body)
    parts = None if nest is None else _parts(nest)
    if nest is None or parts is None:
        return None
    views = {
        buffer: tir.Buffer(f"{buffer.name}_tile", buffer.dtype, _sizes(sides), scope=buffer.scope)
        for buffer, sides in parts.items()
    }
    body = _shift_indices(nest, parts, views)
    if any(isinstance(node, tir.Buffer) and node in parts for node in walk(body)):
        return None  # a pointer to it, or a view
    strided: dict[Node, Node] = {view: _strided_view(view) for view in views.values()}
    return TensorIntrin(
        _function(body, [*views.values()]),
        _function(
            substitute(_kinds(body, unrolled=unrolled), strided),
            [view for view in strided.values() if isinstance(view, tir.Buffer)],
        ),
    )


def _sizes(sides: tuple[tuple[int, int], ...]) -> tuple[tir.Expr, ...]:
    return tuple(tir.IntImm(INT32, size) for _, size in sides)


def _parts(nest: tir.Stmt) -> Parts | None:
    """The parts that a nest accesses; None if one is not constant."""
    parts: dict[tir.Buffer, tuple[tuple[int, int], ...]] = {}
    buffer_accesses = accesses(nest)
    for buffer in buffer_accesses.indices:
        sides = [side for side in box(buffer_accesses, buffer) if side is not None and side.start.only is not None]
        if len(sides) != len(buffer.shape):
            return None
        parts[buffer] = tuple((side.start.constant, side.length) for side in sides)
    return parts


def _plain_axes(body: tir.Stmt) -> tir.Stmt | None:
    """The nest with the axes of its block bound to loops from 0; None for other bindings."""
    realizes = [node for node in walk(body) if isinstance(node, tir.SBlockRealize)]
    extents = {node.loop_var: node.extent for node in walk(body) if isinstance(node, tir.For)}
    if len(realizes) != 1:
        return None
    (realize,) = realizes
    axes, values = [], []
    for axis, value in zip(realize.block.iter_vars, realize.iter_values, strict=True):
        sum_ = sum_of(value, {})
        binding = _axis_binding(sum_, extents) if sum_ is not None else None
        if binding is None:
            return None
        extent, loop_var = binding
        axes.append(replace(axis, dom=tir.Range(tir.IntImm(axis.var.dtype, 0), extent)))
        values.append(loop_var if loop_var is not None else tir.IntImm(axis.var.dtype, 0))
    block = replace(realize.block, iter_vars=tuple(axes), reads=None, writes=None)
    new_realize = replace(realize, iter_values=tuple(values), block=block)
    return rewrite(body, lambda node: new_realize if node is realize else node)


def _axis_binding(value: Sum, extents: Mapping[tir.Var, tir.Expr]) -> tuple[tir.Expr, tir.Var | None] | None:
    """The extent and the loop of an axis (no loop: the axis is 0); None for any other value."""
    if value.only == 0:
        return tir.IntImm(INT32, 1), None
    if value.constant or len(value.terms) > 1:
        return None
    (((var, op, _), factor),) = atoms(value).items()
    return (extents[var], var) if not op and factor == 1 and var in extents else None


def _shift_indices(nest: tir.Stmt, parts: Parts, views: Mapping[tir.Buffer, tir.Buffer]) -> tir.Stmt:
    """The nest over the buffers of the description."""

    def change(node: Node) -> Node:
        if isinstance(node, tir.BufferLoad | tir.BufferStore) and node.buffer in parts:
            pairs = zip(node.indices, parts[node.buffer], strict=True)
            indices = tuple(_subtract(index, low) for index, (low, _) in pairs)
            return replace(node, buffer=views[node.buffer], indices=indices)
        return node

    return rewrite(nest, change)


def _subtract(index: tir.Expr, low: int) -> tir.Expr:
    return tir.Apply("sub", (index, tir.IntImm(index.dtype, low)), index.dtype) if low else index


def _strided_view(view: tir.Buffer) -> tir.Buffer:
    """The view, with any strides and any offset."""
    strides = tuple(tir.Var(f"{view.name}_s{at}", INT32) for at in range(len(view.shape)))
    return replace(view, strides=strides, elem_offset=tir.Var(f"{view.name}_o", INT32))


def _kinds(nest: tir.Stmt, *, unrolled: bool) -> tir.Stmt:
    def change(node: Node) -> Node:
        return replace(node, kind=ForKind.UNROLLED) if isinstance(node, tir.For) else node

    return rewrite(nest, change) if unrolled else nest


def _function(body: tir.Stmt, buffers: list[tir.Buffer]) -> tir.PrimFunc:
    params = tuple(tir.Var(f"{buffer.name}_handle", HANDLE) for buffer in buffers)
    regions = tuple(tir.BufferRegion(buffer, tuple(_full_range(size) for size in buffer.shape)) for buffer in buffers)
    root = tir.SBlock("root", (), regions, regions, body)
    realize = tir.SBlockRealize((), tir.IntImm(BOOL, 1), root)
    return tir.PrimFunc(params, dict(zip(params, buffers, strict=True)), realize)


def _full_range(size: tir.Expr) -> tir.Range:
    return tir.Range(tir.IntImm(INT32, 0), size)
