"""Whole Relax modules: networks built through TVM's own front end, and its language features by hand."""

from collections.abc import Iterator

import numpy as np
from tvm import IRModule, relax
from tvm.relax.frontend import nn
from tvm.script import ir as I, relax as R, tirx as T

RANDOM = np.random.default_rng(3)


def f32(*shape: int) -> np.ndarray:
    """Uniform float32."""
    return RANDOM.uniform(-1, 1, shape).astype("float32")


class MLP(nn.Module):
    """Two linear layers."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(12, 8), nn.Linear(8, 5)

    def forward(self, x: nn.Tensor):
        """Apply."""
        return self.second(nn.op.relu(self.first(x)))


class Encoder(nn.Module):
    """One attention block with layer norms."""

    def __init__(self):
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(8, 8) for _ in range(4))
        self.up, self.down = nn.Linear(8, 16), nn.Linear(16, 8)
        self.norm0, self.norm1 = nn.LayerNorm(8), nn.LayerNorm(8)

    def forward(self, x: nn.Tensor):
        """Apply."""
        y = self.norm0(x)
        scores = nn.op.softmax(nn.op.matmul(self.q(y), nn.op.permute_dims(self.k(y), [0, 2, 1])) * 0.35, axis=-1)
        x = x + self.o(nn.op.matmul(scores, self.v(y)))
        return x + self.down(nn.op.gelu(self.up(self.norm1(x))))


class Convolution(nn.Module):
    """A small residual network."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Conv2D(3, 4, 3, padding=1), nn.Conv2D(4, 4, 3, padding=1)

    def forward(self, x: nn.Tensor):
        """Apply."""
        x = nn.op.relu(self.first(x))
        return nn.op.relu(x + self.second(x))


@I.ir_module
class Control:
    """If, recursion, tuples, match_cast, symbolic dimensions."""

    @T.prim_func(private=True, s_tir=True)
    def twice(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
        for i in range(4):
            with T.sblock("twice"):
                vi = T.axis.spatial(4, i)
                y[vi] = x[vi] * T.float32(2)

    @R.function
    def main(x: R.Tensor((4,), "float32"), c: R.Tensor((), "bool")) -> R.Tensor((4,), "float32"):
        cls = Control
        if c:
            y = R.call_tir(cls.twice, (x,), out_ty=R.Tensor((4,), "float32"))
        else:
            t = (x, x)
            y = t[1]
        return y


def exported(model: nn.Module, spec: dict, names: list[str]) -> IRModule:
    """The module of a front-end model."""
    module, _ = model.export_tvm(spec={names[0]: spec})
    return module


def values_of(module: IRModule, entry: str, known: dict[str, int]) -> list[np.ndarray]:
    """Random inputs for the parameters of a function."""
    result = []
    for param in module[entry].params:
        shape = [known[d.name] if hasattr(d, "name") else int(d) for d in param.ty.shape]
        result.append(f32(*shape))
    return result


def models() -> Iterator[tuple[str, IRModule, str, list[np.ndarray]]]:
    """Name, module, entry, inputs."""
    mlp = exported(MLP(), {"x": nn.spec.Tensor([2, 12], "float32")}, ["forward"])
    yield "mlp", mlp, "forward", values_of(mlp, "forward", {})
    mlp_n = exported(MLP(), {"x": nn.spec.Tensor(["n", 12], "float32")}, ["forward"])
    yield "mlp-symbolic", mlp_n, "forward", values_of(mlp_n, "forward", {"n": 3})
    encoder = exported(Encoder(), {"x": nn.spec.Tensor([1, 3, 8], "float32")}, ["forward"])
    yield "encoder", encoder, "forward", values_of(encoder, "forward", {})
    convolution = exported(Convolution(), {"x": nn.spec.Tensor([1, 3, 5, 5], "float32")}, ["forward"])
    yield "convolution", convolution, "forward", values_of(convolution, "forward", {})
    yield "control-then", Control, "main", [f32(4), np.array(True)]
    yield "control-else", Control, "main", [f32(4), np.array(False)]


def legalized(module: IRModule) -> IRModule:
    """Operators lowered to TensorIR."""
    return relax.transform.LegalizeOps()(module)
