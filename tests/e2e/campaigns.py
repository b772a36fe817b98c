"""Campaigns started as commands, and what they leave."""

import json
import os
import subprocess
import sys
from pathlib import Path

import jsonschema

import refmlc
from refmlc.cli.console import json_text
from refmlc.oracle.fuzz.store import JOURNAL, progress_in

HERE = Path(__file__).parent
FAULTY = ("--impl", "py:planted:off_by_one_implementation", "--aim", "none", "--sanitize", "0", "--batch", "8")
ENVIRONMENT = {"PYTHONPATH": os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")])}


def start(path, *options, **popen):
    """A campaign in a process of its own, head of a process group."""
    command = [sys.executable, "-m", "refmlc", "fuzz", "--dir", str(path), "--shrink", "0", *options]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL} | popen
    return subprocess.Popen(command, env={**os.environ, **ENVIRONMENT}, start_new_session=True, **quiet)


def done(path):
    """How many lines its journal has."""
    journal = path / JOURNAL
    return journal.read_bytes().count(b"\n") if journal.exists() else 0


def outcome(path):
    """What a campaign came to: all that does not depend on when it was done."""
    progress = progress_in(path)
    findings = {
        one.signature: (one.code, one.path, one.number, one.seed, one.count, one.case)
        for one in progress.findings.values()
    }
    return progress.done, progress.programs, progress.verdicts, findings


def lines(path):
    """The numbers of the batches in the journal, one for each line."""
    return [json.loads(line)["batch"]["batch"] for line in (path / JOURNAL).read_text("utf-8").splitlines()]


def finding_errors(record, shrunk=None):
    """What the schema of outputs has against a finding, as `refmlc fuzz --json` prints it."""
    schema = json.loads((Path(refmlc.__file__).parent / "cli" / "schema.json").read_text("utf-8"))
    checker = jsonschema.Draft202012Validator({"$ref": "#/$defs/campaign-finding", "$defs": schema["$defs"]})
    data = json.loads(json_text({**record.to_json(), "state": "new", "shrunk": shrunk}))
    return [error.message for error in checker.iter_errors(data)]
