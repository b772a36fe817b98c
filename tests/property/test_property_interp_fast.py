"""The interpreter gives the same with and without its fast closures: bits, verdicts with place and values, steps."""

import os

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from tier_outcomes import call, interpreted

from refmlc.lang.script import read
from refmlc.run.interp.tensorir import loop_sums
from refmlc.run.interp.tensorir.loop_sums import LoopSums
from refmlc.run.interp.tensorir.scope import Scope
from refmlc.strategies import rolled
from refmlc.strategies.choices import SeededChoices

SOAK = os.environ.get("REFMLC_PROFILE") == "soak"
PROGRAMS, WRONG = (6000, 300) if SOAK else (400, 300)
ASSUMING = Scope.assuming
OPERATORS = ("==", "!=", "<", "<=", ">", ">=")
BRANCHES = """
@T.prim_func(s_tir=True)
def main(A: T.Buffer((4, 8), "float32"), B: T.Buffer((4, 8), "float32")):
    for i, j in T.grid(4, 8):
        if {condition}:
            B[i, j + {there}] = A[i, j + {here}]
        else:
            B[i, j] = T.if_then_else({other}, A[i + {there}, j], T.float32(0)) + A[i, j + {there}]
"""


@pytest.fixture(autouse=True)
def always_worthwhile(monkeypatch):
    """Small programs have sums too."""
    monkeypatch.setattr(loop_sums, "WORTHWHILE", 0)


def differs(once):
    """Whether `once(fast)` gives another outcome, or other steps; a failure that is no verdict is a difference."""
    try:
        fast = once(True)
    except TypeError:
        return True
    plain = once(False)
    return fast != plain or [each.steps for each in fast] != [each.steps for each in plain]


def generated(seed):
    """The outcomes of a generated program."""
    return lambda fast: interpreted([rolled(seed, None)], fast=fast)[0]


def comparison(pick, variable):
    left, right = (variable, str(pick(range(-1, 9)))) if pick((True, False)) else (str(pick(range(-1, 9))), variable)
    return f"{left} {pick(OPERATORS)} {right}"


def branches(pick):
    """The outcomes of a program whose indices are in bounds, or not, because of conditions."""
    joined = f" {pick(('and', 'or'))} ".join([comparison(pick, "j"), comparison(pick, pick(("i", "j")))])
    shifts = {name: pick(range(-2, 3)) for name in ("here", "there")}
    module = read(BRANCHES.format(condition=joined, other=comparison(pick, "i"), **shifts))
    a = np.arange(32, dtype="float32").reshape(4, 8)
    return lambda fast: (call(module, "main", (a, np.zeros((4, 8), "float32")), fast=fast),)


def test_generated_programs_come_to_the_same():
    assert [seed for seed in range(PROGRAMS) if differs(generated(seed))] == []


@settings(max_examples=2000 if SOAK else 200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_what_a_condition_says_of_indices_is_right(data):
    assert not differs(branches(lambda values: data.draw(st.sampled_from(values))))


def test_sums_over_variables_that_change_are_noticed(monkeypatch):
    monkeypatch.setattr(LoopSums, "keeps", lambda _sums, _slot: True)
    assert any(differs(generated(seed)) for seed in range(PROGRAMS, PROGRAMS + WRONG))


def test_the_condition_of_the_other_branch_is_noticed(monkeypatch):
    monkeypatch.setattr(Scope, "assuming", lambda scope, condition, holds: ASSUMING(scope, condition, holds=not holds))
    assert any(differs(branches(SeededChoices(seed).pick)) for seed in range(WRONG))
