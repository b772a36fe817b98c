"""Cells as a notebook executes them."""

import sys

import pytest

from refmlc.tvm.session import Cell, Session, shown


@pytest.fixture(autouse=True)
def main_stays(monkeypatch):
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])


def test_one_namespace():
    session = Session({"a": 1})
    assert session.run(Cell("b = a + 1")) is None
    assert session.run(Cell("c = 10\nb + c")) == 12
    assert session.names["c"] == 10


def test_future_may_stand_anywhere_and_stays():
    session = Session()
    session.run(Cell("import math\nfrom __future__ import annotations"))
    session.run(Cell("def f(x: not_there): return x"))
    assert session.run(Cell("f.__annotations__")) == {"x": "not_there"}


def test_without_it_annotations_are_evaluated():
    with pytest.raises(NameError):
        Session().run(Cell("def f(x: not_there): return x"))


def test_commands_are_taken_out_and_lines_stay():
    cell = Cell("x = 1\n!pip install y\nif x:\n    %matplotlib inline\nx + 1")
    assert cell.commands == ("!pip install y", "%matplotlib inline")
    assert Session().run(cell) == 2


def test_errors_have_the_lines_of_the_file():
    with pytest.raises(ZeroDivisionError) as raised:
        Session().run(Cell("x = 0\n1 / x", "chapter.md:block 3", 40))
    frame = raised.traceback[-1]
    assert (str(frame.path), frame.lineno + 1) == ("chapter.md:block 3", 41)


def test_an_empty_cell():
    assert Session().run(Cell("# nothing\n")) is None


def test_decorators_find_the_source():
    session = Session()
    session.run(Cell("import refmlc.tvm as tvm\nfrom refmlc.tvm.script import relax as R, tir as T"))
    text = '@R.function\ndef f(x: R.Tensor((2,), "float32")):\n    return x\n'
    session.run(Cell(text, "cell 2", 7))
    assert "def f(" in session.run(Cell("f.attrs and 0 or f.script()")).replace("main", "f")


class Code:
    data = "a text"


@pytest.mark.parametrize(
    ("value", "wanted"),
    [(3, "3"), ("s", "'s'"), (int, "int"), (Cell, "refmlc.tvm.session.Cell"), (Code(), "a text")],
)
def test_values_as_they_are_shown(value, wanted):
    assert shown(value) == wanted
