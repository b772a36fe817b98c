"""A baseline: what it accepts, how it is written and read, what is refused."""

import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

import refmlc
from refmlc.diag import Malformed
from refmlc.oracle.check.baseline import LARGEST, BaselineFile, BaselineRow, read_baseline, row_of, unused

TEXT = """
@T.prim_func
def copy(A: T.Buffer((3,), "float32"), B: T.Buffer((3,), "float32")):
    for i in range(3):
        B[i] = A[i + 1]
"""
TWICE = TEXT + TEXT.replace("def copy", "def again")
ROW = BaselineRow("k/x.py", "copy", "RM304", "", "B[i] = A[i + 1]", "load from `A` is out of bounds", "the caller pads")


def check(text, *rows, line="\n"):
    report = refmlc.check(line + text, implementations=["interp"], calls=2)
    return replace(report, baseline=rows)


def test_a_row_accepts_its_finding_wherever_the_line_is():
    for line in ("\n", "\n\n\n# moved\n"):
        report = check(TEXT, ROW, line=line)
        assert (report.ok, report.status) == (True, 0)
        (cause,) = report.accepted
        assert (cause.accepted.reason, cause.accepted.external) == ("the caller pads", True)


@pytest.mark.parametrize(
    "change", [{"function": "other"}, {"code": "RM305"}, {"text": "B[i] = A[i + 2]"}, {"implementation": "native"}]
)
def test_another_row_accepts_nothing(change):
    report = check(TEXT, replace(ROW, **change))
    assert not report.ok
    stale = "the baseline accepts RM304 in `copy`, which is no finding any more" in report.remarks
    assert stale is ("text" in change or "implementation" in change)


def test_a_row_accepts_one_finding():
    report = check(TWICE, ROW)
    assert [finding.code.id for finding in report.findings] == ["RM304"]
    assert len(report.accepted) == 1


def test_a_fault_of_two_functions_needs_a_row_for_each():
    macro = "@T.macro\ndef load(A, B, i):\n    B[i] = A[i + 1]\n"
    text = macro + TWICE.replace("B[i] = A[i + 1]", "load(A, B, i)")
    (cause,) = check(text).causes
    assert [finding.case.func for finding in cause.of_functions] == ["copy", "again"]
    partly, again = check(text, ROW), replace(ROW, function="again")
    assert [finding.code.id for finding in partly.findings] == ["RM304"]
    assert not any("no finding any more" in remark for remark in partly.remarks)
    whole = check(text, ROW, again)
    assert (whole.ok, len(whole.accepted)) == (True, 1)
    assert not any("no finding any more" in remark for remark in whole.remarks)


def test_rows_of_a_finding():
    (cause,) = check(TEXT).causes
    assert row_of(cause.finding, "k/x.py") == replace(ROW, reason="")


def test_what_is_written_is_read_back(tmp_path):
    hostile = replace(ROW, file='k/"x\\".py\n', text="a = '''\x1b[31m'''", reason='"""')
    baseline = BaselineFile(tmp_path / "b.toml", (ROW, hostile))
    baseline.write()
    assert read_baseline(tmp_path / "b.toml") == baseline
    assert tomllib.loads((tmp_path / "b.toml").read_text())["format"] == 1


def test_files_are_named_from_the_folder_of_the_baseline(tmp_path):
    baseline = BaselineFile(tmp_path / "ci" / "b.toml", (replace(ROW, file="../k/x.py"),))
    assert baseline.name_of(tmp_path / "k" / "x.py") == "../k/x.py"
    assert baseline.of_file(tmp_path / "k" / "x.py") == baseline.rows
    assert baseline.of_file(tmp_path / "x.py") == ()


def test_an_update_keeps_reasons_and_other_files_and_drops_what_is_gone(tmp_path):
    file = tmp_path / "x.py"
    (first, second) = check(TWICE).causes
    other = replace(ROW, file="y.py")
    gone = replace(ROW, file="x.py", function="gone")
    known = replace(row_of(first.finding, "x.py"), reason="known")
    baseline = BaselineFile(tmp_path / "b.toml", (other, gone, known))
    updated = baseline.updated([file], [(file, first.finding), (file, second.finding)])
    assert updated.rows == (replace(row_of(second.finding, "x.py")), known, other)


def test_unused_rows():
    assert unused([ROW, ROW], [ROW.key]) == [ROW]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[finding]]\n", "has no `format`"),
        ("format = 2\n", "version 2 of the format of a baseline: a newer refmlc wrote it"),
        ("format = 1\nother = 2\n", "a baseline has `format` and `[[finding]]`"),
        ("format = 1\nfinding = 2\n", "a baseline has `format` and `[[finding]]`"),
        ('format = 1\n[[finding]]\nfile = "x"\n', "finding 1 is no table of the texts file, function, code"),
        ('format = 1\n[[finding]]\nwhat = "x"\n', "finding 1 is no table"),
        ("format = 1\n[[finding]]\nfile = 1\n", "finding 1 is no table"),
        ("format = \n", "is not TOML"),
        ("x = " + "[" * 5000, "is not TOML"),
    ],
)
def test_what_is_no_baseline_is_refused(tmp_path, text, message):
    (tmp_path / "b.toml").write_text(text)
    with pytest.raises(Malformed, match=r"RM109") as caught:
        read_baseline(tmp_path / "b.toml")
    assert message in caught.value.diagnostic.message


def test_a_file_that_is_too_large(tmp_path):
    (tmp_path / "b.toml").write_text("format = 1\n" + "# c\n" * (LARGEST // 4))
    with pytest.raises(Malformed, match="more than 16777216 bytes"):
        read_baseline(tmp_path / "b.toml")


def test_a_file_that_is_none(tmp_path):
    with pytest.raises(Malformed, match="No such file"):
        read_baseline(tmp_path / "gone.toml")
    with pytest.raises(Malformed, match="No such file"):
        BaselineFile(tmp_path / "gone" / "b.toml").write()
    assert Path(tmp_path).is_dir()
