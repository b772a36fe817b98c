"""Orders of elements and running sums against NumPy and PyTorch; ties, NaN, signs of zero worked by hand."""

import math

import numpy as np
import pytest
from needs import imported
from test_library_elements import f32, run

import refmlc
from refmlc.diag import RefmlcError

inf, nan = math.inf, math.nan
RANDOM = np.random.default_rng(5)
TIES = RANDOM.integers(0, 4, (3, 11)).astype("int32")
EDGES = f32(1, nan, -0.0, inf, 0.0, -inf, 1, nan, -0.0)


@pytest.mark.parametrize("axis", [0, 1, -2])
def test_ascending_as_numpy(axis):
    assert np.array_equal(run(f"sort(a, axis={axis})", TIES), np.sort(TIES, axis))
    found = run(f'argsort(a, axis={axis}, dtype="int64")', TIES)
    assert np.array_equal(found, np.argsort(TIES, axis, kind="stable"))


@pytest.mark.parametrize("descending", [False, True])
def test_equal_ones_keep_their_order_as_in_pytorch(descending):
    torch = imported("torch")
    for keys in (TIES, TIES.astype("float16"), np.array([[-128, 127, 0, -128, 127]], "int8")):
        values, places = torch.sort(torch.tensor(keys), dim=-1, descending=descending, stable=True)
        assert np.array_equal(run(f"sort(a, descending={descending})", keys), values.numpy())
        found = run(f"argsort(a, descending={descending})", keys)
        assert found.dtype == np.int32
        assert np.array_equal(found, places.numpy())


@pytest.mark.parametrize("count", [0, 1, 2, 3, 4, 5, 7, 8, 9, 31])
def test_every_length(count):
    keys = RANDOM.integers(0, 9, count).astype("float32")
    assert np.array_equal(run("sort(a)", keys), np.sort(keys))
    assert np.array_equal(run("argsort(a, descending=True)", keys), np.argsort(-keys, kind="stable"))


def test_nan_is_above_every_number_and_zeros_are_equal():
    assert run("argsort(a)", EDGES).tolist() == [5, 2, 4, 8, 0, 6, 3, 1, 7]
    assert run("argsort(a, descending=True)", EDGES).tolist() == [1, 7, 3, 0, 6, 2, 4, 8, 5]
    assert np.signbit(run("sort(a)", EDGES)[1:4]).tolist() == [True, False, True]
    values, places = run("topk(a, k=3)", EDGES)
    assert np.array_equal(values, f32(nan, nan, inf), equal_nan=True)
    assert places.tolist() == [1, 7, 3]


def test_the_first_ones():
    keys = np.array([[2, 0, 1, 2], [5, 5, 5, 5]], "int32")
    values, places = run("topk(a, k=2, axis=1)", keys)
    assert values.tolist() == [[2, 2], [5, 5]]
    assert places.tolist() == [[0, 3], [0, 1]]
    assert run('topk(a, k=2, ret_type="indices", largest=False, dtype="int64")', keys).tolist() == [[1, 2], [0, 1]]
    assert run('topk(a, k=1, axis=0, ret_type="values")', keys).tolist() == [[5, 5, 5, 5]]
    assert run('topk(a, k=0, ret_type="values")', keys).tolist() == [[2, 2, 1, 0], [5, 5, 5, 5]]


@pytest.mark.parametrize("keepdims", [False, True])
def test_medians_as_pytorch(keepdims):
    torch = imported("torch")
    for keys in (TIES.astype("float32"), np.arange(8, dtype="float32").reshape(2, 4)[:, ::-1].copy()):
        for axis in (0, 1, -1):
            value, place = run(f"median(a, axis={axis}, keepdims={keepdims})", keys)
            wanted = torch.median(torch.tensor(keys), axis, keepdims)
            assert np.array_equal(value, wanted.values.numpy())
            assert np.array_equal(np.take_along_axis(keys, place if keepdims else np.expand_dims(place, axis), axis),
                                  value if keepdims else np.expand_dims(value, axis))  # fmt: skip
        found = run(f"median(a, keepdims={keepdims})", keys)
        assert found.shape == ((1, 1) if keepdims else ())
        assert found.item() == torch.median(torch.tensor(keys)).item()
    assert run("median(a, axis=[0])", f32(3, 1, 1, 7))[1].tolist() == 2


@pytest.mark.parametrize("name", ["cumsum", "cumprod"])
def test_running_as_numpy(name):
    x = RANDOM.integers(-3, 4, (2, 3, 4)).astype("int32")
    for axis in (None, 0, 1, -1):
        assert np.array_equal(run(f"{name}(a, axis={axis})", x), getattr(np, name)(x, axis))
    many = RANDOM.uniform(-1, 1, 50).astype("float32")
    assert np.array_equal(run(f"{name}(a)", many), getattr(np, name)(many))
    assert run(f"{name}(a, axis=1)", np.zeros((2, 0), "int32")).shape == (2, 0)
    assert run(f"{name}(a, axis=0)", np.zeros((0, 2), "int32")).shape == (0, 2)


def test_running_by_hand():
    assert run("cumsum(a, exclusive=True)", f32(1, 2, 3)).tolist() == [0, 1, 3]
    assert run("cumprod(a, exclusive=True)", f32(2, 3, 4)).tolist() == [1, 2, 6]
    assert run('cumsum(a, dtype="int32")', np.array([True, False, True])).tolist() == [1, 1, 2]
    assert run("cumsum(a)", np.array([100, 100], "int8")).tolist() == [100, -56]
    assert np.signbit(run("cumsum(a)", f32(-0.0, -0.0, 0.0))).tolist() == [True, True, False]
    assert run("cumsum(a)", np.array([2048, 1, 1], "float16")).tolist() == [2048, 2048, 2048]
    assert np.array_equal(run("cumsum(a)", f32(inf, 1, -inf, 2)), f32(inf, inf, nan, nan), equal_nan=True)


def test_samples_by_hand():
    rows = np.array([[0.25, 0.25, 0.5], [0, 1, 0]], "float32")
    numbers = f32(0, 0.24, 0.25, 0.75, 0.999, 1, 0).reshape(-1, 1)
    which = np.array([[0], [0], [0], [0], [0], [0], [1]], "int64")
    found = run("multinomial_from_uniform(a, b, c)", rows, numbers, which)
    assert found.tolist() == [[0], [0], [1], [2], [2], [2], [1]]
    assert found.dtype == np.int64


@pytest.mark.parametrize("call", ["sort(a, axis=0)", "argsort(a)", "cumsum(a, axis=1)"])
def test_both_tiers_on_symbolic_shapes(call):
    text = f"""
@R.function
def main(a: R.Tensor(("n", "m"), "float32")):
    r = R.{call}
    return r
"""
    interp, native = (
        refmlc.VirtualMachine(refmlc.build(refmlc.read(text), tier=tier)) for tier in ("interp", "native")
    )
    for shape in ((3, 5), (1, 9), (0, 2)):
        x = RANDOM.integers(0, 5, shape).astype("float32")
        assert np.array_equal(interp["main"](x).numpy(), native["main"](x).numpy())


@pytest.mark.parametrize(
    ("call", "arrays", "code"),
    [
        ("sort(a, axis=2)", (TIES,), "RM105"),
        ('topk(a, ret_type="all")', (TIES,), "RM105"),
        ("median(a, axis=[0, 1])", (TIES,), "RM105"),
        ("cumsum(a, axis=2)", (TIES,), "RM105"),
        ("cumsum(a)", (np.array([True]),), "RM201"),
        ("multinomial_from_uniform(a, b, c)", (f32(1), TIES, TIES), "RM105"),
        ("multinomial_from_uniform(a, b, c)", (TIES, TIES, TIES), "RM201"),
        ("multinomial_from_uniform(a, a, b)", (TIES.astype("float32"), TIES), "RM202"),
    ],
)
def test_misfits(call, arrays, code):
    with pytest.raises(RefmlcError) as found:
        run(call, *arrays)
    assert found.value.code.id == code
