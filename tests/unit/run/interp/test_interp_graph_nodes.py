"""Relax nodes that no text makes, or that static rules refuse first; the tables."""

import numpy as np
import pytest

from refmlc.diag import RefmlcError
from refmlc.lang.dtypes import FLOAT32, INT64
from refmlc.lang.ir import IRModule, relax, tir
from refmlc.lang.ir.types import AnyType, TensorType, TupleType
from refmlc.lang.ops.graph import BUILTINS, GRAPH_OPS, is_pure
from refmlc.run.interp.graph.calls import BY_NAME
from refmlc.run.interp.graph.operators import OPERATORS
from refmlc.run.interp.machine import Machine
from refmlc.run.memory.registry import FunctionRegistry
from refmlc.run.memory.tensor import Tensor

X = relax.Var("x", AnyType())


def main(body, *bindings, block=relax.BindingBlock, functions=None):
    blocks = (block(tuple(bindings)),) if bindings else ()
    function = relax.Function((X,), relax.SeqExpr(blocks, body), None)
    return IRModule({"main": function, **(functions or {})})


def failure(module, *args):
    with pytest.raises(RefmlcError) as caught:
        Machine(module).call("main", args or (1,))
    return caught.value.diagnostic


def test_every_row_has_an_implementation_and_the_reverse():
    assert set(OPERATORS) == set(GRAPH_OPS)
    assert set(BY_NAME) == set(BUILTINS)


def test_purity():
    assert is_pure("call_tir")
    assert is_pure("nn.softmax")
    assert not is_pure("print")
    assert not is_pure("memory.kill_tensor")


def test_an_operator_is_no_value():
    found = failure(main(relax.Op("shape_of")))
    assert found.code.id == "RM201"
    assert "`shape_of` is not a value" in found.message


def test_metadata_that_the_text_leaves_out():
    found = failure(main(relax.MetadataRef("relax.expr.Constant", 3)))
    assert found.code.id == "RM108"
    assert 'metadata["relax.expr.Constant"][3]' in found.message


def test_variables_that_are_not_bound():
    assert failure(main(relax.Var("y", None))).code.id == "RM203"
    assert failure(main(relax.Var("y", None, dataflow=True))).code.id == "RM204"


def test_dataflow_variables_end_with_their_block():
    hidden, seen = relax.Var("lv", None, dataflow=True), relax.Var("gv", None)
    bindings = (relax.VarBinding(hidden, X), relax.VarBinding(seen, hidden))
    assert Machine(main(seen, *bindings, block=relax.DataflowBlock)).call("main", (4,)) == 4
    found = failure(main(hidden, *bindings, block=relax.DataflowBlock))
    assert found.code.id == "RM204"
    assert "`lv`" in found.message


def test_a_local_function_that_is_not_bound():
    y = relax.Var("y", None)
    local = relax.Function((y,), relax.SeqExpr((), relax.Tuple((X, y))), None)
    assert Machine(main(relax.Call(local, (relax.PrimValue(tir.IntImm(INT64, 2)),)))).call("main", (1,)) == (1, 2)


def test_a_sequence_is_an_expression():
    y = relax.Var("y", None)
    inner = relax.SeqExpr((relax.BindingBlock((relax.VarBinding(y, X),)),), relax.Tuple((y, y)))
    assert Machine(main(inner)).call("main", (3,)) == (3, 3)


def call(op, *args, ty_args=(), attrs=None):
    return relax.Call(relax.Op(op), args, attrs or {}, ty_args)


OUT = TensorType((tir.IntImm(INT64, 2),), FLOAT32)
NONE = relax.Tuple(())


@pytest.mark.parametrize(
    ("node", "code"),
    [
        (call("call_tir", X, NONE, ty_args=(OUT,)), "RM201"),
        (call("call_tir", tir.GlobalVar("f"), NONE), "RM206"),
        (call("call_tir", tir.GlobalVar("f"), NONE, ty_args=(OUT, OUT)), "RM206"),
        (call("call_tir", tir.GlobalVar("f"), NONE, ty_args=(TensorType(None, FLOAT32, 1),)), "RM202"),
        (call("call_tir", tir.GlobalVar("f"), NONE, ty_args=(TensorType(OUT.shape, None),)), "RM201"),
        (call("call_tir", tir.GlobalVar("f"), NONE, ty_args=(AnyType(),)), "RM201"),
        (call("call_tir", tir.GlobalVar("f"), NONE, ty_args=(OUT,)), "RM207"),
        (call("call_tir", tir.GlobalVar("f"), X, ty_args=(OUT,)), "RM201"),
        (call("call_tir_inplace", tir.GlobalVar("f"), NONE, ty_args=(OUT,)), "RM206"),
        (call("call_tir_inplace", tir.GlobalVar("f"), NONE, ty_args=(OUT,), attrs={"inplace_indices": "0"}), "RM206"),
        (call("call_pure_packed", X, ty_args=(OUT,)), "RM201"),
        (call("call_builtin_with_ctx", X, NONE), "RM201"),
        (call("call_tir"), "RM206"),
        (call("invoke_closure", tir.GlobalVar("main"), X), "RM201"),
        (call("memory.kill_tensor", relax.TupleGetItem(X, 0)), "RM201"),
    ],
)
def test_calls_that_make_no_sense(node, code):
    assert failure(main(node)).code.id == code


def test_inplace_indices_may_be_nodes_or_one_number():
    given = Tensor.from_numpy(np.zeros(2, "float32"))
    touch = relax.Function((relax.Var("a", None),), relax.SeqExpr((), NONE), None)
    for indices in ((tir.IntImm(INT64, 0),), 0):
        node = call(
            "call_tir_inplace",
            tir.GlobalVar("f"),
            relax.Tuple((X,)),
            ty_args=(OUT,),
            attrs={"inplace_indices": indices},
        )
        assert Machine(main(node, functions={"f": touch})).call("main", (given,)) is given


def test_extern_functions_of_the_module_are_called_by_their_symbol():
    module = main(relax.Call(tir.GlobalVar("f"), (X,)), functions={"f": relax.ExternFunc("env.negate")})
    assert failure(module).code.id == "RM402"
    registry = FunctionRegistry()
    registry.register("env.negate", lambda x: -x)
    assert Machine(module, registry=registry).call("main", (5,)) == -5


def test_a_tuple_of_one_output():
    node = call("call_tir", tir.GlobalVar("f"), NONE, ty_args=(TupleType((OUT,)),))
    touch = relax.Function((relax.Var("a", None),), relax.SeqExpr((), NONE), None)
    result = Machine(main(node, functions={"f": touch})).call("main", (1,))
    assert isinstance(result, tuple)
    assert result[0].shape == (2,)
