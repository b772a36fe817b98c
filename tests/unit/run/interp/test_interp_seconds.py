"""A limit of seconds ends a run soon, whatever its steps take."""

from itertools import pairwise

import numpy as np
import pytest

from refmlc.lang.dtypes import FLOAT64
from refmlc.run.memory import budget as budget_module
from refmlc.run.memory.budget import Budget
from refmlc.run.memory.registry import FunctionRegistry
from refmlc.run.memory.tensor import Tensor

DEAR = " + ".join(["T.pow(A[i % 8], T.float64(1.5))"] * 150)
LOOP = """
@T.prim_func(s_tir=True)
def f(A: T.Buffer((8,), "float64")):
    for i in range({count}):
        A[i % 8] = {value}
"""
PACKED = """
@T.prim_func(s_tir=True)
def f(A: T.Buffer((8,), "float64")):
    for i in range(1000000):
        T.evaluate(T.{call}("slow"))
"""


@pytest.fixture
def clock(monkeypatch):
    """The second that the clock of budgets shows: it goes on when a test says so."""
    shown = [100.0]
    monkeypatch.setattr(budget_module, "monotonic", lambda: shown[0])
    return shown


def ones():
    return Tensor.from_numpy(np.ones(8), FLOAT64)


@pytest.mark.parametrize(("value", "most"), [("A[i % 8]", 4096), (DEAR, 256)], ids=["cheap", "dear"])
def test_the_more_a_step_holds_the_fewer_are_between_two_looks(run, monkeypatch, value, most):
    budget, looked = Budget(max_seconds=100.0), []
    monkeypatch.setattr(budget_module, "monotonic", lambda: looked.append(budget.steps) or 0.0)
    run(LOOP.format(count=9_000, value=value), ones(), budget=budget)
    assert max(after - before for before, after in pairwise(looked)) <= most


@pytest.mark.parametrize("call", ["call_packed", "call_extern"])
def test_a_slow_packed_function_is_the_last(failing, clock, call):
    calls, registry = [], FunctionRegistry()
    text = PACKED.format(call=call).replace('call_extern("slow"', 'call_extern("int32", "slow"')

    def slow():
        calls.append(clock[0])
        clock[0] += 0.3
        return 0

    registry.register("slow", slow)
    assert failing(text, ones(), budget=Budget(max_seconds=2.0), registry=registry).code.id == "RM605"
    assert len(calls) == 7
