"""Who executes what: substitutes take part only without hooks, and hooks that override nothing cost nothing."""

import sys

import numpy as np
import pytest

from refmlc.lang.wellformed.reader_checks import read
from refmlc.run.interp.hooks import Hooks
from refmlc.run.interp.machine import Machine
from refmlc.run.interp.relay import Relay

MODULE = """
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T


@I.ir_module
class Module:
    @T.prim_func
    def twice(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
        for i in range(4):
            B[i] = A[i] + A[i]

    @R.function
    def main(x: R.Tensor((4,), "float32")):
        with R.dataflow():
            y = R.call_tir(Module.twice, (x,), out_sinfo=R.Tensor((4,), "float32"))
            R.output(y)
        return y
"""


class Recorder:
    """Substitutes that record which parts they could replace, and replace none."""

    def __init__(self):
        self.parts = []

    def function(self, name, interpreted):
        self.parts.append(name)
        return interpreted()

    def block(self, function, block):
        self.parts.append((function, len(block.bindings)))


def run(**options):
    machine = Machine(read(MODULE, "case.py"), **options)
    return machine.call("main", [np.arange(4, dtype="float32")]).numpy().tolist()


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        ({}, [("main", 1), "twice"]),
        ({"hooks": Hooks()}, []),
        ({"hooks": Relay([Hooks()])}, []),
        ({"allow": frozenset({"RM306"})}, []),
    ],
)
def test_hooks_of_any_kind_count_as_watching(options, parts):
    recorder = Recorder()
    assert run(substitutes=recorder, **options) == [0, 2, 4, 6]
    assert recorder.parts == parts


def functions_called(**options):
    names = set()

    def note(frame, event, _argument):
        if event == "call" and "/run/interp/" in frame.f_code.co_filename:
            names.add(frame.f_code.co_qualname if sys.version_info >= (3, 11) else frame.f_code.co_name)

    sys.setprofile(note)
    try:
        assert run(**options) == [0, 2, 4, 6]
    finally:
        sys.setprofile(None)
    return names - {"Hooks.watches", "watches", "Relay.watches", "Relay.watches.<locals>.<genexpr>", "<genexpr>"}


@pytest.mark.parametrize("hooks", [Hooks(), Relay([Hooks()])])
def test_hooks_that_override_nothing_leave_the_fast_closures(hooks):
    expected = functions_called()
    assert any("store_1" in name for name in expected)
    assert functions_called(hooks=hooks) == expected


def test_hooks_that_override_a_method_are_called():
    class Stores(Hooks):
        def __init__(self):
            self.values = []

        def store(self, _access, _indices, value, _frame):
            self.values.append(value)

    hooks = Stores()
    names = functions_called(hooks=hooks)
    assert hooks.values == [0, 2, 4, 6]
    assert not any("store_1" in name for name in names)
