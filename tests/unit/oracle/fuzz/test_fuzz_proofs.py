"""Pairs of a campaign, proved and called: what contradicts what."""

from dataclasses import replace

from refmlc.lang.dtypes import INT32
from refmlc.lang.ir import IRModule, tir
from refmlc.lang.ir.visit import substitute, walk
from refmlc.oracle.fuzz import proofs
from refmlc.oracle.fuzz.batch import program, run_batch, shrink
from refmlc.oracle.fuzz.finding_file import examined, finding_text, read_finding
from refmlc.oracle.fuzz.result import BatchResult
from refmlc.oracle.fuzz.settings import CampaignSettings
from refmlc.oracle.pairs.equivalents import Variant
from refmlc.prove import ProofKind, compared
from refmlc.rewrite.schedule.places import top, with_top

SETTINGS = CampaignSettings(implementations=("interp",), kinds=("functions", "schedules"), size=24, prove=1, sanitize=0)
REGIONS = 2169
"""A program whose blocks declare regions, and have no axes."""


def batch(settings, number=0):
    return BatchResult.from_json(run_batch(settings.to_json(), number, settings.programs(number)))


def test_a_batch_proves_the_rewrites_of_its_functions():
    result = batch(SETTINGS)
    assert result.findings == ()
    assert result.verdicts["prove"]["proved"] >= 12
    assert set(result.verdicts["prove"]) <= {kind.value for kind in ProofKind}
    assert batch(SETTINGS).verdicts == result.verdicts


def test_only_some_batches_are_proved():
    assert "prove" not in batch(CampaignSettings(implementations=("interp",), size=2)).verdicts
    every_other = CampaignSettings(implementations=("interp",), size=2, prove=2, sanitize=0)
    assert ["prove" in batch(every_other, number).verdicts for number in (0, 1)] == [True, False]


def wrong_pair(case, _seed):
    """A pair whose rewrite adds 1 to what the last store of integers stores; None: there is no such store."""
    stores = [node for node in walk(case.prim_func) if isinstance(node, tir.BufferStore) and is_int(node.value.dtype)]
    if not stores:
        return None
    store = stores[-1]
    other = tir.Apply("bitwise_xor", (store.value, tir.IntImm(store.value.dtype, 1)), store.value.dtype)
    func = substitute(case.prim_func, {store: replace(store, value=other)})
    return Variant(case, IRModule({case.func: func}), "a wrong value", calls=case.calls)


def is_int(dtype):
    return dtype.is_integer and not dtype.is_vector and dtype.bits > 1


def test_a_call_that_contradicts_a_proof_is_the_alarm(monkeypatch):
    monkeypatch.setattr(proofs, "pair_of", wrong_pair)
    assert batch(SETTINGS).findings == ()  # the prover sees each of them
    monkeypatch.setattr(proofs, "compared", lambda _before, after, func, call: compared(after, after, func, call))
    alarm = batch(SETTINGS).findings[0]
    assert (alarm.code, alarm.path) == ("RM903", "prove")
    finding = read_finding(finding_text(SETTINGS, alarm, None), "finding.toml")
    assert finding.specs == ()
    assert "RM903" in {each.code.id for each in examined(finding, []).findings}
    problem = shrink(SETTINGS.to_json(), alarm.to_json(), 1.0)
    assert problem == {"problem": "a pair of programs is not made smaller"}


def test_a_rewrite_that_is_undefined_is_a_contradiction(monkeypatch):
    def undefined(case, _seed):
        buffer = tir.Buffer("fresh", INT32, (tir.IntImm(INT32, 1),))
        read = tir.Evaluate(tir.BufferLoad(buffer, (tir.IntImm(INT32, 0),)))
        func = with_top(case.prim_func, [read, *top(case.prim_func)], added=(buffer,))
        return Variant(case, IRModule({case.func: func}), "a read of fresh memory", calls=case.calls)

    monkeypatch.setattr(proofs, "pair_of", undefined)
    result = batch(SETTINGS)
    assert {finding.code for finding in result.findings} == {"RM705"}
    assert "after `a read of fresh memory` it is not" in result.findings[0].message


def test_a_constant_that_is_loaded_drops_the_regions_of_blocks_without_axes():
    case = program(SETTINGS, REGIONS)
    pair = proofs.pair_of(case, SETTINGS.seed_of(REGIONS))
    assert "loaded" in pair.label
    assert proofs.proof_of(pair).kind is ProofKind.PROVED
