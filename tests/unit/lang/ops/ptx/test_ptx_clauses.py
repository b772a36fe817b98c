"""Each PTX operator that is executed leads to a clause of the specification, and the clause to a case of the suite."""

from refmlc.lang.ops.ptx.clauses import clauses_of_operators
from refmlc.lang.ops.ptx.registry import executed, registered
from refmlc.lang.spec import clauses
from refmlc.oracle.suite import load_suite

EXECUTED = 352
WITHOUT_CASES = {"TIM-016", "TIM-019", "TMM-005"}
"""Clauses that no case with a call of an instruction cites."""


def test_operators_that_are_executed_are_registered_and_have_a_clause():
    rows = clauses_of_operators()
    assert len(rows) == EXECUTED
    assert set(rows) <= set(registered())
    assert executed() <= set(rows)
    assert set(rows.values()) <= set(clauses())


def test_each_of_these_clauses_is_cited_by_a_case_of_its_area_that_has_such_a_call():
    cases = [case for case in load_suite().cases if case.id.startswith("tirx.") and "T.ptx" in case.text]
    shown = {clause for case in cases for clause in case.clauses}
    assert set(clauses_of_operators().values()) - shown == WITHOUT_CASES
