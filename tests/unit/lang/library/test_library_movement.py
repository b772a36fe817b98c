"""Movement of elements and products of matrices against NumPy."""

import numpy as np
import pytest
from test_library_elements import f32, run

import refmlc
from refmlc.diag import RefmlcError

X = np.arange(24, dtype="int32").reshape(2, 3, 4)
Y = np.arange(100, 116, dtype="int32").reshape(2, 2, 4)


@pytest.mark.parametrize(
    ("call", "wanted"),
    [
        ("permute_dims(a, axes=[2, 0, 1])", X.transpose(2, 0, 1)),
        ("permute_dims(a, axes=[-1, 0, 1])", X.transpose(2, 0, 1)),
        ("permute_dims(a)", X.transpose()),
        ("expand_dims(a, axis=[0, -1])", X[None, ..., None]),
        ("flatten(a)", X.ravel()),
        ("nn.batch_flatten(a)", X.reshape(2, 12)),
        ("tile(a, repeats=[2, 3])", np.tile(X, (2, 3))),
        ("tile(a, repeats=[2, 1, 1, 1])", np.tile(X, (2, 1, 1, 1))),
        ("repeat(a, repeats=2, axis=-1)", np.repeat(X, 2, -1)),
        ("repeat(a, repeats=2)", np.repeat(X, 2)),
        ("flip(a, axis=1)", X[:, ::-1]),
        ("concat((a, a), axis=None)", np.concatenate([X, X], axis=None)),
        ("stack((a, a), axis=-1)", np.stack([X, X], -1)),
    ],
)
def test_one_tensor_as_numpy(call, wanted):
    assert np.array_equal(run(call, X), wanted)


def test_several_tensors_as_numpy():
    assert np.array_equal(run("concat((a, b), axis=1)", X, Y), np.concatenate([X, Y], 1))
    assert np.array_equal(run("concat((a, b), axis=-2)", X, np.zeros((2, 0, 4), "int32")), X)
    assert np.array_equal(run("squeeze(a, axis=[0])", X[:1].copy()), X[0])
    assert run("squeeze(a)", np.ones((1, 3, 1), "int32")).shape == (3,)
    assert np.array_equal(
        run("broadcast_to(a, R.shape([3, 2, 4]))", X[:, 1, :].copy()), np.broadcast_to(X[:, 1], (3, 2, 4))
    )
    for indexing in ("ij", "xy"):
        found = run(f'meshgrid((a, b), indexing="{indexing}")', f32(1, 2), f32(3, 4, 5))
        for one, other in zip(found, np.meshgrid([1, 2], [3, 4, 5], indexing=indexing), strict=True):
            assert np.array_equal(one, other)


def test_parts():
    for one, other in zip(run("split(a, indices_or_sections=[1, 3], axis=2)", X), np.split(X, [1, 3], 2), strict=True):
        assert np.array_equal(one, other)
    assert [part.tolist() for part in run("split(a, indices_or_sections=3, axis=0)", f32(1, 2, 3, 4, 5))] == [
        [1, 2],
        [3, 4],
        [5],
    ]
    assert [part.shape for part in run("split(a, indices_or_sections=4, axis=0)", f32(1, 2, 3, 4, 5))] == [
        (2,),
        (2,),
        (1,),
        (0,),
    ]


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ((3, 4), (4, 5)),
        ((4,), (4, 5)),
        ((3, 4), (4,)),
        ((4,), (4,)),
        ((2, 1, 3, 4), (5, 4, 2)),
        ((3, 0), (0, 2)),
        ((0, 4), (4, 2)),
    ],
)
def test_products_as_numpy(a, b):
    rng = np.random.default_rng(1)
    x, y = rng.integers(-5, 5, a).astype("int32"), rng.integers(-5, 5, b).astype("int32")
    assert np.array_equal(run("matmul(a, b)", x, y), x @ y)
    assert np.array_equal(run('matmul(a, b, out_dtype="int32")', x.astype("int8"), y.astype("int8")), x @ y)


def test_products_are_added_in_the_dtype_of_the_result():
    ones, many = np.ones((1, 3), "float16"), np.array([[2048], [1], [1]], "float16")
    assert run("matmul(a, b)", ones, many) == 2048
    assert run('matmul(a, b, out_dtype="float32")', ones, many) == 2050
    assert run("outer(a, b)", f32(1, 2), f32(3, 4)).tolist() == [[3, 4], [6, 8]]


def test_symbolic_shapes():
    text = """
@R.function
def main(a: R.Tensor(("n", 3), "float32"), b: R.Tensor(("m", 3), "float32")) -> R.Tensor(("n + m", 3), "float32"):
    r = R.concat((a, b), axis=0)
    return r
"""
    machine = refmlc.VirtualMachine(refmlc.build(refmlc.read(text), tier="native"))
    x, y = np.ones((2, 3), "float32"), np.zeros((0, 3), "float32")
    assert machine["main"](x, x).shape == (4, 3)
    assert np.array_equal(machine["main"](x, y).numpy(), x)


@pytest.mark.parametrize(
    ("call", "arrays", "code"),
    [
        ("permute_dims(a, axes=[0, 0, 1])", (X,), "RM105"),
        ("squeeze(a, axis=[1])", (X,), "RM202"),
        ("broadcast_to(a, R.shape([5, 3, 4]))", (X,), "RM202"),
        ("concat((a, b), axis=0)", (X, Y), "RM202"),
        ("concat((a, b), axis=0)", (X, f32(1)), "RM201"),
        ("matmul(a, b)", (f32(1, 2), f32(1, 2, 3)), "RM202"),
        ("matmul(a, b)", (np.array(1, "float32"), f32(1)), "RM105"),
        ("flip(a, axis=3)", (X,), "RM105"),
    ],
)
def test_misfits(call, arrays, code):
    with pytest.raises(RefmlcError) as found:
        run(call, *arrays)
    assert found.value.code.id == code
