"""Tensors and nodes as HTML."""

import sys

import numpy as np
import pytest

from refmlc.lang.dtypes import FLOAT32
from refmlc.lang.script import read
from refmlc.run.memory.tensor import Tensor, tensor


def test_a_small_tensor_is_a_table():
    text = tensor(np.array([[0, 1, 2], [3, np.nan, np.inf]], "float32"))._repr_html_()
    assert text.count("<tr>") == 2
    assert text.count("<td ") == 6
    assert "rgb(255,255,255)" in text  # the least
    assert "rgb(55,55,255)" in text  # the greatest
    assert text.count("#d33") == 2
    assert "Tensor((2, 3), float32)" in text


@pytest.mark.parametrize(
    "value",
    [
        tensor(np.zeros((33, 2), "float32")),
        tensor(np.float32(1)),
        Tensor.empty((2,), FLOAT32),
        tensor(np.zeros((0, 3))),
    ],
)
def test_others_are_text(value):
    assert value._repr_html_().startswith("<pre>")


def test_constant_tensors_are_one_colour():
    assert tensor(np.full(3, 7, "int32"))._repr_html_().count("rgb(255,255,255)") == 3


def test_the_widest_range():
    text = tensor(np.array([-1.7e308, 0, 1.7e308]))._repr_html_()
    assert [text.count(f"rgb({level},{level},255)") for level in (255, 155, 55)] == [1, 1, 1]


MODULE = """@R.function
def main(x: R.Tensor((2,), "float32")):
    return x
"""


def test_modules_are_highlighted():
    text = read(MODULE)._repr_html_()
    assert "highlight" in text
    assert "main" in text


def test_without_pygments_modules_are_text(monkeypatch):
    monkeypatch.setitem(sys.modules, "pygments", None)
    text = read(MODULE)["main"]._repr_html_()
    assert text.startswith("<pre>")
    assert "R.Tensor((2,)" in text
