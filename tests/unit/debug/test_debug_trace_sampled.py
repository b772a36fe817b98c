"""A trace that is sampled is a part of the one that is whole: the same events at the same steps, and nothing else.

The whole trace is written by the hooks of every element; while events are counted or omitted, units run unwatched
and are counted from the text. So one says what the other must be, for programs rolled and for those written here.
"""

import json

import numpy as np
import pytest
from test_debug_trace import BEYOND, HEAD, ONE, SCALE, SUM, kinds, traced

from refmlc.debug import Program
from refmlc.debug.trace import as_data, read_data, record
from refmlc.debug.trace.replay import elements, replay
from refmlc.diag import RefmlcError
from refmlc.lang.dtypes import FLOAT32
from refmlc.run.memory.tensor import Tensor
from refmlc.strategies import rolled, rolled_module

PROGRAMS = {
    "lazy": """
    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((9,), "float32"), B: T.Buffer((9,), "float32")):
        for i in range(9):
            B[i] = T.if_then_else(i % 3 == 1 and A[i] > T.float32(0), A[i] * A[i - 1], T.float32(1))
    """,
    "allocations": """
    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((9,), "float32"), B: T.Buffer((9,), "float32")):
        for i in range(9):
            with T.sblock("outer"):
                vi = T.axis.spatial(9, i)
                t = T.sblock_alloc_buffer((2,), "float32")
                u = T.sblock_alloc_buffer((2,), "float32")
                for j in range(2):
                    t[j] = A[vi] + T.float32(1)
                for j in range(2):
                    u[j] = t[j] / A[vi]
                B[vi] = t[1] + u[0]
    """,
    "calls": """
    @T.prim_func(private=True, s_tir=True)
    def twice(A: T.Buffer((3,), "float32"), B: T.Buffer((3,), "float32")):
        for i in range(3):
            B[i] = A[i] * T.float32(2)

    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((9,), "float32"), B: T.Buffer((9,), "float32")):
        t = T.alloc_buffer((3,), "float32")
        s = T.alloc_buffer((3,), "float32")
        for i in range(3):
            for j in range(3):
                t[j] = A[3 * i + j]
            Module.twice(t, s)
            for j in range(3):
                B[3 * i + j] = s[j] - t[j]
    """,
    "vectors": """
    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((9,), "float32"), B: T.Buffer((9,), "float32")):
        n = T.alloc_buffer((1,), "int32")
        n[0] = 0
        while n[0] < 2:
            B[n[0] * 4 : n[0] * 4 + 4] = A[n[0] * 4 : n[0] * 4 + 4] * T.Broadcast(T.float32(2), 4)
            n[0] = n[0] + 1
        B[8] = A[n[0]]
    """,
    "indirect": """
    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((9,), "float32"), B: T.Buffer((9,), "float32")):
        p = T.alloc_buffer((9,), "int32")
        for i in range(9):
            p[i] = 8 - i
        for i in range(9):
            B[p[i]] = A[p[p[i]]]
        for i in range(9):
            with T.sblock("forget"):
                B[i] = T.undef(dtype="float32")
                B[i] = T.float32(1) / A[i]
    """,
    "threads": """
    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((9,), "float32"), B: T.Buffer((9,), "float32")):
        for tx in T.thread_binding(9, thread="threadIdx.x"):
            with T.sblock("rotate"):
                vi = T.axis.spatial(9, tx)
                s = T.sblock_alloc_buffer((9,), "float32", scope="shared")
                s[vi] = A[vi]
                T.evaluate(T.tvm_storage_sync("shared"))
                B[vi] = s[(vi + 1) % 9]
    """,
}
VALUES = np.array([1, -2, np.inf, 3, 0, np.nan, 5, 6, 7], np.float32)


def text(name):
    return f"{HEAD}\n@I.ir_module\nclass Module:{PROGRAMS[name]}"


def told(trace):
    """The events by step: kind, name, line, what and where; the axes of blocks."""
    found = {}
    for event in range(len(trace)):
        site, at = trace.sites[trace.site[event]], trace.at[event]
        axes = tuple(trace.ints[at : at + len(site.axes)])
        where = None if site.kind.value in ("block", "call", "return", "bind", "bound") else at
        span = None if site.span is None else (site.span.line, site.span.column)
        found[trace.step(event)] = (
            site.kind, site.name, site.function, site.depth, span, axes, where, repr(trace.value[event]),
        )  # fmt: skip
    return found


def assert_part(make, most):
    whole, part = make(1_000_000), make(most)
    assert not whole.sampled
    assert len(part) <= most
    assert part.sampled == (whole.total > most)
    assert (part.total, part.counts) == (whole.total, whole.counts)
    assert (part.first_nan, part.first_inf) == (whole.first_nan, whole.first_inf)
    assert (part.failure is None) == (whole.failure is None)
    everything = told(whole)
    kept = told(part)
    assert [step for step in kept if kept[step] != everything[step]] == []
    for step in (part.first_nan, part.first_inf):
        assert step is None or step in kept
    return whole, part


def of_text(name, limit):
    return traced(text(name), [VALUES, Tensor.empty((9,), FLOAT32)], max_events=limit)


@pytest.mark.parametrize("share", [0.8, 0.9])
@pytest.mark.parametrize("name", PROGRAMS)
def test_of_each_kind_of_statement_the_events_are_those_of_the_whole(name, share):
    most = int(share * of_text(name, 1_000_000).total)
    whole, part = assert_part(lambda limit: of_text(name, limit), most)
    assert part.sampled
    assert part.cut is None
    assert kinds(part) != kinds(whole)
    end = [elements(one, dict(one.calls[0].tensors)["B"], replay(one)) for one in (whole, part)]
    assert repr(end[0]) == repr(end[1])


@pytest.mark.parametrize("make", [rolled, rolled_module])
def test_of_programs_rolled_the_events_are_those_of_the_whole(make):
    sampled = 0
    for seed in range(20, 32):
        case = make(seed)
        program = Program(case.module, case.func, list(case.arguments()), output=len)
        _, part = assert_part(lambda most, program=program: record(program, max_events=most), 100)
        sampled += part.sampled
    assert sampled >= 4


def test_where_calls_alone_are_too_many_it_is_said_from_where_on_nothing_is_there():
    trace = of_text("calls", 12)
    assert (len(trace), trace.cut is None) == (12, False)
    assert f"from step {trace.cut} on only the failure is kept" in trace.sampling_note()
    assert "all here" not in trace.sampling_note()
    assert trace.step(11) < trace.cut
    assert read_data(json.dumps(as_data(trace))).sampling_note() == trace.sampling_note()


@pytest.mark.parametrize(("source", "args", "func"), [
    (BEYOND, [np.array([1, 2, 3], np.float32), (3,)], "beyond"),
    (SUM.replace("A[i]", 'A[i + T.Cast("int32", A[i]) * 60]'), [np.ones(100, np.float32), (1,)], "total"),
])  # fmt: skip
def test_what_fails_is_there_with_all_that_it_read(source, args, func):
    whole, part = assert_part(
        lambda most: traced(source, [args[0], Tensor.empty(args[1], FLOAT32)], func, max_events=most), 10
    )
    assert part.sampled
    assert whole.failure is not None
    last = list(told(part).items())[-3:]
    assert last == list(told(whole).items())[-3:]


def test_only_what_is_asked_for_is_watched_and_its_tensors_are_what_they_are():
    three = np.array([1, 2, 3], np.float32)
    trace = traced(SCALE, [three], only=["z"])
    assert kinds(trace) == ["call", "bind", "call", "return", "bound", "bind", *ONE, "bound", "return"]
    assert "only calls of `z` are recorded" in trace.notes[0]
    names = dict(trace.calls[-1].tensors)
    assert elements(trace, names["A"], replay(trace)) == [2, 4, 6]
    assert elements(trace, names["B"], replay(trace)) == [4, 8, 12]
    ((name, row),) = trace.calls[0].tensors
    assert (name, trace.tensors[row].first) == ("z", trace.tensors[names["B"]].first)
    assert kinds(traced(SCALE, [three], only=["scale"])) == kinds(traced(SCALE, [three]))
    sampled = traced(SCALE, [three], only=["z"], max_events=20)
    assert sampled.sampled
    assert sampled.total == trace.total
    with pytest.raises(RefmlcError, match="RM112"):
        traced(SCALE, [three], only=["zz"])


def test_what_fails_unwatched_is_told():
    source = SCALE.replace("A[vi] * T.float32(2)", "A[vi + 1]")
    trace = traced(source, [np.array([1, 2, 3], np.float32)], only=["z"])
    assert trace.failure is not None
    assert trace.failure.code.id == "RM304"
    assert kinds(trace) == ["call", "bind", "call", "fail"]
