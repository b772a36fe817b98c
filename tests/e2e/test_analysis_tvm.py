"""Real TVM and `refmlc.tvm` on the same modules: `relax.analysis`, `Normalize`, `FoldConstant`."""

import json
import os
import re
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from refmlc.lang.ir import relax as nodes
from refmlc.lang.ir.equal import first_difference
from refmlc.lang.ir.visit import rewrite
from refmlc.lang.script import show
from refmlc.lang.wellformed.reader_checks import read
from refmlc.tvm.relax import analysis, transform

PYTHON = os.environ.get("REFMLC_TVM_PYTHON", "")
SIDE = Path(__file__).parent / "tvm_side"

pytestmark = pytest.mark.needs("tvm")

MODULE = (Path(__file__).parents[1] / "programs" / "several_functions.py").read_text(encoding="utf-8")


def asked(side, text):
    done = subprocess.run([PYTHON, str(SIDE / side)], input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


def names(variables):
    return list(dict.fromkeys(var.name for var in variables))


def test_what_is_said_of_a_function():
    module = read(MODULE, "analysis.py")
    main, theirs = module["main"], asked("analyses.py", MODULE[MODULE.index("@I.") :])
    dimensions = {"n", "m"}
    for ours, key in ((analysis.bound_vars(main), "bound"), (analysis.free_vars(main), "free")):
        assert names(ours) == [name for name in theirs[key] if name not in dimensions]
    assert names(analysis.free_vars(main.body)) == theirs["free in the body"]
    assert set(names(analysis.used_vars(main))) == set(theirs["used"])
    assert names(analysis.all_global_vars(main)) == theirs["globals"]
    assert set(names(analysis.get_var2val(main))) == set(theirs["values"])
    assert {key: len(found) for key, found in analysis.name_to_binding(main).items()} == theirs["bindings"]
    chain = {var.name: set(names(readers)) for var, readers in analysis.udchain(main.body.blocks[0]).items()}
    assert chain == {key: set(found) for key, found in theirs["chain"].items()}
    assert [set(names(group)) for group in analysis.detect_recursion(module)] == [set(one) for one in theirs["circles"]]
    assert set(names(analysis.defined_symbolic_vars(main))) == set(theirs["defined"])
    assert names(analysis.free_symbolic_vars(main)) == theirs["undefined"] == []
    seen = []
    analysis.post_order_visit(main.body.blocks[0].bindings[1].value, lambda node: seen.append(type(node).__name__))
    assert seen == theirs["visited"]


DEVICES = """
@I.ir_module
class Module:
    I.module_global_infos({"vdevice": [I.vdevice("c", 1, "global"), I.vdevice("c", 0, "shared"), I.vdevice("llvm", 7)]})
    @R.function
    def main(x: R.Tensor((2,), "float32", "c:1"), y: R.Tensor((2,), "float32", "vdevice:0")):
        a = R.to_vdevice(x, "llvm")
        b = R.hint_on_device(y, R.device(device_type=1, index=3), "local")
        c = R.hint_on_device(y, "cpu")
        return (a, b, c)
"""


def test_devices_are_called_as_tvm_calls_them():
    ((theirs, _),) = asked("apply_folding.py", json.dumps([{"text": DEVICES, "passes": ["Normalize"]}]))[0]
    ours = show(read(DEVICES, "m.py"))
    for line in ("R.to_vdevice(", "R.hint_on_device("):
        calls = [[row.partition(" = ")[2] for row in text.splitlines() if line in row] for text in (ours, theirs)]
        assert calls[0] == calls[1] != []
    names = [
        re.findall(r'vdevice="([^"]*)"', next(row for row in text.splitlines() if "def main" in row))[:2]
        for text in (ours, theirs)
    ]
    assert names[0] == names[1] == ["c:1:shared", "c:0:global"]


# ---------------------------------------------------------------------------------------------------- passes

HEAD = """@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def twice(A: T.Buffer((2,), "float32"), B: T.Buffer((2,), "float32")):
        for i in range(2):
            B[i] = A[i] + A[i]

    @R.function
    def main(x: R.Tensor((2,), "float32"), c: R.Tensor((), "bool")):
        cls = Module
"""
A, B = "R.const([1, 2], 'float32')", "R.const([3, 5], 'float32')"
BODIES = {
    "calls in calls": ["return R.add(R.exp(x), R.multiply(R.negative(x), x))"],
    "a dataflow block": [
        "with R.dataflow():",
        "    y = R.add(R.exp(x), R.multiply(R.negative(x), x))",
        "    R.output(y)",
        "return R.exp(y)",
    ],
    "fields and tuples": ["return (R.split(R.exp(x), indices_or_sections=2, axis=0)[0], (R.exp(x), x))"],
    "branches": ["if c:", "    w = R.exp(R.negative(x))", "else:", "    w = R.exp(x)", "return w"],
    "constants": [
        "with R.dataflow():",
        f"    a = R.add({A}, {B})",
        "    b = R.call_tir(cls.twice, (a,), out_ty=R.Tensor((2,), 'float32'))",
        "    d = R.multiply(b, x)",
        "    R.output(d)",
        "return d",
    ],
    "a constant that leaves its block": [
        "with R.dataflow():",
        f"    a = R.add({A}, {B})",
        "    R.output(a)",
        "return R.multiply(a, x)",
    ],
    "no dataflow block": [f"a = R.add({A}, {B})", "return R.multiply(a, x)"],
    "many operators": [
        "with R.dataflow():",
        f"    a = R.subtract({A}, {B})",
        f"    b = R.permute_dims(R.reshape({A}, (2, 1)), axes=[1, 0])",
        f"    d = R.sum({B}, axis=[0], keepdims=True)",
        "    e = R.concat((a, d), axis=0)",
        "    f = R.multiply(R.abs(e), R.full((3,), R.const(2, 'float32'), 'float32'))",
        "    R.output(b, f)",
        "return (b, f)",
    ],
}


def text_of(name):
    return HEAD + "".join(f"        {line}\n" for line in BODIES[name])


def bare(module):
    """The module without types, of which TVM's text leaves some out, and constants as lists."""

    def change(node):
        match node:
            case nodes.Function():
                return replace(node, ret_ty=None)
            case nodes.Var():
                return replace(node, ty=None)
            case nodes.Constant(data) if data.ndim:
                return nodes.StringImm(str(data.tolist()))
        return node

    return rewrite(module, change)


def theirs_of(stage):
    """The module of a stage of TVM's, its constants as lists."""
    text, values = stage

    def change(node):
        return nodes.StringImm(str(values[node.index])) if isinstance(node, nodes.MetadataRef) else node

    return bare(rewrite(read(text, "theirs.py"), change))


@pytest.fixture(scope="module")
def theirs():
    cases = [{"text": text_of(name), "passes": ["Normalize", "FoldConstant"]} for name in BODIES]
    return dict(zip(BODIES, asked("apply_folding.py", json.dumps(cases)), strict=True))


@pytest.mark.parametrize("name", BODIES)
def test_the_same_normal_form(name, theirs):
    ours = transform.Normalize()(read(text_of(name), "m.py"))
    difference = first_difference(bare(ours), theirs_of(theirs[name][0]))
    assert difference is None, f"{difference}\n{show(ours)}\n{theirs[name][0][0]}"


@pytest.mark.parametrize("name", BODIES)
def test_the_same_constants(name, theirs):
    ours = transform.FoldConstant()(transform.Normalize()(read(text_of(name), "m.py")))
    difference = first_difference(bare(ours), theirs_of(theirs[name][1]))
    assert difference is None, f"{difference}\n{show(ours)}\n{theirs[name][1][0]}"
