"""Modules divided by patterns, by `tvm.relax.transform` of whoever runs this file: refmlc's names, or real TVM 0.27.

`python tests/e2e/tvm_partitions.py` under TVM's Python writes its texts as JSON; under refmlc's it compares both.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

HEAD = """# from tvm.script import ir as I
# from tvm.script import relax as R
# from tvm.script import tirx as T

@I.ir_module
class Module:
"""
CHAIN = """
    @R.function
    def main(x: R.Tensor((4, 4), "float32"), w: R.Tensor((4, 4), "float32"), b: R.Tensor((4,), "float32")):
        with R.dataflow():
            a = R.matmul(x, w)
            c = R.add(b, a)
            d = R.nn.relu(c)
            e = R.exp(d)
            gv = R.multiply(e, d)
            R.output(gv)
        return gv
"""
CONV = """
    @R.function
    def main(x: R.Tensor((1, 4, 8, 8), "float32"), w: R.Tensor((4, 4, 3, 3), "float32"),
             v: R.Tensor((4, 1, 3, 3), "float32")):
        with R.dataflow():
            a = R.nn.conv2d(x, w, padding=[1, 1, 1, 1])
            c = R.nn.relu(a)
            d = R.nn.conv2d(c, v, padding=[1, 1, 1, 1], groups=4)
            e = R.nn.relu(d)
            f = R.nn.max_pool2d(e, pool_size=[2, 2])
            gv = R.nn.softmax(f)
            R.output(gv)
        return gv
"""
TWICE = """
    @R.function
    def main(x: R.Tensor((1, 4, 8, 8), "float32"), w: R.Tensor((4, 4, 3, 3), "float32")):
        with R.dataflow():
            a = R.nn.conv2d(x, w)
            c = R.nn.relu(a)
            d = R.nn.relu(a)
            gv = R.add(c, d)
            R.output(gv)
        return gv
"""
DIAMOND = """
    @R.function
    def main(x: R.Tensor((4, 4), "float32"), y: R.Tensor((4, 4), "float32")):
        with R.dataflow():
            a = R.add(x, y)
            c = R.sigmoid(a)
            d = R.tanh(a)
            e = R.add(a, c)
            f = R.multiply(e, d)
            gv = R.add(f, y)
            R.output(gv)
        return gv
"""
TUPLES = """
    @R.function
    def main(x: R.Tensor((4, 6), "float32")):
        with R.dataflow():
            a = R.split(x, 2, axis=1)
            b = a[0]
            c = a[1]
            d = R.nn.relu(b)
            e = R.add(d, c)
            f = R.concat((e, d), axis=0)
            gv = R.exp(f)
            R.output(gv)
        return gv
"""
OUTPUTS = """
    @R.function
    def main(x: R.Tensor((4, 4), "float32"), y: R.Tensor((4, 4), "float32")):
        with R.dataflow():
            a = R.add(x, y)
            b = R.nn.relu(a)
            c = R.negative(a)
            d = R.negative(b)
            R.output(c, d)
        return (c, d)
"""
SYMBOLIC = """
    @R.function
    def main(x: R.Tensor(("n", 4), "float32"), w: R.Tensor((4, "m"), "float32")):
        with R.dataflow():
            a = R.matmul(x, w)
            b = R.nn.relu(a)
            c = R.exp(b)
            d = R.nn.relu(c)
            R.output(d)
        return d
"""
BIAS = """
    @R.function
    def main(x: R.Tensor((1, 4, 8, 8), "float32"), w: R.Tensor((4, 4, 3, 3), "float32"), b: R.Tensor((4,), "float32")):
        with R.dataflow():
            a = R.nn.conv2d(x, w)
            r = R.reshape(b, (1, 4, 1, 1))
            c = R.add(a, r)
            d = R.nn.relu(c)
            R.output(d)
        return d
"""
NORM = """
    @R.function
    def main(x: R.Tensor((2, 3, 4, 4), "float32"), g: R.Tensor((3,), "float32"), b: R.Tensor((3,), "float32"),
             m: R.Tensor((3,), "float32"), v: R.Tensor((3,), "float32")):
        with R.dataflow():
            a = R.nn.batch_norm(x, g, b, m, v, axis=1)
            c = a[0]
            d = R.nn.relu(c)
            R.output(d)
        return d
"""
LOWERED = """
    @T.prim_func(private=True, s_tir=True)
    def twice(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
        for i in range(4):
            with T.sblock("B"):
                v = T.axis.spatial(4, i)
                B[v] = A[v] * T.float32(2)

    @R.function
    def main(x: R.Tensor((4,), "float32")):
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.twice, (x,), R.Tensor((4,), "float32"))
            b = R.call_tir(cls.twice, (a,), R.Tensor((4,), "float32"))
            c = R.call_dps_packed("outside", (b,), R.Tensor((4,), "float32"))
            R.output(c)
        return c

    @R.function
    def other(x: R.Tensor((4,), "float32")):
        with R.dataflow():
            a = R.exp(x)
            b = R.exp(a)
            R.output(b)
        return b
"""


def cases(tvm):
    """By name: a text, and what is done to the module."""
    import tvm.relax.backend.contrib.example_npu  # noqa: PLC0415 - registers its patterns
    from tvm.relax import dpl  # noqa: PLC0415 - of TVM or of refmlc
    from tvm.relax.backend.contrib.tensorrt import partition_for_tensorrt  # noqa: PLC0415
    from tvm.relax.backend.pattern_registry import get_pattern, get_patterns_with_prefix  # noqa: PLC0415
    from tvm.relax.dpl import is_op, wildcard  # noqa: PLC0415
    from tvm.relax.transform import FuseOpsByPattern, MergeCompositeFunctions  # noqa: PLC0415

    def fused(*patterns, **options):
        return FuseOpsByPattern(list(patterns), **options)

    def npu(**options):
        return FuseOpsByPattern(get_patterns_with_prefix("example_npu"), bind_constants=False, **options)

    def both(*passes):
        return tvm.ir.transform.Sequential(list(passes))

    add, relu, exp = is_op("relax.add"), is_op("relax.nn.relu"), is_op("relax.exp")
    x = wildcard()
    activations = is_op("relax.exp")(x) | is_op("relax.nn.relu")(x)
    product = is_op("relax.matmul")(wildcard(), wildcard())
    bias = product & wildcard().has_shape([4, 4])
    named = {"lhs": x, "root": activations}
    conv = is_op("relax.nn.conv2d")(wildcard(), wildcard())
    square = add(wildcard(), wildcard())
    normal = is_op("relax.nn.batch_norm")(*(wildcard() for _ in range(5)))
    relu_of_norm = relu(dpl.is_tuple_get_item(normal, 0))
    split = is_op("relax.split")(wildcard())
    twice = dpl.is_call_tir("twice", [dpl.is_call_tir("twice")])
    return {
        "npu": (CONV, both(npu(annotate_codegen=True), MergeCompositeFunctions())),
        "npu without annotations": (CONV, both(npu(), MergeCompositeFunctions())),
        "npu annotated only": (CONV, npu(annotate_codegen=True)),
        "one registered pattern": (CONV, fused(get_pattern("example_npu.conv2d"))),
        "tensorrt": (CONV, partition_for_tensorrt),
        "tensorrt of a chain": (CHAIN, partition_for_tensorrt),
        "tensorrt of tuples": (TUPLES, partition_for_tensorrt),
        "tensorrt of symbolic shapes": (SYMBOLIC, partition_for_tensorrt),
        "a reader twice": (TWICE, npu(annotate_codegen=True)),
        "a reader twice, merged": (TWICE, both(npu(), MergeCompositeFunctions())),
        "a circle is not merged": (
            DIAMOND,
            both(
                fused(
                    ("a.add", add(wildcard(), wildcard())),
                    ("a.mul", is_op("relax.multiply")(wildcard(), wildcard())),
                    ("b.tanh", is_op("relax.tanh")(wildcard())),
                ),
                MergeCompositeFunctions(),
            ),
        ),
        "swapped arguments": (CHAIN, fused(("a.bias", add(product, wildcard())))),
        "one of two": (CHAIN, fused(("a.act", activations))),
        "one of two, of one binding": (CHAIN, fused(("a.act", is_op("relax.multiply")(exp(relu(x)), relu(x))))),
        "labels and a check": (
            CHAIN,
            fused(("a.act", activations, named, lambda c: c.annotated_expr["root"].op == tvm.ir.Op.get("relax.exp"))),
        ),
        "both of two": (CHAIN, fused(("a.bias", add(wildcard(), bias)))),
        "a shape that is not there": (CHAIN, fused(("a.mm", product.has_shape([5, 4])))),
        "a dtype": (CHAIN, fused(("a.mm", relu(wildcard()).has_dtype("float32")))),
        "another dtype": (CHAIN, fused(("a.mm", relu(wildcard()).has_dtype("float16")))),
        "not what": (CHAIN, fused(("a.exp", exp(~add(wildcard(), wildcard()))))),
        "an attribute": (CONV, fused(("a.conv", conv.has_attr({"groups": 4})))),
        "a list as an attribute": (CONV, fused(("a.conv", conv.has_attr({"strides": [1, 1]})))),
        "a parameter": (CHAIN, fused(("a.mm", is_op("relax.matmul")(dpl.is_var("x"), dpl.is_var())))),
        "two results": (OUTPUTS, fused(("a.relu", relu(square), {}, None))),
        "two results, annotated": (OUTPUTS, fused(("a.relu", relu(square)), annotate_codegen=True)),
        "a bias that is reshaped": (
            BIAS,
            fused(("a.conv", dpl.make_fused_bias_activation_pattern("relax.nn.conv2d", True, "relax.nn.relu", True))),
        ),
        "a field": (NORM, fused(("a.norm", relu_of_norm), annotate_codegen=True)),
        "a field of any index": (TUPLES, fused(("a.split", relu(dpl.is_tuple_get_item(split))))),
        "fields of a tuple outside": (TUPLES, fused(("a.add", add(relu(wildcard()), wildcard())))),
        "extents of arguments": (SYMBOLIC, fused(("a.mm", relu(product)), ("a.exp", exp(wildcard())))),
        "functions of the module": (LOWERED, fused(("a.twice", twice))),
        "one entry": (LOWERED, fused(("a.exp", exp(wildcard())), entry_functions=["other"])),
        "attributes of a group": (
            CHAIN,
            both(
                tvm.relax.transform.FuseOpsByPattern(
                    [
                        tvm.relax.transform.FusionPattern(
                            "a.exp", exp(x), {"x": x}, None, lambda parts: {"count": str(len(parts))}
                        )
                    ]
                )
            ),
        ),
    }


def texts(tvm, load):
    """The text of each module afterwards, or what is said instead."""
    results = {}
    for name, (text, change) in cases(tvm).items():
        try:
            results[name] = change(load(HEAD + text)).script()
        except Exception as problem:  # noqa: BLE001 - of either side; compared as such
            results[name] = f"{type(problem).__name__}: {' '.join(str(problem).split())[:200]}"
    return results


def theirs():
    """What real TVM makes of them."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    command = [os.environ["REFMLC_TVM_PYTHON"], str(Path(__file__).resolve()), "--alone"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return json.loads(done.stdout)


def ours():
    """What refmlc makes of them."""
    import refmlc  # noqa: PLC0415 - TVM's Python has none
    from refmlc.tvm.install import install_tvm  # noqa: PLC0415

    install_tvm(anyway=True)
    import tvm  # noqa: PLC0415 - refmlc's

    return texts(tvm, refmlc.read)


def difference(mine, real):
    """The first place where two texts mean something else; empty where they are equal."""
    import refmlc  # noqa: PLC0415 - as above
    from refmlc.lang.ir.equal import first_difference  # noqa: PLC0415
    from refmlc.rewrite.transform import deduced, normalize  # noqa: PLC0415

    if "@I.ir_module" not in mine or "@I.ir_module" not in real:
        return "" if "@I.ir_module" not in mine + real else f"{mine[:200]} / {real[:200]}"
    modules = [normalize(deduced(refmlc.read(text))) for text in (mine, real)]
    return str(first_difference(*modules) or "")


def main():
    """TVM's texts, or a line for each difference; ends with 1 where there is one."""
    if "--alone" in sys.argv:
        import tvm  # noqa: PLC0415 - real TVM

        json.dump(texts(tvm, tvm.script.from_source), sys.stdout)
        return 0
    mine, real = ours(), theirs()
    differences = {name: difference(mine[name], real[name]) for name in mine}
    for name, text in differences.items():
        sys.stdout.write(f"{name}: {text}\n" if text else "")
    sys.stdout.write(f"{len(mine)} modules, {sum(map(bool, differences.values()))} differ\n")
    return 1 if any(differences.values()) else 0


if __name__ == "__main__":
    raise SystemExit(main())
