"""One element of the destination from those at the same place: movement, conversion, operators (TIP-011 … TIP-026).

| operator                               | an element of the destination                                           |
|----------------------------------------|-------------------------------------------------------------------------|
| `copy`, `permute_layout`               | the element at the same place, of one dtype                             |
| `fill`, `memset`                       | the value                                                               |
| `zero`                                 | 0                                                                       |
| `cast`                                 | the element, converted                                                  |
| `add sub mul fdiv maximum minimum`     | a + b, a - b, a * b, a / b, max(a, b), min(a, b)                        |
| `fma`                                  | a * scale + bias, rounded once                                          |
| `sqrt exp exp2 log2`                   | f(a * scale + bias), each step rounded                                  |
| `reciprocal`                           | 1 / a                                                                   |
| `silu`                                 | a * sigmoid(a)                                                          |
| `select`                               | one value where the predicate of the indices holds, else the other      |

All elements are read and computed in row-major order; then all are written, in that order (TIP-001).
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from refmlc.diag.catalogue import TYPE_MISMATCH, UNSUPPORTED_DTYPE
from refmlc.lang.dtypes import DType
from refmlc.lang.ops.contract import Scalar, UndefinedValue
from refmlc.run.interp.tirx.primitives.arithmetic import Arithmetic, Typed
from refmlc.run.interp.tirx.primitives.operands import Element, TileOperands, TileSource, source_of
from refmlc.run.interp.tirx.primitives.overlap import check_elements, writes_of
from refmlc.run.interp.tirx.primitives.shapes import Index, indices, same
from refmlc.run.interp.tirx.tile_view import TileView

Rule: TypeAlias = Callable[[TileOperands], None]

BINARY: Mapping[str, str] = {
    "add": "add",
    "sub": "sub",
    "mul": "mul",
    "fdiv": "div",
    "maximum": "max",
    "minimum": "min",
}
"""The scalar operator of each operator on two tiles."""

SCALED = ("sqrt", "exp", "exp2", "log2")
"""Operators that take a scale and a bias; their scalar operators have the same names."""

STEPS: Mapping[str, str] = {"scale": "mul", "bias": "add"}
"""What comes before such an operator, in order."""


def copy(operands: TileOperands) -> None:  # TIP-011
    """Fails: RM201 dtypes differ; RM202 shapes differ; RM321."""
    dst, source = operands.tile("dst"), same_element(operands)
    check_elements(operands, dst, (source,))
    write(operands, dst, source.element)


def permute_layout(operands: TileOperands) -> None:  # TIP-012
    """As `copy`, but the tiles may share memory in any way."""
    write(operands, operands.tile("dst"), same_element(operands).element)


def same_element(operands: TileOperands) -> TileSource:
    """The source of what is moved, at the same place. Fails: RM201, RM202."""
    dst, src = operands.tile("dst"), operands.tile("src")
    if src.dtype != dst.dtype:
        message = f"`{operands.name}` moves elements of {src.dtype} into elements of {dst.dtype}"
        raise operands.refuse(TYPE_MISMATCH, message, "`cast` converts")
    pick = same(src.shape, dst.shape)
    if pick is None:
        raise operands.misfit("src", src.shape, dst.shape)
    return source_of(src, pick)


def fill(operands: TileOperands) -> None:  # TIP-013
    """`fill` and `memset`: one value, converted once."""
    dst = operands.tile("dst")
    dtype, value = operands.number("value")
    each(operands, dst, (TileSource(dtype, lambda _index: value),), Typed(dtype, _itself))


def zero(operands: TileOperands) -> None:  # TIP-013
    """The source is not read."""
    dst = operands.tile("dst")
    kinds: Mapping[str, Scalar] = {"float": 0.0, "bool": False}
    value = kinds.get(dst.dtype.kind, 0)
    write(operands, dst, lambda _index: value)


def cast(operands: TileOperands) -> None:  # TIP-014
    """The conversion of a `Cast`."""
    dst = operands.tile("dst")
    (source,) = operands.sources(dst.shape, "src")
    each(operands, dst, (source,), Typed(source.dtype, _itself))


def binary(operands: TileOperands) -> None:  # TIP-021
    """Two sources, in the order of the text."""
    dst = operands.tile("dst")
    sources = operands.sources(dst.shape, "src1", "src2")
    each(operands, dst, sources, binary_function(operands.arithmetic, operands.call.op, *_dtypes(sources)))


def binary_function(arithmetic: Arithmetic, op: str, a: DType, b: DType) -> Typed:
    """The function of the tile primitive `op` on two elements."""
    return arithmetic.binary(BINARY[op], a, b)


def fma(operands: TileOperands) -> None:  # TIP-022
    """Three sources."""
    dst = operands.tile("dst")
    sources = operands.sources(dst.shape, "src", "scale", "bias")
    each(operands, dst, sources, operands.arithmetic.fused(*_dtypes(sources)))


def scaled(operands: TileOperands) -> None:  # TIP-023
    """`sqrt`, `exp`, `exp2`, `log2`."""
    apply_scaled(operands, operands.call.op, operands.tile("dst"), "src")


def apply_scaled(operands: TileOperands, op: str, dst: TileView, src: str) -> None:
    """f(src * scale + bias) into a tile; a scale or a bias that is left out is no step."""
    arithmetic = operands.arithmetic
    names = [name for name in STEPS if operands.given(name)]
    sources = operands.sources(dst.shape, src, *names)
    steps: list[Typed] = []
    dtype = sources[0].dtype
    for name, source in zip(names, sources[1:], strict=True):
        steps.append(arithmetic.binary(STEPS[name], dtype, source.dtype))
        dtype = steps[-1].dtype
    function = arithmetic.unary(op, dtype)
    values = tuple(step.value for step in steps)

    def value(x: Scalar, *others: Scalar) -> Scalar:
        for step, other in zip(values, others, strict=True):
            x = step(x, other)
        return function.value(x)

    each(operands, dst, sources, Typed(function.dtype, value))


def reciprocal(operands: TileOperands) -> None:  # TIP-024
    """1 / x in the dtype of the source."""
    dst = operands.tile("dst")
    (source,) = operands.sources(dst.shape, "src")
    quotient = operands.arithmetic.binary("div", source.dtype, source.dtype)
    each(operands, dst, (source,), Typed(quotient.dtype, lambda x: quotient.value(1.0, x)))


def silu(operands: TileOperands) -> None:  # TIP-025
    """X * sigmoid(x) in the dtype of the source."""
    dst = operands.tile("dst")
    (source,) = operands.sources(dst.shape, "src")
    gate = operands.arithmetic.unary("sigmoid", source.dtype)
    product = operands.arithmetic.binary("mul", source.dtype, gate.dtype)
    each(operands, dst, (source,), Typed(product.dtype, lambda x: product.value(x, gate.value(x))))


def select(operands: TileOperands) -> None:  # TIP-026
    """Only the value that is selected is read."""
    dst = operands.tile("dst")
    predicate = operands.predicate("pred")
    sources = operands.sources(dst.shape, "true_value", "false_value")
    check_elements(operands, dst, sources)
    chosen = [_converted(operands, source, dst.dtype) for source in sources]
    write(operands, dst, lambda index: chosen[0 if predicate(*index) else 1](index))


def _converted(operands: TileOperands, source: TileSource, target: DType) -> Element:
    convert, element = operands.arithmetic.converted(source.dtype, target), source.element
    return lambda index: convert(element(index))


def write(operands: TileOperands, dst: TileView, element: Element) -> None:
    """Compute every element, then write them. Fails: as the operators do, naming the element."""
    computed: list[tuple[Index, Scalar]] = []
    note = writes_of(operands, dst)
    for index in indices(dst.shape):
        try:
            value = element(index)
        except UndefinedValue as problem:
            raise operands.refuse(problem.code, problem.detail, f"at the element {index} of the destination") from None
        note(index, value)
        computed.append((index, value))
    for index, value in computed:
        dst.store(index, value)


def each(operands: TileOperands, dst: TileView, sources: Sequence[TileSource], function: Typed) -> None:
    """Write `function` of the elements of all sources, converted to the dtype of the destination (TIP-003)."""
    if dst.dtype.kind not in ("float", "int", "uint", "bool"):
        raise operands.refuse(UNSUPPORTED_DTYPE, f"`{operands.name}` is not supported on elements of {dst.dtype}")
    check_elements(operands, dst, sources)
    convert, value = operands.arithmetic.converted(function.dtype, dst.dtype), function.value
    elements = tuple(source.element for source in sources)
    write(operands, dst, lambda index: convert(value(*[element(index) for element in elements])))


def _dtypes(sources: Sequence[TileSource]) -> tuple[DType, ...]:
    return tuple(source.dtype for source in sources)


def _itself(x: Scalar) -> Scalar:
    return x


RULES: Mapping[str, Rule] = {
    "copy": copy,
    "permute_layout": permute_layout,
    "fill": fill,
    "memset": fill,
    "zero": zero,
    "cast": cast,
    **dict.fromkeys(BINARY, binary),
    "fma": fma,
    **dict.fromkeys(SCALED, scaled),
    "reciprocal": reciprocal,
    "silu": silu,
    "select": select,
}
"""The rule of each operator of this file."""

__all__ = ["BINARY", "RULES", "SCALED", "apply_scaled", "binary_function", "each", "same_element", "write"]
