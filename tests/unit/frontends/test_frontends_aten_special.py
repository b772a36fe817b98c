"""NaN, infinities, empty rows and unusual arguments of ATen operators: an import has PyTorch's own meaning."""

import warnings

import numpy as np
import pytest
from needs import imported

import refmlc

torch = imported("torch")

from torch import nn  # noqa: E402 - PyTorch may be missing
from torch.nn import functional as F  # noqa: E402, N812 - as everybody calls it

from refmlc.frontends.torch_export import from_exported_program  # noqa: E402

NAN, INF = float("nan"), float("inf")
X = torch.tensor([[NAN, -1.0, 2.0, -INF], [3.0, INF, 0.0, -2.0], [-1.0, NAN, 5.0, NAN]])
Y = torch.tensor([[1.0, NAN, NAN, 1.0], [NAN, 0.0, 0.0, 0.0], [1.0, 1.0, 1.0, 1.0]])
FINITE = torch.tensor([[0.0, -1.5, 2.0, -3.0], [0.0, 0.0, 4.25, 1.0]])
IMAGE = torch.tensor([[[[1.0, NAN, 3.0, 4.0], [5.0, 6.0, 7.0, -INF], [1.0, 2.0, NAN, 0.0], [0.0, -INF, -INF, 1.0]]]])


class Model(nn.Module):
    def __init__(self, function) -> None:
        super().__init__()
        self.function = function

    def forward(self, *inputs):
        return self.function(*inputs)


def translated(function, *inputs):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch's own, on its own code
        return from_exported_program(torch.export.export(Model(function).eval(), inputs))


def agree(function, *inputs, rtol=2e-6):
    """Every result is PyTorch's, NaN for NaN, in its dtype."""
    module = translated(function, *inputs)
    found = refmlc.VirtualMachine(refmlc.build(module, "interp"))["main"](*(one.numpy() for one in inputs))
    wanted = function(*inputs)
    for ours, theirs in zip(found, [wanted] if isinstance(wanted, torch.Tensor) else wanted, strict=True):
        assert str(theirs.dtype) == f"torch.{ours.dtype}"
        np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=rtol, atol=rtol)


WITH_NAN = {
    "relu": torch.relu,
    "relu6": F.relu6,
    "hardtanh": F.hardtanh,
    "hardsigmoid": F.hardsigmoid,
    "hardswish": F.hardswish,
    "leaky_relu": F.leaky_relu,
    "elu": F.elu,
    "silu": F.silu,
    "softplus": F.softplus,
    "clamp": lambda x: x.clamp(-1, 1),
    "clamp to NaN": lambda x: x.clamp(NAN, 1),
    "clamp_min": lambda x: torch.clamp_min(x, 0.0),
    "clamp_max": lambda x: torch.clamp_max(x, 0.0),
    "clamp above": lambda x: x.clamp(max=1),
    "amax": lambda x: x.amax(1),
    "amin": lambda x: x.amin((0, 1), keepdim=True),
    "max": lambda x: x.max(),
    "max along": lambda x: x.max(1),
    "min along": lambda x: x.min(0),
    "argmax": lambda x: x.argmax(),
    "argmax along": lambda x: x.argmax(1, keepdim=True),
    "argmin along": lambda x: x.argmin(0),
    "softmax": lambda x: x.softmax(1),
    "expm1": torch.expm1,
    "square root": lambda x: x**0.5,
}


@pytest.mark.parametrize("name", WITH_NAN)
def test_nan_wins(name) -> None:
    agree(WITH_NAN[name], X)


@pytest.mark.parametrize("function", [torch.maximum, torch.minimum, torch.max, lambda x, y: x.clamp(y, y + 1)])
def test_nan_of_either_operand_wins(function) -> None:
    agree(function, X, Y)


def test_integers_have_no_nan() -> None:
    module = translated(
        lambda n: (torch.relu(n), n.clamp(0, 3), n.amax(1), n.argmax(1)), torch.ones(2, 3, dtype=torch.int64)
    )
    assert "isnan" not in module.script()


def test_the_negative_of_unsigned_integers_wraps() -> None:
    agree(torch.neg, torch.tensor([0, 1, 255], dtype=torch.uint8))
    agree(torch.neg, torch.tensor([-128, 1], dtype=torch.int8))


@pytest.mark.parametrize("function", [torch.softmax, torch.log_softmax])
def test_softmax_of_a_scalar_has_one_element(function) -> None:
    agree(lambda x: function(x, 0), torch.tensor(5.0))
    agree(lambda x: function(x, -1), torch.tensor(NAN))


@pytest.mark.parametrize("k", [0, 1])
def test_topk_of_a_scalar_is_the_scalar(k) -> None:
    agree(lambda x: x.topk(k), torch.tensor(5.0))
    agree(lambda x: x.topk(k), torch.tensor([5.0, 7.0]))


@pytest.mark.parametrize(
    "function",
    [
        lambda x: F.max_pool1d(x[0], 2),
        lambda x: F.max_pool2d(x, 2),
        lambda x: F.max_pool2d(x, 3, 1, 1),
        lambda x: F.max_pool3d(x[None], (1, 2, 2)),
    ],
)
def test_nan_wins_in_its_windows_only(function) -> None:
    agree(function, IMAGE)


def test_gelu_at_minus_infinity_is_nan() -> None:
    agree(lambda x: (F.gelu(x), F.gelu(x, approximate="tanh")), torch.tensor([-INF, -1.0, NAN, 0.0]))


@pytest.mark.parametrize("order", [0, 1, 2, 3, 2.5, -1, -2.5, INF, -INF])
def test_norms_of_every_order(order) -> None:
    for x in (X, FINITE):
        agree(lambda x: torch.linalg.vector_norm(x, order), x)
        agree(lambda x: torch.linalg.vector_norm(x, order, dim=1, keepdim=True), x)
        agree(lambda x: torch.norm(x, order, dim=0), x)


def test_a_norm_in_another_dtype() -> None:
    agree(lambda x: torch.linalg.vector_norm(x, 3, dtype=torch.float64), FINITE)


@pytest.mark.parametrize("rank", [3, 4])
@pytest.mark.parametrize("kind", ["bool", "float"])
def test_a_row_that_the_mask_hides_wholly_is_zero(rank, kind) -> None:
    query = torch.randn(1, 2, 3, 4, generator=torch.Generator().manual_seed(3))
    mask = torch.tensor([[True, False, True], [False, False, False], [True, True, True]])
    mask = mask if kind == "bool" else torch.zeros(3, 3).masked_fill(~mask, -INF)
    attend = F.scaled_dot_product_attention
    agree(lambda q, m: attend(q, q, q, m), query if rank == 4 else query[0], mask, rtol=5e-6)


@pytest.mark.parametrize(("dim", "start", "length"), [(1, -3, 2), (0, -1, 1), (1, -4, 4), (1, 1, 2)])
def test_narrow_from_the_end(dim, start, length) -> None:
    agree(lambda x: x.narrow(dim, start, length), FINITE)


@pytest.mark.parametrize("decimals", [0, 1, 3, -1])
def test_round_to_decimals(decimals) -> None:
    agree(lambda x: torch.round(x, decimals=decimals), torch.tensor([0.25, -1.35, 15.0, 25.0, -INF, 2.0005, 2.5]))


def test_repeat_interleave_with_its_extent() -> None:
    agree(lambda x: torch.repeat_interleave(x, 2, dim=1, output_size=8), FINITE)


def test_one_weight_of_prelu_is_for_all_channels() -> None:
    agree(F.prelu, X, torch.tensor([0.25]))
    agree(F.prelu, X[0], torch.tensor([0.25]))
