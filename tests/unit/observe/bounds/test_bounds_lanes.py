"""Certificates of vectors: each lane is what the scalar program would be; expected values by hand."""

import math
import struct

import numpy as np
import pytest

from refmlc.diag import RefmlcError
from refmlc.lang.wellformed.reader_checks import read
from refmlc.observe.bounds.certify import certify

NEAR_ONE = 1 + 2**-12  # its square is 1 + 2**-11 + 2**-24: half an ulp more than it is rounded to


def certified(body, values, dtype="float32", out=None, count=None):
    count = count or len(values)
    text = f"""
@T.prim_func
def main(A: T.Buffer(({len(values)},), "{dtype}"), B: T.Buffer(({count},), "{out or dtype}")):
{body}
"""
    return certify(read(text), "main", [np.array(values, dtype), np.zeros(count, out or dtype)]).outputs[-1]


@pytest.mark.parametrize(
    ("expression", "lanes"),
    [
        ("A[T.Ramp(0, 1, 4)]", [1, 2, 3, 4]),
        ("A[T.Ramp(3, -1, 4)]", [4, 3, 2, 1]),
        ("T.Broadcast(A[2], 4)", [3, 3, 3, 3]),
        ("A[0:4] + T.Broadcast(T.float32(1), 4)", [2, 3, 4, 5]),
        ("T.Shuffle([A[0:4]], [3, 3, 0, 1])", [4, 4, 1, 2]),
        ("T.Shuffle([A[0:2], A[2:4]], [0, 2, 1, 3])", [1, 3, 2, 4]),
        ("T.Select(A[0:4] > T.Broadcast(T.float32(2), 4), A[0:4], T.Broadcast(T.float32(0), 4))", [0, 0, 3, 4]),
        ('T.Cast("float32x4", T.Cast("int32x4", A[0:4]) * T.Ramp(0, 2, 4))', [0, 4, 12, 24]),
        ("T.Let(v + T.Shuffle([v], [3, 2, 1, 0]), where={v: A[0:4]})", [5, 5, 5, 5]),
        ("T.Broadcast(T.Shuffle([A[0:4]], [2]), 4)", [3, 3, 3, 3]),
    ],
)
def test_lanes(expression, lanes):
    head = "    v = T.float32x4()\n" if "where" in expression else ""
    found = certified(f"{head}    B[0:4] = {expression}", [1, 2, 3, 4])
    assert found.centre.tolist() == lanes
    assert found.bound.tolist() == [0, 0, 0, 0]


def test_lanes_have_their_own_bounds():
    found = certified("    B[0:2] = A[0:2] * A[0:2]", [NEAR_ONE, 2.0])
    assert 2**-24 <= found.bound[0] < 2**-23
    assert (found.centre[1], found.bound[1]) == (4.0, 0.0)


def test_a_vector_is_computed_before_it_is_stored():
    found = certified("    B[0:3] = A[0:3]\n    B[1:3] = B[0:2]", [1, 2, 3])
    assert found.centre.tolist() == [1, 1, 2]


def test_vector_variables():
    found = certified("    with T.LetStmt(A[0:2] * T.Broadcast(T.float32(2), 2)) as v:\n        B[0:2] = v + v", [1, 5])
    assert found.centre.tolist() == [4, 20]


def test_lanes_of_a_reduction_are_reductions():
    body = """
    for i in range(4):
        with T.sblock("s"):
            k = T.axis.reduce(4, i)
            with T.init():
                B[0:2] = T.Broadcast(T.float32(0), 2)
            B[0:2] = B[0:2] + A[k * 2:k * 2 + 2]
"""
    found = certified(body, [2.0**24, 1, 1, 1, 1, 1, -(2.0**24), 1], count=2)
    assert found.permits(0, 0.0)
    assert found.permits(0, 2.0)
    assert (found.centre[1], found.bound[1]) == (4.0, 0.0)


def test_lanes_that_read_each_other_are_not_certified():
    body = """
    for i in range(4):
        with T.sblock("s"):
            k = T.axis.reduce(4, i)
            B[0:2] = B[0:2] + (A[k:k + 2] + B[1:3])
"""
    with pytest.raises(RefmlcError, match="that read each other is not certified"):
        certified(body, [1.0] * 5)


# ---------------------------------------------------------------------------------------------------------- bits


def bits_of(x):
    return struct.unpack("<i", struct.pack("<f", x))[0]


def test_the_bits_of_what_is_rounded_are_those_of_its_neighbours():
    found = certified('    B[0] = T.reinterpret("int32", A[0] * A[0])', [NEAR_ONE], out="int32")
    square = 1 + 2**-11
    assert found.permits(0, bits_of(square))
    assert found.permits(0, bits_of(square) + 1)
    assert not found.permits(0, bits_of(square) + 9)


def test_the_bits_of_zero_are_those_of_both_zeros():
    found = certified('    B[0] = T.reinterpret("int32", A[0] * T.float32(0))', [-3.0], out="int32")
    assert found.permits(0, 0)
    assert found.permits(0, -(2**31))
    assert not found.permits(0, 1)


def test_the_bits_of_nan_may_be_any():
    found = certified('    B[0] = T.reinterpret("int32", A[0])', [math.nan], out="int32")
    assert found.permits(0, 7)


def test_bits_back_to_a_number():
    found = certified('    B[0] = T.reinterpret("float32", T.reinterpret("int32", A[0] * A[0]))', [NEAR_ONE])
    assert found.permits(0, 1 + 2**-11)
    assert not found.permits(0, 1 + 2**-9)


def test_a_hint_changes_nothing():
    found = certified("    B[0] = T.Select(T.likely(A[0] > T.float32(1)), A[0], T.float32(0))", [2.0])
    assert (found.centre[0], found.bound[0]) == (2.0, 0.0)
