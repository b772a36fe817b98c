"""Races and dependences against a comparison of all pairs of accesses; runs with detectors and without.

The detectors keep a few accesses of each element; here every access is kept, and each two are compared.
"""

import os
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from refmlc.diag import RefmlcError
from refmlc.lang.ir import IRModule
from refmlc.lang.wellformed.reader_checks import read
from refmlc.observe.sanitize import ALL, LINTS, sanitize
from refmlc.run.memory.budget import Budget
from refmlc.run.memory.tensor import Tensor
from refmlc.strategies import rolled
from refmlc.strategies.arguments import arguments
from refmlc.vm import VirtualMachine, build

FEWER = settings(max_examples=settings.default.max_examples // 3)  # each is compared pair by pair
SEEDS = 2000 if os.environ.get("REFMLC_PROFILE") == "soak" else 20
STEPS = 1_000_000
SIZE = 5
HEAD = f'from tvm.script import tirx as T\n\n\n@T.prim_func\ndef main(A: T.Buffer(({SIZE},), "float32")):\n'
KINDS = ("range", "T.parallel", "T.vectorized")


@dataclass
class Loop:
    """A loop of a kind and an extent around statements."""

    kind: str
    extent: int
    body: list


@dataclass
class Assign:
    """A[first] = A[second] + 1; an index is a constant and a factor for each of the loops around, modulo SIZE."""

    first: list
    second: list


indices = st.lists(st.integers(0, SIZE - 1), min_size=4, max_size=4)
assigns = st.builds(Assign, indices, indices)


def loops(inner):
    return st.builds(Loop, st.sampled_from(KINDS), st.integers(1, 3), st.lists(inner, min_size=1, max_size=2))


nests = loops(st.one_of(assigns, loops(st.one_of(assigns, loops(assigns)))))


def index_text(factors, depth):
    return f"({' + '.join([str(factors[0]), *(f'{factors[n + 1]} * i{n}' for n in range(depth))])}) % {SIZE}"


def text_of(node, depth=0):
    pad = "    " * (depth + 1)
    if isinstance(node, Loop):
        body = "".join(text_of(part, depth + 1) for part in node.body)
        return f"{pad}for i{depth} in {node.kind}({node.extent}):\n{body}"
    return f"{pad}A[{index_text(node.first, depth)}] = A[{index_text(node.second, depth)}] + T.float32(1)\n"


def trace(node, around=()):
    """Each access: element, whether it stores, and for the loops around it which execution of which kind, and where."""
    if isinstance(node, Loop):
        execution = object()
        for value in range(node.extent):
            for part in node.body:
                yield from trace(part, (*around, (execution, node.kind, value)))
        return
    values = [value for _, _, value in around]
    for factors, stores in ((node.second, False), (node.first, True)):
        yield (factors[0] + sum(f * v for f, v in zip(factors[1:], values, strict=False))) % SIZE, stores, around


def race(one, other):
    if one[0] != other[0] or not (one[1] or other[1]):
        return False
    for (mine, kind, a), (its, _, b) in zip(one[2], other[2], strict=False):
        if mine is not its:
            return False
        if a != b:
            # Below a loop of which they are in different iterations, they are in different executions.
            return kind != "range"
    return False


@FEWER
@given(nests)
def test_races_are_those_of_all_pairs(nest):
    program = f"{HEAD}{text_of(nest)}"
    report = sanitize(read(program, "case.py"), "main", [np.zeros(SIZE, "float32")], kinds={"RM321"})
    expected = any(race(one, other) for one, other in combinations(list(trace(nest)), 2))
    assert report.counts["RM321"] == expected
    assert report.verdict == ("undefined" if expected else "defined")


@dataclass
class Axis:
    """An axis of a block: its kind, its extent, and whether a loop of extent 2 that no binding names is around."""

    kind: str
    extent: int


axes = st.lists(
    st.builds(Axis, st.sampled_from(("spatial", "reduce", "opaque")), st.integers(1, 3)), min_size=1, max_size=2
)


@FEWER
@given(axes, st.lists(assigns, min_size=1, max_size=2), st.booleans())
def test_dependences_along_spatial_axes_are_those_of_all_pairs(axes, body, again):
    outer = "    for t in range(2):\n" if again else "    for t in range(1):\n"
    grid = ", ".join(str(axis.extent) for axis in axes)
    loops_text = ", ".join(f"x{n}" for n in range(len(axes)))
    lines = [
        *(f"v{n} = T.axis.{axis.kind}({axis.extent}, x{n})" for n, axis in enumerate(axes)),
        *(
            f"A[{block_index(one.first, len(axes))}] = A[{block_index(one.second, len(axes))}] + T.float32(1)"
            for one in body
        ),
    ]
    inner = "".join(f"                {line}\n" for line in lines)
    program = f'{HEAD}{outer}        for {loops_text} in T.grid({grid}):\n            with T.sblock("b"):\n{inner}'
    report = sanitize(read(program, "case.py"), "main", [np.zeros(SIZE, "float32")], kinds={"RM319"})
    accesses = [
        (time, point, element, stores)
        for time in range(2 if again else 1)
        for point in np.ndindex(*(axis.extent for axis in axes))
        for one in body
        for element, stores in ((at(one.second, point), False), (at(one.first, point), True))
    ]
    spatial = [n for n, axis in enumerate(axes) if axis.kind == "spatial"]
    expected = any(
        a[0] == b[0] and a[2] == b[2] and (a[3] or b[3]) and any(a[1][n] != b[1][n] for n in spatial)
        for a, b in combinations(accesses, 2)
    )
    assert report.counts["RM319"] == expected


def block_index(factors, count):
    return f"({' + '.join([str(factors[0]), *(f'{factors[n + 1]} * v{n}' for n in range(count))])}) % {SIZE}"


def at(factors, point):
    return (factors[0] + sum(f * v for f, v in zip(factors[1:], point, strict=False))) % SIZE


@FEWER
@given(st.integers(0, 3), st.integers(1, 3), st.integers(0, 3), st.integers(0, 3), st.integers(2, 4))
def test_reads_beyond_their_region_are_found(first, width, load, stride, extent):
    """One block over `extent` instances declares A[vi + first : + width] and reads A[vi * stride + load]."""
    size = 3 * 3 + 3 + 4
    program = f"""
from tvm.script import tirx as T


@T.prim_func
def main(A: T.Buffer(({size},), "float32"), B: T.Buffer(({extent},), "float32")):
    for i in range({extent}):
        with T.sblock("b"):
            vi = T.axis.spatial({extent}, i)
            T.reads(A[vi + {first}:vi + {first + width}])
            T.writes(B[vi])
            B[vi] = A[vi * {stride} + {load}]
"""
    given = [np.zeros(size, "float32"), np.zeros(extent, "float32")]
    report = sanitize(read(program, "case.py"), "main", given, kinds={"RM318"})
    beyond = [i for i in range(extent) if not i + first <= i * stride + load < i + first + width]
    assert report.counts["RM318"] == bool(beyond)
    if beyond:
        assert f"reads `A[{beyond[0] * stride + load}]`" in report.findings[0].diagnostic.message


def outcome(case, run):
    """How a run ends, a code or nothing, and the memory that it leaves."""
    given = arguments(case.calls[0])
    try:
        code = run(given)
    except RefmlcError as failure:
        code = failure.code.id
    return code, [one.array.tobytes() if isinstance(one, Tensor) else one for one in given]


@pytest.mark.parametrize("seed", range(0, SEEDS, 20))
def test_what_is_watched_does_what_it_does_alone(seed):
    """Where no detector ends the run, verdict and memory are those of the interpreter without hooks."""
    for number in range(seed, seed + 20):
        case = rolled(number, "") if number % 3 else rolled(number, None)
        module = IRModule({"main": case.prim_func})
        reports = []

        def alone(given, module=module):
            VirtualMachine(build(module, "interp", budget=Budget(max_steps=STEPS)))["main"](*given)

        def watched(given, module=module, reports=reports):
            report = sanitize(module, "main", given, budget=Budget(max_steps=STEPS))
            reports.append(report)
            return None if report.verdict == "defined" else report.findings[0].diagnostic.code.id

        found = outcome(case, watched)
        if found[0] not in ALL - LINTS - {"RM305"}:
            assert found == outcome(case, alone), f"seed {number}"
