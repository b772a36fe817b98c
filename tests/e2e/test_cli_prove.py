"""`refmlc prove`: what it prints, and its exit status."""

import json

import pytest
from click.testing import CliRunner

from refmlc.cli import main

SUM = """
@T.prim_func
def dot(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32"), C: T.Buffer((1,), "float32")):
    C[0] = T.float32(0)
    for i in range(4):
        C[0] = C[0] + A[i] * B[i]
"""
SWAPPED = SUM.replace("A[i] * B[i]", "B[i] * A[i]")
BACKWARDS = SUM.replace("[i]", "[3 - i]")
SHORT = SUM.replace("range(4)", "range(3)")
LOOP = SUM.replace("for i in range(4)", "while A[0] > T.float32(0)").replace("[i]", "[0]")


@pytest.fixture
def prove(tmp_path):
    def run(before, after, *options):
        for name, text in (("before.py", before), ("after.py", after)):
            (tmp_path / name).write_text(text, encoding="utf-8")
        return CliRunner().invoke(main, ["prove", str(tmp_path / "before.py"), str(tmp_path / "after.py"), *options])

    return run


def test_a_proof(prove):
    result = prove(SUM, SWAPPED)
    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        "`dot`: proved: wherever BEFORE is defined, AFTER is defined and leaves the same bits",
        "  tensors of the arguments do not overlap",
        "  elements compared: 1; terms: 16",
    ]


def test_another_order_is_accepted_only_if_asked_for(prove):
    assert prove(SUM, BACKWARDS).exit_code == 3
    result = prove(SUM, BACKWARDS, "--up-to-rounding")
    assert result.exit_code == 0
    assert "equal over the reals" in result.stdout


def test_a_refutation_has_a_call(prove):
    result = prove(SUM, SHORT)
    assert result.exit_code == 1
    assert "`C[0]` is `" in result.stdout
    assert "error[RM705]" in result.stdout
    assert prove(SUM, SHORT, "--calls", "0").exit_code == 3


def test_data(prove):
    data = json.loads(prove(SUM, SHORT, "--json").stdout)
    assert (data["verdict"], data["counterexample"]["code"]) == ("refuted", "RM705")
    assert json.loads(prove(SUM, SWAPPED, "--json").stdout) == {
        "func": "dot",
        "verdict": "proved",
        "reason": "",
        "differs": [],
        "open": [],
        "assumptions": ["tensors of the arguments do not overlap"],
        "elements": 1,
        "terms": 16,
        "counterexample": None,
    }


def test_what_is_not_decided_says_where(prove):
    result = prove(LOOP, LOOP)
    assert result.exit_code == 3
    assert "before.py:5" in result.stdout
    assert "control, an index or a size depends on the values of an argument" in result.stdout


def test_a_function_that_is_not_there(prove):
    result = prove(SUM, SWAPPED, "--func", "nothing")
    assert result.exit_code == 2
    assert "RM112" in result.stderr
