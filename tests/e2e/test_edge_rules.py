"""What a row of `explained_edges.toml` explains: differences of its form, and no other."""

import tomllib
from pathlib import Path

import numpy as np
import pytest
from edge_rules import WORDS, differ_so

ROWS = tomllib.loads((Path(__file__).parent / "explained_edges.toml").read_text(encoding="utf-8"))["difference"]
NAN, INF = np.nan, np.inf
LEAST = np.finfo("float32").min


def floats(*values):
    return [np.array(values, "float32")]


def test_every_row_says_how_results_differ():
    assert all(row["differs"] and set(row["differs"]) <= set(WORDS) for row in ROWS)


@pytest.mark.parametrize(
    ("word", "ours", "theirs", "others"),
    [
        ("nan there", floats(1, 0), floats(1, NAN), floats(2, NAN)),
        ("nan here", floats(NAN, 1), floats(3, 1), floats(3, 2)),
        ("least for -inf", floats(-INF, 1), floats(LEAST, 1), floats(0, 1)),
        ("least for nan", floats(NAN, 1), floats(LEAST, 1), floats(0, 1)),
        ("rounding", floats(1000, 1), floats(1000.0001, 1), floats(1000, 2)),
        ("rounding", floats(INF, 1), floats(INF, 1.000001), floats(1, 1)),
        ("later", [np.array([1, 0])], [np.array([1, 3])], [np.array([0, 3])]),
        ("through float32", [np.array([(1 << 24) + 1])], [np.array([1 << 24])], [np.array([(1 << 24) - 1])]),
        ("memory", floats(1, 2), floats(3, 4), [np.array([3, 4], "float64")]),
        ("shape", [np.array([[1], [2]])], [np.array([1, 2])], [np.array([1, 3])]),
        ("dtype", [np.array([1, 2], "int32")], [np.array([1, 2], "int64")], [np.array([1, 3], "int64")]),
    ],
)
def test_only_differences_of_its_form_are_explained(word, ours, theirs, others):
    assert differ_so(ours, theirs, [word])
    assert not differ_so(ours, others, [word])
    assert not differ_so(ours, [*theirs, *theirs], [word])
    assert not differ_so(ours, theirs, [each for each in ("dtype", "nan there") if each != word])


def test_zeros_of_two_signs_differ():
    assert not differ_so(floats(0.0), floats(-0.0), ["nan there"])
    assert differ_so(floats(NAN), floats(-NAN), ["shape"])
