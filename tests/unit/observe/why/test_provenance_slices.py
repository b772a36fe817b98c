"""Slices of small programs, worked by hand: which stores, which values, which roundings, which leaves."""

from fractions import Fraction

import numpy as np
import pytest

import refmlc
from refmlc.diag import RefmlcError
from refmlc.observe.why import Kind, Origin, Slice, Source, Value, Write, outline, text, why
from refmlc.observe.why.chains import fold


def read(body: str) -> refmlc.IRModule:
    return refmlc.read("from tvm.script import tirx as T\n\n" + body, "program.py")


def written(found: Slice, load: Value | None = None) -> Write:
    origin = found.source(load)
    assert isinstance(origin, Write)
    return origin


def named(found: Slice, load: Value) -> tuple[Source, str]:
    origin = found.source(load)
    assert isinstance(origin, Origin)
    return origin.source, origin.name


GEMM = read(
    """
@T.prim_func(s_tir=True)
def main(A: T.Buffer((2, 3), "float32"), B: T.Buffer((3, 2), "float32"), C: T.Buffer((2, 2), "float32")):
    for i, j, k in T.grid(2, 2, 3):
        with T.sblock("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] += A[vi, vk] * B[vk, vj]
"""
)


def test_an_element_of_a_product_is_its_terms_in_order() -> None:
    a = np.array([[1, 2, 3], [4, 5, 6]], "float32")
    b = np.array([[1, 10], [2, 20], [3, 30]], "float32")
    found = why(GEMM, "main", [a, b, np.zeros((2, 2), "float32")], "C", (1, 0))
    assert found.value == 4 * 1 + 5 * 2 + 6 * 3
    last = written(found)
    assert last.axes == (("vi", 1), ("vj", 0), ("vk", 2))
    assert last.block == "C"
    folded = fold(found, last)
    assert folded is not None
    assert [term.value for term in folded.terms] == [4.0, 10.0, 18.0]
    assert folded.biggest_index == 2
    assert (folded.exact, folded.error) == (Fraction(32), Fraction(0))
    assert [load.text for load in folded.terms[1].loads()] == ["A[1, 1]", "B[1, 0]"]
    assert [named(found, load) for load in folded.terms[1].loads()] == [
        (Source.ARGUMENT, "A[1, 1]"),
        (Source.ARGUMENT, "B[1, 0]"),
    ]
    assert written(found, folded.start).value.kind is Kind.CONSTANT


def test_the_arguments_are_left_as_they_were() -> None:
    a, c = np.ones((2, 3), "float32"), np.full((2, 2), 7, "float32")
    why(GEMM, "main", [a, np.ones((3, 2), "float32"), c], "C", (0, 0))
    assert (c == 7).all()


SUM16 = read(
    """
@T.prim_func(s_tir=True)
def main(A: T.Buffer((4,), "float16"), S: T.Buffer((1,), "float16")):
    for i in range(4):
        with T.sblock("S"):
            vi = T.axis.reduce(4, i)
            with T.init():
                S[0] = T.float16(0)
            S[0] = S[0] + A[vi]
"""
)


def test_a_sum_that_swallows_terms_shows_the_running_error() -> None:
    """2048 + 1 in float16 is 2048 (ties to even): twice 1 is lost; the spacing at 2048 is 2."""
    found = why(SUM16, "main", [np.array([2048, 1, 1, 0], "float16"), np.zeros(1, "float16")], "S", (0,))
    assert found.value == 2048.0
    folded = fold(found, written(found))
    assert folded is not None
    assert (folded.exact, folded.error) == (Fraction(2050), Fraction(-1))
    second = found.writes[folded.stores[1]].value.rounding
    assert second is not None
    assert (second.exact, second.error) == (Fraction(2049), Fraction(-1, 2))
    assert "sum of 4 terms = 2048.0  [exact 2050, running error -1 ulp]" in text(outline(found))


SOFTMAX = read(
    """
@T.prim_func(s_tir=True)
def main(A: T.Buffer((2, 3), "float32"), B: T.Buffer((2, 3), "float32")):
    M = T.alloc_buffer((2,), "float32")
    E = T.alloc_buffer((2, 3), "float32")
    S = T.alloc_buffer((2,), "float32")
    for i, k in T.grid(2, 3):
        with T.sblock("max"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                M[vi] = T.float32(-1000)
            M[vi] = T.max(M[vi], A[vi, vk])
    for i, k in T.grid(2, 3):
        with T.sblock("exp"):
            vi, vk = T.axis.remap("SS", [i, k])
            E[vi, vk] = T.exp(A[vi, vk] - M[vi])
    for i, k in T.grid(2, 3):
        with T.sblock("sum"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                S[vi] = T.float32(0)
            S[vi] = S[vi] + E[vi, vk]
    for i, k in T.grid(2, 3):
        with T.sblock("norm"):
            vi, vk = T.axis.remap("SS", [i, k])
            B[vi, vk] = E[vi, vk] / S[vi]
"""
)


def test_softmax_goes_back_through_four_blocks() -> None:
    a = np.array([[0, 0, 0], [1, 5, 5]], "float32")
    found = why(SOFTMAX, "main", [a, np.zeros((2, 3), "float32")], "B", (1, 1))
    norm = written(found)
    exp, total = norm.value.loads()
    assert norm.value.text == "div"
    assert norm.value.rounding is not None
    added = np.float32(np.exp(np.float64(-4))) + np.float32(1) + np.float32(1)  # in the order of the loop
    assert norm.value.rounding.exact == 1 / Fraction(float(added))
    difference = written(found, exp).value.parts[0]
    assert [part.value for part in difference.parts] == [5.0, 5.0]
    greatest = fold(found, written(found, difference.parts[1]))
    assert greatest is not None
    assert (greatest.op, [term.value for term in greatest.terms]) == ("max", [1.0, 5.0, 5.0])
    summed = fold(found, written(found, total))
    assert summed is not None
    assert [term.text for term in summed.terms] == ["E[1, 0]", "E[1, 1]", "E[1, 2]"]
    assert {write.block for write in found.writes.values()} == {"max", "exp", "sum", "norm"}


CONV = read(
    """
@T.prim_func(s_tir=True)
def main(X: T.Buffer((4,), "int32"), W: T.Buffer((3,), "int32"), Y: T.Buffer((4,), "int32")):
    P = T.alloc_buffer((6,), "int32")
    for i in range(6):
        with T.sblock("pad"):
            vi = T.axis.spatial(6, i)
            P[vi] = T.if_then_else(1 <= vi and vi < 5, X[vi - 1], 0)
    for i, k in T.grid(4, 3):
        with T.sblock("Y"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                Y[vi] = 0
            Y[vi] = Y[vi] + P[vi + vk] * W[vk]
"""
)


def test_a_convolution_at_the_edge_reads_padding() -> None:
    arguments = [np.array(values, "int32") for values in ([1, 2, 3, 4], [5, 6, 7], [0] * 4)]
    found = why(CONV, "main", arguments, "Y", (0,))
    assert found.value == 0 * 5 + 1 * 6 + 2 * 7
    folded = fold(found, written(found))
    assert folded is not None
    pads = [written(found, next(iter(term.loads()))).value for term in folded.terms]
    assert [pad.kind for pad in pads] == [Kind.CHOICE] * 3
    assert [pad.parts[0].value for pad in pads] == [False, True, True]
    assert [[load.text for load in pad.loads()] for pad in pads] == [[], ["X[0]"], ["X[1]"]]


GATHER = read(
    """
@T.prim_func(s_tir=True)
def main(A: T.Buffer((4,), "float32"), I: T.Buffer((2,), "int32"), B: T.Buffer((2,), "float32")):
    for i in range(2):
        with T.sblock("B"):
            vi = T.axis.spatial(2, i)
            B[vi] = A[I[vi]]
"""
)


def test_a_gathered_element_names_the_index_that_was_read() -> None:
    arguments = [np.array([1, 2, 3, 4], "float32"), np.array([3, 1], "int32"), np.zeros(2, "float32")]
    found = why(GATHER, "main", arguments, "B", (0,))
    (load, index) = written(found).value.loads()
    assert (load.text, load.value, index.text, index.value) == ("A[3]", 4.0, "I[0]", 3)
    assert named(found, load) == (Source.ARGUMENT, "A[3]")
    assert named(found, index) == (Source.ARGUMENT, "I[0]")


INPLACE = read(
    """
@T.prim_func(s_tir=True)
def main(A: T.Buffer((2,), "float32")):
    for t, i in T.grid(3, 2):
        with T.sblock("A"):
            vt, vi = T.axis.remap("SS", [t, i])
            A[vi] = A[vi] * T.float32(2) + T.float32(1)
"""
)


def test_updates_in_place_are_one_chain_back_to_the_argument() -> None:
    found = why(INPLACE, "main", [np.array([3, 5], "float32")], "A", (1,))
    assert found.value == 47.0
    values = []
    step: Write | Origin = written(found)
    while isinstance(step, Write):
        values.append(step.value.value)
        step = found.source(next(iter(step.value.loads())))
    assert values == [47.0, 23.0, 11.0]
    assert step == Origin(Source.ARGUMENT, "A[1]")
    assert len(found.writes) == 3


BOUND = read(
    """
@T.prim_func
def main(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    for i in range(2):
        x: T.let[T.float32] = A[i] + A[i + 1]
        if i > 0:
            B[i] = x * x
    B[4:8] = A[4:8] * T.Broadcast(T.float32(3), 4)
"""
)


def test_a_bound_variable_is_what_it_was_bound_to_and_a_guard_is_named() -> None:
    arguments = [np.arange(8, dtype="float32"), np.zeros(8, "float32")]
    found = why(BOUND, "main", arguments, "B", (1,))
    write = written(found)
    assert (found.value, write.guards, write.loops) == (9.0, ("i > 0",), (("i", 1),))
    assert [load.text for load in write.value.loads()] == ["A[1]", "A[2]", "A[1]", "A[2]"]


def test_a_lane_of_a_vector_store_is_that_lane_of_the_value() -> None:
    arguments = [np.arange(8, dtype="float32"), np.zeros(8, "float32")]
    found = why(BOUND, "main", arguments, "B", (6,))
    assert found.value == 18.0
    assert [load.text for load in written(found).value.loads()] == ["A[6]"]


VIEWS = read(
    """
@T.prim_func(s_tir=True)
def main(A: T.Buffer((2, 4), "int32"), B: T.Buffer((2, 4), "int32")):
    for i in range(2):
        with T.sblock("row"):
            vi = T.axis.spatial(2, i)
            R = T.match_buffer(B[vi, 0:4], (4,), "int32")
            for j in range(4):
                R[j] = A[vi, j] + 1
"""
)


def test_a_store_through_a_view_is_found_under_the_buffer() -> None:
    found = why(VIEWS, "main", [np.arange(8, dtype="int32").reshape(2, 4), np.zeros((2, 4), "int32")], "B", (1, 2))
    write = written(found)
    assert (found.value, write.element, write.axes) == (7, "R[2]", (("vi", 1),))


LONG = read(
    """
@T.prim_func(s_tir=True)
def main(A: T.Buffer((1000,), "float32"), S: T.Buffer((1,), "float32"), B: T.Buffer((1000,), "float32")):
    for i in range(1000):
        with T.sblock("B"):
            vi = T.axis.spatial(1000, i)
            B[vi] = A[vi] + T.float32(1)
    for i in range(1000):
        with T.sblock("S"):
            vi = T.axis.reduce(1000, i)
            with T.init():
                S[0] = T.float32(0)
            S[0] = S[0] + B[vi]
"""
)


def test_a_thousand_terms_are_one_line_and_three_terms() -> None:
    a = np.zeros(1000, "float32")
    a[700] = 9
    found = why(LONG, "main", [a, np.zeros(1, "float32"), np.zeros(1000, "float32")], "S", (0,))
    assert found.value == 1009.0
    assert found.runs <= 4
    shown = text(outline(found))
    assert "sum of 1000 terms = 1009.0  [exact 1009, running error +0 ulp]" in shown
    assert "biggest term (701 of 1000): B[700] = 10.0" in shown
    assert shown.count("term (") == 3
    assert len(shown.splitlines()) < 30
    followed = {write.element for write in found.writes.values() if write.block == "B"}
    assert followed == {"B[0]", "B[700]", "B[999]"}


def test_what_was_never_written_says_so() -> None:
    untouched = refmlc.Tensor.empty((8,), refmlc.Tensor.from_numpy(np.zeros(1, "float32")).dtype)
    found = why(BOUND, "main", [np.zeros(8, "float32"), untouched], "B", (0,))
    assert (found.value, found.source()) == (None, Origin(Source.UNINITIALISED, "never written"))


def test_a_buffer_inside_can_be_asked_for() -> None:
    found = why(SOFTMAX, "main", [np.ones((2, 3), "float32"), np.zeros((2, 3), "float32")], "S", (0,))
    assert found.value == 3.0


@pytest.mark.parametrize(
    ("output", "index", "message"),
    [
        ("C", (2, 0), "there is no element `C[2, 0]`"),
        ("C", (0,), "there is no element `C[0]`"),
        ("Z", (0,), "no `Z[0]` was written or returned"),
    ],
)
def test_an_element_that_is_none_is_bad_usage(output: str, index: tuple[int, ...], message: str) -> None:
    arguments = [np.ones((2, 3), "float32"), np.ones((3, 2), "float32"), np.zeros((2, 2), "float32")]
    with pytest.raises(RefmlcError, match="RM112") as failure:
        why(GEMM, "main", arguments, output, index)
    assert message in failure.value.diagnostic.message
