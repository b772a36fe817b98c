"""`refmlc bench fuzz`: the candidates as a table and as data; exit status."""

import json

from click.testing import CliRunner

from refmlc.cli import main


def refmlc(*args):
    return CliRunner().invoke(main, ["bench", "fuzz", "--batches", "1", "--size", "2", *args])


def test_each_candidate_has_a_speed_and_the_exit_status_says_whether_goals_are_reached():
    done = refmlc("--json")
    data = json.loads(done.stdout)
    assert [row["implementations"] for row in data["rows"]] == [["interp"], ["native:tiny"], ["native:tiny", "moved"]]
    assert all(row["per_second"] > 0 for row in data["rows"])
    reached = all(row["goal"] is None or row["per_second"] >= row["goal"] for row in data["rows"])
    assert done.exit_code == (0 if reached else 1)


def test_for_people_it_is_a_table():
    done = refmlc()
    assert "programs/s" in done.stdout
    assert "at least 150" in done.stdout
