"""Relax made smaller: bindings, branches, dataflow, types."""

import pytest

import refmlc
from refmlc.lang.wellformed.module import check_module
from refmlc.oracle.reduce import reduce
from refmlc.oracle.reduce.passes.graphs import drop_bindings, end_early, plain_graphs, simpler_bindings
from refmlc.oracle.reduce.subject import Subject
from refmlc.oracle.reduce.tidy import tidied

GRAPH = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,), "float32"), c: R.Tensor((), "bool")) -> R.Tuple(R.Tensor((4,), "float32"), R.Tensor((4,),
    "float32")):
        with R.dataflow():
            a = R.add(x, x)
            b = R.exp(a)
            R.output(a, b)
        if c:
            d = R.sin(b)
        else:
            d = R.cos(b)
        e = R.match_cast(d, R.Tensor((4,), "float32"))
        return (a, e)
"""


def texts(one, text=GRAPH):
    found = []
    for edit in one(Subject(refmlc.read(text))):
        module = tidied(edit().module)
        if not check_module(module):
            found.append(refmlc.show(module))
    return found


def test_a_function_ends_after_any_binding():
    found = texts(end_early)
    assert any("R.add" in text and "R.exp" not in text for text in found)
    assert any("R.exp" in text and "R.sin" not in text for text in found)
    assert any("return x" in text and "R.add" not in text for text in found)
    assert any("return e" in text for text in found)


def test_bindings_go_where_nothing_needs_them():
    text = GRAPH.replace("return (a, e)", "return (a, a)")
    assert any("match_cast" not in one and "R.sin" in one for one in texts(drop_bindings, text))


def test_a_binding_becomes_its_operand_and_an_if_one_branch():
    found = texts(simpler_bindings)
    assert any("R.exp" not in text and "R.sin(a)" in text for text in found)
    assert any("if c" not in text and "R.cos" in text and "R.sin" not in text for text in found)
    assert any("if c" not in text and "R.sin" in text and "R.cos" not in text for text in found)
    assert any("match_cast" not in text and "R.sin" in text for text in found)


def test_graphs_become_plain():
    found = texts(plain_graphs)
    assert any("R.dataflow" not in text and "R.exp" in text for text in found)
    assert any("match_cast" not in text and "R.exp" in text for text in found)


@pytest.mark.parametrize(
    ("word", "most"), [("R.add", 1), ("R.exp", 1), ("R.cos", 1), ("match_cast", 1), ("if ", 4), ("R.dataflow", 3)]
)
def test_little_is_left_around_one_thing(word, most):
    found = reduce(refmlc.read(GRAPH), lambda module: word in module.source.text)
    lines = found.text.split("def main")[1].splitlines()[1:]
    assert word in found.text
    assert len([line for line in lines if line.strip() and "return" not in line]) <= most + (word == "R.dataflow")


def test_symbolic_sizes_become_constants_and_what_is_computed_of_them_one():
    text = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n",), "float32"), s: R.Shape(["n + 2"])):
        n = T.int64()
        return s
"""
    found = reduce(refmlc.read(text), lambda module: "R.Shape([" in module.source.text)
    assert "def main(x: R.Shape([1])):" in found.text
