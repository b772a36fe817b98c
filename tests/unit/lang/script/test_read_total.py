"""Texts that ended in Python's exceptions: each is read, or refused with a place."""

import pytest

from refmlc.diag import Malformed
from refmlc.lang.ir import tir
from refmlc.lang.script import read, show
from refmlc.lang.wellformed import check_module

BUFFERS = "@T.prim_func\ndef f(A: T.Buffer((4, 2), 'int32'), n: T.int32):\n    B = A.view({0})\n    T.evaluate(B[0])\n"
GRAPH = "@R.function\ndef f(x: R.Tensor((4,), 'int32')):\n    y = {0}\n    return y\n"


@pytest.mark.parametrize("view", ['""', '"void"', '"int8x3"', '"boolx65535"', "-1, -1", "0, -1", "-2"])
def test_a_view_without_elements_of_its_own_is_refused(view):
    with pytest.raises(Malformed, match=r"`A\.view` takes") as found:
        read(BUFFERS.format(view))
    assert (found.value.code.id, found.value.diagnostic.span.line) == ("RM105", 3)


@pytest.mark.parametrize(
    ("view", "shape"), [("-1", (8,)), ("2, -1", (2, 4)), ("-1, 2, 2", (2, 2, 2)), ("4, 2", (4, 2))]
)
def test_one_extent_of_a_view_is_what_is_left(view, shape):
    module = read(BUFFERS.format(view).replace("B[0]", f"B[{', '.join('0' * len(shape))}]"))
    found = module["f"].body.seq[0].buffer.shape
    assert tuple(size.value for size in found) == shape
    assert show(read(show(module))) == show(module)


def test_an_extent_that_is_left_of_a_symbol_is_its_quotient():
    (known, rest) = read(BUFFERS.format("n, -1").replace("B[0]", "B[0, 0]"))["f"].body.seq[0].buffer.shape
    assert isinstance(known, tir.Var)
    assert isinstance(rest, tir.Apply)
    assert (rest.op, rest.args[0].value, rest.args[1]) == ("floordiv", 8, known)


@pytest.mark.parametrize(
    "numbers",
    [
        "1, 1e400, 2",
        "1e400, 1, 1",
        "0, 1e400, -1",
        "1, 1e308, 1e-308",
        "T.float32('nan'), 1, 1",
        "-2**63, 2**63 - 1, 1",
    ],
)
def test_a_range_of_no_finite_length_is_a_finding(numbers):
    (found,) = check_module(read(GRAPH.format(f"R.arange({numbers}, dtype='int64')")))
    assert found.code.id == "RM105"
    assert "has no length" in found.message
    assert found.span.line == 3


def test_a_range_that_an_int64_counts_has_its_length():
    module = read(GRAPH.format("R.arange(0, 2**63 - 1, 1)"))
    assert check_module(module) == ()


@pytest.mark.parametrize("dimension", ["R.str('a')", "T.StringImm('a')"])
def test_a_string_of_the_program_is_no_dimension(dimension):
    with pytest.raises(Malformed, match="is no dimension"):
        read(f"@R.function\ndef f(x: R.Tensor(({dimension}, 4), 'int32')):\n    return x\n")
