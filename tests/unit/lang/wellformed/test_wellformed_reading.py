"""Rules on texts, as users meet them."""

import pytest

from refmlc.diag import IllFormed
from refmlc.lang.wellformed.reader_checks import checked, read, read_file

GOOD = """\
from tvm.script import tirx as T


@T.prim_func
def main(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
    for i in range(4):
        A[i] = B[i]
"""
THREE = GOOD.replace("A[i] = B[i]", "A[T.float32(0)] = B[T.float32(0)]\n        B[T.float32(0)] = A[i]")


def test_what_obeys_the_rules_is_given_back(tmp_path):
    (tmp_path / "good.py").write_text(GOOD, encoding="utf-8")
    assert list(read(GOOD).functions) == list(read_file(tmp_path / "good.py").functions) == ["main"]


def test_the_first_finding_is_raised_with_the_number_of_others():
    with pytest.raises(IllFormed) as raised:
        read(THREE, "three.py")
    found = raised.value.diagnostic
    assert (found.code.id, found.span.place) == ("RM201", "three.py:7:11")
    assert found.notes == ("2 more findings in this module",)


def test_one_finding_has_no_number():
    with pytest.raises(IllFormed) as raised:
        read(GOOD.replace("B[i]", "B[T.float32(0)]"))
    assert raised.value.diagnostic.notes == ()


def test_two_findings():
    with pytest.raises(IllFormed) as raised:
        read(GOOD.replace("A[i] = B[i]", "A[T.float32(0)] = B[T.float32(0)]"))
    assert raised.value.diagnostic.notes == ("1 more finding in this module",)


def test_the_check_can_be_left_out(tmp_path):
    module = read(THREE, check=False)
    assert checked(module, check=False) is module
    (tmp_path / "three.py").write_text(THREE, encoding="utf-8")
    assert list(read_file(tmp_path / "three.py", check=False).functions) == ["main"]
