"""An extreme with its index: of equal terms any one may win where ties are free, and the first one else. By hand."""

import numpy as np
import pytest

import refmlc
from refmlc.lang.dtypes import FLOAT32, INT32
from refmlc.observe.bounds import Freedom, certify
from refmlc.run.memory.tensor import Tensor

ARGMAX = """
@T.prim_func
def main(A: T.Buffer((4,), "float32"), Z: T.Buffer((4,), "int32"), I: T.Buffer((1,), "int32"),
         V: T.Buffer((1,), "float32")):
    for k in range(4):
        with T.block("B"):
            v = T.axis.reduce(4, k)
            with T.init():
                I[0] = -1
                V[0] = T.float32(START)
            v_i: T.let[T.int32] = T.Select(V[0] OP A[v], I[0], Z[v])
            v_v: T.let[T.float32] = T.Select(V[0] OP A[v], V[0], A[v])
            I[0] = v_i
            V[0] = v_v
"""


def certified(values, *, op=">=", start=-100, ties=True, text=ARGMAX):
    module = refmlc.read(text.replace("OP", op).replace("START", str(start)))
    a = Tensor.from_numpy(np.array(values, np.float32))
    z = Tensor.from_numpy(np.array([10, 11, 12, 13], np.int32))
    arguments = [a, z, Tensor.empty((1,), INT32), Tensor.empty((1,), FLOAT32)]
    index, extreme = certify(module, "main", arguments, freedom=Freedom(ties=ties)).outputs
    return {number for number in range(-1, 20) if index.permits(0, number)}, extreme


@pytest.mark.parametrize(
    ("values", "op", "start", "indices", "extreme"),
    [
        ([1, 3, 3, 2], ">=", -100, {11, 12}, 3),
        ([1, 3, 3, 2], ">", -100, {11, 12}, 3),
        ([1, 3, 3, 1], "<=", 100, {10, 13}, 1),
        ([1, 3, 2, 0], ">=", -100, {11}, 3),
        ([1, 3, 3, 2], ">=", 3, {-1, 11, 12}, 3),
        ([0, -0.0, -1, -1], ">=", -100, {10, 11}, 0),
        ([1, np.inf, np.inf, 2], ">=", -100, {11, 12}, np.inf),
    ],
)
def test_any_of_the_equal_terms(values, op, start, indices, extreme):
    permitted, value = certified(values, op=op, start=start)
    assert permitted == indices
    assert value.permits(0, extreme)
    assert not value.permits(0, extreme - 1 if np.isfinite(extreme) else 3)


def test_without_the_freedom_it_is_the_one_of_the_written_order():
    assert certified([1, 3, 3, 2], op=">=", ties=False)[0] == {11}
    assert certified([1, 3, 3, 2], op=">", ties=False)[0] == {12}  # the element stays only where it is greater


def test_with_a_nan_the_order_decides():
    permitted, value = certified([1, np.nan, 3, 2])
    assert permitted == {-1, 10, 11, 12, 13}
    assert value.permits(0, np.nan)
    assert value.permits(0, 2.0)


def test_a_condition_that_breaks_ties_itself_is_free_of_the_order():
    text = ARGMAX.replace("V[0] OP A[v]", "V[0] > A[v] or (V[0] == A[v] and I[0] < Z[v])")
    assert certified([1, 3, 3, 2], text=text)[0] == {11}


def test_stores_that_disagree_are_not_a_pair():
    text = ARGMAX.replace("T.Select(V[0] OP A[v], V[0]", "T.Select(V[0] > A[v], V[0]")
    assert certified([1, 3, 3, 2], op=">=", text=text)[0] == {11}
