"""Going back into loops of every kind: at each moment the program is what it was there at first, to the bit.

What a program is at a moment is found by steps forward alone, in a session that takes no snapshots.
"""

import random
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "property"))

from debug_states import state, walked

import refmlc
from refmlc.debug import Moment, Program, Reason, Session
from refmlc.debug.snapshots import SnapshotRate

HEAD = "from tvm.script import tirx as T\n\n@T.prim_func(s_tir=True)\n"
NEVER, DENSE = SnapshotRate(1 << 40, 1e9), SnapshotRate(3, 0.0, adapts=False)

WHILE = """
def f(A: T.Buffer((4,), "int32")):
    n = T.alloc_buffer((2,), "int32")
    n[0] = 0
    while n[0] < 6:
        n[0] = n[0] + 1
        if n[0] == 2:
            continue
        n[1] = 0
        while n[1] < 9:
            n[1] = n[1] + 1
            if n[1] > n[0]:
                break
            A[n[1] % 4] = A[n[1] % 4] * 3 + n[0]
    A[0] = A[0] + 1
"""
BOUNDS = """
def f(A: T.Buffer((4,), "int32")):
    n = T.alloc_buffer((1,), "int32")
    n[0] = 3
    for i in range(n[0]):
        n[0] = n[0] + 2
        for j in range(A[i] % 3, A[i] % 3 + n[0], 2):
            A[j % 4] = A[j % 4] + j
            n[0] = n[0] - 1
    A[0] = A[0] * 7
"""
AXES = """
def f(A: T.Buffer((8,), "int32")):
    for b in T.thread_binding(2, thread="blockIdx.x"):
        for t in T.thread_binding(2, thread="threadIdx.x"):
            for k in range(2):
                A[b * 4 + t * 2 + k] = A[b * 4 + t * 2 + k] + b * 100 + t * 10 + k
        A[b] = A[b] + 1
    A[0] = A[0] + 1
"""
LAUNCHED = """
def f(A: T.Buffer((8,), "int32")):
    b = T.launch_thread("blockIdx.x", 2)
    t = T.launch_thread("threadIdx.x", 2)
    v = T.launch_thread("vthread.x", 2)
    A[b * 4 + t * 2 + v] = A[b * 4 + t * 2 + v] * 3 + b
    A[b * 4 + t * 2 + v] = A[b * 4 + t * 2 + v] * 5 + t
"""
TWICE = """
def f(A: T.Buffer((8,), "int32")):
    for t in T.thread_binding(4, thread="threadIdx.x"):
        for k in range(2):
            for u in T.thread_binding(4, thread="threadIdx.x"):
                A[u * 2 + k] = A[u * 2 + k] + u
                A[t * 2 + k] = A[t * 2 + k] * 2
"""
PRIVATE = """
def f(A: T.Buffer((8,), "int32")):
    with T.sblock("root"):
        L = T.alloc_buffer((2,), "int32", scope="local")
        for b in T.thread_binding(2, thread="blockIdx.x"):
            for t in T.thread_binding(2, thread="threadIdx.x"):
                L[0] = A[b * 2 + t]
                L[1] = L[0] * 2 + b
            for t in T.thread_binding(2, thread="threadIdx.x"):
                A[b * 2 + t] = L[0] + L[1]
        A[7] = 5
"""
TOGETHER = """
def f(A: T.Buffer((8,), "int32")):
    for b in T.thread_binding(4, thread="blockIdx.x"):
        S = T.alloc_buffer((2,), "int32", scope="shared")
        for t in T.thread_binding(2, thread="threadIdx.x"):
            S[t] = A[b * 2 + t]
            T.evaluate(T.tvm_storage_sync("shared"))
            A[b * 2 + t] = S[1 - t] * 3 + b
"""
SET = """
def f(A: T.Buffer((9,), "int32"), n: T.int32):
    for i in range(n):
        A[i] = n
        A[8] = i
"""
TEXTS = {
    "while": WHILE, "bounds": BOUNDS, "axes": AXES, "launched": LAUNCHED, "twice": TWICE, "private": PRIVATE,
    "together": TOGETHER,
}  # fmt: skip


def program(name: str) -> Program:
    module = refmlc.read(f"{HEAD}{TEXTS[name].lstrip()}", f"{name}.tvm")
    size = 4 if name in ("while", "bounds") else 8
    return Program(module, "f", [np.arange(1, size + 1, dtype="int32")])


@pytest.mark.parametrize("name", TEXTS)
def test_each_moment_is_what_it_was(name: str) -> None:
    with Session(program(name), snapshot_rate=NEVER) as plain, Session(program(name), snapshot_rate=DENSE) as dense:
        known = walked(plain, 10_000)
        assert plain.ended
        assert plain.stop is not None
        assert plain.stop.failure is None
        assert len(known) > 15
        due = [list(map(int, one.value.numpy())) for one in plain.visible() if one.tensor is not None]  # type: ignore[attr-defined]
        dense.start()
        dense.resume()
        order = list(range(len(known)))
        random.Random(0).shuffle(order)  # noqa: S311 - no secrets
        for number in order:
            moment, there = known[number]
            assert dense.goto(moment).moment == moment
            assert state(dense) == there
            if number % 5 == 0:
                assert dense.resume().reason is Reason.ENDED
                found = [list(map(int, one.value.numpy())) for one in dense.visible() if one.tensor is not None]  # type: ignore[attr-defined]
                assert found == due


@pytest.mark.parametrize("name", TEXTS)
def test_there_are_snapshots_within_loops(name: str) -> None:
    """One at least in every twelve statements: those of a block of threads that wait for each other."""
    with Session(program(name), snapshot_rate=DENSE) as session:
        session.start()
        session.resume()
        steps = session.step_back().moment.step
        assert session.snapshots[0] > steps / 12


@pytest.mark.parametrize("name", TEXTS)
def test_the_budget_counts_the_same_steps_however_one_came_there(name: str) -> None:
    """Iterations that are behind are paid for: the program fails at the same moment, gone back or not."""
    given = program(name)
    for most in (3, 5, 9):
        limited = Program(given.module, "f", list(given.args), max_steps=most)
        with Session(limited, snapshot_rate=DENSE) as session:
            session.start()
            first = session.resume()
            if first.failure is None:
                continue
            assert first.moment.step > 3
            for step in range(2, first.moment.step, 3):
                session.goto(Moment(1, step))
                again = session.resume()
                assert again.failure is not None
                assert (again.moment, again.failure.code) == (first.moment, first.failure.code)


def test_a_loop_goes_on_as_it_began_whatever_its_variables_were_set_to() -> None:
    """The values of `i` are 0 … 5 and `n` is read once, whatever is read from them later."""
    text = f"{HEAD}{SET.lstrip()}"
    module = refmlc.read(text, "set.tvm")
    with Session(Program(module, "f", [np.zeros(9, "int32"), 6]), snapshot_rate=DENSE) as session:
        session.start()
        session.goto(Moment(1, 6))  # 1: the loop; 2i + 2, 2i + 3: the stores
        session.set("i", "7")
        session.set("n", "1")
        for moment in (Moment(1, 12), Moment(1, 7), Moment(1, 4), Moment(1, 13)):
            assert session.goto(moment).moment == moment
        assert session.resume().reason is Reason.ENDED
        (found,) = [one.value.numpy() for one in session.visible() if one.name == "A"]  # type: ignore[attr-defined]
        assert found.tolist() == [6, 6, 0, 1, 1, 1, 0, 1, 5]
