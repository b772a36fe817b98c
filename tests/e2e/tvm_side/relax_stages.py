"""Relax models printed by real TVM after each stage of its pipeline, with inputs and what its virtual machine returns.

The texts hold no metadata: TVM 0.27 crashes when it prints array constants of a legalized module in full.

Run inside TVM's environment: `python relax_stages.py DIRECTORY`. Writes `MODEL-nn-STAGE.py` (the texts), `arrays.npz`
and `index.json`: for each model its texts, its arguments and its result as a tree of
`{"tensor": key} | {"shape": [..]} | {"prim": n} | {"tuple": [..]}`.
"""

import json
import sys
from pathlib import Path

import numpy as np
import tvm
from tvm import relax
from tvm.script import ir as I, relax as R, tirx as T

RANDOM = np.random.default_rng(11)


def f32(*shape: int) -> np.ndarray:
    return RANDOM.uniform(-2, 2, shape).astype("float32")


@I.ir_module
class Network:
    """Two layers, batch size symbolic; temporaries that share memory."""

    @R.function
    def main(
        x: R.Tensor(("n", 6), "float32"),
        w0: R.Tensor((5, 6), "float32"),
        b0: R.Tensor((5,), "float32"),
        w1: R.Tensor((3, 5), "float32"),
        b1: R.Tensor((3,), "float32"),
    ):
        with R.dataflow():
            a = R.matmul(x, R.permute_dims(w0))
            b = R.add(a, b0)
            c = R.nn.relu(b)
            d = R.matmul(c, R.permute_dims(w1))
            e = R.add(d, b1)
            f = R.multiply(e, e)
            g = R.subtract(f, e)
            R.output(g)
        return g


@I.ir_module
class Shapes:
    """Symbolic shapes, a shape parameter, reshapes, tuple outputs, a shape as a result."""

    @R.function
    def main(x: R.Tensor(("n", 4), "float32"), s: R.Shape(["m"])):
        n = T.int64()
        m = T.int64()
        with R.dataflow():
            a = R.add(x, x)
            b = R.reshape(a, R.shape([n * 4]))
            c = R.concat([b, b], axis=0)
            d = R.match_cast(c, R.Tensor((n * 8,), "float32"))
            e = R.zeros(R.shape([m + 1, 2]), "float32")
            sp = R.split(a, 2, axis=1)
            sh = R.shape_of(x)
            R.output(d, e, sp, sh)
        return (d, e, sp[0], sh)


@I.ir_module
class Branch:
    """An `if` whose branches allocate."""

    @R.function
    def main(c: R.Tensor((), "bool"), x: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
        if c:
            y = R.add(x, x)
            r = R.multiply(y, x)
        else:
            r = R.subtract(x, R.const(1.0, "float32"))
        return r


@I.ir_module
class Recursion:
    """A function that calls itself."""

    @R.function
    def main(k: R.Tensor((), "int64"), x: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
        cls = Recursion
        c = R.greater(k, R.const(0, "int64"))
        if c:
            y = R.add(x, x)
            k1 = R.subtract(k, R.const(1, "int64"))
            r = cls.main(k1, y)
        else:
            r = R.add(x, R.const(1.0, "float32"))
        return r


@I.ir_module
class Local:
    """A local function with a captured variable, lifted by LambdaLift."""

    @R.function
    def main(x: R.Tensor((2, 3), "float32"), y: R.Tensor((2, 3), "float32")):
        @R.function
        def inner(z: R.Tensor((2, 3), "float32")) -> R.Tensor((2, 3), "float32"):
            w: R.Tensor((2, 3), "float32") = R.add(x, z)
            return w

        o: R.Tensor((2, 3), "float32") = inner(y)
        return o


@I.ir_module
class Tuples:
    """Functions on tuples, a primitive parameter, an extent that is known at run time only."""

    @R.function
    def f(t: R.Tuple(R.Tensor((2,), "float32"), R.Tensor(dtype="float32", ndim=1))):
        a = t[0]
        b = t[1]
        lv = R.add(a, R.const(2.0, "float32"))
        return (lv, b)

    @R.function
    def main(
        x: R.Tensor(("n",), "float32"),
        c: R.Tensor((2,), "float32"),
        p: R.Prim("int64"),
        y: R.Tensor(dtype="float32", ndim=1),
    ):
        cls = Tuples
        q = T.int64()
        t = cls.f((c, x))
        u = t[0]
        v = R.match_cast(y, R.Tensor((q,), "float32"))
        w = R.add(v, v)
        z = R.full(R.shape([p]), R.const(2.0, "float32"), "float32")
        s = R.shape_to_tensor(R.shape_of(x))
        return (t, u, w, z, s)


@I.ir_module
class InPlace:
    """An output that is an argument."""

    @T.prim_func(s_tir=True)
    def more(a: T.Buffer((T.int64(4),), "float32")):
        for i in range(T.int64(4)):
            with T.sblock("a"):
                v = T.axis.spatial(T.int64(4), i)
                a[v] = a[v] * T.float32(3)

    @R.function
    def main(x: R.Tensor((4,), "float32")):
        cls = InPlace
        with R.dataflow():
            y = R.add(x, x)
            t = R.call_tir_inplace(cls.more, (y,), inplace_indices=[0], out_ty=R.Tensor((4,), "float32"))
            z = R.add(t, x)
            R.output(t, z)
        return (t, z)


@I.ir_module
class Orders:
    """What is lowered to functions of the runtime: orders with ties, a negative axis, results of unknown extents."""

    @R.function
    def main(x: R.Tensor((3, 5), "float32"), y: R.Tensor((6,), "int32")):
        with R.dataflow():
            up = R.sort(x, axis=-1, descending=False)
            down = R.sort(x, axis=0, descending=True)
            first = R.argsort(x, axis=-2, descending=False, dtype="int32")
            last = R.argsort(x, axis=1, descending=True, dtype="int64")
            best = R.topk(x, k=2, axis=-1, ret_type="both", largest=True, dtype="int32")
            least = R.topk(x, k=2, axis=0, ret_type="indices", largest=False, dtype="int64")
            there = R.nonzero(x)
            once = R.unique(y, sorted=True, return_index=True, return_inverse=True, return_counts=True)
            seen = R.unique(y, sorted=False, return_index=False, return_inverse=False, return_counts=True)
            rows = R.unique(x, sorted=True, return_index=True, return_inverse=False, return_counts=False, axis=1)
            R.output(up, down, first, last, best, least, there, once, seen, rows)
        return (up, down, first, last, best, least, there, once, seen, rows)


def services():
    """What operators of the graph itself there are: shapes as tensors and back, views, prints, asserts, null."""
    x = relax.Var("x", relax.TensorType((tvm.tirx.Var("n", "int64"),), "float32"))
    builder = relax.BlockBuilder()
    with builder.function("main", [x], attrs={"relax.force_pure": True}):
        builder.emit(relax.op.assert_op(relax.const(True, "bool"), [x], format="bad {}"))
        shape = builder.emit(relax.op.shape_of(x))
        tensor = builder.emit(relax.op.shape_to_tensor(shape))
        back = builder.emit(relax.op.tensor_to_shape(tensor))
        part = builder.emit(relax.op.memory.view(x, relax.ShapeExpr([1, 2]), None, relax.prim_value(4)))
        moved = builder.emit(relax.op.memory.ensure_zero_offset(part))
        twice = builder.emit(relax.op.add(moved, moved))
        total = builder.emit(relax.op.add(x, x))
        builder.emit(relax.op.null_value())
        builder.emit_func_output(relax.Tuple([shape, tensor, back, twice, total]))
    return builder.get()


MODELS = {
    "network": (Network, (f32(3, 6), f32(5, 6), f32(5), f32(3, 5), f32(3))),
    "shapes": (Shapes, (f32(3, 4), (2,))),
    "branch": (Branch, (np.array(True), f32(3))),
    "branch_off": (Branch, (np.array(False), f32(3))),
    "recursion": (Recursion, (np.array(4), f32(3))),
    "local": (Local, (f32(2, 3), f32(2, 3))),
    "in_place": (InPlace, (f32(4),)),
    "services": (services(), (f32(3),)),
    "orders": (Orders, (RANDOM.integers(0, 3, (3, 5)).astype("float32"), RANDOM.integers(0, 3, 6).astype("int32"))),
    "tuples": (Tuples, (f32(4), f32(2), 3, f32(5))),
}

STAGES = (
    *("LegalizeOps", "AnnotateTIROpPattern", "FoldConstant", "FuseOps", "FuseTIR", "RewriteDataflowReshape"),
    *("ToNonDataflow", "RemovePurityChecking", "CallTIRRewrite", "StaticPlanBlockMemory", "LowerAllocTensor"),
    *("KillAfterLastUse", "LowerRuntimeBuiltin", "ComputePrimValue", "VMShapeLower"),
)


class Arrays:
    """The arrays of the index, by key."""

    def __init__(self) -> None:
        self.held: dict[str, np.ndarray] = {}

    def tree(self, value) -> dict:
        """A value as a tree."""
        if isinstance(value, np.ndarray) or hasattr(value, "numpy"):
            array = value if isinstance(value, np.ndarray) else value.numpy()
            key = f"a{len(self.held)}"
            self.held[key] = array
            return {"tensor": key}
        if isinstance(value, int):
            return {"prim": value}
        if isinstance(value, tvm.runtime.ShapeTuple if hasattr(tvm.runtime, "ShapeTuple") else tvm.runtime.Shape):
            return {"shape": [int(extent) for extent in value]}
        return {"tuple": [self.tree(item) for item in value]}


def argument(value):
    """A Python value as TVM's."""
    if isinstance(value, np.ndarray):
        return tvm.runtime.tensor(value)
    return value if isinstance(value, int) else tvm.runtime.ShapeTuple(value)


def main(directory: Path) -> None:
    arrays, index = Arrays(), {}
    for name, (written, inputs) in MODELS.items():
        with tvm.target.Target("llvm"):
            module = relax.backend.DispatchSortScan()(relax.transform.LambdaLift()(written))
        executable = tvm.compile(module, target="llvm")
        machine = relax.VirtualMachine(executable, tvm.cpu())
        result = machine["main"](*map(argument, inputs))
        texts = [("00-Input", written.script())]
        for number, stage in enumerate(STAGES, 1):
            module = getattr(relax.transform, stage)()(module)
            texts.append((f"{number:02d}-{stage}", module.script()))
        for stage, text in texts:
            (directory / f"{name}-{stage}.py").write_text(text, encoding="utf-8")
        given = [{"shape": list(value)} if isinstance(value, tuple) else arrays.tree(value) for value in inputs]
        index[name] = {
            "texts": [f"{name}-{stage}.py" for stage, _ in texts],
            "inputs": given,
            "result": arrays.tree(result),
        }
    np.savez(directory / "arrays.npz", **arrays.held)
    (directory / "index.json").write_text(json.dumps(index), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
