"""Rows of expectations: read, chosen by name and version, held against results, strictly."""

import pytest

from refmlc.diag import RefmlcError
from refmlc.oracle.suite.expectations import applied, expectations_for, load_expectations, read_expectations, unmatched
from refmlc.oracle.suite.result import CallResult, CaseVerdict, case_result
from refmlc.oracle.suite.runner import reported
from refmlc.oracle.suite.suite import Suite

ROW = """
[[deviation]]
id = "nan"
title = "NaN is lost"
why = "it takes floats for ordered"
cases = ["a.nan.*", "b"]
verdict = "fail"
versions = ["1.0"]
"""


def results(**verdicts):
    return [case_result(name, [CallResult(verdict)]) for name, verdict in verdicts.items()]


def result(name, verdict):
    return case_result(name, [CallResult(verdict, "so")])


def test_a_deviation_that_is_known_is_expected():
    (found,) = applied([result("a.nan.max", CaseVerdict.FAIL)], read_expectations(ROW, "rows"))
    assert (found.verdict, found.was, found.known, found.expected) == (CaseVerdict.KNOWN, CaseVerdict.FAIL, "nan", True)


@pytest.mark.parametrize(
    "verdict", [CaseVerdict.PASS, CaseVerdict.PERMITTED, CaseVerdict.UNSUPPORTED, CaseVerdict.CRASH]
)
def test_another_verdict_than_the_one_that_is_known_is_unexpected(verdict):
    (found,) = applied([result("b", verdict)], read_expectations(ROW, "rows"))
    assert found.verdict is verdict
    assert not found.expected
    assert found.unexpected == f"`nan` expects fail; the verdict is {verdict.value}"


def test_what_no_row_names_stays():
    found = applied(
        [result("c", CaseVerdict.PASS), result("a.nanny", CaseVerdict.FAIL)], read_expectations(ROW, "rows")
    )
    assert [(each.verdict, each.expected) for each in found] == [(CaseVerdict.PASS, True), (CaseVerdict.FAIL, False)]


def test_one_of_several_rows_is_enough():
    rows = read_expectations(ROW + ROW.replace('"nan"', '"other"').replace('"fail"', '["crash", "timeout"]'), "rows")
    found = applied([result("b", CaseVerdict.TIMEOUT), result("b", CaseVerdict.PASS)], rows)
    assert [(each.verdict, each.known, each.expected) for each in found] == [
        (CaseVerdict.KNOWN, "other", True),
        (CaseVerdict.PASS, "", False),
    ]


def test_a_pattern_that_fits_no_case_is_a_problem():
    rows = read_expectations(ROW, "rows.toml")
    assert unmatched(rows, ["a.nan.max", "b"]) == ()
    assert unmatched(rows, ["a.nan.max", "bb"]) == ("rows.toml, `nan`: no case is called `b`",)


def test_a_row_holds_for_its_versions_and_names():
    rows = read_expectations(ROW + 'implementations = ["*,target=c"]\n', "rows")
    assert len(rows.of("tvm:python,target=c", "1.0").rows) == 1
    assert rows.of("tvm:python,target=c", "1.0.1").rows == ()
    assert rows.of("tvm:python", "1.0").rows == ()


@pytest.mark.parametrize(
    ("patterns", "names"),
    [
        ('["!*mode=compiled*"]', ["tvm:python", "tvm:python,opt=0"]),
        ('["*opt=0*", "!*mode=compiled*"]', ["tvm:python,opt=0"]),
    ],
)
def test_a_row_may_leave_ways_out(patterns, names):
    rows = read_expectations(f"{ROW}implementations = {patterns}\n", "rows")
    ways = ["tvm:python", "tvm:python,opt=0", "tvm:python,mode=compiled", "tvm:python,opt=0,mode=compiled"]
    assert [name for name in ways if rows.of(name, "1.0").rows] == names


def test_rows_that_name_no_case_say_nothing():
    assert read_expectations('[[deviation]]\nid = "x"\nwhy = "y"\n', "rows").rows == ()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[[deviation]", "is not TOML"),
        ("deviation = 3", "not an array of tables"),
        (ROW.replace('"fail"', '"wrong"'), "`verdict` is 'wrong'"),
        (ROW.replace('"fail"', '"known"'), "`verdict` is 'known'"),
        (ROW.replace('verdict = "fail"', ""), "`verdict` is None"),
        (ROW.replace('["a.nan.*", "b"]', "[]"), "`cases` is empty"),
        (ROW.replace('["a.nan.*", "b"]', '"b"'), "`cases` is not a list"),
        (ROW.replace('why = "it takes floats for ordered"', ""), "`why` is missing"),
        (ROW.replace('id = "nan"', ""), "has no `id`"),
        (ROW.replace('["1.0"]', "[1.0]"), "`versions` is not a list"),
        (ROW.replace("versions", "verson"), "`rows`, `nan`: unknown key `verson`"),
        (ROW.replace("[[deviation]]", "[[deviatoin]]"), "`rows`: unknown key `deviatoin`"),
    ],
)
def test_a_broken_file_is_told(text, words):
    with pytest.raises(RefmlcError) as caught:
        read_expectations(text, "rows")
    assert caught.value.code.id == "RM109"
    assert words in caught.value.diagnostic.message


def test_the_file_is_chosen_by_name_and_version(tmp_path):
    for name in ("tvm.toml", "tvm-0.2.toml", "tvm-0.27.toml", "other-0.27.toml"):
        (tmp_path / name).write_text(ROW.replace('versions = ["1.0"]', "").replace('"nan"', f'"{name}"'))

    def chosen(name, version):
        return [row.id for row in expectations_for(name, version, tmp_path).rows]

    assert chosen("tvm:/usr/bin/python", "0.27.0.post1") == ["tvm-0.27.toml"]
    assert chosen("tvm:/usr/bin/python", "0.2.9") == ["tvm-0.2.toml"]
    assert chosen("tvm", "0.26") == ["tvm.toml"]
    assert chosen("tvm", "") == ["tvm.toml"]
    assert chosen("numpy", "1") == []


def test_the_rows_of_another_file_hold_too_but_for_those_that_are_replaced(tmp_path):
    other = ROW.replace('["1.0"]', '["1.0", "0.9"]')
    (tmp_path / "mine-1.0.toml").write_text(other + other.replace('id = "nan"', 'id = "more"'))
    own = ROW.replace('["1.0"]', '["0.9"]').replace('"fail"', '"crash"')
    (tmp_path / "mine-0.9.toml").write_text('also = "mine-1.0.toml"\n' + own)
    found = expectations_for("mine", "0.9", tmp_path).rows
    assert [(row.id, row.verdicts) for row in found] == [("nan", (CaseVerdict.CRASH,)), ("more", (CaseVerdict.FAIL,))]
    assert expectations_for("mine", "1.0", tmp_path).rows[0].verdicts == (CaseVerdict.FAIL,)


def test_a_row_without_cases_takes_a_row_of_another_file_away(tmp_path):
    (tmp_path / "mine-1.0.toml").write_text(ROW.replace('["1.0"]', '["1.0", "0.9"]'))
    (tmp_path / "mine-0.9.toml").write_text('also = "mine-1.0.toml"\n[[deviation]]\nid = "nan"\n')
    assert expectations_for("mine", "0.9", tmp_path).rows == ()
    assert [row.id for row in expectations_for("mine", "1.0", tmp_path).rows] == ["nan"]


@pytest.mark.parametrize("named", ['"gone.toml"', '"../other.toml"', "3", '"itself.toml"'])
def test_another_file_that_cannot_be_is_told(tmp_path, named):
    path = tmp_path / "itself.toml"
    path.write_text(f"also = {named}\n")
    with pytest.raises(RefmlcError) as caught:
        load_expectations(path)
    assert caught.value.code.id == "RM109"


def test_a_file_that_is_not_there_is_told(tmp_path):
    with pytest.raises(RefmlcError, match="No such file"):
        load_expectations(tmp_path / "none.toml")


def test_the_files_that_come_with_refmlc_are_read():
    assert expectations_for("tvm", "0.27.0.post1").source.endswith("tvm-0.27.toml")


def test_a_run_in_which_nothing_was_compared_is_not_as_expected():
    suite = Suite("1", (), {})
    for verdict in (CaseVerdict.UNSUPPORTED, None):
        report = reported(suite, ("x", "1"), [result("b", verdict)])
        assert not report.ok
        assert report.problems == ("nothing was compared: no case has a scored answer",)
    assert reported(suite, ("x", "1"), [result("b", CaseVerdict.PASS)]).ok
