"""The assertions with arguments that are drawn: found, made small, the same each time."""

import pytest
from hypothesis import given, settings, strategies as st

from refmlc.lang.wellformed.reader_checks import read
from refmlc.oracle.refine.calls import drawn_calls
from refmlc.testing import Inequivalent, NotDefined, assert_defined, assert_equivalent

HEAD = """
@T.prim_func(s_tir=True)
def main(A: T.Buffer(("n",), "int32"), B: T.Buffer(("n",), "int32")):
    n = T.int32()
    for i in range(n):
        B[i] = VALUE
"""


def program(value):
    return HEAD.replace("VALUE", value)


COPY = program("A[i]")
WRAPS = program("T.Select(A[i] == 7, A[i] + 1, A[i])")
LAST = program("A[T.min(i, 2)]")


def test_programs_that_mean_the_same():
    assert_equivalent(COPY, program("A[i] + 0"))
    assert_defined(COPY)


def test_a_difference_is_found_and_its_arguments_are_few():
    with pytest.raises(Inequivalent) as caught:
        assert_equivalent(COPY, LAST)
    # With three elements or fewer the two are the same; the last must not be the third. The output holds values.
    assert caught.value.diagnostic.notes[-2:] == (
        "`A` is int32[4] [0, 0, 0, 1]",
        "`B` is int32[4] [0, 0, 0, 0]",
    )


def test_undefined_behaviour_is_found_at_the_smallest_size():
    with pytest.raises(NotDefined, match="RM304") as caught:
        assert_defined(program("A[i + 1]"))
    assert caught.value.diagnostic.notes[-2] == "`A` is int32[1] [0]"


def test_values_that_matter_stay():
    with pytest.raises(Inequivalent) as caught:
        assert_equivalent(COPY, program("T.Select(A[i] > 40, A[i] + 1, A[i])"), calls=50)
    words = caught.value.diagnostic.notes[-2].split()
    assert words[:3] == ["`A`", "is", "int32[1]"]
    assert int(words[3].strip("[]")) > 40


def test_a_seed_gives_the_same_calls_and_the_number_holds():
    module = read(COPY)
    first, again, other = (list(drawn_calls(module, "main", 60, seed)) for seed in (3, 3, 4))
    assert first == again != other
    assert first[:12] == other[:12]
    assert len(first) == 60


def test_options_count_where_the_test_says_nothing(monkeypatch):
    monkeypatch.setenv("REFMLC_CALLS", "1")
    assert_equivalent(COPY, LAST, seed=0)  # one call does not find it
    with pytest.raises(Inequivalent):
        assert_equivalent(COPY, LAST, calls=100, seed=0)


@settings(max_examples=5)
@given(st.integers(-3, 3))
def test_within_a_property(number):
    assert_equivalent(program(f"A[i] + {number}"), program(f"{number} + A[i]"), calls=3)


def test_a_constant_of_the_second_program_is_tried():
    with pytest.raises(Inequivalent):
        assert_equivalent(COPY, program("T.Select(A[i] == 7654321, 0, A[i])"))
