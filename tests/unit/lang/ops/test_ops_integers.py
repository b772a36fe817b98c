"""Integers: all pairs at 8 bits and below against NumPy's int64, boundaries and random ones above with Python's."""

import itertools
import math
import re
from fractions import Fraction

import numpy as np
import pytest
from calculator import UNDEFINED, function, outcome
from hypothesis import given, strategies as st

from refmlc.lang.dtypes import dtype
from refmlc.lang.ops.contract import UndefinedValue
from refmlc.lang.ops.scalar import SCALAR_OPS

OVERFLOW, BY_ZERO, SHIFT = "RM306", "RM307", "RM308"
BINARY = """add sub mul div truncdiv truncmod floordiv floormod ceildiv max min bitwise_and bitwise_or bitwise_xor
shift_left shift_right eq ne lt le gt ge""".split()  # noqa: SIM905 - reads better
UNARY = "abs bitwise_not popcount".split()  # noqa: SIM905 - the same
SMALL = ("int1", "uint1", "int2", "uint2", "int4", "uint4", "int8", "uint8")
WIDE = ("int16", "uint16", "int32", "uint32", "int64", "uint64")


def limits(name):
    bits = int(name.lstrip("uint"))
    return (0, 2**bits - 1) if name[0] == "u" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


def modulo(name, x):
    low, high = limits(name)
    return (x - low) % (high - low + 1) + low


def exact(op, a, b):
    """The unbounded result, by rational arithmetic and Python's integers; None where there is none."""
    match op:
        case "add":
            return a + b
        case "sub":
            return a - b
        case "mul":
            return a * b
        case "max":
            return max(a, b)
        case "min":
            return min(a, b)
        case "floordiv":
            return math.floor(Fraction(a, b))
        case "floormod":
            return a - b * math.floor(Fraction(a, b))
        case "div" | "truncdiv":
            return math.trunc(Fraction(a, b))
        case "truncmod":
            return a - b * math.trunc(Fraction(a, b))
        case "bitwise_and" | "bitwise_or" | "bitwise_xor":
            return getattr(np.int64 if max(a, b) < 2**63 else np.uint64, f"__{op[8:]}__")(
                (np.int64 if max(a, b) < 2**63 else np.uint64)(a), (np.int64 if max(a, b) < 2**63 else np.uint64)(b)
            )
        case "shift_left":
            return a * 2**b
        case "shift_right":
            return math.floor(Fraction(a, 2**b))
        case _:
            return getattr(Fraction, f"__{op}__")(Fraction(a), Fraction(b))


def expected(op, name, a, b):
    """What the clauses say, from `exact`."""
    low, high = limits(name)
    bits = int(name.lstrip("uint"))
    if op in ("eq", "ne", "lt", "le", "gt", "ge"):
        return {"eq": a == b, "ne": a != b, "lt": a < b, "le": a <= b, "gt": a > b, "ge": a >= b}[op]
    if op.startswith("shift"):
        return modulo(name, exact(op, a, b)) if 0 <= b < bits else (UNDEFINED, SHIFT, None)
    if op in ("div", "truncdiv", "floordiv", "truncmod", "floormod"):
        if b == 0:
            return (UNDEFINED, BY_ZERO, None)
        if name[0] == "i" and (a, b) == (low, -1):
            return (UNDEFINED, OVERFLOW, 0 if op.endswith("mod") else low)
    if op == "ceildiv":
        return ceildiv(name, a, b)
    value = exact(op, a, b)
    if low <= value <= high:
        return value
    return modulo(name, value) if bits < 32 else (UNDEFINED, OVERFLOW, modulo(name, value))


def ceildiv(name, a, b):
    total = expected("add", name, a, b)
    dividend = total if isinstance(total, tuple) else expected("sub", name, total, 1)
    return dividend if isinstance(dividend, tuple) else expected("floordiv", name, dividend, b)


def check(op, name, pairs):
    call = function(op, name)
    row = dtype(name)
    undefined = SCALAR_OPS[op].contract.undefined
    for a, b in pairs:
        found, wanted = outcome(call, a, b), expected(op, name, a, b)
        assert found == wanted, (op, name, a, b, found, wanted)
        holding = {case.code.id for case in undefined if case.holds(row, a, b)}
        assert (isinstance(found, tuple) and found[1] in holding) or (not isinstance(found, tuple) and not holding), (
            op,
            name,
            a,
            b,
            holding,
        )


def interesting(name):
    low, high = limits(name)
    bits = int(name.lstrip("uint"))
    near = {low + k for k in range(3)} | {high - k for k in range(3)} | set(range(-3, 4)) | {bits - 1, bits, bits + 1}
    near |= {s * 2**k + d for k in (bits // 2, bits - 2) for s in (1, -1) for d in (-1, 0, 1)}
    return sorted(x for x in near if low <= x <= high)


@pytest.mark.parametrize("name", SMALL[:-2])
@pytest.mark.parametrize("op", BINARY)
def test_all_pairs_of_narrow_integers(op, name):
    low, high = limits(name)
    check(op, name, itertools.product(range(low, high + 1), repeat=2))


@pytest.mark.parametrize("name", ["int8", "uint8"])
@pytest.mark.parametrize("op", BINARY)
def test_all_pairs_at_8_bits(op, name):
    """NumPy computes in int64 and casts to 8 bits; where that is undefined, the code is compared."""
    low, high = limits(name)
    a, b = (x.ravel() for x in np.meshgrid(np.arange(low, high + 1), np.arange(low, high + 1)))
    call = function(op, name)
    found = [outcome(call, x, y) for x, y in zip(a.tolist(), b.tolist(), strict=True)]
    bad = undefined_at_8_bits(op, low, a, b)
    assert [isinstance(x, tuple) for x in found] == bad.tolist()
    wanted = numpy_value(op, name, np.where(bad, 1, a), np.where(bad, 1, b))
    assert np.array_equal(np.array([1 if isinstance(x, tuple) else x for x in found])[~bad], wanted[~bad])
    row = dtype(name)
    holding = [
        any(case.holds(row, x, y) for case in SCALAR_OPS[op].contract.undefined)
        for x, y in zip(a.tolist(), b.tolist(), strict=True)
    ]
    assert holding == bad.tolist()


def undefined_at_8_bits(op, low, a, b):
    if op.startswith("shift"):
        return (b < 0) | (b >= 8)
    if op == "ceildiv":
        return (b == 0) | ((low < 0) & (b == -1) & ((a + b - 1 - low) % 256 == 0))
    if "div" in op or "mod" in op:
        return (b == 0) | ((low < 0) & (b == -1) & (a == low))
    return np.zeros(a.shape, dtype=bool)


def numpy_value(op, name, a, b):
    comparison = {"eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal", "gt": "greater"}
    if op in (*comparison, "ge"):
        return getattr(np, comparison.get(op, "greater_equal"))(a, b)
    truncated = np.sign(a) * np.sign(b) * (np.abs(a) // np.maximum(np.abs(b), 1))
    wide = {
        "add": lambda: a + b,
        "sub": lambda: a - b,
        "mul": lambda: a * b,
        "div": lambda: truncated,
        "truncdiv": lambda: truncated,
        "truncmod": lambda: a - b * truncated,
        "floordiv": lambda: np.floor_divide(a, np.where(b == 0, 1, b)),
        "floormod": lambda: np.mod(a, np.where(b == 0, 1, b)),
        "ceildiv": lambda: np.floor_divide((a + b - 1).astype(name).astype(np.int64), np.where(b == 0, 1, b)),
        "max": lambda: np.maximum(a, b),
        "min": lambda: np.minimum(a, b),
        "bitwise_and": lambda: np.bitwise_and(a, b),
        "bitwise_or": lambda: np.bitwise_or(a, b),
        "bitwise_xor": lambda: np.bitwise_xor(a, b),
        "shift_left": lambda: np.left_shift(a, np.clip(b, 0, 7)),
        "shift_right": lambda: np.right_shift(a, np.clip(b, 0, 7)),
    }[op]()
    return wide.astype(name)


@pytest.mark.parametrize("name", WIDE)
@pytest.mark.parametrize("op", BINARY)
def test_boundaries_with_boundaries(op, name):
    check(op, name, itertools.product(interesting(name), repeat=2))


@given(st.sampled_from(BINARY), st.sampled_from(WIDE), st.data())
def test_random_wide_integers(op, name, data):
    low, high = limits(name)
    numbers = st.integers(low, high) | st.integers(max(low, -70), 70)
    check(op, name, [(data.draw(numbers), data.draw(numbers))])


@pytest.mark.parametrize("name", SMALL)
def test_all_narrow_integers_alone(name):
    low, high = limits(name)
    bits = int(name.lstrip("uint"))
    for a in range(low, high + 1):
        assert function("abs", name)(a) == modulo(name, abs(a))
        assert function("bitwise_not", name)(a) == modulo(name, -1 - a)
        assert function("popcount", name)(a) == modulo(name, format(a % 2**bits, "b").count("1"))


@pytest.mark.parametrize("name", WIDE)
def test_wide_integers_alone(name):
    low, _ = limits(name)
    bits = int(name.lstrip("uint"))
    for a in interesting(name):
        wide_least = a == low and name in ("int32", "int64")
        assert outcome(function("abs", name), a) == ((UNDEFINED, OVERFLOW, low) if wide_least else modulo(name, abs(a)))
        assert SCALAR_OPS["abs"].contract.undefined[0].holds(dtype(name), a) == wide_least
        assert function("bitwise_not", name)(a) == modulo(name, -1 - a)
        digits = format(a % 2**bits, f"0{bits}b")
        assert function("popcount", name)(a) == digits.count("1")
        if bits >= 32:
            wanted = (UNDEFINED, "RM311", bits) if a == 0 else digits.index("1")
            assert outcome(function("clz", name), a) == wanted
            assert SCALAR_OPS["clz"].contract.undefined[0].holds(dtype(name), a) == (a == 0)


def test_bools():
    for a, b in itertools.product((False, True), repeat=2):
        assert function("bitwise_and", "bool")(a, b) is (a and b)
        assert function("bitwise_or", "bool")(a, b) is (a or b)
        assert function("bitwise_xor", "bool")(a, b) is (a is not b)
        assert function("eq", "bool")(a, b) is (a is b)
        assert function("lt", "bool")(a, b) is (b and not a)
    for a in (False, True):
        assert function("not", "bool")(a) is (not a)
        assert function("bitwise_not", "bool")(a) is (not a)
        assert function("likely", "bool")(a) is a


def test_messages_hold_the_values():
    with pytest.raises(UndefinedValue, match=r"^7 // 0 in int32$"):
        function("floordiv", "int32")(7, 0)
    with pytest.raises(UndefinedValue, match=r"^2147483647 \+ 1 is 2147483648, beyond int32$"):
        function("add", "int32")(2**31 - 1, 1)
    with pytest.raises(UndefinedValue, match=r"^-128 truncmod -1 overflows int8$"):
        function("truncmod", "int8")(-128, -1)
    with pytest.raises(UndefinedValue, match=r"^1 << 32 in int32$"):
        function("shift_left", "int32")(1, 32)


@pytest.mark.parametrize(("name", "said"), [("add", "+"), ("sub", "-"), ("mul", "*")])
def test_an_overflow_is_told_with_its_operands(name, said):
    a, b = (-(2**31), 2) if name == "sub" else (2**31 - 1, 2)
    with pytest.raises(UndefinedValue, match=re.escape(f"{a} {said} {b}")):
        function(name, "int32")(a, b)
