"""The generated functions are what they say: well-formed, mostly defined, and of every kind there is.

A law over generated programs is empty where the generator does not reach: here is what it reaches.
"""

import inspect
import os
from collections import Counter
from functools import cache

import pytest
from hypothesis import given, settings

from refmlc.diag import RefmlcError
from refmlc.lang.dtypes import SCALARS
from refmlc.lang.ir import IRModule, tir
from refmlc.lang.ir.kinds import ForKind
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.visit import walk
from refmlc.lang.ops.scalar import SCALAR_OPS
from refmlc.lang.wellformed import check_module
from refmlc.observe.sanitize import sanitize
from refmlc.run.interp.machine import Machine
from refmlc.run.memory.budget import Budget
from refmlc.strategies import CHECKED, WATCHED, prim_funcs, rolled
from refmlc.strategies.arguments import Array, arguments

MANY = 700
DEFINED = 20_000 if os.environ.get("REFMLC_PROFILE") == "soak" else 60
MOST = 1_000_000
STEPS = 50_000
# Of calls within a module and to the outside; of facts that nothing is computed from.
ELSEWHERE = {"Node", "GlobalVar"}
INTRINSICS = {"assume", "fma", "ret", "undef", "tvm_thread_invariant", "ignore_loop_partition"}


def outcome(func, recipe, budget):
    """`ok`, or the code of what the interpreter finds."""
    try:
        Machine(IRModule({"main": func}), budget=budget).call("main", arguments(recipe))
    except RefmlcError as failure:
        return failure.code.id
    return "ok"


@cache
def sample():
    """Many programs: what occurs in them, and how their calls end, by aim."""
    seen, ends, steps = Counter(), Counter(), 0
    for seed in range(MANY):
        case = rolled(seed, None)
        for node in walk(case.prim_func):
            seen[type(node).__name__] += 1
            match node:
                case tir.Apply():
                    seen[f"op {node.op}"] += 1
                case tir.Buffer():
                    seen[f"dtype {node.dtype.element}"] += 1
                case tir.Call():
                    seen[f"intrinsic {node.callee}"] += 1
                case tir.For():
                    seen[f"loop {node.kind.name}"] += 1
        for recipe in case.calls:
            seen.update(f"form {one.form}" for one in recipe if isinstance(one, Array))
            budget = Budget(STEPS)
            ends[case.aim, outcome(case.prim_func, recipe, budget)] += 1
            steps = max(steps, budget.steps)
    return seen, ends, steps


@settings(max_examples=100)
@given(prim_funcs(None))
def test_they_are_well_formed(case):
    module = IRModule({"main": case.prim_func})
    assert check_module(module) == ()


def test_those_without_an_aim_are_defined():
    _, ends, _ = sample()
    calls = sum(count for (aim, _), count in ends.items() if not aim)
    assert calls > MANY / 3
    assert ends["", "ok"] == calls


@pytest.mark.parametrize("aim", CHECKED)
def test_the_others_hit_their_aim(aim):
    cases = [rolled(seed, aim, small=seed % 2 == 0) for seed in range(40)]
    ends = Counter(outcome(case.prim_func, case.calls[-1], Budget(STEPS)) for case in cases)
    assert ends[aim] >= 4


@pytest.mark.parametrize("aim", WATCHED)
def test_what_only_a_detector_finds_is_hit_too(aim):
    ends = Counter(code for seed in range(40) for code in watched(rolled(seed, aim, small=seed % 2 == 0)))
    assert ends[aim] >= 4


def test_no_detector_finds_anything_in_those_without_an_aim():
    found = {seed: watched(rolled(seed, small=seed % 3 > 0)) for seed in range(DEFINED)}
    assert {seed: codes for seed, codes in found.items() if codes} == {}


def watched(case):
    """What is found in all calls of a case, with every detector on."""
    codes = set()
    for number in range(len(case.calls)):
        try:
            report = sanitize(case.module, case.func, case.arguments(number), budget=Budget(MOST))
        except RefmlcError as failure:
            codes.add(failure.code.id)
        else:
            codes.update(one.diagnostic.code.id for one in report.findings)
    return codes


def test_every_kind_of_node_occurs():
    seen, _, _ = sample()
    kinds = {name for name, one in inspect.getmembers(tir, inspect.isclass) if issubclass(one, Node)}
    assert {name for name in kinds if not seen[name]} == ELSEWHERE


def test_every_scalar_operator_occurs():
    seen, _, _ = sample()
    assert [op for op in SCALAR_OPS if not seen[f"op {op}"]] == []


def test_every_dtype_occurs():
    seen, _, _ = sample()
    kinds = [name for name in SCALARS if name not in ("handle", "void")]
    assert [name for name in kinds if not seen[f"dtype {name}"]] == []


def test_every_form_of_argument_loop_and_call_occurs():
    seen, _, _ = sample()
    assert [kind for kind in ForKind if not seen[f"loop {kind.name}"]] == []
    forms = ("compact", "fresh", "partial", "strided", "locked", "offset")
    assert [form for form in forms if not seen[f"form {form}"]] == []
    assert [name for name in INTRINSICS if not seen[f"intrinsic {name}"]] == []


def test_they_end_soon():
    assert sample()[2] < STEPS
