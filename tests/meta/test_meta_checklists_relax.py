"""docs/how-to/add-a-relax-operator.md: every operator of Relax has all its parts; what is missing is named."""

from pathlib import Path

import pytest
import write_exact_references
import write_operator_table
from operator_calls import rows

from refmlc.lang.library import OPERATORS, Operator
from refmlc.lang.library.creation import tril
from refmlc.lang.spec import clauses
from refmlc.oracle.exact.definitions.table import DEFINITIONS, WITHOUT

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "how-to" / "add-a-relax-operator.md"
TABLE = (ROOT / "conformance" / "spec" / "graph-operators.md").read_text(encoding="utf-8")
CALLED = {row.operator for row in rows()}
DEFINED = [row for row in OPERATORS.values() if not row.reason]


def missing(row):
    """The parts of the checklist that an operator lacks."""
    parts = []
    if row.clause not in clauses():
        parts.append(f"the clause {row.clause or '(none is named)'} in conformance/spec")
    if not (row.compute.__doc__ or "").strip():
        parts.append(f"a docstring of the function of `{row.name}`: its first line stands in the table")
    if OPERATORS.get(row.name) is not row:
        parts.append(f"`{row.name}` in the tuple of a family, in OPERATORS of refmlc/lang/library/__init__.py")
    if row.name not in CALLED:
        parts.append(f"a call of `{row.name}` in ROWS of tests/operator_calls.py")
    if not write_operator_table.witnesses(row.name, write_operator_table.TESTS):
        parts.append(f"a test of `{row.name}` in tests/unit/lang/library with values from elsewhere")
    if row.name not in DEFINITIONS and row.name not in WITHOUT:
        parts.append(
            f"the exact reference of `{row.name}` in refmlc/oracle/exact/definitions, or the reason in WITHOUT"
        )
    if f"| `{row.name}` |" not in TABLE:
        parts.append(f"the row of `{row.name}` in conformance/spec/graph-operators.md: write_operator_table.py")
    return parts


@pytest.mark.parametrize("row", DEFINED, ids=lambda row: row.name)
def test_an_operator_has_every_part(row):
    assert missing(row) == []


def test_an_operator_without_a_meaning_says_why_and_stands_in_the_table():
    refused = [row for row in OPERATORS.values() if row.reason]
    assert refused
    assert [row.name for row in refused if row.clause not in clauses() or f"| `{row.name}` |" not in TABLE] == []


def test_what_a_new_operator_lacks_is_named():
    named = ["the clause LIB-999", "in OPERATORS", "operator_calls.py", "tests/unit/lang/library", "oracle/exact"]
    named.append("graph-operators.md")
    lacks = missing(Operator("turned", tril, "LIB-999"))
    assert [word for word, part in zip(named, lacks, strict=True) if word not in part] == []


def test_a_function_without_a_docstring_is_named():
    def turned(x):
        return x

    assert "a docstring of the function of `turned`" in missing(Operator("turned", turned, "LIB-999"))[1]


def test_the_page_of_exact_references_is_up_to_date():
    assert write_exact_references.PAGE.read_text(encoding="utf-8") == write_exact_references.text()


def test_the_page_names_every_place():
    text = PAGE.read_text(encoding="utf-8")
    places = (
        "conformance/spec/",
        "refmlc/oracle/exact/definitions/",
        "refmlc/lang/library/creation.py",
        "tests/operator_calls.py",
        "graph-operators.md",
    )
    assert [place for place in places if place not in text] == []
