"""NaN and infinities from finite arguments: the element and the operation that gave the first one, by hand."""

import numpy as np
import pytest

import refmlc

PROGRAM = """
@T.prim_func
def main(A: T.Buffer((3,), "float32"), B: T.Buffer((3,), "float32")):
    C = T.alloc_buffer((3,), "float32")
    for i in range(3):
        C[i] = FIRST
    for i in range(3):
        B[i] = SECOND
"""
GRAPH = """
@R.function
def main(A: R.Tensor((3,), "float32")) -> R.Tuple(R.Tensor((3,), "float32"), R.Tensor((3,), "float32")):
    y = R.subtract(A, A)
    z = R.divide(y, y)
    return (y, R.add(z, A))
"""


def report(first, second, values=(1, -2, 3), **options):
    text = PROGRAM.replace("FIRST", first).replace("SECOND", second)
    return refmlc.check(
        text, "main", inputs={"A": np.array(values, "float32")}, calls=1, implementations=["interp"], **options
    )


@pytest.mark.parametrize(
    ("first", "second", "values", "note"),
    [
        (
            "T.log(A[i])",
            "C[i] + A[i]",
            (1, -2, 3),
            "call 1 makes nan from finite arguments in `B[1]`: log(-2) at <text>:6:16",
        ),
        (
            "A[i] - A[i]",
            "C[i] / C[i]",
            (1, 2, 3),
            "call 1 makes nan from finite arguments in `B[0]`: div(0, 0) at <text>:8:16",
        ),
        (
            "T.exp(A[i])",
            "C[i]",
            (1, 100, 3),
            "call 1 makes inf from finite arguments in `B[1]`: exp(100) at <text>:6:16",
        ),
    ],
)
def test_the_first_operation_whose_operands_are_finite(first, second, values, note):
    checked = report(first, second, values)
    assert f"main: {note}" in checked.remarks
    assert checked.status == 0
    (finding,) = report(first, second, values, finite=True).findings
    assert (finding.code.id, finding.span.place) == ("RM710", note.rpartition(" ")[2])
    assert note in finding.notes


@pytest.mark.parametrize(
    ("first", "second", "values"),
    [
        ("A[i]", "C[i] + C[i]", (1, np.inf, 3)),  # it was given
        ("A[i]", 'T.if_then_else(A[i] > T.float32(0), C[i], T.float32("-inf"))', (1, -2, 3)),  # the author wrote it
        ("A[i]", "C[i] + C[i]", (1, 2, 3)),
    ],
)
def test_what_the_program_does_not_make_is_not_noted(first, second, values):
    checked = report(first, second, values, finite=True)
    assert checked.ok
    assert not any("finite" in remark for remark in checked.remarks)


def test_operators_of_a_graph_by_their_variable():
    checked = refmlc.check(GRAPH, calls=1, inputs={"A": np.ones(3, "float32")}, func="main", implementations=["interp"])
    assert "main: call 1 makes nan from finite arguments in `result.1[0]`: div(0, 0) in `z`" in checked.remarks
