"""Kernels scheduled as the course does, of sizes that Hypothesis draws: each step keeps every bit, or is refused."""

import numpy as np
from hypothesis import HealthCheck, given, settings, strategies as st
from kernels import blocked, tensorized, window
from step_applications import applied

from refmlc.diag import Unsupported
from refmlc.lang.dtypes import FLOAT32
from refmlc.lang.ir import IRModule
from refmlc.lang.wellformed.module import check_module
from refmlc.lang.wellformed.reader_checks import read
from refmlc.observe.sanitize import sanitize
from refmlc.run.memory.tensor import Tensor

SETTINGS = settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


def outcome(func):
    """The verdict of the sanitizer, with its detectors of races, and the bits that a call writes."""
    *given_buffers, last = func.buffer_map.values()
    random = np.random.default_rng(5)
    shapes = [[size.value for size in buffer.shape] for buffer in given_buffers]
    target = Tensor.empty(tuple(size.value for size in last.shape), FLOAT32)
    report = sanitize(
        IRModule({"main": func}), "main", [*(random.standard_normal(shape, np.float32) for shape in shapes), target]
    )
    return report.verdict, target.numpy().tobytes()


def taken(text, steps):
    """How many steps were taken; each keeps what the function means. The first that is refused ends the schedule."""
    func = read(text, "kernel.py")["main"]
    before = outcome(func)
    assert before[0] == "defined"
    for number, step in enumerate(steps):
        try:
            func = applied(func, *step)
        except Unsupported:
            return number
        assert check_module(IRModule({"main": func})) == (), func.script()
        assert outcome(func) == before, f"{step}\n{func.script()}"
    return len(steps)


@SETTINGS
@given(st.integers(1, 24), st.integers(1, 6))
def test_threads_that_fetch_a_window_together(n, threads):
    text, steps = window(n, threads)
    count = taken(text, steps)
    assert n % threads or count == len(steps)  # where all divides, every step is legal: so TVM does


@SETTINGS
@given(st.integers(1, 2), st.integers(1, 2), st.integers(1, 2), st.sampled_from((1, 2, 4)), st.integers(1, 2))
def test_threads_that_fetch_tiles_together(blocks, local, threads, tile, lanes):
    n = blocks * local * threads
    text, steps = blocked(n, local, threads, tile, lanes)
    count = taken(text, steps)
    assert n % tile or n * tile % (threads * threads * lanes) or count == len(steps)


@SETTINGS
@given(st.integers(1, 6), st.integers(1, 3))
def test_tiles_with_memory_of_their_own(n, tile):
    text, steps = tensorized(n, tile)
    count = taken(text, steps)
    assert n % tile or count == len(steps)  # no part of a tile is left over
