"""The type rule of operators, against the table measured on TVM 0.27 (`a + b` of every two dtypes)."""

import math

import pytest

from refmlc.diag import RefmlcError
from refmlc.lang.dtypes import BOOL, DType, dtype
from refmlc.lang.ir import tir
from refmlc.lang.ops import promote

NAMES = [
    "bool",
    "int8",
    "int32",
    "int64",
    "uint8",
    "uint32",
    "uint64",
    "float16",
    "bfloat16",
    "float32",
    "float64",
    "float8_e4m3fn",
]
MEASURED = """
bool int8 int32 int64 uint8 uint32 uint64 float16 bfloat16 float32 float64 float8_e4m3fn
int8 int8 int32 int64 uint8 uint32 uint64 float16 bfloat16 float32 float64 float8_e4m3fn
int32 int32 int32 int64 int32 uint32 uint64 float16 bfloat16 float32 float64 float8_e4m3fn
int64 int64 int64 int64 int64 int64 uint64 float16 bfloat16 float32 float64 float8_e4m3fn
uint8 uint8 int32 int64 uint8 uint32 uint64 float16 bfloat16 float32 float64 float8_e4m3fn
uint32 uint32 uint32 int64 uint32 uint32 uint64 float16 bfloat16 float32 float64 float8_e4m3fn
uint64 uint64 uint64 uint64 uint64 uint64 uint64 float16 bfloat16 float32 float64 float8_e4m3fn
float16 float16 float16 float16 float16 float16 float16 float16 float16 float32 float64 float16
bfloat16 bfloat16 bfloat16 bfloat16 bfloat16 bfloat16 bfloat16 float16 bfloat16 float32 float64 bfloat16
float32 float32 float32 float32 float32 float32 float32 float32 float32 float32 float64 float32
float64 float64 float64 float64 float64 float64 float64 float64 float64 float64 float64 float64
float8_e4m3fn float8_e4m3fn float8_e4m3fn float8_e4m3fn float8_e4m3fn float8_e4m3fn float8_e4m3fn float16 bfloat16 \
float32 float64 float8_e4m3fn
"""
ROWS = [line.split() for line in MEASURED.strip().split("\n")]


def var(name):
    return tir.Var("x", dtype(name))


@pytest.mark.parametrize(
    ("a", "b", "expected"), [(a, b, ROWS[i][j]) for i, a in enumerate(NAMES) for j, b in enumerate(NAMES)]
)
def test_sum_of_two_dtypes(a, b, expected):
    x, y = promote.matched(var(a), var(b), None)
    assert str(x.dtype) == str(y.dtype) == expected
    assert isinstance(x, tir.Cast) == (a != expected)
    assert isinstance(y, tir.Cast) == (b != expected)


LITERALS = [
    ("bool", 3, "int32"),
    ("int8", 3, "int32"),
    ("int32", 1 << 40, "int64"),
    ("int64", 3, "int64"),
    ("uint8", 3, "int32"),
    ("uint32", 3, "uint32"),
    ("uint64", 1 << 40, "uint64"),
    ("float16", 3, "float16"),
    ("float64", 3, "float64"),
    ("bool", 3.5, "float32"),
    ("int32", 3.5, "float32"),
    ("float16", 3.5, "float32"),
    ("float64", 3.5, "float64"),
    ("float8_e4m3fn", 3, "float8_e4m3fn"),
]


@pytest.mark.parametrize(("operand", "literal", "expected"), LITERALS)
def test_literal_in_a_sum(operand, literal, expected):
    for a, b in ((var(operand), literal), (literal, var(operand))):
        node = promote.binary("+", a, b, None)
        assert str(node.dtype) == expected
        constants = [part for part in node.args if isinstance(part, (tir.IntImm, tir.FloatImm))]
        assert [constant.value for constant in constants] == [literal]
        assert str(constants[0].dtype) == expected


def test_literal_in_a_comparison_takes_the_dtype():
    node = promote.binary(">", var("int8"), 3, None)
    assert isinstance(node, tir.Apply)
    assert str(node.args[1].dtype) == "int8"
    assert node.dtype == BOOL
    node = promote.binary("<<", var("uint8"), 2, None)
    assert str(node.args[1].dtype) == str(node.dtype) == "uint8"
    node = promote.binary("<", 0.5, var("int32"), None)
    assert str(node.args[0].dtype) == "float32"


def test_vectors():
    vector = tir.Var("v", dtype("float32x4"))
    node = promote.binary("+", vector, 1, None)
    assert isinstance(node.args[1], tir.Broadcast)
    assert str(node.dtype) == "float32x4"
    node = promote.binary("*", var("float64"), vector, None)
    assert isinstance(node.args[0], tir.Broadcast)
    assert isinstance(node.args[1], tir.Cast)
    assert str(node.dtype) == "float64x4"
    node = promote.binary("<", vector, vector, None)
    assert str(node.dtype) == "boolx4"
    node = promote.binary("and", node, node, None)
    assert node.op == "bitwise_and"
    node = promote.binary("or", node, True, None)
    assert node.op == "bitwise_or"
    scalable = promote.broadcast(var("float32"), dtype("float32xvscalex4"), None)
    assert str(scalable.dtype) == "float32xvscalex4"
    with pytest.raises(RefmlcError, match="RM201"):
        promote.binary("+", vector, tir.Var("w", dtype("float32x8")), None)


def test_logic():
    p = var("bool")
    assert isinstance(promote.binary("and", p, True, None), tir.And)
    assert isinstance(promote.binary("or", p, p, None), tir.Or)
    assert promote.unary("not", p, None).op == "not"
    for bad in (var("int32"), 1.5):
        with pytest.raises(RefmlcError, match="RM201"):
            promote.condition(bad, None)


def test_unary():
    x = var("int64")
    assert promote.unary("+", x, None) is x
    minus = promote.unary("-", x, None)
    assert (minus.op, minus.args[1].value, str(minus.args[1].dtype)) == ("mul", -1, "int64")
    assert promote.unary("-", tir.IntImm(dtype("int8"), 7), None).value == -7
    negative = promote.unary("-", tir.FloatImm(dtype("float32"), 0.0), None)
    assert math.copysign(1, negative.value) == -1
    assert promote.unary("~", x, None).op == "bitwise_not"
    for symbol, operand in (("-", var("uint8")), ("-", p_bool()), ("~", var("float32")), ("not", x)):
        with pytest.raises(RefmlcError, match="RM201"):
            promote.unary(symbol, operand, None)


def p_bool():
    return var("bool")


CONSTANTS = [
    (127, "int8", 127),
    (-128, "int8", -128),
    (True, "int32", 1),
    (3.0, "int32", 3),
    (1, "bool", 1),
    (0.1, "float64", 0.1),
    (0.1, "float32", 0.10000000149011612),
    (1 / 3, "float16", 0.333251953125),
    (3, "bfloat16", 3.0),
    (float("inf"), "float32", float("inf")),
]


@pytest.mark.parametrize(("value", "name", "expected"), CONSTANTS)
def test_constant(value, name, expected):
    assert promote.constant(value, dtype(name), None).value == expected


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (128, "int8"),
        (-1, "uint8"),
        (2, "bool"),
        (1.5, "int32"),
        (float("nan"), "int32"),
        (1e300, "float32"),
        (70000, "float16"),
        (10**400, "float64"),
        (1, "handle"),
        (1 << 300, "int64"),
    ],
)
def test_constant_out_of_range(value, name):
    with pytest.raises(RefmlcError, match="RM107"):
        promote.constant(value, dtype(name), None)


def test_constant_vector():
    node = promote.constant(2, dtype("int32x4"), None)
    assert isinstance(node, tir.Broadcast)
    assert (node.value.value, node.lanes.value) == (2, 4)


def test_literals_alone():
    assert str(promote.literal(True, None).dtype) == "bool"
    assert str(promote.literal(1 << 31, None).dtype) == "int64"
    x, y = promote.matched(1, 2.5, None)
    assert str(x.dtype) == str(y.dtype) == "float32"
    x, y = promote.matched(1, 2, None)
    assert str(x.dtype) == "int32"


@pytest.mark.parametrize(
    ("symbol", "a", "b"),
    [
        ("/", "int32", "int32"),
        ("//", "float32", "float32"),
        ("<<", "float32", "int32"),
        ("+", "handle", "int32"),
        ("**", "float32", "float32"),
    ],
)
def test_refused(symbol, a, b):
    with pytest.raises(RefmlcError, match="RM201"):
        promote.binary(symbol, var(a), var(b), None)


def test_promoted_elements_only():
    assert promote.promoted(dtype("handle"), dtype("int32")) is None
    assert isinstance(promote.promoted(BOOL, dtype("int8")), DType)
