"""Every format of files has a version that is written and asked for, as `docs/reference/file-formats.md` says."""

import json
import re
from dataclasses import replace
from pathlib import Path

import jsonschema
import numpy as np
import pytest

import refmlc
from refmlc.debug import Program
from refmlc.debug.trace import as_data, read_data, record
from refmlc.diag import RefmlcError
from refmlc.oracle.check.baseline import BaselineFile, read_baseline
from refmlc.oracle.contracts.assumptions import assumed_beside
from refmlc.oracle.evidence.case_file import read_case
from refmlc.oracle.evidence.certificate import certified, certified_program, claim_of_proof, read_certificate
from refmlc.oracle.fuzz.finding_file import finding_text, read_finding
from refmlc.oracle.fuzz.result import FindingRecord
from refmlc.oracle.fuzz.settings import CampaignSettings
from refmlc.oracle.refine.proof import prove
from refmlc.oracle.suite.expectations import read_expectations
from refmlc.oracle.suite.export import case_json, write_suite
from refmlc.oracle.suite.schema import load_schema
from refmlc.oracle.suite.suite import Suite
from refmlc.strategies.case import Case
from refmlc.tools.bench.history import BenchRun, Measurement, add_to_history, read_history
from refmlc.tvm.library_file import read_library, write_library

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reference" / "file-formats.md").read_text(encoding="utf-8")
SCALE = """
@T.prim_func
def main(A: T.Buffer((3,), "float32"), B: T.Buffer((3,), "float32")):
    for i in range(3):
        B[i] = A[i] * T.float32(2)
"""
CASE = f"""
id = "one"
func = "main"
module = '''{SCALE}'''

[[calls]]
args = [{{dtype = "float32", shape = [3], values = ["0x1p+0", "0x1p+1", "0x1p+2"]}}]
"""
CONTRACTS = 'format = 1\nassume = ["n % 16 == 0"]\n'  # people write it
KNOWN = 'format = 1\n[[deviation]]\nid = "x"\n'  # the same
VERSION = re.compile(r'format(?: =|":)? (1)\b')


def case():
    return read_case(f"format = 1\n{CASE}")


def generated():
    return Case(refmlc.read(SCALE), "main", ())


def baseline(folder):
    BaselineFile(folder / "b.toml").write()
    return (folder / "b.toml").read_text()


def read_a_baseline(text, folder):
    (folder / "b.toml").write_text(text)
    return read_baseline(folder / "b.toml")


def certificate(folder):
    (folder / "g.py").write_text(SCALE)
    program = certified_program(folder / "g.py", folder)
    module = refmlc.read(SCALE)
    return certified(claim_of_proof("main", (program, program), {}), prove(module, module, func="main")).toml()


def contracts(text, folder):
    (folder / "g.contract.toml").write_text(text)
    return assumed_beside(folder / "g.py")


def finding(_folder):
    data = json.loads(generated().to_json())
    written = FindingRecord("s", "RM701", "native", "wrong", "m", 1, 1, "functions", data)
    return finding_text(CampaignSettings(), written, None)


def history(folder):
    file = folder / "h.jsonl"
    row = Measurement("native", "matmul", "NumPy", 1.0, "x", "at least", 2.0)
    add_to_history(file, BenchRun("2026", "tiny", "", {}, (row,)))
    return file.read_text()


def read_a_history(text, folder):
    (folder / "r.jsonl").write_text(text)
    return read_history(folder / "r.jsonl")


def library(folder):
    write_library(folder / "l.so", refmlc.read(SCALE))
    return (folder / "l.so").read_text()


def read_a_library(text, folder):
    (folder / "r.so").write_text(text)
    return read_library(folder / "r.so")


# By the name in messages: the writer, the reader, and whether a file without a version is of version 1.
FORMATS = {
    "case": (lambda _: case().toml(), lambda text, _: read_case(text), False),
    "baseline": (baseline, read_a_baseline, False),
    "certificate": (certificate, lambda text, _: read_certificate(text), False),
    "finding of a campaign": (finding, lambda text, _: read_finding(text, "f.toml"), True),
    "generated case": (lambda _: generated().to_json(), lambda text, _: Case.from_json(text), True),
    "file of contracts": (lambda _: CONTRACTS, contracts, True),
    "file of known deviations": (lambda _: KNOWN, lambda text, _: read_expectations(text, "k.toml"), True),
    "history of the bench": (history, read_a_history, True),
    "library": (library, read_a_library, True),
}


def changed(text, version):
    """A file with another version, None: without one."""
    if version is not None:
        return VERSION.sub(lambda match: match[0][: match.start(1) - match.start()] + version, text, count=1)
    without = re.sub(r'^format = 1\n|"format": 1, |, format 1(?=:)', "", text, count=1, flags=re.MULTILINE)
    assert without != text
    return without


@pytest.mark.parametrize("name", FORMATS)
def test_a_writer_writes_the_version_and_its_reader_takes_it(name, tmp_path):
    write, read, _ = FORMATS[name]
    text = write(tmp_path)
    assert VERSION.search(text), text[:200]
    read(text, tmp_path)


@pytest.mark.parametrize("version", ["2", "99", "0"])
@pytest.mark.parametrize("name", FORMATS)
def test_another_version_is_refused_in_one_message(name, version, tmp_path):
    write, read, _ = FORMATS[name]
    with pytest.raises(RefmlcError) as refused:
        read(changed(write(tmp_path), version), tmp_path)
    diagnostic = refused.value.diagnostic
    age = "an older" if version == "0" else "a newer"
    assert diagnostic.code.id == "RM109"
    assert diagnostic.message.endswith(f"is version {version} of the format of a {name}: {age} refmlc wrote it")
    assert diagnostic.notes == ("this refmlc reads version 1",)


@pytest.mark.parametrize("name", FORMATS)
def test_a_file_without_a_version_is_what_the_page_says(name, tmp_path):
    write, read, is_first = FORMATS[name]
    text = changed(write(tmp_path), None)
    (row,) = [line for line in PAGE.splitlines() if f"| {name} |" in line]
    assert row.endswith("| version 1 |" if is_first else "| refused |")
    if is_first:
        read(text, tmp_path)
        return
    with pytest.raises(RefmlcError, match="has no `format`, a whole number"):
        read(text, tmp_path)


@pytest.mark.parametrize("name", FORMATS)
def test_a_version_that_is_no_number_is_refused(name, tmp_path):
    write, read, _ = FORMATS[name]
    if name == "library":  # its first line has a number, or is another line
        return
    with pytest.raises(RefmlcError, match="has no `format`, a whole number"):
        read(changed(write(tmp_path), "true"), tmp_path)


def test_every_format_of_the_sources_is_tested_and_on_the_page():
    declared = re.compile(r'FileFormat\(\s*"([^"]+)"')
    files = sorted((ROOT / "refmlc").rglob("*.py"))
    names = {name for file in files for name in declared.findall(file.read_text(encoding="utf-8"))}
    assert names == set(FORMATS)


def test_the_settings_of_a_campaign_have_a_version():
    text = CampaignSettings().to_toml()
    assert CampaignSettings.from_toml(text) == CampaignSettings()
    for other in (text.replace("format = 1", "format = 2"), text.replace("format = 1\n", "")):
        with pytest.raises(RefmlcError, match="another version of refmlc"):
            CampaignSettings.from_toml(other)


def test_a_trace_has_a_version():
    arguments = [np.ones(3, np.float32), np.empty(3, np.float32)]
    data = as_data(record(Program(refmlc.read(SCALE), "main", arguments)))
    assert (data["format"], data["version"]) == ("refmlc-trace", 1)
    read_data(json.dumps(data))
    with pytest.raises(RefmlcError, match="it is a refmlc-trace of version 2, not refmlc-trace 1"):
        read_data(json.dumps(data | {"version": 2}))
    with pytest.raises(RefmlcError, match="not a trace"):
        read_data(json.dumps({key: value for key, value in data.items() if key != "version"}))


def test_exported_cases_and_their_index_have_a_version(tmp_path):
    exported = replace(case(), id="te.one", clauses=("TIR-001",), features=("float32",))
    data = case_json(exported, "1.0")
    assert (data["format"], data["version"]) == ("refmlc-case", 1)
    checker = jsonschema.Draft202012Validator(load_schema("case.json"))
    checker.validate(data)
    assert not checker.is_valid(data | {"version": 2})
    assert not checker.is_valid({key: value for key, value in data.items() if key != "version"})
    write_suite(Suite("1.0", (exported,)), tmp_path)
    index = json.loads((tmp_path / "index.json").read_text())
    assert (index["format"], index["version"], index["suite"]) == ("refmlc-case", 1, "1.0")
