"""Every code is explained, is raised somewhere, and has a golden case."""

import re
import tomllib
from pathlib import Path

import pytest

from refmlc.diag import catalogue
from refmlc.diag.catalogue import CODES
from refmlc.diag.examples import EXAMPLES
from refmlc.diag.examples_run import ADVICE, RUN
from refmlc.diag.examples_text import TEXT

ROOT = Path(__file__).parents[2]
CASES = ROOT / "tests" / "golden" / "diagnostics"
NAMES = {row.id: name for name, row in vars(catalogue).items() if isinstance(row, catalogue.Code)}
SOURCE = "\n".join(
    path.read_text(encoding="utf-8")
    for path in sorted((ROOT / "refmlc").rglob("*.py"))
    if path.parent.name != "codes" and path.name != "catalogue.py"
)
NO_PROGRAM_ENDS_IN_IT = {"RM901", "RM902"}


def golden_codes():
    found = {tomllib.loads(path.read_text(encoding="utf-8"))["code"] for path in CASES.glob("*.toml")}
    calls = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests" / "golden").glob("test_*.py"))
    return found | set(re.findall(r"\bRM[0-9]{3}\b", calls))


@pytest.mark.parametrize("row", CODES.values(), ids=lambda row: row.id)
def test_code_is_explained_in_sentences(row):
    assert row.explanation.endswith((".", "`"))
    assert len(row.explanation) > 60
    assert not row.title.endswith(".")
    assert row.id in EXAMPLES or row.id in NO_PROGRAM_ENDS_IN_IT


def test_no_text_that_means_something_else_is_proposed():
    """What has no meaning here has no rewriting either: an advice stands in its place."""
    assert {name for name, text in EXAMPLES.items() if "Instead of" not in text} == set(ADVICE)
    assert {"RM501", "RM502", "RM504"} <= set(ADVICE)
    assert not set(ADVICE) & (set(RUN) | set(TEXT))


def test_findings_on_programs_follow_from_clauses():
    assert [row.id for row in CODES.values() if row.id[2] in "234" and not row.clause] == []


def test_only_codes_have_examples():
    assert set(EXAMPLES) <= set(CODES)
    assert "```python\nA[i] = 1\n```" in CODES["RM101"].example
    assert CODES["RM901"].example == ""


def test_every_code_is_raised_somewhere():
    assert [name for name in NAMES.values() if not re.search(rf"\b{name}\b", SOURCE)] == []


def test_every_code_has_a_golden_case():
    assert set(CODES) - golden_codes() - NO_PROGRAM_ENDS_IN_IT == set()


def test_ids_are_unique_and_in_order_in_their_file():
    files = sorted((ROOT / "refmlc" / "diag" / "codes").glob("*.py"))
    by_file = [re.findall(r'Code\(\s*"(RM[0-9]{3})"', path.read_text(encoding="utf-8")) for path in files]
    assert [ids for ids in by_file if ids != sorted(set(ids))] == []
    assert sorted(one for ids in by_file for one in ids) == list(CODES) == sorted(NAMES)
