"""Samples of the tables of proofs: right pairs are never refuted, mutants are never proved away."""

import pytest
from needs import need
from proof_table import contradicted, decided, module_of, mutant, mutants, pipeline, schedules

from refmlc.prove import ProofKind


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


@pytest.mark.parametrize("word", ["matmul", "softmax", "layer_norm"])
def test_operators_are_defined_for_all_sizes(word):
    need("z3")
    from sizes_table import functions  # noqa: PLC0415 - needs z3

    from refmlc.prove.sizes import defined_for_all_sizes  # noqa: PLC0415 - the same

    modules = [(module, name) for _, module, name in functions(word) if module is not None]
    assert modules
    for module, name in modules:
        assert defined_for_all_sizes(module, name).kind.value == "proved", name
