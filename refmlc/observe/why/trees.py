"""From a recorded store to the tree of its value: every node with its value, every operator with its rounding.

One lane of the expression is evaluated again, by the rows of the operators; loads and calls have their recorded values.
So the tree is independent of the interpreter's closures, and its root must equal the value that was stored.

| node                     | tree                                                                           |
|--------------------------|--------------------------------------------------------------------------------|
| a variable               | the tree of its `Bind` or `Let`; else a leaf: loop, axis, parameter            |
| `Select`, `if_then_else` | the condition, and the arm that was taken                                      |
| a load                   | a leaf, with its cell; below it, indices that were themselves read from memory |
| a call                   | its value, and the arguments that are expressions                              |
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import assert_never

from refmlc.lang.dtypes import BOOL, DType
from refmlc.lang.ir import tir
from refmlc.lang.ops.contract import Scalar, UndefinedValue
from refmlc.lang.ops.scalar import SCALAR_OPS
from refmlc.lang.ops.scalar.convert import converter
from refmlc.observe.addresses import first_byte
from refmlc.observe.why import exactness
from refmlc.observe.why.memory import element_name
from refmlc.observe.why.records import Capture, ExecutedBind, LoadRecord, StoreRecord
from refmlc.observe.why.values import Cell, Kind, Value
from refmlc.run.memory.cells import cell_size


@dataclass(slots=True)
class Tree:
    """The state in which one statement is evaluated again."""

    capture: Capture
    variables: Mapping[tir.Var, object]
    binds: Mapping[tir.Var, ExecutedBind]
    lets: dict[tir.Var, tir.Expr] = field(default_factory=dict)

    def lane(self, node: tir.Expr, lane: int) -> Value:
        """Lane `lane` of `node`; every lane of a scalar is the scalar."""
        scalar = node.dtype.scalar
        match node:
            case tir.Var():
                return self._variable(node, lane)
            case tir.IntImm(value=value):
                return Value(Kind.CONSTANT, "", scalar, bool(value) if scalar.kind == "bool" else value, node.span)
            case tir.FloatImm(value=value):
                return Value(Kind.CONSTANT, "", scalar, value, node.span)
            case tir.StringImm(value=text):
                return Value(Kind.CONSTANT, repr(text), scalar, None, node.span)
            case tir.Apply(op=op, args=args):
                return apply_operator(op, tuple(self.lane(arg, lane) for arg in args), scalar, node)
            case tir.Cast(value=value):
                return _cast(self.lane(value, lane), node)
            case tir.And() | tir.Or():
                return self._logical(node, lane)
            case tir.Select() | tir.IfThenElseExpr():
                return self._choice(node, lane)
            case tir.Let(var=var, value=value, body=body):
                self.lets[var] = value
                return self.lane(body, lane)
            case tir.BufferLoad():
                return self._load(node, lane)
            case tir.Ramp() | tir.Broadcast() | tir.Shuffle():
                return self._vector(node, lane)
            case tir.Call():
                return self._call(node, lane)
            case tir.BufferData():
                return Value(Kind.VARIABLE, f"{node.buffer.name}.data", scalar, None, node.span)
            case _:
                assert_never(node)

    def _variable(self, node: tir.Var, lane: int) -> Value:
        if node in self.lets:
            return self.lane(self.lets[node], lane)
        if node in self.binds:
            bind = self.binds[node]
            site = bind.site.node
            if isinstance(site, tir.Bind):
                return Tree(bind.capture, bind.variables, bind.binds).lane(site.value, lane)
        content = self.variables.get(node)
        content = content[lane] if isinstance(content, tuple) and lane < len(content) else content
        value = content if isinstance(content, (bool, int, float)) else None
        return Value(Kind.VARIABLE, node.name, node.dtype.scalar, value, node.span)

    def _logical(self, node: tir.And | tir.Or, lane: int) -> Value:
        """Lazy: the second operand is a part only if it was evaluated."""
        left = self.lane(node.a, lane)
        ends = isinstance(node, tir.Or) == bool(left.value)
        parts = (left,) if ends and not node.dtype.is_vector else (left, self.lane(node.b, lane))
        return Value(Kind.OPERATOR, type(node).__name__.lower(), BOOL, parts[-1].value, node.span, parts)

    def _choice(self, node: tir.Select | tir.IfThenElseExpr, lane: int) -> Value:
        condition = self.lane(node.condition, lane)
        arm = self.lane(node.true_value if condition.value else node.false_value, lane)
        text = "select" if isinstance(node, tir.Select) else "if_then_else"
        return Value(Kind.CHOICE, text, arm.dtype, arm.value, node.span, (condition, arm))

    def _vector(self, node: tir.Ramp | tir.Broadcast | tir.Shuffle, lane: int) -> Value:
        match node:
            case tir.Broadcast():
                return self.lane(node.value, lane)
            case tir.Ramp():
                base, stride = self.lane(node.base, 0), self.lane(node.stride, 0)
                scalar = node.dtype.scalar
                times = Value(Kind.CONSTANT, "lane", scalar, lane)
                return apply_operator("add", (base, apply_operator("mul", (stride, times), scalar, node)), scalar, node)
            case tir.Shuffle():
                at = int(self.lane(node.indices[lane], 0).value or 0)
                for vector in node.vectors:
                    if at < vector.dtype.lanes:
                        return self.lane(vector, at)
                    at -= vector.dtype.lanes
                return Value(Kind.VARIABLE, "?", node.dtype.scalar, None, node.span)

    def _load(self, node: tir.BufferLoad, lane: int) -> Value:
        width = node.buffer.dtype.lanes
        place, part = divmod(lane, width) if node.dtype.is_vector else (0, 0)
        if node.predicate is not None:
            if not self.lane(node.predicate, place).value:
                return Value(Kind.CONSTANT, "lane off", node.dtype.scalar, 0, node.span)
            place = sum(bool(self.lane(node.predicate, position).value) for position in range(place))
        loads = [load for load in self.capture.loads if load.access is node]
        if place >= len(loads):
            return Value(Kind.VARIABLE, node.buffer.name, node.dtype.scalar, None, node.span)
        indices = tuple(self.lane(index, place) for index in node.indices)
        loaded_indices = tuple(index for index in indices if next(index.loads(), None) is not None)
        return load_value(loads[place], part, loaded_indices)

    def _call(self, node: tir.Call, lane: int) -> Value:
        result = next((value for call, value in self.capture.calls if call is node), None)
        result = result[lane] if isinstance(result, tuple) and lane < len(result) else result
        value = result if isinstance(result, (bool, int, float)) else None
        lanes = [lane if isinstance(arg, tir.Expr) and arg.dtype.lanes == node.dtype.lanes else 0 for arg in node.args]
        parts = tuple(
            self.lane(arg, at)
            for arg, at in zip(node.args, lanes, strict=True)
            if isinstance(arg, tir.Expr) and not isinstance(arg, tir.StringImm)
        )
        name = node.callee if isinstance(node.callee, str) else node.callee.name
        if name.startswith("call_") and node.args and isinstance(node.args[0], tir.StringImm):
            name = node.args[0].value
        scalar = node.dtype.scalar
        rounding = (
            exactness.of_operator(name, [part.value for part in parts], value, scalar) if value is not None else None
        )
        return Value(Kind.CALL, name, scalar, value, node.span, parts, rounding)


def apply_operator(op: str, parts: tuple[Value, ...], dtype: DType, node: tir.Expr) -> Value:
    """An operator on the trees of its operands."""
    operands = [part.value for part in parts]
    value: Scalar | None = None
    if None not in operands:
        try:
            value = SCALAR_OPS[op].value(tuple(part.dtype for part in parts), dtype)(*operands)
        except UndefinedValue as undefined:
            value = undefined.wrapped
    return Value(Kind.OPERATOR, op, dtype, value, node.span, parts, exactness.of_operator(op, operands, value, dtype))


def _cast(part: Value, node: tir.Cast) -> Value:
    source, target = part.dtype, node.dtype.scalar
    value: Scalar | None = None
    if part.value is not None:
        try:
            value = converter(source, target)(part.value)
        except UndefinedValue as undefined:
            value = undefined.wrapped
    rounding = exactness.of_cast(source, part.value, value, target)
    return Value(Kind.CAST, str(target), target, value, node.span, (part,), rounding)


def load_value(load: LoadRecord, part: int, indices: tuple[Value, ...] = ()) -> Value:
    """A load as a leaf: lane `part` of the element; `indices` are the trees of indices that are themselves loaded."""
    dtype = load.view.buffer.dtype
    size = cell_size(dtype)
    content = load.value[part] if isinstance(load.value, tuple) else load.value
    value = content if isinstance(content, (bool, int, float)) else None
    cell = Cell(load.storage, first_byte(load.view, load.offset) + part * size, size)
    name = element_name(load.access.buffer.name, load.indices) + (f" lane {part}" if dtype.is_vector else "")
    return Value(Kind.LOAD, name, dtype.scalar, value, load.access.span, indices, None, cell, load.time)


def stored_value(record: StoreRecord, cell: Cell) -> Value | None:
    """The tree of the value that a recorded store wrote to `cell`; None if it did not write that cell."""
    node = record.site.node
    if not isinstance(node, tir.BufferStore):
        return None
    size, width = cell_size(node.buffer.dtype), node.buffer.dtype.lanes
    part, remainder = divmod(cell.start - record.start, size)
    if size != cell.size or remainder or not 0 <= part < width or record.value is None:
        return None
    tree = Tree(record.capture, record.variables, record.binds)
    place = record.position
    if node.predicate is not None:
        live = [at for at in range(node.predicate.dtype.lanes) if tree.lane(node.predicate, at).value]
        place = live[place]
    root = tree.lane(node.value, place * width + part)
    value = record.value[part] if isinstance(record.value, tuple) else record.value
    return root if root.value is not None else replace(root, value=value)
