"""Modules and functions changed by hand, operators of Python on nodes, passes of one's own."""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from refmlc import tvm
from refmlc.diag import RefmlcError
from refmlc.lang.ir import relax as nodes, tir
from refmlc.lang.ir.types import TensorType
from refmlc.tvm import relax, te
from refmlc.tvm.script import relax as R  # noqa: N812 - as programs name it


def scaled(factor):
    a = te.placeholder((4,), name="A")
    return te.create_prim_func([a, te.compute((4,), lambda i: a[i] * factor, name="B")])


def module():
    bb = relax.BlockBuilder()
    gv = bb.add_func(scaled(2.0), "scale")
    x = relax.Var("x", R.Tensor((4,), "float32"))
    with bb.function("main", [x]):
        with bb.dataflow():
            out = bb.emit_output(bb.emit(relax.call_tir(gv, (x,), R.Tensor((4,), "float32"))))
        bb.emit_func_output(out)
    return bb.get()


def run(mod):
    vm = relax.VirtualMachine(tvm.compile(mod), tvm.cpu())
    return vm["main"](np.arange(4, dtype="float32")).numpy().tolist()


def test_a_function_is_put_in_the_place_of_another():
    mod = module()
    before, built = mod.functions, tvm.compile(mod)
    mod["scale"] = scaled(3.0)
    assert run(mod) == [0, 3, 6, 9]
    assert relax.VirtualMachine(built, tvm.cpu())["main"](np.ones(4, "float32")).numpy().tolist() == [2, 2, 2, 2]
    assert before["scale"] is not mod["scale"]
    mod.update_func(mod.get_global_var("scale"), scaled(5.0))
    assert run(mod) == [0, 5, 10, 15]


def test_names_of_functions():
    mod = module()
    assert [gv.name_hint for gv in mod.get_global_vars()] == ["scale", "main"]
    assert [(gv.name_hint, func is mod[gv]) for gv, func in mod.functions_items()] == [("scale", True), ("main", True)]
    assert "main" in mod
    assert tir.GlobalVar("other") not in mod
    with pytest.raises(KeyError):
        mod.get_global_var("other")
    copy = mod.clone()
    del copy["scale"]
    copy.update({"more": scaled(1.0)})
    assert list(copy.functions) == ["main", "more"]
    assert list(mod.functions) == ["scale", "main"]
    copy.update(mod)
    assert list(copy.functions) == ["main", "more", "scale"]


def test_attributes():
    mod = module().with_attr("k", 1)
    assert mod.get_attr("k") == 1
    assert mod.without_attr("k").get_attr("k") is None
    func = mod["main"].with_attr({"a": 1, "b": 2}).without_attr("a")
    assert dict(func.attrs) == {"b": 2}
    assert not scaled(1.0).with_attr("global_symbol", "f").private
    assert list(tvm.IRModule.from_expr(scaled(1.0).with_attr("global_symbol", "f")).functions) == ["f"]


def test_variables_of_a_builder_have_their_type_and_the_module_no_annotation():
    bb = relax.BlockBuilder()
    gv = bb.add_func(scaled(2.0), "scale")
    x = relax.Var("x", R.Tensor((4,), "float32"))
    with bb.function("main", [x]):
        y = bb.emit(relax.call_tir(gv, (x,), R.Tensor((4,), "float32")))
        assert isinstance(y.struct_info, TensorType)
        assert [one.value for one in y.ty.shape] == [4]
        bb.emit_func_output(y)
    assert "gv = R.call_tir(cls.scale" in bb.get().script()


def test_operators_of_python_are_operators_of_relax():
    bb = relax.BlockBuilder()
    x = relax.Var("x", R.Tensor((4,), "float32"))
    with bb.function("main", [x]):
        with bb.dataflow():
            y = bb.emit((1 + x) * 2 - x / 4.0)
            z = bb.emit(-(y % 3) + 7 // x**2)
            a, b = bb.emit(relax.op.split(z, 2))
            out = bb.emit_output(3 - (a + b))
        bb.emit_func_output(out)
    data = np.array([1, 2, -3, 0.5], "float32")
    y = (1 + data) * 2 - data / 4
    z = -(y % 3) + 7 // data**2
    found = relax.VirtualMachine(tvm.compile(bb.get()), tvm.cpu())["main"](data).numpy()
    np.testing.assert_allclose(found, 3 - (z[:2] + z[2:]), rtol=1e-6)


def test_fields_of_tuples():
    x, y = (relax.Var(name, R.Tensor((4,), "float32")) for name in "xy")
    both = relax.Tuple([x, y])
    assert both[1] is y
    pair = relax.Var("p", relax.TupleStructInfo([x.ty, y.ty]))
    assert isinstance(pair[-1], nodes.TupleGetItem)
    assert pair[-1].index == 1
    with pytest.raises(IndexError):
        pair[2]
    with pytest.raises(TypeError):
        x[0]
    with pytest.raises(RefmlcError):
        x + "one"
    call = tir.GlobalVar("f")(x, y)
    assert isinstance(call, nodes.Call)
    assert call.args == (x, y)


def test_constants_have_types():
    ty = relax.const(np.ones((2, 3), "float16")).struct_info
    assert ([one.value for one in ty.shape], str(ty.dtype)) == ([2, 3], "float16")


def test_modules_of_tvms_json_and_arrays_of_dlpack():
    saved = Path(__file__).parents[2] / "programs" / "tvm_saved.json.gz"
    one = json.loads(gzip.decompress(saved.read_bytes()))["s0000"]
    tvm.ir.assert_structural_equal(tvm.ir.load_json(one["json"]), tvm.script.from_source(one["text"]))
    array = np.arange(3, dtype="float32")
    shared = tvm.runtime.from_dlpack(array)
    array[0] = 7
    assert shared.numpy().tolist() == [7, 1, 2]


def test_arithmetic_of_shapes():
    n = tvm.tir.Var("n", "int64")
    ty = relax.TensorStructInfo((n * 2 + 1, 4), "float32")
    assert relax.Var("x", ty).script() == "x"
    assert ty.shape[0].script() == "n * T.int64(2) + T.int64(1)"
    assert (-n).expr.script() == "T.int64(0) - n"


def test_passes_of_ones_own():
    seen = []

    @tvm.transform.module_pass(opt_level=1, name="Look")
    def look(mod, ctx):
        seen.append(list(mod.functions))
        return mod

    @relax.transform.function_pass(opt_level=0)
    class Mark:
        def __init__(self, value):
            self.value = value

        def transform_function(self, func, mod, ctx):
            return func.with_attr("mark", self.value)

    passes = tvm.transform.Sequential([look, Mark(3), relax.get_pipeline("zero")])
    assert dict(passes(module())["main"].attrs) == {"mark": 3}
    assert seen == [["scale", "main"]]
    assert look.name == "Look"
    assert run(relax.get_pipeline("default")(module())) == [0, 2, 4, 6]
    with pytest.raises(AttributeError, match="opt_everything"):
        relax.get_pipeline("opt_everything")


def test_visitors_and_operators_by_name():
    @relax.expr_functor.visitor
    class Found(relax.PyExprVisitor):
        ops = ()

        def visit_call_(self, call):
            self.ops = (*self.ops, call.op == tvm.ir.Op.get("relax.call_tir"))
            super().visit_call_(call)

    found = Found()
    found.visit_expr(module()["main"])
    assert found.ops == (True,)
    assert isinstance(relax.op.add(relax.const(1.0), relax.const(1.0)).op, tvm.ir.Op)
    assert tvm.ir.Op.get("relax.add").same_as(nodes.Op("add"))
    assert "relax.nn.softmax" in tvm.ir.Op.list_op_names()
