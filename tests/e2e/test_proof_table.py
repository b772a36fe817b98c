"""Samples of the tables of proofs: right pairs are never refuted, mutants are never proved away."""

import os

import pytest
from needs import need
from proof_table import (
    TRACE_FAULTS,
    changed_traces,
    contradicted,
    decided,
    fault_of,
    module_of,
    mutant,
    mutants,
    pipeline,
    schedules,
    traces,
)

from refmlc.prove import ProofKind, SymbolicCall, compared


def test_most_schedules_are_proved_and_none_is_refuted():
    rows = decided(schedules(12), search=False)
    kinds = [row[3].kind for row in rows]
    assert ProofKind.REFUTED not in kinds
    assert kinds.count(ProofKind.PROVED) >= 0.9 * len(kinds)


def test_no_mutant_is_proved_away():
    func = pipeline(0)
    assert contradicted(module_of(func), mutant(module_of(func), 1))  # the judge notices a change
    rows = decided(mutants(20), search=True)
    assert [row[0] for row in rows if row[3].is_proved and contradicted(row[1], row[2])] == []
    assert sum(row[3].kind is ProofKind.REFUTED for row in rows) >= 0.6 * len(rows)


def test_what_is_proved_without_iterations_is_proved_by_terms_too(monkeypatch):
    """Mutants at fixed sizes; with a matcher that takes any two places for equal, some are proved that terms refute."""
    need("z3")
    from refmlc.prove.sizes import equal_for_all_sizes  # noqa: PLC0415 - needs z3
    from refmlc.prove.sizes.matching import Matcher  # noqa: PLC0415 - the same

    def disagreeing():
        pairs = [pair for pair in mutants(60) if equal_for_all_sizes(*pair[1:], "main").is_proved]
        proofs = [compared(*pair[1:], "main", SymbolicCall(steps=200_000)) for pair in pairs]
        return len(proofs), sum(proof.kind is not ProofKind.PROVED for proof in proofs)

    proved, wrong = disagreeing()
    assert proved
    assert wrong == 0
    monkeypatch.setattr(Matcher, "holds", lambda _self, _facts, _goal: True)
    assert disagreeing()[1]


@pytest.mark.parametrize("word", ["matmul", "softmax", "layer_norm"])
def test_operators_are_defined_for_all_sizes(word):
    need("z3")
    from sizes_table import functions  # noqa: PLC0415 - needs z3

    from refmlc.prove.sizes import defined_for_all_sizes  # noqa: PLC0415 - the same

    modules = [(module, name) for _, module, name in functions(word) if module is not None]
    assert modules
    for module, name in modules:
        assert defined_for_all_sizes(module, name).kind.value == "proved", name


@pytest.mark.needs("tvm")
def test_traces_of_tvm_are_proved_and_no_change_of_them_is():
    pairs, _ = traces(1, os.environ.get("REFMLC_TVM_PYTHON", ""))
    rows = decided(pairs, search=True)
    wrong = [row for row in rows if row[3].kind is ProofKind.REFUTED]
    assert [row[0] for row in wrong if not fault_of(row[0], row[3])] == []
    assert len({row[0].split()[1] for row in rows}) >= 25
    assert sum(row[3].is_proved for row in rows) >= 0.8 * (len(rows) - len(wrong))
    changed = decided(changed_traces(rows), search=True)
    assert [row[0] for row in changed if row[3].is_proved and contradicted(row[1], row[2])] == []
    assert sum(row[3].kind is ProofKind.REFUTED for row in changed) >= 0.6 * len(changed)


def test_a_refuted_trace_needs_a_reason():
    """A wrong program is no fault of TVM's schedule by itself: a primitive that is known to be wrong must be there."""
    func = pipeline(0)
    ((_, _, _, proof, _),) = decided([("", module_of(func), mutant(module_of(func), 1))], search=True)
    assert proof.kind is ProofKind.REFUTED
    assert fault_of("0: matmul split+reorder", proof) == ""
    assert fault_of("0: matmul split+loop_partition", proof) == TRACE_FAULTS[0][2]
