"""`refmlc fuzz`: what it prints, keeps, refuses, and its exit status."""

import json
import signal
import time
import tomllib

import pytest
from campaigns import FAULTY, HERE, done, outcome, start
from click.testing import CliRunner

from refmlc.cli import main

FEW = ("--programs", "24", "--batch", "8", "--jobs", "1", "--shrink", "0")


@pytest.fixture
def fuzz(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(HERE))
    monkeypatch.setenv("PYTHONPATH", str(HERE))

    def ran(*options):
        return CliRunner().invoke(main, ["fuzz", "--dir", str(tmp_path / "campaign"), *options])

    return ran


@pytest.mark.needs("compiler")
def test_programs_of_all_kinds_come_to_the_same_in_c(fuzz):
    kinds = "functions,graphs,schedules"
    result = fuzz(*FEW, "--impl", "native:tiny", "--kinds", kinds, "--sanitize", "2", "--json")
    figures = json.loads(result.stdout)
    assert (result.exit_code, figures["findings"], figures["programs"]) == (0, [], 24)
    assert figures["verdicts"]["interp"]["defined"] > 12
    assert figures["verdicts"]["native:tiny"]["equal"] > 6
    assert figures["notes"] == {"programs run under the sanitizer": 16}
    assert figures["coverage"]["clauses"] > 5
    assert figures["programs_per_core_second"] > 0


def test_a_finding_is_told_kept_and_made_small(fuzz, tmp_path):
    result = fuzz(*FEW[:-1], "20", *FAULTY)
    assert result.exit_code == 1
    assert "RM701 off_by_one" in result.stderr
    assert "lines →" in result.stdout
    files = list((tmp_path / "campaign" / "findings").glob("*.toml"))
    assert files
    for file in files:
        data = tomllib.loads(file.read_text("utf-8"))
        assert (data["path"], data["kind"]) == ("off_by_one", "functions")
        assert "def main(" in data["case"]["text"]
        assert len(data["case"]["text"]) <= len(data["first"]["text"])
        again = CliRunner().invoke(main, ["replay", str(file), "--trust"])
        assert (again.exit_code, "RM701" in again.stderr) == (1, True)


def test_the_same_command_goes_on_where_it_was(fuzz, tmp_path):
    fuzz(*FEW, *FAULTY)
    before = outcome(tmp_path / "campaign")
    again = fuzz(*FEW, *FAULTY, "--json")
    assert json.loads(again.stdout)["this_run"]["programs"] == 0
    assert outcome(tmp_path / "campaign") == before
    more = fuzz("--programs", "40", "--shrink", "0", "--trust", "--json")  # the settings are those of the directory
    assert json.loads(more.stdout)["this_run"]["programs"] == 16
    assert more.exit_code == 1


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--impl", "quantum"), "no implementation is named `quantum`"),
        (("--impl", "py:planted:nothing"), "no implementation is named `py:planted:nothing`"),
        (("--impl", "native:quantum"), "C has no variant `quantum`"),
        (("--kinds", "poems"), "is not a list of kinds"),
        (("--aim", "RM999"), "no program aims at `RM999`"),
        (("--time", "soon"), "is not a duration"),
    ],
)
def test_what_there_is_not_is_refused(fuzz, options, told):
    result = fuzz(*options)
    assert result.exit_code == 2
    assert told in result.stderr


def test_other_settings_are_refused(fuzz):
    fuzz(*FEW, *FAULTY)
    result = fuzz(*FEW, *FAULTY, "--seed", "7")
    assert result.exit_code == 2
    assert "seed: 0 in the campaign, 7 here" in result.stderr


def test_an_interrupt_ends_it_with_a_summary_and_it_goes_on(tmp_path):
    process = start(tmp_path, "--programs", "4000", "--jobs", "1", *FAULTY, stdout=-1, stderr=-1)
    end = time.monotonic() + 60
    while done(tmp_path) < 2 and time.monotonic() < end:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert b"the campaign is saved" in err
    assert b"the findings are in" in out
    assert process.returncode == 1
    assert 16 <= outcome(tmp_path)[1] < 4000


def test_a_ledger_tells_what_is_new_and_what_is_earlier(fuzz, tmp_path):
    ledger, other = str(tmp_path / "ledger.sqlite"), str(tmp_path / "other")
    first = json.loads(fuzz(*FEW, *FAULTY, "--ledger", ledger, "--json").stdout)
    assert {each["state"] for each in first["findings"]} == {"new"}
    page = tmp_path / "page.html"
    again = fuzz(*FEW, *FAULTY, "--seed", "7", "--dir", other, "--ledger", ledger, "--page", str(page), "--json")
    states = {each["signature"]: each["state"] for each in json.loads(again.stdout)["findings"]}
    before = {each["signature"] for each in first["findings"]}
    assert {name: state for name, state in states.items() if name in before} == dict.fromkeys(
        before & states.keys(), "earlier"
    )
    assert before & states.keys()
    assert {state for name, state in states.items() if name not in before} <= {"new"}
    assert "off_by_one" in page.read_text("utf-8")
    told = CliRunner().invoke(main, ["fuzz", "ledger", ledger, "--json"])
    rows = json.loads(told.stdout)["rows"]
    assert {row["signature"] for row in rows} == before | states.keys()
    assert sum(row["programs"] for row in rows) == sum(
        each["count"] for told in (first, json.loads(again.stdout)) for each in told["findings"]
    )
    merged = CliRunner().invoke(main, ["fuzz", "merge", other, ledger, "--into", str(tmp_path / "all"), "--json"])
    assert json.loads(merged.stdout)["rows"] == rows


def test_a_ledger_comes_at_the_beginning(fuzz, tmp_path):
    fuzz(*FEW, *FAULTY)
    late = fuzz(*FEW, *FAULTY, "--ledger", str(tmp_path / "ledger.sqlite"))
    assert (late.exit_code, "began without a ledger" in late.stderr) == (2, True)
    (tmp_path / "rubbish").write_text("rubbish" * 100)
    wrong = fuzz(*FEW, *FAULTY, "--dir", str(tmp_path / "new"), "--ledger", str(tmp_path / "rubbish"))
    assert (wrong.exit_code, "cannot be used as a ledger" in wrong.stderr) == (2, True)


def test_options_before_a_subcommand_are_refused(fuzz):
    wrong = fuzz("page", "campaign", "-o", "x.html")
    assert (wrong.exit_code, "put options after `page`" in wrong.stderr) == (2, True)
