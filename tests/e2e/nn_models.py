"""Models for `relax.frontend.nn`, of refmlc and of TVM: `python tests/e2e/nn_models.py` compares what both export.

`models(nn, topi, T)` gives, by name, a module and what its methods take. The command prints a line for each model whose
exported module differs, and the counts: "equal" by structure, "same text" to the character too.
"""

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

SIDE = Path(__file__).parent / "tvm_side" / "nn_texts.py"


def layer(nn, make, shape, dtype="float32"):
    """A model of one layer."""

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = make()

        def forward(self, x):
            return self.layer(x)

    return Model(), {"forward": {"x": nn.spec.Tensor(shape, dtype)}}


def function(nn, body, **inputs):
    """A model without weights: one expression of its inputs, each a shape or a pair of shape and dtype."""

    def spec(value):
        typed = len(value) == 2 and isinstance(value[0], tuple)
        return nn.spec.Tensor(*value) if typed else nn.spec.Tensor(value, "float32")

    class Model(nn.Module):
        pass

    names = ", ".join(inputs)
    scope = {"body": body}
    exec(f"def forward(self, {names}):\n    return body({names})", scope)  # noqa: S102 - a signature by name
    Model.forward = scope["forward"]
    return Model(), {"forward": {name: spec(value) for name, value in inputs.items()}}


def mlp(nn):
    class MLP(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc1 = nn.Linear(784, 128)
            self.relu1 = nn.ReLU()
            self.fc2 = nn.Linear(128, 10, bias=False)

        def forward(self, x):
            return self.fc2(self.relu1(self.fc1(x)))

    return MLP(), {"forward": {"x": nn.spec.Tensor(("n", 784), "float32")}}


def named_linear(nn):
    class Named(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear_in = nn.Linear(8, 4)

        def forward(self, x):
            return self.linear_in(x)

    return Named(), {"forward": {"x": nn.spec.Tensor((2, 8), "float32")}}


def residual(nn):
    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm = nn.RMSNorm(16, -1, 1e-5, bias=False)
            self.gate = nn.Linear(16, 64, bias=False)
            self.down = nn.Linear(32, 16, bias=False)

        def forward(self, x):
            a, b = nn.op.split(self.gate(self.norm(x)), 2, axis=-1)
            return x + self.down(nn.op.silu(a) * b)

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed = nn.Embedding(100, 16)
            self.blocks = nn.ModuleList([Block() for _ in range(2)])
            self.head = nn.Linear(16, 100, bias=False)

        def forward(self, ids):
            return self.head(self.blocks(self.embed(ids)))

    return Model(), {"forward": {"ids": nn.spec.Tensor((1, "seq"), "int32")}}


def attention(nn):
    class Attention(nn.Module):
        def __init__(self):
            super().__init__()
            self.qkv = nn.Linear(32, 96, bias=False)
            self.out = nn.Linear(32, 32)

        def forward(self, x):
            b, s, _ = x.shape
            q, k, v = nn.op.split(nn.op.reshape(self.qkv(x), (b, s, 12, 8)), 3, axis=2)
            done = nn.op.scaled_dot_product_attention(q, k, v, is_causal=True)
            return self.out(nn.op.reshape(done, (b, s, 32)))

    return Attention(), {"forward": {"x": nn.spec.Tensor((2, "s", 32), "float32")}}


def convolutions(nn):
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv1 = nn.Conv2D(3, 8, 3, padding=1)
            self.conv2 = nn.Conv2D(8, 8, [3, 1], stride=2, groups=2, bias=False)
            self.norm = nn.GroupNorm(2, 8)

        def forward(self, x):
            return self.norm(nn.op.relu(self.conv2(self.conv1(x))))

    return Net(), {"forward": {"x": nn.spec.Tensor((1, 3, 16, 16), "float32")}}


def two_methods(nn):
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter((8, 4), "float16")
            self.scale = nn.Parameter((4,))

        def first(self, x):
            return nn.op.matmul(x, self.weight, out_dtype="float32") * self.scale

        def second(self, x, y):
            return self.first(x), y.astype("float32") + 1.0

    tensor = nn.spec.Tensor
    return Model(), {
        "first": {"x": tensor(("n", 8), "float16")},
        "second": {"x": tensor((3, 8), "float16"), "y": tensor((), "int32")},
    }


def packed(nn):
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(4, 4)

        def forward(self, x):
            return self.fc(x)

        def plain(self, x):
            return x * 2.0

    modes = {"param_mode": "packed", "effect_mode": "none"}
    none = {"param_mode": "none", "effect_mode": "none"}
    tensor = nn.spec.Tensor(("n", 4), "float32")
    return Model(), {"forward": {"x": tensor, "$": modes}, "plain": {"x": tensor, "$": none}}


def containers(nn):
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.by_name = nn.ModuleDict({"a": nn.Linear(4, 4), "b": nn.ReLU()})
            self.weights = nn.ParameterList([nn.Parameter((4,)), nn.Parameter((4,))])
            self.more = nn.ParameterDict({"gain": nn.Parameter((4,))})

        def forward(self, x):
            x = self.by_name["b"](self.by_name["a"](x))
            return x * self.weights[0] + self.weights[1] - self.more["gain"]

    return Model(), {"forward": {"x": nn.spec.Tensor((2, 4), "float32")}}


def numbers(nn):
    class Model(nn.Module):
        def forward(self, x, n):
            return nn.op.reshape(x, (n, 4))

    return Model(), {"forward": {"x": nn.spec.Tensor((3, 4), "float32"), "n": int}}


def tuples(nn):
    class Model(nn.Module):
        def forward(self, xs, y):
            return [xs[0] + y, xs[1] / y]

    tensor = nn.spec.Tensor((2, 3), "float32")
    return Model(), {"forward": {"xs": (tensor, tensor), "y": tensor}}


def symbolic_weight(nn):
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed = nn.Embedding("vocab", 8)
            self.head = nn.Linear(8, "vocab", bias=False)

        def forward(self, ids):
            return self.head(self.embed(ids))

    return Model(), {"forward": {"ids": nn.spec.Tensor(("n",), "int32")}}


def changed_dtype(nn):
    model, _ = mlp(nn)
    model.to("float16")
    return model, {"forward": {"x": nn.spec.Tensor((1, 784), "float16")}}


def external(nn):
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(8, 4)

        def forward(self, x):
            out = nn.Tensor.placeholder((x.shape[0], 4), "float32")
            return nn.op.relu(nn.extern("env.linear", [x, self.fc.weight, self.fc.bias, 2, 0.5], out=out))

    return Model(), {"forward": {"x": nn.spec.Tensor(("n", 8), "float32")}}


def tensor_expressions(nn, topi):
    class Model(nn.Module):
        def forward(self, x):
            return nn.tensor_expr_op(topi.nn.relu, "my_relu", [x]) + 1

    return Model(), {"forward": {"x": nn.spec.Tensor((4, 8), "float32")}}


def cached(nn, shape):
    """A cache of keys and values: its own, and those of another layer."""
    cache_class = nn.llm.kv_cache.PagedKVCache

    class Model(nn.Module):
        def forward(self, qkv, k, cache):
            own = cache.attention_with_fused_qkv(3, qkv, 4, 0.25)
            shared = cache.attention_with_shared_kv(1, own, k, k, 0.5)
            return own, shared, cache

    spec = {
        "qkv": nn.spec.Tensor(shape, "float16"),
        "k": nn.spec.Tensor((shape[0], shape[1], 2, 16), "float16"),
        "cache": nn.spec.Object(object_type=cache_class),
        "$": {"param_mode": "none", "effect_mode": "none"},
    }
    return Model(), {"forward": spec}


def models(nn, topi):
    """The models by name."""
    op = nn.op
    x, y = (2, 3), (2, 3)
    image = (1, 3, 8, 8)
    ids = ((4,), "int32")
    return {
        "mlp": mlp(nn),
        "named linear": named_linear(nn),
        "residual": residual(nn),
        "attention": attention(nn),
        "convolutions": convolutions(nn),
        "two methods": two_methods(nn),
        "packed": packed(nn),
        "containers": containers(nn),
        "numbers": numbers(nn),
        "tuples": tuples(nn),
        "symbolic weight": symbolic_weight(nn),
        "changed dtype": changed_dtype(nn),
        "external": external(nn),
        "tensor expressions": tensor_expressions(nn, topi),
        "cache of a prompt": cached(nn, (1, "s", 8, 16)),
        "cache of a batch": cached(nn, ("b", 1, 8, 16)),
        "cache of both": cached(nn, ("b", "s", 8, 16)),
        "cache of numbers": cached(nn, (2, 3, 8, 16)),
        "linear": layer(nn, lambda: nn.Linear(4, 5, out_dtype="float32", dtype="float16"), (3, 4), "float16"),
        "conv1d": layer(nn, lambda: nn.Conv1D(4, 6, 3, stride=2, padding=1, groups=2), (1, 4, 10)),
        "conv2d nhwc": layer(nn, lambda: nn.Conv2D(3, 4, 3, bias=False), image),
        "conv3d": layer(nn, lambda: nn.Conv3D(2, 4, 3), (1, 2, 5, 5, 5)),
        "conv1d transpose": layer(nn, lambda: nn.ConvTranspose1D(4, 6, 3, stride=2, output_padding=1), (1, 4, 10)),
        "layer norm": layer(nn, lambda: nn.LayerNorm(8), (2, 8)),
        "layer norm plain": layer(nn, lambda: nn.LayerNorm(8, elementwise_affine=False), (2, 8)),
        "rms norm": layer(nn, lambda: nn.RMSNorm(8, [-1]), ("n", 8)),
        "rms norm plain": layer(nn, lambda: nn.RMSNorm(8, -1, bias=False), (2, 8), "float32"),
        "group norm": layer(nn, lambda: nn.GroupNorm(2, 4), (1, 4, 3)),
        "embedding": layer(nn, lambda: nn.Embedding(10, 4), (3, 2), "int32"),
        "embedding row": layer(nn, lambda: nn.Embedding(10, 4), (3,), "int32"),
        "gelu": layer(nn, nn.GELU, (2, 3)),
        "silu": layer(nn, nn.SiLU, (2, 3)),
        "arithmetic": function(nn, lambda x, y: (x - y) * (2 - x) / y + 3.0, x=x, y=y),
        "comparisons": function(nn, lambda x, y: (x < y, x <= 1, x > 0.5, x >= y), x=x, y=y),
        "equalities": function(nn, lambda x, y: op.where(op.equal(x, y), x, op.maximum(x, y)), x=x, y=y),
        "extremes": function(nn, lambda x, y: op.minimum(op.max(x, 1, True), op.min(y, [0, 1], True)), x=x, y=y),
        "activations": function(nn, lambda x: op.gelu(op.relu6(op.softplus(op.silu(x))), "tanh"), x=x),
        "functions": function(nn, lambda x: op.floor(op.log(op.exp(op.tanh(op.sigmoid(op.negative(x)))))), x=x),
        "roots": function(nn, lambda x: op.sqrt(op.square(op.not_equal(x, x).astype("float32"))), x=x),
        "prelu": function(nn, op.prelu, x=(2, 3, 4), alpha=(3,)),
        "softmax": function(nn, lambda x: op.softmax(x, axis=0), x=x),
        "sums": function(nn, lambda x: (op.sum(x), op.sum(x, 0), op.sum(x, [-1], True)), x=x),
        "cumsum": function(nn, lambda x: op.cumsum(x, 1, "float32", False), x=x),
        "sorted": function(nn, lambda x: (op.sort(x), op.argsort(x, 0, True), op.topk(x, 2)), x=(4, 5)),
        "shapes": function(nn, lambda x: op.squeeze(op.unsqueeze(op.reshape(x, (3, -1)), 1), 1), x=x),
        "movement": function(nn, lambda x: op.concat([op.permute(x, [1, 0]), x.permute_dims(1, 0)], 0), x=x),
        "chunks": function(nn, lambda x: op.chunk(x, 2, 1), x=(2, 4)),
        "splits": function(nn, lambda x: op.split(x, [1, 3], 1)[1], x=(2, 4)),
        "repeats": function(nn, lambda x: op.broadcast_to(x.repeat(2, 0), (2, 4, 3)), x=x),
        "takes": function(nn, lambda x, i: (op.take(x, i, 0), op.take(x, i, -1)), x=(5, 6), i=ids),
        "pads": function(nn, lambda x: op.triu(op.pad(x, [0, 0, 1, 2], value=0.5), 1), x=x),
        "creation": function(nn, lambda x: x + op.zeros((2, 3)) * op.ones((3,)) + op.full((1,), 2.5), x=x),
        "arange": function(nn, lambda x: x + op.arange(0, 3, 1, "float32"), x=x),
        "interpolate": function(nn, lambda x: op.interpolate(x, scale_factor=2.0), x=image),
        "interpolate to": function(
            nn, lambda x: op.interpolate(x, (5, 6), mode="bilinear", align_corners=True), x=image
        ),
        "symbolic": function(nn, lambda x: op.reshape(x, (x.shape[0] * 2, 4)) + 1, x=("n", 8)),
        "matmul": function(nn, lambda x, w: op.matmul(x, w, "float32"), x=((2, 4), "float16"), w=((4, 3), "float16")),
        "conv2d bias": function(nn, op.conv2d, x=image, weight=(4, 3, 3, 3), bias=(4,)),
    }


def texts(nn, topi):
    """The exported module of each model as text, or what is said instead; the weights."""
    results = {}
    for name, (model, spec) in models(nn, topi).items():
        try:
            module, parameters = model.export_tvm(spec)
        except Exception as problem:  # noqa: BLE001 - of either side; compared as such
            results[name] = {"error": f"{type(problem).__name__}: {' '.join(str(problem).split())[:300]}"}
            continue
        weights = [[path, [str(size) for size in weight.shape], str(weight.dtype)] for path, weight in parameters]
        results[name] = {"text": module.script(), "weights": weights}
    return results


def theirs():
    """What real TVM exports."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run(
        [os.environ["REFMLC_TVM_PYTHON"], str(SIDE)], capture_output=True, text=True, check=True, env=environment
    )
    return json.loads(done.stdout)


def verdict(ours, other):
    """`equal`, `same text` or the difference."""
    import refmlc  # noqa: PLC0415 - real TVM's Python, which has none, imports this file too
    from refmlc.lang.ir.equal import first_difference  # noqa: PLC0415

    if "error" in ours or "error" in other:
        return "both refuse" if "error" in ours and "error" in other else str(ours.get("error") or other["error"])
    if ours["weights"] != other["weights"]:
        return f"weights {ours['weights']}, TVM has {other['weights']}"
    mine, real = refmlc.read(ours["text"]), refmlc.read(other["text"])
    difference = first_difference(mine, real, map_free_vars=True)
    if difference is not None:
        return str(difference)
    return "same text" if mine.script() == real.script() else "equal"


def main():
    """Compare all models. Ends with 1 where one differs."""
    from refmlc.tvm import topi  # noqa: PLC0415 - as above
    from refmlc.tvm.relax.frontend import nn  # noqa: PLC0415

    ours, real = texts(nn, topi), theirs()
    verdicts = {name: verdict(ours[name], real[name]) for name in ours}
    counts = Counter(said if said in ("same text", "equal", "both refuse") else "differ" for said in verdicts.values())
    for name, said in verdicts.items():
        if said not in ("same text", "equal"):
            sys.stdout.write(f"{name}: {said}\n")
    sys.stdout.write(f"{len(verdicts)} models: {', '.join(f'{n} {what}' for what, n in sorted(counts.items()))}\n")
    return 1 if counts["differ"] else 0


if __name__ == "__main__":
    raise SystemExit(main())
