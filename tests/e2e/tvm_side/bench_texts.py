"""The benchmark's programs as TVM prints them: run in TVM's environment, prints a JSON object of texts by name.

Extents are those of the table; operators are legalised from Relax, the others made from tensor expressions.
"""

import json
import sys
from pathlib import Path

import tvm
from tvm import relax, te
from tvm.script import from_source, relax as R

ROWS, COUNT, SIDE = 1024, 1 << 22, 512


def legalised(variables, operator):
    """A Relax function of one operator, after LegalizeOps."""
    builder = relax.BlockBuilder()
    params = [relax.Var(name, R.Tensor(shape, "float32")) for name, shape in variables]
    with builder.function("main", params):
        builder.emit_func_output(builder.emit(operator(*params)))
    return relax.transform.LegalizeOps()(builder.get())


def prim_func(*tensors):
    """Tensor expressions as a module of one prim_func."""
    return tvm.IRModule({"main": te.create_prim_func(list(tensors))})


def matmul(dtype, out, *, transposed=False):
    """The course's product of matrices."""
    a, b = te.placeholder((SIDE, SIDE), dtype, "A"), te.placeholder((SIDE, SIDE), dtype, "B")
    k = te.reduce_axis((0, SIDE), "k")

    def product(i, j):
        right = b[j, k] if transposed else b[k, j]
        return a[i, k] * right if dtype == out else a[i, k].astype(out) * right.astype(out)

    return prim_func(a, b, te.compute((SIDE, SIDE), lambda i, j: te.sum(product(i, j), axis=k), "C"))


def elementwise():
    """Multiply, add, relu, multiply."""
    x = te.placeholder((COUNT,), "float32", "X")
    number = [tvm.tirx.FloatImm("float32", value) for value in (1.5, 0.25, 0, 0.75)]
    y = te.compute((COUNT,), lambda i: te.max(x[i] * number[0] + number[1], number[2]) * number[3], "Y")
    return prim_func(x, y)


def main():
    """Print all texts."""
    square = (ROWS, ROWS)
    modules = {
        "matmul": matmul("float32", "float32"),
        "matmul_nt": matmul("float32", "float32", transposed=True),
        "matmul_int8": matmul("int8", "int32"),
        "elementwise": elementwise(),
        "softmax": legalised([("x", square)], lambda x: relax.op.nn.softmax(x, axis=-1)),
        "layernorm": legalised(
            [("x", square), ("gamma", (ROWS,)), ("beta", (ROWS,))],
            lambda x, gamma, beta: relax.op.nn.layer_norm(x, gamma, beta, axes=[-1]),
        ),
        "conv2d": legalised(
            [("x", (1, 64, 56, 56)), ("w", (64, 64, 3, 3))], lambda x, w: relax.op.nn.conv2d(x, w, padding=1)
        ),
        "exp": legalised([("x", (COUNT,))], relax.op.exp),
        "mlp": from_source(Path(sys.argv[1]).read_text(encoding="utf-8")),
    }
    json.dump({name: module.script(show_meta=True) for name, module in modules.items()}, sys.stdout)


if __name__ == "__main__":
    main()
