"""Goals, verdicts, comparisons and the chart."""

import json

import numpy as np
import pytest
from needs import need

from refmlc.diag import RefmlcError
from refmlc.tools.bench.chart import LONGEST, bar, label, write_chart
from refmlc.tools.bench.row import BenchRow, Goal, RowVerdict, number
from refmlc.tools.bench.witness import complaint, difference, differences

PNG = b"\x89PNG\r\n\x1a\n"
AT_MOST = Goal(0.1, "ms", "at most")


@pytest.mark.parametrize(
    ("goal", "measured", "failed", "verdict"),
    [
        (Goal(2), 2.0, "", RowVerdict.KEPT),
        (Goal(2), 1.99, "", RowVerdict.MISSED),
        (AT_MOST, 0.1, "", RowVerdict.KEPT),
        (AT_MOST, 0.11, "", RowVerdict.MISSED),
        (Goal(2), None, "", RowVerdict.NOT_MEASURED),
        (Goal(2), 9.0, "3 elements differ", RowVerdict.FAILED),
    ],
)
def test_verdicts(goal, measured, failed, verdict):
    assert BenchRow(1, "matmul", "NumPy", goal, measured, failed).verdict is verdict


def test_a_row_as_data_is_json_with_everything():
    row = BenchRow(3, "conv2d", "NumPy", Goal(2), 2.5, note="n", times={"refmlc": 4.0, "numpy": 10.0})
    assert json.loads(json.dumps(row.as_data())) == {
        "row": 3,
        "what": "conv2d",
        "against": "NumPy",
        "goal": 2,
        "direction": "at least",
        "unit": "x",
        "measured": 2.5,
        "verdict": "ok",
        "failed": "",
        "note": "n",
        "nanoseconds": {"refmlc": 4.0, "numpy": 10.0},
    }


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (1.84, "x", "1.84x"),
        (95.26, "%", "95.3%"),
        (140.4, "x", "140x"),
        (0.05512, "ms", "0.0551 ms"),
        (2, "µs", "2 µs"),
    ],
)
def test_numbers_are_shown_with_the_digits_that_count(value, unit, text):
    assert number(value, unit) == text


def test_differences_are_bits_and_nan_is_one_class():
    nans = np.array([0x7FC00000, 0xFFC00001, 0x7F800001], np.uint32).view(np.float32)
    assert differences(nans, np.full(3, np.nan, np.float32)) == 0
    assert differences(np.array([0.0], np.float32), np.array([-0.0], np.float32)) == 1
    assert differences(np.array([1, 2]), np.array([1, 3])) == 1
    assert differences(np.zeros(3, np.float32), np.zeros(3, np.float64)) == 3


def test_a_bound_is_a_share_of_the_greatest_element():
    expected = np.array([0.5, -4.0], np.float32)
    assert difference(np.array([0.5, -3.0], np.float32), expected) == 0.25
    assert complaint("numpy", np.array([0.5, -3.0], np.float32), expected, 0.25) == ""
    assert "1 of 2" in complaint("numpy", np.array([0.5, -3.0], np.float32), expected, 0.2)
    assert "1 of 2" in complaint("refmlc", np.array([0.5, -3.0], np.float32), expected)
    assert complaint("numpy", np.array([np.nan, -4.0], np.float32), expected, 0.5)


ROWS = (
    BenchRow(1, "matmul", "peak", Goal(90, "%"), 95.0),
    BenchRow(2, "matmul", "NumPy", Goal(2), 1.0),
    BenchRow(7, "warm cache", "nothing", AT_MOST, 0.05),
    BenchRow(9, "exp", "TVM", Goal(2), failed="differs"),
    BenchRow(10, "shapes", "the interpreter", Goal(0, "mismatches", "at most"), 0),
    BenchRow(11, "matmul float16", "TVM", Goal(20)),
)


def test_bars_are_shares_of_the_goal():
    assert [bar(row) for row in ROWS] == [pytest.approx(95 / 90), 0.5, 2.0, 0, LONGEST, 0]
    assert label(ROWS[1]) == "1x (≥ 2x)"
    assert label(ROWS[3]) == "failed"
    assert bar(BenchRow(10, "shapes", "the interpreter", Goal(0, "mismatches", "at most"), 3)) == 0


def test_the_chart_is_a_picture(tmp_path):
    need("matplotlib")
    write_chart(ROWS, tmp_path / "chart.png", "a machine")
    assert (tmp_path / "chart.png").read_bytes().startswith(PNG)
    assert (tmp_path / "chart.png").stat().st_size > 10_000


def test_a_chart_of_nothing_is_a_picture_too(tmp_path):
    need("matplotlib")
    write_chart((), tmp_path / "chart.png", "a machine")
    assert (tmp_path / "chart.png").read_bytes().startswith(PNG)


def test_a_chart_that_cannot_be_written_is_bad_input(tmp_path):
    need("matplotlib")
    with pytest.raises(RefmlcError) as caught:
        write_chart(ROWS, tmp_path / "missing" / "chart.png", "a machine")
    assert caught.value.code.id == "RM109"
