"""Requests in any order: the server says what the session says, and nothing that comes brings it down.

Ten thousand of each: `python tests/e2e/dap_sequences.py`.
"""

from dap_machine import Machine
from dap_malformed import check, sequences
from hypothesis import given, settings, strategies as st
from hypothesis.stateful import run_state_machine_as_test


def test_any_sequence_of_requests_is_what_the_session_does() -> None:
    Machine.moves = 0
    run_state_machine_as_test(Machine, settings=settings(max_examples=15, stateful_step_count=10))
    assert Machine.moves > 20


@settings(max_examples=60)
@given(sequence=sequences, launches=st.sampled_from(["", "graph", "sums", "fault"]))
def test_requests_that_are_wrong_are_refused_and_nothing_else_happens(sequence, launches) -> None:
    check(sequence, launches=launches)
