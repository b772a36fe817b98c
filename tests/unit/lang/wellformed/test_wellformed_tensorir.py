"""Rules of TensorIR on trees made by hand: what a reader would never build is refused all the same."""

import pytest

from refmlc.diag import Exhausted, Source, Span
from refmlc.lang.dtypes import BOOL, FLOAT32, FLOAT64, HANDLE, INT32, INT64, VOID, dtype
from refmlc.lang.ir import IRModule
from refmlc.lang.ir.kinds import ForKind, IterKind
from refmlc.lang.ir.relax import ExternFunc
from refmlc.lang.ir.tir import (
    AllocBuffer,
    And,
    Apply,
    AssertStmt,
    AttrStmt,
    Bind,
    Break,
    Broadcast,
    Buffer,
    BufferData,
    BufferLoad,
    BufferRegion,
    BufferStore,
    Call,
    Cast,
    Continue,
    DeclBuffer,
    Evaluate,
    FloatImm,
    For,
    GlobalVar,
    IfThenElse,
    IfThenElseExpr,
    IntImm,
    IterVar,
    Let,
    MatchBufferRegion,
    Or,
    PrimFunc,
    Ramp,
    Range,
    Return,
    SBlock,
    SBlockRealize,
    Select,
    SeqStmt,
    Shuffle,
    StringImm,
    ThreadVar,
    Var,
    While,
)
from refmlc.lang.wellformed import check_module

SOURCE = Source("t.py", "\n" * 99)


def at(line):
    return Span(SOURCE, line, 0, line, 1)


def i32(value):
    return IntImm(INT32, value)


def f32(value):
    return FloatImm(FLOAT32, value)


TRUE = IntImm(BOOL, 1)
ZERO = i32(0)
I = Var("i", INT32)  # noqa: E741 - a loop variable
F = Var("f", FLOAT32)
HANDLE_A = Var("a", HANDLE)
A = Buffer("A", FLOAT32, (i32(4), i32(4)), span=at(2))
NOTHING = Evaluate(ZERO)


def load(*indices):
    return BufferLoad(A, indices)


def store(value, *indices, **more):
    return BufferStore(A, value, indices or (ZERO, ZERO), **more)


def function(*stmts, **more):
    body = stmts[0] if len(stmts) == 1 else SeqStmt(stmts)
    return PrimFunc((HANDLE_A, I, F), {HANDLE_A: A}, body, span=at(1), **more)


def findings(*stmts, others=None, **more):
    module = IRModule({"main": function(*stmts, **more), **(others or {})})
    return [(found.code.id, found.message) for found in check_module(module)]


def only(*stmts, **more):
    (found,) = findings(*stmts, **more)
    return found


def loop(body, var=None, extent=ZERO, **more):
    return For(var or Var("j", INT32), ZERO, extent, ForKind.SERIAL, body, **more)


def block(body=NOTHING, axes=(), values=(), predicate=TRUE, **more):
    rest = {"reads": None, "writes": None, **more}
    return SBlockRealize(values, predicate, SBlock("b", axes, rest.pop("reads"), rest.pop("writes"), body, **rest))


def axis(var=None, least=ZERO, extent=ZERO):
    return IterVar(var or Var("v", INT32), Range(least, extent), IterKind.SPATIAL)


LANES = Broadcast(TRUE, i32(4), BOOL.with_lanes(4))
WELL_FORMED = {
    "store": store(load(I, ZERO)),
    "lanes": BufferStore(
        A, Broadcast(f32(0.0), i32(4), FLOAT32.with_lanes(4)), (ZERO, Ramp(ZERO, i32(1), i32(4), INT32.with_lanes(4)))
    ),
    "predicate": store(BufferLoad(A, (ZERO, ZERO), TRUE), predicate=TRUE),
    "bool index": store(f32(0.0), TRUE, ZERO),
    "bool arithmetic": Evaluate(Apply("max", (TRUE, TRUE), BOOL)),
    "unknown operator": Evaluate(Apply("frobnicate", (ZERO, F), BOOL)),
    "declared result": Evaluate(Apply("reinterpret", (F,), INT32)),
    "comparison": IfThenElse(Apply("lt", (I, I), BOOL), NOTHING, NOTHING),
    "lazy": Evaluate(IfThenElseExpr(Or(And(TRUE, TRUE), TRUE), F, Select(TRUE, F, F))),
    "let": Evaluate(Let(v := Var("v", INT32), I, Apply("add", (v, v), INT32))),
    "bind": SeqStmt((Bind(w := Var("w", INT32), I), Evaluate(w))),
    "alloc": SeqStmt((AllocBuffer(s := Buffer("S", FLOAT32, (I,))), BufferStore(s, F, (ZERO,)))),
    "decl": SeqStmt(
        (
            DeclBuffer(d := Buffer("D", FLOAT32, (I,), (i32(2),), I), BufferData(A)),
            BufferStore(d, F, (ZERO,)),
        )
    ),
    "decl of fresh storage": DeclBuffer(Buffer("D", FLOAT32, (ZERO,)), None),
    "attr": AttrStmt(ThreadVar("threadIdx.x", t := Var("t", INT32)), "thread_extent", i32(4), Evaluate(t)),
    "attr of a string": AttrStmt("x", "pragma", StringImm("y"), NOTHING),
    "break": loop(IfThenElse(TRUE, Break())),
    "continue": While(TRUE, Continue()),
    "step": loop(NOTHING, step=i32(2)),
    "assert": AssertStmt(TRUE, ("m",)),
    "arguments": Evaluate(Call("f", (A, BufferRegion(A, ()), (I, "x", None), Cast(INT64, I), StringImm("s")), INT32)),
    "shuffle": Evaluate(Shuffle((I, I), (ZERO,), INT32)),
    "block": block(
        SeqStmt(
            (BufferStore(m := Buffer("M", FLOAT32, (n := Var("n", INT32),)), F, (n,)), Evaluate(x := Var("x", INT32)))
        ),
        (axis(x),),
        (I,),
        reads=(BufferRegion(A, (Range(x, i32(1)), Range(ZERO, i32(4)))),),
        writes=(),
        alloc_buffers=(Buffer("S", FLOAT32, ()),),
        match_buffers=(MatchBufferRegion(m, BufferRegion(A, (Range(ZERO, i32(1)), Range(ZERO, i32(4))))),),
        init=NOTHING,
    ),
}


@pytest.mark.parametrize("name", WELL_FORMED)
def test_nothing_is_said_on_what_is_well_formed(name):
    assert findings(WELL_FORMED[name]) == []


def test_return_of_the_declared_dtype():
    assert findings(Return(ZERO), ret_dtype=INT32) == []
    assert findings(Return(ZERO)) == []
    assert only(Return(F), ret_dtype=INT32) == ("RM201", "the function returns int32, the value is float32")


U = Var("u", INT32)
X = Buffer("X", FLOAT32, ())
V = Buffer("V", VOID, ())


@pytest.mark.parametrize(
    ("stmt", "code", "message"),
    [
        (Evaluate(U), "RM203", "variable `u` is used but never defined"),
        (SeqStmt((loop(NOTHING, U), Evaluate(U))), "RM203", "variable `u` is used outside its scope"),
        (DeclBuffer(Buffer("D", FLOAT32, (ZERO,), (U,)), None), "RM203", "variable `u` is used but never defined"),
        (AllocBuffer(Buffer("D", FLOAT32, (ZERO,), (), U)), "RM203", "variable `u` is used but never defined"),
        (BufferStore(X, F, ()), "RM203", "buffer `X` is used but never defined"),
        (Evaluate(BufferData(X)), "RM203", "buffer `X` is used but never defined"),
        (Evaluate(Call("f", (X,), VOID)), "RM203", "buffer `X` is used but never defined"),
        (SeqStmt((SeqStmt((AllocBuffer(X),)), BufferStore(X, F, ()))), "RM203", "buffer `X` is used outside its scope"),
        (AllocBuffer(Buffer("S", FLOAT32, (U,))), "RM211", "shape variable `u` is never defined"),
        (
            AllocBuffer(Buffer("S", FLOAT32, (Apply("add", (U, U), INT32),))),
            "RM211",
            "shape variable `u` is never defined",
        ),
        (AllocBuffer(Buffer("S", FLOAT32, (F,))), "RM201", "a dimension is float32, not an integer"),
        (SeqStmt((Bind(I, I), NOTHING)), "RM210", "`i` is defined inside its own scope"),
        (Bind(U, F), "RM201", "`u` is int32, its value is float32"),
        (Evaluate(Let(U, F, U)), "RM201", "`u` is int32, its value is float32"),
        (store(I), "RM201", "a value of int32 is stored to `A` of float32"),
        (store(F, F, ZERO), "RM201", "index 0 of `A` is float32, not an integer"),
        (
            store(F, Ramp(ZERO, i32(1), i32(4), INT32.with_lanes(4)), ZERO),
            "RM201",
            "index 0 of `A` is int32x4: only the last one may have lanes",
        ),
        (store(F, ZERO), "RM208", "buffer `A` has 2 dimensions, 1 index given"),
        (store(load(ZERO, ZERO, ZERO)), "RM208", "buffer `A` has 2 dimensions, 3 indices given"),
        (
            AllocBuffer(Buffer("V", FLOAT32, (i32(1), i32(1)), (i32(1),))),
            "RM208",
            "buffer `V` has 2 dimensions, 1 stride given",
        ),
        (AssertStmt(I, ()), "RM201", "the asserted condition is int32, not bool"),
        (While(F, NOTHING), "RM201", "the condition of `while` is float32, not bool"),
        (IfThenElse(I, NOTHING), "RM201", "the condition of `if` is int32, not bool"),
        (loop(NOTHING, extent=F), "RM201", "the extent of the loop over `j` is float32, not an integer"),
        (loop(NOTHING, step=F), "RM201", "the step of the loop over `j` is float32, not an integer"),
        (
            SeqStmt((AllocBuffer(V), BufferStore(V, Apply("add", (BufferLoad(V, ()), F), FLOAT32), ()))),
            "RM201",
            "buffer `V` has elements of void",
        ),
        (
            Evaluate(Apply("add", (Call("f", (), VOID), Call("f", (), VOID)), VOID)),
            "RM201",
            "`add` has no meaning on void",
        ),
        (Break(), "RM213", "`break` is outside a loop"),
        (SeqStmt((loop(Break()), Continue())), "RM213", "`continue` is outside a loop"),
        (Evaluate(Apply("add", (I, F), INT32)), "RM201", "the operands of `add` are int32 and float32"),
        (Evaluate(Apply("add", (I,), INT32)), "RM201", "`add` takes 2 operands, 1 given"),
        (Evaluate(Apply("exp", (HANDLE_A,), HANDLE)), "RM201", "`exp` has no meaning on handle"),
        (Evaluate(Apply("lt", (I, I), INT32)), "RM201", "`lt` of int32 and int32 is not int32"),
        (Evaluate(Apply("add", (I, I), INT64)), "RM201", "`add` of int32 and int32 is not int64"),
        (
            Evaluate(Cast(INT32.with_lanes(4), I)),
            "RM201",
            "a conversion from int32 to int32x4 does not keep the lanes",
        ),
        (Evaluate(And(I, TRUE)), "RM201", "the operands of `and` are int32 and bool, not bool"),
        (Evaluate(Or(TRUE, F)), "RM201", "the operands of `or` are bool and float32, not bool"),
        (Evaluate(Select(I, I, I)), "RM201", "the condition is int32, not bool"),
        (Evaluate(IfThenElseExpr(TRUE, I, F)), "RM201", "one arm is int32, the other is float32"),
        (
            Evaluate(Ramp(F, F, i32(4), FLOAT32.with_lanes(4))),
            "RM201",
            "the base of a ramp is float32, its stride is float32",
        ),
        (
            Evaluate(Broadcast(F, i32(4), FLOAT64.with_lanes(4))),
            "RM201",
            "a broadcast of float32 cannot be float64x4",
        ),
        (Evaluate(Shuffle((), (), INT32)), "RM201", "a shuffle of nothing cannot be int32"),
        (Evaluate(Shuffle((I, F), (), INT32)), "RM201", "a shuffle of int32 cannot be int32"),
        (Evaluate(Shuffle((I, I), (i32(2),), INT32)), "RM201", "an index of a shuffle of 2 lanes is 2"),
        (Evaluate(Shuffle((I, I), (i32(-1),), INT32)), "RM201", "an index of a shuffle of 2 lanes is -1"),
        (Evaluate(Shuffle((I, I), (I,), INT32)), "RM201", "an index of a shuffle of 2 lanes is not known"),
        (Evaluate(Select(LANES, F, F)), "RM201", "the condition is boolx4, the arms are float32"),
        (Evaluate(IfThenElseExpr(LANES, F, F)), "RM201", "the condition is boolx4, the arms are float32"),
        (
            Evaluate(Apply("reinterpret", (F,), INT64)),
            "RM201",
            "a reinterpretation of float32 as int64 does not keep the bits",
        ),
        (
            store(BufferLoad(A, (ZERO, ZERO), LANES)),
            "RM201",
            "the predicate of an access to `A` at int32 is boolx4",
        ),
        (store(F, predicate=I), "RM201", "the predicate of an access to `A` at int32 is int32"),
        (Evaluate(Call("vectorlow", (I,), INT32)), "RM201", "argument 0 of `T.vectorlow` is int32, not a vector"),
        (Evaluate(Call("fma", (), FLOAT32)), "RM206", "`T.fma` takes 3 arguments, 0 given"),
        (Evaluate(Call(GlobalVar("g"), (), VOID)), "RM207", "the module has no function `g`"),
        (Evaluate(Call(GlobalVar("main"), (I,), VOID)), "RM206", "`main` takes 3 arguments, 1 given"),
        (block(axes=(axis(),)), "RM209", "block `b` has 1 axis, 0 bindings given"),
        (block(axes=(axis(), axis(Var("w", INT32))), values=(I,)), "RM209", "block `b` has 2 axes, 1 binding given"),
        (block(axes=(axis(U),), values=(F,)), "RM209", "a binding of block `b` is float32, not an integer"),
        (block(predicate=I), "RM201", "the predicate of block `b` is int32, not bool"),
        (
            block(axes=(axis(Var("v", FLOAT32)),), values=(I,)),
            "RM209",
            "axis `v` of block `b` is float32, not an integer",
        ),
        (
            block(axes=(axis(extent=F),), values=(I,)),
            "RM201",
            "the domain of axis `v` of block `b` is float32, not an integer",
        ),
        (block(reads=(BufferRegion(A, ()),)), "RM208", "buffer `A` has 2 dimensions, 0 indices given"),
        (
            block(reads=(BufferRegion(A, (Range(ZERO, F), Range(ZERO, ZERO))),)),
            "RM201",
            "the region of `A` is float32, not an integer",
        ),
        (
            block(
                match_buffers=(MatchBufferRegion(Buffer("M", INT32, ()), BufferRegion(A, (Range(ZERO, ZERO),) * 2)),)
            ),
            "RM201",
            "`M` is int32, `A` is float32",
        ),
    ],
)
def test_one_mistake_is_one_finding(stmt, code, message):
    assert only(stmt) == (code, message)


def test_a_variable_used_often_outside_its_scope_is_one_mistake():
    assert len(findings(Evaluate(U), Evaluate(Apply("add", (U, U), INT32)))) == 1


def test_findings_come_in_the_order_of_the_text_and_those_without_place_last():
    stmts = (
        store(F, ZERO, span=at(9)),
        AttrStmt("x", "k", Var("q", INT32), NOTHING),
        store(I, span=at(5)),
        store(Var("p", FLOAT32), span=at(7)),
    )
    module = IRModule({"main": PrimFunc((HANDLE_A, I, F), {HANDLE_A: A}, SeqStmt(stmts))})
    assert [found.span and found.span.line for found in check_module(module)] == [5, 7, 9, None]


def test_the_declaration_is_shown_too():
    (found,) = check_module(IRModule({"main": function(store(F, ZERO, span=at(9)))}))
    assert [(part.message, part.span) for part in found.related] == [("`A` is declared here", at(2))]


def test_a_variable_out_of_scope_is_shown_where_it_was_defined():
    var = Var("k", INT32, span=at(3))
    (found,) = check_module(IRModule({"main": function(loop(NOTHING, var), Evaluate(var, span=at(9)))}))
    assert [(part.message, part.span) for part in found.related] == [("`k` is defined here", at(3))]


def test_shape_variables_of_parameters_are_defined_by_them():
    n = Var("n", INT64)
    two = Buffer("B", FLOAT32, (Apply("mul", (n, n), INT64),), (Var("s", INT64),), Var("o", INT64))
    one, b = Buffer("A", FLOAT32, (n,)), Var("b", HANDLE)
    assert check_module(IRModule({"f": PrimFunc((b, HANDLE_A), {b: two, HANDLE_A: one}, NOTHING)})) == ()
    (found,) = check_module(IRModule({"f": PrimFunc((b,), {b: two}, NOTHING)}))
    assert (found.code.id, found.message) == ("RM211", "shape variable `n` is never defined")


def test_parameters_have_different_names():
    other = Var("b", HANDLE)
    buffers = {HANDLE_A: A, other: Buffer("A", FLOAT32, ())}
    (found,) = check_module(IRModule({"f": PrimFunc((HANDLE_A, other), buffers, NOTHING)}))
    assert (found.code.id, found.message) == ("RM210", "two parameters are called `A`")


def test_global_symbols_are_unique():
    functions = {name: PrimFunc((), {}, NOTHING, {"global_symbol": "s"}, span=at(k)) for k, name in enumerate("fg", 1)}
    (found,) = check_module(IRModule(functions))
    assert (found.code.id, found.message) == ("RM210", "`f` and `g` have the global symbol `s`")
    assert found.related[0].span == at(1)


def test_extern_functions_and_calls_of_them_are_not_checked():
    call = Evaluate(Call(GlobalVar("e"), (I,), VOID))
    assert findings(call, others={"e": ExternFunc("e")}) == []


def test_what_nests_too_deep_is_exhausted():
    value = I
    for _ in range(5000):
        value = Apply("add", (value, ZERO), INT32)
    with pytest.raises(Exhausted) as raised:
        findings(Evaluate(value))
    assert raised.value.code.id == "RM602"


def threads(*bounds):
    """Loops over `threadIdx.x`, the first around the others, each over (start, extent, step)."""
    body = Evaluate(IntImm(INT32, 0))
    for number, (start, extent, step) in reversed(list(enumerate(bounds))):
        body = For(
            Var(f"t{number}", INT32),
            IntImm(INT32, start),
            IntImm(INT32, extent),
            ForKind.THREAD_BINDING,
            body,
            ThreadVar("threadIdx.x"),
            step=None if step == 1 else IntImm(INT32, step),
        )
    return body


def codes_of(body):
    report = check_module(IRModule({"main": PrimFunc((), {}, body)}))
    return [each.code.id for each in report]


@pytest.mark.parametrize(
    ("bounds", "codes"),
    [
        (((0, 4, 1), (0, 4, 1)), []),
        (((2, 4, 1), (2, 4, 1)), []),
        (((0, 4, 1), (2, 4, 1)), ["RM504"]),  # its variable would be the outer index, from 0 on
        (((2, 4, 1), (0, 4, 1)), ["RM504"]),
        (((0, 4, 1), (0, 4, 2)), ["RM504"]),
    ],
)
def test_a_loop_over_a_bound_thread_axis_begins_and_steps_as_the_outer_one(bounds, codes):
    assert codes_of(threads(*bounds)) == codes


def test_launched_threads_begin_at_0():
    launched = AttrStmt(ThreadVar("threadIdx.x"), "thread_extent", IntImm(INT32, 4), threads((2, 4, 1)))
    assert codes_of(launched) == ["RM504"]
    launched = AttrStmt(ThreadVar("threadIdx.x"), "thread_extent", IntImm(INT32, 4), threads((0, 4, 1)))
    assert codes_of(launched) == []


@pytest.mark.parametrize(
    ("buffer", "view", "codes"),
    [
        ("uint8", "float4_e2m1fn", ["RM504"]),  # in memory two elements share a byte, here each has one
        ("int4", "int8", ["RM504"]),
        ("int4", "uint4", []),
        ("bool", "uint8", []),
        ("float32", "int32", []),
    ],
)
def test_a_view_of_narrow_elements_on_others_is_unsupported(buffer, view, codes):
    memory = Buffer("M", dtype(buffer), (IntImm(INT32, 8),))
    declared = DeclBuffer(Buffer("V", dtype(view), (IntImm(INT32, 8),)), BufferData(memory))
    assert codes_of(SeqStmt((AllocBuffer(memory), declared))) == codes
