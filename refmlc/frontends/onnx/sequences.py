"""Sequences and optionals of ONNX: how many tensors there are is known while a model is imported.

| value            | is                                                             |
|------------------|----------------------------------------------------------------|
| `TensorSequence` | tensors in their order, each with a shape and dtype of its own |
| `Nothing`        | an optional without an element                                 |
| an optional      | its element: a tensor, or a sequence                           |
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_INPUT, UNSUPPORTED_OP
from refmlc.frontends.arrays import constant
from refmlc.frontends.emitter import Operand
from refmlc.frontends.onnx.constant_values import as_tensor, scalar
from refmlc.frontends.onnx.elementwise import OnnxRule
from refmlc.frontends.onnx.node import Node
from refmlc.frontends.onnx.shape_rules import axis_of, pieces
from refmlc.lang.ir import relax


@dataclass(frozen=True)
class TensorSequence:
    """Tensors, or what a rule takes for one."""

    items: tuple[Operand, ...]


@dataclass(frozen=True)
class Nothing:
    """An optional without an element."""


def _sequence(node: Node, place: int) -> tuple[Operand, ...]:
    """An input that is a sequence. Fails: RM111."""
    value = node.input(place)
    if not isinstance(value, TensorSequence):
        raise fail(BAD_INPUT, f"input {place} of `{node.op}` is not a sequence")
    return value.items


def _place(node: Node, place: int, count: int, last: int) -> int:
    """A position in a sequence, from the end where it is negative; `last` by default. Fails: RM111, RM501."""
    number = node.number(place)
    at = last if number is None else int(number)
    if not -count <= at <= last:
        raise fail(BAD_INPUT, f"position {at} of `{node.op}` is outside of a sequence of {count}")
    return at + count if at < 0 else at


def construct(node: Node) -> Operand:
    """A sequence of the inputs."""
    return TensorSequence(tuple(node.input(place) for place in range(len(node))))


def empty(node: Node) -> Operand:
    """A sequence without tensors."""
    node.whole("dtype", 1)  # says what might stand in it
    return TensorSequence(())


def at(node: Node) -> Operand:
    """The tensor at a position."""
    items = _sequence(node, 0)
    return items[_place(node, 1, len(items), len(items) - 1)]


def erase(node: Node) -> Operand:
    """The sequence without the tensor at a position, the last one by default."""
    items = _sequence(node, 0)
    place = _place(node, 1, len(items), len(items) - 1)
    return TensorSequence(items[:place] + items[place + 1 :])


def insert(node: Node) -> Operand:
    """The sequence with a tensor before a position, at the end by default."""
    items, tensor = _sequence(node, 0), node.input(1)
    place = _place(node, 2, len(items), len(items))
    return TensorSequence((*items[:place], tensor, *items[place:]))


def length(node: Node) -> Operand:
    """The number of tensors."""
    return scalar(len(_sequence(node, 0)))


def split(node: Node) -> Operand:
    """Parts along an axis: of one element each, without the axis where it is not kept, or of the given sizes."""
    e, x, keep = node.e, node.tensor(0), node.whole("keepdims", 1)
    axis = axis_of(node.whole("axis", 0), e.rank(x), node.op)
    extent = e.shape(x)[axis]
    if not isinstance(extent, int):
        raise fail(UNSUPPORTED_OP, f"`{node.op}` of a symbolic extent is not supported")
    values = node.input(1)
    each = 1 if values is None else node.number(1) if len(node.integers(1)) == 1 else None
    rank = 1 if values is None else e.rank(node.tensor(1))
    if rank == 0 and isinstance(each, int):
        if each < 1:
            raise fail(BAD_INPUT, f"`{node.op}` into parts of {each} elements")
        sizes = [min(each, extent - begin) for begin in range(0, extent, each)]
    else:
        sizes = [1] * extent if values is None else list(node.integers(1))
    parts = pieces(node, x, axis, sizes)
    if values is None and not keep:
        parts = [e.call("squeeze", part, axis=axis) for part in parts]
    return TensorSequence(tuple(parts))


def concatenated(node: Node) -> Operand:
    """The tensors of a sequence one after the other, or along a new axis."""
    e, tensors = node.e, [as_tensor(node.e, item) for item in _sequence(node, 0)]
    axis, new = node.whole("axis", 0), node.whole("new_axis", 0)
    if not tensors:
        raise fail(BAD_INPUT, f"`{node.op}` of an empty sequence has no shape")
    place = axis_of(axis, e.rank(tensors[0]) + bool(new), node.op)
    return e.call("stack" if new else "concat", relax.Tuple(tuple(tensors)), axis=place)


def optional(node: Node) -> Operand:
    """An optional: its element, or nothing."""
    node.take("type")  # says what might be in it
    value = node.input(0)
    return Nothing() if value is None else value


def has_element(node: Node) -> Operand:
    """Whether an optional has an element; a tensor and a sequence are their own."""
    value = node.input(0)
    return constant(np.array(value is not None and not isinstance(value, Nothing)))


def element(node: Node) -> Operand:
    """The element of an optional. Fails: RM111 where it has none."""
    value = node.input(0)
    if value is None or isinstance(value, Nothing):
        raise fail(BAD_INPUT, f"`{node.op}` of an optional without an element")
    return value


SEQUENCES: Mapping[str, OnnxRule] = {
    "SequenceConstruct": construct,
    "SequenceEmpty": empty,
    "SequenceAt": at,
    "SequenceErase": erase,
    "SequenceInsert": insert,
    "SequenceLength": length,
    "SplitToSequence": split,
    "ConcatFromSequence": concatenated,
    "Optional": optional,
    "OptionalHasElement": has_element,
    "OptionalGetElement": element,
}
