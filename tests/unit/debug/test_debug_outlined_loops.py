"""Loops that are stepped over in C: moments, values, masks and steps are those of the interpreter, to the bit."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "property"))

from debug_states import state

import refmlc
from refmlc.debug import Moment, Program, Reason, Session, outlined_loops
from refmlc.debug.snapshots import SnapshotRate
from refmlc.lang.dtypes import FLOAT32
from refmlc.run.memory.tensor import Tensor

HEAD = "from tvm.script import tirx as T\n\n@T.prim_func(s_tir=True)\n"
SUMS = """
def f(A: T.Buffer((3, 4, 5), "float32"), S: T.Buffer((3,), "float32"), n: T.int32):
    W = T.sblock_alloc_buffer((3, 4, 5))
    for i, j, k in T.grid(3, 4, 5):
        with T.sblock("W"):
            vi, vj, vk = T.axis.remap("SSS", [i, j, k])
            W[vi, vj, vk] = A[vi, vj, vk] * T.float32(2)
    for j, i, k in T.grid(4, 3, 5):
        with T.sblock("S"):
            vi, vj, vk = T.axis.remap("SRR", [i, j, k])
            with T.init():
                S[vi] = T.float32(1)
            S[vi] += W[vi, vj, vk]
    for i in range(n):
        for k in range(n + 0):
            S[i] = S[i] + T.float32(1)
    for i in range(1, n):
        S[i] = S[i] * T.float32(3)
"""
CHOICE = """
def f(A: T.Buffer((3, 4, 5), "float32"), S: T.Buffer((3,), "float32"), n: T.int32):
    for i in range(3):
        if i < n:
            S[i] = A[i, 0, 0]
    for i in range(n):
        S[i] = S[i] + T.float32(1)
"""
FAULT = """
def f(A: T.Buffer((3, 4, 5), "float32"), S: T.Buffer((3,), "float32"), n: T.int32):
    for i in range(n):
        S[i] = S[i] + A[i, 0, 0]
"""


def program(text: str, *, n: int = 2, max_steps: int | None = None) -> Program:
    module = refmlc.read(f"{HEAD}{text.lstrip()}", "f.tvm")
    values = np.arange(60, dtype="float32").reshape(3, 4, 5) / 7
    return Program(module, "f", [values, Tensor.empty((3,), FLOAT32), n], max_steps=max_steps)


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every loop be long enough for C."""
    monkeypatch.setattr(outlined_loops, "LONG", 1)


def known(text: str) -> dict[Moment, object]:
    """What the program is at each moment: by steps of the interpreter alone."""
    with Session(program(text), snapshot_rate=SnapshotRate(1 << 40, 1e9)) as session:
        stop, found = session.start(), dict[Moment, object]()
        while not session.ended:
            found[stop.moment] = state(session)
            stop = session.step_in()
    return found


@pytest.mark.needs("compiler")
@pytest.mark.usefixtures("short")
def test_from_every_statement_over_it_is_what_the_interpreter_does() -> None:
    due = known(SUMS)
    with Session(program(SUMS)) as session:
        session.start()
        for moment in list(due)[::4]:
            session.goto(moment)
            stop = session.step_over()
            if not session.ended:
                assert state(session) == due[stop.moment]
        assert len(session._engine.tier_switch.loops) > 5  # else nothing above was C
        for moment in list(due)[::-4]:
            assert session.goto(moment).moment == moment
            assert state(session) == due[moment]


@pytest.mark.usefixtures("short")
def test_back_over_a_loop_and_over_it_again() -> None:
    due = known(SUMS)
    with Session(program(SUMS)) as session:
        session.start()
        session.step_in()
        first = session.step_over()
        second = session.step_over()
        assert (first.span.line, second.span.line) == (10, 16)  # type: ignore[union-attr]
        for _ in range(2):
            assert session.step_back_over().moment == first.moment
            assert state(session) == due[first.moment]
            assert session.step_over().moment == second.moment
            assert state(session) == due[second.moment]
        assert session.step_back().moment == Moment(1, second.moment.step - 1)
        session.goto(Moment(1, 2))
        session.set("A[0, 0, 0]", "700")
        assert session.step_over().moment == first.moment
        assert session.evaluate("W[0, 0, 0]") == 1400.0


@pytest.mark.usefixtures("short")
def test_what_is_watched_within_stops_there() -> None:
    with Session(program(SUMS)) as session:
        session.start()
        session.step_in()
        session.break_line(9, condition="vj == 2")
        stop = session.step_over()
        assert stop.hits == (1,)
        assert session.evaluate("vj") == 2
        session.remove(1)
        session.restart()
        session.step_in()
        session.watch("W[1, 0, 0]")
        assert session.step_over().element == "W[1, 0, 0]"
        assert not session._engine.tier_switch.loops


@pytest.mark.needs("compiler")
@pytest.mark.usefixtures("short")
def test_what_the_text_does_not_say_is_interpreted() -> None:
    due = known(CHOICE)
    with Session(program(CHOICE)) as session:
        session.start()
        stop = session.step_over()
        assert stop.moment == Moment(1, 1 + 1 + 3 + 2)  # the loop, three ifs, two of which store
        assert not session._engine.tier_switch.loops
        assert state(session) == due[stop.moment]
        assert session.step_over().reason is Reason.ENDED
        assert len(session._engine.tier_switch.loops) == 1


@pytest.mark.usefixtures("short")
def test_a_failure_within_is_told_where_it_is() -> None:
    with Session(program(FAULT)) as session:
        session.start()
        stop = session.step_over()
        assert stop.failure is not None
        assert (stop.failure.code.id, stop.moment) == ("RM305", Moment(1, 2))
        assert session.evaluate("i") == 0


@pytest.mark.usefixtures("short")
def test_where_the_budget_might_not_reach_the_interpreter_says_where_it_ends() -> None:
    with Session(program(SUMS, max_steps=1)) as session:
        session.start()
        stop = session.step_over()
        assert stop.failure is not None
        assert stop.failure.code.id == "RM601"
        assert session.frames()[0].name == "j"
