"""The history of the bench: which runs are compared, what is a regression, what the page says."""

import json
from dataclasses import replace

import pytest
from click.testing import CliRunner

from refmlc.cli import main
from refmlc.diag import RefmlcError
from refmlc.tools.bench.campaign import population
from refmlc.tools.bench.groups import LIMITS
from refmlc.tools.bench.history import BenchRun, Measurement, Trend, add_to_history, read_history, trends
from refmlc.tools.bench.page import bench_page
from refmlc.tools.bench.row import LAST

MACHINE = {"processor": "P <b>1</b>", "cores": "2", "instruction set": "avx2", "compiler": "gcc 12"}
FASTER = Measurement("native", "1 matmul", "the peak", 90.0, "%", "at least", 90.0, "a note", "additions")
SHORTER = Measurement("debug", "a step back", "", 10.0, "ms", "at most", 100.0)


def run_of(*measurements, sizes="full", **machine):
    return BenchRun("2026-01-01T00:00:00+00:00", sizes, "abc", {**MACHINE, **machine}, measurements)


@pytest.mark.parametrize(
    ("measurement", "earlier", "expected"),
    [
        (FASTER, (), False),
        (FASTER, (99.0,), False),  # 9 % worse
        (FASTER, (101.0,), True),  # 11 %
        (FASTER, (100.0, 101.0, 102.0), True),
        (FASTER, (80.0, 101.0, 120.0), False),  # they differ by more
        (FASTER, (50.0,), False),  # better
        (SHORTER, (9.2,), False),
        (SHORTER, (9.0,), True),
        (SHORTER, (20.0,), False),
        (replace(SHORTER, measured=None), (9.0,), False),
    ],
)
def test_what_is_a_regression(measurement, earlier, expected):
    assert Trend(measurement, earlier).is_regression == expected


def test_runs_of_the_same_machine_and_sizes_are_compared():
    earlier = [
        run_of(replace(FASTER, measured=1.0)),
        run_of(replace(FASTER, measured=2.0), compiler="gcc 13"),
        run_of(replace(FASTER, measured=3.0), cores="4"),
        run_of(replace(FASTER, measured=4.0), sizes="tiny"),
        run_of(replace(FASTER, measured=5.0, what="2 matmul")),
        run_of(replace(FASTER, measured=None)),
    ]
    assert [trend.earlier for trend in trends(run_of(FASTER, SHORTER), earlier)] == [(1.0, 2.0), ()]


def test_a_history_is_read_as_it_was_written(tmp_path):
    path = tmp_path / "speed.jsonl"
    assert read_history(path) == []
    for run in (run_of(FASTER, SHORTER), run_of(SHORTER, cores="4")):
        add_to_history(path, run)
    first, second = read_history(path)
    assert first == run_of(replace(FASTER, limit=""), SHORTER)
    assert second.machine["cores"] == "4"


@pytest.mark.parametrize("line", ["{", "[]", '{"rows": []}', '{"rows": [{}], "machine": {}}'])
def test_a_line_that_is_no_run_is_refused(tmp_path, line):
    path = tmp_path / "speed.jsonl"
    path.write_text(f"{run_of(FASTER).as_line()}{line}\n")
    with pytest.raises(RefmlcError, match="line 2") as failure:
        read_history(path)
    assert failure.value.code.id == "RM111"


def test_every_row_says_what_limits_it():
    assert {str(row) for row in range(1, LAST + 1)} | {"interp", "debug", "fuzz", "shell"} == {*LIMITS}


def test_the_page_has_goals_limits_and_regressions_and_escapes_text():
    text = bench_page(run_of(FASTER, SHORTER), [run_of(replace(FASTER, measured=120.0))], command="refmlc bench all")
    assert "-25.0 % regression" in text
    assert "Regressions: 1." in text
    assert "≥ 90%" in text
    assert "additions" in text
    assert "P &lt;b&gt;1&lt;/b&gt;" in text
    assert "<b>1</b>" not in text
    assert text.count("<polyline") == 2


@pytest.mark.needs("compiler")
def test_all_groups_are_on_one_page(tmp_path):
    page = tmp_path / "speed.html"
    add_to_history(page.with_suffix(".jsonl"), run_of(FASTER, sizes="tiny"))
    command = ["bench", "all", "--tiny", "--json", "--chart", str(page)]
    done = CliRunner().invoke(main, command, env={"REFMLC_TVM_PYTHON": None})
    assert done.exit_code in (0, 1), done.output
    assert json.loads(done.stdout)["sizes"] == "tiny"
    lines = [json.loads(line) for line in page.with_suffix(".jsonl").read_text().splitlines()]
    assert len(lines) == 2
    assert {row["group"] for row in lines[1]["rows"]} == {"native", "interp", "debug", "fuzz", "shell"}
    assert {"processor", "cores", "compiler", "Python", "NumPy"} <= set(lines[1]["machine"])
    text = page.read_text()
    assert all(f"<h2>{group}</h2>" in text for group in ("native", "interp", "debug", "fuzz", "shell"))


def test_programs_of_campaigns_are_counted():
    programs = population(2, 8)
    assert programs.programs == 16
    assert 8 < programs.distinct <= 16
    assert programs.nodes > 20
