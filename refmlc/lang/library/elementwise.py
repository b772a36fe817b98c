"""Operators of one tensor, element by element. The shape and, but for the tests, the dtype are those of the argument.

| operator                                         | on floats                    | on integers              | on bool |
|--------------------------------------------------|------------------------------|--------------------------|---------|
| `abs`, `negative`, `sign`, `square`              | yes                          | yes                      | no      |
| `ceil`, `floor`, `round`, `trunc`                | to an integer                | the element itself       | no      |
| `exp`, `log`, `sqrt`, `sin` … `erf`, `sigmoid`   | the scalar operator          | no                       | no      |
| `isnan`, `isinf`, `isfinite`                     | bool                         | bool                     | no      |
| `bitwise_not`                                    | no                           | yes                      | yes     |
| `logical_not`                                    | no                           | no                       | yes     |
"""

from collections.abc import Callable

from refmlc.lang import te
from refmlc.lang.library.definition import Operator, computed
from refmlc.lang.te import Tensor, Value

Function = Callable[[Value], Value]


def mapped(x: Tensor, function: Function, name: str) -> Tensor:
    """The tensor whose elements are `function` of those of `x`."""
    return computed(x.shape, lambda *i: function(x(*i)), name)


def _scalar(name: str, spelled: str = "") -> Callable[[Tensor], Tensor]:
    """The function that applies scalar operator `name` to each element."""

    def function(x: Tensor) -> Tensor:
        return mapped(x, lambda value: te.apply(name, value), spelled or name)

    function.__name__ = function.__qualname__ = spelled or name
    function.__doc__ = f"The scalar operator `{name}` at each element; its accuracy and dtypes are that operator's."
    return function


def negative(x: Tensor) -> Tensor:
    """The elements with the other sign; the least integer has none (RM306)."""
    return mapped(x, lambda value: -value, "negative")


def square(x: Tensor) -> Tensor:
    """The elements multiplied by themselves."""
    return mapped(x, lambda value: value * value, "square")


def sign(x: Tensor) -> Tensor:
    """1, -1 or 0 as the element is positive, negative or neither; NaN gives 0."""

    def of(value: Value) -> Value:
        one, zero = te.const(1, value.dtype), te.const(0, value.dtype)
        if value.expr.dtype.kind == "uint":
            return te.select(value > zero, one, zero)
        return te.select(value > zero, one, te.select(value < zero, te.const(-1, value.dtype), zero))

    return mapped(x, of, "sign")


def bitwise_not(x: Tensor) -> Tensor:
    """The bits of the elements turned over."""
    return mapped(x, lambda value: ~value, "bitwise_not")


def logical_not(x: Tensor) -> Tensor:
    """True where the element is false."""
    return mapped(x, te.not_, "logical_not")


SCALARS = (
    *("abs", "ceil", "floor", "round", "trunc", "exp", "log", "sqrt", "rsqrt", "sin", "cos", "tan", "sinh", "cosh"),
    *("tanh", "asin", "acos", "atan", "asinh", "acosh", "atanh", "erf", "sigmoid", "isnan", "isinf", "isfinite"),
)

ELEMENTWISE = (
    *(Operator(name, _scalar(name), "LIB-101", (name,)) for name in SCALARS),
    Operator("negative", negative, "LIB-102", ("negative",)),
    Operator("square", square, "LIB-103"),
    Operator("sign", sign, "LIB-104", ("sign",)),
    Operator("bitwise_not", bitwise_not, "LIB-105", ("bitwise_not",)),
    Operator("logical_not", logical_not, "LIB-106", ("logical_not",)),
)
