"""Structural equality: every kind of node against itself renamed, and against every change of one of its fields."""

import dataclasses
from collections.abc import Mapping
from enum import Enum

import every_node as every
import numpy as np
import pytest
from every_node import EVERY, KINDS, ONE, TRUE, TWO, A, B, X, renamed

from refmlc.diag import Source
from refmlc.lang.dtypes import BOOL, FLOAT32, FLOAT64, HANDLE, INT32, INT64, DType
from refmlc.lang.ir import attrs, relax, tir, types
from refmlc.lang.ir.equal import first_difference, structural_equal
from refmlc.lang.ir.kinds import ForKind, IterKind, PointerType
from refmlc.lang.ir.module import IRModule
from refmlc.lang.ir.node import Node

# What is not compared, as TVM 0.27 does not: names that can be changed, the inverse of a map, how it was checked.
MEANINGLESS = {
    *((kind, "name") for kind in (tir.Var, tir.Buffer, relax.Var, tir.SBlock, IRModule)),
    *((IRModule, "source"), (attrs.IndexMap, "inverse"), (tir.PrimFunc, "check_well_formed")),
}
FIELDS = [(node, field.name) for node in EVERY for field in dataclasses.fields(node)]
IDS = [f"{type(node).__name__}.{name}" for node, name in FIELDS]


def changed(value):
    """Another value of the same type where there is one."""
    match value:
        case bool():
            return not value
        case int() | float():
            return value + 1
        case str():
            return value + "_other"
        case DType():
            return FLOAT64 if value is not FLOAT64 else INT32
        case PointerType():
            return PointerType(value.element, value.scope + "_other")
        case Enum():
            return next(member for member in type(value) if member is not value)
        case tir.Var():
            return tir.Var(value.name, INT64 if value.dtype is INT32 else INT32)
        case tir.Buffer():
            return tir.Buffer(value.name, INT32, value.shape)
        case relax.Var():
            return relax.Var(value.name, types.PrimType(INT32))
        case Node():
            return tir.Break() if type(value) is not tir.Break else tir.Continue()
        case tuple():
            return value[:-1] if value else (tir.Break(),)
        case Mapping():
            return {} if value else {"another": 1}
        case np.ndarray():
            return value + 1
        case Source():
            return Source("b.py", "")
        case None:
            return ONE
    raise AssertionError(value)


def test_the_table_has_every_kind():
    assert {type(node) for node in EVERY} == KINDS


@pytest.mark.parametrize("node", EVERY, ids=lambda node: type(node).__name__)
def test_a_renamed_copy_is_equal(node):
    copy = renamed(node)
    assert first_difference(node, copy, map_free_vars=True) is None
    assert first_difference(copy, node, map_free_vars=True) is None
    assert structural_equal(node, node)


@pytest.mark.parametrize(("node", "name"), FIELDS, ids=IDS)
def test_a_changed_field_is_a_difference_unless_it_means_nothing(node, name):
    other = dataclasses.replace(node, **{name: changed(getattr(node, name))})
    meaningless = name == "span" or (type(node), name) in MEANINGLESS
    assert structural_equal(node, other, map_free_vars=True) is meaningless
    assert structural_equal(other, node, map_free_vars=True) is meaningless


def test_nodes_of_different_kinds_differ():
    for a in EVERY:
        assert [b for b in EVERY if structural_equal(a, b)] == [a]


# ------------------------------------------------------------------------------------------ plain values


@pytest.mark.parametrize("a, b", [(1, True), (1, 1.0), (1, tir.IntImm(INT64, 1)), ("1", 1), (None, 0), ((), {})])  # noqa: PT006
def test_attributes_of_different_types_differ(a, b):
    assert not structural_equal({"key": a}, {"key": b})


def test_floats_are_compared_by_bits_and_nan_is_one_class():
    nan, other_nan = np.array([0x7FF8 << 48, (0xFFF8 << 48) + 5], "uint64").view("float64").tolist()
    assert structural_equal(tir.FloatImm(FLOAT32, nan), tir.FloatImm(FLOAT32, other_nan))
    assert structural_equal(tir.FloatImm(FLOAT32, -0.0), tir.FloatImm(FLOAT32, -0.0))
    assert not structural_equal(tir.FloatImm(FLOAT32, 0.0), tir.FloatImm(FLOAT32, -0.0))
    assert str(first_difference({"a": 0.0}, {"a": -0.0})) == "['a']: 0.0 against -0.0"


@pytest.mark.parametrize(
    "data",
    [np.zeros((1, 3), "float32"), np.zeros(3, "int32"), np.array([0, 0, -0.0], "float32"), np.zeros(4, "float32")],
)
def test_constants_are_compared_by_dtype_shape_and_bytes(data):
    zero = relax.Constant(np.zeros(3, "float32"), FLOAT32)
    assert structural_equal(zero, relax.Constant(np.zeros(3, "float32"), FLOAT32))
    assert not structural_equal(zero, relax.Constant(data, FLOAT32))


def test_the_order_of_attributes_and_functions_is_not_compared_that_of_parameters_is():
    f, g = relax.ExternFunc("f"), relax.ExternFunc("g")
    assert structural_equal(IRModule({"f": f, "g": g}), IRModule({"g": g, "f": f}))
    assert str(first_difference(IRModule({"f": f}), IRModule({"g": f}))) == (
        "functions: keys [\"'f'\", \"'g'\"] on one side only"
    )
    a, b = tir.Var("a", INT32), tir.Var("b", INT32)
    returns_a = tir.PrimFunc((a, b), {}, tir.Return(a))
    assert structural_equal(returns_a, tir.PrimFunc((b, a), {}, tir.Return(b)))
    assert not structural_equal(returns_a, tir.PrimFunc((b, a), {}, tir.Return(a)))
    assert structural_equal({X: 1}, {X: 1})
    assert str(first_difference({X: 1}, {})) == "the whole: keys ['Var'] on one side only"


# --------------------------------------------------------------------------------------------- variables


def loop(var, *body, extent=TWO):
    return tir.For(var, ONE, extent, ForKind.SERIAL, tir.SeqStmt(body))


def use(*variables):
    return tir.Evaluate(tir.Apply("add", variables, INT32))


def variables(count):
    return [tir.Var(f"v{n}", INT32) for n in range(count)]


def test_a_free_variable_is_only_itself():
    a, b = variables(2)
    assert structural_equal(use(a), use(a))
    assert str(first_difference(use(a), use(b))) == ("value.args[0]: v0 against v1: different free variables")
    assert structural_equal(use(a), use(b), map_free_vars=True)


def test_free_variables_are_mapped_one_to_one_everywhere():
    a, b, c, i = variables(4)
    assert not structural_equal(use(a, a), use(b, c), map_free_vars=True)
    assert not structural_equal(use(b, c), use(a, a), map_free_vars=True)
    two = tir.SeqStmt((loop(i, use(a)), loop(i, use(a))))
    assert structural_equal(two, tir.SeqStmt((loop(i, use(b)), loop(i, use(b)))), map_free_vars=True)
    assert not structural_equal(two, tir.SeqStmt((loop(i, use(b)), loop(i, use(c)))), map_free_vars=True)


def test_defined_variables_are_mapped_one_to_one():
    a, b, c, d = variables(4)
    nested = loop(a, loop(b, use(a, b)))
    assert structural_equal(nested, loop(c, loop(d, use(c, d))))
    found = first_difference(nested, loop(c, loop(d, use(d, c))))
    assert str(found) == "body.seq[0].body.seq[0].value.args[0]: v0 against v3: another variable"
    assert not structural_equal(loop(a, loop(b, use(a, a))), loop(c, loop(d, use(c, d))))
    assert not structural_equal(loop(a, loop(b, use(b, a))), loop(c, loop(c, use(c, c))))


def test_a_shadowed_variable_is_the_inner_one_and_comes_back():
    a, b, c = variables(3)
    shadowed = loop(a, loop(a, use(a)), use(a))
    assert structural_equal(shadowed, loop(b, loop(c, use(c)), use(b)))
    assert not structural_equal(shadowed, loop(b, loop(c, use(b)), use(b)))
    assert not structural_equal(shadowed, loop(b, loop(c, use(c)), use(c)))


def test_a_scope_ends():
    a, b = variables(2)
    assert not structural_equal(tir.SeqStmt((loop(a), use(a))), tir.SeqStmt((loop(b), use(b))))
    assert structural_equal(tir.SeqStmt((loop(a), loop(a))), tir.SeqStmt((loop(a), loop(b))))


def test_what_a_definition_says_of_itself_is_outside_of_it():
    a, b = variables(2)
    assert not structural_equal(loop(a, extent=a), loop(b, extent=b))
    assert not structural_equal(tir.Let(a, a, a), tir.Let(b, b, b))
    assert structural_equal(tir.Let(a, ONE, a), tir.Let(b, ONE, b))


def test_the_same_nodes_mean_another_thing_after_a_definition():
    a, b = variables(2)
    shared = use(a)
    assert structural_equal(
        tir.SeqStmt((shared, tir.Bind(a, ONE), shared)), tir.SeqStmt((shared, tir.Bind(a, ONE), shared))
    )
    assert not structural_equal(
        tir.SeqStmt((shared, tir.Bind(a, ONE), shared)), tir.SeqStmt((shared, tir.Bind(b, ONE), shared))
    )


def test_buffers_are_defined_where_they_are_allocated_with_the_variables_of_their_shape():
    def func(count, used):
        size, pointer = tir.Var(f"n{count}", INT32), tir.Var(f"p{count}", HANDLE)
        buffer = tir.Buffer(f"buffer{count}", FLOAT32, (size,))
        local = tir.Buffer(f"local{count}", FLOAT32, (size,))
        body = tir.SeqStmt((tir.AllocBuffer(local), tir.Evaluate(tir.BufferLoad((buffer, local)[used], (ONE,)))))
        return tir.PrimFunc((pointer,), {pointer: buffer}, body)

    assert structural_equal(func(0, 0), func(1, 0))
    assert str(first_difference(func(0, 0), func(1, 1))) == (
        "body.seq[1].value.buffer: buffer0 against local1: another variable"
    )


def test_parameters_and_their_buffers_are_compared_in_order():
    pointer = tir.Var("p", HANDLE)
    with_buffer = tir.PrimFunc((pointer,), {pointer: B}, tir.Break())
    assert str(first_difference(with_buffer, tir.PrimFunc((pointer,), {}, tir.Break()))) == (
        "buffer_map[0]: Buffer against NoneType"
    )
    assert str(first_difference(with_buffer, tir.PrimFunc((), {}, tir.Break()))) == "the whole: 1 parameters against 0"


def test_blocks_define_their_axes_and_buffers():
    def block(kind=IterKind.SPATIAL, **more):
        axis, local, view = tir.Var("v", INT32), tir.Buffer("L", FLOAT32, (TWO,)), tir.Buffer("V", FLOAT32, (ONE,))
        region = tir.BufferRegion(local, (tir.Range(axis, ONE),))
        fields = {
            "reads": (region,),
            "writes": (),
            "body": tir.BufferStore(view, tir.BufferLoad(local, (axis,)), (axis,)),
            "alloc_buffers": (local,),
            "match_buffers": (tir.MatchBufferRegion(view, region),),
            **more,
        }
        inner = tir.SBlock("name", (tir.IterVar(axis, tir.Range(ONE, TWO), kind),), **fields)
        return tir.SBlockRealize((ONE,), TRUE, inner)

    assert structural_equal(block(), block())
    assert str(first_difference(block(), block(IterKind.REDUCE))) == ("block.iter_vars[0].kind: spatial against reduce")
    assert str(first_difference(block(), block(reads=None))) == "block.reads: tuple against NoneType"


def test_a_thread_variable_may_be_defined_by_the_first_of_two_launches():
    def launched():
        thread = tir.ThreadVar("threadIdx.x", tir.Var("tx", INT32), tir.Range(ONE, TWO))
        inner = tir.AttrStmt(thread, "thread_extent", TWO, use(thread.var))
        return tir.AttrStmt(thread, "thread_extent", TWO, tir.SeqStmt((inner, use(thread.var))))

    assert structural_equal(launched(), launched())


# ------------------------------------------------------------------------------------------------- relax


def function(*dims, result=None, shape_var=None, name="x"):
    """A function of a tensor, its dimensions given, that casts it."""
    x, y, m = relax.Var(name, types.TensorType(dims, FLOAT32, len(dims))), relax.Var("y", None), tir.Var("m", INT64)
    if shape_var is None:
        cast, shape = types.TensorType((m, *dims), FLOAT32), relax.ShapeExpr((m,))
    else:
        cast, shape = types.TensorType(None, None, 1, None, shape_var), relax.ShapeExpr(dims)
    bindings = (relax.MatchCast(y, x, cast), relax.VarBinding(y, shape))
    body = relax.SeqExpr((relax.BindingBlock(bindings),), y)
    return relax.Function((x,), body, types.TensorType(result or dims, FLOAT32))


def test_dimensions_are_defined_by_the_first_type_that_holds_them():
    n, m = tir.Var("n", INT64), tir.Var("m", INT64)
    assert structural_equal(function(n, m), function(m, n))
    assert structural_equal(function(n, n), function(m, m))
    assert not structural_equal(function(n, n), function(n, m))
    assert not structural_equal(function(n, m), function(n, n))
    assert not structural_equal(function(n, m, result=(n, m)), function(n, m, result=(m, n)))


def test_a_shape_variable_is_known_by_its_name():
    n = tir.Var("n", INT64)
    assert structural_equal(function(n, shape_var="x"), function(n, shape_var="z", name="z"))
    assert not structural_equal(function(n, shape_var="x"), function(n, shape_var="x", name="z"))
    assert not structural_equal(function(n, shape_var="free"), function(n, shape_var="other"))
    assert structural_equal(function(n, shape_var="free"), function(n, shape_var="free", name="z"))


def test_the_variable_of_a_prim_parameter_is_that_of_shapes():
    def scalar(swap):
        p, q = (relax.Var(name, types.PrimType(INT64, tir.Var(name, INT64))) for name in "pq")
        shape = (q if swap else p).ty.value
        return relax.Function((p, q), relax.SeqExpr((), relax.ShapeExpr((shape,))), None)

    assert structural_equal(scalar(swap=False), scalar(swap=False))
    assert not structural_equal(scalar(swap=False), scalar(swap=True))


def test_function_types_define_their_dimensions_for_themselves():
    n, m = tir.Var("n", INT64), tir.Var("m", INT64)

    def two(a, b):
        of_a, of_b = (types.FuncType((types.ShapeType((v,)),), types.ShapeType((v,))) for v in (a, b))
        return types.TupleType((of_a, of_b))

    assert structural_equal(two(n, n), two(n, m))


# ------------------------------------------------------------------------------------------ depth and size


def test_depth_is_no_limit():
    def deep(last):
        expr = last
        for _ in range(10_000):
            expr = tir.Apply("add", (expr, ONE), INT32)
        return expr

    assert structural_equal(deep(X), deep(X))
    found = first_difference(deep(ONE), deep(TWO))
    assert found.path == ".".join(["args[0]"] * 10_000) + ".value"
    nested = ()
    for _ in range(10_000):
        nested = (nested,)
    assert structural_equal({"a": nested}, {"a": nested})


def test_shared_nodes_are_compared_once():
    def doubled(leaf):
        for _ in range(200):
            leaf = tir.Apply("add", (leaf, leaf), INT64)
        return leaf

    n, m = tir.Var("n", INT64), tir.Var("m", INT64)
    assert structural_equal(doubled(ONE), doubled(ONE))
    assert structural_equal(function(doubled(n)), function(doubled(m)))


def test_a_difference_tells_the_place_and_both_sides():
    load = tir.BufferLoad(A, (ONE, X))
    found = first_difference(tir.Evaluate(load), tir.Evaluate(tir.BufferLoad(A, (TWO, X))))
    assert (found.path, found.left, found.right) == ("value.indices[0].value", 1, 2)
    assert str(first_difference(tir.Cast(INT32, X), tir.Cast(BOOL, X))) == "dtype: int32 against bool"
    assert str(first_difference(tir.Evaluate(X), tir.Return(X))) == "the whole: Evaluate against Return"
    assert str(first_difference(every.SEQ, dataclasses.replace(every.SEQ, blocks=()))) == "blocks: 2 elements against 0"
