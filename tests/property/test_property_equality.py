"""Proofs for all sizes on drawn programs: a step of a schedule with symbolic sizes, and the same with a planted fault.

| law                                                                                       |
|-------------------------------------------------------------------------------------------|
| what is proved for all sizes is equal on terms at each of several sizes                    |
| most steps of schedules are proved                                                        |
| a prover that takes every condition as shown is contradicted: the test can fail           |
"""

import os
import random
from dataclasses import replace

import planted_bugs
import pytest
from needs import imported
from sized_pipelines import sized_pipeline
from step_applications import applied, draw

from refmlc.diag import RefmlcError
from refmlc.lang.ir import IRModule, tir
from refmlc.lang.ir.equal import structural_equal
from refmlc.lang.ir.visit import rewrite, walk
from refmlc.prove import ProofKind, SymbolicCall, compared
from refmlc.prove.sizes import equal_for_all_sizes

z3 = imported("z3")
SEEDS = range(300 if os.environ.get("REFMLC_PROFILE") == "soak" else 9)
NAMES = ("split", "fuse", "reorder", "parallel", "compute_inline", "compute_at", "cache_read", "cache_write")
CONTRADICTING = (ProofKind.REFUTED, ProofKind.UNDECIDED)
SIZES = ((1, 1), (2, 3), (4, 2), (5, 6))


def steps():
    """Functions before and after a step that is legal."""
    for seed in SEEDS:
        for name in random.Random(seed).sample(NAMES, 3):  # noqa: S311 - a seed, no secret
            try:
                application = draw(name, seed, sized_pipeline)
                if application is not None:
                    yield application.func, applied(application.func, *application.words)
            except RefmlcError:
                continue


def verdict(before, after):
    return equal_for_all_sizes(IRModule({"main": before}), IRModule({"main": after}), "main")


def is_contradicted(before, after):
    """Whether terms at some size differ."""
    modules = [IRModule({"main": func}) for func in (before, after)]
    proofs = [compared(*modules, "main", SymbolicCall({"n": n, "m": m})) for n, m in SIZES]
    return any(
        proof.difference is not None or proof.kind in (ProofKind.REFUTED, ProofKind.UNDECIDED) for proof in proofs
    )


def shorter(module):
    """The innermost loops are one iteration short."""

    def change(node):
        if isinstance(node, tir.For) and not any(isinstance(part, tir.For) for part in walk(node.body)):
            least = tir.IntImm(node.extent.dtype, 1)
            return replace(node, extent=tir.Apply("sub", (node.extent, least), node.extent.dtype))
        return node

    return rewrite(module, change)


def subtracted(module):
    """Sums of values are differences."""

    def change(node):
        is_sum = isinstance(node, tir.Apply) and node.op == "add" and str(node.dtype) != "int64"
        return replace(node, op="sub") if is_sum else node

    return rewrite(module, change)


FAULTS = (
    planted_bugs.dropped_predicate,
    planted_bugs.skipped_init,
    planted_bugs.transposed_index,
    planted_bugs.short_extent,
    shorter,
    subtracted,
)


def faulty():
    """Functions, and a step of them with a planted fault."""
    for before, after in steps():
        module = IRModule({"main": after})
        for fault in FAULTS:
            planted = fault(module)
            if not structural_equal(planted["main"], after):
                yield before, planted["main"]


def test_what_is_proved_is_equal_at_each_size():
    pairs = list(steps())
    proved = [(before, after) for before, after in pairs if verdict(before, after).is_proved]
    assert len(proved) > 0.6 * len(pairs) > 6
    assert not any(is_contradicted(before, after) for before, after in proved)


def test_no_planted_fault_is_proved_away():
    pairs = list(faulty())
    assert len(pairs) > 30
    proved = [(before, after) for before, after in pairs if verdict(before, after).is_proved]
    assert not any(is_contradicted(before, after) for before, after in proved)


@pytest.mark.parametrize("method", ["is_impossible", "_structure"])
def test_a_prover_that_believes_everything_is_contradicted(method, monkeypatch):
    monkeypatch.setattr(f"refmlc.prove.sizes.matching.Matcher.{method}", lambda *_: True)
    assert any(verdict(before, after).is_proved and is_contradicted(before, after) for before, after in faulty())
