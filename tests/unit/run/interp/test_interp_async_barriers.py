"""Barriers in memory and waits for their phases, worked out by hand (TIA-013, TIA-021 … TIA-023)."""

import numpy as np
import pytest

from refmlc.diag import RefmlcError
from refmlc.lang.script import read
from refmlc.run.interp.machine import Machine

HEAD = """@T.prim_func
def f(A: T.Buffer((64,), "int32"), B: T.Buffer((64,), "int32")):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([{threads}])
    S = T.alloc_shared((64,), "int32")
    bar = T.alloc_shared((2,), "uint64")
"""
BLOCK = "T.cuda.cta_sync()"


def bar(operation, number, *more, **attrs):
    operands = ", ".join((f"T.address_of(bar[{number}])", *(f"T.uint32({value})" for value in more)))
    keywords = "".join(f", {name}={value}" for name, value in attrs.items())
    return f"T.ptx.mbarrier.{operation}.shared.b64({operands}{keywords})"


def init(*counts):
    return "if t == 0:\n" + "".join(f"    {bar('init', n, count)}\n" for n, count in enumerate(counts)) + BLOCK


def wait(number, parity):
    return f"T.cuda.mbarrier_wait(T.address_of(bar[{number}]), {parity})"


def when(condition, *statements):
    return f"if {condition}:\n" + "\n".join(f"    {line}" for text in statements for line in text.split("\n"))


def run(*statements, threads=2):
    lines = [line for statement in statements for line in statement.split("\n")]
    text = HEAD.format(threads=threads) + "".join(f"    {line}\n" for line in lines)
    a, b = np.arange(64, dtype="int32"), np.full(64, -1, "int32")
    Machine(read(text, "f.py")).call("f", [a, b])
    return b.tolist()


def failure(*statements, threads=2):
    with pytest.raises(RefmlcError) as caught:
        run(*statements, threads=threads)
    return caught.value


def code(*statements, threads=2):
    return failure(*statements, threads=threads).code.id


def test_a_wait_ends_when_all_have_arrived():
    lines = (when("t == 1", "S[0] = 7", bar("arrive", 0)), when("t == 0", wait(0, 0), "B[0] = S[0]"))
    assert run(init(1), *lines)[0] == 7
    assert run(init(3), *lines[:1], when("t == 1", bar("arrive", 0, 2)), *lines[1:])[0] == 7


def test_a_wait_for_the_other_parity_passes_at_once():
    assert run(init(1), wait(0, 1), "B[t] = t")[:2] == [0, 1]


def test_phases_alternate():
    assert run(
        init(1, 1),
        when(
            "t == 0",
            "for i in range(5):",
            f"    {wait(1, 'i % 2 ^ 1')}",
            "    S[0] = 10 + i",
            f"    {bar('arrive', 0)}",
        ),
        when("t == 1", "for i in range(5):", f"    {wait(0, 'i % 2')}", "    B[i] = S[0]", f"    {bar('arrive', 1)}"),
    )[:6] == [10, 11, 12, 13, 14, -1]


def test_threads_of_two_warps_wait_for_each_other():
    body = (when("t < 32", "S[t] = t", bar("arrive", 0)), when("t >= 32", wait(0, 0), "B[t] = S[63 - t]"))
    assert run(init(32), *body, threads=64)[32:] == list(range(31, -1, -1))


def test_try_wait_tells_that_the_phase_is_complete():
    ask = "T.ptx.mbarrier.try_wait.parity.shared.b64(done[0], T.address_of(bar[0]), T.uint32(0))"
    loop = f"done = T.alloc_local((1,), 'uint32')\ndone[0] = T.uint32(0)\nwhile done[0] == T.uint32(0):\n    {ask}"
    assert run(init(1), when("t == 1", bar("arrive", 0)), loop, "B[t] = T.Cast('int32', done[0])")[:2] == [1, 1]


def test_a_wait_with_a_predicate_may_be_none():
    ask = "T.ptx.mbarrier.try_wait.parity.shared.b64(done[0], T.address_of(bar[0]), T.uint32(0), pred={})"
    text = f"done = T.alloc_local((1,), 'uint32')\ndone[0] = T.uint32(5)\n{ask}\nB[t] = T.Cast('int32', done[0])"
    assert run(init(1), text.format("t > 1"))[:2] == [5, 5]
    assert code(init(1), text.format("t < 2")) == "RM343"


def test_an_arrival_with_a_predicate_may_be_none():
    lines = (bar("arrive", 0, 1, pred="t == 1"), wait(0, 0), "B[t] = 1")
    assert run(init(1), *lines)[:2] == [1, 1]
    assert code(init(2), *lines) == "RM343"


def test_who_drops_is_not_awaited_later():
    lines = (
        when("t == 1", bar("arrive_drop", 0)),
        when("t == 0", bar("arrive", 0), wait(0, 0), bar("arrive", 0), wait(0, 1)),
    )
    assert run(init(2), *lines, "B[t] = 1")[:2] == [1, 1]
    assert code(init(2), *(line.replace("_drop", "") for line in lines)) == "RM343"


def test_bytes_hold_a_phase_open():
    start = (init(1), when("t == 0", bar("arrive.expect_tx", 0, 16)))
    done = (wait(0, 0), "B[t] = 1")
    assert run(*start, when("t == 1", bar("complete_tx", 0, 12), bar("complete_tx", 0, 4)), *done)[:2] == [1, 1]
    few = failure(*start, when("t == 1", bar("complete_tx", 0, 12)), *done)
    assert few.code.id == "RM343"
    lacks = "waits, and phase 0 of `bar[0]` lacks 4 bytes"
    assert few.diagnostic.message == f"threadIdx.x 0-1: {lacks}; nobody can change that"
    many = failure(*start, when("t == 1", bar("complete_tx", 0, 20)), *done)
    assert "an expectation of 4 bytes that copies have brought" in many.diagnostic.message
    assert (
        run(init(1), when("t == 1", bar("expect_tx", 0, 8), bar("arrive", 0), bar("complete_tx", 0, 8)), *done)[0] == 1
    )


def test_bytes_may_come_before_they_are_expected():
    lines = (when("t == 1", bar("complete_tx", 0, 16), bar("arrive.expect_tx", 0, 16)), wait(0, 0), "B[t] = 1")
    assert run(init(1), *lines)[:2] == [1, 1]


@pytest.mark.parametrize(
    ("statements", "part"),
    [
        ((bar("arrive", 0),), "before it is initialised"),
        ((wait(0, 0),), "before it is initialised"),
        ((init(1), when("t == 0", bar("init", 0, 1))), "while it is a barrier"),
        ((when("t == 0", bar("init", 0, 0)),), "with 0 arrivals"),
        ((when("t == 0", bar("init", 0, 1 << 20)),), "1048576 arrivals"),
        ((init(1), when("t == 0", bar("arrive", 0, 2))), "2 threads arrive"),
        ((init(2), when("t == 0", bar("arrive", 0, 0))), "0 threads arrive"),
        ((init(2), when("t == 0", bar("expect_tx", 0, 1 << 20))), "1048576 bytes"),
        ((init(1), wait(0, 2)), "the parity"),
        ((init(1), when("t == 0", "bar[0] = T.uint64(0)", bar("arrive", 0))), "wrote its memory"),
        ((init(1), when("t == 0", bar("inval", 0), bar("arrive", 0))), "before it is initialised"),
    ],
)
def test_a_barrier_that_is_not_used_as_it_has_to_be(statements, part):
    caught = failure(*statements)
    assert caught.code.id == "RM342"
    assert part in caught.diagnostic.message


def test_a_phase_that_is_over_before_its_waiter_passes():
    twice = failure(init(1), when("t == 0", wait(0, 0)), when("t == 1", bar("arrive", 0), bar("arrive", 0)))
    assert twice.code.id == "RM342"
    assert "phases 0 and 1" in twice.diagnostic.message


def test_a_barrier_that_ended_can_begin_again():
    again = when("t == 0", bar("inval", 0), bar("init", 0, 1), bar("arrive", 0))
    assert run(init(3), BLOCK, again, BLOCK, wait(0, 0), "B[t] = 1")[:2] == [1, 1]


def test_a_barrier_is_no_number():
    assert code(init(1), "B[t] = T.Cast('int32', bar[0])") == "RM305"


def test_who_waits_for_whom_is_shown():
    caught = failure(
        init(1, 1),
        when("t == 0", wait(0, 0), bar("arrive", 1)),
        when("t == 1", wait(1, 0), bar("arrive", 0)),
        when("t == 2", BLOCK),
        threads=5,
    )
    assert caught.code.id == "RM343"
    assert caught.diagnostic.notes[:4] == (
        "threadIdx.x 0: waits, and phase 0 of `bar[0]` lacks 1 of 1 arrivals",
        "threadIdx.x 1: waits, and phase 0 of `bar[1]` lacks 1 of 1 arrivals",
        "threadIdx.x 2: waits for all threads of its block",
        "threadIdx.x 3-4: ended",
    )
    assert len(caught.diagnostic.related) == 2


def test_a_deadlock_tells_the_cycle():
    ring = (init(1, 1), when("t == 0", wait(0, 0), bar("arrive", 1)), when("t == 1", wait(1, 0), bar("arrive", 0)))
    assert failure(*ring).diagnostic.notes[2] == "the cycle: threadIdx.x 0 waits for 1, 1 waits for 0"
    known = (init(1, 1), when("t == 1", bar("arrive", 0)), when("t == 2", bar("arrive", 1)), BLOCK)
    waits = (when("t == 0", wait(0, 1)), when("t == 1", wait(1, 1)), when("t == 2", BLOCK))
    notes = failure(*known, *waits, threads=3).diagnostic.notes
    assert notes[3] == "the cycle: threadIdx.x 1 waits for 2, 2 waits for 1"


def test_a_phase_completes_copies_of_its_threads():
    copies = "T.ptx.cp.async_.ca.shared.global_(T.address_of(S[t]), T.address_of(A[t + 8]), 4)"
    arrive = "T.ptx.cp.async_.mbarrier.arrive.noinc.shared.b64(T.address_of(bar[0]))"
    done = (wait(0, 0), "B[t] = S[3 - t]")
    assert run(init(4), copies, arrive, *done, threads=4)[:4] == [11, 10, 9, 8]
    assert code(init(4), arrive, copies, *done, threads=4) == "RM341"
    beside = arrive.replace(".noinc", "")
    assert run(init(4), copies, beside, bar("arrive", 0), *done, threads=4)[:4] == [11, 10, 9, 8]
    assert code(init(4), copies, beside, *done, threads=4) == "RM343"
    assert code(init(4), copies, arrive, "B[t] = S[t]", threads=4) == "RM341"


def test_fences_do_nothing():
    assert (
        run("T.ptx.fence.proxy.async_.shared__cta()", "T.ptx.fence.mbarrier_init.release.cluster()", "B[t] = t")[1] == 1
    )


def test_a_function_without_threads_has_no_barriers():
    text = (
        "@T.prim_func\ndef f(A: T.Buffer((1,), 'uint64')):\n    T.ptx.mbarrier.init.shared.b64(A.data, T.uint32(1))\n"
    )
    with pytest.raises(RefmlcError) as caught:
        Machine(read(text, "f.py")).call("f", [np.zeros(1, "uint64")])
    assert caught.value.code.id == "RM502"
