"""Two operands: brought to one dtype by PyTorch's rules, then one operator.

| operands                                   | the dtype                                                     |
|--------------------------------------------|---------------------------------------------------------------|
| of different kinds (bool < int < float)    | that of the highest kind                                      |
| of one kind, with and without dimensions   | that of the ones with dimensions; numbers of Python come last |
| of one kind, both with dimensions          | the one that holds both                                       |
| a float of Python, and integers            | float32                                                       |
| `/` of integers                            | float32                                                       |

Sizes that are not known before it runs are operands too: two of them, or one and a number, stay a size.
"""

import operator
from collections.abc import Callable, Mapping

import numpy as np

from refmlc.frontends.aten.nans import of_two
from refmlc.frontends.emitter import Emitter, Operand
from refmlc.frontends.rule import Rule
from refmlc.lang.dtypes import SCALARS
from refmlc.lang.ir import relax
from refmlc.lang.te import Value

KINDS = ("bool", "int", "float")
ON_TRUTH = {"add": "logical_or", "multiply": "logical_and"}
"""What sums and products of truth are."""

WITH_DIMENSIONS, WITHOUT_DIMENSIONS, PYTHON = 2, 1, 0


def result_dtype(e: Emitter, *operands: Operand) -> str:
    """The dtype that the operands are brought to."""
    ranked = [_ranked(e, operand) for operand in operands]
    kind = max(item[0] for item in ranked)
    level = max(item[1] for item in ranked if item[0] == kind)
    candidates = [item[2] for item in ranked if item[:2] == (kind, level)]
    result = candidates[0]
    for other in candidates[1:]:
        result = wider(result, other)
    return result


def _ranked(e: Emitter, operand: Operand) -> tuple[int, int, str]:
    match operand:
        case bool():
            return 0, PYTHON, "bool"
        case int() | Value():
            return 1, PYTHON, "int64"
        case float():
            return 2, PYTHON, "float32"
    dtype = e.dtype(operand)
    return kind_of(dtype), WITH_DIMENSIONS if e.rank(operand) else WITHOUT_DIMENSIONS, dtype


def kind_of(dtype: str) -> int:
    """0 for bool, 1 for integers, 2 for floats."""
    return 0 if dtype == "bool" else 2 if SCALARS[dtype].is_float else 1


def floating(e: Emitter, x: relax.Expr) -> relax.Expr:
    """The tensor, integers being taken as float32."""
    return x if kind_of(e.dtype(x)) == kind_of("float32") else e.astype(x, "float32")


def wider(a: str, b: str) -> str:
    """The dtype that holds both."""
    if a == b:
        return a
    if "bfloat16" in (a, b):
        other = a if b == "bfloat16" else b
        return "float32" if other == "float16" else other if kind_of(other) == kind_of("bfloat16") else "bfloat16"
    return str(np.promote_types(a, b))


def brought(e: Emitter, value: Operand, dtype: str) -> relax.Expr:
    """An operand as a tensor of `dtype`."""
    return e.astype(value, dtype) if isinstance(value, relax.Expr) else e.scalar(value, dtype)


def converted(e: Emitter, x: relax.Expr, dtype: str) -> relax.Expr:
    """The tensor in another dtype, as PyTorch converts it.

    Decision: a float that int32 or int64 has no value for becomes the least one, as on every processor of x86-64,
    where PyTorch leaves it open: models convert what a mask hides later. Other dtypes have no such value (RM309).
    """
    if dtype not in ("int32", "int64") or kind_of(e.dtype(x)) != kind_of("float32") or isinstance(x, relax.Constant):
        return e.astype(x, dtype)
    own, limit = e.dtype(x), 2.0 ** (SCALARS[dtype].bits - 1)
    wide = e.astype(x, "float32") if SCALARS[own].bits < 32 else x
    part = e.call("trunc", wide)
    inside = e.call(
        "logical_and",
        e.call("greater_equal", part, e.scalar(-limit, e.dtype(wide))),
        e.call("less", part, e.scalar(limit, e.dtype(wide))),
    )
    result = e.astype(e.call("where", inside, wide, e.scalar(0, e.dtype(wide))), dtype)
    return e.call("where", inside, result, e.scalar(int(-limit), dtype))


def _numbers(*operands: Operand) -> bool:
    return all(isinstance(operand, bool | int | float | Value) for operand in operands)


def combine(name: str, on_numbers: Callable[..., object]) -> Rule:
    """`R.name` of two operands; `on_numbers` computes it of numbers and sizes."""

    def rule(e: Emitter, a: Operand, b: Operand) -> Operand:
        if _numbers(a, b):
            return on_numbers(a, b)
        dtype = result_dtype(e, a, b)
        operator_name = ON_TRUTH.get(name, name) if dtype == "bool" else name
        return e.call(operator_name, brought(e, a, dtype), brought(e, b, dtype))

    return rule


def extreme(name: str, on_numbers: Callable[..., object]) -> Rule:
    """The greater or the smaller of two operands; NaN where one of them is."""

    def rule(e: Emitter, a: Operand, b: Operand) -> Operand:
        if _numbers(a, b):
            return on_numbers(a, b)
        dtype = result_dtype(e, a, b)
        return of_two(e, name, brought(e, a, dtype), brought(e, b, dtype))

    return rule


def scaled(name: str, on_numbers: Callable[..., object]) -> Rule:
    """`a ± alpha * b`."""
    plain = combine(name, on_numbers)

    def rule(e: Emitter, a: Operand, b: Operand, *, alpha: Operand = 1) -> Operand:
        return plain(e, a, b if alpha == 1 else multiply(e, b, alpha))

    return rule


def reversed_(rule: Rule) -> Rule:
    """The same with its operands exchanged."""
    return lambda e, a, b, *, alpha=1: rule(e, b, a, alpha=alpha)


multiply = combine("multiply", operator.mul)


def divide(e: Emitter, a: Operand, b: Operand, *, rounding_mode: str | None = None) -> Operand:
    """`a / b`; rounded down ("floor") or towards 0 ("trunc") where asked for."""
    if _numbers(a, b):
        return a / b if rounding_mode is None else a // b  # type: ignore[operator]
    dtype = result_dtype(e, a, b)
    if rounding_mode == "floor":
        return floor_divide(e, a, b)
    dtype = dtype if kind_of(dtype) == kind_of("float32") or rounding_mode else "float32"
    result = e.call("divide", brought(e, a, dtype), brought(e, b, dtype))
    return e.call("trunc", result) if rounding_mode and kind_of(dtype) == kind_of("float32") else result


def floor_divide(e: Emitter, a: Operand, b: Operand) -> Operand:
    """The greatest whole number not above `a / b`; of floats by what `fmod` leaves, as PyTorch computes it."""
    if _numbers(a, b):
        return a // b  # type: ignore[operator]
    dtype = result_dtype(e, a, b)
    x, y = brought(e, a, dtype), brought(e, b, dtype)
    if kind_of(dtype) != kind_of("float32"):
        return e.call("floor_divide", x, y)
    zero, rest = e.scalar(0, dtype), e.call("mod", x, y)
    share = e.call("divide", e.call("subtract", x, rest), y)
    share = e.call("where", _apart(e, rest, y), e.call("subtract", share, e.scalar(1, dtype)), share)
    below = e.call("floor", share)
    beyond = e.call("greater", e.call("subtract", share, below), e.scalar(0.5, dtype))
    below = e.call("where", beyond, e.call("add", below, e.scalar(1, dtype)), below)
    plain = e.call("divide", x, y)
    result = e.call("where", e.call("not_equal", share, zero), below, e.call("multiply", plain, zero))
    return e.call("where", e.call("equal", y, zero), plain, result)


def remainder(e: Emitter, a: Operand, b: Operand) -> Operand:
    """What division leaves, with the sign of the divisor; of floats by `fmod`, as PyTorch computes it."""
    if _numbers(a, b):
        return a % b  # type: ignore[operator]
    dtype = result_dtype(e, a, b)
    x, y = brought(e, a, dtype), brought(e, b, dtype)
    if kind_of(dtype) != kind_of("float32"):
        return e.call("floor_mod", x, y)
    rest = e.call("mod", x, y)
    return e.call("where", _apart(e, rest, y), e.call("add", rest, y), rest)


def _apart(e: Emitter, rest: relax.Expr, divisor: relax.Expr) -> relax.Expr:
    """Whether a rest is not 0 and has another sign than the divisor."""
    zero = e.scalar(0, e.dtype(rest))
    signs = e.call("not_equal", e.call("less", divisor, zero), e.call("less", rest, zero))
    return e.call("logical_and", e.call("not_equal", rest, zero), signs)


def shifted(name: str) -> Rule:
    """The bits moved; by less than 0 or by all of them and more, 0 is left, or the sign where they move right."""

    def rule(e: Emitter, a: Operand, b: Operand) -> Operand:
        dtype = result_dtype(e, a, b)
        bits = SCALARS[dtype].bits
        x, y = brought(e, a, dtype), brought(e, b, dtype)
        inside = e.call("less", y, e.scalar(bits, dtype))
        if not dtype.startswith("uint"):
            inside = e.call("logical_and", inside, e.call("greater_equal", y, e.scalar(0, dtype)))
        if name == "left_shift":
            shifted = e.call(name, x, e.call("where", inside, y, e.scalar(0, dtype)))
            return e.call("where", inside, shifted, e.scalar(0, dtype))
        return e.call(name, x, e.call("where", inside, y, e.scalar(bits - 1, dtype)))

    return rule


def real_operands(name: str, on_numbers: Callable[..., object]) -> Rule:
    """`R.name` of two operands, integers being taken as float32."""
    plain = combine(name, on_numbers)

    def rule(e: Emitter, a: Operand, b: Operand) -> Operand:
        if _numbers(a, b) or kind_of(result_dtype(e, a, b)) == kind_of("float32"):
            return plain(e, a, b)
        return e.call(name, brought(e, a, "float32"), brought(e, b, "float32"))

    return rule


def compare(name: str, on_numbers: Callable[..., object]) -> Rule:
    """A comparison: of the operands in their common dtype, giving bool."""
    return combine(name, on_numbers)


def logical(name: str) -> Rule:
    """An operator on truth: what is not 0 is true."""

    def rule(e: Emitter, a: Operand, b: Operand) -> Operand:
        return e.call(name, brought(e, a, "bool"), brought(e, b, "bool"))

    return rule


def bitwise(name: str, on_truth: str) -> Rule:
    """An operator on bits; on truth where the operands are bool."""

    def rule(e: Emitter, a: Operand, b: Operand) -> Operand:
        dtype = result_dtype(e, a, b)
        return e.call(on_truth if dtype == "bool" else name, brought(e, a, dtype), brought(e, b, dtype))

    return rule


def where(e: Emitter, condition: relax.Expr, a: Operand, b: Operand) -> relax.Expr:
    """`a` where the condition holds, else `b`."""
    dtype = result_dtype(e, a, b)
    return e.call("where", condition, brought(e, a, dtype), brought(e, b, dtype))


def masked_fill(e: Emitter, x: relax.Expr, mask: relax.Expr, value: Operand) -> relax.Expr:
    """`value` where the mask holds, else the element."""
    return e.call("where", mask, brought(e, value, e.dtype(x)), x)


def clamp(e: Emitter, x: relax.Expr, min: Operand = None, max: Operand = None) -> Operand:  # noqa: A002 - PyTorch's
    """The element, brought between the two."""
    result: Operand = x
    if min is not None:
        result = MAXIMUM(e, result, min)
    if max is not None:
        result = MINIMUM(e, result, max)
    return result


def addmul(e: Emitter, x: Operand, a: Operand, b: Operand, *, value: Operand = 1) -> Operand:
    """`x + value * a * b`."""
    return ARITHMETIC["add"](e, x, multiply(e, a, b), alpha=value)


def power(e: Emitter, a: Operand, b: Operand) -> Operand:
    """`a ** b`; squares are products, as PyTorch has them."""
    if b == 2 and isinstance(a, relax.Expr):
        return e.call("multiply", a, a)
    if b == 0.5 and isinstance(a, relax.Expr):
        return e.call("sqrt", floating(e, a))
    if _numbers(a, b) or kind_of(result_dtype(e, a, b)) == kind_of("float32"):
        return combine("power", operator.pow)(e, a, b)
    return _whole_power(e, a, b)


def _whole_power(e: Emitter, a: Operand, b: Operand) -> Operand:
    """A power of integers by squares: those of the bits of the exponent. A negative exponent gives 0, but of 1 and -1.

    An exponent of 64 or more is as good as 64 for a base above 1, where the power has no value any more.
    """
    dtype = result_dtype(e, a, b)
    base, exponent = brought(e, a, dtype), brought(e, b, dtype)
    zero, one, two = (e.scalar(number, dtype) for number in (0, 1, 2))
    small = e.call("less", base, two)
    if not dtype.startswith("uint"):
        small = e.call("logical_and", small, e.call("greater", base, e.scalar(-2, dtype)))
    parity = e.call("floor_mod", exponent, two)
    short = e.call("where", e.call("equal", exponent, zero), zero, e.call("subtract", two, parity))
    left = e.call("where", small, short, e.call("minimum", e.call("maximum", exponent, zero), e.scalar(64, dtype)))
    result, square = one, base
    for step in range(7):
        odd = e.call("equal", e.call("floor_mod", left, two), one)
        result = e.call("multiply", result, e.call("where", odd, square, one))
        left = e.call("floor_divide", left, two)
        if step < 6:
            more = e.call("where", e.call("greater", left, zero), square, one)
            square = e.call("multiply", more, more)
    if dtype.startswith("uint"):
        return result
    removed = e.call("logical_and", e.call("less", exponent, zero), e.call("not_equal", e.call("abs", base), one))
    return e.call("where", removed, zero, result)


MAXIMUM, MINIMUM = extreme("maximum", max), extreme("minimum", min)
_ADD, _SUB = scaled("add", operator.add), scaled("subtract", operator.sub)

ARITHMETIC: Mapping[str, Rule] = {
    "add": _ADD,
    "sub": _SUB,
    "rsub": reversed_(_SUB),
    "mul": multiply,
    "div": divide,
    "true_divide": divide,
    "truediv": divide,
    "floor_divide": floor_divide,
    "floordiv": floor_divide,
    "remainder": remainder,
    "mod": remainder,
    "fmod": combine("mod", operator.mod),
    "pow": power,
    "atan2": real_operands("atan2", operator.truediv),
    "maximum": MAXIMUM,
    "minimum": MINIMUM,
    "eq": compare("equal", operator.eq),
    "ne": compare("not_equal", operator.ne),
    "lt": compare("less", operator.lt),
    "le": compare("less_equal", operator.le),
    "gt": compare("greater", operator.gt),
    "ge": compare("greater_equal", operator.ge),
    "logical_and": logical("logical_and"),
    "logical_or": logical("logical_or"),
    "logical_xor": logical("logical_xor"),
    "bitwise_and": bitwise("bitwise_and", "logical_and"),
    "bitwise_or": bitwise("bitwise_or", "logical_or"),
    "bitwise_xor": bitwise("bitwise_xor", "logical_xor"),
    "bitwise_left_shift": shifted("left_shift"),
    "bitwise_right_shift": shifted("right_shift"),
    "__lshift__": shifted("left_shift"),
    "__rshift__": shifted("right_shift"),
    "lshift": shifted("left_shift"),
    "rshift": shifted("right_shift"),
    "and": bitwise("bitwise_and", "logical_and"),
    "or": bitwise("bitwise_or", "logical_or"),
    "where": where,
    "masked_fill": masked_fill,
    "clamp": clamp,
    "clip": clamp,
    "clamp_min": clamp,
    "clamp_max": lambda e, x, max: clamp(e, x, None, max),  # noqa: A006 - PyTorch's
    "addcmul": addmul,
}
