"""`create_prim_func`: a TensorIR function that computes tensors, as the course prints it.

One operation after the other, inputs before what reads them:

| operation     | becomes                                                                          |
|---------------|----------------------------------------------------------------------------------|
| `Placeholder` | a parameter                                                                      |
| `Compute`     | loops over its axes, then those of the reduction; a block for each tensor, whose |
|               | variables are called `v_` and the axis; a reduction is one block, with `T.init`  |
| `Extern`      | a block around its statement, which reads all inputs and writes all outputs      |

Computed tensors that are not parameters are allocated in the root block.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_ARGUMENTS
from refmlc.diag.entry import entry_point
from refmlc.lang.dtypes import BOOL, HANDLE, INT32
from refmlc.lang.ir import tir
from refmlc.lang.ir.kinds import ForKind, IterKind
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.visit import rewrite, substitute
from refmlc.lang.te.operation import Compute, Extern, Operation, Placeholder
from refmlc.lang.te.reducer import Reduce
from refmlc.lang.te.regions import Accesses, boxes, loads
from refmlc.lang.te.tensor import Axis, Load, Tensor
from refmlc.lang.te.value import Value

TRUE = tir.IntImm(BOOL, 1)
NOALIAS: Mapping[str, tir.Attr] = {"tirx.noalias": True}

Argument: TypeAlias = Tensor | Value


@entry_point
def create_prim_func(args: Sequence[Argument]) -> tir.PrimFunc:
    """A function of `args`: tensors given and tensors made, in this order, and variables (as `te.var`).

    Fails: RM105 where a tensor is read that is neither an argument nor made of arguments.
    """
    tensors = [arg for arg in args if isinstance(arg, Tensor)]
    if not tensors:
        raise fail(BAD_ARGUMENTS, "a function needs at least one tensor")
    params, buffer_map = _params(args)
    arguments = set(buffer_map.values())
    alloc: list[tir.Buffer] = []
    stmts: list[tir.Stmt] = []
    for op in operations(tensors):
        if isinstance(op, Placeholder):
            if op.outputs[0] not in arguments:
                raise fail(BAD_ARGUMENTS, f"`{op.name}` is read but is not an argument")
            continue
        alloc += [buffer for buffer in op.outputs if buffer not in arguments]
        stmts.append(_computed(op) if isinstance(op, Compute) else _extern(op))
    body = stmts[0] if len(stmts) == 1 else tir.SeqStmt(tuple(stmts)) if stmts else tir.Evaluate(tir.IntImm(INT32, 0))
    if alloc:
        body = tir.SBlockRealize((), TRUE, tir.SBlock("root", (), None, None, body, None, tuple(alloc)))
    return tir.PrimFunc(params, buffer_map, body, NOALIAS)


def _params(args: Sequence[Argument]) -> tuple[tuple[tir.Var, ...], dict[tir.Var, tir.Buffer]]:
    params: list[tir.Var] = []
    buffer_map: dict[tir.Var, tir.Buffer] = {}
    for arg in args:
        if isinstance(arg, Tensor):
            var = tir.Var(f"var_{arg.name}", HANDLE)
            if arg.buffer in buffer_map.values():
                raise fail(BAD_ARGUMENTS, f"`{arg.name}` is given twice")
            buffer_map[var] = arg.buffer
        elif isinstance(arg, Value) and isinstance(arg.expr, tir.Var):
            var = arg.expr
        else:
            raise fail(BAD_ARGUMENTS, f"an argument is a tensor or a variable; this is {arg!r}")
        params.append(var)
    return tuple(params), buffer_map


# ------------------------------------------------------------------------------------------ order of operations


def operations(tensors: Sequence[Tensor]) -> Iterator[Operation]:
    """Every operation that `tensors` need, inputs first. Keeps its own stack."""
    finished: set[Operation] = set()
    stack = [(tensor.op, False) for tensor in reversed(tensors)]
    while stack:
        op, ready = stack.pop()
        if op in finished:
            continue
        if ready:
            finished.add(op)
            yield op
        else:
            stack.append((op, True))
            stack += [(tensor.op, False) for tensor in reversed(op.input_tensors)]


# --------------------------------------------------------------------------------------------------- computations


@dataclass(frozen=True)
class Point:
    """The variables of a block in place of the axes of its computation."""

    iter_vars: tuple[tir.IterVar, ...]
    table: Mapping[Node, Node]

    def at(self, expr: tir.Expr) -> tir.Expr:
        """`expr` at this point; loads are plain ones."""
        return rewrite(substitute(expr, self.table), _plain)

    @property
    def spatial(self) -> tuple[tir.Expr, ...]:
        """The place that is written."""
        return tuple(axis.var for axis in self.iter_vars if axis.kind is IterKind.SPATIAL)


def _plain(node: Node) -> Node:
    return tir.BufferLoad(node.buffer, node.indices, span=node.span) if isinstance(node, Load) else node


def _point(axes: Sequence[Axis]) -> Point:
    table: dict[Node, Node] = {}
    iter_vars: list[tir.IterVar] = []
    for axis in axes:
        loop_var = axis.var
        var = tir.Var(f"v_{axis.var.name}", loop_var.dtype)
        table[loop_var] = var
        kind = IterKind.REDUCE if axis.reduce else IterKind.SPATIAL
        iter_vars.append(tir.IterVar(var, tir.Range(axis.min.expr, axis.extent.expr), kind))
    return Point(tuple(iter_vars), table)


def _computed(op: Compute) -> tir.Stmt:
    """The loops of a computation, its blocks innermost."""
    axes = (*op.axis, *op.reduce_axis)
    first = op.body[0]
    if isinstance(first, Reduce):
        blocks: list[tir.Stmt] = [_reduction(op, first, axes)]
    else:
        blocks = [
            _block(buffer, part, op, axes)
            for buffer, part in zip(op.outputs, op.body, strict=True)
            if not isinstance(part, Reduce)
        ]
    body: tir.Stmt = blocks[0] if len(blocks) == 1 else tir.SeqStmt(tuple(blocks))
    fresh = {axis.var: tir.Var(axis.var.name, axis.var.dtype) for axis in axes}
    for axis in reversed(axes):
        loop_var = fresh[axis.var]
        body = tir.For(
            loop_var, axis.min.expr, axis.extent.expr, ForKind.SERIAL, substitute(body, {axis.var: loop_var})
        )
    return body


def _realized(
    op: Compute, buffers: Sequence[tir.Buffer], point: Point, body: tir.Stmt, init: tir.Stmt | None
) -> tir.Stmt:
    """A block that writes buffers at `point`. One without axes has an axis of one value, as TVM's blocks have."""
    read: Accesses = {buffer: indices for buffer, indices in loads([body]).items() if buffer not in buffers}
    stored: Accesses = {buffer: [point.spatial] for buffer in buffers}
    iter_vars = point.iter_vars
    values: tuple[tir.Expr, ...] = tuple(axis.var for axis in (*op.axis, *op.reduce_axis))
    if not values:
        dom = tir.Range(tir.IntImm(INT32, 0), tir.IntImm(INT32, 1))
        iter_vars, values = (tir.IterVar(tir.Var("vi", INT32), dom, IterKind.SPATIAL),), (tir.IntImm(INT32, 0),)
    name = buffers[0].name if init is None else op.name
    attrs = {key: value for key, value in op.attrs.items() if key != "tag"}
    block = tir.SBlock(name, iter_vars, boxes(read), boxes(stored), body, init, annotations=attrs)
    return tir.SBlockRealize(values, TRUE, block)


def _block(buffer: tir.Buffer, value: tir.Expr, op: Compute, axes: Sequence[Axis]) -> tir.Stmt:
    point = _point(axes)
    return _realized(op, (buffer,), point, tir.BufferStore(buffer, point.at(value), point.spatial), None)


def _reduction(op: Compute, reduce: Reduce, axes: Sequence[Axis]) -> tir.Stmt:
    """One block for all results of a reduction; new values are all computed before the first is written."""
    point = _point(axes)
    place = point.spatial
    acc = tuple(Value(tir.BufferLoad(buffer, place)) for buffer in op.outputs)
    terms = tuple(Value(point.at(term)) for term in reduce.terms)
    combined = [partial.expr for partial in reduce.combine(acc, terms)]
    init = [tir.BufferStore(b, point.at(start), place) for b, start in zip(op.outputs, reduce.start, strict=True)]
    stores: list[tir.Stmt] = []
    if len(combined) > 1:
        variables = [tir.Var(f"v_{buffer.name}", buffer.dtype) for buffer in op.outputs]
        stores += [tir.Bind(var, value) for var, value in zip(variables, combined, strict=True)]
        combined = list(variables)
    stores += [tir.BufferStore(b, value, place) for b, value in zip(op.outputs, combined, strict=True)]
    body = _joined(stores)
    if reduce.condition is not None:
        body = tir.IfThenElse(point.at(reduce.condition), body)
    return _realized(op, op.outputs, point, body, _joined(init))


def _joined(stmts: Sequence[tir.Stmt]) -> tir.Stmt:
    return stmts[0] if len(stmts) == 1 else tir.SeqStmt(tuple(stmts))


def _extern(op: Extern) -> tir.Stmt:
    """A block around the statement. Decision: TVM declares nothing for it; what it may touch is declared here."""
    table: dict[Node, Node] = dict(zip(op.in_buffers, (tensor.buffer for tensor in op.input_tensors), strict=True))
    reads = tuple(_whole(tensor.buffer) for tensor in op.input_tensors)
    writes = tuple(_whole(buffer) for buffer in op.outputs)
    block = tir.SBlock(op.name, (), reads, writes, substitute(op.body, table), annotations=op.attrs)
    return tir.SBlockRealize((), TRUE, block)


def _whole(buffer: tir.Buffer) -> tir.BufferRegion:
    return tir.BufferRegion(buffer, tuple(tir.Range(tir.IntImm(extent.dtype, 0), extent) for extent in buffer.shape))
