"""Every code is explained, is raised somewhere, and has a golden case."""

import re
import tomllib
from pathlib import Path

import pytest

from refmlc.diag import catalogue
from refmlc.diag.catalogue import CODES

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "tests" / "golden"
NAMES = {row.id: name for name, row in vars(catalogue).items() if isinstance(row, catalogue.Code)}
WORDS = {
    word
    for path in sorted((ROOT / "refmlc").rglob("*.py"))
    if path.parent.name != "codes" and path.name != "catalogue.py"
    for word in re.findall(r"\w+", path.read_text(encoding="utf-8"))
}
NO_PROGRAM_ENDS_IN_IT = {"RM901", "RM902", "RM903"}


def golden_codes():
    files = [path for folder in ("diagnostics", "sanitize") for path in (GOLDEN / folder).glob("*.toml")]
    found = {tomllib.loads(path.read_text(encoding="utf-8"))["code"] for path in files}
    calls = "\n".join(path.read_text(encoding="utf-8") for path in GOLDEN.glob("test_*.py"))
    return found | set(re.findall(r"\bRM[0-9]{3}\b", calls))


@pytest.mark.parametrize("row", CODES.values(), ids=lambda row: row.id)
def test_code_is_explained_in_sentences(row):
    assert row.explanation.endswith((".", "`"))
    assert len(row.explanation) > 60
    assert not row.title.endswith(".")
    assert bool(row.example) != (row.id in NO_PROGRAM_ENDS_IN_IT)


def test_no_text_that_means_something_else_is_proposed():
    """What has no meaning here has no rewriting either: an advice stands in its place."""
    assert {"RM501", "RM502", "RM504"} <= {row.id for row in CODES.values() if row.example.startswith("For example")}


def test_findings_on_programs_follow_from_clauses():
    assert [row.id for row in CODES.values() if row.id[2] in "234" and not row.clause] == []


def test_an_example_shows_the_fault_and_the_correction():
    assert CODES["RM101"].example == "Instead of\n\n```python\nA[i = 1\n```\n\nwrite\n\n```python\nA[i] = 1\n```"


def test_every_code_is_raised_somewhere():
    assert [name for name in NAMES.values() if name not in WORDS] == []


def test_every_code_has_a_golden_case():
    assert set(CODES) - golden_codes() - NO_PROGRAM_ENDS_IN_IT == set()


def test_ids_are_unique_and_in_order_in_their_file():
    files = sorted((ROOT / "refmlc" / "diag" / "codes").glob("*.py"))
    by_file = [re.findall(r'Code\(\s*"(RM[0-9]{3})"', path.read_text(encoding="utf-8")) for path in files]
    assert [ids for ids in by_file if ids != sorted(set(ids))] == []
    assert sorted(one for ids in by_file for one in ids) == list(CODES) == sorted(NAMES)
