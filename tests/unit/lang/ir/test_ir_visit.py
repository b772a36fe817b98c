"""Walking and rewriting: order, sharing, identity, depth; the dtypes that nodes deduce."""

import pytest
from every_node import ONE, TRUE, TWO, A, B, P, X, renamed

from refmlc.lang.dtypes import BOOL, FLOAT32, HANDLE, INT32, dtype
from refmlc.lang.ir import attrs, relax, tir
from refmlc.lang.ir.kinds import ForKind
from refmlc.lang.ir.module import IRModule
from refmlc.lang.ir.visit import children, field_names, rewrite, substitute, walk


def add(*args):
    return tir.Apply("add", args, INT32)


def one_to_two(node):
    return TWO if node is ONE else node


def test_fields_without_the_place():
    assert field_names(tir.Bind(X, ONE)) == ("var", "value")


def test_children_in_the_order_of_fields_also_in_tuples_and_mappings():
    call = tir.Call("f", (X, "text", (ONE, (TWO,))), INT32, None, {"a": TRUE, "b": (B,)})
    assert list(children(call)) == [X, ONE, TWO, TRUE, B]
    assert list(children(tir.PrimFunc((P,), {P: A}, tir.Break())))[:3] == [P, P, A]
    assert list(children(relax.Op("add"))) == []


def test_walk_gives_parents_first_and_each_object_once():
    shared = add(X, ONE)
    tree = add(shared, add(shared, TWO))
    assert list(walk(tree)) == [tree, shared, X, ONE, tree.args[1], TWO]


def test_rewrite_leaves_what_does_not_change():
    func = tir.PrimFunc((P,), {P: A}, tir.SeqStmt((tir.Evaluate(X), tir.Evaluate(ONE))), {"a": (ONE, {"b": 2})})
    assert rewrite(func, lambda node: node) is func
    changed = rewrite(func, one_to_two)
    assert changed.body.seq[1].value is TWO
    assert changed.body.seq[0] is func.body.seq[0]
    assert changed.attrs == {"a": (TWO, {"b": 2})}
    assert changed.params is func.params


def test_rewrite_keeps_the_place():
    text = renamed(tir.Evaluate(ONE))
    assert rewrite(text, lambda node: TWO if isinstance(node, tir.IntImm) else node).span is text.span


def test_rewrite_calls_once_per_object_children_first_and_keeps_sharing():
    shared, seen = add(X, ONE), []

    def change(node):
        seen.append(node)
        return TWO if node is ONE else node

    tree = rewrite(add(shared, shared), change)
    assert tree.args[0] is tree.args[1]
    assert [type(node) for node in seen] == [tir.Var, tir.IntImm, tir.Apply, tir.Apply]


def test_a_buffer_whose_shape_changes_stays_one_buffer():
    n, pointer = tir.Var("n", INT32), tir.Var("p", HANDLE)
    buffer = tir.Buffer("A", FLOAT32, (n,))
    func = tir.PrimFunc((pointer,), {pointer: buffer}, tir.Evaluate(tir.BufferLoad(buffer, (ONE,))))
    fixed = substitute(func, {n: TWO})
    assert fixed.buffer_map[pointer].shape == (TWO,)
    assert fixed.body.value.buffer is fixed.buffer_map[pointer]
    other = tir.Var("q", HANDLE)
    assert list(substitute(func, {pointer: other}).buffer_map) == [other]


def test_substitute_does_not_enter_what_it_puts_in():
    assert substitute(add(X, ONE), {X: add(X, X)}).args[0].args == (X, X)
    assert substitute(X, {X: ONE}) is ONE
    assert substitute(add(X, ONE), {}).args == (X, ONE)
    assert substitute(add(add(X, ONE), X), {add: ONE, X: TWO}).args[1] is TWO


def test_depth_is_no_limit():
    deep, nested = X, ONE
    for _ in range(10_000):
        deep, nested = add(deep, ONE), (nested, {"a": 1})
    tree = tir.Call("f", (deep,), INT32, None, {"nested": nested})
    assert sum(1 for _ in walk(tree)) == 10_003
    changed = rewrite(tree, one_to_two)
    assert sum(node is TWO for node in walk(changed)) == 1
    assert substitute(tree, {X: TWO, ONE: X}) is not tree


PAIR = tir.Broadcast(TRUE, TWO, BOOL.with_lanes(2))


@pytest.mark.parametrize(
    ("expr", "expected"),
    [
        (tir.StringImm("s"), "handle"),
        (tir.And(PAIR, PAIR), "boolx2"),
        (tir.Or(TRUE, TRUE), "bool"),
        (tir.Select(TRUE, ONE, ONE), "int32"),
        (tir.IfThenElseExpr(TRUE, ONE, ONE), "int32"),
        (tir.Let(X, ONE, TRUE), "bool"),
        (tir.BufferData(A), "handle"),
        (tir.BufferLoad(A, ()), "float32"),
        (tir.BufferLoad(A, (ONE, X)), "float32"),
        (tir.BufferLoad(A, (ONE, tir.Ramp(X, ONE, TWO, INT32.with_lanes(2)))), "float32x2"),
    ],
)
def test_the_dtype_of_an_expression_follows_from_its_parts(expr, expected):
    assert expr.dtype == dtype(expected)


def test_a_module_gives_its_functions_by_name():
    module = IRModule({"f": relax.ExternFunc("f")})
    assert module["f"].symbol == "f"
    with pytest.raises(KeyError):
        module["g"]


def test_nodes_are_compared_by_identity():
    assert attrs.Target({}) != attrs.Target({})
    assert tir.For(X, ONE, TWO, ForKind.SERIAL, tir.Break()).annotations == {}
