"""Polynomials mean what the expressions mean: evaluated at random values of the variables."""

from hypothesis import given, strategies as st

from refmlc.lang.arith.extents import certainly_different, polynomial
from refmlc.lang.arith.polynomial import constant
from refmlc.lang.dtypes import INT64
from refmlc.lang.ir import tir

VARIABLES = tuple(tir.Var(name, INT64) for name in "abc")
MEANING = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
}
values = st.fixed_dictionaries({var: st.integers(-9, 9) for var in VARIABLES})
expressions = st.recursive(
    st.sampled_from(VARIABLES) | st.integers(-9, 9).map(lambda value: tir.IntImm(INT64, value)),
    lambda inner: st.builds(
        lambda op, a, b: tir.Apply(op, (a, b), INT64), st.sampled_from(sorted(MEANING)), inner, inner
    ),
    max_leaves=6,
)


def evaluate(expr, env):
    match expr:
        case tir.IntImm(_, value):
            return value
        case tir.Var():
            return env[expr]
        case tir.Apply(op, (a, b)):
            return MEANING[op](evaluate(a, env), evaluate(b, env))


def at(poly, env):
    total = 0
    for monomial, factor in poly.terms.items():
        product = factor
        for var in monomial:
            product *= env[var]
        total += product
    return total


@given(expressions, values)
def test_a_polynomial_has_the_value_of_its_expression(expr, env):
    assert at(polynomial(expr, {}), env) == evaluate(expr, env)


@given(expressions, expressions, values)
def test_certainly_different_dimensions_differ(a, b, env):
    if certainly_different(polynomial(a, {}), polynomial(b, {})):
        assert evaluate(a, env) != evaluate(b, env)


@given(expressions, values)
def test_replacing_variables_is_evaluating(expr, env):
    known = {var: constant(value) for var, value in env.items()}
    value = evaluate(expr, env)
    assert polynomial(expr, known).only == value


@given(expressions)
def test_an_expression_does_not_differ_from_itself(expr):
    assert (polynomial(expr, {}) - polynomial(expr, {})).only == 0
