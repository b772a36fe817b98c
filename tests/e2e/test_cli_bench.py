"""`refmlc bench native`: rows as a table, as data, as a picture; which rows; exit status."""

import json

import pytest
from click.testing import CliRunner
from needs import need

from refmlc.cli import main
from refmlc.tools.bench.row import LAST

QUICK = ("--tiny", "--rounds", "1")
PEERLESS = {1, 6, 7, 8, 10}  # rows that need neither TVM nor NumPy


def refmlc(*args):
    return CliRunner().invoke(main, ["bench", "native", *QUICK, *map(str, args)], env={"REFMLC_TVM_PYTHON": None})


@pytest.fixture(scope="module")
def report():
    done = refmlc("--json")
    return done.exit_code, json.loads(done.stdout)


@pytest.mark.needs("compiler")
def test_all_rows_are_there_and_none_is_wrong(report):
    _, data = report
    assert {row["row"] for row in data["rows"]} == set(range(1, LAST + 1))
    assert [row for row in data["rows"] if row["failed"]] == []
    assert {row["row"] for row in data["rows"] if row["measured"] is not None} >= PEERLESS - {7}


def test_the_machine_is_described(report):
    _, data = report
    assert {"processor", "instruction set", "compiler", "BLAS", "TVM"} <= set(data["machine"])
    assert data["machine"]["TVM"] == "none is given"


def test_the_exit_status_says_whether_something_is_missed(report):
    status, data = report
    assert data["missed"] == sum(row["verdict"] in ("missed", "failed") for row in data["rows"])
    assert status == (1 if data["missed"] else 0)


@pytest.mark.needs("compiler")
def test_no_element_differs_from_the_interpreter(report):
    _, data = report
    assert {row["measured"] for row in data["rows"] if row["row"] == 10} == {0}


def test_only_some_rows_and_a_picture(tmp_path):
    need("matplotlib")
    done = refmlc("--only", "8,10", "--chart", tmp_path / "chart.png")
    assert "call with 5 arrays" in done.stdout
    assert "matmul 8³" not in done.stdout
    assert (tmp_path / "chart.png").stat().st_size > 10_000


@pytest.mark.parametrize("wrong", ["0", "99", "one", "1,,2"])
def test_rows_that_are_not_there_are_bad_usage(wrong):
    assert refmlc("--only", wrong).exit_code == 2
