"""Slices against NumPy and PyTorch; ends outside, steps down, nothing left."""

import numpy as np
import pytest
from needs import imported
from test_library_elements import f32, run

import refmlc
from refmlc.diag import RefmlcError
from refmlc.lang.dtypes import INT64
from refmlc.lang.ir import tir
from refmlc.lang.ir.types import PrimType, TensorType, TupleType
from refmlc.lang.library import OPERATORS, type_of

X = np.arange(35, dtype="int32").reshape(5, 7)
ENDS = (-100, -8, -7, -3, -1, 0, 1, 4, 6, 7, 8, 100)


def constants(*values):
    return TupleType(tuple(PrimType(INT64, tir.IntImm(INT64, one)) for one in values))


@pytest.mark.parametrize("step", [1, 2, 3, -1, -2, 9, -9])
def test_slices_as_numpy(step):
    """Twelve slices in one module each: `ENDS` against each other in turn."""
    for begin, end in zip(ENDS, ENDS[5:] + ENDS[:5], strict=True):
        found = run(f"strided_slice(a, [1], [{begin}], [{end}], [{step}])", X)
        assert np.array_equal(found, X[:, begin:end:step]), (begin, end)


def test_several_axes():
    assert np.array_equal(run("strided_slice(a, (0, -1), (1, 5), (4, 0), (2, -2))", X), X[1:4:2, 5:0:-2])
    assert np.array_equal(run("strided_slice(a, axes=[1], begin=[2], end=[9])", X), X[:, 2:])
    assert np.array_equal(run("strided_slice(a, (), (), ())", X), X)
    assert np.array_equal(run("strided_slice(a, [1], [0], [9223372036854775807], [2])", X), X[:, ::2])


def test_assumed_bounds_are_taken_as_they_stand():
    assert np.array_equal(run("strided_slice(a, [1], [1], [6], [2], assume_inbound=True)", X), X[:, 1:6:2])
    with pytest.raises(RefmlcError) as found:
        run("strided_slice(a, [1], [1], [9], assume_inbound=True)", X)
    assert found.value.code.id == "RM304"


def test_the_type_on_symbolic_shapes():
    n = tir.Var("n", INT64)
    given = TensorType((n,), refmlc.lang.dtypes.FLOAT32)

    def extent(begin, end, step=1):
        args = [given, constants(0), constants(begin), constants(end), constants(step)]
        return type_of(OPERATORS["strided_slice"], args, {}).shape[0].script().splitlines()[-1]

    assert extent(0, 2**63 - 1) == "n"
    assert "n" in extent(1, 2**63 - 1)
    text = """
@R.function
def main(a: R.Tensor(("n",), "int32")) -> R.Tensor("int32", ndim=1):
    n = T.int64()
    r = R.strided_slice(a, [0], [2], [n - 1], [1])
    return r
"""
    machine = refmlc.VirtualMachine(refmlc.build(refmlc.read(text)))
    for count in (1, 2, 3, 6):
        assert machine["main"](np.arange(count, dtype="int32")).numpy().tolist() == list(range(count))[2 : count - 1]


def test_a_part_replaced_as_pytorch():
    torch = imported("torch")
    for start, end, step in ((0, 7, 1), (1, 6, 2), (-3, 100, 1), (2, 7, 3), (4, 4, 1)):
        count = len(range(*slice(start, end, step).indices(7)))
        new = -np.arange(5 * count, dtype="int32").reshape(5, count)
        wanted = torch.slice_scatter(torch.tensor(X), torch.tensor(new), 1, start, end, step).numpy()
        prims = ", ".join(f"R.prim_value({one})" for one in (start, end, step))
        assert np.array_equal(run(f"slice_scatter(a, b, {prims}, axis=1)", X, new), wanted)


def test_rows_turned_around_in_part():
    lengths = np.array([0, 1, 3, 7, 99], "int64")
    wanted = X.copy()
    for row, length in enumerate(lengths):
        wanted[row, : min(length, 7)] = X[row, : min(length, 7)][::-1]
    assert np.array_equal(run("reverse_sequence(a, b, seq_axis=1, batch_axis=0)", X, lengths), wanted)
    columns = np.array([-1, 2, 5, 0, 0, 0, 3], "int32")
    wanted = X.copy()
    for column, length in enumerate(columns):
        wanted[: max(length, 0), column] = X[: max(length, 0), column][::-1]
    assert np.array_equal(run("reverse_sequence(a, b, 0, 1)", X, columns), wanted)


@pytest.mark.parametrize(
    ("call", "arrays", "code"),
    [
        ("strided_slice(a, [1], [0], [3], [0])", (X,), "RM105"),
        ("strided_slice(a, [2], [0], [3])", (X,), "RM105"),
        ("strided_slice(a, [1, 1], [0, 0], [3, 3])", (X,), "RM105"),
        ("strided_slice(a, [1], [0, 1], [3])", (X,), "RM105"),
        ("strided_slice(a, a, [0], [3])", (X,), "RM201"),
        ("strided_slice(a, [0], [R.prim_value(T.float32(1))], [3])", (X,), "RM201"),
        ("slice_scatter(a, b, R.prim_value(0), R.prim_value(3), R.prim_value(0))", (X, X), "RM105"),
        ("slice_scatter(a, b, R.prim_value(0), R.prim_value(3), R.prim_value(1))", (X, X), "RM202"),
        ("slice_scatter(a, b, R.prim_value(0), R.prim_value(5), R.prim_value(1))", (X, f32(1)), "RM201"),
        ("reverse_sequence(a, b, 1, 1)", (X, np.zeros(7, "int32")), "RM105"),
        ("reverse_sequence(a, b)", (X, f32(1, 2, 3, 4, 5)), "RM201"),
        ("reverse_sequence(a, b)", (X, np.zeros(7, "int32")), "RM202"),
    ],
)
def test_misfits(call, arrays, code):
    with pytest.raises(RefmlcError) as found:
        run(call, *arrays)
    assert found.value.code.id == code
