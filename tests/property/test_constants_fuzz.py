"""The language of constants against Python: a constant has Python's value or is refused, and nothing executes."""

import ast
import time

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from refmlc.diag import Internal, RefmlcError, Source
from refmlc.lang.script.reader import program
from refmlc.lang.script.reader.text import program_of
from refmlc.lang.script.reader.values import NoValue

HEAD = "A = 7\nB = (1, 2, 3)\nC = [4, 5]\nS = 'ab'\nF = 2.5\nD = {'k': 1}\nT1 = True\n"
ATOMS = ["0", "1", "-3", "17", "2.5", "'x'", "None", "True", "A", "B", "C", "S", "F", "D", "T1", "()", "[]", "1e300"]
BINARY = [
    "+",
    "-",
    "*",
    "/",
    "//",
    "%",
    "**",
    "<<",
    ">>",
    "&",
    "|",
    "^",
    "<",
    "<=",
    "==",
    "!=",
    "in",
    "not in",
    "and",
    "or",
]
CALLS = [
    "len",
    "min",
    "max",
    "sum",
    "abs",
    "int",
    "float",
    "bool",
    "str",
    "list",
    "tuple",
    "sorted",
    "any",
    "all",
    "round",
]


def compound(inner):
    return st.one_of(
        st.tuples(inner, st.sampled_from(BINARY), inner).map(lambda t: f"({t[0]} {t[1]} {t[2]})"),
        st.tuples(st.sampled_from(["-", "+", "~", "not "]), inner).map(lambda t: f"({t[0]}{t[1]})"),
        st.tuples(st.sampled_from(CALLS), inner).map(lambda t: f"{t[0]}({t[1]})"),
        st.tuples(inner, inner).map(lambda t: f"{t[0]}[{t[1]}]"),
        st.tuples(inner, inner, inner).map(lambda t: f"({t[0]} if {t[1]} else {t[2]})"),
        st.tuples(inner, inner).map(lambda t: f"({t[0]}, {t[1]})"),
        st.tuples(inner, inner).map(lambda t: f"[{t[0]}, *{t[1]}]"),
        st.tuples(inner, inner, inner).map(lambda t: f"[{t[0]} for x in {t[1]} if {t[2]}]"),
        st.tuples(inner, st.sampled_from(["", "!r", ":5", ":>4", ":.2f", ":d"])).map(
            lambda t: f"f'{{({t[0]})}}{t[1]}'"
        ),
        inner.map(lambda e: f"[x for x in range({e})]"),
        st.tuples(inner, inner).map(lambda t: f"{{'a': {t[0]}, 'b': {t[1]}}}"),
    )


EXPRESSIONS = st.recursive(st.sampled_from(ATOMS), compound, max_leaves=12)
HOSTILE = [
    "().__class__", "A.__class__", "S.join", "S.format(A)", "__import__('os')", "open('x')", "eval('1')", "exec('1')",
    "(y := 3)", "print(A)", "globals()", "getattr(A, 'real')", "type(A)", "object()", "input()",
    "__builtins__", "__name__", "breakpoint()", "super()", "{1, 2}", "b'x'", "1j", "...", "await A",
]  # fmt: skip


def value_of(expression):
    """The constant that the reader binds to `N`, or the NoValue or failure."""
    bound = {}
    original = program._Reader.bind

    def bind(self, name, value, stmt):
        bound[name] = value
        original(self, name, value, stmt)

    program._Reader.bind = bind
    try:
        program_of(Source("<fuzz>", f"{HEAD}N = {expression}\n"))
    except RefmlcError as failure:
        return failure
    finally:
        program._Reader.bind = original
    return bound.get("N", NoValue("never bound"))


def small(expression):
    """Whether Python itself can be let loose on it: no power or shift of large numbers."""
    return "**" not in expression and "<<" not in expression


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(EXPRESSIONS)
def test_a_constant_is_what_python_gives_or_is_refused(expression):
    begin = time.process_time()
    value = value_of(expression)
    assert not isinstance(value, Internal)
    assert time.process_time() - begin < 5
    if isinstance(value, (NoValue, RefmlcError)) or not small(expression) or type(value).__module__ != "builtins":
        return
    names = {}
    exec(compile(ast.parse(HEAD), "<head>", "exec"), names)  # noqa: S102 - drawn from the alphabet above
    expected = eval(expression, names)  # noqa: S307 - the same
    assert type(value) is type(expected)
    assert repr(value) == repr(expected)


@pytest.mark.parametrize("expression", HOSTILE)
def test_what_could_execute_is_refused(expression):
    assert isinstance(value_of(expression), (NoValue, RefmlcError))


@pytest.mark.parametrize("wrap", ["({})", "[{}]", "-{}", "not {}", "{}[0]", "(1 if {} else 2)", "f'{{{}}}'"])
@pytest.mark.parametrize("depth", [100, 1000, 20000])
def test_deep_constants_end_in_a_diagnostic(wrap, depth):
    expression = "1"
    left, right = wrap.format("\0").split("\0")
    expression = left * depth + expression + right * depth
    begin = time.process_time()
    value_of(expression)
    assert time.process_time() - begin < 10


@settings(deadline=None)
@given(st.text(alphabet="()[]{}:.,+-*/%<>=!&|^~@'\"\\\n _abNT019ef#lambdforinx", max_size=60))
def test_any_text_ends_in_a_diagnostic(text):
    value_of(text)
