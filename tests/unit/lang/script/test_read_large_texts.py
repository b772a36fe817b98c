"""Texts that nobody wrote by hand: reading takes time in proportion to their length, and no longer than it may."""

import sys

import pytest

from refmlc.diag import Exhausted, IllFormed
from refmlc.lang.dtypes import INT32
from refmlc.lang.ir import tir
from refmlc.lang.script import read
from refmlc.lang.script.printer.names import Names
from refmlc.lang.wellformed import check_module

HEAD = "from tvm.script import tirx as T\n"
FUNCTION = HEAD + "@T.prim_func\ndef f(A: T.Buffer((4,), 'int32')):\n    x = A[0]\n"


def functions(number):
    return HEAD + "".join(f"@T.prim_func\ndef f{at}(a: T.int32):\n    T.evaluate(a)\n" for at in range(number))


def parameters(number):
    return HEAD + f"@T.prim_func\ndef f({', '.join(f'a{at}: T.int32' for at in range(number))}):\n    T.evaluate(0)\n"


def chain(word, number):
    return f"{FUNCTION}    if {f' {word} '.join(['x < 1'] * number)}:\n        A[1] = 1\n"


def comparisons(number):
    return f"{FUNCTION}    T.evaluate({' < '.join(['x'] * number)})\n"


def names(number):
    return FUNCTION + "".join(f"    y{at}: T.int32 = x\n" for at in range(number))


def conjunctions(number):
    return chain("and", number)


def disjunctions(number):
    return chain("or", number)


def steps(work):
    """How many calls of Python functions and of builtins `work` makes: its cost, the same on every machine."""
    count = 0

    def counted(_frame, event, _arg):
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(counted)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


@pytest.mark.parametrize("text", [functions, parameters, names, conjunctions, disjunctions, comparisons])
def test_reading_is_linear(text):
    read(text(10))  # what is made once
    short, long = (steps(lambda number=number: read(text(number))) for number in (100, 800))
    assert long < 8.5 * short


class Compared(str):
    """A name that counts how often it is compared with another."""

    __slots__ = ()
    count = 0
    __hash__ = str.__hash__

    def __eq__(self, other):
        Compared.count += 1
        return super().__eq__(other)


def comparisons_of_names(number):
    """How many comparisons it takes to give names to so many variables and to leave their scope."""
    variables = [tir.Var(f"x{at}", INT32) for at in range(number)]
    scope, before = Names(), Compared.count
    with scope.frame():
        for var in variables:
            scope.give(var, Compared(var.name))
    after = Compared.count
    assert not any(scope.get(var) for var in variables)
    return after - before


def test_leaving_a_scope_takes_steps_in_proportion_to_its_names():
    short, long = comparisons_of_names(100), comparisons_of_names(1600)
    assert long <= 20 * short + 100  # 256 times, where each name looks at all others


def test_a_name_that_two_nodes_have_is_taken_until_both_are_gone():
    names = Names()
    a, b, c = (tir.Var("x", INT32) for _ in range(3))
    names.give(a, "x")
    with names.frame():
        names.give(b, "x")
    assert names.free("x") == "x_1"
    with names.frame():
        names.give(a, "y")
        names.give(c, "x")
    assert names.free("x") == "x"
    assert names.free("y") == "y"


@pytest.mark.parametrize("text", [conjunctions, disjunctions, comparisons])
def test_checking_a_chain_is_linear(text):
    short, long = read(text(50)), read(text(400))
    check_module(read(text(10)))
    assert steps(lambda: check_module(long)) < 8.5 * steps(lambda: check_module(short))


@pytest.mark.parametrize("word", ["and", "or"])
def test_a_chain_of_100_000_conditions_is_read_and_too_deep_to_check(word):
    module = read(chain(word, 100_000))
    with pytest.raises(Exhausted, match="RM602"):
        check_module(module)


def test_reading_ends_with_its_seconds():
    with pytest.raises(Exhausted, match=r"RM605\]: reading takes longer than 0\.05 seconds") as found:
        read(functions(100_000), max_seconds=0.05)
    assert found.value.diagnostic.span.line > 1


def test_a_text_within_its_seconds_is_read():
    assert len(read(functions(100), max_seconds=30).functions) == 100


def test_a_parameter_is_defined_once():
    with pytest.raises(IllFormed, match=r"RM210\]: the parameter `a` is defined twice"):
        read(HEAD + "@T.prim_func\ndef f(a: T.int32, b: T.int32, a: T.int32):\n    pass\n")


def test_a_parameter_may_be_called_as_the_handle_of_a_buffer_is_here():
    func = read(HEAD + "@T.prim_func\ndef f(A: T.Buffer((4,), 'int32'), A_handle: T.int32):\n    A[0] = A_handle\n")[
        "f"
    ]
    assert [param.name for param in func.params] == ["A_handle", "A_handle"]
