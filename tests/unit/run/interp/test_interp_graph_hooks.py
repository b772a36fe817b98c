"""Hooks and the program's output, at the level of Relax."""

import sys

import pytest

from refmlc.run.interp.hooks import Hooks
from refmlc.run.memory.budget import Budget

TEXT = """
from tvm.script import ir as I
from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def f(x: R.Any):
        z = (x, x)
        return z

    @R.function
    def main(x: R.Any):
        cls = Module

        @R.function
        def inner(y: R.Any):
            w = cls.f(y)
            return w

        o = inner(x)
        return o
"""


class Log(Hooks):
    def __init__(self):
        self.seen = []

    def enter_function(self, name, args):
        self.seen.append(("enter", name, *args))

    def leave_function(self, name, result):
        self.seen.append(("leave", name, result))

    def before_binding(self, binding):
        self.seen.append(("before", binding.var.name))

    def binding(self, binding, value):
        if binding.var.name != "inner":
            self.seen.append(("after", binding.var.name, value))


def test_functions_and_bindings_are_watched_in_order(run):
    log = Log()
    run(TEXT, 7, func="main", hooks=log)
    assert log.seen == [
        ("enter", "main", 7),
        ("before", "inner"),
        ("before", "o"),
        ("enter", "inner", 7),
        ("before", "w"),
        ("enter", "f", 7),
        ("before", "z"),
        ("after", "z", (7, 7)),
        ("leave", "f", (7, 7)),
        ("after", "w", (7, 7)),
        ("leave", "inner", (7, 7)),
        ("after", "o", (7, 7)),
        ("leave", "main", (7, 7)),
    ]


def test_bindings_are_steps(failing):
    assert failing(TEXT, 7, func="main", budget=Budget(max_steps=4)).code.id == "RM601"


ENDLESS = """
from tvm.script import ir as I
from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(x: R.Any):
        cls = Module
        y = cls.main(x)
        return y
"""


@pytest.mark.parametrize("depth", [3, 500])
def test_calls_nest_as_deep_as_the_budget_says(failing, depth):
    budget = Budget(max_depth=depth)
    found = failing(ENDLESS, 7, budget=budget)
    assert found.code.id == "RM602"
    assert f"deeper than {depth}" in found.message
    assert budget.steps == 2 * depth


def test_pythons_own_limit_ends_a_run_that_no_budget_ends(failing):
    limit = sys.getrecursionlimit()
    found = failing(ENDLESS, 7, budget=Budget(max_depth=1 << 40))
    assert found.code.id == "RM602"
    assert "nests too deep to be executed" in found.message
    assert sys.getrecursionlimit() == limit
