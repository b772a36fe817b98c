"""Loads and stores of elements: bounds of every axis, initialisation, one cell; what is proved is not checked."""

from collections.abc import Sequence
from math import prod

from refmlc.diag.source import Span
from refmlc.lang.dtypes import INT32
from refmlc.lang.ir import tir
from refmlc.native.emit.state import Place, State, Unsuited, is_index
from refmlc.native.text import bare

NATIVE = frozenset(
    ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64"),
)
"""Dtypes whose cells are their values."""


def load(state: State, node: tir.BufferLoad, indices: list[str]) -> str:
    """The element at `indices`, which are C expressions."""
    if node.predicate is not None:
        raise Unsuited("it loads with a mask", node.span)
    offset = element(state, node, indices)
    place = state.place(node.buffer, node.span)
    use = state.initialisation.use_of(node.buffer)
    if place.shadow:
        offset = state.temp("int64_t", offset)
        state.check(f"{place.shadow}[{offset}]", f"the element of `{node.buffer.name}` is initialised", node.span)
    else:
        state.proved(f"`{node.buffer.name}`: {use.proof}")
    return cell(state, node.buffer, place, offset)


def cell(state: State, buffer: tir.Buffer, place: Place, offset: str) -> str:
    """The value of one cell as a C expression."""
    state.use(buffer.dtype)
    if buffer.dtype.element in NATIVE:
        return f"{place.cells}[{bare(offset)}]"
    return f"rm_get_{buffer.dtype.element}({place.cells}, {offset})"


def store(state: State, node: tir.BufferStore, value: str, indices: list[str]) -> None:
    """Write the C expression `value` at `indices`."""
    buffer = node.buffer
    state.tally.stores += 1
    place = state.place(buffer, node.span)
    offset = element(state, node, indices)
    element_type = state.use(buffer.dtype)
    if place.shadow:
        offset = state.temp("int64_t", offset)
    if buffer.dtype.element in NATIVE:
        value = f"({element_type}){value}" if buffer.dtype.is_integer else bare(value)
        state.text.line(f"{place.cells}[{bare(offset)}] = {value};", node.span)
    else:
        state.text.line(f"rm_put_{buffer.dtype.element}({place.cells}, {bare(offset)}, {bare(value)});", node.span)
    if place.shadow:
        state.text.line(f"{place.shadow}[{offset}] = 1;")


def element(state: State, node: tir.BufferLoad | tir.BufferStore, indices: Sequence[str]) -> str:
    """The number of the element; indices that are not proved to be inside are checked."""
    buffer = node.buffer
    if len(indices) != len(buffer.shape):
        raise Unsuited(f"`{buffer.name}` is accessed with {len(indices)} indices", node.span)
    if buffer.dtype.is_vector:
        raise Unsuited(f"the elements of `{buffer.name}` are vectors", node.span)
    if any(index.dtype.is_vector for index in node.indices[:-1]):
        raise Unsuited("an index before the last has lanes", node.span)
    place = state.place(buffer, node.span)
    offsets = [
        _inside(state, buffer, axis, node.indices[axis], code, place.shape[axis], node.span)
        for axis, code in enumerate(indices)
    ]
    return flat(place, offsets)


def flat(place: Place, indices: Sequence[str]) -> str:
    """The offset of an element as C. Names are int64_t; what else is an int is made one before a product is greater."""
    narrow = _is_narrow(place)
    if place.strides:
        terms = [times(index, stride, narrow=narrow) for index, stride in zip(indices, place.strides, strict=True)]
        return " + ".join([*([place.offset] if place.offset else []), *terms]) or "0"
    offset = "0"
    for index, extent in zip(indices, place.shape, strict=True):
        row = "" if offset == "0" or extent == "0" else times(offset, extent, narrow=narrow)
        offset = " + ".join(part for part in (row, "" if index == "0" else index) if part) or "0"
    return offset


def times(code: str, factor: str, *, narrow: bool = False) -> str:
    """The product as C, in int64_t unless it is `narrow`: no greater than an int is."""
    if code.isdigit():
        narrow = narrow or not factor.isdigit() or int(code) * int(factor) <= INT32.maximum
        return f"{code if narrow else f'INT64_C({code})'} * {factor}"
    if code.isidentifier():
        return f"{code} * {factor}"
    return f"{'' if narrow or not factor.isdigit() else '(int64_t)'}({bare(code)}) * {factor}"


def _is_narrow(place: Place) -> bool:
    """Whether an int holds the offset of each element, as far as it is of the indices."""
    extents, strides = place.shape, place.strides
    if not all(part.isdigit() for part in (*extents, *strides)):
        return False
    if not strides:
        return prod(map(int, extents)) <= INT32.maximum
    return sum(int(extent) * int(stride) for extent, stride in zip(extents, strides, strict=True)) <= INT32.maximum


def _inside(
    state: State, buffer: tir.Buffer, axis: int, index: tir.Expr, code: str, extent: str, span: Span | None
) -> str:
    if state.proving and not index.dtype.is_vector and state.facts.within(index, buffer.shape[axis]):
        state.proved(f"axis {axis} of `{buffer.name}`: {state.facts.why(index, buffer.shape[axis])}")
        return code if is_index(index.dtype) or not code.isidentifier() else f"((int64_t){code})"
    name = state.temp("int64_t", code)
    state.check(f"RM_WITHIN({name}, {extent})", f"axis {axis} of `{buffer.name}` is in bounds", span)
    return name
