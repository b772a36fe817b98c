"""Threads in the debugger: where each stands, what it waits for, stepping one, going back. Worked out by hand."""

from collections.abc import Iterator

import numpy as np
import pytest
from warp_specialised import (
    ARRIVE,
    CONSUMER_WAIT,
    CONSUMERS,
    COPY,
    EXPECT,
    FIRST,
    PRODUCER_WAIT,
    REST,
    RING,
    STORE,
    SYNC,
    changed,
    program,
)

from refmlc.debug import Reason, Session, ThreadState
from refmlc.debug.dap.console import reply, selected
from refmlc.debug.snapshots import SnapshotRate
from refmlc.debug.terminal import Shell
from refmlc.diag import RefmlcError

HEAD = """from tvm.script import tirx as T

@T.prim_func
def f(A: T.Buffer((4, 32), "int32"), B: T.Buffer((4, 32), "int32")):
    T.device_entry()
    b = T.cta_id([{blocks}])
    t = T.thread_id([{threads}])
"""


def kernel(*lines: str, threads: int = 64, blocks: int = 1) -> str:
    return HEAD.format(threads=threads, blocks=blocks) + "".join(f"    {line}\n" for line in lines)


def lines_of(session: Session) -> dict[int, tuple[str, int | None]]:
    return {
        thread.number: (thread.state, None if thread.span is None else thread.span.line) for thread in session.threads()
    }


def grouped(session: Session) -> set[tuple[str, int | None, int]]:
    """State, line and the number of threads that share them."""
    rows = list(lines_of(session).values())
    return {(*row, rows.count(row)) for row in rows}


def thread(session: Session, number: int) -> ThreadState:
    return next(thread for thread in session.threads() if thread.number == number)


@pytest.fixture
def ring() -> Iterator[Session]:
    with Session(program()) as session:
        session.start()
        yield session


def stopped(text: str, *, failing: bool = True) -> Session:
    session = Session(program(text))
    session.start()
    stop = session.resume()
    assert (stop.reason is Reason.FAILURE) is failing
    return session


class TestWhereTheyStand:
    def test_outside_of_threads_there_are_none(self, ring: Session) -> None:
        assert (list(ring.threads()), ring.thread, list(ring.barriers())) == ([], None, [])
        assert ring.waiting().waits == ()
        ring.resume()
        assert (ring.ended, list(ring.threads())) == (True, [])

    def test_each_thread_has_a_state(self, ring: Session) -> None:
        ring.break_line(SYNC, threads=[3])
        ring.resume()
        states = lines_of(ring)
        assert states[3] == ("runs", SYNC)
        assert {states[number] for number in range(3)} == {("waits", SYNC)}
        assert {states[number][0] for number in range(4, 64)} == {"begins"}
        assert thread(ring, 2).waits_for == "`T.cuda.cta_sync`: 3 of 64 threads have come"

    def test_a_thread_that_has_met_the_others_continues(self, ring: Session) -> None:
        ring.break_line(STORE)
        ring.resume()
        assert ring.thread == 32
        assert grouped(ring) == {
            ("waits", PRODUCER_WAIT, 1),
            ("ended", None, 31),
            ("runs", STORE, 1),
            ("continues", SYNC, 31),
        }
        first = thread(ring, 0)
        assert first.waits_for == "phase 0 of `empty[0]` lacks 32 of 32 arrivals, and the wait is for parity 0"
        assert (first.warp, first.lane, first.block) == (0, 0, (0,))
        assert (thread(ring, 37).warp, thread(ring, 37).lane) == (1, 5)

    def test_barriers_have_arrivals_bytes_and_copies(self, ring: Session) -> None:
        ring.break_line(COPY)
        ring.resume()
        full, empty, other, _ = ring.barriers()
        assert (full.name, full.come, full.expected, full.phase, full.nbytes) == ("full[0]", 1, 1, 0, 128)
        assert (empty.name, empty.come, empty.expected, other.name) == ("empty[0]", 0, 32, "full[1]")
        ring.step_thread([0])
        full = ring.barriers()[0]  # the copy has brought its bytes: phase 0 is complete, and nobody has seen it
        assert (full.phase, full.nbytes, full.copies) == (1, 0, ("128 bytes into `tile`",))

    def test_copies_that_a_thread_has_issued(self) -> None:
        copy = "T.ptx.cp.async_.ca.shared.global_(T.address_of(S[t]), T.address_of(A[0, t]), 4)"
        text = kernel(
            'S = T.alloc_shared((32,), "int32")',
            *(copy, "T.ptx.cp.async_.commit_group()"),
            copy.replace("S[t]", "S[t + 16]"),
            "T.cuda.cta_sync()",
            *("T.ptx.cp.async_.wait_all()", "B[0, t] = S[t]"),
            threads=16,
        )
        with Session(program(text)) as session:
            session.start()
            session.break_line(13)
            session.resume()
            assert session.thread == 0
            assert thread(session, 5).copies == "cp.async: 1 in 1 group, 1 not committed"
            session.resume()
            assert thread(session, 0).copies == ""

    def test_blocks_run_one_after_the_other(self) -> None:
        text = kernel("T.cuda.cta_sync()", "B[b, t] = b", blocks=2, threads=32)
        with Session(program(text)) as session:
            session.start()
            session.break_line(9, threads=[31])
            session.resume()
            assert {state.block for state in session.threads()} == {(0,)}
            session.resume()
            assert {state.block for state in session.threads()} == {(1,)}

    def test_axes_nest(self) -> None:
        text = """from tvm.script import tirx as T

@T.prim_func(s_tir=True)
def f(A: T.Buffer((4, 32), "int32"), B: T.Buffer((4, 32), "int32")):
    for ty in T.thread_binding(4, thread="threadIdx.y"):
        for tx in T.thread_binding(32, thread="threadIdx.x"):
            with T.sblock():
                S = T.alloc_buffer((4, 32), "int32", scope="shared")
                S[ty, tx] = A[ty, tx]
                T.tvm_storage_sync("shared")
                B[ty, tx] = S[3 - ty, tx]
"""
        with Session(program(text)) as session:
            session.start()
            session.break_line(10, threads=[70])
            session.resume()
            assert (session.thread, session.evaluate("ty"), session.evaluate("tx")) == (70, 2, 6)
            states = lines_of(session)
            assert [states[number][0] for number in (0, 69, 70, 71, 96)] == [
                "waits",
                "waits",
                "runs",
                "begins",
                "begins",
            ]
            session.break_line(11, threads=[1])
            session.resume()
            assert lines_of(session)[127] == ("continues", 10)

    def test_threads_that_never_meet(self) -> None:
        text = kernel("B[0, t] = A[0, t]", threads=32)
        with Session(program(text)) as session:
            session.start()
            session.break_line(8, threads=[7])
            session.resume()
            assert (session.thread, session.evaluate("t"), list(session.threads())) == (7, 7, [])
            session.step_thread([9])
            assert session.evaluate("thread") == 9


class TestSteps:
    def test_one_thread_is_stepped_and_the_others_run(self, ring: Session) -> None:
        ring.break_line(STORE, threads=[32])
        ring.resume()
        ring.remove(1)
        places = []
        for _ in range(4):
            stop = ring.step_thread([33])
            assert (stop.reason, ring.thread) == (Reason.STEP, 33)
            places.append((stop.span.line if stop.span else 0, ring.evaluate("i")))
        assert places == [(CONSUMER_WAIT, 0), (STORE, 0), (ARRIVE, 0), (CONSUMER_WAIT, 1)]

    def test_the_producer_waits_until_all_consumers_have_arrived(self, ring: Session) -> None:
        ring.break_line(STORE, threads=[32])
        ring.resume()
        ring.remove(1)
        stop = ring.step_thread([0])
        assert (stop.span.line if stop.span else 0, ring.evaluate("i")) == (EXPECT, 2)
        assert lines_of(ring)[63] == ("waits", CONSUMER_WAIT)
        stored = ring.arguments[1]
        assert np.array_equal(stored.numpy()[:2], np.arange(64).reshape(2, 32) * 10)  # type: ignore[attr-defined]

    def test_a_warp_is_stepped(self, ring: Session) -> None:
        ring.break_line(PRODUCER_WAIT)
        ring.resume()
        ring.remove(1)
        numbers = []
        for _ in range(3):
            ring.step_thread(CONSUMERS)
            numbers.append(ring.thread)
        assert numbers == [32, 32, 32]

    def test_a_thread_that_ends_stops_the_motion(self, ring: Session) -> None:
        ring.break_line(SYNC, threads=[63])
        ring.resume()
        ring.step_thread([1])  # behind the barrier it ends
        assert thread(ring, 1).state == "ended"
        with pytest.raises(RefmlcError, match="thread 1 has ended"):
            ring.step_thread([1])

    def test_what_is_not_there_is_not_stepped(self, ring: Session) -> None:
        with pytest.raises(RefmlcError, match="no threads are executed here"):
            ring.step_thread([0])
        ring.break_line(STORE)
        ring.resume()
        with pytest.raises(RefmlcError, match="there is no thread 64: the block has 64 threads"):
            ring.step_thread([64])


class TestBackwards:
    def test_over_a_barrier_the_threads_are_as_before(self, ring: Session) -> None:
        ring.break_line(SYNC, threads=[63])
        ring.resume()
        before, moment = list(ring.threads()), ring.moment
        ring.break_line(STORE)
        ring.resume()
        assert grouped(ring) != {("waits", SYNC, 63), ("runs", SYNC, 1)}
        ring.goto(moment)
        assert list(ring.threads()) == before
        assert grouped(ring) == {("waits", SYNC, 63), ("runs", SYNC, 1)}

    def test_each_step_back_restores_threads_barriers_and_memory(self, ring: Session) -> None:
        ring.break_line(STORE, threads=[62])
        ring.resume()
        ring.remove(1)

        def seen() -> object:
            tile = ring.look("tile").tensor
            assert tile is not None
            cells = [tile.cells[n] if tile.shadow[n] else None for n in range(64)]
            return ring.moment, ring.thread, list(ring.threads()), list(ring.barriers()), ring.waiting(), cells

        forwards = [seen()]
        for _ in range(12):
            ring.step_in()
            forwards.append(seen())
        for state in reversed(forwards[:-1]):
            ring.step_back()
            assert seen() == state

    def test_the_entry_of_a_loop_in_which_threads_meet(self, ring: Session) -> None:
        ring.break_line(STORE, threads=[40])
        ring.resume()
        moment, threads = ring.moment, list(ring.threads())
        with pytest.raises(RefmlcError, match="a loop in which threads meet is entered at no moment"):
            ring.restart_frame()
        assert (ring.moment, list(ring.threads())) == (moment, threads)

    def test_to_an_earlier_block(self) -> None:
        text = kernel("T.cuda.cta_sync()", "B[b, t] = b", "T.cuda.cta_sync()", blocks=3, threads=32)
        with Session(program(text), snapshot_rate=SnapshotRate(1, adapts=False)) as session:
            session.start()
            session.break_line(9, threads=[5])
            seen = []
            for _ in range(3):
                moment = session.resume().moment
                seen.append((moment, list(session.threads()), session.waiting()))
            session.remove(1)
            for moment, threads, waiting in reversed(seen):
                session.goto(moment)
                assert (list(session.threads()), session.waiting()) == (threads, waiting)
            assert [threads[0].block for _, threads, _ in seen] == [(0,), (1,), (2,)]

    def test_one_thread_goes_back(self, ring: Session) -> None:
        ring.break_line(STORE, threads=[40])
        ring.resume()
        ring.resume()
        assert ring.evaluate("i") == 1
        stop = ring.step_thread_back([40])
        assert (ring.thread, stop.span.line if stop.span else 0, ring.evaluate("i")) == (40, CONSUMER_WAIT, 1)
        stop = ring.step_thread_back([0])
        assert (ring.thread, stop.span.line if stop.span else 0) == (0, PRODUCER_WAIT)


class TestSelection:
    def test_another_thread_shows_its_registers_and_shared_memory(self, ring: Session) -> None:
        ring.break_line(STORE, threads=[37])
        ring.resume()
        ring.select_thread(0)
        assert (ring.thread, ring.evaluate("tx"), ring.evaluate("i")) == (0, 0, 2)
        assert ring.frames()[0].span is not None
        assert ring.frames()[0].span.line == PRODUCER_WAIT  # type: ignore[union-attr]
        assert ring.evaluate("tile[1, 3]") == 35
        ring.select_thread(31)
        assert ring.evaluate("tx") == 31  # it has ended, and its variables are there
        ring.select_thread()
        assert (ring.thread, ring.evaluate("tx"), ring.evaluate("i")) == (37, 37, 0)

    def test_a_motion_ends_the_selection(self, ring: Session) -> None:
        ring.break_line(STORE, threads=[37])
        ring.resume()
        ring.select_thread(0)
        ring.step_in()
        assert ring.thread == 37

    def test_values_are_set_in_the_thread_that_runs(self, ring: Session) -> None:
        ring.break_line(STORE, threads=[37])
        ring.resume()
        ring.select_thread(0)
        with pytest.raises(RefmlcError, match="another one is selected"):
            ring.set("i", "3")
        ring.select_thread(37)
        ring.set("tile[0, 5]", "7")
        ring.step_in()
        assert ring.arguments[1].numpy()[0, 5] == 70  # type: ignore[attr-defined]

    def test_a_thread_that_is_not_there(self, ring: Session) -> None:
        with pytest.raises(RefmlcError, match="no thread 5: no threads take turns here"):
            ring.select_thread(5)


class TestWhoWaitsForWhom:
    def test_a_wait_that_others_can_end_is_no_deadlock(self, ring: Session) -> None:
        ring.break_line(STORE, threads=[33])
        ring.resume()
        producer, consumer = ring.waiting().waits
        assert (producer.threads, producer.awaited) == (FIRST, CONSUMERS)
        assert producer.how == f"threads 32-63 can still arrive at `empty[0]`, by line {ARRIVE}"
        assert (consumer.threads, consumer.awaited) == ((32,), FIRST)
        assert consumer.how == f"thread 0 can still arrive at `full[0]`, by lines {EXPECT}-{COPY}"
        assert (ring.waiting().stuck, ring.waiting().cycle) == ((), ())

    @pytest.mark.parametrize(
        ("old", "new", "lacks"),
        [
            ("// 2 % 2 ^ 1)", "// 2 % 2)", "1 of 1 arrivals"),
            ("full[i % 2]), T.uint32(128))\n", "full[i % 2]), T.uint32(256))\n", "128 bytes"),
        ],
        ids=["a wrong parity", "too many bytes expected"],
    )
    def test_a_planted_deadlock_shows_the_circle(self, old: str, new: str, lacks: str) -> None:
        with stopped(changed((old, new))) as session:
            waiting = session.waiting()
            assert [wait.threads for wait in waiting.waits] == [FIRST, CONSUMERS]
            assert waiting.waits[1].waits_for == f"phase 0 of `full[0]` lacks {lacks}, and the wait is for parity 0"
            assert [wait.awaited for wait in waiting.waits] == [CONSUMERS, FIRST]
            assert (waiting.stuck, waiting.cycle) == ((0, 1), (0, 1))
            assert {state.state for state in session.threads()} == {"waits", "ended"}

    def test_a_barrier_and_a_phase_in_one_circle(self) -> None:
        text = changed(("    T.cuda.cta_sync()", "    if tx < 40:\n        T.cuda.cta_sync()"))
        with stopped(text) as session:
            early, late = session.waiting().waits
            assert (early.threads, early.awaited, early.how) == (
                tuple(range(40)),
                tuple(range(40, 64)),
                "threads 40-63 have not come",
            )
            assert (late.threads, late.awaited) == (tuple(range(40, 64)), FIRST)
            assert session.waiting().cycle == (0, 1)

    def test_threads_that_have_ended_never_come(self) -> None:
        with stopped(kernel("if t < 60:", "    T.cuda.cta_sync()", "B[0, t // 2] = 1")) as session:
            (wait,) = session.waiting().waits
            assert wait.how == "threads 60-63 have not come, all of them have ended"
            assert (session.waiting().stuck, session.waiting().cycle) == ((0,), ())

    def test_an_arrival_that_nobody_makes(self) -> None:
        text = changed(("            T.ptx.mbarrier.arrive.shared.b64(T.address_of(empty[i % 2]))\n", ""))
        with stopped(text) as session:
            producer, consumers = session.waiting().waits
            assert (producer.awaited, producer.how) == ((), "no statement arrives at `empty[0]`")
            assert (consumers.threads, consumers.awaited) == (CONSUMERS, FIRST)
            assert (session.waiting().stuck, session.waiting().cycle) == ((0, 1), ())

    def test_an_arrival_that_nobody_reaches(self) -> None:
        text = changed(
            (
                "            T.ptx.mbarrier.arrive.shared",
                "            if tx > 63:\n                T.ptx.mbarrier.arrive.shared",
            )
        )
        with stopped(text) as session:
            assert session.waiting().waits[0].how == "no thread can reach a statement that arrives at `empty[0]`"

    def test_lanes_that_are_named_by_a_mask(self) -> None:
        text = kernel("if t < 3:", "    T.ptx.bar.warp.sync(T.uint32(15))", "B[0, t] = 1", threads=32)
        with stopped(text) as session:
            (wait,) = session.waiting().waits
            assert wait.waits_for == "`T.ptx.bar.warp.sync`: 3 of 4 lanes of the mask 0xf have come"
            assert (wait.awaited, wait.how) == ((3,), "thread 3 has not come, thread 3 ended")

    def test_a_numbered_barrier_counts_those_that_did_not_wait(self) -> None:
        text = kernel(
            *("if t < 32:", "    T.ptx.bar.arrive(1, 96)"),
            *("if t >= 32:", "    T.ptx.bar.sync(1, 96)", "B[0, t // 2] = 1"),
        )
        with stopped(text) as session:
            (wait,) = session.waiting().waits
            assert wait.waits_for == "barrier 1: 64 of 96 threads have come, 32 did not wait"
            (barrier,) = session.barriers()
            assert (barrier.name, barrier.come, barrier.expected, barrier.phase) == ("barrier 1", 64, 96, None)


class TestCommands:
    def run(self, *lines: str, text: str = RING) -> list[str]:
        with Session(program(text)) as session:
            shell = Shell(session)
            shell.begin()
            return [shell.execute(line) for line in lines]

    def test_threads_in_the_same_state_share_a_line(self) -> None:
        *_, listed, warp = self.run(f"break {STORE} thread 37", "continue", "threads", "threads 0")
        first = "phase 0 of `empty[0]` lacks 27 of 32 arrivals, and the wait is for parity 0"
        early = "phase 1 of `full[0]` lacks 1 of 1 arrivals, and the wait is for parity 1"
        assert listed.splitlines() == [
            "block 0: 64 threads",
            "  threads warp lanes where",
            f"  0       0    0     ring.py:{PRODUCER_WAIT} waits: {first}",
            "  1-31    0    1-31  ended",
            f"  32-36   1    0-4   ring.py:{CONSUMER_WAIT} waits: {early}",
            f"> 37      1    5     ring.py:{STORE} runs",
            f"  38-63   1    6-31  ring.py:{SYNC} continues",
        ]
        assert warp.splitlines()[2:] == listed.splitlines()[2:4]

    def test_a_breakpoint_of_a_thread_or_a_warp(self) -> None:
        said = self.run(
            f"break {STORE} thread 37 if i == 1", f"break {CONSUMER_WAIT} warp 1", "break", "c", "c", "p tx"
        )
        assert said[0] == f"1: line at ring.py:{STORE}, of thread 37, if i == 1"
        assert said[1] == f"2: line at ring.py:{CONSUMER_WAIT}, of threads 32-63"
        assert said[2].splitlines() == said[:2]
        assert "thread = 32" in said[3]
        assert "is named with a line" in self.run("break ring thread 3")[0]

    def test_a_thread_is_chosen_and_stepped(self) -> None:
        said = self.run(f"break {STORE}", "c", "delete 1", "thread 33", "tstep", "", "p tx", "rtstep", "thread")
        assert said[3].splitlines()[0] == f"> ring.py:{SYNC} thread 33 (warp 1, lane 1) continues"
        assert [f"ring.py:{CONSUMER_WAIT}" in said[4], f"ring.py:{STORE}" in said[5]] == [True, True]
        assert said[6] == "33"
        assert f"ring.py:{CONSUMER_WAIT} in ring" in said[7]
        assert f"> ring.py:{CONSUMER_WAIT} thread 33 (warp 1, lane 1) runs" in said[8]

    def test_next_and_out_stay_with_the_thread_and_step_does_not(self) -> None:
        wait = f"> ring.py:{CONSUMER_WAIT} in ring (block_x = 0, thread = 32, i = 2)"
        ready = [f"break {STORE} if i == 1", "c", "delete 1", "next", "next"]  # thread 32 is about to wait
        *_, here, over = self.run(*ready, "next")
        assert here.startswith(wait)
        assert over.startswith(f"> ring.py:{STORE} in ring (block_x = 0, thread = 32, i = 2)")
        assert "thread = 33" in self.run(*ready, "step")[-1].splitlines()[1]
        text = kernel("for k in range(2):", "    T.cuda.cta_sync()", "    B[k, t // 2] = k", "B[3, t // 2] = 1")
        *_, out = self.run("break 10 thread 5", "c", "delete 1", "out", text=text)
        assert out.startswith("> ring.py:11 in f (block_x = 0, thread = 5)")
        *_, out = self.run("break 10 thread 5", "c", "delete 1", "thread 9", "out", text=text)
        assert out.startswith("> ring.py:11 in f (block_x = 0, thread = 5)")  # in which the program stands

    def test_that_another_thread_runs_is_said(self) -> None:
        said = self.run(f"break {STORE}", "c", "step", "c", "delete 1", "rstep", "continue")
        assert said[1].startswith("breakpoint 1")  # no thread ran before
        assert said[2].startswith(f"> ring.py:{ARRIVE}")
        assert not said[3].startswith("thread")  # it is the second tile of the same thread
        said = self.run(f"break {STORE} if i == 0", "c", "c")
        assert said[2].splitlines()[0] == "thread 33 runs now, before it was thread 32"

    def test_a_step_that_another_thread_ends_is_said(self) -> None:
        said = self.run(f"break {STORE} if i == 0", "c", "thread 0", "tstep", "delete 1", "tstep")
        assert said[3].splitlines()[:3] == [
            "thread 33 runs now, before it was thread 32",
            "breakpoint 1",
            "the step of thread 0 has not ended: `tstep` continues it",
        ]
        assert said[5].startswith(f"> ring.py:{EXPECT}")  # it was chosen, so nothing is said of it

    def test_the_words_for_states_are_explained(self) -> None:
        assert "`continues` (it waited, and may run again in its turn)" in self.run("help threads")[0]
        assert "of the thread in which the program stands" in self.run("help next")[0]

    def test_a_warp_is_chosen_and_stepped(self) -> None:
        said = self.run(f"break {STORE}", "c", "delete 1", "warp 0", "tstep 2", "p tx", "warp 2", "warp")
        assert "> 0       0" in said[3]
        assert "thread 0 (warp 0, lane 0) waits: phase 0 of `empty[0]`" in said[3]
        assert said[5] == "0"
        assert "there is no warp 2 here" in said[6]
        assert "needs the number of a warp" in said[7]

    def test_waits_and_barriers(self) -> None:
        said = self.run("waits", "barriers", "threads", f"break {STORE}", "c", "waits", "barriers")
        assert said[:2] == ["no thread waits", "no barrier is in use"]
        assert said[2] == "no threads take turns here: step into a kernel, or set a breakpoint in one"
        lacks = "phase 0 of `empty[0]` lacks 32 of 32 arrivals, and the wait is for parity 0"
        assert said[5].splitlines() == [
            f"thread 0 at ring.py:{PRODUCER_WAIT}: {lacks}",
            f"    threads 32-63 can still arrive at `empty[0]`, by line {ARRIVE}",
        ]
        assert said[6].splitlines()[:2] == [
            "full[0]: phase 1 (parity 1) has 0 of 1 arrivals",
            "empty[0]: phase 0 (parity 0) has 0 of 32 arrivals",
        ]

    def test_a_deadlock_is_told_where_the_program_stops(self) -> None:
        (said,) = self.run("continue", text=changed(("// 2 % 2 ^ 1)", "// 2 % 2)")))
        assert "error[RM343]" in said
        assert "they wait for each other: thread 0 -> threads 32-63 -> thread 0" in said
        (said,) = self.run("continue", text=kernel("if t < 60:", "    T.cuda.cta_sync()", "B[0, t // 2] = 1"))
        assert "nobody can end the wait of threads 0-59" in said

    def test_threads_that_never_meet_have_numbers(self) -> None:
        text = kernel("B[0, t] = A[0, t]", threads=32)
        said = self.run("break 8 thread 7", "c", "threads", "thread", text=text)
        assert said[2] == "thread 7 runs, and the threads do not wait for each other"
        assert "thread 7 (warp 0, lane 7)" in said[3]


def test_the_console_of_an_editor(ring: Session) -> None:
    assert [reply(ring, word, 0) for word in ("threads", "waits", "barriers")] == [
        "no threads take turns here",
        "no thread waits",
        "no barrier is in use",
    ]
    ring.break_line(STORE)
    ring.resume()
    assert "> 32 " in str(reply(ring, "threads", 0))
    assert str(reply(ring, "waits", 0)).startswith(f"thread 0 at ring.py:{PRODUCER_WAIT}")
    assert str(reply(ring, " barriers ", 0)).startswith("full[0]: phase 1")
    assert [reply(ring, line, 0) for line in ("tx", "threads + 1", "thread")] == [None, None, None]
    assert [
        selected(line) for line in ("thread 37", " thread  5 ", "thread", "thread x", "threads 1", "thread 9999999999")
    ] == [37, 5, None, None, None, None]


def test_all_rest_of_the_first_warp_ends(ring: Session) -> None:
    ring.break_line(STORE)
    ring.resume()
    assert [state.number for state in ring.threads() if state.state == "ended"] == list(REST)
