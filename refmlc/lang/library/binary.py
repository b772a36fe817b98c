"""Operators of two tensors, element by element, the shapes being broadcast to each other.

| operator                                  | on floats                              | on integers       | on bool |
|-------------------------------------------|----------------------------------------|-------------------|---------|
| `add`, `subtract`, `multiply`             | rounded once                           | exact             | no      |
| `divide`                                  | rounded once                           | to 0              | no      |
| `floor_divide`                            | floor of the rounded quotient          | down              | no      |
| `mod`                                     | the rest, with the sign of the first   | the same          | no      |
| `floor_mod`                               | `a - floor(a / b) * b`, each rounded   | the rest of `//`  | no      |
| `power`, `atan2`                          | the scalar operator                    | no                | no      |
| `maximum`, `minimum`                      | the scalar operator                    | yes               | no      |
| `equal` … `greater_equal`: bool           | yes                                    | yes               | yes     |
| `logical_and`, `logical_or`, `logical_xor`  | no                                   | no                | yes     |
| `bitwise_and`, `bitwise_or`, `bitwise_xor`  | no                                   | yes               | yes     |
| `left_shift`, `right_shift`               | no                                     | yes               | no      |

Shapes are aligned at the end; an extent of 1 stands for any. Both tensors have one dtype; a number (`R.prim_value`)
takes the dtype of the tensor. Fails: RM202 shapes that do not fit, RM201 dtypes.
"""

from collections.abc import Callable

from refmlc.diag import fail
from refmlc.diag.catalogue import TYPE_MISMATCH
from refmlc.lang import te
from refmlc.lang.library.definition import Operator, computed
from refmlc.lang.library.shapes import broadcast_indices, broadcast_shape
from refmlc.lang.te import Tensor, Value

Function = Callable[[Value, Value], Value]


def combined(a: Tensor | Value, b: Tensor | Value, function: Function, name: str) -> Tensor:
    """The tensor whose elements are `function` of those of `a` and `b`."""
    if isinstance(a, Tensor) and isinstance(b, Tensor):
        if a.dtype != b.dtype:
            raise fail(TYPE_MISMATCH, f"`{name}` takes tensors of one dtype; these are {a.dtype} and {b.dtype}")
        shape = broadcast_shape(a.shape, b.shape)

        def element(*i: Value) -> Value:
            return function(a(*broadcast_indices(a.shape, i, shape)), b(*broadcast_indices(b.shape, i, shape)))

        return computed(shape, element, f"T_{name}")
    if isinstance(a, Tensor) and isinstance(b, Value):
        number = te.cast(b, a.dtype)
        return computed(a.shape, lambda *i: function(a(*i), number), f"T_{name}")
    if isinstance(a, Value) and isinstance(b, Tensor):
        number = te.cast(a, b.dtype)
        return computed(b.shape, lambda *i: function(number, b(*i)), f"T_{name}")
    raise fail(TYPE_MISMATCH, f"`{name}` takes at least one tensor")


def _defined(name: str, function: Function, meaning: str) -> Callable[[Tensor | Value, Tensor | Value], Tensor]:
    """The operator that is `function` at each element of the broadcast shape."""

    def operator(a: Tensor | Value, b: Tensor | Value) -> Tensor:
        return combined(a, b, function, name)

    operator.__name__ = operator.__qualname__ = name
    operator.__doc__ = meaning
    return operator


def _divided(a: Value, b: Value) -> Value:
    return te.div(a, b)


def _floor_divided(a: Value, b: Value) -> Value:
    return te.floor(a / b) if a.expr.dtype.is_float else a // b


def _floor_rest(a: Value, b: Value) -> Value:
    return a - te.floor(a / b) * b if a.expr.dtype.is_float else a % b


def _conditions(name: str, function: Function) -> Function:
    def of(a: Value, b: Value) -> Value:
        if a.expr.dtype.kind != "bool":
            raise fail(TYPE_MISMATCH, f"`{name}` takes tensors of bool; these are {a.dtype}")
        return function(a, b)

    return of


ARITHMETIC = (
    Operator("add", _defined("add", lambda a, b: a + b, "The sums."), "LIB-201", ("add",)),
    Operator("subtract", _defined("subtract", lambda a, b: a - b, "The differences."), "LIB-201", ("subtract",)),
    Operator("multiply", _defined("multiply", lambda a, b: a * b, "The products."), "LIB-201", ("multiply",)),
    Operator(
        "divide", _defined("divide", _divided, "The quotients; of integers rounded to 0."), "LIB-202", ("divide",)
    ),
    Operator(
        "floor_divide",
        _defined("floor_divide", _floor_divided, "The quotients rounded down; of floats the floor of the quotient."),
        "LIB-203",
        ("floor_divide",),
    ),
    Operator("mod", _defined("mod", te.truncmod, "The rests, with the signs of the first."), "LIB-204", ("mod",)),
    Operator(
        "floor_mod",
        _defined("floor_mod", _floor_rest, "The rests of the division rounded down; of floats a - floor(a / b) * b."),
        "LIB-205",
        ("floor_mod",),
    ),
    Operator("power", _defined("power", te.power, "The first to the power of the second."), "LIB-206", ("power",)),
    Operator("atan2", _defined("atan2", te.atan2, "The angle of the point (second, first)."), "LIB-206"),
    Operator("maximum", _defined("maximum", te.maximum, "The greater of the two."), "LIB-207", ("maximum",)),
    Operator("minimum", _defined("minimum", te.minimum, "The smaller of the two."), "LIB-207", ("minimum",)),
)

COMPARISONS = (
    Operator("equal", _defined("equal", lambda a, b: a == b, "Whether they are equal."), "LIB-208", ("equal",)),
    Operator(
        "not_equal", _defined("not_equal", lambda a, b: a != b, "Whether they differ."), "LIB-208", ("not_equal",)
    ),
    Operator("less", _defined("less", lambda a, b: a < b, "Whether the first is less."), "LIB-208", ("less",)),
    Operator(
        "less_equal",
        _defined("less_equal", lambda a, b: a <= b, "Whether the first is not more."),
        "LIB-208",
        ("less_equal",),
    ),
    Operator("greater", _defined("greater", lambda a, b: a > b, "Whether the first is more."), "LIB-208", ("greater",)),
    Operator(
        "greater_equal",
        _defined("greater_equal", lambda a, b: a >= b, "Whether the first is not less."),
        "LIB-208",
        ("greater_equal",),
    ),
)

LOGIC = (
    Operator(
        "logical_and",
        _defined("logical_and", _conditions("logical_and", te.all), "Whether both are true."),
        "LIB-209",
        ("logical_and",),
    ),
    Operator(
        "logical_or",
        _defined("logical_or", _conditions("logical_or", te.any), "Whether one is true."),
        "LIB-209",
        ("logical_or",),
    ),
    Operator(
        "logical_xor",
        _defined("logical_xor", _conditions("logical_xor", lambda a, b: a ^ b), "Whether exactly one is true."),
        "LIB-209",
        ("logical_xor",),
    ),
    Operator(
        "bitwise_and",
        _defined("bitwise_and", lambda a, b: a & b, "Bits that are in both."),
        "LIB-210",
        ("bitwise_and",),
    ),
    Operator(
        "bitwise_or", _defined("bitwise_or", lambda a, b: a | b, "Bits that are in one."), "LIB-210", ("bitwise_or",)
    ),
    Operator(
        "bitwise_xor",
        _defined("bitwise_xor", lambda a, b: a ^ b, "Bits that are in exactly one."),
        "LIB-210",
        ("bitwise_xor",),
    ),
    Operator(
        "left_shift",
        _defined("left_shift", lambda a, b: a << b, "Bits moved to the left by the second."),
        "LIB-211",
        ("left_shift",),
    ),
    Operator(
        "right_shift",
        _defined("right_shift", lambda a, b: a >> b, "Bits moved to the right by the second."),
        "LIB-211",
        ("right_shift",),
    ),
)

BINARY = (*ARITHMETIC, *COMPARISONS, *LOGIC)
