"""Fixed-point multiplication against rational arithmetic and values that TVM 0.27 was seen to give."""

import math
from fractions import Fraction

import pytest
from calculator import UNDEFINED, function, outcome
from hypothesis import given, strategies as st

from refmlc.lang.dtypes import INT32
from refmlc.lang.ops.scalar import SCALAR_OPS

LOW, HIGH = -(2**31), 2**31 - 1
PER_AXIS = ("int32",) * 4 + ("bool",) * 2
SEEN = [2147483647, -2147483648, 5, -5, 1 << 30, 3, -3, 1000000]
MEASURED = {  # of apache-tvm 0.27.0.post1: multiplier, shift, and the results on SEEN where none overflows
    (1 << 29, 0): [536870912, -536870912, 1, -1, 268435456, 1, -1, 250000],
    (1 << 29, -2): [134217728, -134217728, 0, 0, 67108864, 0, 0, 62500],
    (1395864371, 0): [1395864370, -1395864371, 3, -3, 697932186, 2, -2, 650000],
    (1395864371, -2): [348966093, -348966093, 1, -1, 174483046, 0, 0, 162500],
    (-1395864371, -1): [-697932185, 697932186, -2, 2, -348966093, -1, 1, -325000],
}


def expected(exact):
    value = math.floor(exact + Fraction(1, 2))
    return value if LOW <= value <= HIGH else (UNDEFINED, "RM306", (value - LOW) % 2**32 + LOW)


@pytest.mark.parametrize(("multiplier", "shift"), MEASURED)
def test_what_tvm_gives(multiplier, shift):
    call = function("q_multiply_shift", "int32")
    assert [call(x, multiplier, 31, shift) for x in SEEN] == MEASURED[multiplier, shift]


@pytest.mark.parametrize(
    ("x", "y", "q", "s", "wanted"),
    [
        (6, 1, 1, 0, 3),
        (6, 1, 0, 0, None),
        (1 << 30, 1 << 30, 63, 5, 4),
        (1 << 30, 1 << 30, 64, 5, None),
        (1 << 30, 1 << 30, 33, -30, 0),
        (1 << 30, 1 << 30, 34, -30, None),
        (1, 1, 40, 63, 1 << 23),
        (1, 1, 40, 64, None),
    ],
)
def test_shifts_up_to_63(x, y, q, s, wanted):
    """The number x * y * 2**(s - q); None: RM311."""
    found = outcome(function("q_multiply_shift", "int32"), x, y, q, s)
    assert found == ((UNDEFINED, "RM311", None) if wanted is None else wanted)


@given(st.integers(LOW, HIGH), st.integers(LOW, HIGH), st.integers(-2, 40), st.integers(-70, 70))
def test_q_multiply_shift(x, y, q, s):
    found = outcome(function("q_multiply_shift", "int32"), x, y, q, s)
    if q <= 0 or s > 63 or q - min(s, 0) > 63:
        wanted = (UNDEFINED, "RM311", None)
    else:
        wanted = expected(Fraction(x * y) * Fraction(2) ** (s - q))
    assert found == wanted
    codes = {
        case.code.id for case in SCALAR_OPS["q_multiply_shift"].contract.undefined if case.holds(INT32, x, y, q, s)
    }
    assert codes == ({wanted[1]} if isinstance(wanted, tuple) else set())


@given(
    *(st.integers(LOW, HIGH),) * 2,
    *(st.integers(-1, 8) | st.integers(-70, 70),) * 2,
    st.integers(-1, 40),
    st.booleans(),
)
def test_q_multiply_shift_per_axis(x, y, left, right, q, is_left):
    operands = (x, y, left, right, q, is_left, True)
    found = outcome(function("q_multiply_shift_per_axis", "int32", *PER_AXIS), *operands)
    if q <= 0 or right < 0 or right + q > 63 or (is_left and not 0 <= left <= 63):
        wanted = (UNDEFINED, "RM311", None)
    else:
        wanted = expected(Fraction(x * y) * Fraction(2) ** ((left if is_left else 0) - right - q))
    assert found == wanted
    rows = SCALAR_OPS["q_multiply_shift_per_axis"].contract.undefined
    codes = {case.code.id for case in rows if case.holds(INT32, *operands)}
    assert codes == ({wanted[1]} if isinstance(wanted, tuple) else set())
