"""Reductions and normalisations against NumPy and PyTorch; edge values worked by hand."""

import math

import numpy as np
import pytest
from needs import imported
from test_library_elements import f32, run

import refmlc
from refmlc.diag import RefmlcError

inf, nan = math.inf, math.nan
X = np.random.default_rng(3).normal(size=(2, 3, 4)).astype("float32")
I = np.random.default_rng(4).integers(-9, 9, (2, 3, 4)).astype("int32")  # noqa: E741 - integers
AXES = [("None", None), ("[1]", 1), ("[-1]", -1), ("[0, 2]", (0, 2))]


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize(("text", "axis"), AXES)
@pytest.mark.parametrize("name", ["sum", "prod", "max", "min"])
def test_integers_as_numpy(name, text, axis, keepdims):
    found = run(f"{name}(a, axis={text}, keepdims={keepdims})", I % 3 + 1)
    assert np.array_equal(found, getattr(np, name)(I % 3 + 1, axis=axis, keepdims=keepdims))


@pytest.mark.parametrize(("text", "axis"), AXES)
@pytest.mark.parametrize(("name", "peer"), [("sum", np.sum), ("mean", np.mean), ("variance", np.var), ("std", np.std)])
def test_floats_as_numpy(name, peer, text, axis):
    found = run(f"{name}(a, axis={text})", X)
    assert found.dtype == np.float32
    assert np.allclose(found, peer(X.astype("float64"), axis=axis), rtol=1e-5, atol=1e-6)


def test_places_as_numpy():
    tied = np.array([[1, 3, 3], [2, 2, 0]], "int8")
    for name in ("argmax", "argmin"):
        assert run(f"{name}(a, axis=1)", tied).tolist() == getattr(np, name)(tied, axis=1).tolist()
        assert run(f"{name}(a)", X) == getattr(np, name)(X)
        assert (
            run(f"{name}(a, axis=-2, keepdims=True)", X).tolist()
            == getattr(np, name)(X, axis=-2, keepdims=True).tolist()
        )


def test_ends_of_the_range_by_hand():
    assert run("max(a, axis=[0])", f32(-inf, -inf)) == -inf
    assert run("min(a, axis=[0])", f32(inf, inf)) == inf
    assert run("argmax(a, axis=0)", f32(-inf, -inf)) == 0
    assert run("argmin(a, axis=0)", np.array([127, 127], "int8")) == 0
    assert run("argmax(a, axis=0)", np.array([-128, -128], "int8")) == 0


def test_nothing_to_combine():
    empty = np.zeros((2, 0), "float32")
    assert run("sum(a, axis=[1])", empty).tolist() == [0, 0]
    assert run("prod(a, axis=[1])", empty).tolist() == [1, 1]
    assert run("max(a, axis=[1])", empty).tolist() == [-inf, -inf]
    assert run("max(a, axis=[1])", np.zeros((2, 0), "int8")).tolist() == [-128, -128]
    assert run("mean(a)", np.array([7, -8, 0], "int32")) == 0
    assert run("sum(a)", np.array(3, "float32")) == 3


@pytest.mark.parametrize("tier", ["interp", "native"])
@pytest.mark.parametrize("name", ["sum", "prod", "max", "argmax"])
def test_a_symbolic_extent_may_be_nothing(name, tier):
    text = f'@R.function\ndef main(a: R.Tensor((2, "n"), "float32")):\n    r = R.{name}(a, axis=[1])\n    return r\n'
    text = text.replace("[1]", "1") if name == "argmax" else text
    machine = refmlc.VirtualMachine(refmlc.build(refmlc.read(text), tier=tier))
    empty, one = machine["main"](np.zeros((2, 0), "float32")), machine["main"](f32([3], [4]))
    last = 2**63 - 1
    assert empty.numpy().tolist() == [{"sum": 0, "prod": 1, "max": -inf, "argmax": last}[name]] * 2
    assert one.numpy().tolist() == ([0, 0] if name == "argmax" else [3, 4])


def test_terms_are_added_in_their_dtype_and_order():
    terms = np.array([2048, 1, 1], "float16")
    assert run("sum(a)", terms) == 2048
    assert run("sum(a)", terms[::-1].copy()) == 2050


@pytest.mark.parametrize("axis", [-1, 1, 0])
def test_softmax_as_pytorch(axis):
    torch = imported("torch")
    wanted = torch.softmax(torch.tensor(X * 30), axis)
    assert np.allclose(run(f"nn.softmax(a, axis={axis})", X * 30), wanted.numpy(), rtol=1e-5, atol=1e-7)
    wanted = torch.log_softmax(torch.tensor(X * 30), axis)
    assert np.allclose(run(f"nn.log_softmax(a, axis={axis})", X * 30), wanted.numpy(), rtol=1e-5, atol=1e-5)


def test_softmax_by_hand():
    assert run("nn.softmax(a)", f32(0, 0)).tolist() == [0.5, 0.5]
    assert run("nn.softmax(a)", f32(-inf, 3)).tolist() == [0, 1]
    assert np.isnan(run("nn.softmax(a)", f32(-inf, -inf))).all()
    assert np.isnan(run("nn.softmax(a)", f32(inf, 0))).any()


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_norms_as_pytorch(dtype):
    torch = imported("torch")
    functional, near = (
        torch.nn.functional,
        {"rtol": 2e-5, "atol": 2e-5} if dtype == "float32" else {"rtol": 2e-2, "atol": 2e-3},
    )
    x = np.random.default_rng(5).normal(size=(2, 4, 3, 3)).astype(dtype)
    gamma, beta = np.linspace(0.5, 2, 4).astype(dtype), np.linspace(-1, 1, 4).astype(dtype)
    wide = [torch.tensor(one).to(torch.float32) for one in (x, gamma, beta)]
    rest = "axes=[2, 3], epsilon=1e-5"
    found = run(f"nn.group_norm(a, b, c, num_groups=2, channel_axis=1, {rest})", x, gamma, beta)
    assert found.dtype == dtype
    assert np.allclose(found, functional.group_norm(wide[0], 2, wide[1], wide[2]).numpy(), **near)
    found = run(f"nn.instance_norm(a, b, c, channel_axis=1, {rest})", x, gamma, beta)
    assert np.allclose(found, functional.instance_norm(wide[0], weight=wide[1], bias=wide[2]).numpy(), **near)
    row, (g, b) = x.reshape(6, 12)[:, :4].copy(), (gamma, beta)
    found = run("nn.layer_norm(a, b, c, axes=[-1], epsilon=1e-5)", row, g, b)
    assert np.allclose(found, functional.layer_norm(torch.tensor(row).float(), (4,), wide[1], wide[2]).numpy(), **near)
    found = run("nn.rms_norm(a, b, axes=[-1], epsilon=1e-5)", row, g)
    assert np.allclose(found, functional.rms_norm(torch.tensor(row).float(), (4,), wide[1], 1e-5).numpy(), **near)


@pytest.mark.parametrize(
    ("call", "arrays", "code"),
    [
        ("sum(a, axis=[3])", (X,), "RM105"),
        ("sum(a, axis=[1, -2])", (X,), "RM105"),
        ("nn.softmax(a)", (I,), "RM201"),
        ("nn.group_norm(a, b, b, num_groups=2, channel_axis=1, axes=[2])", (X, f32(1, 1, 1)), "RM105"),
        ("nn.layer_norm(a, b, c, axes=[-1])", (f32(1, 2, 3), f32(1, 1, 1, 1), f32(1, 1, 1)), "RM202"),
        ("nn.layer_norm(a, b, c, axes=[-1])", (f32(1, 2, 3), f32(1, 1, 1), f32(1, 1)), "RM202"),
        ("nn.rms_norm(a, b, axes=[-1])", (f32(1, 2, 3), f32(1, 1, 1, 1)), "RM202"),
        ("nn.rms_norm(a, b, axes=[-1])", (f32(1, 2, 3), f32(1, 1, 1).astype("float64")), "RM201"),
        (
            "nn.group_norm(a, b, c, num_groups=3, channel_axis=0, axes=[])",
            (f32(1, 2, 3), f32(1, 1), f32(1, 1, 1)),
            "RM202",
        ),
        ("nn.instance_norm(a, b, c, channel_axis=0, axes=[])", (f32(1, 2, 3), f32(1, 1, 1), f32(1, 1, 1, 1)), "RM202"),
    ],
)
def test_misfits(call, arrays, code):
    with pytest.raises(RefmlcError) as found:
        run(call, *arrays)
    assert found.value.code.id == code
