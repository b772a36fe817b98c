"""No file makes a command run: what it names is started where the command line says so, and replays then."""

import json
import sys
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner

from refmlc.cli import main
from refmlc.lang.dtypes import FLOAT32
from refmlc.oracle.fuzz.batch import as_json, program
from refmlc.oracle.fuzz.finding_file import finding_text
from refmlc.oracle.fuzz.result import FindingRecord
from refmlc.oracle.fuzz.settings import KINDS, CampaignSettings
from refmlc.oracle.implementations.lookup import KNOWN, is_own
from refmlc.strategies.arguments import Array, argument_data

SCALE = """
@T.prim_func(s_tir=True)
def main(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
    for i in range(4):
        with T.sblock("B"):
            vi = T.axis.spatial(4, i)
            B[vi] = A[vi] * T.float32(3)
"""
# Speaks the protocol, and leaves a mark that it ran. It returns what it was given: B is not written.
ADAPTER = """
import json, pathlib, sys
pathlib.Path(__file__).with_name("mark").touch()
for line in sys.stdin:
    request = json.loads(line)
    answer = {"ok": True}
    if request["do"] == "hello":
        answer = {"name": "mine", "inline": True}
    if request["do"] == "run":
        values = {"kind": "tensor", "dtype": "float32", "shape": [4], "values": [7.0, 7.0, 7.0, 7.0]}
        answer = {"value": {"kind": "null"}, "args": [values, values]}
    print(json.dumps(answer), flush=True)
"""
MODULE = """
import pathlib
pathlib.Path(__file__).with_name("mark").touch()
from refmlc.oracle.implementations.interp import Interp
def made(limits):
    return Interp(limits)
"""


def refmlc(*words):
    return CliRunner().invoke(main, [str(word) for word in words])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "scale.py").write_text(SCALE)
    (tmp_path / "adapter.py").write_text(ADAPTER)
    (tmp_path / "strange.py").write_text(MODULE)
    script = tmp_path / "python"
    script.write_text(f"#!/bin/sh\ntouch {tmp_path}/mark\n")
    script.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def foreign(folder):
    return {
        "cmd": f"cmd:{sys.executable} {folder / 'adapter.py'}",
        "py": "py:strange:made",
        "tvm": f"tvm:{folder / 'python'}",
    }


def marked(folder: Path) -> bool:
    return (folder / "mark").exists()


def case_of(folder, implementation):
    """A case that `check --case` writes, with another implementation in it."""
    spec = foreign(folder)["cmd"]
    done = refmlc("check", "scale.py", "--impl", spec, "--calls", "1", "--case", "case.toml")
    assert done.exit_code == 1, done.output
    (folder / "mark").unlink()
    text = (folder / "case.toml").read_text()
    assert tomllib.loads(text)["implementation"] == spec
    (folder / "case.toml").write_text(text.replace(json.dumps(spec), json.dumps(implementation)))


def finding_of(folder, implementation, kind="functions", aim="", other=None):
    """A finding as a campaign writes it; whether it still comes out is another matter."""
    settings = CampaignSettings(seed=5, kinds=(kind,), aim=aim, implementations=("native:tiny", f"{implementation}@4"))
    case = as_json(program(settings, 3))
    made = FindingRecord("s1", "RM701", implementation, "wrong", "it is 3", 3, settings.seed_of(3), kind,
                 {**case, **({"other": other} if other else {})})  # fmt: skip
    (folder / "case.toml").write_text(finding_text(settings, made, None))
    return case


def campaign_of(folder, implementation):
    (folder / "campaign").mkdir()
    (folder / "campaign" / "campaign.toml").write_text(CampaignSettings(implementations=(implementation,)).to_toml())


BATCH = str(CampaignSettings().size)
CAMPAIGN = ("fuzz", "--dir", "campaign", "--programs", "1", "--batch", BATCH, "--jobs", "1", "--shrink", "0")
REPLAY = ("replay", "case.toml")
WRITERS = {
    "case": (case_of, REPLAY),
    "finding": (finding_of, REPLAY),
    "campaign": (campaign_of, CAMPAIGN),
}


@pytest.mark.parametrize("kind", ["cmd", "py", "tvm"])
@pytest.mark.parametrize("writer", WRITERS)
def test_what_a_file_names_is_not_started(writer, kind, folder):
    write, words = WRITERS[writer]
    spec = foreign(folder)[kind]
    write(folder, spec)
    done = refmlc(*words)
    assert done.exit_code == 2, done.output
    assert not marked(folder)
    assert "RM112" in done.stderr
    assert spec.partition(":")[2] in done.stderr
    assert "--trust" in done.stderr
    assert "--impl" in done.stderr


@pytest.mark.parametrize("writer", ["case", "finding"])
def test_the_command_line_chooses_or_trusts(writer, folder):
    write, words = WRITERS[writer]
    spec = foreign(folder)["cmd"]
    write(folder, spec)
    assert refmlc(*words, "--impl", "native").exit_code == 0
    assert not marked(folder)
    assert refmlc(*words, "--trust").exit_code == 1
    assert marked(folder)
    (folder / "mark").unlink()
    assert refmlc(*words, "--impl", spec).exit_code == 1
    assert marked(folder)


def test_a_campaign_of_another_goes_on_only_with_a_word(folder):
    spec = foreign(folder)["cmd"]
    campaign_of(folder, spec)
    short = [*CAMPAIGN[:-2], "--shrink", "0"]
    assert refmlc(*short, "--impl", spec).exit_code in (0, 1)
    assert marked(folder)
    (folder / "mark").unlink()
    assert refmlc(*short).exit_code == 2
    assert not marked(folder)
    assert refmlc(*short, "--trust").exit_code in (0, 1)
    assert marked(folder)


def test_a_function_that_a_campaign_names_is_not_called(folder):
    (folder / "campaign").mkdir()
    (folder / "campaign" / "campaign.toml").write_text(CampaignSettings(runner="strange:made").to_toml())
    for extra in ((), ("--impl", "native")):
        done = refmlc(*CAMPAIGN, *extra)
        assert done.exit_code == 2
        assert "strange:made" in done.stderr
        assert not marked(folder)


@pytest.mark.parametrize(
    "line", ["implementations = [3]", 'implementations = "cmd:touch mark"', "runner = 3", "size = true"]
)
def test_settings_of_another_type_are_refused(line, folder):
    (folder / "campaign").mkdir()
    (folder / "campaign" / "campaign.toml").write_text(f"format = 1\n{line}\n")
    done = refmlc("fuzz", "--dir", "campaign", "--programs", "1", "--jobs", "1")
    assert (done.exit_code, marked(folder)) == (2, False), done.output


def test_only_ways_of_refmlc_are_own():
    specs = [spec.strip() for spec in KNOWN.split(",")]
    assert {spec for spec in specs if not is_own(spec)} == {"tvm:PYTHON", "cmd:COMMAND", "py:MODULE:NAME"}
    assert not is_own("interpreter")
    assert not is_own(" cmd:touch")
    assert not is_own("")


# --------------------------------------------------------------------------------------- what is written replays


@pytest.mark.parametrize("kind", KINDS)
def test_findings_of_each_kind_of_program_replay(kind, folder):
    """The arguments are those of the campaign, to the bit."""
    case = finding_of(folder, "native:tiny", kind)
    done = refmlc("replay", "case.toml", "--json")
    assert done.exit_code == 0, done.output
    data = json.loads(done.stdout)
    assert data["id"] == "s1"
    assert len(data["meaning"]) == len(case["calls"])
    assert data["verdicts"]["native:tiny"]
    assert tomllib.loads((folder / "case.toml").read_text())["case"]["calls"] == case["calls"]


def test_a_finding_of_a_rewrite_replays(folder):
    """The interpreter is held to both programs: one of them adds what the other does not."""
    settings = CampaignSettings(seed=5, kinds=("functions",), aim="")
    case = program(settings, 3)
    finding_of(folder, "interp", other=as_json(case)["text"])
    assert refmlc("replay", "case.toml").exit_code == 0
    calls = [[argument_data(Array(FLOAT32, (4,), form=form)) for form in ("compact", "fresh")]]
    scale = {"text": SCALE, "func": "main", "calls": calls, "other": SCALE.replace("(3)", "(4)")}
    made = FindingRecord("s2", "RM705", "interp", "wrong", "it is 3", 3, 0, "schedules", scale)
    (folder / "case.toml").write_text(finding_text(settings, made, None))
    done = refmlc("replay", "case.toml")
    assert done.exit_code == 1, done.output
    assert "RM705" in done.stderr


def test_a_finding_of_a_whole_batch_has_no_program(folder):
    made = FindingRecord("s3", "RM703", "worker", "crashed", "it ended", 3, 0, "functions", {})
    (folder / "case.toml").write_text(finding_text(CampaignSettings(), made, None))
    done = refmlc("replay", "case.toml")
    assert done.exit_code == 2
    assert "whole batch" in done.stderr


def test_a_campaign_writes_findings_that_replay(folder):
    """Whatever the adapter is asked it answers with sevens: each program it takes is a finding."""
    spec = foreign(folder)["cmd"]
    words = ("fuzz", "--dir", "campaign", "--programs", "4", "--batch", "4", "--jobs", "1", "--aim", "none")
    assert refmlc(*words, "--impl", spec, "--shrink", "5").exit_code == 1
    files = sorted((folder / "campaign" / "findings").glob("*.toml"))
    assert files
    for file in files:
        assert refmlc("replay", file).exit_code == 2
        done = refmlc("replay", file, "--trust")
        assert done.exit_code == 1, done.output
        assert tomllib.loads(file.read_text())["code"] in done.stderr
