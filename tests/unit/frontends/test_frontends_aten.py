"""Each rule for an operator of PyTorch against PyTorch: a family is one exported program with many results."""

import warnings

import ml_dtypes
import numpy as np
import pytest
from needs import imported

import refmlc
from refmlc.diag import RefmlcError

torch = imported("torch")

from torch import nn  # noqa: E402 - PyTorch may be missing
from torch.nn import functional as F  # noqa: E402, N812 - as everybody calls it

from refmlc.frontends.aten import RULES, rule_of  # noqa: E402
from refmlc.frontends.torch_export import from_exported_program, params_of  # noqa: E402


class Functions(nn.Module):
    """Many functions of the same inputs."""

    def __init__(self, functions) -> None:
        super().__init__()
        self.functions = functions

    def forward(self, *inputs):
        return tuple(one(*inputs) for one in self.functions)


def exported(model, inputs, **named):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch's own, on its own code
        return torch.export.export(model.eval(), inputs, **named)


def run(module, *args, tier="interp"):
    return refmlc.VirtualMachine(refmlc.build(module, tier))["main"](*args)


def array(tensor):
    return tensor.float().numpy() if tensor.dtype == torch.bfloat16 else tensor.numpy()


def agree(functions, *inputs, rtol=2e-6, decomposition=None):
    """Imported and interpreted, every function gives what PyTorch gives, dtype and all."""
    model = Functions(list(functions.values()))
    program = exported(model, inputs)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch's own, on its own code
        module = from_exported_program(program, run_ep_decomposition=decomposition)
    found = run(module, *(one.numpy() for one in inputs))
    with torch.no_grad():
        wanted = model(*inputs)
    for name, ours, theirs in zip(functions, found, wanted, strict=True):
        assert str(theirs.dtype) == f"torch.{ours.dtype}", name
        np.testing.assert_allclose(
            np.asarray(ours.numpy(), array(theirs).dtype), array(theirs), rtol=rtol, atol=rtol, err_msg=name
        )


def floats(*shape):
    generator = torch.Generator().manual_seed(sum(shape))
    return torch.randn(*shape, generator=generator)


ARITHMETIC = {
    "add": lambda x, y, n: x + y,
    "add alpha": lambda x, y, n: torch.add(x, y, alpha=2),
    "add number": lambda x, y, n: x + 2,
    "add integers": lambda x, y, n: n + 2,
    "integers and a float": lambda x, y, n: n + 0.5,
    "integers and floats": lambda x, y, n: x * n,
    "rsub": lambda x, y, n: 1 - x,
    "sub": lambda x, y, n: x - y,
    "div": lambda x, y, n: x / y,
    "div integers": lambda x, y, n: n / 2,
    "div floor": lambda x, y, n: torch.div(x, y, rounding_mode="floor"),
    "div trunc": lambda x, y, n: torch.div(x, y, rounding_mode="trunc"),
    "floordiv": lambda x, y, n: n // 3,
    "remainder": lambda x, y, n: n % 3,
    "pow": lambda x, y, n: x.abs() ** 1.5,
    "square": lambda x, y, n: x**2,
    "maximum": lambda x, y, n: torch.maximum(x, y),
    "minimum": lambda x, y, n: torch.minimum(x, y),
    "comparisons": lambda x, y, n: (x < y) | (x >= 1) & (n != 2),
    "xor": lambda x, y, n: (x > y) ^ (x <= 0),
    "logical": lambda x, y, n: torch.logical_and(n, x > 0),
    "bits": lambda x, y, n: (n & 3) | 4,
    "where": lambda x, y, n: torch.where(x > 0, x, 0.0),
    "masked_fill": lambda x, y, n: x.masked_fill(n > 1, -1.0),
    "clamp": lambda x, y, n: x.clamp(-0.5, 0.5),
    "clamp one": lambda x, y, n: x.clamp(min=0.25),
    "addcmul": lambda x, y, n: torch.addcmul(x, x, y, value=0.5),
    "bool": lambda x, y, n: (x > 0) + 1,
}


def test_arithmetic() -> None:
    agree(ARITHMETIC, floats(2, 3), floats(3) + 3, torch.tensor([[0, 1, 2], [-3, 4, -5]]))


ELEMENTWISE = {
    name: getattr(torch, name)
    for name in ("exp", "sin", "cos", "tanh", "sigmoid", "erf", "floor", "ceil", "round", "trunc", "sign", "abs", "neg")
}
ELEMENTWISE |= {
    "sqrt": lambda x: x.abs().sqrt(),
    "rsqrt": lambda x: (x.abs() + 1).rsqrt(),
    "log": lambda x: (x.abs() + 1).log(),
    "log2": lambda x: (x.abs() + 1).log2(),
    "log10": lambda x: (x.abs() + 1).log10(),
    "log1p": lambda x: x.abs().log1p(),
    "expm1": torch.expm1,
    "reciprocal": lambda x: (x.abs() + 1).reciprocal(),
    "relu": F.relu,
    "relu6": F.relu6,
    "leaky_relu": lambda x: F.leaky_relu(x, 0.2),
    "gelu": F.gelu,
    "gelu tanh": lambda x: F.gelu(x, approximate="tanh"),
    "silu": F.silu,
    "elu": F.elu,
    "selu": F.selu,
    "hardtanh": F.hardtanh,
    "hardsigmoid": F.hardsigmoid,
    "hardswish": F.hardswish,
    "softplus": F.softplus,
    "not": lambda x: ~(x > 0),
    "isnan": torch.isnan,
    "to": lambda x: x.to(torch.int32),
    "half": lambda x: x.half(),
    "bfloat16": lambda x: x.to(torch.bfloat16) + 1,
    "dropout": lambda x: F.dropout(x, 0.5, training=False),
    "integers": lambda x: torch.exp(x.to(torch.int64)),
}


def test_functions_of_each_element() -> None:
    agree(ELEMENTWISE, floats(3, 4) * 2)


CREATION = {
    "zeros": lambda x: torch.zeros(2, 3) + x,
    "ones": lambda x: torch.ones(2, dtype=torch.int64),
    "full": lambda x: torch.full((2, 2), 7),
    "full_like": lambda x: torch.full_like(x, 1.5),
    "zeros_like": lambda x: torch.zeros_like(x, dtype=torch.int32),
    "new_ones": lambda x: x.new_ones(3),
    "arange": lambda x: torch.arange(5),
    "arange step": lambda x: torch.arange(1, 9, 3),
    "arange floats": lambda x: torch.arange(0.0, 1.0, 0.25),
    "tril": torch.tril,
    "triu": lambda x: torch.triu(x, diagonal=1),
    "tensor": lambda x: x * torch.tensor([1.0, 2.0, 3.0]),
}


def test_tensors_made_of_nothing() -> None:
    agree(CREATION, floats(2, 3))


MOVEMENT = {
    "view": lambda x: x.view(6, -1),
    "reshape": lambda x: x.reshape(-1),
    "flatten": lambda x: x.flatten(1),
    "unflatten": lambda x: x.unflatten(2, (2, -1)),
    "permute": lambda x: x.permute(2, 0, 1),
    "transpose": lambda x: x.transpose(0, -1),
    "t": lambda x: x[0].t(),
    "unsqueeze": lambda x: x.unsqueeze(-1),
    "squeeze": lambda x: x.unsqueeze(0).squeeze(0),
    "squeeze all": lambda x: x.unsqueeze(0).squeeze(),
    "expand": lambda x: x.unsqueeze(0).expand(2, -1, -1, 4),
    "repeat": lambda x: x.repeat(1, 2, 1),
    "repeat_interleave": lambda x: x.repeat_interleave(2, dim=1),
    "flip": lambda x: x.flip(0, 2),
    "cat": lambda x: torch.cat([x, x + 1], dim=-1),
    "stack": lambda x: torch.stack([x, x], dim=1),
    "slice": lambda x: x[:, 1:3, ::2],
    "negative slice": lambda x: x[:, :-1],
    "select": lambda x: x[:, -1],
    "narrow": lambda x: x.narrow(2, 1, 2),
    "split": lambda x: x.split(2, dim=1)[1],
    "split sizes": lambda x: x.split([1, 3], dim=2)[1],
    "chunk": lambda x: x.chunk(2, dim=2)[0],
    "unbind": lambda x: x.unbind(1)[2],
    "roll": lambda x: x.roll(1, 2),
}


def test_elements_in_other_places() -> None:
    agree({name: one for name, one in MOVEMENT.items() if name != "roll"}, floats(2, 3, 4))


REDUCTION = {
    "sum": lambda x: x.sum(),
    "sum axis": lambda x: x.sum(1),
    "sum keep": lambda x: x.sum(dim=(0, 2), keepdim=True),
    "sum integers": lambda x: (x > 0).sum(1),
    "prod": lambda x: x.prod(1),
    "mean": lambda x: x.mean(-1, keepdim=True),
    "var": lambda x: x.var(1),
    "var biased": lambda x: x.var(1, unbiased=False),
    "std": lambda x: x.std(2),
    "max": lambda x: x.max(),
    "max axis": lambda x: x.max(dim=1)[0],
    "max place": lambda x: x.max(dim=1)[1],
    "min two": lambda x: torch.min(x, -x),
    "amax": lambda x: x.amax((0, 1)),
    "argmax": lambda x: x.argmax(2),
    "argmin all": lambda x: x.argmin(),
    "any": lambda x: (x > 1).any(1),
    "all": lambda x: (x > -9).all(),
    "any uint8": lambda x: (x > 1).to(torch.uint8).any(1),
    "all uint8": lambda x: ((x > 0).to(torch.uint8) * 3).all(dim=0, keepdim=True),
    "any int8": lambda x: (x > 1).to(torch.int8).any(),
    "cumsum": lambda x: x.cumsum(1),
    "norm": lambda x: torch.linalg.vector_norm(x, dim=1),
}


def test_reductions() -> None:
    agree(REDUCTION, floats(2, 3, 4), rtol=5e-6)


LINEAR = {
    "matmul": lambda x, w, v: x @ w,
    "batches": lambda x, w, v: torch.matmul(x.expand(2, 3, 4), w),
    "mv": lambda x, w, v: x @ v,
    "linear": lambda x, w, v: F.linear(x, w.t(), w[0]),
    "addmm": lambda x, w, v: torch.addmm(w[0], x, w, beta=0.5, alpha=2),
    "bmm": lambda x, w, v: torch.bmm(x[None], w[None]),
    "outer": lambda x, w, v: torch.outer(v, v),
    "attention": lambda x, w, v: F.scaled_dot_product_attention(x[None], x[None], x[None]),
    "causal": lambda x, w, v: F.scaled_dot_product_attention(x[None], x[None], x[None], is_causal=True),
    "masked": lambda x, w, v: F.scaled_dot_product_attention(x[None], x[None], x[None], attn_mask=x[:, :3] < 1),
    "embedding": lambda x, w, v: F.embedding(torch.tensor([[0, 2], [1, 1]]), x),
    "index": lambda x, w, v: x[torch.tensor([2, 0])],
    "gather": lambda x, w, v: torch.gather(x, 1, torch.tensor([[0, 3], [1, 1], [2, 0]])),
    "index_select": lambda x, w, v: x.index_select(1, torch.tensor([3, 1])),
}


def test_products_and_look_ups() -> None:
    agree(LINEAR, floats(3, 4), floats(4, 5), floats(4), rtol=5e-6)


def test_products_taken_apart_by_pytorch() -> None:
    agree(
        {name: LINEAR[name] for name in ("linear", "addmm", "attention", "causal", "embedding", "batches")},
        *(floats(3, 4), floats(4, 5), floats(4)),
        rtol=5e-6,
        decomposition=True,
    )


WINDOWS = {
    "conv2d": lambda x, w: F.conv2d(x, w, w[:, 0, 0, 0], stride=2, padding=1),
    "same": lambda x, w: F.conv2d(x, w, padding="same"),
    "groups": lambda x, w: F.conv2d(x, w[:, :1], groups=2, dilation=2),
    "one picture": lambda x, w: F.conv2d(x[0], w),
    "conv1d": lambda x, w: F.conv1d(x[:, :, 0], w[:, :, 0]),
    "transposed": lambda x, w: F.conv_transpose2d(x, w.transpose(0, 1), stride=2, padding=1, output_padding=1),
    "max_pool2d": lambda x, w: F.max_pool2d(x, 3, 2, 1),
    "ceil": lambda x, w: F.max_pool2d(x, 2, ceil_mode=True),
    "avg_pool2d": lambda x, w: F.avg_pool2d(x, 3, 2, 1),
    "avg without padding": lambda x, w: F.avg_pool2d(x, 3, 2, 1, count_include_pad=False),
    "adaptive": lambda x, w: F.adaptive_avg_pool2d(x, (2, 3)),
    "pad": lambda x, w: F.pad(x, (1, 2, 0, 1), value=0.5),
    "reflect": lambda x, w: F.pad(x, (1, 2, 1, 1), mode="reflect"),
    "pixel_shuffle": lambda x, w: F.pixel_shuffle(x.reshape(1, 4, 5, 5), 2),
}


def test_convolutions_and_windows() -> None:
    agree(WINDOWS, floats(2, 2, 5, 5), floats(4, 2, 3, 3), rtol=5e-6)


def test_convolutions_taken_apart_by_pytorch() -> None:
    kept = ("conv2d", "same", "groups", "conv1d", "transposed", "max_pool2d", "avg_pool2d", "adaptive")
    agree({name: WINDOWS[name] for name in kept}, floats(2, 2, 5, 5), floats(4, 2, 3, 3), rtol=5e-6, decomposition=True)


NORMS = {
    "batch_norm": lambda x, s: F.batch_norm(x, s[0], s[1].abs(), s[2], s[3]),
    "bare batch_norm": lambda x, s: F.batch_norm(x, s[0], s[1].abs()),
    "layer_norm": lambda x, s: F.layer_norm(x, (4, 3)),
    "layer_norm scaled": lambda x, s: F.layer_norm(x, (3,), s[0, :3], s[1, :3]),
    "rms_norm": lambda x, s: F.rms_norm(x, (3,), s[0, :3], 1e-5),
    "group_norm": lambda x, s: F.group_norm(x, 2, s[0], s[1]),
    "instance_norm": lambda x, s: F.instance_norm(x),
    "softmax": lambda x, s: torch.softmax(x, 1),
    "log_softmax": lambda x, s: F.log_softmax(x, -1),
}


@pytest.mark.parametrize("decomposition", [None, True])
def test_norms(decomposition) -> None:
    agree(NORMS, floats(2, 4, 4, 3), floats(4, 4), rtol=1e-5, decomposition=decomposition)


@pytest.mark.parametrize(
    "layer",
    [
        nn.LSTM(3, 4, batch_first=True),
        nn.LSTM(3, 4, num_layers=2, bidirectional=True),
        nn.GRU(3, 4, bidirectional=True, batch_first=True),
        nn.RNN(3, 4, nonlinearity="relu", bias=False),
    ],
    ids=["lstm", "deep lstm", "gru", "rnn"],
)
def test_recurrent_layers(layer) -> None:
    x = floats(2, 3, 3)
    module = from_exported_program(exported(layer, (x,)))
    with torch.no_grad():
        wanted = torch.utils._pytree.tree_leaves(layer(x))
    for ours, theirs in zip(run(module, x.numpy()), wanted, strict=True):
        np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=2e-6, atol=2e-6)


class Steps(nn.Module):
    """A sequence of any length."""

    def __init__(self) -> None:
        super().__init__()
        self.table, self.line = nn.Embedding(10, 8), nn.Linear(8, 24)

    def forward(self, x):
        steps = x.shape[1]
        y = self.table(x) + torch.arange(steps)[None, :, None] / steps
        q, k, v = (one.view(2, steps, 2, 4).transpose(1, 2) for one in self.line(y).split(8, dim=2))
        seen = torch.tril(torch.ones(steps, steps, dtype=torch.bool))
        scores = (q @ k.transpose(-2, -1) * 0.5).masked_fill(~seen, float("-inf"))
        out = torch.softmax(scores, -1) @ v
        return out.transpose(1, 2).reshape(2, steps, 8), out[:, :, -1], y.flatten(1), out[:, :, 1:]


def test_dynamic_sizes_are_symbolic_dimensions() -> None:
    model, steps = Steps(), torch.export.Dim("steps", min=3, max=64)
    program = exported(model, (torch.randint(0, 10, (2, 5)),), dynamic_shapes={"x": {1: steps}})
    module = from_exported_program(program)
    assert refmlc.structural_equal(refmlc.read(module.script(show_meta=True)), module)
    for length in (3, 7):
        x = torch.randint(0, 10, (2, length))
        with torch.no_grad():
            wanted = model(x)
        for tier in ("interp", "native"):
            for ours, theirs in zip(run(module, x.numpy(), tier=tier), wanted, strict=True):
                np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=5e-6, atol=5e-6)


def test_parameters_are_inputs_where_asked_for() -> None:
    model, x = nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3)), floats(2, 4)
    program = exported(model, (x,))
    module = from_exported_program(program, keep_params_as_input=True, unwrap_unit_return_tuple=True)
    main, params = module.functions["main"], params_of(program)
    assert main.attrs["num_input"] == 1
    assert [one.name for one in main.params[1:]] == list(params)
    with torch.no_grad():
        np.testing.assert_allclose(run(module, x.numpy(), *params.values()).numpy(), model(x).numpy(), rtol=1e-5)


def test_weights_in_bfloat16() -> None:
    model, x = nn.Linear(4, 3).to(torch.bfloat16), floats(2, 4).to(torch.bfloat16)
    module = from_exported_program(exported(model, (x,)), unwrap_unit_return_tuple=True)
    given = x.float().numpy().astype(ml_dtypes.bfloat16)
    with torch.no_grad():
        wanted = model(x).float().numpy()
    np.testing.assert_allclose(run(module, given).numpy().astype(np.float32), wanted, rtol=0.02, atol=0.02)


class Odd(nn.Module):
    """Calls what has no rule."""

    def forward(self, x):
        return torch.special.bessel_j0(x) + 1


def test_an_operator_without_a_rule_is_named_with_its_node_and_line() -> None:
    with pytest.raises(RefmlcError) as refused:
        from_exported_program(exported(Odd(), (floats(2),)))
    found = refused.value.diagnostic
    assert refused.value.code.id == "RM501"
    assert "special_bessel_j0" in found.message
    assert "the node `special_bessel_j0`" in found.notes[0]
    assert found.span is not None
    assert "torch.special.bessel_j0(x) + 1" in found.span.source.line(found.span.line)


class WholeSoftmax(nn.Module):
    """PyTorch computes this of integers only if the tensor is empty."""

    def forward(self, x):
        return F.log_softmax(x, 1, dtype=torch.int32)


def test_softmax_of_integers_is_refused() -> None:
    with pytest.raises(RefmlcError, match="softmax of int32") as refused:
        from_exported_program(exported(WholeSoftmax(), (torch.zeros(0, 2),)))
    assert refused.value.code.id == "RM501"


class Training(nn.Module):
    def forward(self, x):
        return F.dropout(x, 0.5, training=True)


def test_dropout_in_training_is_refused() -> None:
    with pytest.raises(RefmlcError, match="random"):
        from_exported_program(exported(Training(), (floats(2),)))


def test_every_rule_is_found_by_its_name() -> None:
    assert rule_of("add.Tensor") is rule_of("add") is rule_of("add_.Scalar")
    assert rule_of("nothing") is None
    assert len(RULES) > 200
