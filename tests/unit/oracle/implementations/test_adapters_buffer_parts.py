"""Offsets and strides that a match binds: the interpreter, C, and NumPy. Expected values are worked by hand."""

import numpy as np
import pytest

import refmlc
from refmlc.lang.dtypes import INT32
from refmlc.oracle.implementations.implementation import Ended, Limits
from refmlc.oracle.implementations.lookup import implementation
from refmlc.run.memory.tensor import Tensor

WAYS = ("interp", pytest.param("native", marks=pytest.mark.needs("compiler")), "numpy")
REGION = """
@T.prim_func(s_tir=True)
def f(A: T.Buffer((2, 4), "int32", offset_factor={outer}), C: T.Buffer((4,), "int32")):
    for i in range(4):
        with T.sblock("b"):
            v = T.axis.spatial(4, i)
            B = T.match_buffer(A[1, v], (), "int32", offset_factor={inner})
            C[v] = B.elem_offset * 10 + A.elem_offset
"""
STRIDES = """
@T.prim_func(s_tir=True)
def f(A: T.Buffer((2, 3), "int32", strides=("s0", "s1")), B: T.Buffer((2, 2), "int32", strides=("s0", "s1"))):
    A[0, 0] = A.strides[0] * 10 + A.strides[1]
    B[0, 1] = B.strides[0] * 10 + B.strides[1]
"""
DECLARED = """
@T.prim_func(s_tir=True)
def f(A: T.Buffer((2,), "int32", elem_offset=3)):
    A[0] = A.elem_offset
"""


def tensor(shape, offset=0):
    """A tensor of int32 that begins `offset` elements after its storage."""
    whole = Tensor.from_numpy(np.arange(24, dtype="int32"))
    found = Tensor(whole.storage, INT32, shape, None, offset * 4)
    found.mark_initialised()
    return found


def outcome(way, text, *args):
    made = implementation(way, Limits()).prepare(refmlc.read(text, "m.py"))
    return made.run("f", list(args))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("begins", "expected"), [(0, [40, 50, 60, 70]), (3, [73, 83, 93, 103])])
def test_the_offset_of_a_region_counts_from_the_beginning_of_the_data(way, begins, expected):
    result = tensor((4,))
    ended = outcome(way, REGION.format(outer=1, inner=1), tensor((2, 4), begins), result)
    assert isinstance(ended, Ended), ended
    assert result.numpy().tolist() == expected


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("outer", "inner", "begins"), [(1, 2, 0), (2, 1, 3)], ids=["region", "parameter"])
def test_an_offset_that_is_no_multiple_of_its_factor_has_no_meaning(way, outer, inner, begins):
    ended = outcome(way, REGION.format(outer=outer, inner=inner), tensor((2, 4), begins), tensor((4,)))
    assert not isinstance(ended, Ended), ended


@pytest.mark.parametrize("way", WAYS)
def test_strides_are_those_of_each_tensor(way):
    a, b = tensor((2, 3)), tensor((2, 2))
    assert isinstance(outcome(way, STRIDES, a, b), Ended)
    assert (a.numpy()[0, 0], b.numpy()[0, 1]) == (31, 21)


@pytest.mark.parametrize("way", WAYS)
def test_a_number_as_offset_is_where_the_tensor_begins(way):
    there = tensor((2,), 3)
    assert isinstance(outcome(way, DECLARED, there), Ended)
    assert there.numpy()[0] == 3
    assert not isinstance(outcome(way, DECLARED, tensor((2,), 2)), Ended)


@pytest.mark.needs("compiler")
def test_c_takes_the_offset_of_a_region():
    report = refmlc.build(refmlc.read(REGION.format(outer=1, inner=1), "m.py"), "native").report["f"]
    assert report.tier.value == "native", report.reason
