"""Refusals on record: the message, but for numbers and names, and the operators and dtypes that its witnesses share."""

import pytest

import refmlc
from refmlc.lang.dtypes import dtype
from refmlc.oracle.examine import examine
from refmlc.oracle.implementations.implementation import Stop, Stopped
from refmlc.oracle.outcome import Kind
from refmlc.oracle.record import known_refusals, known_row
from refmlc.oracle.suite.expectations import read_expectations
from refmlc.strategies.arguments import Array

SORT = """
@R.function
def main(x: R.Tensor((2,), "DTYPE")) -> R.Tensor((2,), "DTYPE"):
    return R.OPERATOR(x)
"""
TVM = {"name": "tvm 0.27.0.post1"}
MESSAGE = "InternalError: Unsupported input dtype: int8"


def module(operator="sort", dtype="int8"):
    return refmlc.read(SORT.replace("OPERATOR", operator).replace("DTYPE", dtype))


@pytest.mark.parametrize(
    ("says", "message", "program", "row"),
    [
        (TVM, MESSAGE, module(), "sort-int8"),
        ({"name": "tvm", "version": "0.27.0.post1"}, MESSAGE, module(), "sort-int8"),
        (TVM, MESSAGE, module("abs"), ""),  # the same words from another operator are news
        (TVM, MESSAGE, module(dtype="int32"), ""),
        (TVM, "InternalError: Unsupported output dtype: int8", module(), ""),
        ({"name": "tvm 0.99"}, MESSAGE, module(), ""),
        ({"name": "mine 0.27.0.post1"}, MESSAGE, module(), ""),
        ({}, MESSAGE, module(), ""),
    ],
)
def test_a_row_explains_its_own_refusal_alone(says, message, program, row):
    assert known_row(says, Stopped(Stop.TRAP, message, refused=True), program) == row


class Refusing:
    """It says that it is TVM, and refuses."""

    name, promises_verdicts, says = "tvm:/python", False, TVM

    def __init__(self, message):
        self.message = message

    def prepare(self, _module):
        return Stopped(Stop.REJECTED, self.message, fault=True)

    def close(self):
        """Nothing is held."""


class Call:
    func, calls, name = "main", (None,), ""

    def __init__(self):
        self.module = module()

    def arguments(self, _number=0):
        return [Array(dtype("int8"), (2,)).tensor()]


@pytest.mark.parametrize(
    ("message", "kind", "count"), [(MESSAGE, Kind.NOT_TAKEN, 0), ("another", Kind.COMPILER_ERROR, 1)]
)
def test_a_refusal_on_record_is_not_taken(message, kind, count):
    (found,) = examine([Call()], [Refusing(message)])
    (verdict,) = found.verdicts["tvm:/python"]
    assert (verdict.kind, len(found.findings)) == (kind, count)
    assert (verdict.notes[0] == "known, row sort-int8") is (count == 0)


def test_each_row_has_parts_where_it_has_messages():
    """Without parts, a message would explain every program that ends in it."""
    assert all(row.parts for row in known_refusals("tvm", "0.27.0.post1"))


def test_the_keys_are_known_to_the_reader_of_expectations():
    text = '[[deviation]]\nid = "a"\nwhy = "b"\ncases = ["c"]\nverdict = "fail"\nmessages = ["d"]\nparts = ["e"]\n'
    assert read_expectations(text, "a file").rows[0].id == "a"
