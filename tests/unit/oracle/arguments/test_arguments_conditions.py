"""Values that decide conditions, worked out by hand."""

import pytest

import refmlc
from refmlc.oracle.arguments.graph_uses import uses_of

TEXT = """
@T.prim_func
def f(A: T.Buffer((8,), "int32"), x: T.Buffer((8,), "float32"), k: T.int32, C: T.Buffer((8,), "int32")):
    for i in range(8):
        C[i] = 0
        if CONDITION:
            C[i] = 1
"""


def uses(condition):
    return uses_of(refmlc.read(TEXT.replace("CONDITION", condition)), "f")


@pytest.mark.parametrize(
    ("condition", "name", "values"),
    [
        ("A[i] > 40", "A", {39, 40, 41}),
        ("A[i] * 3 + 1 <= 31", "A", {9, 10, 11}),
        ("A[i] // 4 == 5", "A", {20, 23}),
        ("A[i] % 4 == 3", "A", {3, 7}),
        ("5 - A[i] >= -2", "A", {6, 7, 8}),
        ("T.abs(A[i]) == 9", "A", {9, -9}),
        ("T.shift_right(A[i], 3) > 2", "A", {16}),
        ("T.Cast('int64', A[i]) < T.int64(5000000000)", "A", {5000000000}),
        ("x[i] > T.float32(2.5)", "x", {2.5}),
        ("k == 1000 and A[i] < 3", "k", {999, 1000, 1001}),
        ("k == 1000 and A[i] < 3", "A", {2, 3}),
        ("T.max(A[i], 0) > 6", "A", {6, 7}),
    ],
)
def test_the_values_at_which_a_condition_changes(condition, name, values):
    assert values <= set(uses(condition).use(name).decisive)


def test_a_condition_on_loops_alone_decides_nothing():
    assert uses("i < 3").use("A").decisive == []


def test_a_value_flows_through_a_binding_and_a_local_buffer():
    text = TEXT.replace("        if CONDITION:", "        B[0] = A[i] + 1\n        if B[0] > 3:").replace(
        "    for i in range(8):", '    B = T.alloc_buffer((1,), "int32")\n    for i in range(8):', 1
    )
    indexed = text.replace("C[i] = 1", "C[B[0]] = 1")
    assert not uses_of(refmlc.read(text), "f").use("A").is_index
    assert uses_of(refmlc.read(indexed), "f").use("A").is_index
    assert not uses_of(refmlc.read(indexed), "f").use("k").is_index
