"""Calls under detectors in one interpreter: functions are prepared once, and no call knows of the one before."""

import gc

import numpy as np
import pytest

from refmlc.lang.wellformed.reader_checks import read
from refmlc.oracle.implementations.implementation import Ended, Stop
from refmlc.oracle.implementations.interp import Interp, Watched
from refmlc.run.interp.machine import Machine

TEXT = """
from tvm.script import ir as I, tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def gather(a: T.Buffer((4,), "float32"), at: T.Buffer((1,), "int32"), out: T.Buffer((4,), "float32")):
        for i in range(3):
            with T.sblock("out"):
                vi = T.axis.spatial(4, i)
                out[vi] = a[at[0] + vi]
"""


@pytest.fixture
def watched(monkeypatch):
    """The module under all detectors, and the names of the functions that were prepared."""
    prepared = []
    original = Machine.prim_func

    def counted(self, func, name):
        prepared.append(name)
        return original(self, func, name)

    monkeypatch.setattr(Machine, "prim_func", counted)
    return Watched(read(TEXT), Interp(check=False)), prepared


def call(watched, at):
    """The answer to a call that reads from element `at`."""
    args = (np.ones(4, "float32"), np.array([at], "int32"), np.zeros(4, "float32"))
    answer = watched.run("gather", args)
    gc.collect()
    return answer


def test_functions_are_prepared_once_for_calls_that_end(watched):
    module, prepared = watched
    assert all(isinstance(call(module, 0), Ended) for _ in range(3))
    assert prepared == ["gather"]


def test_a_call_that_stops_ends_its_interpreter(watched):
    module, prepared = watched
    answers = [call(module, at) for at in (0, 4, 0)]
    assert [getattr(each, "why", None) for each in answers] == [None, Stop.UNDEFINED, None]
    assert prepared == ["gather", "gather"]


def test_findings_are_of_the_last_call_only(watched):
    module, _ = watched
    counts = []
    for _ in range(3):
        call(module, 0)
        counts.append([(lint.diagnostic.code.id, lint.count) for lint in module.hooks.lints()])
    assert counts == [counts[0]] * 3
    assert counts[0]
