"""Places and order: nested statements, columns of dedented pieces, the argument that a finding points at."""

import ast

import pytest

from refmlc.diag import RefmlcError, Source
from refmlc.lang.ir import tir
from refmlc.lang.script.reader.syntax import Spans, every_statement, parsed
from refmlc.lang.script.reader.text import read

NESTED = """a
if b:
    c
    for d in e:
        f
else:
    g
h
"""


def test_statements_and_those_inside_of_them_in_the_order_of_the_text():
    assert [stmt.lineno for stmt in every_statement(ast.parse(NESTED).body)] == [1, 2, 3, 4, 5, 7, 8]


def test_a_variable_that_a_nested_statement_declares_is_known_before_it():
    """The type of `A` names `n`, which is declared two statements further inside."""
    body = read(
        "@T.prim_func\ndef f(a: T.handle):\n    with T.block('root'):\n        n = T.int64()\n"
        "        A = T.match_buffer(a, (n,), 'float32')\n        T.evaluate(n)\n"
    )["f"]
    (buffer,) = body.buffer_map.values()
    assert isinstance(buffer.shape[0], tir.Var)
    assert str(buffer.shape[0].dtype) == "int64"


@pytest.mark.parametrize(("indent", "columns"), [(0, (4, 9)), (4, (8, 13))])
def test_columns_of_a_dedented_piece(indent, columns):
    whole = Source("live.py", "x = 1\n" + " " * indent + "e = T.foo\n")
    tree = parsed(Source("live.py", "e = T.foo\n"))
    span = Spans(whole, first_line=2, indent=indent).of(tree.body[0].value)
    assert (span.line, span.column, span.end_column) == (2, *columns)


@pytest.mark.parametrize(
    "annotation",
    ['R.Tensor("floaty")', 'R.Tensor((2,), "floaty")', 'R.Tensor((2,), dtype="floaty")', 'R.Tensor(dtype="floaty")'],
)
def test_an_unknown_dtype_is_pointed_at(annotation):
    text = f"@R.function\ndef f(x: {annotation}):\n    return x\n"
    with pytest.raises(RefmlcError) as caught:
        read(text)
    span = caught.value.diagnostic.span
    line = text.split("\n")[1]
    assert caught.value.code.id == "RM106"
    assert (span.line, line[span.column : span.end_column]) == (2, '"floaty"')


@pytest.mark.parametrize("condition", ["True", "T.bool(True)", "None"])
def test_an_allocation_that_is_always_made(condition):
    text = f"@T.prim_func\ndef f():\n    p = T.allocate([4], 'int32', 'global', {condition})\n    T.evaluate(p[0])\n"
    assert isinstance(read(text)["f"].body.seq[0], tir.AllocBuffer)


@pytest.mark.parametrize("condition", ["False", "T.bool(False)"])
def test_an_allocation_that_is_never_made(condition):
    text = f"@T.prim_func\ndef f():\n    p = T.allocate([4], 'int32', 'global', {condition})\n    T.evaluate(p[0])\n"
    with pytest.raises(RefmlcError) as caught:
        read(text)
    assert caught.value.code.id == "RM504"


BRANCHES = """@R.function
def f(c: R.Tensor((), "bool"), x: R.Tensor((2,), "float32")):
    with R.dataflow():
        if c:
            y = R.abs(x)
        else:
            y = R.exp(x)
        z = R.sin(y)
        w = R.cos(z)
        R.output(w)
    return w
"""


def test_bindings_after_the_branches_of_a_dataflow_block():
    (block,) = read(BRANCHES)["f"].body.blocks
    assert [(binding.var.name, binding.var.dataflow) for binding in block.bindings] == [
        ("y", True),
        ("z", True),
        ("w", False),
    ]
