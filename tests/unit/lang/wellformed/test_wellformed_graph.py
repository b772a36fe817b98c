"""Rules of Relax on trees made by hand."""

import numpy as np
import pytest

from refmlc.diag import Source, Span
from refmlc.lang.dtypes import BOOL, FLOAT16, FLOAT32, HANDLE, INT32, INT64
from refmlc.lang.ir import IRModule, tir
from refmlc.lang.ir.relax import (
    BindingBlock,
    Call,
    Constant,
    DataflowBlock,
    DataTypeImm,
    ExternFunc,
    Function,
    If,
    MatchCast,
    Op,
    PrimValue,
    SeqExpr,
    ShapeExpr,
    StringImm,
    Tuple,
    TupleGetItem,
    Var,
    VarBinding,
)
from refmlc.lang.ir.types import AnyType, FuncType, PrimType, ShapeType, TensorType, TupleType
from refmlc.lang.wellformed import check_module

SOURCE = Source("r.py", "\n" * 99)
GV = tir.GlobalVar


def at(line):
    return Span(SOURCE, line, 0, line, 1)


def dims(*sizes):
    return tuple(tir.IntImm(INT64, size) if isinstance(size, int) else size for size in sizes)


def tensor(*sizes, dtype=FLOAT32):
    return TensorType(dims(*sizes), dtype)


def plus(a, number):
    return tir.Apply("add", (a, tir.IntImm(INT64, number)), INT64)


def prim(*buffers, scalars=(), **more):
    """A function of `buffers`, (name, shape, …) each, then of scalars."""
    made = [tir.Buffer(name, FLOAT32, dims(*shape), span=at(1)) for name, *shape in buffers]
    params = [tir.Var(f"p{k}", HANDLE) for k in range(len(made))]
    body = tir.Evaluate(tir.IntImm(INT32, 0))
    return tir.PrimFunc((*params, *scalars), dict(zip(params, made, strict=True)), body, **more)


N, M = tir.Var("n", INT64), tir.Var("m", INT64)
X = Var("x", tensor(4))
Y = Var("y", None)
ADD = prim(("A", 4), ("B", 4), ("C", 4))


def call(op, *args, out=()):
    return Call(Op(op) if isinstance(op, str) else op, args, ty_args=out)


def call_tir(name, *args, out, dims_given=()):
    more = (ShapeExpr(dims(*dims_given)),) if dims_given else ()
    return call("call_tir", GV(name), Tuple(args), *more, out=(out,))


def bind(var, value, line=9):
    return VarBinding(var, value, span=at(line))


def function(*bindings, params=(X,), result=X, dataflow=False, ret=None, **more):
    block = DataflowBlock(bindings) if dataflow else BindingBlock(bindings)
    return Function(params, SeqExpr((block,), result), ret, span=at(2), **more)


def findings(main, **others):
    return [(row.code.id, row.message) for row in check_module(IRModule({"add": ADD, **others, "main": main}))]


def only(main, **others):
    (found,) = findings(main, **others)
    return found


# --------------------------------------------------------------------------------------------------- scopes


def test_a_variable_is_visible_after_its_binding():
    assert findings(function(bind(Y, X), result=Y)) == []
    assert only(function(bind(Var("z", None), Y), bind(Y, X))) == ("RM203", "variable `y` is used before it is defined")


def test_a_dataflow_variable_ends_with_its_block():
    inner, outer = Var("lv", None, True, span=at(4)), Var("gv", None)
    body = DataflowBlock((bind(inner, X), bind(outer, inner)))
    assert findings(Function((X,), SeqExpr((body,), outer), None)) == []
    (found,) = check_module(IRModule({"main": Function((X,), SeqExpr((body,), inner, span=at(7)), None)}))
    message = "dataflow variable `lv` is used outside its block, and is not in its `R.output`"
    assert (found.code.id, found.message, found.span) == ("RM204", message, at(7))
    assert found.related[0].span == at(4)


def test_a_variable_of_a_branch_ends_with_it():
    cond, inner = Var("c", tensor(dtype=BOOL)), Var("b", None)
    branch = SeqExpr((BindingBlock((bind(inner, X),)),), inner)
    choice = If(cond, branch, SeqExpr((), X))
    assert findings(function(bind(Y, choice), params=(X, cond), result=Y)) == []
    wrong = function(bind(Y, choice), params=(X, cond), result=inner)
    assert only(wrong) == ("RM203", "variable `b` is used outside its scope")


def test_a_local_function_sees_what_is_around_it_and_itself():
    param, local = Var("p", tensor(4)), Var("inner", None)
    body = SeqExpr((), Tuple((X, call(local, param))))
    assert findings(function(bind(local, Function((param,), body, None)))) == []
    assert findings(function(result=Function((param,), SeqExpr((), param), None))) == []
    assert only(function(result=Tuple((Function((param,), SeqExpr((), param), None), param))))[0] == "RM203"


def test_a_sequence_inside_an_expression_has_its_own_scope():
    inner = Var("b", None)
    value = SeqExpr((BindingBlock((bind(inner, X),)),), inner)
    assert only(function(bind(Y, value), result=inner))[0] == "RM203"


def test_parameters_have_different_names():
    assert only(function(params=(X, Var("x", None)))) == ("RM210", "two parameters are called `x`")


def test_what_is_no_tensor_has_no_rules_of_its_own():
    values = Tuple((StringImm("s"), DataTypeImm(INT32), ExternFunc("f"), Constant(np.zeros(2, "float32"), FLOAT32)))
    assert findings(function(result=values)) == []


# -------------------------------------------------------------------------------------------------- effects

IMPURE_CALLS = {
    "operator": (call("print", X), "`R.print`"),
    "packed": (call(ExternFunc("f"), X), "the packed function `f`"),
    "function": (call(GV("impure"), X), "`impure`"),
    "TensorIR function": (call(GV("add"), X, X, X), "`add`"),
}
IMPURE = function(pure=False)


@pytest.mark.parametrize("name", IMPURE_CALLS)
def test_effects_stand_in_impure_functions_outside_dataflow_blocks(name):
    value, what = IMPURE_CALLS[name]
    assert findings(function(bind(Y, value), pure=False), impure=IMPURE) == []
    assert findings(function(bind(Y, value), attrs={"relax.force_pure": True}), impure=IMPURE) == []
    said = f"{what} has an effect, and is called in `main`, which is declared pure"
    assert only(function(bind(Y, value)), impure=IMPURE) == ("RM212", said)
    said = f"{what} has an effect, and is called in a dataflow block"
    assert only(function(bind(Y, value), dataflow=True, pure=False), impure=IMPURE) == ("RM205", said)


def test_a_function_that_is_not_pure_is_one_mistake():
    effects = [bind(Var(f"u{line}", None), call("print", X), line) for line in (3, 4, 5)]
    (found,) = check_module(IRModule({"main": function(*effects)}))
    assert (found.code.id, found.span) == ("RM212", at(3))


def test_values_of_function_type_say_whether_they_are_pure():
    for pure, codes in ((True, []), (False, ["RM212"])):
        param = Var("f", FuncType((tensor(4),), tensor(4), pure))
        assert [code for code, _ in findings(function(bind(Y, call(param, X)), params=(X, param)))] == codes
    assert findings(function(bind(Y, call(TupleGetItem(X, 0), X)))) == []
    anything = FuncType(None, None, pure=False)
    tuple_param = Var("t", TupleType((anything,)))
    found = only(function(bind(Y, call(TupleGetItem(tuple_param, 0), X)), params=(X, tuple_param)))
    assert found[1].startswith("the called function has an effect")


def test_pure_calls_may_stand_anywhere():
    scalar = prim(scalars=(tir.Var("k", INT64),))
    values = [
        call("builtin.alloc_tensor", ShapeExpr(dims(4)), DataTypeImm(FLOAT32)),
        call("add", X, X),
        call("call_pure_packed", ExternFunc("f"), X, out=(AnyType(),)),
        call(GV("scalar"), PrimValue(tir.IntImm(INT64, 1))),
        call(GV("ext"), X),
    ]
    bindings = [bind(Var(f"v{k}", None), value) for k, value in enumerate(values)]
    assert findings(function(*bindings, dataflow=True), scalar=scalar, ext=ExternFunc("e")) == []


def test_a_local_function_in_a_dataflow_block_is_judged_by_itself():
    param = Var("p", None)
    local = Function(
        (param,), SeqExpr((BindingBlock((bind(Var("u", None), call("print", param)),)),), param), None, False
    )
    assert findings(function(bind(Y, local), dataflow=True)) == []


# ---------------------------------------------------------------------------------------------------- calls


def test_functions_of_the_module_exist_and_take_so_many_arguments():
    assert only(function(bind(Y, call(GV("f"), X)))) == ("RM207", "the module has no function `f`")
    assert only(function(bind(Y, call_tir("f", X, out=tensor(4)))))[0] == "RM207"
    g = function()
    assert findings(function(bind(Y, call(GV("g"), X))), g=g) == []
    assert only(function(bind(Y, call(GV("g"), X, X))), g=g) == ("RM206", "`g` takes 1 argument, 2 given")
    direct = function(bind(Y, call(GV("add"), X)), pure=False)
    assert only(direct) == ("RM206", "`add` takes 3 arguments, 1 given")
    param = Var("f", FuncType((tensor(4),), None))
    assert only(function(bind(Y, call(param)), params=(X, param))) == ("RM206", "`f` takes 1 argument, 0 given")


def test_arguments_fit_the_parameters_of_a_relax_function():
    g = function(params=(Var("a", tensor(N, plus(N, 1))), Var("b", tensor(N))), result=StringImm(""))
    good = Var("s", tensor(3, 4)), Var("t", tensor(3))
    assert findings(function(bind(Y, call(GV("g"), *good)), params=(X, *good)), g=g) == []
    bad = Var("s", tensor(3, 5)), Var("t", tensor(4))
    found = check_module(IRModule({"g": g, "main": function(bind(Y, call(GV("g"), *bad)), params=(X, *bad))}))
    assert [(row.code.id, row.message) for row in found] == [
        ("RM202", "argument 0 of `g` does not fit: declared (n, n + 1), given (3, 5)")
    ]
    assert found[0].notes == ("argument 1: declared (n,), given (4,)",)


def test_call_tir_gives_inputs_then_outputs_then_shape_variables():
    assert findings(function(bind(Y, call_tir("add", X, X, out=tensor(4))))) == []
    few = function(bind(Y, call_tir("add", X, out=tensor(4))))
    assert only(few) == ("RM206", "`add` takes 3 arguments, 2 given")
    two = function(bind(Y, call_tir("add", X, out=TupleType((tensor(4), tensor(4))))))
    assert findings(two) == []
    sized = prim(("A", 4), ("B", N), scalars=(N,))
    good = function(bind(Y, call_tir("sized", X, out=tensor(7), dims_given=(7,))))
    assert findings(good, sized=sized) == []
    bad = function(bind(Y, call_tir("sized", X, out=tensor(7), dims_given=(8,))))
    said = "the output of the call of `sized` does not fit buffer `B`: declared (n,), given (7,)"
    assert only(bad, sized=sized) == ("RM202", said)


def test_arguments_of_call_tir_fit_its_buffers():
    linear = prim(("X", 1, 128), ("W", 10, 128), ("B", 10), ("Z", 1, 10))
    params = tuple(Var(f"a{k}", ty) for k, ty in enumerate((tensor(1, 128), tensor(1, 128), tensor(128))))
    main = function(bind(Y, call_tir("linear", *params, out=tensor(1, 128)), 9), params=params, result=Y)
    (found,) = check_module(IRModule({"linear": linear, "main": main}))
    said = "argument 1 of the call of `linear` does not fit buffer `W`: declared (10, 128), given (1, 128)"
    assert (found.code.id, found.message, found.span) == ("RM202", said, at(9))
    assert found.notes == (
        "argument 2 does not fit buffer `B`: declared (10,), given (128,)",
        "the output does not fit buffer `Z`: declared (1, 10), given (1, 128)",
    )


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (TensorType(None, FLOAT32, 2), "declared of rank 1, given of rank 2"),
        (tensor(4, dtype=FLOAT16), "declared float32, given float16"),
        (tensor(4, 1), "declared (4,), given (4, 1)"),
        (TensorType(None, FLOAT32, 1), None),
        (TensorType(None, None), None),
        (tensor(N), None),
        (AnyType(), None),
        (None, None),
    ],
)
def test_only_what_is_certain_is_reported(given, says):
    param = Var("p", given)
    main = function(bind(Y, call_tir("add", param, X, out=tensor(4))), params=(X, param, Var("q", tensor(N))))
    said = [] if says is None else [f"argument 0 of the call of `add` does not fit buffer `A`: {says}"]
    assert [message for _, message in findings(main)] == said


def test_call_tir_takes_a_tuple_value_or_one_tensor():
    pair = Var("t", TupleType((tensor(4), tensor(5))))
    value = call("call_tir", GV("add"), pair, out=(tensor(4),))
    assert "buffer `B`: declared (4,), given (5,)" in only(function(bind(Y, value), params=(pair,), result=pair))[1]
    value = call("call_tir", GV("one"), X, out=(tensor(5),))
    assert "the output" in only(function(bind(Y, value)), one=prim(("A", 4), ("B", 4)))[1]
    unknown = Var("t", None)
    value = call("call_tir", GV("add"), unknown, out=(tensor(4),))
    assert findings(function(bind(Y, value), params=(unknown,), result=unknown)) == []
    shape = Var("s", ShapeType(None, 1))
    value = call("call_tir", GV("add"), Tuple((X,)), shape, out=(tensor(4),))
    assert findings(function(bind(Y, value), params=(X, shape))) == []


def test_call_tir_calls_tensorir():
    g = function()
    wrong = function(bind(Y, call_tir("g", X, out=tensor(4))))
    assert only(wrong, g=g) == ("RM201", "`R.call_tir` calls `g`, which is not a TensorIR function")


def test_outputs_in_place_are_inputs():
    value = Call(Op("call_tir_inplace"), (GV("one"), Tuple((X,))), {"inplace_indices": (0,)}, (tensor(4),))
    assert findings(function(bind(Y, value)), one=prim(("A", 4))) == []
    number = tir.IntImm(INT64, -1)
    value = Call(Op("call_tir_inplace"), (GV("add"), Tuple((X, X))), {"inplace_indices": (number,)}, (tensor(4),))
    assert findings(function(bind(Y, value))) == []


# -------------------------------------------------------------------------------------------- types, shapes


def test_declared_types_are_not_contradicted():
    def declared(ty, value):
        return [(code, text) for code, text in findings(function(bind(Var("y", ty), value)))]

    assert declared(tensor(4), X) == []
    assert declared(TensorType(None, None), X) == []
    assert declared(tensor(5), X) == [
        ("RM202", '`y` is declared R.Tensor((5,), "float32"), the value is R.Tensor((4,), "float32")')
    ]
    assert declared(tensor(4, dtype=FLOAT16), X)[0][0] == "RM201"
    assert declared(ShapeType(None), X) == [
        ("RM201", '`y` is declared R.Shape, the value is R.Tensor((4,), "float32")')
    ]
    assert declared(ShapeType(None, 2), ShapeExpr(dims(1)))[0][0] == "RM202"
    assert declared(ShapeType(dims(1, 2)), ShapeExpr(dims(1, 3)))[0][0] == "RM202"
    assert declared(PrimType(INT32), PrimValue(tir.IntImm(INT64, 1))) == []
    assert declared(PrimType(FLOAT32), PrimValue(tir.IntImm(INT64, 1)))[0][0] == "RM201"
    assert declared(PrimType(INT64), PrimValue(tir.IntImm(INT64, 1))) == []
    assert declared(TupleType((tensor(4), tensor(5))), Tuple((X, X)))[0][0] == "RM202"
    assert declared(TupleType(()), Tuple((X,)))[0][0] == "RM201"
    assert declared(FuncType(None, None), Function((), SeqExpr((), X), None)) == []
    assert declared(FuncType((tensor(1),), None), GV("main")) == []


def test_what_follows_from_a_mistake_is_no_mistake_of_its_own():
    inner = Var("lv", None)
    wrong = bind(inner, call_tir("add", X, X, out=tensor(5)))
    main = function(wrong, bind(Var("gv", tensor(4)), inner), result=inner, ret=tensor(4))
    assert [code for code, _ in findings(main)] == ["RM202"]
    declared = Var("y", tensor(5))
    assert [code for code, _ in findings(function(bind(declared, X), result=declared, ret=tensor(4)))] == ["RM202"]


def test_return_types_are_not_contradicted():
    assert findings(function(ret=tensor(4))) == []
    code, message = only(function(ret=tensor(5)))
    assert (code, message.split(",")[0]) == ("RM202", "the return type of `main` is R.Tensor((5")


def test_conditions_are_scalars():
    def condition(ty):
        cond = Var("c", ty)
        value = If(cond, SeqExpr((), X), SeqExpr((), X))
        return findings(function(bind(Y, value), params=(X, cond)))

    assert condition(tensor(dtype=BOOL)) == condition(None) == condition(TensorType(None, None)) == []
    assert condition(tensor(4, dtype=BOOL)) == [("RM201", 'the condition is R.Tensor((4,), "bool"), not a scalar bool')]
    assert condition(TensorType(None, FLOAT32, 0))[0][0] == "RM201"


def test_fields_of_a_tuple_exist():
    pair = Var("t", TupleType((tensor(4), tensor(5))))
    assert findings(function(params=(pair,), result=TupleGetItem(pair, 1))) == []
    wrong = function(params=(pair,), result=TupleGetItem(pair, 2))
    assert only(wrong) == ("RM201", "a tuple with 2 fields has no field 2")


def test_shape_variables_are_bound_by_parameters():
    wide = Var("a", tensor(N, plus(N, 1)))
    shape, number = Var("s", ShapeType(dims(M))), Var("k", PrimType(INT64, tir.Var("k", INT64)))
    use = ShapeExpr(dims(N, M, number.ty.value))
    assert findings(function(params=(wide, shape, number), result=use)) == []
    tuples = Var("t", TupleType((tensor(N),)))
    assert findings(function(params=(tuples,), result=ShapeExpr(dims(N)))) == []
    said = "shape variable `n` is not bound by a parameter or a match_cast"
    assert only(function(params=(Var("a", tensor(plus(N, 1))),), result=StringImm("")))[1] == said
    assert only(function(result=ShapeExpr(dims(N)))) == ("RM211", said)
    assert only(function(result=PrimValue(N))) == ("RM211", said)
    assert only(function(bind(Var("y", tensor(N)), call("f")))) == ("RM211", said)
    assert only(function(bind(Y, call("call_pure_packed", ExternFunc("f"), out=(tensor(N),))))) == ("RM211", said)
    assert findings(function(bind(Y, PrimValue(tir.Let(N, M, N))), params=(shape,), result=shape)) == []


def test_shape_variables_are_bound_by_match_cast():
    cast = MatchCast(Y, X, tensor(N))
    assert findings(function(cast, result=ShapeExpr(dims(N)))) == []
    wrong = function(MatchCast(Y, X, tensor(plus(N, 1))))
    assert only(wrong)[0] == "RM211"
    assert (
        findings(function(cast, bind(Var("z", tensor(M)), Y), MatchCast(Var("w", None), X, tensor(M))))[0][0] == "RM211"
    )


def test_a_primitive_variable_binds_what_its_type_names():
    value = tir.Var("k", INT64)
    number = Var("k", PrimType(INT64, value))
    assert findings(function(bind(number, call("f")), result=ShapeExpr(dims(value)))) == []


def test_types_of_function_parameters_bind_their_own_shape_variables():
    callee = Var("f", FuncType((tensor(N),), tensor(N)))
    assert findings(function(params=(X, callee))) == []


def test_the_return_type_names_known_shape_variables():
    result = Var("r", TensorType(None, None))
    assert findings(function(params=(Var("a", tensor(N)), result), result=result, ret=tensor(N))) == []
    assert only(function(params=(result,), result=result, ret=tensor(N)))[0] == "RM211"
