"""The language of contracts: what it reads, prints back, means, and what it does to values that do not satisfy it."""

import numpy as np
import pytest

from refmlc.diag import RefmlcError
from refmlc.oracle.contracts import parse
from refmlc.oracle.contracts.language import line_text
from refmlc.oracle.contracts.project import projected, violated
from refmlc.oracle.contracts.values import exact, holds

LINES = [
    "0 <= page_indices < max_pages",
    "indptr: ascending, indptr[0] == 0",
    "pages: distinct",
    "samples in [0, 1)",
    "samples in (-1.5, n]",
    "map == -1 or 0 <= map < n * 16",
    "info[2] <= info[1], indptr[:-1] < n - (k - 1)",
    "x: strictly ascending",
    "p[0, 1:]: distinct",
    "a % 2 == 0 and a // 3 < min(4, n - 1)",
    "-n <= p < n",
    "n % 16 == 0",
    "w: finite",
]


@pytest.mark.parametrize("line", LINES)
def test_a_line_is_printed_as_it_was_read(line):
    assert line_text(parse(line)) == line


@pytest.mark.parametrize(
    ("line", "part"),
    [
        ("a <", "its end is not a quantity"),
        ("(a", "its end is not `)`"),
        ("distinct", "is a property of no subject"),
        ("a ? b", "`? b` is not a token"),
        ("a < b c", "`c` is not the end"),
        ("__import__('os').getcwd() == 1", "is not a token"),
        ("a[1:2:3] < 1", "`:3] < 1` is not `]`"),
        ("a < b,", "its end is not a quantity"),
        ("(" * 60 + "a" + ")" * 60 + " < 1", "nested too deeply"),
        ("a < " + "1 + " * 600 + "1", "at most 2000 characters"),
    ],
)
def test_what_the_grammar_does_not_have_is_refused_with_its_place(line, part):
    with pytest.raises(RefmlcError) as failure:
        parse(line)
    assert failure.value.diagnostic.code.id == "RM112"
    assert part in failure.value.diagnostic.message


def arrays(**values):
    return {name: exact(np.asarray(value)) for name, value in values.items()}


@pytest.mark.parametrize(
    ("line", "values", "satisfied"),
    [
        ("0 <= p < n", {"p": [0, 3], "n": 4}, True),
        ("0 <= p < n", {"p": [0, 4], "n": 4}, False),
        ("p: ascending", {"p": [1, 1, 2]}, True),
        ("p: strictly ascending", {"p": [1, 1, 2]}, False),
        ("p: ascending", {"p": [[1, 2], [0, 9]]}, True),
        ("p: distinct", {"p": [[1, 2], [2, 3]]}, False),
        ("p: finite", {"p": [1.0, np.nan]}, False),
        ("s in [0, 1)", {"s": [0.0, 0.5]}, True),
        ("s in [0, 1)", {"s": [1.0]}, False),
        ("s in [0, 1)", {"s": [np.nan]}, False),
        ("p == -1 or 0 <= p < 3", {"p": [-1, 2]}, True),
        ("p == -1 or 0 <= p < 3", {"p": [-2, 2]}, False),
        ("info[1] <= info[0]", {"info": [[3, 1], [3, 2]]}, False),
        ("p[:-1] + 1 <= p[1:]", {"p": [0, 1, 2]}, True),
        ("a + b <= n", {"a": 2**62, "b": 2**62, "n": 2**63 - 1}, False),  # would pass 64 bits
        ("p < 18446744073709551615", {"p": np.array([2**64 - 1], "uint64")}, False),
    ],
)
def test_a_line_means_what_numpy_would_compute_exactly(line, values, satisfied):
    assert all(bool(np.all(holds(clause, arrays(**values)))) for clause in parse(line)) is satisfied


@pytest.mark.parametrize(
    ("line", "values", "expected"),
    [
        ("0 <= p < 4", {"p": [5, -1, 2]}, [1, 3, 2]),
        ("0 <= p <= 6, p[1:] >= p[:-1]", {"p": [9, 1]}, [1, 1]),
        ("p: ascending", {"p": [3, 1, 2]}, [1, 2, 3]),
        ("p: distinct, 0 <= p < 3", {"p": [2, 2, 1]}, [2, 0, 1]),
        ("p == -1 or 0 <= p < 3", {"p": [-1, 4, 2]}, [-1, 1, 2]),
        ("s in [0, 1)", {"s": [0.25, 1.5, -0.25]}, [0.25, 0.5, 0.75]),
        ("-1 < f < 2", {"f": [-0.5, 2.75, np.nan, np.inf]}, [-0.5, -0.25, 0.0, 0.0]),
        ("-1 < f < 2", {"f": [-1.0, -1 - 1e-9, 2 + 1e-9]}, [0.5, 0.5, 0.5]),  # else float32 rounds to -1 and 2
        ("w: finite", {"w": [np.inf, 1.0]}, [0.0, 1.0]),
    ],
)
def test_values_are_moved_into_a_contract_and_others_stay(line, values, expected):
    (name,) = values
    result = projected(parse(line), arrays(**values), frozenset(values))
    assert result is not None
    assert result[name].tolist() == expected


def test_the_ends_of_a_range_are_reached():
    result = projected(parse("p: ascending, 0 <= p <= n"), arrays(p=[3, 3, 3], n=8), frozenset("p"), ends="both")
    assert result is not None
    assert result["p"].tolist() == [0, 3, 8]


@pytest.mark.parametrize(("ends", "expected"), [("both", [-0.5, 2.0, 3.5]), ("low", [-0.5] * 3), ("high", [3.5] * 3)])
def test_the_ends_of_floats_that_are_indices_are_reached(ends, expected):
    result = projected(parse("-1 < f < n"), arrays(f=[2.0, 2.0, 2.0], n=4), frozenset("f"), ends=ends)
    assert result is not None
    assert result["f"].tolist() == expected


def test_one_value_moves_for_a_sum_of_several():
    clauses = parse("start + length <= n, 0 <= start, 0 <= length")
    result = projected(clauses, arrays(start=[3, 9], length=[2, 4], n=10), frozenset(("start", "length")))
    assert result is not None
    assert violated(clauses, result) is None
    assert result["start"][0] == 3
    assert result["length"][0] == 2


def test_sizes_are_never_moved():
    assert projected(parse("0 <= p < n"), arrays(p=[0], n=0), frozenset("p")) is None
    assert projected(parse("n % 16 == 0"), arrays(n=15), frozenset("p")) is None


def test_a_name_that_no_parameter_has_is_told():
    with pytest.raises(RefmlcError, match="`q`, which is no parameter"):
        holds(parse("q < 1")[0], arrays(p=[1]))
