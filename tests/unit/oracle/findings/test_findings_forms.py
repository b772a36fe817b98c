"""SARIF, JUnit and annotations of the same findings: against their schemas, with places, and with hostile text."""

import io
import json
from dataclasses import replace
from pathlib import Path

import pytest
import xmlschema
from pydantic import ValidationError
from pydantic_sarif.model import StaticAnalysisResultsFormatSarifVersion210JsonSchema as Sarif

import refmlc
from refmlc.diag import Diagnostic, RefmlcError, fail
from refmlc.diag.catalogue import BUG, OUT_OF_BOUNDS, UNSUPPORTED_CONSTRUCT
from refmlc.diag.errors import Internal
from refmlc.oracle.check.baseline import row_of
from refmlc.oracle.findings import CheckedFile, annotations, junit, sarif
from refmlc.oracle.findings.files import uri_of, with_fingerprints

JUNIT = Path(__file__).parents[1] / "suite" / "junit.xsd"
TEXT = """# a module
from tvm.script import ir as I, tirx as T
@I.ir_module
class Module:
    @T.prim_func
    def good(A: T.Buffer((3,), "float32"), B: T.Buffer((3,), "float32")):
        for i in range(3):
            B[i] = A[i]

    @T.prim_func
    def bad(A: T.Buffer((3,), "float32"), B: T.Buffer((3,), "float32")):
        for i in range(3):
            B[i] = A[i + 1]

    @T.prim_func
    def known(A: T.Buffer((3,), "float32"), B: T.Buffer((3,), "float32")):
        for i in range(3):
            B[i] = A[i + 1]  # refmlc: allow RM304: the caller pads A
"""
EVIL = "x`](http://evil.example) {0} \x1b[31m\x00]]>&<![CDATA[ \n::set-env name=PATH::evil\r::error::, 100%"
FOLDER = Path("/home/me")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("forms")


@pytest.fixture(scope="module")
def checked(folder):
    path = folder / "k" / "a b.py"
    path.parent.mkdir()
    path.write_text(TEXT)
    return CheckedFile(path, refmlc.check(path, implementations=["interp"], calls=2))


@pytest.fixture(scope="module")
def unread(folder):
    path = folder / "broken.py"
    path.write_text("@T.prim_func\ndef f(:\n")
    with pytest.raises(RefmlcError) as caught:
        refmlc.check(path)
    return CheckedFile(path, failure=caught.value)


@pytest.fixture(scope="module")
def evil(checked):
    """The report with a message that holds what each format could take for its own."""
    report = checked.report
    cause = report.causes[0]
    diagnostic = replace(cause.finding.diagnostic, message=EVIL, label="label")
    changed = replace(cause, finding=replace(cause.finding, diagnostic=diagnostic))
    report = replace(report, title="evil")
    report.__dict__["all_causes"] = (changed,)
    return CheckedFile(Path("e,v:il\n/a b.py"), report)


def limit():
    return CheckedFile(Path("limit.py"), failure=fail(UNSUPPORTED_CONSTRUCT, "`while` of ours"))


def results(log):
    Sarif.model_validate(json.loads(json.dumps(log, allow_nan=False)))
    return log["runs"][0]["results"]


# ------------------------------------------------------------------------------------------ SARIF


def test_sarif_is_as_its_schema_says_and_has_every_finding(checked, unread, folder):
    log = sarif([checked, unread, limit()], folder)
    assert log["version"] == "2.1.0"
    rows = results(log)
    assert [row["ruleId"] for row in rows] == ["RM304", "RM304", "RM101"]
    assert [row["level"] for row in rows] == ["error", "error", "error"]
    rules = log["runs"][0]["tool"]["driver"]["rules"]
    assert [rules[row["ruleIndex"]]["id"] for row in rows] == [row["ruleId"] for row in rows]
    place = rows[0]["locations"][0]["physicalLocation"]
    line = TEXT.split("\n")[12]
    column = line.index("A[i + 1]") + 1
    assert place == {
        "artifactLocation": {"uri": "k/a%20b.py"},
        "region": {"startLine": 13, "startColumn": column, "endLine": 13, "endColumn": column + len("A[i + 1]")},
    }
    assert rows[0]["locations"][0]["logicalLocations"] == [{"name": "bad", "kind": "function"}]
    assert rows[0]["message"]["text"].startswith(
        "load from `A` is out of bounds: index 0 is 3, extent is 3\nnote: i = 2"
    )
    assert rows[0]["relatedLocations"][0]["physicalLocation"]["region"]["startLine"] == 11


def test_accepted_findings_are_suppressed_with_their_reason(checked, folder):
    first, second = results(sarif([checked], folder))
    assert first["suppressions"] == []
    assert second["suppressions"] == [{"kind": "inSource", "justification": "the caller pads A"}]
    rows = tuple(replace(row_of(cause.finding, "x"), reason="old") for cause in checked.report.causes)
    old = replace(checked, report=replace(checked.report, baseline=rows))
    assert results(sarif([old], folder))[0]["suppressions"][0]["kind"] == "external"


def test_what_was_not_checked_is_a_notification_and_no_result(folder):
    bug = CheckedFile(Path("bug.py"), failure=Internal(Diagnostic(BUG, "oh")))
    log = sarif([limit()], folder)
    assert results(log) == []
    (invocation,) = log["runs"][0]["invocations"]
    assert invocation["executionSuccessful"] is True
    (notice,) = invocation["toolExecutionNotifications"]
    assert (notice["level"], notice["message"]["text"]) == ("note", "`while` of ours")
    (invocation,) = sarif([bug], folder)["runs"][0]["invocations"]
    assert invocation["executionSuccessful"] is False
    assert invocation["toolExecutionNotifications"][0]["level"] == "error"


def test_hostile_text_is_no_link_no_placeholder_and_no_control(evil, folder):
    (row,) = results(sarif([evil], folder))
    text = row["message"]["text"]
    assert "\x1b" not in text
    assert "{{0}}" in text
    assert "http" in text
    assert row["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "e%2Cv%3Ail%0A/a%20b.py"
    linked = replace(evil.report.causes[0].finding.diagnostic, message="see [me](http://evil.example) [0]")
    cause = evil.report.causes[0]
    evil.report.__dict__["all_causes"] = (replace(cause, finding=replace(cause.finding, diagnostic=linked)),)
    assert results(sarif([evil], folder))[0]["message"]["text"].startswith("see \\[me](http://evil.example) [0]")
    evil.report.__dict__["all_causes"] = (cause,)


def test_the_schema_of_sarif_is_no_sieve(checked, folder):
    for break_it in (
        lambda log: log.update(version="2.0.0"),
        lambda log: log["runs"][0].pop("tool"),
        lambda log: log["runs"][0]["results"][0].update(level="fatal"),
        lambda log: log["runs"][0]["results"][0].pop("message"),
        lambda log: log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"].update(startLine=0),
    ):
        log = json.loads(json.dumps(sarif([checked], folder)))
        break_it(log)
        with pytest.raises(ValidationError):
            Sarif.model_validate(log)


def test_fingerprints_follow_a_finding_when_lines_move_and_differ_within_a_file(tmp_path):
    path = tmp_path / "x.py"
    marks = []
    for head in ("", "\n\n# moved\n"):
        path.write_text(head + TEXT)
        file = CheckedFile(path, refmlc.check(path, implementations=["interp"], calls=2))
        marks.append([mark for _, mark in with_fingerprints(file.findings())])
    assert marks[0] == marks[1]
    assert len({*marks[0]}) == 2
    (first, _) = file.findings()
    assert len({mark for _, mark in with_fingerprints([first, first])}) == 2


@pytest.mark.parametrize(
    ("name", "uri"),
    [
        ("k/x.py", "k/x.py"),
        ("./k/../x.py", "x.py"),
        ("/home/me/k/x.py", "k/x.py"),
        ("../you/x y.py", "file:///home/you/x%20y.py"),
        ("<stdin>", "%3Cstdin%3E"),
        ("a\udcff.py", "a%FF.py"),
        ("../you/\udcff.py", "file:///home/you/%FF.py"),
    ],
)
def test_files_as_references(name, uri):
    assert uri_of(name, FOLDER) == uri


def test_a_place_in_the_module_of_a_model_is_no_place_of_the_model(checked, folder):
    model = CheckedFile(folder / "net.onnx", checked.report)
    assert "region" not in results(sarif([model], folder))[0]["locations"][0]["physicalLocation"]
    assert "line=" not in annotations([model])


# ------------------------------------------------------------------------------------------ JUnit


def test_junit_is_as_its_schema_says_and_has_every_function(checked, unread):
    text = junit([checked, unread, limit()])
    schema = xmlschema.XMLSchema(JUNIT)
    schema.validate(io.BytesIO(text.encode()))
    first, second, third = schema.to_dict(io.BytesIO(text.encode()))["testsuite"]
    assert [first[f"@{name}"] for name in ("tests", "failures", "errors", "skipped")] == [3, 1, 0, 0]
    cases = {case["@name"]: case for case in first["testcase"]}
    assert set(cases["good"]) == {"@classname", "@name"} == set(cases["known"])
    assert cases["bad"]["failure"]["@message"] == "RM304: load from `A` is out of bounds"
    assert "a b.py:13:20" in cases["bad"]["failure"]["$"]
    assert second["testcase"][0]["error"]["@type"] == "RM101"
    assert third["testcase"][0]["error"]["@message"] == "RM504: `while` of ours"


def test_a_function_that_is_not_checked_is_skipped(tmp_path):
    path = tmp_path / "x.py"
    path.write_text(TEXT)
    bare = replace(refmlc.check(path, implementations=[], calls=1), named=True)
    text = junit([CheckedFile(path, bare)])
    xmlschema.XMLSchema(JUNIT).validate(io.BytesIO(text.encode()))
    assert text.count('<skipped message="only the meaning was executed') == 1
    problem = replace(bare, rows=(replace(bare.rows[0], examination=None, problem=Diagnostic(OUT_OF_BOUNDS, "why")),))
    assert '<skipped message="RM304: why" />' in junit([CheckedFile(path, problem)])


def test_hostile_text_stays_text_in_junit(evil):
    text = junit([evil])
    xmlschema.XMLSchema(JUNIT).validate(io.BytesIO(text.encode()))
    assert "\x00" not in text
    assert "<![CDATA[" not in text


# ------------------------------------------------------------------------------------------ annotations


def test_annotations_stand_on_the_lines(checked, unread):
    first, second = annotations([checked, unread]).splitlines()
    assert first.startswith(
        f"::error file={checked.path.as_posix()},line=13,endLine=13,col=20,endColumn=28,title=RM304%3A "
    )
    assert "::load from `A` is out of bounds: index 0 is 3, extent is 3%0Anote: i = 2" in first
    assert second.startswith(f"::error file={unread.path.as_posix()},line=2,")


def test_what_was_not_checked_is_a_notice():
    assert annotations([limit()]) == "::notice file=limit.py,title=RM504%3A not checked::`while` of ours\n"


def test_hostile_text_ends_no_command(evil):
    (line,) = annotations([evil]).splitlines()
    assert line.startswith("::error file=e%2Cv%3Ail%0A/a b.py,line=13,")
    assert line.count("::error ") == 1
    assert "%0A::set-env" in line
    assert "100%25" in line
    assert "\x1b" not in line
