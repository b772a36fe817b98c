"""Any two tiers and grades give the same bits, the same verdict and leave the same memory, over generated functions.

The interpreter tells the story of every violation, so what is compared there is that C does not miss one, and that
memory was put back as it was. NaN is one class.
"""

import os
from collections import Counter
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tensor_programs import cases, rolled
from tier_runs import (
    GUARDED,
    INTERP,
    TINY,
    UNCHECKED,
    Ran,
    Way,
    differences,
    native_ways,
    outcomes,
    together,
    told,
    usable,
)

from refmlc.codegen.options import ISAS, Grade

SOAK = os.environ.get("REFMLC_PROFILE") == "soak"
BEST = Way(usable()[0], Grade.REORDERED, ISAS[usable()[0]])
TOGETHER = 12  # functions of one compilation
SWEPT = 4000 if SOAK else 96


@settings(max_examples=2000 if SOAK else 25, report_multiple_bugs=False)
@given(st.lists(cases(), min_size=1, max_size=TOGETHER))
def test_guarded_c_gives_what_the_interpreter_gives(programs):
    found, _ = differences(programs, (TINY,))
    assert not found, told(found)


@settings(max_examples=1000 if SOAK else 5, report_multiple_bugs=False)
@given(st.lists(cases(), min_size=1, max_size=TOGETHER))
def test_reordered_c_gives_what_the_interpreter_gives(programs):
    found, _ = differences(programs, (BEST,))
    assert not found, told(found)


@cache
def swept(way):
    """Many programs in one way."""
    found, rans = [], []
    for start in range(0, SWEPT, 24):
        more, made = differences([rolled(seed) for seed in range(start, start + 24)], (way,))
        found += more
        rans += made
    return found, rans


@pytest.mark.parametrize("way", native_ways(), ids=str)
def test_many_programs_come_to_the_same(way):
    found, _ = swept(way)
    assert not found, told(found)


def blocks(way):
    """The grade of each block in C."""
    return [
        block.grade
        for ran in swept(way)[1]
        for unit in ran.compiled.translation.units.values()
        for block in unit.blocks
    ]


def test_most_functions_are_compiled():
    rans = swept(TINY)[1]
    declined = sum(len(ran.compiled.translation.declined) for ran in rans)
    assert declined < 0.2 * SWEPT


def test_every_grade_is_reached():
    assert Grade.GUARDED in blocks(GUARDED)
    assert Grade.UNCHECKED in blocks(UNCHECKED)
    assert Grade.REORDERED in blocks(BEST)


def test_most_calls_are_executed_in_c_and_false_alarms_are_rare(record_property):
    counts = Counter()
    for ran in swept(TINY)[1]:
        counts.update(ran.counts)
    for name, count in counts.items():
        record_property(name, count)
    calls = counts["native"] + counts["declined"] + counts["stopped"]
    assert counts["native"] > 0.5 * calls
    assert counts["stopped"] > 0
    assert counts["alarms"] <= 0.02 * calls


def test_what_is_compared_tells_outcomes_apart():
    """Each program on its first arguments and on its second ones: the comparison is not blind."""
    programs = [case for case in map(rolled, range(60)) if len(case.recipes) > 1 and case.recipes[0] != case.recipes[1]]
    module, _ = together(programs)
    pairs = outcomes(Ran(module, INTERP), programs)
    assert sum(first != second for first, second in pairs) > len(pairs) / 2
