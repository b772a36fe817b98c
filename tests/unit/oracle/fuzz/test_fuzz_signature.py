"""Findings that differ in numbers and names are the same one; those that differ in words are not."""

import pytest

from refmlc.oracle.fuzz.result import BatchResult, FindingRecord, Progress, signature
from refmlc.oracle.fuzz.settings import CampaignSettings
from refmlc.oracle.reasons import add, counted, normalised, reason_lines


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("wrong: [3, 7] is 1.5, expected -2.5e-07", "wrong: [0, 12] is nan, expected 4"),
        ("load from `A` is out of bounds", "load from `B` is out of bounds"),
        ("12 of 64 wrong", "1 of 2 wrong"),
        ('File "/a/b/emit.py", line 3', 'File "/c/emit.py", line 71'),
        ("at 0x7f3a", "at 0x1"),
        ("[] is 3", "[1, 2, 3] is 3"),
    ],
)
def test_the_same(one, other):
    assert normalised(one) == normalised(other)
    assert signature(one, "RM701") == signature(other, "RM701")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("load from `A` is out of bounds", "store to `A` is out of bounds"),
        ("transposed: axes 0 and 1", "wrapped: equal modulo 2**8"),
        ('File "emit.py", line 3', 'File "tile.py", line 3'),
    ],
)
def test_not_the_same(one, other):
    assert signature(one) != signature(other)


def test_names_count_as_they_are():
    assert len({signature("m", "RM701", "native"), signature("m", "RM702", "native"), signature("m", "RM701")}) == 3


def test_reasons_that_differ_in_numbers_and_names_are_one():
    reasons = counted(["sort of `a` is not known", "no space: 3", "sort of `b` is not known", "no space: 12"])
    assert reasons == {"sort of `a` is not known": 2, "no space: 3": 2}
    add(reasons, [("no space: 7", 5)])
    assert reason_lines(reasons, 1) == ["7 no space: 3", "2 for 1 other reasons"]


def test_only_so_many_reasons_are_kept():
    reasons = counted(f"reason {'x' * number}" for number in range(1, 300))
    assert (len(reasons), reasons["other reasons"], sum(reasons.values())) == (101, 199, 299)


def test_the_saturation_of_a_campaign_falls_where_nothing_new_is_seen():
    progress = Progress(CampaignSettings(size=100))
    for batch, names in enumerate([("a", "b"), ("a",), ("c",), ("a", "b", "c")]):
        findings = tuple(
            FindingRecord(name, "RM701", "x", "wrong", "", batch * 100, 0, "functions", {}) for name in names
        )
        progress.add(BatchResult(batch, 100, findings=findings))
    assert progress.saturation() == [200.0, 0.0, 100.0, 0.0]
    assert Progress(CampaignSettings()).saturation() == []
