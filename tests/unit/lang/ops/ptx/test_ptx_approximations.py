"""Approximations (PTX-019) against mpmath, and the errors that PTX states, worked out here from its text."""

import struct

import mpmath
import numpy as np
import pytest
from ptx_calls import compute, modifiers_of

from refmlc.lang.ops.ptx.approximations import permitted
from refmlc.lang.ops.ptx.numbers import Open

INF, NAN, MINUS = 0x7F800000, 0x7FFFFFFF, 0x80000000
FUNCTIONS = {
    "ex2": lambda x: mpmath.power(2, x),
    "lg2": lambda x: mpmath.log(x, 2),
    "sin": mpmath.sin,
    "cos": mpmath.cos,
    "tanh": mpmath.tanh,
    "rsqrt": lambda x: 1 / mpmath.sqrt(x),
    "sqrt": mpmath.sqrt,
    "rcp": lambda x: 1 / x,
}
RANGES = {"ex2": (-120, 120), "lg2": (0.001, 1e6), "sin": (-300, 300), "cos": (-300, 300), "tanh": (-9, 9)}


def bits(value):
    return struct.unpack("<I", struct.pack("<f", value))[0]


def number(code):
    return struct.unpack("<f", struct.pack("<I", code))[0]


def stated(name, x, exact):
    """The error that PTX states, as an absolute one; ulps are those of f32."""
    ulp = abs(float(np.spacing(np.float32(float(exact)))))
    match name:
        case "ex2":
            return 2 * ulp
        case "rcp":
            return ulp
        case "lg2":
            return 2.0**-22 if 0.5 < x < 2 else 2.0**-22 * abs(exact)
        case "sin" | "cos":
            return 2.0**-20.5 if abs(x) <= 2 * np.pi else 2.0**-14.7
        case _:
            return {"tanh": 2.0**-11, "rsqrt": 2.0**-22.9, "sqrt": 2.0**-23}[name] * abs(exact)


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_the_nearest_number_and_the_stated_error(name):
    low, high = RANGES.get(name, (1e-6, 1e6))
    modifiers = modifiers_of(name, ["approx", "f32"])
    with mpmath.workprec(120):
        for value in np.random.default_rng(5).uniform(low, high, 60).astype("float32").tolist():
            exact = FUNCTIONS[name](mpmath.mpf(value))
            assert number(compute(f"{name}.approx.f32", bits(value))) == np.float32(float(exact))
            (end,) = permitted(name, modifiers)((bits(value),))
            error, ulp = stated(name, value, exact), abs(float(np.spacing(np.float32(float(exact)))))
            for reached in (exact - number(end.low), number(end.high) - exact):
                assert error - ulp <= reached <= error + 2.01 * ulp, (value, float(reached), error)


@pytest.mark.parametrize(
    ("text", "registers", "result"),
    [
        ("ex2.approx.f32", (MINUS | INF,), 0),
        ("ex2.approx.f32", (INF,), INF),
        ("ex2.approx.f32", (MINUS,), 0x3F800000),
        ("ex2.approx.f32", (NAN,), NAN),
        ("ex2.approx.f32", (bits(4000.0),), INF),
        ("ex2.approx.f32", (bits(-130.0),), 1 << 19),
        ("ex2.approx.ftz.f32", (bits(-130.0),), 0),
        ("lg2.approx.f32", (MINUS,), MINUS | INF),
        ("lg2.approx.f32", (bits(-2.0),), NAN),
        ("lg2.approx.f32", (INF,), INF),
        ("lg2.approx.ftz.f32", (1,), MINUS | INF),
        ("lg2.approx.f32", (1,), bits(-149.0)),
        ("sin.approx.f32", (MINUS,), MINUS),
        ("cos.approx.f32", (0,), 0x3F800000),
        ("cos.approx.f32", (INF,), NAN),
        ("tanh.approx.f32", (MINUS | INF,), 0xBF800000),
        ("tanh.approx.f32", (MINUS | 5,), MINUS | 5),
        ("rsqrt.approx.f32", (MINUS,), MINUS | INF),
        ("rsqrt.approx.f32", (INF,), 0),
        ("rsqrt.approx.f32", (bits(-1.0),), NAN),
        ("rsqrt.approx.ftz.f32", (1,), INF),
        ("rsqrt.approx.f32", (bits(4.0),), bits(0.5)),
        ("sqrt.approx.f32", (MINUS,), MINUS),
        ("rcp.approx.f32", (MINUS | INF,), MINUS),
        ("rcp.approx.ftz.f32", (MINUS | 1,), MINUS | INF),
        ("div.full.f32", (bits(6.0), bits(-3.0)), bits(-2.0)),
        ("div.approx.f32", (0, bits(-3.0)), MINUS),
        ("ex2.approx.f16", (0x4200,), 0x4800),
        ("ex2.approx.ftz.bf16", (1,), 0x3F80),
        ("ex2.approx.f16x2", (0x3C00_0000,), 0x4000_3C00),
        ("tanh.approx.bf16x2", (0x7F80_8000,), 0x3F80_8000),
    ],
)
def test_what_is_stated_is_the_only_result(text, registers, result):
    assert compute(text, *registers) == result


@pytest.mark.parametrize(
    ("text", "registers", "words"),
    [
        ("sin.approx.f32", (bits(315.0),), "beyond 100 pi"),
        ("div.approx.f32", (bits(1.0), bits(2.0**127)), "no error that is stated"),
        ("div.full.f32", (INF, bits(1.0)), "an infinity, or of a division by 0"),
        ("div.full.f32", (bits(1.0), 0), "an infinity, or of a division by 0"),
        ("lg2.approx.f32", (MINUS | 1,), "a negative subnormal"),
        ("rsqrt.approx.f64", (1 << 62,), "f64 PTX states no error"),
        ("rcp.approx.ftz.f64", (1 << 62,), "f64 PTX states no error"),
    ],
)
def test_where_no_error_is_stated_nothing_is(text, registers, words):
    with pytest.raises(Open, match=words):
        compute(text, *registers)


def ends(text, *registers):
    name, *words = text.split(".")
    form = f"{name}_half" if "16" in text else name
    return permitted(form, modifiers_of(form, words))(registers)


def test_the_ends_of_halves_are_those_of_each_lane():
    low, high = ends("tanh.approx.f16x2", 0x3800_3C00)
    one, half = np.tanh(1.0), np.tanh(0.5)
    for end, exact in ((low, one), (high, half)):
        least, most = (float(np.uint16(code).view("float16")) for code in (end.low, end.high))
        assert least <= exact - 2**-10.987 < exact + 2**-10.987 <= most
        assert most - least < 2 * 2**-10.987 + 2 * float(np.spacing(np.float16(exact)))


def test_the_ends_of_ulps_are_counted_in_places():
    (end,) = ends("ex2.approx.f32", bits(0.5))
    assert (end.nearest - end.low, end.high - end.nearest) == (2, 2)
    (end,) = ends("ex2.approx.f32", bits(-149.0))
    assert (end.nearest, end.low, end.high) == (1, 0, 3)
    (end,) = ends("ex2.approx.f32", bits(1000.0))
    assert (end.low, end.high) == (INF - 2, INF)
    (end,) = ends("rcp.approx.f32", bits(-3.0))
    assert (number(end.low), number(end.high)) == (-0.33333337306976318, -0.3333333134651184)
