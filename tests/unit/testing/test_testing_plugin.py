"""The pytest plugin, in a pytest of its own: what a failing test looks like, the options, and what it costs."""

import subprocess
import sys

import pytest

pytest_plugins = ["pytester"]

PROGRAMS = '''
import numpy as np
import pytest
from refmlc.testing import assert_defined, assert_equivalent

TEXT = """
@T.prim_func(s_tir=True)
def main(A: T.Buffer((2,), "float32"), B: T.Buffer((2,), "float32")):
    for i in range(2):
        B[i] = A[WHERE]
"""
ARGS = [np.float32([1, 2]), np.float32([0, 0])]


def program(where):
    return TEXT.replace("WHERE", where)
'''


@pytest.fixture
def run(pytester, monkeypatch):
    """Run tests under the plugin alone, in a process of its own."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.delenv("REFMLC_CALLS", raising=False)
    monkeypatch.delenv("REFMLC_SEED", raising=False)

    def run_tests(text, *options):
        pytester.makepyfile(test_it=f"{PROGRAMS}\n\n{text}")
        return pytester.runpytest_subprocess("-p", "refmlc.testing.plugin", *options)

    return run_tests


DIFFER = """
def test_swap():
    assert_equivalent(program("i"), program("1 - i"), inputs=[ARGS])
"""
OTHERS = """
from hypothesis import given, settings, strategies as st
from refmlc.diag import fail
from refmlc.diag.codes.internal import BUG

def test_beyond():
    assert_defined(program("i + 1"), inputs=[ARGS])

@settings(derandomize=True, database=None)
@given(st.integers(0, 9))
def test_some_numbers(n):
    assert n < 3 or assert_defined(program("i + 1"), inputs=[ARGS])

def test_texts():
    assert program("i") == ""

def test_ours():
    raise fail(BUG, "ours")
"""


def test_findings_are_told_in_place_of_tracebacks(run):
    result = run(DIFFER + OTHERS)
    result.assert_outcomes(failed=5)
    result.stdout.fnmatch_lines([
        "*_ test_swap _*",
        "error[[]RM705]: the program after gives another `B`: [[]0] is 2.0, expected 1.0, *",
        " --> after:3:1",
        "  = note: `A` is float32[[]2] [[]1., 2.]",
        "  = help: `refmlc explain RM705`",
        "test_it.py:[0-9]*: Inequivalent",
        "*_ test_beyond _*",
        "error[[]RM304]: load from `A` is out of bounds",
        "*index 0 is 2, extent is 2*",
        "*_ test_some_numbers _*",
        "error[[]RM304]*",
        "*: test_some_numbers(",
        "*n=3,*",
        "*_ test_texts _*",
        "E *assert *== *",
        "*_ test_ours _*",
        ">   *raise fail(BUG, *ours*)",
        "FAILED test_it.py::test_swap - RM705: the program after gives another `B`*",
    ])  # fmt: skip
    result.stdout.no_fnmatch_line("*assertions.py*")


def test_who_asks_for_a_traceback_gets_it(run):
    result = run(DIFFER, "--tb=long")
    result.stdout.fnmatch_lines(["*assertions.py:*: Inequivalent"])


def test_findings_in_parallel_runs(run, monkeypatch):
    result = run(DIFFER, "-p", "xdist", "-n", "1")
    result.stdout.fnmatch_lines(["error[[]RM705]: *"])


PROVING = """
SUM = TEXT.replace("B[i] = A[WHERE]", "B[i] = A[0] + A[1] + A[i]")

def test_bits():
    assert_equivalent(program("i"), program("i + 0"), inputs=[ARGS], prove=True)
    assert_equivalent(program("i"), program("1 - (1 - i)"), inputs=[ARGS], prove=True)

def test_order():
    assert_equivalent(SUM, SUM.replace("A[0] + A[1] + A[i]", "A[0] + (A[1] + A[i])"), inputs=[ARGS], prove=True)

def test_calls():
    assert_equivalent(program("i"), program("i + 0"), inputs=[ARGS])
"""


def test_one_line_counts_the_proofs(run):
    result = run(PROVING)
    result.assert_outcomes(passed=3)
    result.stdout.fnmatch_lines(["refmlc: 3 equivalences to prove: 2 proved, 1 over the reals"])
    run(PROVING, "-p", "xdist", "-n", "1").stdout.fnmatch_lines(["refmlc: 3 equivalences to prove: 2 proved, *"])
    run(PROVING, "-k", "calls").stdout.no_fnmatch_line("refmlc:*")


def test_options_reach_the_assertions(run):
    text = """
import os

def test_it():
    assert (os.environ.get("REFMLC_CALLS"), os.environ.get("REFMLC_SEED")) == ("3", None)
"""
    run(text, "--refmlc-calls=3").assert_outcomes(passed=1)
    run(text, "--refmlc-calls=many").stderr.fnmatch_lines(["*invalid int value: 'many'*"])


def test_the_plugin_loads_nothing_else():
    code = (
        "import sys; before = set(sys.modules); import pytest; known = set(sys.modules); import refmlc.testing.plugin;"
        "print(sorted(set(sys.modules) - known))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['refmlc', 'refmlc.lazy', 'refmlc.testing', 'refmlc.testing.plugin']"
