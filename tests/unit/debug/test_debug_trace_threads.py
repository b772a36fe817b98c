"""Threads by time in a trace: turns, waits, copies in flight. Worked out by hand from the text of the ring."""

import json
from itertools import pairwise

import pytest
from warp_specialised import CONSUMER_WAIT, CONSUMERS, COPY, PRODUCER_WAIT, SYNC, changed, program

from refmlc.debug.trace import EventKind, as_data, as_perfetto, read_data, record, threads as by_time
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


HEAD = """from tvm.script import tirx as T

@T.prim_func
def f(A: T.Buffer((4, 32), "int32"), B: T.Buffer((4, 32), "int32")):
    T.device_entry()
    {blocks}
    t = T.thread_id([64])
"""


def kernel(*lines, blocks="b = T.cta_id([1])"):
    return record(program(HEAD.format(blocks=blocks) + "".join(f"    {line}\n" for line in lines)))


def rows_of(numbers, width):
    return [tuple(numbers[k : k + width]) for k in range(0, len(numbers), width)]


def ends_of(trace):
    """Of each wait that another thread ends: the thread that waits, the number of its turn, the thread that ends it."""
    turns = rows_of(trace.threads.turns, 4)
    passed = [sum(turn[0] == turns[row][0] for turn in turns[:row]) for row, _, _ in rows_of(trace.threads.ends, 3)]
    return [
        (turns[row][0], number, thread)
        for (row, thread, _), number in zip(rows_of(trace.threads.ends, 3), passed, strict=True)
        if thread != turns[row][0]
    ]


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


class TestWhoEndsAWait:
    def test_the_last_to_come_and_the_last_to_arrive(self, ring):
        found = ends_of(ring)
        assert {(thread, by) for thread, number, by in found if number == 0} == {(thread, 63) for thread in range(63)}
        assert (0, 1, 63) in found  # an empty tile lacks 32 arrivals, and thread 63 is the last consumer
        assert {row for row in found if row[0] in CONSUMERS and row[1] == 1} == {(thread, 1, 0) for thread in CONSUMERS}
        assert len(found) == 63 + 1 + 32

    def test_the_wait_of_the_last_to_come_ends_by_itself(self, ring):
        turns = rows_of(ring.threads.turns, 4)
        own = [turns[row][0] for row, thread, _ in rows_of(ring.threads.ends, 3) if turns[row][0] == thread]
        assert own == [63]

    def test_steps_are_those_of_the_signal_or_of_the_end_of_the_turn(self, ring):
        turns = rows_of(ring.threads.turns, 4)
        steps = {(turns[row][0], turns[row][3]): step for row, _, step in rows_of(ring.threads.ends, 3)}
        sync, first = turns_of(ring, 63)[0], turns_of(ring, 63)[1]
        assert steps[1, 0] == sync[1]
        stores = [step for step in range(*first[:2]) if ring.sites[ring.site[step]].kind is EventKind.STORE]
        assert stores[0] < steps[0, 1] <= stores[1]  # it arrives behind its first store

    def test_an_arrival_without_a_wait(self):
        lines = (
            "if t >= 32:",
            "    T.ptx.bar.arrive(1, 64)",
            "if t < 32:",
            "    T.ptx.bar.sync(1, 64)",
            "    B[0, t] = 1",
        )
        assert ends_of(kernel(*lines)) == [(thread, 0, 63) for thread in range(32)]

    def test_the_lanes_of_a_warp(self):
        found = ends_of(kernel("T.cuda.warp_sync()", "B[0, t // 2] = 1"))
        assert found == [(thread, 0, 31) for thread in range(31)] + [(thread, 0, 63) for thread in range(32, 63)]

    def test_a_deadlock_is_ended_by_nobody(self):
        trace = record(program(changed(("// 2 % 2 ^ 1)", "// 2 % 2)"))))
        assert {number for _, number, _ in ends_of(trace)} == {0}

    def test_axes_nest(self):
        text = """from tvm.script import tirx as T

@T.prim_func(s_tir=True)
def f(A: T.Buffer((4, 32), "int32"), B: T.Buffer((4, 32), "int32")):
    for ty in T.thread_binding(4, thread="threadIdx.y"):
        for tx in T.thread_binding(8, thread="threadIdx.x"):
            with T.sblock():
                T.tvm_storage_sync("shared")
                B[ty, tx] = 1
                T.tvm_storage_sync("shared")
"""
        trace = record(program(text))
        rows = sorted(row[1:3] for row in rows_of(trace.threads.turns, 4))
        assert len(rows) == 3 * 32
        assert all(before[1] <= after[0] for before, after in pairwise(rows))
        assert ends_of(trace) == [(thread, number, 31) for number in (0, 1) for thread in range(31)]


def test_the_turn_in_which_the_run_fails_is_there():
    trace = kernel("T.cuda.cta_sync()", "B[t // 37 * 4, 0] = 1")
    assert trace.failure is not None
    (_, sync), (begin, end, wait) = (turns_of(trace, 37)[0][1:], turns_of(trace, 37)[1])
    assert (end, trace.threads.waits[sync].text, wait) == (trace.total, "`T.cuda.cta_sync`", -1)
    assert begin == turns_of(trace, 36)[1][1]
    assert [thread for thread, number, _ in ends_of(trace) if thread == 37] == [37]
    assert len(turns_of(trace, 38)) == 1


class TestBlocks:
    def test_a_row_for_each(self):
        trace = kernel("T.cuda.cta_sync()", "B[0, t // 2] = 1", blocks="x, y = T.cta_id([2, 3])")
        rows = rows_of(trace.threads.blocks, 4)
        assert {row[1:] for row in rows} == {(x, y, -1) for x in range(2) for y in range(3)}
        assert [row[0] for row in rows] == sorted(row[0] for row in rows)
        firsts = [row[1] for row in rows_of(trace.threads.turns, 4) if row[0] == 0][::2]
        assert [row[0] for row in rows] == firsts

    def test_of_a_kernel_without_a_grid(self):
        assert rows_of(kernel("T.cuda.cta_sync()", blocks="pass").threads.blocks, 4)[0][1:] == (-1, -1, -1)


class TestPerfetto:
    """What the viewer makes of it is asked in `test_debug_trace_perfetto`."""

    def test_slices_do_not_overlap_on_a_track(self, ring):
        slices = [row for row in as_perfetto(ring)["traceEvents"] if row["ph"] == "X"]
        for track in range(65):
            mine = sorted((row["ts"], row["ts"] + row["dur"]) for row in slices if row["tid"] == track)
            assert mine
            assert all(before[1] <= after[0] for before, after in pairwise(mine))

    def test_arrows_begin_and_end_in_slices(self, ring):
        rows = as_perfetto(ring)["traceEvents"]
        slices = [row for row in rows if row["ph"] == "X"]
        for arrow in (row for row in rows if row["ph"] in "sf"):
            mine = [row for row in slices if row["tid"] == arrow["tid"]]
            (around,) = [row for row in mine if row["ts"] <= arrow["ts"] < row["ts"] + row["dur"]]
            assert around["name"] == "runs"
        assert [row["ph"] for row in rows].count("s") == 2 + 1 + 1  # of each warp at the barrier, both roles at tiles

    def test_a_program_without_threads_has_no_tracks(self):
        trace = kernel("B[0, t // 2] = 1")
        assert {row["pid"] for row in as_perfetto(trace)["traceEvents"]} == {1}
