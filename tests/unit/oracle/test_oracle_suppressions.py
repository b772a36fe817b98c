"""Comments that accept findings: what they accept, what they need, what is said of those that accept nothing."""

import time

import pytest

import refmlc
from refmlc.diag import Diagnostic
from refmlc.diag.catalogue import OUT_OF_BOUNDS
from refmlc.diag.source import Source, Span
from refmlc.oracle.check.suppressions import acceptance, suppression_remarks, suppressions

BEYOND = """
@T.prim_func
def copy(A: T.Buffer((3,), "float32"), B: T.Buffer((3,), "float32")):
    for i in range(3):
{before}
        B[i] = A[i + 1]{after}
"""


def check(before="", after=""):
    indented = "".join(f"        {line}\n" for line in before.split("\n") if line).rstrip("\n")
    return refmlc.check(BEYOND.format(before=indented, after=after), implementations=["interp"], calls=2)


def test_without_a_comment_it_is_a_finding():
    report = check()
    assert (report.ok, report.status, len(report.findings), report.accepted) == (False, 1, 1, ())


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "  # refmlc: allow RM304: the caller pads A"),
        ("", "  #refmlc:allow RM305 , RM304: the caller pads A"),
        ("# refmlc: allow RM304: the caller pads A", ""),
        ("# refmlc: allow RM304: the caller pads A\n# refmlc: allow RM316: other", ""),
    ],
)
def test_a_comment_with_a_reason_accepts(before, after):
    report = check(before, after)
    assert (report.ok, report.status, report.findings) == (True, 0, ())
    (cause,) = report.accepted
    assert (cause.accepted.reason, cause.accepted.external) == ("the caller pads A", False)
    assert any("RM304 is accepted by a comment: the caller pads A" in remark for remark in report.remarks)
    remark = "`copy`: a call is not compared, nor checked further, where accepted undefined behaviour ends it"
    assert remark in report.remarks
    assert report.summary.endswith("1 accepted: no findings")
    (data,) = report.to_json()["accepted"]
    assert (data["code"], data["reason"], data["by"]) == ("RM304", "the caller pads A", "comment")


@pytest.mark.parametrize(
    ("before", "after", "remark"),
    [
        ("", "  # refmlc: allow RM304", "line 6: `allow RM304` accepts nothing without a reason"),
        ("", "  # refmlc: allow RM304:  ", "line 6: `allow RM304` accepts nothing without a reason"),
        ("", "  # refmlc: allow RM305: other", "line 6: `allow RM305` accepts no finding of this check"),
        ("B[i] = A[i]  # refmlc: allow RM304: other line", "", "line 5: `allow RM304` accepts no finding"),
    ],
)
def test_what_accepts_nothing_is_told_and_the_finding_stays(before, after, remark):
    report = check(before, after)
    assert not report.ok
    assert any(line.startswith(remark) for line in report.remarks), report.remarks


def test_only_comments_count_and_no_text():
    source = Source("x.py", 'a = "# refmlc: allow RM304: a text"\nb = 1  # refmlc: allow RM304: a comment\n')
    assert [(row.line, row.target) for row in suppressions(source)] == [(2, 2)]


def test_a_text_that_is_no_python_has_the_comments_before_its_fault():
    source = Source("x.py", "# refmlc: allow RM304: first\nx = '''\n")
    assert [row.target for row in suppressions(source)] == [2]
    assert list(suppression_remarks(source, ())) == ["line 1: `allow RM304` accepts no finding of this check"]


def test_a_finding_without_a_place_has_no_comment():
    assert acceptance(Diagnostic(OUT_OF_BOUNDS, "x")) is None


def test_the_line_must_be_the_one_of_the_finding():
    source = Source("x.py", "a\nb  # refmlc: allow RM304: why\nc\n")
    reasons = [acceptance(Diagnostic(OUT_OF_BOUNDS, "x", Span(source, line, 0, line, 1))) for line in (1, 2, 3)]
    assert [reason and reason.reason for reason in reasons] == [None, "why", None]


def test_a_long_comment_takes_no_time():
    reason = "a" + " " * 200_000 + "b"
    start = time.process_time()
    (row,) = suppressions(Source("t", f"x = 1  # refmlc: allow RM304: {reason}\n"))
    assert row.reason == reason
    assert time.process_time() - start < 5
