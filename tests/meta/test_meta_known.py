"""The recorded deviations have the form that `conformance/known/README.md` states and cite existing clauses.

`conformance/FINDINGS.md` is what `write_findings` makes of them.
"""

import re
import tomllib
from pathlib import Path

import numpy as np
import pytest
from write_findings import KINDS, PAGE, anchor, page

from refmlc.diag.catalogue import CODES
from refmlc.lang.spec import clauses

FOLDER = Path(__file__).parents[2] / "conformance" / "known"
WHOLE = "tvm-0.27.toml"
ROWS = tomllib.loads((FOLDER / WHOLE).read_text(encoding="utf-8"))["deviation"]
OLDER = [path for path in sorted(FOLDER.glob("*.toml")) if path.name != WHOLE]
REQUIRED = {"id", "title", "clauses", "kind", "module", "input", "expected", "got", "why", "versions"}
OPTIONAL = {"rank", "action", "steps", "refmlc", "edges", "cases", "verdict", "implementations"}
OPTIONAL |= {"messages", "parts", "takes", "operator", "operand", "nodes", "witness", "c_error", "guilty"}
SCHEDULED = {"schedule", "schedule-run"}
PASSED = {"pass", "pass-run"}
ACTIONS = (
    {"run", "run-c", "gradient", "legalize", "show", "type", "import", "torch", "layout", "reread"} | SCHEDULED | PASSED
)
LINES = 12

each = pytest.mark.parametrize("row", ROWS, ids=[row["id"] for row in ROWS])


@pytest.mark.parametrize("path", OLDER, ids=lambda path: path.stem)
def test_files_of_older_versions_hold_expectations_besides(path):
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    assert data["also"] == WHOLE
    for row in data.get("deviation", []):
        assert set(row) <= {"id", "title", "why", "cases", "verdict"} >= {"id", "cases"}
        assert row["title"]
        assert row["why"]


def test_ids_are_unique():
    assert len({row["id"] for row in ROWS}) == len(ROWS) > 0


@each
def test_fields(row):
    assert REQUIRED <= set(row) <= REQUIRED | OPTIONAL
    assert row["kind"] in KINDS
    assert row.get("action", "run") in ACTIONS
    assert ("steps" in row) == (row.get("action") in SCHEDULED | PASSED)
    assert ("nodes" in row) >= (row.get("action") == "import") >= ("witness" in row)
    assert all(isinstance(step, str) == (row["action"] in PASSED) for step in row.get("steps", ()))
    assert ("cases" in row) == ("verdict" in row)
    assert ("guilty" in row) <= (row.get("action", "run") in ("run", "run-c", "legalize"))
    assert ("c_error" in row) == str(row["got"]).startswith("RuntimeError: Compilation error:")
    assert len(row["module"].splitlines()) <= LINES
    assert row["versions"]
    assert repr(row["expected"]) != repr(row["got"])  # 0 and -0 are two


@each
def test_clauses_exist(row):
    assert row["clauses"]
    if row.get("action") == "import":
        assert all(re.fullmatch(r"ONNX \w+-\d+", name) for name in row["clauses"])
        return
    if row.get("action") == "torch":
        (name,) = row["clauses"]
        assert row["module"].startswith(f"{name.removeprefix('PyTorch ')}(")
        return
    assert set(row["clauses"]) <= set(clauses())


@pytest.mark.needs("onnx")
@pytest.mark.parametrize("row", [row for row in ROWS if row.get("action") == "import"], ids=lambda row: row["id"])
def test_operators_of_onnx_exist_in_their_versions(row):
    import onnx  # noqa: PLC0415 - an optional package

    model = onnx.parser.parse_model(row["module"])
    opset = model.opset_import[0].version
    for name in row["clauses"]:
        operator, _, version = name.removeprefix("ONNX ").partition("-")
        assert onnx.defs.get_schema(operator, opset, "").since_version == int(version)
    operators = {node.op_type for node in model.graph.node}
    assert {node.split()[0] for node in row["nodes"]} & {*operators, "*"}


@each
def test_codes_exist(row):
    words = [row[field] for field in ("expected", "got", "refmlc") if isinstance(row.get(field), str)]
    assert {word for word in words if re.fullmatch(r"RM\d+", word)} <= set(CODES)


@each
def test_kinds_state_what_belongs_to_them(row):
    refused = isinstance(row["expected"], str) and row["expected"].startswith(("RM2", "RM3", "RM4"))
    assert refused or row["kind"] != "missing check" or row.get("action") in SCHEDULED
    assert row["kind"] != "undefined code" or row["got"].startswith(("RM2", "RM3"))
    said = "Error: " in row["got"] or str(row["got"]).startswith("the process ended with status")
    assert row["kind"] not in {"internal error", "refused"} or said
    assert row["kind"] != "crash" or row["got"].startswith("SIG")


@pytest.mark.parametrize("row", [row for row in ROWS if row["kind"] == "less exact"], ids=lambda row: row["id"])
def test_what_is_less_exact_is_near(row):
    (_, expected), (_, got) = row["expected"], row["got"]
    assert np.allclose(got, expected, rtol=2**-7, atol=2**-24, equal_nan=True)
    assert not np.allclose(got, expected, rtol=0, atol=0) or np.signbit(got).tolist() != np.signbit(expected).tolist()


def test_floats_as_reals_are_one_cause_that_the_maintainers_know():
    rows = {row["id"]: row for row in ROWS if row["kind"] == "floats as reals"}
    causes = [row for row in rows.values() if not row["why"].strip().startswith("As `")]
    assert [row["id"] for row in causes] == ["times-zero"]
    assert "apache/tvm#11373" in causes[0]["why"]
    assert all(row["why"].strip().startswith("As `times-zero`") for row in rows.values() if row not in causes)
    programs = [row for row in rows.values() if row.get("action") != "torch"]
    assert all(row["takes"] for row in programs)  # each is executed: the rule explains the result
    assert len(programs) >= 8


def test_the_page_says_what_the_rows_say():
    assert PAGE.read_text(encoding="utf-8") == page(ROWS), "python tests/meta/write_findings.py"


def test_the_page_counts_rows_and_causes():
    rows = [{**ROWS[0], "kind": "crash", "why": why} for why in ("One.", "As `one`.", "As `one`: more.", "Two.")]
    assert "| [crash](#crash) | 4 | 2 |" in page(rows)


def test_the_rows_that_are_listed_first():
    ranked = [row for row in ROWS if "rank" in row]
    assert sorted(row["rank"] for row in ranked) == list(range(1, len(ranked) + 1))
    assert {row["kind"] for row in ranked} <= {"wrong result", "undefined code"}


def test_anchors_are_those_of_github():
    assert anchor("ne-nan: `!=` is False of NaN") == "ne-nan--is-false-of-nan"


def test_each_link_of_the_page_leads_to_a_heading():
    text = PAGE.read_text(encoding="utf-8")
    headings = {anchor(line.lstrip("# ")) for line in text.splitlines() if line.startswith(("## ", "### "))}
    links = set(re.findall(r"\]\(#([^)]+)\)", text))
    assert len(links) > len(KINDS)
    assert links <= headings
