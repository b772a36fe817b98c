"""Statements for operators that an expression for each element cannot say: what follows depends on what came before.

>>> extern(x.shape, [x], lambda ins, outs: loop(n, lambda i: store(outs[0], ins[0], i)))
"""

from collections.abc import Callable, Sequence

from refmlc.lang import te
from refmlc.lang.dtypes import dtype as dtype_named
from refmlc.lang.ir import tir
from refmlc.lang.ir.kinds import ForKind
from refmlc.lang.te import Tensor, Value

Out = tuple[Sequence[Value | int], str]


def written(
    outputs: Sequence[Out],
    inputs: Sequence[Tensor],
    body: Callable[[list[tir.Buffer], list[tir.Buffer]], tir.Stmt],
    name: str,
) -> tuple[Tensor, ...]:
    """Tensors, each of a shape and a dtype, that a statement writes."""
    shapes = [tuple(shape) for shape, _dtype in outputs]
    if len(shapes) == 1:
        tensors = te.extern(shapes[0], inputs, body, name=name, dtype=outputs[0][1])
    else:
        tensors = te.extern(shapes, inputs, body, name=name, dtype=[dtype for _shape, dtype in outputs])
    return tuple(tensors) if isinstance(tensors, list) else (tensors,)


def at(buffer: tir.Buffer, *indices: Value | int) -> Value:
    """An element of a buffer."""
    return Value(tir.BufferLoad(buffer, _indices(indices)))


def store(buffer: tir.Buffer, value: Value | float, *indices: Value | int) -> tir.Stmt:
    """An element of a buffer becomes `value`."""
    return tir.BufferStore(buffer, te.cast(value, buffer.dtype).expr, _indices(indices))


def _indices(indices: Sequence[Value | int]) -> tuple[tir.Expr, ...]:
    return tuple((index if isinstance(index, Value) else te.const(index, "int64")).expr for index in indices)


def local(name: str, extent: Value | int = 1, dtype: str = "int64") -> tir.Buffer:
    """A buffer of one dimension, for `within` to allocate."""
    size = extent if isinstance(extent, Value) else te.const(extent, "int64")
    return tir.Buffer(name, dtype_named(dtype), (size.expr,))


def within(buffers: Sequence[tir.Buffer], *stmts: tir.Stmt) -> tir.Stmt:
    """Statements that use new buffers."""
    return steps(*(tir.AllocBuffer(buffer) for buffer in buffers), *stmts)


def steps(*stmts: tir.Stmt) -> tir.Stmt:
    """Statements one after the other."""
    return stmts[0] if len(stmts) == 1 else tir.SeqStmt(tuple(stmts))


def loop(extent: Value | int, body: Callable[[Value], tir.Stmt], name: str = "i") -> tir.Stmt:
    """`body` for 0, 1, … below `extent`."""
    count = te.cast(extent if isinstance(extent, Value) else te.const(extent, "int64"), "int64").expr
    var = tir.Var(name, count.dtype)
    return tir.For(var, tir.IntImm(count.dtype, 0), count, ForKind.SERIAL, body(Value(var)))


def loops(extents: Sequence[Value | int], body: Callable[[tuple[Value, ...]], tir.Stmt], name: str = "i") -> tir.Stmt:
    """`body` for each place of a shape, in row-major order."""

    def inner(place: int, indices: tuple[Value, ...]) -> tir.Stmt:
        if place == len(extents):
            return body(indices)
        return loop(extents[place], lambda i: inner(place + 1, (*indices, i)), f"{name}{place}")

    return inner(0, ())


def repeat_while(condition: Value, *body: tir.Stmt) -> tir.Stmt:
    """`body` as long as the condition holds."""
    return tir.While(condition.expr, steps(*body))


def when(condition: Value, yes: tir.Stmt, no: tir.Stmt | None = None) -> tir.Stmt:
    """`yes` where the condition holds, else `no`."""
    return tir.IfThenElse(condition.expr, yes, no)
