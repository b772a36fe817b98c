"""Expressions as Python source. A scalar is an int, a bool or one of NumPy's floats; a vector is a list of them."""

from collections.abc import Sequence
from typing import assert_never

from refmlc.lang.dtypes import DType
from refmlc.lang.ir import tir
from refmlc.oracle.implementations.loops import lanes
from refmlc.oracle.implementations.loops.calls import call_source
from refmlc.oracle.implementations.loops.operators import NotTaken, cast_source, loaded, operator_source
from refmlc.oracle.implementations.loops.rounding import put
from refmlc.oracle.implementations.loops.writer import Writer


def source(writer: Writer, node: tir.Expr) -> str:
    """`node` as source. Fails: `NotTaken`."""
    match node:
        case tir.Var():
            return writer.var(node)
        case tir.IntImm(dtype=kind, value=value):
            return str(bool(value)) if kind.kind == "bool" else f"({value})"
        case tir.FloatImm(dtype=kind, value=value):
            return writer.bind("number", put(kind.scalar)(value))
        case tir.StringImm():
            raise NotTaken("a string as a value")
        case tir.Apply(op=op, args=args, dtype=kind):
            return _apply(writer, op, args, kind)
        case tir.Cast(dtype=kind, value=value):
            return _cast(writer, value, kind)
        case tir.And(a=a, b=b):
            return _logical(writer, "and", a, b)
        case tir.Or(a=a, b=b):
            return _logical(writer, "or", a, b)
        case tir.Select():
            return _select(writer, node)
        case tir.IfThenElseExpr(condition=condition, true_value=yes, false_value=no):
            return f"({source(writer, yes)} if {source(writer, condition)} else {source(writer, no)})"
        case tir.Let(var=var, value=value, body=body):
            bound = source(writer, value)
            return f"({writer.declare(var)} := {bound}, {source(writer, body)})[1]"
        case tir.BufferLoad():
            return load(writer, node)
        case tir.BufferData(buffer=buffer):
            writer.buffer(buffer)
            return writer.places[buffer]
        case tir.Ramp(base=base, stride=stride, dtype=kind):
            if base.dtype.is_vector:
                raise NotTaken("a ramp of vectors")
            constructor = writer.bind(f"ramp_{kind.element}x{kind.lanes}", lanes.ramp(kind))
            return f"{constructor}({source(writer, base)}, {source(writer, stride)})"
        case tir.Broadcast(value=value, dtype=kind):
            count = kind.lanes // value.dtype.lanes
            return f"{writer.bind('repeated', lanes.repeated)}({source(writer, value)}, {count})"
        case tir.Shuffle(vectors=vectors, indices=places):
            parts = ", ".join(source(writer, operand) for operand in vectors)
            at = ", ".join(source(writer, operand) for operand in places)
            return f"{writer.bind('picked', lanes.picked)}([{parts}], [{at}])"
        case tir.Call():
            return call_source(writer, node, source)
        case _:
            assert_never(node)


def load(writer: Writer, node: tir.BufferLoad) -> str:
    """The element, or the elements."""
    array, kind = writer.buffer(node.buffer), node.buffer.dtype
    if kind.kind == "handle":
        raise NotTaken("memory that holds handles")
    indices = [source(writer, index) for index in node.indices]
    if node.indices and node.indices[-1].dtype.is_vector:
        gather = writer.bind(f"put_gather_{kind}", lanes.gatherer(kind, put(kind.scalar)(0)))
        on = "" if node.predicate is None else f", {source(writer, node.predicate)}"
        return f"{gather}({array}, ({''.join(f'{coordinate}, ' for coordinate in indices[:-1])}), {indices[-1]}{on})"
    if node.predicate is not None:
        raise NotTaken("a predicate on a scalar access")
    element = f"{array}[{place(indices)}]"
    if kind.is_vector:
        return f"{writer.bind(f'put_whole_{kind}', lanes.whole_loader(kind))}({element})"
    return element if kind.is_float else f"{writer.bind('loaded', loaded(kind))}({element})"


def place(indices: Sequence[str]) -> str:
    """What stands in brackets after an array."""
    return ", ".join(indices) if indices else "()"


def _apply(writer: Writer, op: str, args: Sequence[tir.Expr], kind: DType) -> str:
    operands = [arg.dtype.scalar for arg in args]
    values = [source(writer, arg) for arg in args]
    if not kind.is_vector:
        return operator_source(op, operands, kind, values, writer.bind)
    names = [writer.names.fresh("x") for _ in args]
    body = operator_source(op, operands, kind.scalar, names, writer.bind)
    return _lane_by_lane(writer, names, body, values)


def _lane_by_lane(writer: Writer, names: Sequence[str], body: str, values: Sequence[str]) -> str:
    constructor, each = writer.bind("made", list), writer.bind("each", map)
    return f"{constructor}({each}(lambda {', '.join(names)}: {body}, {', '.join(values)}))"


def _cast(writer: Writer, value: tir.Expr, kind: DType) -> str:
    before, inner = value.dtype.scalar, source(writer, value)
    if not kind.is_vector:
        return cast_source(inner, before, kind, writer.bind)
    name = writer.names.fresh("x")
    return _lane_by_lane(writer, [name], cast_source(name, before, kind.scalar, writer.bind), [inner])


def _logical(writer: Writer, word: str, a: tir.Expr, b: tir.Expr) -> str:
    values = [source(writer, a), source(writer, b)]
    if not a.dtype.is_vector:
        return f"({values[0]} {word} {values[1]})"
    names = [writer.names.fresh("x") for _ in values]
    return _lane_by_lane(writer, names, f"({names[0]} {word} {names[1]})", values)


def _select(writer: Writer, node: tir.Select) -> str:
    parts = [source(writer, part) for part in (node.condition, node.true_value, node.false_value)]
    if node.true_value.dtype.is_vector:
        return f"{writer.bind('chosen', lanes.chosen)}({', '.join(parts)})"
    return f"{writer.bind('one_of', _one_of)}({', '.join(parts)})"


def _one_of(condition: object, yes: object, no: object) -> object:
    """Both have been evaluated."""
    return yes if condition else no
