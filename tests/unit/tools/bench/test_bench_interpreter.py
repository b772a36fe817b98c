"""The benchmark measures what it says; how fast is a matter for `refmlc bench interp`."""

from dataclasses import replace

import numpy as np
import pytest

from refmlc.diag import RefmlcError
from refmlc.tools.bench.interpreter import BY_HAND, LIMIT, InterpreterTiming, bench_interpreter
from refmlc.tools.bench.low_level import KERNELS, LINEAR0, TRANSPOSE


def test_all_candidates_are_measured_and_equal():
    ticks = []
    timings = tuple(bench_interpreter(1, lambda: ticks.append(1)))
    assert [timing.candidate for timing in timings if timing.kernel == LINEAR0.name] == [
        BY_HAND,
        "interpreter",
        "before each",
        "before and after",
    ]
    assert {timing.kernel for timing in timings if timing.candidate == "interpreter"} == {each.name for each in KERNELS}
    assert all(timing.ratio == 1.0 for timing in timings if timing.candidate == BY_HAND)
    assert all(timing.nanoseconds > 0 for timing in timings)
    assert len(ticks) == len(KERNELS)


def test_within_the_promise():
    assert InterpreterTiming("k", "x", 1.0, LIMIT).within
    assert not InterpreterTiming("k", "x", 1.0, LIMIT + 0.01).within


def test_a_wrong_result_is_our_bug():
    wrong = replace(TRANSPOSE, by_hand=lambda x, y: np.copyto(y, 1.0))
    with pytest.raises(RefmlcError) as caught:
        tuple(bench_interpreter(1, kernels=(wrong,)))
    assert caught.value.code.id == "RM901"
