"""The analysis ends on any function that is in scope, and says something sensible of each of its parts."""

from hypothesis import given
from ir_programs import prim_funcs

from refmlc.lang.ir import tir
from refmlc.lang.ir.visit import walk
from refmlc.native.analysis.cost import count
from refmlc.native.analysis.facts import Facts
from refmlc.native.analysis.initialisation import find_initialisation
from refmlc.native.analysis.legality import find_nest
from refmlc.native.nest import Nest


@given(prim_funcs())
def test_any_function_has_an_answer(func):
    written = find_initialisation(func)
    facts = Facts.entry(func)
    for node in walk(func.body):
        match node:
            case tir.For() | tir.SBlockRealize():
                nest = find_nest(node, facts, written)
                assert isinstance(nest, Nest) or nest
            case tir.BufferLoad():
                assert written.initialised(node) or written.unproved[node]
            case tir.Apply() | tir.Cast():
                assert len(facts.bounds(node)) == 2
                assert not facts.in_dtype(node) or facts.is_defined(node)
    for buffer, use in written.uses.items():
        assert use.proof
        assert not (use.tracked and use.covered), buffer.name
    assert count(func)({}) >= 0
