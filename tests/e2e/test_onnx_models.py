"""The eight models by way of ONNX, as PyTorch's own exporter writes them: imported, and near to PyTorch."""

import io
import warnings

import numpy as np
import pytest
from needs import imported

import refmlc

torch = imported("torch")
onnx = imported("onnx")

from torch_architectures import CASES, case  # noqa: E402 - PyTorch may be missing
from torch_times import flat  # noqa: E402

from refmlc.frontends.onnx import from_onnx  # noqa: E402


class Encoder(torch.nn.Module):
    """A `TransformerEncoderLayer` written out: its own forward is one operator, which the exporter cannot write."""

    def __init__(self, layer) -> None:
        super().__init__()
        self.layer = layer

    def forward(self, x):
        layer, attention = self.layer, self.layer.self_attn
        both = torch.nn.functional.linear(x, attention.in_proj_weight, attention.in_proj_bias)
        q, k, v = (one.unflatten(-1, (attention.num_heads, -1)).transpose(1, 2) for one in both.chunk(3, dim=-1))
        seen = torch.nn.functional.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2)
        x = layer.norm1(x + attention.out_proj(seen))
        return layer.norm2(x + layer.linear2(torch.nn.functional.gelu(layer.linear1(x))))


def exported(made):
    """What the exporter without further packages writes."""
    layer = isinstance(made.model, torch.nn.TransformerEncoderLayer)
    written = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch's own, on its own code
        model = Encoder(made.model).eval() if layer else made.model
        torch.onnx.export(model, made.inputs, written, dynamo=False, opset_version=17)
    return onnx.load_from_string(written.getvalue())


@pytest.mark.parametrize("name", CASES)
def test_a_model_of_small_size(name) -> None:
    made = case(name)
    module = from_onnx(exported(made))
    assert refmlc.structural_equal(refmlc.read(module.script(show_meta=True)), module)
    found = refmlc.VirtualMachine(refmlc.build(module, "interp"))["main"](*(one.numpy() for one in made.inputs))
    with torch.no_grad():
        wanted = flat(made.model(*made.inputs))
    for ours, theirs in zip(flat(found), wanted, strict=True):
        np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-5, atol=1e-5)
