"""Programs of operators: each plan is taken by its operator, edges occur, most programs are defined, faults show."""

from dataclasses import replace

import numpy as np
import pytest

from refmlc.lang.dtypes import FLOAT32
from refmlc.lang.ir import relax
from refmlc.lang.library import OPERATORS
from refmlc.oracle.examine import examine
from refmlc.oracle.fuzz.batch import as_found, name_of, run_batch
from refmlc.oracle.fuzz.finding_pattern import pattern_of
from refmlc.oracle.fuzz.settings import CampaignSettings
from refmlc.oracle.implementations.implementation import Ended
from refmlc.oracle.implementations.interp import Interp
from refmlc.run.memory.tensor import Tensor
from refmlc.strategies.case import Case
from refmlc.strategies.choices import SeededChoices
from refmlc.strategies.contents import contents
from refmlc.strategies.operators.calls import Calls
from refmlc.strategies.operators.program import PLANS, add_call, operator_names, rolled_operators

SETTINGS = CampaignSettings(kinds=("operators",), implementations=("interp",), size=40, sanitize=0)
TRIES = 4
LOWEST = float(np.finfo("float32").min)


@pytest.fixture(scope="module")
def some():
    """The first programs."""
    return [rolled_operators(seed) for seed in range(120)]


def calls_of(case):
    return [one.value for block in case.module.functions["main"].body.blocks for one in block.bindings]


def test_most_operators_have_a_plan():
    known = {name for name, row in OPERATORS.items() if not row.reason}
    assert set(PLANS) <= known
    assert len(PLANS) > 0.9 * len(known)


def test_an_operator_takes_what_its_plan_draws():
    taken = {
        name: sum(add_call(Calls(SeededChoices(f"{name} {seed}")), name) for seed in range(TRIES)) for name in PLANS
    }
    assert {name: count for name, count in taken.items() if count < TRIES - 1} == {}


def test_what_an_operator_refuses_leaves_nothing(monkeypatch):
    def refused(calls):
        one = calls.data()
        return [one.expr], {"nothing": 1}

    monkeypatch.setattr("refmlc.strategies.operators.program.PLANS", {"abs": refused})
    calls = Calls(SeededChoices(1))
    assert not add_call(calls, "abs")
    assert (calls.params, calls.recipes, calls.bindings, calls.last) == ([], [], [], None)


def test_a_program_comes_back_from_its_text_and_is_the_same_each_time(some):
    for seed in (0, 5, 17):
        case = some[seed]
        assert Case.from_json(case.to_json()).to_json() == case.to_json() == rolled_operators(seed).to_json()


def test_one_to_three_operators_that_go_on_with_what_came(some):
    counts = [len(operator_names(case.module)) for case in some]
    assert set(counts) == {1, 2, 3}
    used = [
        any(isinstance(arg, relax.Var) and arg.name.startswith("y") for arg in one.args)
        for case in some
        for one in calls_of(case)
        if isinstance(one, relax.Call)
    ]
    assert sum(used) > 10


def test_edges_occur(some):
    recipes = [one for case in some for one in case.calls[0]]
    values = [one.values() for one in recipes if one.dtype.is_float]
    assert any(0 in one.shape for one in recipes)
    assert any(np.isnan(one.astype(float)).any() for one in values)
    assert any(one.size > 1 and np.isneginf(one.astype(float)).all() for one in values)
    attributes = [call.attrs.get("axis") for case in some for call in calls_of(case) if isinstance(call, relax.Call)]
    assert any(isinstance(axis, int) and axis < 0 for axis in attributes)
    assert len({one.dtype for one in recipes}) > 8


def test_few_different_values_make_ties():
    row = next(one for case in (rolled_operators(n) for n in range(60)) for one in case.calls[0] if one.dtype.is_float)
    for seed in range(20):
        found = contents(row.dtype, (30,), "few", seed, (0, 0))
        assert len({code.tobytes() for code in found}) <= 3


def test_most_programs_are_defined_and_no_path_crashes():
    verdicts = run_batch(SETTINGS.to_json(), 0, SETTINGS.programs(0))["verdicts"]["interp"]
    assert verdicts["defined"] > 0.9 * sum(verdicts.values())
    assert set(verdicts) <= {"defined", "undefined"}


class Finite:
    """An implementation that has no -inf."""

    name, promises_verdicts = "finite", False

    def prepare(self, module):
        return Answers(Interp().prepare(module))

    def close(self):
        """Nothing is held."""


class Answers:
    def __init__(self, inner):
        self.inner = inner

    def run(self, func, args):
        answer = self.inner.run(func, args)
        if isinstance(answer, Ended) and isinstance(answer.value, Tensor) and answer.value.dtype == FLOAT32:
            array = answer.value.numpy()
            array[np.isneginf(array)] = LOWEST
        return answer

    def close(self):
        """Nothing is held."""


def test_a_wrong_edge_is_found_and_findings_are_told_apart_by_their_operators(some):
    cases = [
        case
        for case in some
        if {"max", "nn.max_pool1d", "nn.max_pool2d", "negative"} & set(operator_names(case.module))
    ]
    examined = examine(cases, [Finite()], sanitize=False)
    found = [(each.case, one) for each in examined for one in each.findings]
    assert {one.code.id for _, one in found} == {"RM701"}
    case, finding = found[0]
    told = as_found(SETTINGS, 0, finding).signature
    pattern = pattern_of(finding, None, Interp())
    assert pattern.operators == set(operator_names(case.module))
    assert told == name_of(finding, pattern)
    names = [name_of(finding, replace(pattern, operators=frozenset(some))) for some in ({"abs"}, ())]
    assert len({told, *names}) == 3
