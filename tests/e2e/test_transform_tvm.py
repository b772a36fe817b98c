"""Real TVM's passes and ours on the same modules: the same groups of calls, structurally equal functions."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from refmlc.lang.ir import IRModule, relax, tir
from refmlc.lang.ir.equal import structural_equal
from refmlc.lang.ir.visit import rewrite, walk
from refmlc.lang.script import show
from refmlc.lang.wellformed.reader_checks import read
from refmlc.rewrite import transform

PYTHON = os.environ.get("REFMLC_TVM_PYTHON", "")
SIDE = Path(__file__).parent / "tvm_side" / "apply_passes.py"

pytestmark = pytest.mark.needs("tvm")

HEAD = """@I.ir_module
class Module:
    @R.function
    def main({params}):
        with R.dataflow():
{lines}
            R.output({out})
        return {out}
"""
X, Y, W = 'x: R.Tensor((4, 6), "float32")', 'y: R.Tensor((4, 6), "float32")', 'w: R.Tensor((6, 5), "float32")'
CASES = {
    "a chain": ([X, Y], ["a = R.add(x, y)", "b = R.exp(a)", "gv = R.multiply(b, a)"], "gv"),
    "a product": (
        [X, W, 'b: R.Tensor((5,), "float32")'],
        ["a = R.matmul(x, w)", "c = R.add(a, b)", "gv = R.nn.relu(c)"],
        "gv",
    ),
    "a product before and after": ([X, W], ["a = R.exp(x)", "c = R.matmul(a, w)", "gv = R.tanh(c)"], "gv"),
    "a sum at the end": ([X, Y], ["a = R.add(x, y)", "b = R.exp(a)", "gv = R.sum(b, axis=0)"], "gv"),
    "a sum on the way": ([X, Y], ["a = R.sum(x, axis=0)", "b = R.exp(a)", "gv = R.add(b, y)"], "gv"),
    "a transposition": ([X], ["a = R.exp(x)", "b = R.permute_dims(a)", "c = R.tanh(b)", "gv = R.sum(c, axis=0)"], "gv"),
    "two outputs": ([X, Y], ["a = R.add(x, y)", "gv = R.exp(a)", "gv1 = R.tanh(gv)"], "gv, gv1"),
    "two branches": ([X, Y], ["a = R.add(x, y)", "b = R.exp(a)", "c = R.tanh(a)", "gv = R.multiply(b, c)"], "gv"),
    "a branch that reduces": (
        [X, Y],
        ["a = R.add(x, y)", "b = R.sum(a, axis=1, keepdims=True)", "gv = R.divide(a, b)"],
        "gv",
    ),
    "two products": (
        [X, W, 'v: R.Tensor((5, 3), "float32")'],
        ["a = R.matmul(x, w)", "b = R.nn.relu(a)", "c = R.matmul(b, v)", "gv = R.tanh(c)"],
        "gv",
    ),
    "symbolic": (
        ['x: R.Tensor(("n", "m"), "float32")', 'y: R.Tensor(("n", "m"), "float32")'],
        ["a = R.add(x, y)", "b = R.exp(a)", "c = R.permute_dims(b)", "d = R.tanh(c)", "gv = R.sum(d, axis=0)"],
        "gv",
    ),
}
PASSES = {
    "AnnotateTIROpPattern": transform.annotate_tir_op_pattern,
    "FuseOps": transform.fuse_ops,
    "FuseTIR": transform.fuse_tir,
    "DeadCodeElimination": transform.dead_code_elimination,
}


def legal(name):
    params, lines, out = CASES[name]
    text = HEAD.format(params=", ".join(params), lines="\n".join(f"            {one}" for one in lines), out=out)
    return transform.deduced(transform.legalize_ops(read(text, "m.py")))


@pytest.fixture(scope="module")
def theirs():
    cases = [{"text": show(legal(name)), "passes": [*PASSES]} for name in CASES]
    done = subprocess.run(
        [PYTHON, str(SIDE)], input=json.dumps(cases), capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return dict(zip(CASES, json.loads(done.stdout), strict=True))


def bare(module):
    """The module without annotations of types, which are TVM's where a call says its type, and op_pattern."""

    def change(node):
        if isinstance(node, tir.PrimFunc):
            return tir.PrimFunc(
                node.params,
                node.buffer_map,
                node.body,
                {key: value for key, value in node.attrs.items() if key != "op_pattern"},
                node.ret_dtype,
                node.private,
            )
        return node

    return IRModule({name: rewrite(func, change) for name, func in module.functions.items()})


@pytest.mark.parametrize("name", CASES)
def test_both_make_the_same_functions(theirs, name):
    module = legal(name)
    for (step, ours), text in zip(PASSES.items(), theirs[name], strict=True):
        module = ours(module)
        other = read(text, "tvm.py")
        assert sorted(module.functions) == sorted(other.functions), f"{step}\n{text}\n{show(module)}"
        for key in module.functions:
            if isinstance(module[key], tir.PrimFunc):
                kinds = [one.attrs.get("op_pattern") for one in (module[key], other[key])]
                assert kinds[0] == kinds[1] or key.startswith("fused"), f"{step} {key} {kinds}\n{text}"
                one, two = IRModule({"f": module[key]}), IRModule({"f": other[key]})
                assert structural_equal(bare(one), bare(two)), f"{step} {key}\n{text}\n{show(module)}"
            else:
                assert calls(module[key]) == calls(other[key]), f"{step} {key}\n{text}\n{show(module)}"


def calls(func):
    """What a function of Relax calls, in order, and how many bindings it has."""
    found = [node.name for node in walk(func.body) if isinstance(node, tir.GlobalVar | relax.Op | relax.ExternFunc)]
    return found, sum(len(block.bindings) for block in func.body.blocks)
