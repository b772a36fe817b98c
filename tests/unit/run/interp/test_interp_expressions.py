"""Expressions: laziness, vectors, rounding after each operation, conversions."""

import math

import numpy as np
import pytest


def store(expression, dtype="int32", lanes=1, params="n: T.int32"):
    index = "0" if lanes == 1 else f"T.Ramp(0, 1, {lanes})"
    return f"""
@T.prim_func(s_tir=True)
def f(A: T.Buffer((8,), "{dtype}"), B: T.Buffer((8,), "{dtype}"), {params}):
    B[{index}] = {expression}
"""


def value(run, expression, n=0, dtype="int32", a=None):
    source = np.arange(8).astype(dtype) if a is None else np.array(a, dtype)
    target = np.zeros(8, dtype)
    run(store(expression, dtype), source, target, n)
    return target[0].item()


def lanes(run, expression, count, n=0, dtype="int32"):
    target = np.full(8, -1).astype(dtype)
    run(store(expression, dtype, count), np.arange(8).astype(dtype), target, n)
    return target[:count].tolist()


def test_lazy_and_or(run, failing):
    """The second operand would be out of bounds."""
    lazy = "T.if_then_else(T.And(n < 8, A[n] == 3), 1, 2)"
    assert value(run, lazy, 3) == 1
    assert value(run, lazy, 9) == 2
    lazy = "T.if_then_else(T.Or(n >= 8, A[n] == 3), 1, 2)"
    assert value(run, lazy, 9) == 1
    assert value(run, lazy, 4) == 2


def test_if_then_else_is_lazy_and_select_is_not(run, failing):
    assert value(run, "T.if_then_else(n < 8, A[n], 77)", 9) == 77
    assert value(run, "T.Select(n < 4, A[n], 77)", 3) == 3
    assert value(run, "T.Select(n < 4, A[n], 77)", 5) == 77
    arrays = np.arange(8, dtype="int32"), np.zeros(8, "int32")
    assert failing(store("T.Select(n < 8, A[n], 77)"), *arrays, 9).code.id == "RM304"


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("A[0] + A[1] * A[2]", float(np.float32(0.1) + np.float32(0.2) * np.float32(0.3))),
        ("A[1] * A[2] + A[0]", float(np.float32(0.1) + np.float32(0.2) * np.float32(0.3))),
        ("(A[0] + A[1]) - A[2]", float(np.float32(np.float32(0.1) + np.float32(0.2)) - np.float32(0.3))),
        ("(A[0] - A[1]) * A[2]", float(np.float32(np.float32(0.1) - np.float32(0.2)) * np.float32(0.3))),
        ("A[0] / A[2]", float(np.float32(0.1) / np.float32(0.3))),
    ],
)
def test_float32_rounds_after_each_operation(run, expression, expected):
    assert value(run, expression, dtype="float32", a=[0.1, 0.2, 0.3, 0, 0, 0, 0, 0]) == expected


def test_a_product_is_rounded_before_the_sum(run):
    """(1 + 2^-23)^2 - (1 + 2^-22) is 2^-46 exactly, and 0 when the product is rounded."""
    one = 1 + 2.0**-23
    a = [one, 1 + 2.0**-22, 0, 0, 0, 0, 0, 0]
    assert value(run, "A[0] * A[0] - A[1]", dtype="float32", a=a) == 0.0
    assert value(run, "A[0] * A[0] - A[1]", dtype="float64", a=a) == 2.0**-46


def test_float16_rounds_after_each_operation(run):
    """2048 + 1 is 2048 in float16, so adding 1 twice changes nothing."""
    assert value(run, "A[0] + A[1] + A[1]", dtype="float16", a=[2048, 1, 0, 0, 0, 0, 0, 0]) == 2048.0


def test_float32_overflows_to_infinity(run):
    assert value(run, "A[0] * A[0]", dtype="float32", a=[3e38] * 8) == math.inf
    assert math.isnan(value(run, "A[0] * A[0] - A[0] * A[0]", dtype="float32", a=[3e38] * 8))


@pytest.mark.parametrize(
    ("expression", "n", "code"),
    [
        ("n + 1", 2**31 - 1, "RM306"),
        ("n - 2", -(2**31) + 1, "RM306"),
        ("n * n", 2**16, "RM306"),
        ("10 // n", 0, "RM307"),
        ("10 % n", 0, "RM307"),
        ("T.truncdiv(10, n)", 0, "RM307"),
        ("T.shift_left(1, n)", 32, "RM308"),
        ('T.Cast("int32", T.Cast("float32", n) * T.float32(1e9))', 100, "RM309"),
    ],
)
def test_undefined_operations(failing, expression, n, code):
    found = failing(store(expression), np.zeros(8, "int32"), np.zeros(8, "int32"), n)
    assert found.code.id == code
    assert found.notes == ("in `f`, step 1",)


@pytest.mark.parametrize(
    ("expression", "n", "expected"),
    [
        ("n // 4", -5, -2),
        ("n % 4", -5, 3),
        ("n // -4", 5, -2),
        ("n % -4", 5, -3),
        ("T.truncdiv(n, 4)", -5, -1),
        ("T.truncmod(n, 4)", -5, -1),
        ("T.min(n, 3)", 5, 3),
        ("T.max(n, 3)", 5, 5),
        ('T.Cast("int32", n < 4)', 3, 1),
        ('T.Cast("int32", T.Not(n < 4))', 3, 0),
        ('T.Cast("int32", n <= 3)', 3, 1),
        ('T.Cast("int32", n >= 4)', 3, 0),
        ('T.Cast("int32", n > 2)', 3, 1),
        ('T.Cast("int32", n != 3)', 3, 0),
        ('T.Cast("int32", n == 3)', 3, 1),
        ('T.Cast("int32", T.Cast("int8", n))', 200, -56),
        ('T.Cast("int32", T.Cast("int64", n))', 200, 200),
        ("T.popcount(n)", 7, 3),
        ("T.bitwise_xor(n, 5)", 3, 6),
    ],
)
def test_integers(run, expression, n, expected):
    assert value(run, expression, n) == expected


def test_narrow_integers_wrap(run):
    assert value(run, "A[0] + A[0]", dtype="int8", a=[100] * 8) == -56
    assert value(run, "A[0] * A[0]", dtype="uint8", a=[100] * 8) == 16


def test_float64_arithmetic(run):
    a = [0.1, 0.2, 0.3, 0, 0, 0, 0, 0]
    assert value(run, "A[0] + A[1] - A[2] * A[0]", dtype="float64", a=a) == 0.1 + 0.2 - 0.3 * 0.1


# ---------------------------------------------------------------------------------------------- vectors


@pytest.mark.parametrize(
    ("expression", "count", "n", "expected"),
    [
        ("T.Ramp(n, 2, 4)", 4, 1, [1, 3, 5, 7]),
        ("T.Broadcast(n, 3)", 3, 9, [9, 9, 9]),
        ("A[T.Ramp(7, -1, 4)]", 4, 0, [7, 6, 5, 4]),
        ("A[0:4]", 4, 0, [0, 1, 2, 3]),
        ("A[T.Ramp(0, 1, 4)] + T.Broadcast(n, 4)", 4, 10, [10, 11, 12, 13]),
        ("T.Select(A[0:4] < T.Broadcast(2, 4), A[4:8], T.Broadcast(n, 4))", 4, 0, [4, 5, 0, 0]),
        ("T.Shuffle([A[0:4]], [3, 0])", 2, 0, [3, 0]),
        ("T.Shuffle([n, A[1]], [1, 0, 1])", 3, 8, [1, 8, 1]),
        ('T.Cast("int32x2", T.Cast("int8x2", T.Ramp(n, 1, 2)))', 2, 127, [127, -128]),
        ('T.vectorlow("int32x2", A[T.Ramp(0, 1, 4)])', 2, 0, [0, 1]),
        ('T.vectorhigh("int32x2", A[T.Ramp(0, 1, 4)])', 2, 0, [2, 3]),
        ('T.vectorcombine("int32x4", A[T.Ramp(0, 1, 2)], A[T.Ramp(4, 1, 2)])', 4, 0, [0, 1, 4, 5]),
    ],
)
def test_vectors(run, expression, count, n, expected):
    assert lanes(run, expression, count, n) == expected


def test_vector_conditions_combine_lane_by_lane(run):
    a, limit = "A[0:4]", "T.Broadcast({}, 4)"
    both = f"T.Select(T.And({a} > {limit.format(0)}, {a} < {limit.format(3)}), {a}, {limit.format(0)})"
    either = f"T.Select(T.Or({a} < {limit.format(1)}, {a} > {limit.format(2)}), {a}, {limit.format(9)})"
    assert lanes(run, both, 4) == [0, 1, 2, 0]
    assert lanes(run, either, 4) == [0, 9, 9, 3]


def test_ramp_overflows(failing, run):
    text = store("T.Ramp(n, 1, 4)", lanes=4)
    arrays = np.zeros(8, "int32"), np.zeros(8, "int32")
    assert failing(text, *arrays, 2**31 - 2).code.id == "RM306"
    run(text, *arrays, 2**31 - 2, allow=frozenset({"RM306"}))
    assert arrays[1][:4].tolist() == [2**31 - 2, 2**31 - 1, -(2**31), -(2**31) + 1]


def test_vector_access_out_of_bounds(failing):
    arrays = np.zeros(8, "int32"), np.zeros(8, "int32")
    found = failing(store("A[T.Ramp(n, 1, 4)]", lanes=4), *arrays, 5)
    assert (found.code.id, found.label) == ("RM304", "index 0 is 8, extent is 8")
    text = """
@T.prim_func(s_tir=True)
def f(A: T.Buffer((8,), "int32"), n: T.int32):
    A[T.Ramp(n, 2, 4)] = T.Broadcast(1, 4)
"""
    assert failing(text, np.zeros(8, "int32"), 2).code.id == "RM304"


def test_vector_elements(run):
    text = """
@T.prim_func(s_tir=True)
def f(A: T.Buffer((8,), "int32"), B: T.Buffer((8,), "int32")):
    V = T.decl_buffer((2,), "int32x4", data=A.data)
    W = T.decl_buffer((2,), "int32x4", data=B.data)
    for i in range(2):
        W[i] = V[1 - i] + V[0]
"""
    target = np.zeros(8, "int32")
    run(text, np.arange(8, dtype="int32"), target)
    assert target.tolist() == [4, 6, 8, 10, 0, 2, 4, 6]


def test_predicated_lanes(run):
    text = """
@T.prim_func(s_tir=True)
def f(A: T.Buffer((8,), "int32"), B: T.Buffer((8,), "int32"), n: T.int32):
    B.vstore([T.Ramp(0, 1, 4)], A.vload([T.Ramp(6, 1, 4)], predicate=T.get_active_lane_mask("uint1x4", 6, 8)),
             predicate=T.get_active_lane_mask("uint1x4", 0, n))
"""
    target = np.full(8, -1, "int32")
    run(text, np.arange(8, dtype="int32"), target, 3)
    assert target.tolist() == [6, 7, 0, -1, -1, -1, -1, -1]
