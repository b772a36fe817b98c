"""The pattern of a finding: one cause has one, whatever else its programs have; two causes have two."""

from dataclasses import replace

import numpy as np
import pytest

from refmlc.lang.dtypes import SCALARS
from refmlc.lang.script import read
from refmlc.oracle.examine import examine
from refmlc.oracle.fuzz.finding_pattern import Pattern, pattern_of
from refmlc.oracle.implementations.implementation import Ended
from refmlc.oracle.implementations.interp import Interp
from refmlc.strategies.arguments import Array
from refmlc.strategies.case import Case
from refmlc.strategies.operators.program import operator_names

TEXT = """
@T.prim_func
def main(A: T.Buffer((4,), "{dtype}"), B: T.Buffer((4,), "{dtype}"), C: T.Buffer((4,), "{dtype}")):
    for i in range(4):
        C[i] = {other}
    for i in range(4):
        B[i] = {value}
"""


class Spoiled:
    """An implementation whose second argument comes back changed."""

    name, promises_verdicts = "spoiled", False

    def __init__(self, change):
        self.change = change

    def prepare(self, module):
        return Answers(Interp().prepare(module), self.change)

    def close(self):
        """Nothing is held."""


class Answers:
    def __init__(self, inner, change):
        self.inner, self.change = inner, change

    def run(self, func, args):
        answer = self.inner.run(func, args)
        if isinstance(answer, Ended):
            array = answer.args[1].numpy()
            with np.errstate(all="ignore"):
                array[:] = self.change(array.copy())
        return answer

    def close(self):
        """Nothing is held."""


def pattern(value, change, dtype="float32", seed=3):
    recipe = Array(SCALARS[dtype], (4,), "unit", seed)
    case = Case(
        read(TEXT.format(dtype=dtype, value=value, other="A[i]" if dtype == "int32" else "T.tanh(A[i])"), "p.py"),
        "main",
        ((recipe, recipe, recipe),),
    )
    return found(case, Spoiled(change))


def found(case, implementation):
    (examined,) = examine([case], [implementation], sanitize=False)
    finding = next(each for each in examined.findings if each.code.id == "RM701")
    return pattern_of(finding, implementation, Interp())


def more(array):
    return (array + 1).astype(array.dtype)


def test_the_operators_are_those_that_computed_the_element():
    assert pattern("T.exp(A[i])", more).operators == {"exp"}  # not `tanh`, which another element needs
    assert pattern("T.exp(C[i])", more).operators == {"exp", "tanh"}


def test_exact_operators_count_only_without_others():
    assert pattern("T.abs(T.exp(A[i]))", more).operators == {"exp"}
    assert pattern("T.abs(A[i]) + A[i]", more).operators == {"abs"}
    assert pattern("A[i] + A[i] * T.float32(3)", more).operators == set()


def test_values_and_distances_that_arguments_decide_are_no_part():
    patterns = {pattern("T.exp(A[i])", change, seed=seed) for change in (more, lambda a: a * 8) for seed in (3, 40)}
    assert len(patterns) == 1


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda a: a * np.nan, "float nan for finite"),
        (lambda a: a * 0, "float zero for finite"),
        (lambda a: a + np.inf, "float inf for finite"),
        (lambda a: -a, "float sign"),
        (more, "float value"),
    ],
)
def test_how_values_differ_is_a_part(change, words):
    assert pattern("T.exp(A[i])", change).words == words


def test_dtypes_are_groups():
    assert pattern("T.exp(A[i])", more, "float64") == pattern("T.exp(A[i])", more)
    assert pattern("T.exp(A[i])", more, "float16") != pattern("T.exp(A[i])", more)
    assert pattern("A[i] + A[i]", more, "int32").words.startswith("int value")


def test_without_an_operator_the_guess_counts():
    swapped = pattern("A[i] + A[i]", lambda a: np.roll(a, 1))
    assert "off by one" in swapped.words or swapped.words.startswith("float sign")
    assert pattern("A[i] + A[i]", more, "int32") != pattern("A[i] + A[i]", lambda a: a + 256, "int32")


def test_a_known_row_is_the_cause():
    pattern = Pattern("float value", row="r-1", operators=frozenset({"exp"}))
    assert pattern.names == ("r-1",)
    assert pattern.is_kept_by(replace(pattern, words="float sign"))
    assert not pattern.is_kept_by(replace(pattern, row=""))
    assert not replace(pattern, row="").is_kept_by(pattern)


def test_a_smaller_program_keeps_the_cause_or_some_of_its_operators():
    whole = Pattern("float value", operators=frozenset({"exp", "tanh"}))
    assert whole.is_kept_by(replace(whole, operators=frozenset({"exp"})))
    assert not whole.is_kept_by(replace(whole, operators=frozenset({"log"})))
    assert not whole.is_kept_by(replace(whole, operators=frozenset()))
    assert not whole.is_kept_by(replace(whole, words="float sign"))
    plain = Pattern("float value near ")
    assert not plain.is_kept_by(whole)


GRAPH = """
@R.function
def main(x: R.Tensor((4,), "float32")):
    a = R.negative(x)
    b = R.abs(a)
    return b
"""


class WrongNegative(Spoiled):
    """An implementation that is wrong in every program with `negative`."""

    def __init__(self):
        super().__init__(more)

    def prepare(self, module):
        inner = Interp().prepare(module)
        return Result(inner) if "negative" in operator_names(module) else inner


class Result(Answers):
    def __init__(self, inner):
        super().__init__(inner, more)

    def run(self, func, args):
        answer = self.inner.run(func, args)
        array = answer.value.numpy()
        array[:] = more(array.copy())
        return answer


def test_the_operator_of_a_graph_that_is_wrong_alone_is_the_cause():
    case = Case(
        read(GRAPH, "g.py"), "main", ((Array(SCALARS["float32"], (4,), "cycle", pool=(0.5, 1.5, 2.0, 0.75), seed=3),),)
    )
    assert found(case, WrongNegative()).operators == {"negative"}
    (examined,) = examine([case], [WrongNegative()], sanitize=False)
    assert pattern_of(examined.findings[0], None, Interp()).operators == {"negative", "abs"}


def test_what_is_applied_to_which_dtypes_tells_no_causes_apart_but_is_kept():
    value = 'T.Cast("float32", T.Cast("float8_e5m2", A[i]) * T.Cast("float8_e5m2", A[i]))'
    cast, plain = pattern(value, more), pattern("A[i] * A[i]", more)
    assert cast == plain
    assert {("mul", "float8_e5m2"), ("cast", "float32 float8_e5m2"), ("cast", "float8_e5m2 float32")} <= cast.uses
    assert plain.uses == {("mul", "float32")}
