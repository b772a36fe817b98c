"""Elements written to places, against NumPy and PyTorch; several to one place worked by hand; layouts; letters."""

import numpy as np
import pytest
from needs import imported
from test_library_elements import f32, run

import refmlc
from refmlc.diag import RefmlcError

RANDOM = np.random.default_rng(11)
X = np.arange(12, dtype="int32").reshape(3, 4)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_scatter_elements_as_pytorch(axis):
    torch = imported("torch")
    at = np.stack([RANDOM.permutation(X.shape[axis])[:2] for _ in range(2)], 1 if axis == 0 else 0).astype("int64")
    new = RANDOM.integers(-9, 9, at.shape).astype("int32")
    wanted = torch.scatter(torch.tensor(X), axis, torch.tensor(at), torch.tensor(new)).numpy()
    assert np.array_equal(run(f"scatter_elements(a, b, c, axis={axis})", X, at, new), wanted)
    for ours, theirs in (("add", "sum"), ("mul", "prod"), ("max", "amax"), ("min", "amin")):
        wanted = torch.tensor(X).scatter_reduce(axis, torch.tensor(at), torch.tensor(new), theirs).numpy()
        assert np.array_equal(run(f'scatter_elements(a, b, c, axis={axis}, reduction="{ours}")', X, at, new), wanted)


def test_several_to_one_place():
    data, at, new = f32(1, 2, 3), np.array([1, 1, -1, 1], "int64"), f32(10, 20, 30, 40)
    by = {
        "update": [1, 40, 30], "add": [1, 72, 33], "mul": [1, 16000, 90], "max": [1, 40, 30], "min": [1, 2, 3],
        "mean": [1, (((2 + 10) / 2 + 20) / 2 + 40) / 2, 16.5],
    }  # fmt: skip
    for reduction, wanted in by.items():
        assert run(f'scatter_elements(a, b, c, reduction="{reduction}")', data, at, new).tolist() == wanted
    spots = np.array([[1], [1], [2], [1]], "int64")
    for reduction in ("update", "add", "mul", "max", "min"):
        assert run(f'scatter_nd(a, b, c, reduction="{reduction}")', data, spots, new).tolist() == by[reduction]
    assert run("scatter_elements(a, b, c)", f32(1, 2), np.zeros(0, "int64"), f32()).tolist() == [1, 2]


def test_scatter_nd_as_numpy():
    at, new = np.array([[2], [0]], "int32"), -X[:2].copy()
    wanted = X.copy()
    wanted[at[:, 0]] = new
    assert np.array_equal(run("scatter_nd(a, b, c)", X, at, new), wanted)
    at = np.array([[[0, 1]], [[2, 3]]], "int64")
    wanted = X.copy()
    wanted[[0, 2], [1, 3]] = [70, 80]
    assert np.array_equal(run("scatter_nd(a, b, c)", X, at, np.array([[70], [80]], "int32")), wanted)


def test_index_put_as_numpy():
    text = """
@R.function
def main(a: R.Tensor((3, 4), "int32"), i: R.Tensor((2, 1), "int64"), j: R.Tensor((3,), "int64"),
         v: R.Tensor((2, 3), "int32"), w: R.Tensor((1,), "int32")):
    p = R.index_put(a, (i, j), v, accumulate=False)
    q = R.index_put(a, (i, j), w, accumulate=True)
    r = R.tuple(p, q)
    return r
"""
    rows, columns = np.array([[0], [-1]], "int64"), np.array([1, 3, 1], "int64")
    values = np.array([[7, 8, 9], [10, 11, 12]], "int32")
    machine = refmlc.VirtualMachine(refmlc.build(refmlc.read(text)))
    put, added = (one.numpy() for one in machine["main"](X, rows, columns, values, np.array([5], "int32")))
    wanted, total = X.copy(), X.copy()
    wanted[rows, columns] = values
    np.add.at(total, (rows, columns), 5)
    assert np.array_equal(put, wanted)
    assert np.array_equal(added, total)


@pytest.mark.parametrize(
    ("call", "arrays"),
    [
        ("scatter_elements(a, b, c)", (f32(1), np.array([1], "int64"), f32(2))),
        ("scatter_elements(a, b, c)", (f32(1), np.array([-2], "int64"), f32(2))),
        ("scatter_nd(a, b, c)", (f32(1), np.array([[-1]], "int64"), f32(2))),
        ("index_put(a, (b,), c)", (f32(1), np.array([1], "int64"), f32(2))),
    ],
)
def test_places_outside(call, arrays):
    with pytest.raises(RefmlcError) as undefined:
        run(call, *arrays)
    assert undefined.value.code.id == "RM304"


def test_layouts_by_numpy():
    assert np.array_equal(run("layout_transform(a, index_map=lambda i, j: (j, i))", X), X.T)
    found = run("layout_transform(a, index_map=lambda i, j: (j // 2, i, j % 2))", X)
    assert np.array_equal(found, X.reshape(3, 2, 2).transpose(1, 0, 2))
    found = run("layout_transform(a, index_map=lambda i: (i // 4, i % 4), pad_value=9)", np.arange(6, dtype="int32"))
    assert found.tolist() == [[0, 1, 2, 3], [4, 5, 9, 9]]
    assert run("layout_transform(a, index_map=lambda i, j: (i * 4 + j,))", X).tolist() == list(range(12))


@pytest.mark.parametrize(
    ("text", "shapes"),
    [
        ("ij,jk->ik", [(2, 3), (3, 4)]),
        ("ij,jk", [(2, 3), (3, 4)]),
        ("ba,cb", [(2, 3), (4, 2)]),
        ("ii->i", [(3, 3)]),
        ("ii", [(3, 3)]),
        ("ij->", [(2, 3)]),
        ("i,j->ji", [(2,), (3,)]),
        ("bij,bjk->bik", [(2, 2, 3), (2, 3, 1)]),
        ("...ij,...jk->...ik", [(4, 2, 3), (3, 2)]),
        ("...i->i...", [(2, 3, 4)]),
        ("i...,...i", [(2, 3), (3, 2)]),
        ("ij,jk->ik", [(2, 0), (0, 3)]),
    ],
)
def test_letters_as_numpy(text, shapes):
    arrays = [RANDOM.integers(-4, 5, shape).astype("int32") for shape in shapes]
    call = f'einsum(({", ".join("abc"[: len(arrays)])},), subscripts="{text}")'
    assert np.array_equal(run(call, *arrays), np.einsum(text, *arrays))


@pytest.mark.parametrize(
    ("call", "arrays", "code"),
    [
        ("scatter_elements(a, a, a)", (f32(1),), "RM201"),
        ('scatter_elements(a, b, a, reduction="sum")', (f32(1), np.zeros(1, "int64")), "RM105"),
        ("scatter_elements(a, b, a)", (f32(1), np.zeros((1, 1), "int64")), "RM202"),
        ("scatter_elements(a, b, c)", (f32(1), np.zeros(2, "int64"), f32(1)), "RM202"),
        ("scatter_elements(a, b, c)", (f32(1), np.zeros(1, "int64"), X), "RM201"),
        ('scatter_nd(a, b, a, reduction="mean")', (X, np.zeros((3, 1), "int64")), "RM105"),
        ("scatter_nd(a, b, c)", (X, np.zeros((1, 3), "int64"), X), "RM105"),
        ("scatter_nd(a, b, c)", (X, np.zeros((1, 1), "int64"), np.zeros((1, 3), "int32")), "RM202"),
        ("scatter_nd(a, b, c)", (X, np.zeros((1, 1), "int64"), np.zeros(4, "int32")), "RM202"),
        ("index_put(a, (b,), c)", (X, np.zeros(1, "int64"), np.zeros(1, "int32")), "RM105"),
        ("index_put(a, (b,), c)", (f32(1), np.zeros(1, "int64"), f32(1, 2)), "RM202"),
        ("index_put(a, (b,), c)", (f32(1), np.zeros(1, "int64"), np.ones((1, 1), "float32")), "RM202"),
        ("layout_transform(a, index_map=lambda i: (i,))", (X,), "RM105"),
        ('einsum((a, a), subscripts="ij->ij")', (X,), "RM105"),
        ('einsum((a,), subscripts="ijk->ij")', (X,), "RM105"),
        ('einsum((a,), subscripts="i1->i")', (X,), "RM105"),
        ('einsum((a,), subscripts="ij->ik")', (X,), "RM105"),
        ('einsum((a,), subscripts="ij->ii")', (X,), "RM105"),
        ('einsum((a, a), subscripts="ij,jk->ik")', (X,), "RM202"),
        ('einsum((a, b), subscripts="ij,jk->ik")', (X, f32(1)), "RM201"),
    ],
)
def test_misfits(call, arrays, code):
    with pytest.raises(RefmlcError) as found:
        run(call, *arrays)
    assert found.value.code.id == code


def test_a_map_that_is_not_supported():
    with pytest.raises(RefmlcError) as found:
        run("layout_transform(a, index_map=lambda i, j: (i // j, i))", X)
    assert found.value.code.id == "RM501"
