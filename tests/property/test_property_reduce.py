"""Reduction over generated programs: planted bugs shrink to what shows them, and each step is valid and still wrong.

Programs are rolled from seeds that are known to show the fault, so that nothing is searched here.
"""

import os

import pytest
from graph_programs import modules
from hypothesis import given, settings
from planted_bugs import FAULTS
from tier_outcomes import call

import refmlc
from refmlc.lang.ir import tir
from refmlc.lang.ir.visit import walk
from refmlc.lang.wellformed.module import check_module
from refmlc.oracle.implementations.implementation import Limits
from refmlc.oracle.reduce import reduce, reduce_case
from refmlc.oracle.reduction_predicates import ends_in
from refmlc.strategies.functions import AIMS, rolled

STEPS = 20_000
SEEDS = 400


def verdict(case, fault):
    """How the faulty implementation differs on a defined program: wrong, stopped; empty: it does not."""
    faulty = FAULTS[fault](case.module)
    if faulty is case.module:
        return ""
    for number in range(len(case.calls)):
        right = call(case.module, case.func, case.arguments(number), steps=STEPS)
        if right.verdict:
            return ""
        given = call(faulty, case.func, case.arguments(number), steps=STEPS)
        if right != given:
            return f"stopped: {given.code}" if given.verdict else "wrong"
    return ""


def first(fault, wanted):
    """The first program that shows the fault in this way."""
    return next(case for case in map(rolled, range(SEEDS)) if verdict(case, fault).startswith(wanted))


def blocks(module):
    return sum(isinstance(node, tir.SBlock) for node in walk(module))


def extents(module):
    found = [1]
    for node in walk(module):
        match node:
            case tir.For(_, _, tir.IntImm(_, extent)):
                found.append(extent)
            case tir.Buffer():
                found += [one.value for one in node.shape if isinstance(one, tir.IntImm)]
    return found


def lines(text):
    """Lines of the function; not those of the module around it, nor comments."""
    body = [line.strip() for line in text.splitlines()]
    return [line for line in body if line and not line.startswith(("#", "@", "class"))]


SOAK = os.environ.get("REFMLC_PROFILE") == "soak"
CASES = [("dropped_predicate", "stopped"), ("short_extent", "wrong"), ("skipped_init", "wrong")]
MORE = [
    *((fault, "wrong") for fault in ("floor_for_trunc", "transposed_index", "missing_cast")),
    *((fault, "stopped") for fault in ("floor_for_trunc", "short_extent", "skipped_init", "transposed_index")),
]


@pytest.mark.parametrize(("fault", "wanted"), CASES + MORE * SOAK)
def test_planted_bugs_shrink_to_a_few_lines(fault, wanted, record_property):
    case = first(fault, wanted)
    kind = verdict(case, fault)
    met = []

    def keep(candidate):
        met.append((candidate, verdict(candidate, fault) == kind))
        return met[-1][1]

    found = reduce_case(case, keep)
    record_property("lines", len(lines(found.text)))
    assert found.finished
    assert blocks(found.module) <= 2
    assert max(extents(found.module)) <= 3
    assert len(lines(found.text)) <= 11
    assert found.case is not None
    assert verdict(found.case, fault) == kind
    for candidate, _ in met:
        assert check_module(candidate.module) == ()
    again = reduce_case(found.case, keep)
    assert (again.text, again.steps) == (found.text, 0)


WITNESSES = AIMS if SOAK else ("RM304", "RM321")


@pytest.mark.parametrize("code", WITNESSES)
def test_programs_without_meaning_shrink_to_a_witness(code):
    limits = Limits(steps=STEPS)
    keep = ends_in(code, limits)
    case = next(one for one in (rolled(seed, code) for seed in range(SEEDS)) if keep(one))
    found = reduce_case(case, keep)
    assert found.case is not None
    assert keep(found.case)
    assert blocks(found.module) <= 2
    assert max(extents(found.module)) <= 3
    assert len(lines(found.text)) <= 11


@settings(max_examples=500 if SOAK else 25)
@given(modules())
def test_modules_of_any_kind_stay_valid(module):
    text = refmlc.show(module, show_meta=True)
    try:
        module = refmlc.read(text)
    except refmlc.RefmlcError:
        return
    words = [
        word for word in ("call_tir", "if ", "match_cast", "R.add", "dataflow", "T.grid", "T.sblock") if word in text
    ]
    word = words[len(text) % len(words)] if words else ""

    def keep(candidate):
        assert check_module(candidate) == ()
        assert refmlc.structural_equal(refmlc.read(refmlc.show(candidate, show_meta=True)), candidate)
        return word in candidate.source.text

    found = reduce(module, keep, tries=150)
    assert word in found.text
    assert found.after <= found.before
