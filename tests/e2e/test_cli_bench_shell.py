"""`refmlc bench shell`: the rows as a table and as data; exit status; the texts that are read."""

import json

import pytest
from click.testing import CliRunner

from refmlc.cli import main
from refmlc.diag import RefmlcError
from refmlc.lang.ir import relax, tir
from refmlc.lang.script.printer import show
from refmlc.lang.wellformed.reader_checks import read
from refmlc.tools.bench.shell import many_functions, reading_cost, seconds_of, single_function

ROWS = ["reading functions", "memory, functions", "showing functions", "reading one function", "memory, one function"]
ROWS += ["showing one function", "refmlc check", "refmlc --help", "refmlc show"]


def refmlc(*args):
    return CliRunner().invoke(main, ["bench", "shell", "--rounds", "1", "--size", "2000", *args])


def test_each_row_has_a_goal_and_the_exit_status_says_whether_goals_are_reached():
    done = refmlc("--json")
    data = json.loads(done.stdout)
    assert [row["what"] for row in data["rows"]] == ROWS
    assert all(row["measured"] > 0 and row["goal"] > 0 and row["limit"] for row in data["rows"])
    assert [row["within"] for row in data["rows"]] == [row["measured"] <= row["goal"] for row in data["rows"]]
    assert done.exit_code == (0 if all(row["within"] for row in data["rows"]) else 1)


def test_for_people_it_is_a_table():
    done = refmlc()
    assert "at most 300 MB" in done.stdout
    assert "refmlc --help" in done.stdout


def test_the_texts_are_modules_of_the_size_as_the_printer_prints_them():
    many, single = many_functions(10_000), single_function(10_000)
    assert 10_000 <= len(many) < 14_000
    assert 10_000 <= len(single) < 14_000
    functions = read(many).functions
    assert list(functions)[:4] == ["softmax0", "main0", "softmax1", "main1"]
    assert {type(function) for function in functions.values()} == {tir.PrimFunc, relax.Function}
    assert list(read(single).functions) == ["softmax"]
    for text in (many, single):
        lines = [line for line in text.splitlines() if line and not line.lstrip().startswith("#")]
        shown = [line for line in show(read(text)).splitlines() if line and not line.lstrip().startswith("#")]
        assert shown == lines


def test_memory_is_of_the_process_that_reads(tmp_path):
    sizes = (1_000, 400_000)
    for size in sizes:
        (tmp_path / f"{size}.py").write_text(many_functions(size))
    small, large = (reading_cost(tmp_path / f"{size}.py") for size in sizes)
    assert 5 < small.megabytes < large.megabytes < small.megabytes + 100
    assert small.read < large.read


def test_a_command_that_fails_is_not_measured(tmp_path):
    with pytest.raises(RefmlcError, match="ended with 2"):
        seconds_of("show", str(tmp_path / "nowhere.py"))
