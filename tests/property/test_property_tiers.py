"""Any two tiers and grades give the same bits, the same verdict and leave the same memory, over generated functions.

The interpreter tells the story of every violation, so what is compared there is that C does not miss one, and that
memory was put back as it was. NaN is one class.
"""

import os
from collections import Counter
from functools import cache

import pytest
from hypothesis import given, settings, strategies as st
from tier_outcomes import interpreted, told
from tier_runs import GUARDED, TINY, UNCHECKED, Way, differences, usable, with_moved_loops

from refmlc.native.options import ISAS, Grade
from refmlc.strategies import prim_funcs, rolled

pytestmark = pytest.mark.needs("compiler")

SOAK = os.environ.get("REFMLC_PROFILE") == "soak"
TOGETHER = 24  # functions of one compilation
ALL, SOME, MOVED = (20_000, 4000, 4000) if SOAK else (240, 48, 240)
VECTORS = [Way(name, Grade.REORDERED, ISAS[name]) for name in usable()]


@settings(max_examples=2000 if SOAK else 20, report_multiple_bugs=False)
@given(st.lists(prim_funcs(None), min_size=1, max_size=12))
def test_guarded_c_gives_what_the_interpreter_gives(programs):
    found, _ = differences(programs, TINY)
    assert not found, told(found)


@settings(max_examples=500 if SOAK else 4, report_multiple_bugs=False)
@given(st.lists(prim_funcs(None), min_size=1, max_size=12))
def test_reordered_c_gives_what_the_interpreter_gives(programs):
    found, _ = differences(programs, VECTORS[0])
    assert not found, told(found)


@cache
def batch(start):
    """Programs of some seeds, with what the interpreter makes of them."""
    programs = [rolled(seed, None) for seed in range(start, start + TOGETHER)]
    return programs, interpreted(programs)


@cache
def swept(way, count):
    """Many programs in one way."""
    found, rans = [], []
    for start in range(0, count, TOGETHER):
        programs, wanted = batch(start)
        more, ran = differences(programs, way, wanted)
        found += more
        rans.append(ran)
    return found, rans


@pytest.mark.parametrize(("way", "count"), [(TINY, ALL), (GUARDED, SOME), (UNCHECKED, SOME)], ids=str)
def test_many_programs_come_to_the_same(way, count):
    found, _ = swept(way, count)
    assert not found, told(found)


@pytest.mark.parametrize("way", VECTORS, ids=str)
def test_programs_with_reordered_loops_come_to_the_same(way):
    programs = [case for start in range(0, MOVED, TOGETHER) for case in with_moved_loops(batch(start)[0], way)]
    assert len(programs) >= MOVED / 30
    for start in range(0, len(programs), TOGETHER):
        found, _ = differences(programs[start : start + TOGETHER], way)
        assert not found, told(found)


def test_most_functions_are_compiled():
    declined = sum(len(ran.declined) for ran in swept(TINY, ALL)[1])
    assert declined < 0.2 * ALL


def test_blocks_with_checks_and_without_are_reached():
    grades = Counter(
        block.grade for ran in swept(UNCHECKED, SOME)[1] for unit in ran.units.values() for block in unit.blocks
    )
    assert min(grades[Grade.GUARDED], grades[Grade.UNCHECKED]) > SOME / 4


def test_most_calls_are_executed_in_c_and_false_alarms_are_rare(record_property):
    counts = Counter()
    for ran in swept(TINY, ALL)[1]:
        counts.update(ran.counts)
    for name, count in counts.items():
        record_property(name, count)
    calls = counts["native"] + counts["declined"] + counts["stopped"]
    assert counts["native"] > 0.5 * calls
    assert counts["stopped"] > 0
    assert counts["alarms"] <= 0.02 * calls


def test_what_is_compared_tells_outcomes_apart():
    """Each program on its first arguments and on its second ones: the comparison is not blind."""
    programs, wanted = batch(0)
    pairs = [ends for case, ends in zip(programs, wanted, strict=True) if len({*case.calls}) > 1]
    assert sum(first != second for first, second in pairs) > len(pairs) / 2
