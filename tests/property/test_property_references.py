"""What is proved not to occur need not be watched: the reference is the same as under all detectors."""

from refmlc.adapters.interp import Interp
from refmlc.ir import tir
from refmlc.oracle import reference
from refmlc.sanitize.proved import is_plain
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


def prim_funcs(case):
    return [func for func in case.module.functions.values() if isinstance(func, tir.PrimFunc)]
