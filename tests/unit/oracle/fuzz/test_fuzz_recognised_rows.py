"""A failure that a row of `conformance/known` records is like that row, whatever its program calls its parts."""

import re

import pytest

import refmlc
from refmlc.oracle.fuzz.finding_pattern import Pattern, failure_words, names_in_program
from refmlc.oracle.fuzz.likeness import like_row
from refmlc.oracle.fuzz.row_looks import CODE, RESULTS, RUNS
from refmlc.oracle.record import rows_on_record
from refmlc.rewrite.transform.normal_form import normalize

SAYS = {"name": "tvm 0.27.0.post1"}
UNRECOGNISED = {
    "float6-arithmetic": "its message is that a check failed, and additions do not tell programs apart",
    "packed-missing": "its message is that a check failed",
    "stride-variables": "its message is that a check failed",
    "shape-not-known": "its message is that of each operator without a lowering",
    "conv-layouts": "its operator and its message are those of `out-layout` too",
    "slice-from-largest": "its operator and its message are those of `slice-backwards-symbolic` too",
}
"""Rows that their own message does not lead to, and why."""


def is_failure(row):
    """Whether a row records the message of a compiler on a program."""
    got = row["got"]
    has_words = isinstance(got, str) and not RUNS.fullmatch(got) and not CODE.fullmatch(got)
    of_program = row.get("action") in RESULTS and row["kind"] != "missing check"
    return of_program and has_words and not got.startswith("the process")


FAILURES = [row for row in rows_on_record(SAYS) if is_failure(row)]


def renamed(text, names):
    """A text in which these names are others."""
    for name in sorted(names):
        text = re.sub(rf"\b{name}\b", f"{name}_other", text)
    return text


def recognised(row, *, others):
    """The row that the failure leads to; `others`: program and message have other names."""
    names = names_in_program(refmlc.read(row["module"])) - {"T", "R", "I"} if others else ()
    module, message = normalize(refmlc.read(renamed(row["module"], names))), renamed(row["got"], names)
    return like_row(SAYS, Pattern(failure_words(message, names_in_program(module))), message, module)


@pytest.mark.parametrize("others", [False, True], ids=["as recorded", "with other names"])
def test_each_failure_leads_to_its_own_row(others):
    assert len(FAILURES) > 100
    led = {row["id"]: recognised(row, others=others) for row in FAILURES if reads(row["module"])}
    assert {name for name, found in led.items() if found != name} == set(UNRECOGNISED)


def reads(text):
    try:
        refmlc.read(text)
    except refmlc.RefmlcError:
        return False
    return True
