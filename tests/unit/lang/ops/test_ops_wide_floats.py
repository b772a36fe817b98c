"""float32 and float64: arithmetic against NumPy and fractions, functions of two operands against mpmath and C99."""

import itertools
import math
import random
import struct
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from calculator import function
from exact_floats import assert_same, nearest, values
from hypothesis import given, strategies as st

from refmlc.lang.dtypes import FLOAT32, FLOAT64
from refmlc.lang.dtypes.rounding import round_fraction
from refmlc.lang.ops.scalar import SCALAR_OPS

ARITHMETIC = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "fmod": np.fmod,
    "truncmod": np.fmod,
    "copysign": lambda a, b: np.where(np.isnan(b), np.abs(a), np.copysign(a, b)),
    "nextafter": np.nextafter,
    "max": lambda a, b: np.where(a > b, a, b),
    "min": lambda a, b: np.where(a < b, a, b),
}
UNARY = {"sqrt": np.sqrt, "ceil": np.ceil, "floor": np.floor, "trunc": np.trunc, "round": np.rint, "abs": np.abs}
FLOAT = {"float32": np.float32, "float64": np.float64}
EDGES = [0.0, -0.0, 1.0, -1.0, 1.5, 0.5, -2.5, 3.0, 1e-45, -1e-45, 1.1754943508222875e-38, 3.4028234663852886e38]
EDGES += [-3.4028234663852886e38, math.inf, -math.inf, math.nan, 16777215.0, 16777216.0, 8388607.5, 0.1, -0.49999997]


def points(name, count, seed):
    rng = random.Random(seed)  # noqa: S311 - no secret
    size, code = ("<f", "<I") if name == "float32" else ("<d", "<Q")
    bits = struct.calcsize(size) * 8
    drawn = [struct.unpack(size, struct.pack(code, rng.getrandbits(bits)))[0] for _ in range(count)]
    drawn = [math.nan if math.isnan(x) else x for x in drawn]
    return drawn + [float(FLOAT[name](rng.gauss(0, 10))) for _ in range(count)]


def all_points(name, seed=3):
    return [float(FLOAT[name](x)) for x in EDGES] + points(name, 25, seed)


@pytest.mark.parametrize("name", FLOAT)
@pytest.mark.parametrize("op", ARITHMETIC)
def test_two_operands_as_numpy_has_them(op, name):
    a, b = (np.array(x, dtype=FLOAT[name]) for x in zip(*itertools.product(all_points(name), repeat=2), strict=True))
    with np.errstate(all="ignore"):
        wanted = ARITHMETIC[op](a, b).astype(np.float64)
    call = function(op, name)
    found = [call(x, y) for x, y in zip(a.tolist(), b.tolist(), strict=True)]
    assert_same(found, wanted, a, b)


@pytest.mark.parametrize("name", FLOAT)
@pytest.mark.parametrize("op", UNARY)
def test_one_operand_as_numpy_has_it(op, name):
    x = np.array(all_points(name) + points(name, 300, 4), dtype=FLOAT[name])
    with np.errstate(all="ignore"):
        wanted = UNARY[op](x).astype(np.float64)
    call = function(op, name)
    assert_same([call(value) for value in x.tolist()], wanted, x)


@given(st.sampled_from(["add", "sub", "mul", "div"]), st.floats(width=32), st.floats(width=32))
def test_float32_arithmetic_is_the_exact_result_rounded_once(op, a, b):
    if not math.isfinite(a) or not math.isfinite(b) or (op == "div" and b == 0):
        return
    x, y = Fraction(a), Fraction(b)
    exact = {"add": x + y, "sub": x - y, "mul": x * y, "div": x / y if y else None}[op]
    if exact:
        assert_same(function(op, "float32")(a, b), round_fraction(exact, FLOAT32))


def test_comparisons_of_floats():
    a, b = (np.array(x) for x in zip(*itertools.product(EDGES, repeat=2), strict=True))
    relations = {"eq": a == b, "ne": a != b, "lt": a < b, "le": a <= b, "gt": a > b, "ge": a >= b}
    for op, wanted in relations.items():
        call = function(op, "float64")
        assert [call(x, y) for x, y in zip(a.tolist(), b.tolist(), strict=True)] == wanted.tolist()


# ------------------------------------------------------------------------------------ pow, atan2, hypot

EXACT = {"pow": mpmath.power, "atan2": mpmath.atan2, "hypot": lambda a, b: mpmath.sqrt(a * a + b * b)}
INF, NAN = math.inf, math.nan
SPECIAL = [  # C99 F.9.4.4, F.9.1.4, F.9.4.3
    ("pow", 0.0, -3.0, INF),
    ("pow", -0.0, -3.0, -INF),
    ("pow", -0.0, -2.0, INF),
    ("pow", -0.0, -2.5, INF),
    ("pow", 0.0, -INF, INF),
    ("pow", 0.0, 3.0, 0.0),
    ("pow", -0.0, 3.0, -0.0),
    ("pow", -0.0, 4.0, 0.0),
    ("pow", -1.0, INF, 1.0),
    ("pow", -1.0, -INF, 1.0),
    ("pow", 1.0, NAN, 1.0),
    ("pow", NAN, 0.0, 1.0),
    ("pow", NAN, 1.0, NAN),
    ("pow", -2.0, 0.5, NAN),
    ("pow", 0.5, -INF, INF),
    ("pow", 2.0, -INF, 0.0),
    ("pow", 0.5, INF, 0.0),
    ("pow", 2.0, INF, INF),
    ("pow", -INF, -3.0, -0.0),
    ("pow", -INF, -2.0, 0.0),
    ("pow", -INF, 3.0, -INF),
    ("pow", -INF, 2.0, INF),
    ("pow", INF, -1.0, 0.0),
    ("pow", INF, 1.0, INF),
    ("pow", -10.0, 399.0, -INF),
    ("pow", -10.0, 400.0, INF),
    ("pow", 10.0, 400.0, INF),
    ("atan2", 0.0, -0.0, math.pi),
    ("atan2", -0.0, 0.0, -0.0),
    ("atan2", 0.0, 1.0, 0.0),
    ("atan2", -1.0, 0.0, -math.pi / 2),
    ("atan2", 1.0, -INF, math.pi),
    ("atan2", INF, INF, math.pi / 4),
    ("atan2", -INF, -INF, -3 * math.pi / 4),
    ("atan2", NAN, 1.0, NAN),
    ("hypot", -INF, NAN, INF),
    ("hypot", NAN, 1.0, NAN),
    ("hypot", -0.0, -0.0, 0.0),
    ("hypot", 1e308, 1.7e308, INF),
]


@pytest.mark.parametrize(("op", "a", "b", "wanted"), SPECIAL)
def test_special_values(op, a, b, wanted):
    assert_same(function(op, "float64")(a, b), wanted)
    with np.errstate(over="ignore"):
        if float(np.float32(a)) == a or math.isnan(a):
            assert_same(function(op, "float32")(a, b), float(np.float32(wanted)))


def pairs_of_two(op, name):
    a, b = points(name, 120, 5)[120:], points(name, 120, 6)[120:]
    return [(abs(x) if op == "pow" else x, y) for x, y in zip(a, b, strict=True)]


@pytest.mark.parametrize("op", EXACT)
def test_float32_of_two_operands(op):
    call = function(op, "float32")
    for a, b in pairs_of_two(op, "float32"):
        with mpmath.workprec(200), np.errstate(over="ignore"):
            wanted = float(np.float32(float(EXACT[op](mpmath.mpf(a), mpmath.mpf(b)))))
        assert_same([call(a, b)], [wanted], [a], [b])


@pytest.mark.parametrize("op", EXACT)
def test_float64_of_two_operands_keeps_its_bound(op):
    call = function(op, "float64")
    bound = SCALAR_OPS[op].contract.bound(FLOAT64)
    for a, b in pairs_of_two(op, "float64"):
        value = call(a, b)
        with mpmath.workprec(200):
            assert abs(mpmath.mpf(value) - EXACT[op](mpmath.mpf(a), mpmath.mpf(b))) <= bound * math.ulp(value)


@pytest.mark.parametrize("name", ["float8_e4m3fn", "float8_e5m2", "float6_e3m2fn"])
@pytest.mark.parametrize("op", EXACT)
def test_two_operands_of_8_bits(op, name):
    rng = random.Random(8)  # noqa: S311 - no secret
    table = [x for x in values(name).tolist() if math.isfinite(x) and x]
    call = function(op, name)
    drawn = [(abs(rng.choice(table)) if op == "pow" else rng.choice(table), rng.choice(table)) for _ in range(400)]
    with mpmath.workprec(200):
        wanted = [float(EXACT[op](mpmath.mpf(a), mpmath.mpf(b))) for a, b in drawn]
    assert_same([call(a, b) for a, b in drawn], nearest(name, wanted), *zip(*drawn, strict=True))


def test_ldexp_of_wide_floats():
    for name in FLOAT:
        call = function("ldexp", name, "int32")
        for x in all_points(name):
            for power in (-2000, -160, -149, -1, 0, 3, 127, 128, 1100, 2**31 - 1, -(2**31)):
                if x == 0 or not math.isfinite(x):
                    wanted = x
                else:
                    clipped = max(-3000, min(3000, power))
                    wanted = round_fraction(
                        Fraction(x) * Fraction(2) ** clipped, FLOAT32 if name == "float32" else FLOAT64
                    )
                assert_same([call(x, power)], [wanted], [x], [power])
