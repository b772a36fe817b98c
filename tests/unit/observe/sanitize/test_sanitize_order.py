"""Fences between proxies, and order by atomic operations, worked out by hand (TIA-031, TIA-032, TIW-010)."""

import numpy as np
import pytest

from refmlc.lang.script import read
from refmlc.observe.sanitize import sanitize
from refmlc.observe.sanitize.clocks import Clocks

HEAD = """@T.prim_func
def main(A: T.Buffer((64,), "int32"), B: T.Buffer((64,), "int32")):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([64])
    S = T.alloc_shared((64,), "int32")
    flag = T.alloc_shared((2,), "uint32")
    seen = T.alloc_local((1,), "uint32")
    bar = T.alloc_shared((1,), "uint64")
    if t < 2:
        flag[t] = T.uint32(0)
    T.cuda.cta_sync()
"""
BLOCK = "T.cuda.cta_sync()"
WRITE = "S[t] = A[t]"
STORE = (
    "if t == 0:\n    T.ptx.cp.async_.bulk.global_.shared__cta.bulk_group(B.data, S.data, T.uint32(256))\n"
    "    T.ptx.cp.async_.bulk.commit_group()\n    T.ptx.cp.async_.bulk.wait_group(0)"
)


def fence(words):
    return f"T.ptx.fence.{words}()"


def when(condition, *statements):
    return "\n".join((f"if {condition}:", *(f"    {line}" for text in statements for line in text.split("\n"))))


def found(*statements, **options):
    text = HEAD + "".join(f"    {line}\n" for part in statements for line in part.split("\n"))
    report = sanitize(read(text, "case.py"), "main", [np.arange(64, dtype="int32"), np.zeros(64, "int32")], **options)
    return {code for code, number in report.counts.items() if number} or report.verdict


# ----------------------------------------------------------------------------------------------------- proxies


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("proxy.async_", "defined"),
        ("proxy.async_.shared__cta", "defined"),
        ("proxy.async_.global_", {"RM344"}),
        ("proxy.alias", {"RM344"}),
        ("acq_rel.cta", {"RM344"}),
        ("mbarrier_init.release.cluster", {"RM344"}),
    ],
)
def test_a_copy_reads_what_was_written_before_a_fence_for_its_memory(words, expected):
    assert found(WRITE, fence(words), BLOCK, STORE) == expected


PROXY = fence("proxy.async_.shared__cta")


@pytest.mark.parametrize(
    ("statements", "expected"),
    [
        ((WRITE, BLOCK, PROXY, STORE), "defined"),
        ((WRITE, BLOCK, when("t == 0", PROXY), STORE), "defined"),
        ((WRITE, BLOCK, when("t == 32", PROXY), STORE), {"RM344"}),
        ((WRITE, BLOCK, when("t == 32", PROXY), BLOCK, STORE), "defined"),
        ((WRITE, PROXY, BLOCK, when("t == 7", "S[9] = 1"), BLOCK, STORE), {"RM344"}),
        ((PROXY, WRITE, BLOCK, STORE), {"RM344"}),
    ],
)
def test_the_fence_lies_between_the_write_and_the_copy_in_the_order_of_events(statements, expected):
    assert found(*statements) == expected


def test_the_fence_is_passed_on_by_phases_and_by_atomic_operations():
    begin = (when("t == 0", "T.ptx.mbarrier.init.shared.b64(bar.data, T.uint32(64))"), BLOCK)
    arrive, wait = "T.ptx.mbarrier.arrive.shared.b64(bar.data)", "T.cuda.mbarrier_wait(bar.data, 0)"
    assert found(*begin, WRITE, PROXY, arrive, wait, STORE) == "defined"
    assert found(*begin, WRITE, arrive, when("t > 0", PROXY), wait, STORE) == {"RM344"}
    assert found(*begin, WRITE, arrive, wait, PROXY, STORE) == "defined"
    given = when("t < 32", "S[t] = A[t]\nS[t + 32] = A[t]", PROXY, RELEASE)
    taken = when("t == 32", ACQUIRE, STORE.replace("t == 0", "t == 32"))
    assert found(given, taken) == "defined"
    assert found(given.replace(PROXY, "T.evaluate(0)"), taken) == {"RM344"}


def test_a_copy_may_be_watched_without_races():
    assert found(WRITE, BLOCK, STORE, kinds=["RM344"]) == {"RM344"}
    assert found(WRITE, PROXY, BLOCK, STORE, kinds=["RM344"]) == "defined"


def test_a_copy_writes_where_a_thread_wrote():
    load = (
        "T.ptx.cp.async_.bulk.shared__cta.global_.mbarrier__complete_tx__bytes(S.data, A.data, T.uint32(256), bar.data)"
    )
    begin = when("t == 0", "T.ptx.mbarrier.init.shared.b64(bar.data, T.uint32(1))")
    copy = when("t == 0", "T.ptx.mbarrier.arrive.expect_tx.shared.b64(bar.data, T.uint32(256))", load)
    wait = "T.cuda.mbarrier_wait(bar.data, 0)"
    assert found(begin, WRITE, BLOCK, copy, wait, "B[t] = S[t]") == {"RM344"}
    assert found(begin, WRITE, PROXY, BLOCK, copy, wait, "B[t] = S[t]") == "defined"
    again = (copy, wait, BLOCK, STORE)
    assert found(begin, WRITE, PROXY, BLOCK, *again) == "defined"  # of what a copy wrote, a copy knows
    other = copy.replace("t == 0", "t == 1")
    assert found(begin, BLOCK, other, wait, "B[t] = S[t]") == {"RM344"}
    assert found(begin, fence("mbarrier_init.release.cluster"), BLOCK, other, wait, "B[t] = S[t]") == "defined"


def test_a_barrier_is_initialised_before_others_use_it():
    begin = when("t == 0", "T.ptx.mbarrier.init.shared.b64(bar.data, T.uint32(64))")
    use = "T.ptx.mbarrier.arrive.shared.b64(bar.data)"
    assert found(begin, BLOCK, use) == "defined"
    assert found(begin, use) == {"RM321"}
    assert found(begin, "T.cuda.warp_sync()", when("t < 32", use)) == "defined"
    assert found(begin, BLOCK, use, when("t == 63", "T.ptx.mbarrier.inval.shared.b64(bar.data)")) == {"RM321"}


# ------------------------------------------------------------------------------------------------------ atomics

ADD = "T.ptx.red.{}.cta.shared.add.u32(T.address_of(flag[0]), T.uint32(1))"
READ = (
    "seen[0] = T.uint32(0)\nwhile seen[0] == T.uint32(0):\n"
    "    T.ptx.atom.{}.cta.shared.add.u32(seen[0], T.address_of(flag[{}]), T.uint32(0))"
)
RELEASE, ACQUIRE = ADD.format("release"), READ.format("acquire", 0)
RELAXED, SEES = ADD.format("relaxed"), READ.format("relaxed", 0)
ATOM = "T.ptx.atom.acq_rel.cta.shared.add.u32(seen[0], T.address_of(flag[0]), T.uint32(1))"
FENCE = "T.cuda.thread_fence()"
ONE, OTHER = "S[0] = 1", "B[0] = S[0]"


@pytest.mark.parametrize(
    ("writer", "reader", "expected"),
    [
        ((ONE, RELEASE), (ACQUIRE, OTHER), "defined"),
        ((ONE, ATOM), (ACQUIRE, OTHER), "defined"),
        ((ONE, RELAXED), (ACQUIRE, OTHER), {"RM321"}),
        ((ONE, RELEASE), (SEES, OTHER), {"RM321"}),
        ((RELEASE, ONE), (ACQUIRE, OTHER), {"RM321"}),
        ((ONE, FENCE, RELAXED), (SEES, FENCE, OTHER), "defined"),
        ((ONE, fence("acq_rel.cta"), RELAXED), (ACQUIRE, OTHER), "defined"),
        ((ONE, fence("sc.gpu"), RELAXED), (SEES, OTHER), {"RM321"}),
        ((FENCE, ONE, RELAXED), (SEES, FENCE, OTHER), {"RM321"}),
        ((ONE, FENCE, RELAXED), (FENCE, SEES, OTHER), {"RM321"}),
        ((ONE, PROXY, RELAXED), (SEES, PROXY, OTHER), {"RM321"}),
    ],
)
def test_an_acquire_comes_after_the_release_that_it_reads(writer, reader, expected):
    assert found(when("t == 0", *writer), when("t == 32", *reader)) == expected


def test_the_order_is_one_of_the_element():
    other = RELEASE.replace("flag[0]", "flag[1]")
    assert found(when("t == 0", ONE, other, RELAXED), when("t == 32", ACQUIRE, OTHER)) == {"RM321"}
    assert found(when("t == 0", ONE, RELEASE, other), when("t == 32", READ.format("acquire", 1), OTHER)) == "defined"


def test_further_atomic_operations_pass_a_release_on():
    between = when("t == 1", RELAXED)
    assert found(when("t == 0", ONE, RELEASE), between, when("t == 32", ACQUIRE, OTHER)) == "defined"


def test_clocks_of_unrelated_threads_stay_apart():
    clocks = Clocks()
    clocks.strong(0, "place", "release")
    assert clocks.shows(0, 0, 1)
    clocks.strong(1, "place", "relaxed")
    assert not clocks.shows(1, 0, 1)
    clocks.fence(1)
    assert clocks.shows(1, 0, 1)
    assert not clocks.shows(1, 0, 1, "shared")
    clocks.show(1, "shared")
    assert clocks.shows(1, 0, 1, "shared")
    assert not clocks.shows(1, 0, 1, "global")
