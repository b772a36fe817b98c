"""The evidence for certified bounds: see `certified_reductions.py`, which prints the same figures."""

import os
from fractions import Fraction

import certified_reductions
import numpy as np
import pytest

from refmlc.lang.wellformed.reader_checks import read
from refmlc.observe.bounds.certify import certify
from refmlc.oracle.compare import judge
from refmlc.oracle.outcome import Kind

PYTHON = os.environ.get("REFMLC_TVM_PYTHON", "")


def assert_goals_are_met(figures, count):
    assert figures.reductions == count
    assert figures.correct > 15 * count
    assert figures.wrong == []
    assert figures.planted > count
    assert figures.missed == []
    assert figures.median <= certified_reductions.GOAL


def test_100_reductions():
    figures = certified_reductions.campaign(100, 1)
    assert_goals_are_met(figures, 100)
    # The bound is no more than a few times what an order really does, so it is the bound that decides.
    assert min(ratio for ratio, *_ in figures.ratios) < 2


@pytest.mark.needs("torch")
def test_reductions_by_pytorch():
    figures = certified_reductions.campaign(20, 3)
    assert {"torch sum", "torch cumsum", "torch dot", "torch matmul"} <= figures.ways
    assert figures.wrong == []


def test_a_quarter_of_the_bound_is_refuted():
    """The bound is needed: of 100 reductions some have a correct result beyond a quarter of it."""
    figures = certified_reductions.campaign(100, 4)
    assert sum(ratio < 4 for ratio, *_ in figures.ratios) > 20


@pytest.mark.soak
def test_10000_reductions():
    assert_goals_are_met(certified_reductions.campaign(10_000, 0, PYTHON), 10_000)


@pytest.mark.needs("tvm")
def test_reductions_by_tvm():
    figures = certified_reductions.campaign(100, 2, PYTHON)
    assert_goals_are_met(figures, 100)
    assert {"tvm default", "tvm native", "tvm parts", "tvm vectors", "tvm unrolled"} <= figures.ways


def test_every_way_is_judged_by_an_exact_sum_that_is_no_part_of_the_oracle():
    case = certified_reductions.Case("dot", "float16", "whole", np.float16([3, -5]), np.float16([7, 0.5]))
    assert sum(case.exact_terms()) == Fraction(37, 2)
    certified_reductions.compute(case)
    assert {float(value) for value in case.results.values()} == {18.5}
    module = read(certified_reductions.text("dot", "float16"))
    tensor = certify(module, "main", [case.a, case.b, np.zeros(1, np.float16)]).outputs[0]
    assert judge(np.float16([18.5]), tensor).kind is Kind.EQUAL
    assert judge(np.float16([18.52]), tensor).kind is Kind.WRONG
