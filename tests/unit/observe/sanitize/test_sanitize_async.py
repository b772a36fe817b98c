"""Races around copies and barriers in memory, worked out by hand (TIA-002, TIA-023)."""

import numpy as np
import pytest

from refmlc.lang.script import read
from refmlc.observe.sanitize import sanitize

HEAD = """@T.prim_func
def main(A: T.Buffer((64,), "int32"), B: T.Buffer((64,), "int32")):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([64])
    S = T.alloc_shared((64,), "int32")
    bar = T.alloc_shared((3,), "uint64")
    if t == 0:
        for i in range(3):
            T.ptx.mbarrier.init.shared.b64(T.address_of(bar[i]), T.uint32({count}))
    T.cuda.cta_sync()
"""
ISSUE = "T.ptx.cp.async_.ca.shared.global_(T.address_of(S[t]), T.address_of(A[t]), 4)"
TRACK = "T.ptx.cp.async_.mbarrier.arrive.noinc.shared.b64(T.address_of(bar[0]))"
ALL, BLOCK, OWN, FAR = "T.ptx.cp.async_.wait_all()", "T.cuda.cta_sync()", "B[t] = S[t]", "B[t] = S[63 - t]"


def arrive(number=0, words="arrive"):
    return f"T.ptx.mbarrier.{words}.shared.b64(T.address_of(bar[{number}]))"


def wait(number=0, parity=0):
    return f"T.cuda.mbarrier_wait(T.address_of(bar[{number}]), {parity})"


def when(condition, *statements):
    return "\n".join((f"if {condition}:", *(f"    {line}" for text in statements for line in text.split("\n"))))


def found(*statements, count=64):
    text = HEAD.format(count=count) + "".join(f"    {line}\n" for part in statements for line in part.split("\n"))
    arguments = [np.arange(64, dtype="int32"), np.zeros(64, "int32")]
    report = sanitize(read(text, "case.py"), "main", arguments)
    return {code for code, number in report.counts.items() if number} or report.verdict


@pytest.mark.parametrize(
    ("statements", "expected"),
    [
        ((ISSUE, ALL, OWN), "defined"),
        ((ISSUE, ALL, BLOCK, FAR), "defined"),
        ((ISSUE, ALL, FAR), {"RM305"}),
        ((ISSUE, BLOCK, ALL, FAR), {"RM341"}),
        ((when("t == 63", ISSUE, ALL), "B[t] = S[63]"), {"RM305"}),
        ((when("t == 0", ISSUE, ALL), "B[t] = S[0]"), {"RM321"}),
        (("S[t] = 0", ISSUE.replace("S[t]", "S[63 - t]"), ALL), {"RM321"}),
        (("S[t] = 0", BLOCK, ISSUE.replace("S[t]", "S[63 - t]"), ALL), "defined"),
        (("A[t] = 0", ISSUE.replace("A[t]", "A[63 - t]"), ALL), {"RM321"}),
        ((ISSUE, ALL, BLOCK, FAR, ISSUE, ALL), {"RM321"}),
        ((ISSUE, ALL, BLOCK, FAR, BLOCK, ISSUE, ALL), "defined"),
    ],
)
def test_copies_are_accesses_of_their_threads(statements, expected):
    assert found(*statements) == expected


@pytest.mark.parametrize(
    ("statements", "expected"),
    [
        (("S[t] = A[t]", arrive(), wait(), FAR), "defined"),
        (("S[t] = A[t]", arrive(), FAR), {"RM305"}),
        ((arrive(), "S[t] = A[t]", wait(), FAR), {"RM321"}),
        (("S[t] = A[t]", arrive(), wait(), FAR, "S[t] = 1"), {"RM321"}),
        (("S[t] = A[t]", arrive(), wait(), FAR, arrive(1), wait(1), "S[t] = 1"), "defined"),
        (("S[t] = A[t]", arrive(words="arrive.relaxed.cta"), wait(), FAR), {"RM321"}),
        ((ISSUE, TRACK, wait(), FAR), "defined"),
        ((ISSUE, TRACK, when("t < 32", wait()), OWN), {"RM341"}),
        ((ISSUE, TRACK, BLOCK, when("t == 0", wait()), OWN), {"RM321"}),
        ((ISSUE, TRACK, BLOCK, when("t == 0", wait()), BLOCK, OWN), "defined"),
        ((ISSUE, TRACK, when("t == 0", wait()), "T.cuda.warp_sync()", when("t < 32", OWN)), "defined"),
        ((ISSUE, TRACK, when("t == 0", wait()), "T.cuda.warp_sync()", OWN), {"RM341"}),
        ((ISSUE, TRACK, when("t == 0", wait(), "A[0] = 0"), BLOCK, OWN), "defined"),
        (
            (when("t == 0", ISSUE), TRACK, when("t == 0", wait()), BLOCK, when("t == 63", "B[0] = S[0]")),
            "defined",
        ),
    ],
)
def test_a_phase_orders_accesses(statements, expected):
    assert found(*statements) == expected


def test_order_goes_through_several_threads():
    first = when("t == 0", "S[0] = 1", arrive(0))
    second = when("t == 1", wait(0), arrive(1))
    third = when("t == 2", wait(1), "B[0] = S[0]")
    assert found(first, second, third, count=1) == "defined"
    assert found(first, second.replace(wait(0), "B[1] = 0"), third, count=1) == {"RM321"}


def test_a_writer_comes_after_every_reader():
    signals, silent = when("t == 0", "B[0] = S[0]", arrive(0)), when("t == 1", "B[1] = S[0]")
    writes = when("t == 32", wait(0), "S[0] = 1")
    begin = ("S[t] = A[t]", BLOCK)
    assert found(*begin, signals, writes, count=1) == "defined"
    assert found(*begin, signals, silent, writes, count=1) == {"RM321"}
    assert found(*begin, signals, silent, "T.cuda.warp_sync()", writes, count=1) == {"RM321"}


def test_order_goes_through_a_meeting_of_a_warp():
    first, second = when("t == 1", "S[0] = 1"), when("t == 0", arrive(0))
    third = when("t == 32", wait(0), "B[0] = S[0]")
    assert found(first, "T.cuda.warp_sync()", second, third, count=1) == "defined"
    assert found(first, second, third, count=1) == {"RM321"}
    assert found(first, second, "T.cuda.warp_sync()", third, count=1) == {"RM321"}


def test_a_ring_of_two_stages():
    produce = "\n".join(
        (
            "for i in range(5):",
            f"    {wait('i % 2 + 1', '(i // 2) % 2 ^ 1')}".replace("bar[i % 2 + 1]", "bar[1]"),
            "    S[i % 2] = A[i]",
            f"    {arrive(0)}",
        )
    )
    consume = "\n".join(("for i in range(5):", f"    {wait(0, 'i % 2')}", "    B[i] = S[i % 2]", f"    {arrive(1)}"))
    produce = produce.replace("(i // 2) % 2 ^ 1", "i % 2 ^ 1")
    assert found(when("t == 0", produce), when("t == 32", consume), count=1) == "defined"
    assert found(when("t == 0", produce), when("t == 32", consume.replace("bar[1]", "bar[2]")), count=1) == {"RM343"}
    early = consume.replace(f"    B[i] = S[i % 2]\n    {arrive(1)}", f"    {arrive(1)}\n    B[i] = S[i % 2]")
    assert found(
        when("t == 0", produce.replace("i % 2]", "0]")), when("t == 32", early.replace("i % 2]", "0]")), count=1
    ) == {"RM321"}


def test_what_copies_may_write_is_not_said_to_be_written_by_nothing():
    text = HEAD.format(count=1) + f"    if t == 63:\n        {ISSUE}\n        {ALL}\n    {OWN}\n"
    report = sanitize(read(text, "case.py"), "main", [np.zeros(64, "int32"), np.zeros(64, "int32")])
    assert "0 of the 64 elements of `S` were written" in report.text()
    assert "nothing in" not in report.text()
