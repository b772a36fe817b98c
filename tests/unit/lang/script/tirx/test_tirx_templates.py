"""`@T.jit`: a function of TIRx that a text specialises."""

import pytest

from refmlc.diag import RefmlcError, Source
from refmlc.lang.ir.equal import structural_equal
from refmlc.lang.script import read
from refmlc.lang.script.reader.text import program_of

HEAD = "from tvm.script import tirx as T\n\n"
TEMPLATE = (
    HEAD
    + """@T.jit(private=True)
def f(A: T.Buffer((N,), "int32"), a: T.Optional(T.handle), *, N: T.constexpr, SCALE: T.constexpr = 7):
    if a is not None:
        B = T.match_buffer(a, (N,), "int32")
        for i in range(N):
            A[i] = B[i] * SCALE
    else:
        for i in range(N):
            A[i] = SCALE

"""
)
PRESENT = """@T.prim_func(private=True)
def f(A: T.Buffer((8,), "int32"), a: T.handle):
    B = T.match_buffer(a, (8,), "int32")
    for i in range(8):
        A[i] = B[i] * 7
"""
ABSENT = """@T.prim_func(private=True)
def f(A: T.Buffer((4,), "int32")):
    for i in range(4):
        A[i] = 1
"""


def units(text):
    return program_of(Source("f.py", text)).units


@pytest.mark.parametrize(
    ("call", "expected"),
    [("g = f.specialize(N=8)", PRESENT), ("g = f.specialize(N=4, a=None, SCALE=1)", ABSENT)],
)
def test_a_specialisation_is_the_function_with_its_constants(call, expected):
    (unit,) = units(TEMPLATE + call)
    assert unit.name == "g"
    assert structural_equal(unit.module["f"], read(HEAD + expected)["f"])


def test_specialisations_in_statements_that_are_skipped_are_read():
    both = units(TEMPLATE + "compare(f.specialize(N=8), f.specialize(N=4, a=None, SCALE=1))\n")
    assert [unit.failure for unit in both] == [None, None]
    assert structural_equal(both[0].module["f"], read(HEAD + PRESENT)["f"])


def test_a_template_that_nothing_specialises_has_no_constants():
    (unit,) = units(TEMPLATE)
    assert unit.failure.code.id == "RM114"
    assert "`N` has no value here: it is a parameter of `f`, which the text does not specialise" in str(unit.failure)


def test_a_template_whose_constants_have_defaults_is_read_as_it_is():
    text = HEAD + "@T.jit\ndef f(A: T.Buffer((N,), 'int32'), *, N: T.constexpr = 4):\n    A[N - 1] = N\n"
    expected = HEAD + "@T.prim_func\ndef f(A: T.Buffer((4,), 'int32')):\n    A[3] = 4\n"
    assert structural_equal(read(text)["f"], read(expected)["f"])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("f.specialize()", "gets no value for `N`"),
        ("f.specialize(8)", "takes values by name"),
        ("f.specialize(N=8, M=1)", "has no parameter `M`"),
        ("f.specialize(N=8, a=3)", "takes `None` alone as `a`"),
        ("f.compile(N=8)", "has no attribute `compile`"),
    ],
)
def test_wrong_specialisations_give_no_function(call, message):
    text = TEMPLATE + f"g = {call}\n\n@T.prim_func\ndef h(A: T.Buffer((g,), 'int32')):\n    A[0] = 1\n"
    failure = next(unit.failure for unit in units(text) if unit.name == "h")
    assert message in str(failure)


def test_a_value_that_is_no_constant_is_refused():
    text = TEMPLATE + "def use(n):\n    g = f.specialize(N=n)\n    return g\n"
    (unit,) = units(text)
    assert unit.failure is not None
    with pytest.raises(RefmlcError):
        read(text)
