"""Losses and gradients against PyTorch and its derivatives; edge values worked by hand."""

import math

import numpy as np
import pytest
from needs import imported
from test_library_elements import f32
from test_library_images import refused
from test_library_network import normal, run

torch = imported("torch")
F = torch.nn.functional
nan = math.nan
ADDRESSED = np.array([[1, 0, 3], [2, 2, 0]], "int64")


def of_class(reduction="mean", ignore_index=2):
    return f"reduction='{reduction}', ignore_index={ignore_index}"


# ---------------------------------------------------------------------------------------------------------- losses


@pytest.mark.parametrize("ignore_index", [-100, 2])
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("weighed", [False, True])
def test_nll_loss_as_pytorch(reduction, ignore_index, weighed):
    x, w = normal(2, 4, 3), np.abs(normal(4, seed=1))
    weight = torch.tensor(w) if weighed else None
    attrs = {"reduction": reduction, "ignore_index": ignore_index}
    wanted = F.nll_loss(torch.tensor(x), torch.tensor(ADDRESSED), weight, **attrs).numpy()
    found = run(f"nn.nll_loss(a, b{', c' * weighed}, {of_class(**attrs)})", x, ADDRESSED, *([w] * weighed))
    assert np.allclose(found, wanted, rtol=1e-6)


def test_a_target_that_is_ignored_is_no_index():
    x, targets = f32([1, 2], [4, 8]), np.array([-100, 1], "int32")
    assert run("nn.nll_loss(a, b)", x, targets) == -8
    assert run("nn.nll_loss(a, b, c, reduction='none')", x, targets, f32(2, 3)).tolist() == [0, -24]
    assert np.isnan(run("nn.nll_loss(a, b)", x, np.array([-100, -100], "int32")))
    assert run("nn.nll_loss(a, b)", f32(1, 2), np.array(1, "int64")) == -2
    refused("RM304", "out of bounds", "nn.nll_loss(a, b)", x, np.array([0, 2], "int32"))


def test_cross_entropy_by_hand():
    a, b = f32([1, 2], [3, 4], [5, 6]), f32([1, 0], [0, 2], [1, 1])
    assert run("nn.cross_entropy_with_logits(a, b)", a, b) == np.float32(-20) / np.float32(3)
    assert run("nn.cross_entropy_with_logits(a, b)", a[0], b[0]) == -1
    assert run("nn.cross_entropy_with_logits(a, b)", np.array(3, "float32"), np.array(2, "float32")) == -6
    assert np.isnan(run("nn.cross_entropy_with_logits(a, b)", np.zeros((0, 2), "float32"), np.zeros((0, 2), "float32")))


def test_losses_that_are_none():
    x = normal(2, 4, 3)
    refused("RM105", 'this is "max"', "nn.nll_loss(a, b, reduction='max')", x, ADDRESSED)
    refused("RM201", "takes integers as targets", "nn.nll_loss(a, b)", x, ADDRESSED.astype("float32"))
    refused("RM202", "one dimension less", "nn.nll_loss(a, b)", x, ADDRESSED[0])
    refused("RM202", "dimension 1 of the targets", "nn.nll_loss(a, b)", x, ADDRESSED[:, :2].copy())
    refused("RM202", "the weights and the classes", "nn.nll_loss(a, b, c)", x, ADDRESSED, normal(3))
    refused("RM202", "dimension 0", "nn.cross_entropy_with_logits(a, b)", normal(2), normal(3))
    refused("RM201", "one dtype", "nn.cross_entropy_with_logits(a, b)", normal(2), np.zeros(2, "float16"))


# ------------------------------------------------------------------------------------------------------- gradients


@pytest.mark.parametrize("ignore_index", [-100, 2])
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("weighed", [False, True])
def test_the_gradient_of_nll_loss(reduction, ignore_index, weighed):
    x, w = torch.tensor(normal(2, 4, 3), requires_grad=True), np.abs(normal(4, seed=1))
    attrs = {"reduction": reduction, "ignore_index": ignore_index}
    made = F.nll_loss(x, torch.tensor(ADDRESSED), torch.tensor(w) if weighed else None, **attrs)
    g = normal(*made.shape, seed=2) if made.shape else np.array(0.5, "float32")
    made.backward(torch.tensor(g))
    call = f"grad.nll_loss_backward(a, b, c{', d' * weighed}, {of_class(**attrs)})"
    assert np.allclose(run(call, g, x.detach().numpy(), ADDRESSED, *([w] * weighed)), x.grad.numpy(), rtol=1e-6)


def test_the_gradient_of_a_target_that_is_ignored():
    x, targets = f32([1, 2], [4, 8]), np.array([-100, 1], "int32")
    one = np.array(1, "float32")
    assert run("grad.nll_loss_backward(a, b, c)", one, x, targets).tolist() == [[0, 0], [0, -1]]


POOLS = [
    {},
    {"strides": [2, 2]},
    {"strides": [2, 1], "padding": [1, 1, 1, 1]},
    {"strides": [2, 2], "ceil_mode": True},
    {"strides": [3, 2], "padding": [1, 0, 1, 0], "ceil_mode": True},
]


def numbers(attrs):
    found = {"stride": attrs.get("strides", [1, 1]), "padding": attrs.get("padding", [0, 0])[:2]}
    return {**found, "ceil_mode": attrs.get("ceil_mode", False)}


@pytest.mark.parametrize("attrs", POOLS)
@pytest.mark.parametrize("kind", ["max", "avg counted", "avg"])
def test_the_gradient_of_a_pool(attrs, kind):
    x = torch.tensor(np.random.default_rng(1).integers(-3, 3, (1, 2, 6, 5)).astype("float32"), requires_grad=True)
    more = {} if kind == "max" else {"count_include_pad": kind == "avg counted"}
    made = getattr(F, f"{kind[:3]}_pool2d")(x, (3, 2), **numbers(attrs), **more)
    g = normal(*made.shape, seed=2)
    made.backward(torch.tensor(g))
    text = "".join(f", {name}={value!r}" for name, value in {**attrs, **more}.items())
    found = run(f"grad.{kind[:3]}_pool2d_backward(a, b, pool_size=[3, 2]{text})", g, x.detach().numpy())
    assert np.allclose(found, x.grad.numpy(), rtol=1e-5, atol=1e-6)


def test_the_gradient_of_a_dilated_pool():
    x = torch.tensor(normal(1, 1, 6, 5), requires_grad=True)
    made = F.max_pool2d(x, 2, stride=1, dilation=(2, 3))
    g = normal(*made.shape, seed=2)
    made.backward(torch.tensor(g))
    call = "grad.max_pool2d_backward(a, b, pool_size=[2, 2], dilation=[2, 3])"
    assert np.allclose(run(call, g, x.detach().numpy()), x.grad.numpy(), rtol=1e-6)


def test_places_behind_the_last_window_have_no_gradient():
    found = run(
        "grad.max_pool2d_backward(a, b, pool_size=[2, 2], strides=[2, 2])", f32(1)[None, None, None], normal(1, 1, 3, 3)
    )
    assert found.sum() == 1
    assert not found[0, 0, 2].any()
    assert not found[0, 0, :, 2].any()


def test_the_gradient_in_another_layout():
    x, g = normal(1, 2, 4, 4), normal(1, 2, 2, 2, seed=1)
    turned = [np.ascontiguousarray(one.transpose(0, 2, 3, 1)) for one in (g, x)]
    for kind in ("max", "avg"):
        call = f"grad.{kind}_pool2d_backward(a, b, pool_size=[2, 2], strides=[2, 2]"
        wanted = run(f"{call})", g, x).transpose(0, 2, 3, 1)
        assert np.array_equal(run(f"{call}, layout='NHWC')", *turned), wanted)


def test_gradients_that_are_none():
    x = normal(1, 1, 4, 4)
    call = "grad.avg_pool2d_backward(a, b, pool_size=[2, 2])"
    refused("RM202", "dimension 2 of the gradient", call, normal(1, 1, 2, 3), x)
    refused("RM202", "a gradient of 4 dimensions", call, normal(3, 3), x)
    refused("RM201", "a gradient of float32", call, normal(1, 1, 3, 3).astype("float16"), x)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_the_gradient_of_take(axis):
    x, places = torch.tensor(normal(3, 4, 3), requires_grad=True), np.array([1, 0, 1, 2, 1], "int64")
    made = x.index_select(axis, torch.tensor(places))
    g = normal(*made.shape, seed=2)
    made.backward(torch.tensor(g))
    found = run(f"grad.take_backward(a, b, c, axis={axis})", g, x.detach().numpy(), places)
    assert np.allclose(found, x.grad.numpy(), rtol=1e-6)


def test_the_gradient_of_take_by_hand():
    vector = run("grad.take_backward(a, b, c)", f32(1, 2, 4), f32(0, 0), np.array([1, -1, 1], "int32"))
    assert vector.tolist() == [0, 5]
    assert not run("grad.take_backward(a, b, c)", np.zeros(0, "float32"), f32(0, 0), np.zeros(0, "int32")).any()
    refused("RM105", "a vector of integers", "grad.take_backward(a, b, b)", f32(1), f32(1))


@pytest.mark.parametrize("name", ["no_grad", "start_checkpoint", "end_checkpoint"])
def test_marks_change_nothing(name):
    x = f32(-0.0, nan, 3)
    assert run(f"grad.{name}(a)", x).tobytes() == x.tobytes()
