"""Fixed-point multiplication: q_multiply_shift and q_multiply_shift_per_axis, on int32.

Both are the exact a * b * 2**shift rounded to the nearest integer, of two the greater (floor(… + 1/2)).
"""

from refmlc.diag.catalogue import BAD_ARGUMENT_VALUE, INT_OVERFLOW
from refmlc.lang.dtypes import DType
from refmlc.lang.ops.contract import BITS, Contract, Example, ScalarOp, UndefinedValue, UndefinedWhen, Value
from refmlc.lang.ops.notation import Notation, Operands
from refmlc.lang.ops.scalar.results import fits, overflow

_WIDEST = 63  # the greatest shift of the int64 that a multiplication is done in
_INT32 = frozenset(("int32",))


def _scaled(product: int, shift: int) -> int:
    """The product times 2**shift, to the nearest integer, of two the greater."""
    return product << shift if shift >= 0 else ((product >> (-shift - 1)) + 1) >> 1


def _bad_shift(_dtype: DType, _x: int, _y: int, q: int, s: int) -> bool:
    return q <= 0 or q - min(s, 0) > _WIDEST or s > _WIDEST


def _product_overflows(dtype: DType, x: int, y: int, q: int, s: int) -> bool:
    return not _bad_shift(dtype, x, y, q, s) and not fits(dtype, _scaled(x * y, s - q))


def _q_multiply_shift(operands: tuple[DType, ...], result: DType) -> Value:
    dtype = operands[0]

    def q_multiply_shift(x: int, y: int, q: int, s: int) -> int:
        if _bad_shift(dtype, x, y, q, s):
            raise UndefinedValue(BAD_ARGUMENT_VALUE, f"q_multiply_shift with q = {q}, shift {s}")
        number = _scaled(x * y, s - q)
        if not fits(result, number):
            raise overflow(result, f"q_multiply_shift({x}, {y}, {q}, {s})", number)
        return number

    return q_multiply_shift


Q_MULTIPLY_SHIFT = ScalarOp(
    Contract(
        name="q_multiply_shift",
        arity=4,
        meaning="x * y * 2**(s - q) to the nearest integer, of two the greater: y has q fractional bits, s > 0 is left",
        clause="NUM-601",
        accepts=frozenset(("int",)),
        dtypes=_INT32,
        undefined=(
            UndefinedWhen(BAD_ARGUMENT_VALUE, "q is not positive, or a shift leaves 0 … 63", _bad_shift),
            UndefinedWhen(INT_OVERFLOW, "the result does not fit in int32", _product_overflows),
        ),
        examples=(
            Example("int32", (5, 1 << 30, 31, 0), 3),
            Example("int32", (-5, 1 << 30, 31, 0), -2),
            Example("int32", (1000000, 1395864371, 31, 1), 1300000),
            Example("int32", (3, 1 << 29, 31, -1), 0),
        ),
        notation=Notation(operands=Operands.OWN),
    ),
    _q_multiply_shift,
)


def _per_axis_shift(left: int, right: int, q: int, is_left: int) -> int:
    return (left if is_left else 0) - right - q


def _bad_per_axis(_dtype: DType, _x: int, _y: int, left: int, right: int, q: int, is_left: int, _is_right: int) -> bool:
    return q <= 0 or not 0 <= right <= _WIDEST - q or (bool(is_left) and not 0 <= left <= _WIDEST)


def _per_axis_overflows(dtype: DType, *operands: int) -> bool:
    x, y, left, right, q, is_left, _ = operands
    return not _bad_per_axis(dtype, *operands) and not fits(
        dtype, _scaled(x * y, _per_axis_shift(left, right, q, is_left))
    )


def _q_multiply_shift_per_axis(operands: tuple[DType, ...], result: DType) -> Value:
    dtype = operands[0]

    def per_axis(*numbers: int) -> int:
        if _bad_per_axis(dtype, *numbers):
            raise UndefinedValue(BAD_ARGUMENT_VALUE, f"q_multiply_shift_per_axis with shifts {numbers[2:5]}")
        x, y, left, right, q, is_left, _ = numbers
        number = _scaled(x * y, _per_axis_shift(left, right, q, is_left))
        if not fits(result, number):
            raise overflow(result, f"q_multiply_shift_per_axis{numbers}", number)
        return number

    return per_axis


Q_MULTIPLY_SHIFT_PER_AXIS = ScalarOp(
    Contract(
        name="q_multiply_shift_per_axis",
        arity=7,
        meaning="x * y * 2**(ls - rs - q) to the nearest integer, of two the greater; ls counts if its flag is true",
        clause="NUM-601",
        accepts=frozenset(("int",)),
        dtypes=_INT32,
        rest=BITS,
        undefined=(
            UndefinedWhen(BAD_ARGUMENT_VALUE, "q is not positive, or a shift leaves 0 … 63", _bad_per_axis),
            UndefinedWhen(INT_OVERFLOW, "the result does not fit in int32", _per_axis_overflows),
        ),
        examples=(
            Example("int32", (5, 1395864371, 1, 1, 31, True, True), 3, rest=("int32",) * 4 + ("bool",) * 2),
            Example("int32", (5, 1395864371, 1, 1, 31, False, True), 2, rest=("int32",) * 4 + ("bool",) * 2),
            Example(
                "int32", (1000000, 1395864371, 3, 2, 31, True, False), 1300000, rest=("int32",) * 4 + ("bool",) * 2
            ),
        ),
        notation=Notation(operands=Operands.OWN),
    ),
    _q_multiply_shift_per_axis,
)

FIXED = (Q_MULTIPLY_SHIFT, Q_MULTIPLY_SHIFT_PER_AXIS)
