"""What is proved not to occur need not be watched: the reference is the same as under all detectors."""

import pytest

from refmlc.lang.ir import tir
from refmlc.observe.sanitize.detector import Reach
from refmlc.observe.sanitize.kinds import within
from refmlc.observe.sanitize.proved import is_plain
from refmlc.oracle import reference
from refmlc.oracle.implementations.interp import Interp
from refmlc.strategies import rolled, rolled_module


def told(found):
    texts = [one.diagnostic.message for one in found.report.findings]
    return found.verdict, found.report.counts, texts, found.steps


def test_the_quick_way_tells_the_same(monkeypatch):
    cases = [rolled(seed, None, small=True) for seed in range(150)] + [rolled_module(seed) for seed in range(20)]
    plain = [case for case in cases if all(map(is_plain, prim_funcs(case)))]
    assert len(plain) > 20
    quick = [reference.references(case, Interp(), sanitize=True) for case in plain]
    monkeypatch.setattr(reference, "proved", lambda _module: frozenset())
    for case, found in zip(plain, quick, strict=True):
        full = reference.references(case, Interp(), sanitize=True)
        assert [told(one) for one in found] == [told(one) for one in full], case


@pytest.mark.parametrize("aim", ["RM318", "RM319", "RM320", "RM321", "RM325", "RM326"])
def test_what_occurs_is_not_proved_away(monkeypatch, aim):
    """Programs that do wrong what detectors find: the kind that is found is one that is watched."""
    cases = [rolled(seed, aim, small=True) for seed in range(40)]
    skipped = [reference.proved(case.module) for case in cases]
    monkeypatch.setattr(reference, "proved", lambda _module: frozenset())
    hits, provable = 0, within(Reach.NOT_PLAIN) - {"RM305"}  # a second run explains that one
    for case, without in zip(cases, skipped, strict=True):
        for found in reference.references(case, Interp(), sanitize=True):
            told_of = {code for code, count in found.report.counts.items() if count} & provable
            assert not told_of & without, case
            hits += bool(told_of)
    assert hits >= 3


def prim_funcs(case):
    return [func for func in case.module.functions.values() if isinstance(func, tir.PrimFunc)]
