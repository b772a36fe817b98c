"""`tvm.relax.analysis`, `FoldConstant`, `Normalize`, `te.size_var`; what is refused by name."""

from pathlib import Path

import numpy as np
import pytest

from refmlc import tvm
from refmlc.diag import RefmlcError
from refmlc.lang.ir import relax as nodes
from refmlc.lang.ir.attrs import VDevice
from refmlc.lang.ir.equal import structural_equal
from refmlc.lang.ir.visit import walk
from refmlc.lang.script import show
from refmlc.lang.wellformed.reader_checks import read
from refmlc.tvm.relax import analysis
from refmlc.vm import VirtualMachine, build, fold_constant

MODULE = (Path(__file__).parents[2] / "programs" / "several_functions.py").read_text(encoding="utf-8")
MOD = read(MODULE, "analysis.py")
MAIN = MOD["main"]


def names(variables):
    """The names, each once: branches bind the variable of their `if`."""
    return list(dict.fromkeys(var.name for var in variables))


def test_variables_of_a_function():
    assert names(analysis.bound_vars(MAIN)) == ["x", "y", "c", "a", "b", "e", "z", "w", "q", "t"]
    assert names(analysis.used_vars(MAIN)) == ["x", "a", "b", "y", "c", "e", "q", "w", "z", "t"]
    assert analysis.free_vars(MAIN) == []
    assert names(analysis.free_vars(MAIN.body)) == ["x", "y", "c"]
    assert set(names(analysis.all_vars(MAIN))) == set("xycabezwqt")
    assert names(analysis.all_global_vars(MAIN)) == names(analysis.called_global_vars(MAIN)) == ["k", "other"]


def test_bindings_of_a_function():
    values = analysis.get_var2val(MAIN)
    assert set(names(values)) == set("abewqt")
    assert {key: len(found) for key, found in analysis.name_to_binding(MAIN).items()} == dict.fromkeys("abezwt", 1)
    chain = {var.name: names(readers) for var, readers in analysis.udchain(MAIN.body.blocks[0]).items()}
    assert chain == {"x": ["a"], "a": ["b", "e"], "b": ["e"], "e": []}


def test_dimensions():
    assert names(analysis.defined_symbolic_vars(MAIN)) == ["n", "m"]
    assert analysis.free_symbolic_vars(MAIN) == []
    ty = MAIN.params[1].ty
    assert names(analysis.tir_vars_in_type(ty)) == names(analysis.definable_tir_vars_in_type(ty)) == ["n"]
    sized = read('@R.function\ndef f(x: R.Tensor(("n", "n * m"), "float32"), y: R.Shape(["m"])):\n    return x', "f.py")
    types = [param.ty for param in sized["f"].params]
    assert [names(analysis.tir_vars_in_type(one)) for one in types] == [["n", "m"], ["m"]]
    assert [names(analysis.definable_tir_vars_in_struct_info(one)) for one in types] == [["n"], ["m"]]


def test_what_is_below_is_visited_first():
    seen = []
    value = MAIN.body.blocks[0].bindings[1].value
    analysis.post_order_visit(value, lambda node: seen.append(type(node).__name__))
    assert seen == ["Op", "GlobalVar", "Var", "Tuple", "Call"]


def test_circles_of_calls():
    assert [set(names(group)) for group in analysis.detect_recursion(MOD)] == [{"other", "third"}]
    own = "@R.function\ndef f(x: R.Tensor((2,), 'float32')) -> R.Tensor((2,), 'float32'):\n    return cls.f(x)"
    assert [names(group) for group in analysis.detect_recursion(read(own, "f.py"))] == [["f"]]


def test_well_formed():
    assert analysis.well_formed(MOD)
    assert analysis.check_well_formed(MAIN)
    text = MODULE.replace("R.output(e)", "R.output(b)")
    bad = read(text, "bad.py", check=False)
    assert not analysis.check_well_formed(bad)
    with pytest.raises(RefmlcError, match="RM204"):
        analysis.well_formed(bad)


def test_what_nothing_needs_is_removed():
    func = read(
        "@R.function\ndef f(x: R.Tensor((2,), 'float32')):\n    with R.dataflow():\n"
        "        a = R.exp(x)\n        b = R.negative(x)\n        R.output(b)\n    return b",
        "f.py",
    )["f"]
    kept = analysis.remove_all_unused(func)
    assert names(analysis.bound_vars(kept)) == ["x", "b"]


@pytest.mark.parametrize("name", ["type_lca", "contains_impure_call", "estimate_memory_usage", "unheard_of"])
def test_other_names_are_refused(name):
    with pytest.raises(AttributeError, match=f"`tvm.relax.analysis.{name}` is not covered"):
        getattr(analysis, name)


@pytest.mark.parametrize("name", ["Analyzer", "detect_iter_map", "unheard_of"])
def test_arith_is_refused_by_name(name):
    with pytest.raises(AttributeError, match=f"`tvm.arith.{name}` is not covered"):
        getattr(tvm.arith, name)


def test_a_size_is_a_variable():
    n = tvm.te.size_var("n", "int64")
    placed = tvm.te.placeholder((n,), "float32", name="A")
    func = tvm.te.create_prim_func([placed, tvm.te.compute((n,), lambda i: placed[i] * 2.0, name="B")])
    given, out = np.array([1, 2, 3], "float32"), np.zeros(3, "float32")
    VirtualMachine(build(tvm.IRModule({"main": func})))["main"](given, out)
    assert out.tolist() == [2, 4, 6]


def test_devices_of_calls():
    x = tvm.relax.Var("x", tvm.relax.TensorStructInfo((2,), "float32"))
    builder = tvm.relax.BlockBuilder()
    with builder.function("main", [x]):
        moved = builder.emit(tvm.relax.op.to_vdevice(x, "llvm:0"))
        builder.emit_func_output(builder.emit(tvm.relax.op.hint_on_device(moved, tvm.cpu(1), "shared")))
    text = show(builder.get())
    assert 'R.to_vdevice(x, dst_vdevice="llvm:0")' in text
    assert 'R.device(device_type=1, index=1), "shared")' in text
    given = np.array([1.5, -2.0], "float32")
    assert VirtualMachine(build(builder.get()))["main"](given).numpy().tolist() == [1.5, -2.0]
    with pytest.raises(RefmlcError, match="RM112"):
        tvm.relax.op.to_vdevice(x, VDevice({"kind": "cuda"}, 1, "shared"))
    with pytest.raises(RefmlcError, match="RM112"):
        tvm.relax.op.hint_on_device(x, "cuda")


# ------------------------------------------------------------------------------------------------- Normalize


def test_what_is_nested_is_bound():
    text = """
@R.function
def main(x: R.Tensor((2,), "float32"), lv: R.Tensor((2,), "float32")):
    with R.dataflow():
        y = R.add(R.exp(x), R.multiply(R.negative(x), lv))
        R.output(y)
    return R.split(R.exp(y), 2)[0]
"""
    wanted = """
@R.function
def main(x: R.Tensor((2,), "float32"), lv: R.Tensor((2,), "float32")) -> R.Tensor((1,), "float32"):
    with R.dataflow():
        lv1: R.Tensor((2,), "float32") = R.exp(x)
        lv2: R.Tensor((2,), "float32") = R.negative(x)
        lv3: R.Tensor((2,), "float32") = R.multiply(lv2, lv)
        y: R.Tensor((2,), "float32") = R.add(lv1, lv3)
        R.output(y)
    gv: R.Tensor((2,), "float32") = R.exp(y)
    gv1: R.Tuple(R.Tensor((1,), "float32"), R.Tensor((1,), "float32")) = R.split(gv, 2)
    gv2: R.Tensor((1,), "float32") = gv1[0]
    return gv2
"""
    module = read(text, "nested.py")
    found = tvm.relax.transform.Normalize()(module)
    assert structural_equal(found, read(wanted, "flat.py")), show(found)
    args = [np.array([0.5, -1.25], "float32"), np.array([3.0, 2.0], "float32")]
    before, after = (VirtualMachine(build(one))["main"](*args).numpy().tobytes() for one in (module, found))
    assert before == after
    assert structural_equal(tvm.relax.transform.Normalize()(found), found)


def test_branches_and_local_functions_are_normalised_too():
    text = """
@R.function
def main(c: R.Tensor((), "bool"), x: R.Tensor((2,), "float32")):
    @R.function
    def inner(z: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        return R.exp(R.exp(z))
    if c:
        w = R.exp(R.negative(x))
    else:
        w = inner(R.exp(x))
    return w
"""
    found = tvm.relax.transform.Normalize()(read(text, "nested.py"))
    shown = show(found)
    assert "R.exp(R." not in shown
    assert "inner(R." not in shown
    calls = [node for node in analysis.get_var2val(found["main"]).values() if isinstance(node, nodes.Call)]
    assert all(isinstance(arg, nodes.Var) for call in calls for arg in call.args)


# ---------------------------------------------------------------------------------------------- FoldConstant


def folded(lines, head=""):
    text = f"""
@I.ir_module
class Module:
{head}
    @R.function
    def main(x: R.Tensor((2,), "float32")):
        cls = Module
        with R.dataflow():
{chr(10).join("            " + line for line in lines)}
            R.output(gv)
        return gv
"""
    return tvm.relax.transform.FoldConstant()(read(text, "fold.py"))["main"]


TWICE = """
    @T.prim_func(private=True, s_tir=True)
    def twice(A: T.Buffer((2,), "float32"), B: T.Buffer((2,), "float32")):
        for i in range(2):
            B[i] = A[i] + A[i]
"""


def constants(func):
    """The values of the tensors in it."""
    return [node.data.tolist() for node in walk(func) if isinstance(node, nodes.Constant)]


def test_calls_of_constants_become_their_results():
    found = folded(
        [
            "a = R.add(R.const([1, 2], 'float32'), R.const([3, 5], 'float32'))",
            "b = R.call_tir(cls.twice, (a,), out_ty=R.Tensor((2,), 'float32'))",
            "d = R.multiply(b, x)",
            "z = R.zeros(R.shape([2]), 'float32')",
            "gv = R.add(d, z)",
        ],
        TWICE,
    )
    assert names(analysis.bound_vars(found)) == ["x", "d", "gv"]
    assert constants(found) == [[8, 14], [0, 0]]


@pytest.mark.parametrize(
    "call",
    [
        "R.add(x, R.const([1, 2], 'float32'))",
        "R.zeros(R.shape([1025]), 'float32')",
        "R.call_dps_packed('not.here', (R.const([1, 2], 'float32'),), out_ty=R.Tensor((2,), 'float32'))",
        "R.split(R.const([1, 2], 'float32'), 2)",
    ],
)
def test_other_calls_stay(call):
    (value,) = analysis.get_var2val(folded([f"gv = {call}"])).values()
    assert isinstance(value, nodes.Call)


def test_an_undefined_call_stays_where_it_is():
    head = TWICE.replace("A[i] + A[i]", "A[i + 1]")
    found = folded(
        ["gv = R.call_tir(cls.twice, (R.const([1, 2], 'float32'),), out_ty=R.Tensor((2,), 'float32'))"], head
    )
    (value,) = analysis.get_var2val(found).values()
    assert isinstance(value, nodes.Call)


def test_a_module_without_constants_is_itself():
    module = read('@R.function\ndef f(x: R.Tensor((2,), "float32")):\n    return R.exp(x)', "f.py")
    assert fold_constant(module) is module
