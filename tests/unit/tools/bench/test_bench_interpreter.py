"""The benchmark measures what it says; how fast is a matter for `refmlc bench interp`."""

import numpy as np
import pytest

from refmlc.diag import RefmlcError
from refmlc.tools.bench import interpreter
from refmlc.tools.bench.interpreter import LIMIT, InterpreterTiming, bench_linear0


def test_all_candidates_are_measured_and_equal():
    ticks = []
    timings = bench_linear0(1, lambda: ticks.append(1))
    assert [timing.candidate for timing in timings] == [
        "low-level NumPy",
        "interpreter",
        "before each",
        "before and after",
    ]
    assert timings[0].ratio == 1.0
    assert all(timing.nanoseconds > 0 for timing in timings)
    assert ticks == [1]


def test_within_the_promise():
    assert InterpreterTiming("x", 1.0, LIMIT).within
    assert not InterpreterTiming("x", 1.0, LIMIT + 0.01).within


def test_a_wrong_result_is_our_bug(monkeypatch):
    monkeypatch.setattr(interpreter, "low_level_numpy", lambda x, w, b, z: np.copyto(z, 1.0))
    with pytest.raises(RefmlcError) as caught:
        bench_linear0(1)
    assert caught.value.code.id == "RM901"
