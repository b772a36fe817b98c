"""What an exported program holds besides calls: changes in place, branches, scopes; compared with PyTorch."""

import warnings

import numpy as np
import pytest
from needs import imported

import refmlc
from refmlc.diag import RefmlcError

torch = imported("torch")

from torch import nn  # noqa: E402 - PyTorch may be missing
from torch.nn import functional as F  # noqa: E402, N812 - as everybody calls it

from refmlc.frontends.torch_export import from_exported_program  # noqa: E402

X = torch.arange(12.0).reshape(3, 4) - 5


class Model(nn.Module):
    def __init__(self, function) -> None:
        super().__init__()
        self.function = function

    def forward(self, *args):
        return self.function(*args)


def module_of(function, *inputs):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch's own, on its own code
        return from_exported_program(torch.export.export(Model(function).eval(), inputs))


def agrees(function, *inputs) -> None:
    """Imported and interpreted, the function gives PyTorch's values to the bit."""
    module = module_of(function, *inputs)
    found = refmlc.VirtualMachine(refmlc.build(module, "interp"))["main"](*(one.numpy() for one in inputs))
    result = function(*(one.clone() for one in inputs))
    wanted = result if isinstance(result, tuple) else (result,)
    assert len(found) == len(wanted)
    for ours, theirs in zip(found, wanted, strict=True):
        exact = (theirs.float() if theirs.dtype == torch.bfloat16 else theirs).numpy()
        np.testing.assert_array_equal(ours.numpy().astype(exact.dtype), exact)


def through_a_view(x):
    y = x.clone()
    y.view(-1).mul_(2)
    return y


def through_a_slice(x):
    y = x.clone()
    y[1:, ::2] = 7
    y[0] = y[2]
    y[:, -1].add_(1)
    return y


def through_a_mask(x):
    y = x.clone()
    y[y < 0] = 0.5
    y[[0, 2], [-1, 1]] += 100
    return y


def the_older_value(x):
    y = x + 1
    z = y * 1
    y.add_(1)
    return y, z


@pytest.mark.parametrize("function", [through_a_view, through_a_slice, through_a_mask, the_older_value])
def test_a_change_in_place_is_seen_wherever_the_tensor_is(function) -> None:
    agrees(function, X)


@pytest.mark.parametrize("sign", [1, -1])
def test_cond_takes_the_branch_that_holds(sign) -> None:
    agrees(lambda x: torch.cond(x.sum() > 0, lambda x: x + 1, lambda x: torch.sin(x * 0), (x,)), X * sign + sign)


def test_cond_with_several_results() -> None:
    agrees(lambda x: torch.cond(x[0, 0] > 0, lambda x: (x + 1, x.sum()), lambda x: (x - 1, x.prod()), (x,)), X)


def test_autocast_computes_in_the_smaller_dtype() -> None:
    def cast(x):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return x @ x.T

    agrees(cast, X)


def test_a_scope_without_gradients_is_its_nodes() -> None:
    def scope(x):
        with torch.no_grad():
            y = x * 2
        return y + 1

    agrees(scope, X)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x[-1],
        lambda x: x[[-1, 0]],
        lambda x: x[:, torch.tensor([-1, -4])],
        lambda x: x[torch.tensor([[-1], [0]]), torch.tensor([0, -2])],
        lambda x: x[None, [-3, 2], :, None],
        lambda x: x.reshape(3, 2, 2)[[0, -1], :, [1, -2]],
        lambda x: x.narrow(1, -3, 2),
        lambda x: x[1:-1, -2:],
        lambda x: torch.take(x, torch.tensor([-1, 0, 5])),
    ],
)
def test_places_from_the_end(function) -> None:
    agrees(function, X)


def test_places_from_the_end_that_are_computed() -> None:
    agrees(lambda x, at: x[at], X, torch.tensor([-1, 0, -3]))


@pytest.mark.parametrize(
    ("function", "what"),
    [
        (lambda x: x[x > 0], "mask"),
        (lambda x: torch.fft.fft(x).real, "fft"),
        (lambda x: x.to(torch.complex64).abs(), "complex"),
        (torch.special.bessel_j0, "aten.special_bessel_j0"),
        (lambda x: torch.linalg.svd(x)[1], "svd"),
    ],
)
def test_what_is_not_supported_is_named(function, what) -> None:
    with pytest.raises(RefmlcError) as raised:
        module_of(function, X)
    assert raised.value.diagnostic.code.id == "RM501"
    assert what in raised.value.diagnostic.message


@pytest.mark.parametrize(
    "function",
    [
        lambda x: F.interpolate(x[None, None], scale_factor=2, mode="bilinear"),
        lambda x: F.interpolate(x[None, None], size=(5, 3), mode="bilinear", align_corners=True),
        lambda x: F.interpolate(x[None], scale_factor=1.7, mode="nearest"),
        lambda x: x.topk(2)[0],
        lambda x: tuple(x.sort(0, descending=True)),
        lambda x: x.int() << torch.tensor([0, 1, 31, 40], dtype=torch.int32),
        lambda x: x.int() >> torch.tensor([0, 1, 31, 40], dtype=torch.int32),
        lambda x: torch.floor_divide(x, 0.1),
        lambda x: torch.remainder(x, -0.7),
        lambda x: torch.unsafe_split(x, 2),
        lambda x: ((x > 0) + (x < -2), (x > 0) * (x < 3)),
        lambda x: (x / 3).half().cumsum(1),
    ],
)
def test_operators_to_the_bit(function) -> None:
    agrees(function, X)


def test_integers_for_floats_and_back() -> None:
    from torch.ao.quantization.fx import _decomposed  # noqa: F401, PLC0415 - it declares the operators

    whole, each = torch.ops.quantized_decomposed.quantize_per_tensor, torch.ops.quantized_decomposed

    def there_and_back(x):
        y = whole(x, 0.07, 3, -128, 127, torch.int8)
        z = each.dequantize_per_tensor(y, 0.07, 3, -128, 127, torch.int8)
        scales, zeros = torch.tensor([0.1, 0.2, 0.3]), torch.tensor([0, 1, -1])
        a = each.quantize_per_channel(x, scales, zeros, 0, 0, 255, torch.uint8)
        return y, z, a, each.dequantize_per_channel(a, scales, zeros, 0, 0, 255, torch.uint8)

    agrees(there_and_back, X * 1.3)


def test_what_no_integer_holds_is_the_least_one_until_a_mask_hides_it() -> None:
    agrees(lambda x: torch.where(x > 0, x.log().long(), 0), X)


@pytest.mark.parametrize("dtype", [torch.int32, torch.int64])
def test_integer_powers(dtype) -> None:
    base = torch.arange(-3, 4, dtype=dtype)
    agrees(lambda x: x**3, base)
    agrees(lambda x, y: x**y, base[:, None], torch.tensor([0, 1, 5, 18], dtype=dtype))
    agrees(lambda x, y: x**y, base[2:5, None], torch.tensor([200, 201], dtype=dtype))
