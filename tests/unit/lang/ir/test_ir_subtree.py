"""What is below a node, looked for once: the same as a plain walk finds, for generated programs too."""

from dataclasses import fields

import pytest
from hypothesis import given, settings, strategies as st

from refmlc.lang.dtypes import INT32
from refmlc.lang.ir import relax, subtree as module, tir
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.subtree import Subtree, nodes_in, nodes_of, subtree
from refmlc.run.interp.tensorir.loops import _fewest, chunk
from refmlc.strategies import rolled, rolled_module

KINDS = [
    (tir.Call,),
    (tir.For,),
    (tir.ThreadVar,),
    (tir.BufferLoad, tir.BufferStore),
    (tir.Break, tir.Return, tir.While),
    (relax.Call, tir.IntImm),
    (Node,),
]


def nodes_by_fields(root):
    """The nodes below `root`, parents first, by the fields of dataclasses alone."""
    found, waiting = {}, [root]
    while waiting:
        value = waiting.pop(0)
        if isinstance(value, Node):
            if id(value) in found:
                continue
            found[id(value)] = value
            parts = [getattr(value, field.name) for field in fields(value) if field.name != "span"]
        elif isinstance(value, tuple):
            parts = list(value)
        elif isinstance(value, dict):
            parts = [part for pair in value.items() for part in pair]
        else:
            continue
        waiting[:0] = parts
    return list(found.values())


def check(root, kinds):
    plain = nodes_by_fields(root)
    assert [id(node) for node in nodes_in(root)] == [id(node) for node in plain]
    expected = [id(node) for node in plain if isinstance(node, kinds)]
    assert [id(node) for node in nodes_of(root, *kinds)] == expected
    assert [id(node) for node in nodes_of(root, *kinds)] == expected  # from the table of what was looked for


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 1 << 30), st.sampled_from(KINDS), st.sampled_from(("function", "graph")))
def test_what_is_kept_is_what_a_plain_walk_finds(seed, kinds, sort):
    made = rolled(seed, small=True) if sort == "function" else rolled_module(seed)
    for function in made.module.functions.values():
        check(function, kinds)
        check(function.body, kinds)


def test_a_kind_that_is_left_out_or_too_much_is_noticed(monkeypatch):
    body = rolled(1, small=True).prim_func.body

    class WithoutStores(Subtree):
        def __init__(self, root):
            super().__init__(root)
            self.classes -= {tir.BufferStore}

    class WithMore(Subtree):
        def of(self, *kinds):
            return (*super().of(*kinds), self.nodes[0])

    for wrong in (WithoutStores, WithMore):
        monkeypatch.setattr(module, "subtree", wrong)
        with pytest.raises(AssertionError):
            check(body, (tir.BufferStore,))


def test_a_tree_is_walked_once_and_subclasses_belong_to_a_kind():
    one = tir.IntImm(INT32, 1)
    tree = tir.SeqStmt((tir.Evaluate(one), tir.Evaluate(tir.Apply("add", (one, one), INT32))))
    assert subtree(tree) is subtree(tree)
    assert nodes_of(tree, tir.IntImm) == (one,)
    assert nodes_of(tree, tir.Call) == ()
    assert nodes_of(tree, Node) == nodes_in(tree)
    assert nodes_of(tree, tir.Evaluate, tir.SeqStmt) == (tree, *tree.seq)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 1 << 30))
def test_short_loops_are_shorter_than_any_chunk(seed):
    func = rolled(seed).prim_func
    assert all(1 <= _fewest(func) <= chunk(loop.body) for loop in nodes_of(func.body, tir.For))
    assert _fewest(None) == 1
