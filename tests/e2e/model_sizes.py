"""Models of a chosen number of multiply-adds, as files: what `check_times` checks.

| name       | file    | is                                                                |
|------------|---------|-------------------------------------------------------------------|
| `layers`   | `.onnx` | three linear layers on a batch, with Relu between                 |
| `pictures` | `.onnx` | two convolutions of 3x3, a norm, Relu, a mean and a linear layer  |
| `block`    | `.pt2`  | the block of ResNet-18 with stride 2                              |
| `encoder`  | `.pt2`  | an encoder of a transformer: attention, norms, gelu               |

`write(name, count, folder)` writes the file and gives its path and its multiply-adds, about `count`.
"""

import math
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper
from torch.utils.flop_counter import FlopCounterMode
from torch_architectures import SEED, BasicBlock

BATCH = 8
SIDE = 16
STEPS = 32


def layers(count: int) -> tuple[onnx.ModelProto, int]:
    """Three square layers."""
    width = round(math.sqrt(count / (3 * BATCH)))
    nodes, weights, last = [], [], "x"
    for number in range(3):
        weights += [_weight(f"w{number}", width, width), _weight(f"b{number}", width)]
        nodes.append(helper.make_node("Gemm", [last, f"w{number}", f"b{number}"], [f"h{number}"]))
        last = f"h{number}"
        if number < 2:
            nodes.append(helper.make_node("Relu", [last], [f"r{number}"]))
            last = f"r{number}"
    return _model(nodes, weights, (BATCH, width), last), 3 * BATCH * width * width


def pictures(count: int) -> tuple[onnx.ModelProto, int]:
    """Two convolutions that keep the size of the picture."""
    width = max(1, round((-27 + math.sqrt(27**2 + 36 * count / SIDE**2)) / 18))
    weights = [_weight("k0", width, 3, 3, 3), _weight("k1", width, width, 3, 3), _weight("w", width, 10)]
    weights += [_weight(name, width, least=0.5 if name == "var" else None) for name in ("scale", "bias", "mean", "var")]
    nodes = [
        helper.make_node("Conv", ["x", "k0"], ["c0"], pads=[1] * 4),
        helper.make_node("BatchNormalization", ["c0", "scale", "bias", "mean", "var"], ["n"]),
        helper.make_node("Relu", ["n"], ["r"]),
        helper.make_node("Conv", ["r", "k1"], ["c1"], pads=[1] * 4),
        helper.make_node("GlobalAveragePool", ["c1"], ["g"]),
        helper.make_node("Flatten", ["g"], ["f"]),
        helper.make_node("MatMul", ["f", "w"], ["y"]),
    ]
    return _model(nodes, weights, (1, 3, SIDE, SIDE), "y"), SIDE**2 * 9 * (3 * width + width * width) + 10 * width


def block(count: int) -> tuple[torch.nn.Module, tuple[torch.Tensor, ...]]:
    """A block whose output has twice the channels."""
    width = max(1, round(math.sqrt(count / ((SIDE // 2) ** 2 * (9 * 6 + 2)))))
    return BasicBlock(width, 2 * width, 2), (torch.randn(1, width, SIDE, SIDE),)


def encoder(count: int) -> tuple[torch.nn.Module, tuple[torch.Tensor, ...]]:
    """An encoder of four heads."""
    width = 4 * max(1, round(math.sqrt(count / (12 * STEPS)) / 4))
    layer = torch.nn.TransformerEncoderLayer(width, 4, 4 * width, batch_first=True, activation="gelu")
    return layer, (torch.randn(1, STEPS, width),)


ONNX: Mapping[str, Callable[[int], tuple[onnx.ModelProto, int]]] = {"layers": layers, "pictures": pictures}
TORCH: Mapping[str, Callable[[int], tuple[torch.nn.Module, tuple[torch.Tensor, ...]]]] = {
    "block": block,
    "encoder": encoder,
}
NAMES = (*ONNX, *TORCH)


def write(name: str, count: int, folder: Path) -> tuple[Path, int]:
    """The file of a model, and its multiply-adds."""
    if name in ONNX:
        model, exact = ONNX[name](count)
        path = folder / f"{name}-{count}.onnx"
        onnx.save(model, path)
        return path, exact
    torch.manual_seed(SEED)
    module, inputs = TORCH[name](count)
    module.eval()
    path = folder / f"{name}-{count}.pt2"
    with warnings.catch_warnings(), FlopCounterMode(display=False) as counter:
        warnings.simplefilter("ignore")  # PyTorch's own, on its own code
        module.train()(*inputs)  # the quick path of inference is one operator, which is not counted
        module.eval()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.export.save(torch.export.export(module, inputs), str(path))
    return path, counter.get_total_flops() // 2


def _weight(name: str, *shape: int, least: float | None = None) -> onnx.TensorProto:
    generator = np.random.default_rng(len(name) + sum(shape))
    values = generator.normal(size=shape) / math.sqrt(max(1, math.prod(shape[1:])))
    values = values if least is None else least + np.abs(values)
    return numpy_helper.from_array(values.astype("float32"), name)


def _model(
    nodes: list[onnx.NodeProto], weights: list[onnx.TensorProto], shape: tuple[int, ...], last: str
) -> onnx.ModelProto:
    given = helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)
    graph = helper.make_graph(
        nodes, "model", [given], [helper.make_tensor_value_info(last, TensorProto.FLOAT, None)], weights
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
