"""Threads by time in a trace: turns, waits, copies in flight. Worked out by hand from the text of the ring."""

import json
from itertools import pairwise

import pytest
from warp_specialised import CONSUMER_WAIT, CONSUMERS, COPY, PRODUCER_WAIT, SYNC, changed, program

from refmlc.debug.trace import EventKind, as_data, read_data, record, threads as by_time
from refmlc.debug.trace.replay import elements, replay


@pytest.fixture(scope="module")
def ring():
    return record(program())


def turns_of(trace, thread):
    numbers = trace.threads.turns
    rows = [tuple(numbers[k : k + 4]) for k in range(0, len(numbers), 4)]
    return [row[1:] for row in rows if row[0] == thread]


def waits_of(trace, thread):
    """Line and text of what a thread waits for at the end of each turn; None: it ends."""
    waits = trace.threads.waits
    return [None if wait < 0 else waits[wait].span.line for _, _, wait in turns_of(trace, thread)]


def test_each_thread_has_turns_and_waits(ring):
    assert waits_of(ring, 1) == [SYNC, None]
    assert waits_of(ring, 0) == [SYNC, PRODUCER_WAIT, None]  # both tiles are full, then it waits for an empty one
    assert {tuple(waits_of(ring, thread)) for thread in CONSUMERS} == {(SYNC, CONSUMER_WAIT, None)}
    texts = [wait.text for wait in ring.threads.waits]
    assert texts[0] == "`T.cuda.cta_sync`"
    assert texts[1].startswith("phase 0 of `empty[0]` lacks 32 of 32 arrivals")


def test_turns_do_not_overlap_and_hold_the_events_of_their_threads(ring):
    numbers = ring.threads.turns
    rows = sorted(tuple(numbers[k + 1 : k + 3]) for k in range(0, len(numbers), 4))
    assert all(before[1] <= after[0] for before, after in pairwise(rows))
    second = turns_of(ring, 40)[1]
    stores = [step for step in range(*second[:2]) if ring.sites[ring.site[step]].kind is EventKind.STORE]
    assert [ring.value[step] for step in stores] == [80.0, 400.0]  # A[0, 8] and A[1, 8], times 10


def test_copies_are_in_flight_from_their_issue_to_the_first_thread_that_sees_the_phase(ring):
    copies = ring.threads.copies
    assert [(copy.into, copy.nbytes, copy.thread, copy.span.line) for copy in copies] == [("tile", 128, 0, COPY)] * 4
    issue, first = turns_of(ring, 0)[1], turns_of(ring, 32)[1]
    for copy in copies[:2]:
        assert issue[0] < copy.begin <= issue[1] <= first[0] < copy.end <= first[1]
    assert copies[0].end < copies[1].end


def test_what_a_copy_brings_is_in_the_tensors(ring):
    tile = next(row for row, tensor in enumerate(ring.tensors) if tensor.name == "tile")
    before, after = ring.threads.copies[0].begin, ring.threads.copies[1].end
    assert elements(ring, tile, replay(ring, before)) == [None] * 64
    assert elements(ring, tile, replay(ring, after)) == [float(number) for number in range(64)]


def test_a_deadlock_ends_in_waits():
    trace = record(program(changed(("// 2 % 2 ^ 1)", "// 2 % 2)"))))
    assert trace.failure is not None
    assert trace.failure.code.id == "RM343"
    assert (waits_of(trace, 0)[-1], waits_of(trace, 63)[-1]) == (PRODUCER_WAIT, CONSUMER_WAIT)


def test_the_data_come_back(ring):
    assert read_data(json.dumps(as_data(ring))).threads == ring.threads
    data = as_data(ring)
    del data["threads"]  # as an earlier version wrote it
    assert not read_data(json.dumps(data)).threads.turns


def test_steps_are_the_same_where_events_are_omitted(ring):
    sampled = record(program(), max_events=120)
    assert sampled.sampled
    assert sampled.threads.turns == ring.threads.turns
    assert [copy.begin for copy in sampled.threads.copies] == [copy.begin for copy in ring.threads.copies]
    assert all(copy.end > copy.begin for copy in sampled.threads.copies)


def test_many_turns_are_cut_and_it_is_said(monkeypatch):
    monkeypatch.setattr(by_time, "MOST_TURNS", 70)
    trace = record(program())
    assert len(trace.threads.turns) == 4 * 70
    assert any("threads by time" in note for note in trace.notes)
