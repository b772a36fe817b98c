"""Copies of cp.async and their groups, worked out by hand (TIA-002, TIA-011 … TIA-013)."""

import numpy as np
import pytest

from refmlc.diag import RefmlcError
from refmlc.lang.script import read
from refmlc.run.interp.machine import Machine

HEAD = """@T.prim_func
def f(A: T.Buffer((16,), "int32"), B: T.Buffer((16,), "int32")):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([{threads}])
    S = T.alloc_shared((16,), "int32")
"""
COMMIT, WAIT, ALL, BLOCK = (
    "T.ptx.cp.async_.commit_group()",
    "T.ptx.cp.async_.wait_group({})",
    "T.ptx.cp.async_.wait_all()",
    "T.cuda.cta_sync()",
)
EACH = "B[t] = S[t]"


def copy(to, source, *more, nbytes=4, way="ca", **attrs):
    operands = ", ".join((f"T.address_of(S[{to}])", f"T.address_of(A[{source}])", str(nbytes), *more))
    keywords = "".join(f", {name}={value}" for name, value in attrs.items())
    return f"T.ptx.cp.async_.{way}.shared.global_({operands}{keywords})"


def run(*statements, threads=4):
    lines = [line for statement in statements for line in statement.split("\n")]
    text = HEAD.format(threads=threads) + "".join(f"    {line}\n" for line in lines)
    a, b = np.arange(100, 116, dtype="int32"), np.full(16, -1, "int32")
    Machine(read(text, "f.py")).call("f", [a, b])
    return b.tolist()


def code(*statements, threads=4):
    with pytest.raises(RefmlcError) as caught:
        run(*statements, threads=threads)
    return caught.value.code.id, caught.value.diagnostic.message


def test_a_copy_brings_what_the_source_held():
    assert run(copy("t", "15 - t"), COMMIT, WAIT.format(0), EACH)[:5] == [115, 114, 113, 112, -1]


def test_others_have_it_after_a_barrier():
    assert run(copy("t", "t"), ALL, BLOCK, "B[t] = S[3 - t]")[:4] == [103, 102, 101, 100]


@pytest.mark.parametrize("statements", [(), (COMMIT,), (WAIT.format(0),), (COMMIT, WAIT.format(1))])
def test_what_is_not_waited_for_is_not_read(statements):
    found, message = code(copy("t", "t"), *statements, EACH)
    assert found == "RM341"
    assert "`S[0]`" in message


def test_a_wait_leaves_the_last_groups_open():
    begin = [line for i in range(3) for line in (copy(i, i), COMMIT)]
    assert run(*begin, WAIT.format(1), "B[0] = S[0]\nB[1] = S[1]", threads=1)[:3] == [100, 101, -1]
    assert code(*begin, WAIT.format(1), "B[2] = S[2]", threads=1)[0] == "RM341"
    assert run(*begin, WAIT.format(0), "B[2] = S[2]", threads=1)[2] == 102


def test_an_empty_group_counts():
    assert run(copy(0, 0), COMMIT, COMMIT, WAIT.format(1), "B[0] = S[0]", threads=1)[0] == 100


def test_a_wait_is_for_copies_of_its_thread():
    only_first = f"if t == 0:\n    {ALL}"
    assert code(copy("t", "t"), only_first, BLOCK, "B[t] = S[0]\nB[t + 4] = S[1]")[0] == "RM341"


@pytest.mark.parametrize(
    ("meanwhile", "what"),
    [("S[0] = 1", "writes memory"), ("A[0] = 1", "writes memory"), (copy(0, 1), "a copy writes")],
)
def test_memory_of_an_open_copy_is_not_written(meanwhile, what):
    found, message = code(copy(0, 0), meanwhile, ALL, threads=1)
    assert found == "RM341"
    assert what in message


@pytest.mark.parametrize("meanwhile", ["S[0] = 1", "A[0] = 1"])
def test_nor_where_nobody_waits(meanwhile):
    assert code(copy(0, 0), meanwhile, threads=1)[0] == "RM341"


def test_a_source_may_be_read_and_a_copy_that_nobody_waits_for_left():
    assert run(copy(0, 0), copy(1, 0), "B[0] = A[0]", threads=1)[0] == 100


def test_after_its_wait_memory_is_free():
    assert run(copy(0, 0), ALL, "A[0] = 7\nS[0] = S[0] + 1\nB[0] = S[0]", threads=1)[0] == 101


def test_zeros_follow_a_source_that_is_smaller():
    assert run(copy(0, 0, "T.uint32(8)", nbytes=16), ALL, "for i in range(4):\n    B[i] = S[i]", threads=1)[:4] == [
        *(100, 101, 0, 0)
    ]


def test_a_source_that_is_ignored_is_not_read():
    lines = (copy("4 * t", "4 * t", "T.ptx.pred(t == 1)", nbytes=16, way="cg"), ALL)
    assert run(*lines, "for i in range(4):\n    B[4 * t + i] = S[4 * t + i]", threads=2)[:8] == [
        *(100, 101, 102, 103),
        *(0, 0, 0, 0),
    ]


def test_a_copy_whose_predicate_does_not_hold_is_none():
    start = "S[t] = 5"
    assert run(start, BLOCK, copy("t", "t", pred="t < 2"), ALL, EACH)[:4] == [100, 101, 5, 5]
    assert run(start, BLOCK, copy("t", "t", pred="True"), ALL, EACH)[:4] == [100, 101, 102, 103]
    assert run(start, BLOCK, copy("t", "t", pred="False"), ALL, EACH)[:4] == [5, 5, 5, 5]


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        (copy(1, 0, nbytes=8), "RM313"),
        (copy(0, 1, nbytes=8), "RM313"),
        (copy(14, 0, nbytes=16, way="cg"), "RM304"),
        (copy(0, 14, nbytes=16, way="cg"), "RM304"),
        (copy(0, 0, nbytes=8, way="cg"), "RM502"),
        (copy(0, 0, nbytes=12), "RM502"),
        (copy(0, 0, "T.uint32(5)"), "RM504"),
    ],
)
def test_a_copy_that_is_none(statement, expected):
    assert code(statement, ALL, threads=1)[0] == expected


def test_a_source_that_was_never_written():
    text = "L = T.alloc_buffer((4,), 'int32', scope='global')\n" + copy(0, 0).replace("A[0]", "L[0]")
    assert code(text, threads=1)[0] == "RM305"


def test_the_raw_form_counts_elements_and_fills_with_zeros():
    raw = 'T.s_tir.cp_async_raw("int32", S.data, {}, A.data, {}, {})'
    assert run(raw.format("t + 1", "t + 2", "4"), ALL, BLOCK, "B[t] = S[t + 1]")[:4] == [102, 103, 104, 105]
    assert run(raw.format("t", "t", "4, t < 2"), ALL, EACH)[:4] == [100, 101, 0, 0]


def test_what_the_text_prints_is_the_same():
    printed = (
        "T.ptx.cp(T.cuda.cvta_generic_to_shared(T.address_of(S[t])), T.address_of(A[t]), 4, t < 3, "
        '"async", "ca", "shared", "global", "", "", "pred")'
    )
    assert run(
        "S[t] = 5", printed, 'T.ptx.cp("async", "commit_group", "")', 'T.ptx.cp(0, "async", "wait_group", "")', EACH
    )[:4] == [100, 101, 102, 5]


@pytest.mark.parametrize("source", ["T.reinterpret('handle', 0)", "T.address_of(S[4])"])
def test_a_copy_from_global_memory_only(source):
    assert code(f"T.ptx.cp.async_.ca.shared.global_(T.address_of(S[0]), {source}, 4)", threads=1)[0] == "RM313"
