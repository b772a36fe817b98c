"""Mode `libm`: TVM's formulas where it has some, the platform's functions elsewhere, nothing promised."""

import ctypes
import math
import tomllib
from pathlib import Path

import mpmath
import numpy as np
import pytest
from exact_floats import assert_same

from refmlc.diag import RefmlcError
from refmlc.lang.dtypes import FLOAT64, SCALARS
from refmlc.lang.ops.scalar import SCALAR_OPS, libm
from refmlc.lang.ops.scalar.binary64 import hypot
from refmlc.lang.ops.scalar.libm import C_FUNCTIONS, FORMULAS, LIBM_OPS

KNOWN = Path(__file__).parents[4] / "conformance" / "known" / "tvm-0.27.toml"
MEASURED = {"tanh-zero": "tanh", "atanh-tiny": "atanh", "exp10-float64": "exp10", "rsqrt-twice": "rsqrt"}
PLATFORM = (
    *("exp", "exp2", "log", "log2", "log10", "log1p", "sin", "cos", "sinh", "cosh"),
    *("asin", "acos", "atan", "asinh", "acosh", "erf"),
)
OF_TWO = ("pow", "atan2", "hypot")
ULPS = 4.0  # of the platform's float functions; glibc's manual says 2 at most
DOMAIN = {"log": (0.1, 9), "log2": (0.1, 9), "log10": (0.1, 9), "acosh": (1, 9), "asin": (-1, 1), "acos": (-1, 1)}


def function(rows, op, element):
    dtype = SCALARS[element]
    return rows[op].value((dtype,) * rows[op].contract.arity, dtype)


def measured():
    """What TVM 0.27 returned, where that is no mathematical function."""
    rows = {row["id"]: row for row in tomllib.loads(KNOWN.read_text(encoding="utf-8"))["deviation"]}
    for name, op in MEASURED.items():
        element, operands = rows[name]["input"][0]
        yield pytest.param(op, element, operands, rows[name]["got"][1], id=name)


@pytest.mark.parametrize(("op", "element", "operands", "got"), list(measured()))
def test_formulas_return_what_tvm_returned(op, element, operands, got):
    call = function(LIBM_OPS, op, element)
    rounded = np.array(got, element).astype(np.float64)
    assert_same([call(float(np.array(x, element))) for x in operands], rounded, operands)


@pytest.mark.parametrize("op", PLATFORM)
def test_functions_of_float32_are_near_the_exact_value(op):
    """So each name has got its own function, of the right width: of double they would not be float32 numbers."""
    low, high = DOMAIN.get(op, (-3, 3))
    exact = {"log2": lambda x: mpmath.log(x, 2), "exp2": lambda x: mpmath.power(2, x)}.get(op)
    call = function(LIBM_OPS, op, "float32")
    for x in np.linspace(low, high, 40, dtype=np.float32).tolist():
        if op == "log1p" and x <= -1:
            continue
        value, wanted = call(x), (exact or getattr(mpmath, op))(x)
        assert float(np.float32(value)) == value
        assert abs(value - wanted) <= ULPS * float(np.spacing(np.float32(max(abs(value), 1e-3)))), (x, value, wanted)


def test_float64_is_the_same_function_in_both_modes():
    points = [0.1, 0.5, 0.75, 1.0]
    for op in PLATFORM:
        ours, theirs = function(SCALAR_OPS, op, "float64"), function(LIBM_OPS, op, "float64")
        assert_same([ours(x) for x in points], [theirs(x) for x in points], points)


def test_steps_of_float16_are_rounded_and_those_of_bfloat16_are_not():
    """sqrt(17) is 4.125 in float16, 1 / 4.125 = 0.242424…, where 1 / sqrt(17) = 0.242535… would be 0.24255….

    sqrt(11) would be 3.3125 in bfloat16, and 1 / 3.3125 = 0.30188… there 0.302734375; 1 / sqrt(11) = 0.301511….
    """
    assert function(LIBM_OPS, "rsqrt", "float16")(17.0) == 0.242431640625
    assert function(LIBM_OPS, "rsqrt", "bfloat16")(11.0) == 0.30078125


@pytest.mark.parametrize("op", FORMULAS)
def test_formulas_keep_to_ieee_at_the_edges(op):
    call = function(LIBM_OPS, op, "float32")
    wanted = {
        "rsqrt": (math.inf, -math.inf, 0.0, math.nan),
        "tan": (0.0, -0.0, math.nan, math.nan),
        "tanh": (0.0, 0.0, math.nan, math.nan),
        "sigmoid": (0.5, 0.5, 1.0, 0.0),
        "exp10": (1.0, 1.0, math.inf, 0.0),
        "atanh": (0.0, 0.0, math.nan, math.nan),
    }[op]
    if op == "tanh":  # exp(-2 * inf) is 0, so 1 and -1
        wanted = (0.0, 0.0, 1.0, -1.0)
    assert_same([call(x) for x in (0.0, -0.0, math.inf, -math.inf)], wanted)
    assert math.isnan(call(math.nan))


def test_a_name_of_c_is_the_function_of_c():
    """tanh(1e-8) is 1e-8; TVM's formula gives 0."""
    tiny = float(np.float32(1e-8))
    assert function(LIBM_OPS, "tanh", "float32")(tiny) == 0.0
    assert function(C_FUNCTIONS, "tanh", "float32")(tiny) == tiny


def test_nothing_is_promised():
    for op, row in LIBM_OPS.items():
        if row is not SCALAR_OPS[op]:
            assert row.contract.bound(FLOAT64) == math.inf
            assert (row.contract.laws, row.contract.examples) == ((), ())
            assert row.contract.clause in ("NUM-506", "NUM-507")
            assert row.contract.accepts_dtype(FLOAT64)
    assert {op for op in LIBM_OPS if LIBM_OPS[op] is not SCALAR_OPS[op]} == {*PLATFORM, *OF_TWO, *FORMULAS}


def test_a_platform_without_the_function_is_an_own_limit(monkeypatch):
    with pytest.raises(RefmlcError) as failure:
        libm.platform_function("no_such_function", 1)
    assert failure.value.code.id == "RM501"

    def refuse(name):
        raise OSError("no such file")

    libm._library.cache_clear()
    monkeypatch.setattr(ctypes, "CDLL", refuse)
    with pytest.raises(RefmlcError) as failure:
        libm._library()
    assert failure.value.code.id == "RM501"


TIES = [  # m odd of 54 bits, the hypotenuse of p*p - q*q and 2*p*q: between two binary64 numbers
    (80_000_001, 60_000_000),
    (80_000_003, 60_000_000),
    (80_000_003, 60_000_002),
    (94_906_269, 1 << 20),
]


@pytest.mark.parametrize(("p", "q"), TIES)
def test_hypot_of_a_tie_is_the_even_neighbour(p, q):
    a, b, m = p * p - q * q, 2 * p * q, p * p + q * q
    assert a * a + b * b == m * m
    assert m % 2 == 1
    assert m.bit_length() == 54
    assert int(float(a)) == a
    assert int(float(b)) == b
    lower = m - 1
    even = lower if (lower // 2) % 2 == 0 else m + 1
    assert hypot(float(a), float(b)) == even
    assert hypot(-float(b), float(a)) == even
