"""The course's model with its libraries in PyTorch: zero-copy in a packed function, parameters bound, mixed calls."""

import numpy as np
import pytest
from needs import imported

from refmlc.lang.wellformed.reader_checks import read
from refmlc.run.memory.registry import FunctionRegistry, register_func
from refmlc.run.memory.tensor import Tensor
from refmlc.tools.demo.runner import MODELS
from refmlc.vm import VirtualMachine, bind_params, build

torch = imported("torch")


def numpy_mlp(x, w0, b0, w1, b1):
    return np.maximum(x @ w0.T + b0, 0) @ w1.T + b1


@pytest.fixture
def registry():
    """As the course registers them."""
    own = FunctionRegistry()

    @register_func("env.linear", override=True, registry=own)
    def torch_linear(x: Tensor, w: Tensor, b: Tensor, out: Tensor):
        x_torch = torch.from_dlpack(x)
        w_torch = torch.from_dlpack(w)
        b_torch = torch.from_dlpack(b)
        out_torch = torch.from_dlpack(out)
        torch.mm(x_torch, w_torch.T, out=out_torch)
        torch.add(out_torch, b_torch, out=out_torch)

    @register_func("env.relu", override=True, registry=own)
    def lnumpy_relu(x: Tensor, out: Tensor):
        x_torch = torch.from_dlpack(x)
        out_torch = torch.from_dlpack(out)
        torch.maximum(x_torch, torch.Tensor([0.0]), out=out_torch)

    return own


@pytest.fixture
def params():
    random = np.random.default_rng(3)
    shapes = {"w0": (8, 16), "b0": (8,), "w1": (4, 8), "b1": (4,)}
    return {name: random.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}


@pytest.mark.parametrize("bound", [False, True])
@pytest.mark.parametrize("file", ["library.py", "mixed.py", "tensorir.py"])
def test_the_model_in_its_variants(file, bound, registry, params):
    x = np.random.default_rng(4).normal(size=(1, 16)).astype(np.float32)
    module = read((MODELS / file).read_text(encoding="utf-8"))
    expected = numpy_mlp(x, **params)
    if bound:
        module = bind_params(module, "main", {name: torch.from_numpy(array) for name, array in params.items()})
    main = VirtualMachine(build(module, registry=registry))["main"]
    for _ in range(2):
        result = main(x) if bound else main(x, **params)
        np.testing.assert_allclose(result.numpy(), expected, rtol=1e-5, atol=1e-5)
