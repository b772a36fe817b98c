"""Elements looked up, against NumPy and PyTorch; indices outside; values worked by hand."""

import math

import numpy as np
import pytest
from needs import imported
from test_library_elements import f32, run

import refmlc
from refmlc.diag import RefmlcError

X = np.arange(24, dtype="int32").reshape(2, 3, 4)
F = X.astype("float32")
AT = np.array([[1, 0], [2, 1]], "int64")


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_take_as_numpy(axis):
    at = AT % X.shape[axis]
    assert np.array_equal(run(f"take(a, b, axis={axis})", X, at), np.take(X, at, axis))
    outside = np.array([-9, -1, 0, 5, 99], "int32")
    for mode in ("clip", "wrap"):
        wanted = np.take(X, outside, axis, mode=mode)
        assert np.array_equal(run(f'take(a, b, axis={axis}, mode="{mode}")', X, outside), wanted)


def test_take_of_vectors_and_of_one_number():
    assert run("take(a, b)", f32(5, 6, 7), AT).tolist() == [[6, 5], [7, 6]]
    assert run("take(a, R.prim_value(2), axis=0)", f32(5, 6, 7)).tolist() == 7
    assert run("take(a, b, axis=1)", X, AT[:0].copy()).shape == (2, 0, 2, 4)
    assert run("take(a, b)", f32(5, 6), np.array([1], "uint8")).tolist() == [6]


def test_take_outside():
    found = run('take(a, b, axis=0, mode="nan")', f32(5, 6), np.array([-1, 0, 1, 2], "int64")).tolist()
    assert found[1:3] == [5, 6]
    assert math.isnan(found[0])
    assert math.isnan(found[3])
    for index in (-1, 2):
        with pytest.raises(RefmlcError) as undefined:
            run("take(a, b, axis=0)", f32(5, 6), np.array([index], "int64"))
        assert undefined.value.code.id == "RM304"


@pytest.mark.parametrize(("axis", "shape"), [(0, (4, 3, 4)), (1, (1, 5, 2)), (-1, (2, 3, 0)), (2, (2, 3, 4))])
def test_gather_elements_as_pytorch(axis, shape):
    torch = imported("torch")
    at = np.random.default_rng(3).integers(0, X.shape[axis], shape)
    wanted = torch.gather(torch.tensor(X), axis, torch.tensor(at)).numpy()
    assert np.array_equal(run(f"gather_elements(a, b, axis={axis})", X, at), wanted)


def test_gather_nd_as_numpy():
    at = np.array([[[1, 2], [0, 0]], [[1, 1], [0, 2]], [[0, 1], [1, 0]]], "int64")
    assert np.array_equal(run("gather_nd(a, b)", X, at), X[at[..., 0], at[..., 1]])
    whole = np.array([[1, 2, 3], [0, 1, 2]], "int32")
    assert np.array_equal(run("gather_nd(a, b)", X, whole), X[whole[:, 0], whole[:, 1], whole[:, 2]])
    batch = np.array([[[2], [0], [1]], [[1], [1], [0]]], "int64")
    wanted = np.stack([X[row][batch[row, :, 0]] for row in range(2)])
    assert np.array_equal(run("gather_nd(a, b, batch_dims=1)", X, batch), wanted)


def test_index_tensor_as_numpy():
    rows, columns = np.array([[0], [1]], "int64"), np.array([2, 0, 1], "int32")
    assert np.array_equal(run("index_tensor(a, (b, c))", X, rows, columns), X[rows, columns])
    assert np.array_equal(run("index_tensor(a, (b,))", X, rows), X[rows])
    with pytest.raises(RefmlcError) as undefined:
        run("index_tensor(a, (b,))", X, np.array([-1], "int64"))
    assert undefined.value.code.id == "RM304"


def test_one_hot_by_hand():
    at = np.array([2, 0, 3, -1], "int64")
    call = "one_hot(a, R.prim_value(T.float32(5)), R.prim_value(T.float32(0)), depth=3, axis={})"
    rows = [[0, 0, 5], [5, 0, 0], [0, 0, 0], [0, 0, 0]]
    assert run(call.format(-1), at).tolist() == rows
    assert run(call.format(0), at).tolist() == np.transpose(rows).tolist()
    assert run("one_hot(a, R.prim_value(1), R.prim_value(0), 2)", np.array(1, "int32")).tolist() == [0, 1]


@pytest.mark.parametrize("right", [False, True])
def test_bucketize_as_pytorch(right):
    torch = imported("torch")
    values, bounds = f32(-1, 0, 0.5, 1, 2, 3, math.inf, -math.inf, -0.0), f32(0, 1, 1, 2)
    wanted = torch.bucketize(torch.tensor(values), torch.tensor(bounds), right=right).numpy()
    assert np.array_equal(run(f"bucketize(a, b, right={right})", values, bounds), wanted)
    found = run(f"bucketize(a, b, out_int32=True, right={right})", values, f32())
    assert found.dtype == np.int32
    assert not found.any()
    assert run(f"bucketize(a, b, right={right})", f32(math.nan), bounds).tolist() == [0]


def test_sums_over_what_broadcasting_repeats():
    assert np.array_equal(run("collapse_sum_to(a, R.shape([3, 1]))", X), X.sum((0, 2))[:, None])
    assert run("collapse_sum_to(a, R.shape([]))", X) == X.sum()
    assert np.array_equal(run("collapse_sum_to(a, R.shape([2, 3, 4]))", X), X)
    assert np.array_equal(run("collapse_sum_like(a, b)", X, np.zeros((1, 4), "int32")), X.sum((0, 1))[None])
    assert run("collapse_sum_to(a, R.shape([1, 3]))", np.zeros((0, 3), "int32")).tolist() == [[0, 0, 0]]


def test_sizes():
    assert run("size(a)", X).tolist() == 24
    assert run("size(a)", np.array(1, "int32")).tolist() == 1
    assert run("size(a)", np.zeros((3, 0), "int8")).tolist() == 0


def test_symbolic_shapes():
    text = """
@R.function
def main(a: R.Tensor(("n", "m"), "int32"), b: R.Tensor(("k",), "int64")) -> R.Tensor(("n", "k"), "int32"):
    r = R.take(a, b, axis=1)
    return r
"""
    for tier in ("interp", "native"):
        machine = refmlc.VirtualMachine(refmlc.build(refmlc.read(text), tier=tier))
        assert np.array_equal(machine["main"](X[0].copy(), AT[0].copy()).numpy(), X[0][:, AT[0]])


@pytest.mark.parametrize(
    ("call", "arrays", "code"),
    [
        ("take(a, b)", (X, AT), "RM105"),
        ("take(a, b, axis=0)", (X, F), "RM201"),
        ('take(a, b, axis=0, mode="raise")', (X, AT), "RM105"),
        ('take(a, b, axis=0, mode="nan")', (X, AT), "RM201"),
        ("gather_elements(a, b)", (X, AT), "RM202"),
        ("gather_elements(a, b)", (X, np.zeros((2, 3, 5), "int64")), "RM202"),
        ("gather_nd(a, b)", (X, np.zeros((2, 4), "int64")), "RM105"),
        ("gather_nd(a, b, batch_dims=1)", (X, np.zeros((3, 1), "int64")), "RM202"),
        ("index_tensor(a, (b, b, b, b))", (X, AT), "RM105"),
        ("index_tensor(a, (b, c))", (X, AT, np.zeros(3, "int64")), "RM202"),
        ("one_hot(a, R.prim_value(1), R.prim_value(T.float32(1)), depth=2)", (AT,), "RM201"),
        ("one_hot(a, R.prim_value(1), R.prim_value(0), depth=0)", (AT,), "RM105"),
        ("bucketize(a, b)", (F, AT), "RM105"),
        ("bucketize(a, b)", (F, AT[0].copy()), "RM201"),
        ("collapse_sum_to(a, R.shape([5, 4]))", (X,), "RM202"),
        ("collapse_sum_to(a, R.shape([1, 2, 3, 4]))", (X,), "RM202"),
    ],
)
def test_misfits(call, arrays, code):
    with pytest.raises(RefmlcError) as found:
        run(call, *arrays)
    assert found.value.code.id == code
