"""Orders of threads, counted by hand (TIW-012)."""

from dataclasses import replace

import numpy as np
import pytest

from refmlc.diag import RefmlcError
from refmlc.lang.script import read
from refmlc.oracle.check import check
from refmlc.oracle.evidence.case_file import CaseCall, CaseFile, read_case
from refmlc.oracle.evidence.record import case_text
from refmlc.oracle.evidence.replay import replay
from refmlc.oracle.implementations.implementation import Ended, Stop
from refmlc.oracle.implementations.interp import Interp
from refmlc.oracle.orders import explore

HEAD = """@T.prim_func
def main(A: T.Buffer((4,), "int32"), B: T.Buffer((4,), "int32")):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([{threads}])
    S = T.alloc_shared((4,), "int32")
    bar = T.alloc_shared((2,), "uint64")
    d = T.alloc_local((1,), "int32")
    d[0] = 0
    if t == 0:
        for i in range(4):
            S[i] = 0
        T.ptx.mbarrier.init.shared.b64(T.address_of(bar[0]), T.uint32({count}))
        T.ptx.mbarrier.init.shared.b64(T.address_of(bar[1]), T.uint32({count}))
    T.cuda.cta_sync()
"""
EMPTY = CaseFile("open-1", (), (), "0.27", "", "", "", "main", (CaseCall(()),))
SWAP = "T.ptx.atom.shared.exch.b32(d[0], T.address_of(S[{}]), {})"
CAS = "T.cuda.atomic_cas(T.address_of(S[0]), {}, {})"
ADD = "T.evaluate(T.cuda.atomic_add(T.address_of(S[0]), t + 1))"
ARRIVE, WAIT = (
    "T.ptx.mbarrier.arrive.shared.b64(T.address_of(bar[{}]))",
    "T.cuda.mbarrier_wait(T.address_of(bar[{}]), {})",
)
BLOCK = "T.cuda.cta_sync()"


def when(condition, *statements):
    return "\n".join((f"if {condition}:", *(f"    {line}" for text in statements for line in text.split("\n"))))


def text_of(*statements, threads=2, count=1):
    lines = [line for part in statements for line in part.split("\n")]
    return HEAD.format(threads=threads, count=count) + "".join(f"    {line}\n" for line in lines)


def explored(*statements, orders=1000, **sizes):
    module = read(text_of(*statements, **sizes), "case.py")
    return explore(module, "main", lambda: [np.arange(4, dtype="int32"), np.zeros(4, "int32")], Interp(), orders=orders)


def found(*statements, **options):
    tried = explored(*statements, **options)
    return "defined" if isinstance(tried.answer, Ended) else tried.answer.diagnostic.code.id


# ------------------------------------------------------------------------------------------------------- counts


@pytest.mark.parametrize(
    ("threads", "results"),
    [(1, 1), (2, 2), (3, 6)],
)
def test_swaps_of_one_element_come_in_every_order(threads, results):
    tried = explored("B[t] = T.cuda.atomic_add(T.address_of(S[0]), 1 << t)", threads=threads)
    assert tried.complete
    assert tried.results == results
    assert tried.orders >= results
    assert isinstance(tried.answer, Ended)


@pytest.mark.parametrize(
    "statements",
    [
        ("B[t] = T.cuda.atomic_add(T.address_of(S[t]), 1)",),  # of elements of their own
        (ADD, BLOCK, "B[t] = S[0]"),  # whose old values nobody gets
        ("T.ptx.red.shared.max.s32(T.address_of(S[0]), t)", BLOCK, "B[t] = S[0]"),
        ("B[t] = T.cuda.atomic_add(T.address_of(S[0]), 0)",),  # that change nothing
        (ARRIVE.format(0), WAIT.format(0, 0), "B[t] = t"),  # of one phase
        ("B[t] = t", BLOCK, "B[t] = A[t]"),
        (when("t == 0", ARRIVE.format(0)), when("t == 1", ARRIVE.format(1)), "B[t] = t"),
    ],
)
def test_events_that_commute_have_one_order(statements):
    tried = explored(*statements, threads=3, count=3)
    assert (tried.orders, tried.complete, tried.results) == (1, True, 1)
    assert tried.text == "1 order of threads, complete"


def test_an_instruction_that_writes_the_value_before_does_not_commute():
    tried = explored("T.ptx.atom.shared.add.s32(d[0], T.address_of(S[0]), t + 1)", "B[t] = d[0]")
    assert (tried.complete, tried.results) == (True, 2)


def test_what_is_ordered_otherwise_has_one_order():
    swap = "B[t] = T.cuda.atomic_add(T.address_of(S[0]), 1)"
    assert explored(when("t == 0", swap), BLOCK, when("t == 1", swap)).orders == 1
    by_phase = (when("t == 0", swap, ARRIVE.format(0)), when("t == 1", WAIT.format(0, 0), swap))
    assert explored(*by_phase).orders == 1
    by_arrival = (
        when("t < 32", when("t == 0", swap), "T.ptx.bar.arrive(T.uint32(1), T.uint32(64))"),
        when("t >= 32", "T.ptx.bar.sync(T.uint32(1), T.uint32(64))", when("t == 32", swap.replace("B[t]", "B[1]"))),
    )
    assert explored(*by_arrival, threads=64).orders == 1


def test_two_events_of_each_thread_come_in_six_orders():
    """Two threads with two events at one element: 4! / (2! 2!) interleavings, each with its own values before."""
    twice = "for i in range(2):\n    B[2 * t + i] = T.cuda.atomic_add(T.address_of(S[0]), 1 << (2 * t + i))"
    tried = explored(twice)
    assert tried.complete
    assert tried.results == 6


def test_no_more_orders_than_requested():
    tried = explored("B[t] = T.cuda.atomic_add(T.address_of(S[0]), 1 << t)", threads=4, orders=5)
    assert (tried.orders, tried.complete) == (5, False)
    assert tried.text == f"5 orders of threads, not complete, {tried.results} different results"
    assert explored("B[t] = T.cuda.atomic_add(T.address_of(S[0]), 1 << t)", orders=1).orders == 1


# ------------------------------------------------------------------------------------------------------- faults


def test_threads_that_wait_forever_in_another_order_only():
    first = when("t == 0", when(f"{CAS.format(0, 1)} == 0", ARRIVE.format(0)))
    second = when("t == 1", f"T.evaluate({CAS.format(0, 2)})", WAIT.format(0, 0))
    assert found(first, second, orders=1) == "defined"
    tried = explored(first, second)
    assert tried.answer.diagnostic.code.id == "RM343"
    assert "in order 2 of the threads that were tried" in tried.answer.diagnostic.notes
    assert (tried.orders, tried.complete) == (2, False)


def test_a_phase_that_is_over_before_its_waiter_in_another_order_only():
    statements = (ARRIVE.format(0), when("t == 0", WAIT.format(0, 0)))
    assert found(*statements, orders=1) == "defined"
    assert found(*statements) == "RM343"


def test_a_flag_that_is_set_too_early_for_one_thread():
    writes = when("t < 3", "S[t + 1] = t", "T.ptx.red.release.cta.shared.add.u32(T.address_of(F[0]), T.uint32(1))")
    reads = when(
        "t == 3", "while T.cuda.atomic_add(T.address_of(F[0]), T.uint32(0)) < T.uint32({}):\n    T.evaluate(0)"
    )
    use = when("t == 3", "T.cuda.thread_fence()", "for i in range(3):\n    B[i] = S[i + 1]")
    begin = ("F = T.alloc_shared((1,), 'uint32')", when("t == 0", "F[0] = T.uint32(0)"), BLOCK)
    few, enough = (reads.replace("{}", str(count)) for count in (2, 3))
    assert found(*begin, writes, few, use, threads=4, orders=1) == "defined"
    assert found(*begin, writes, few, use, threads=4, orders=30) == "RM321"
    assert found(*begin, writes, enough, use, threads=4, orders=30) == "defined"


def test_a_thread_that_waits_for_a_later_one_lets_it_run():
    spin = when("t == 0", f"while {CAS.format(5, 5)} != 5:\n    T.evaluate(0)", "B[0] = 1")
    assert found(spin, when("t == 1", f"T.evaluate({CAS.format(0, 5)})"), orders=2) == "defined"


@pytest.mark.parametrize(
    ("statements", "code"),
    [
        ((ADD, when("t == 0", BLOCK)), "RM327"),
        ((WAIT.format(0, 0),), "RM343"),
        ((ADD, when("t == 0", "S[0] = 1")), "RM321"),
        ((ADD, when("t == 0", "T.ptx.bar.sync(T.uint32(1), T.uint32(64))")), "RM327"),
    ],
)
def test_faults_of_the_usual_order_are_found_in_the_first(statements, code):
    tried = explored(*statements)
    assert tried.answer.diagnostic.code.id == code
    assert tried.orders == 1


def test_what_is_not_executed_ends_the_search():
    tried = explored(ADD, "T.cuda.grid_sync()")
    assert tried.answer.why is Stop.UNSUPPORTED
    assert (tried.orders, tried.complete) == (1, False)


def test_lanes_give_each_other_values_in_any_order():
    lanes = "B[t % 4] = T.cuda.__shfl_xor_sync(T.uint32(0xFFFFFFFF), t, 1, 32) // 32"
    active = "A[t % 4] = T.Cast('int32', T.popcount(T.cuda.__activemask())) // 64"
    assert found(ADD, when("t < 4", "T.evaluate(0)"), lanes, threads=32) == "RM321"  # several threads write B
    assert (
        found(ADD, lanes.replace("B[t % 4] =", "d[0] ="), active.replace("A[t % 4] =", "d[0] ="), threads=32)
        == "defined"
    )


# ----------------------------------------------------------------------------------------------------- many events

PIPELINES = """@T.prim_func
def main(A: T.Buffer((4, 32, 32), "int32"), B: T.Buffer((4, 32, 32), "int32")):
    T.device_entry()
    T.cta_id([1])
    w = T.warp_id([8])
    t = T.lane_id([32])
    S = T.alloc_shared((4, 2, 32), "int32")
    full = T.alloc_shared((8,), "uint64")
    empty = T.alloc_shared((8,), "uint64")
    if w == 0:
        if t == 0:
            for s in range(8):
                T.ptx.mbarrier.init.shared.b64(T.address_of(full[s]), T.uint32(1))
                T.ptx.mbarrier.init.shared.b64(T.address_of(empty[s]), T.uint32(1))
    T.cuda.cta_sync()
    if w < 4:
        for i in range(32):
            T.cuda.mbarrier_wait(T.address_of(empty[w * 2 + i % 2]), (i // 2) % 2 ^ 1)
            S[w, i % 2, t] = A[w, i, t]
            T.cuda.warp_sync()
            if t == 0:
                T.ptx.mbarrier.arrive.shared.b64(T.address_of(full[w * 2 + i % 2]))
    else:
        for i in range(32):
            T.cuda.mbarrier_wait(T.address_of(full[(w - 4) * 2 + i % 2]), (i // 2) % 2)
            B[w - 4, i, t] = S[w - 4, i % 2, 31 - t]
            T.cuda.warp_sync()
            if t == 0:
                T.ptx.mbarrier.arrive.shared.b64(T.address_of(empty[(w - 4) * 2 + i % 2]))
"""
"""Four pairs of warps, each with a ring of two buffers: 64 events of synchronisation for each of 8 warps."""


def pipelines(text, orders):
    data = np.arange(4 * 32 * 32, dtype="int32").reshape(4, 32, 32)
    result = np.zeros_like(data)
    return explore(read(text, "case.py"), "main", lambda: [data, result], Interp(), orders=orders), data, result


def test_eight_warps_of_64_events_are_explored_completely():
    tried, data, result = pipelines(PIPELINES, 1000)
    assert (tried.orders, tried.complete, tried.results) == (1, True, 1)
    np.testing.assert_array_equal(result, data[:, :, ::-1])


def test_a_wait_that_is_left_out_of_eight_warps_is_found():
    wait = "T.cuda.mbarrier_wait(T.address_of(empty[w * 2 + i % 2]), (i // 2) % 2 ^ 1)\n            "
    tried, _, _ = pipelines(PIPELINES.replace(wait, ""), 2)
    assert tried.answer.why is Stop.UNDEFINED
    assert tried.answer.diagnostic.code.id == "RM343"  # the producer runs ahead: its phases are over unseen


# -------------------------------------------------------------------------------------------------------- check


def test_a_check_tries_orders():
    first = when("t == 0", when(f"{CAS.format(0, 1)} == 0", ARRIVE.format(0)))
    second = when("t == 1", f"T.evaluate({CAS.format(0, 2)})", WAIT.format(0, 0))
    text = text_of(first, second)
    assert check(read(text, "case.py"), implementations=(), calls=1, strict=False).ok
    report = check(read(text, "case.py"), implementations=(), calls=1, orders=10)
    assert not report.ok
    assert "RM343" in str(report)
    fine = check(read(text_of(ADD, BLOCK, "B[t] = S[0]"), "case.py"), implementations=(), calls=1, orders=10)
    assert fine.ok
    assert "1 order of threads, complete" in str(fine)


def test_a_case_of_a_fault_in_another_order_is_found_again():
    first = when("t == 0", when(f"{CAS.format(0, 1)} == 0", ARRIVE.format(0)))
    second = when("t == 1", f"T.evaluate({CAS.format(0, 2)})", WAIT.format(0, 0))
    report = check(read(text_of(first, second), "case.py"), implementations=(), calls=1, orders=10)
    [cause] = report.causes
    case = read_case(case_text(cause.finding))
    assert case.orders == 10
    assert case.calls[0].assertion["code"] == "RM343"
    again = replay(case, ())
    assert again.broken == ()
    assert again.examination.reference[0].answer.diagnostic.code.id == "RM343"
    assert replay(replace(case, orders=1), ()).broken != ()


@pytest.mark.parametrize("count", ["0", "true", "2.0", '"2"'])
def test_a_number_of_orders_that_is_none_is_refused(count):
    case = replace(EMPTY, orders=2).toml()
    assert read_case(case).orders == 2
    with pytest.raises(RefmlcError, match="`orders` is not a positive integer"):
        read_case(case.replace("orders = 2", f"orders = {count}"))
