"""The enclosure arithmetic is sound: whatever a permitted evaluation gives lies inside. Fractions are the judge."""

import math
import os
import random
from fractions import Fraction

import mpmath
import pytest
from hypothesis import assume, example, given, settings, strategies as st
from permitted_evaluations import DIGITS, Evaluation, all_trees, check_against_numpy, evaluated, number, rounded

from refmlc.lang.dtypes import dtype
from refmlc.lang.ops.scalar import SCALAR_OPS
from refmlc.observe.bounds import arithmetic, functions
from refmlc.observe.bounds.enclosure import EQ, GT, LT, Enclosure, absolute, between, greater, join, relation, smaller
from refmlc.observe.bounds.freedom import Freedom
from refmlc.observe.bounds.roundoff import Grid
from refmlc.observe.bounds.summation import gamma, total, total_product, tree_error
from refmlc.observe.bounds.upward import add_up, div_up, dyadic, magnitude, magnitude_down, mul_up, shorten

NAMES = ("float16", "float32")
FEW = settings() if os.environ.get("REFMLC_PROFILE") == "soak" else settings(max_examples=40)  # exact numbers are slow
FREE = Freedom()


def floats(name, size=1.0):
    """Numbers of a dtype, small and large ones, as fractions."""
    digits, least, most = DIGITS[name]
    mantissas = st.integers(-(1 << digits) + 1, (1 << digits) - 1)
    middle = st.integers(-digits - 4, 4)
    anywhere = st.integers(least - digits + 1, int(most * size) - digits)
    return st.builds(lambda m, e: m * Fraction(2) ** e, mantissas, middle | anywhere)


def balls(name, size=1.0):
    """An enclosure and a way to take members of it."""
    radii = st.just(0.0) | st.floats(0, 4) | st.floats(0, 1e-4)
    return st.builds(lambda c, r: Enclosure(c, r * float(abs(c))), floats(name, size), radii)


def member(ball, part):
    """The member at `part` (-1 … 1) of the radius."""
    return ball.centre + Fraction(ball.radius) * Fraction(part)


parts = st.sampled_from((-1.0, 1.0, 0.0)) | st.floats(-1, 1)
seeds = st.integers(0, 1 << 32).map(random.Random)


def test_the_judge_rounds_as_numpy_does():
    check_against_numpy()


positive = st.floats(0, allow_infinity=False)


@FEW
@given(positive, positive)
def test_bounds_are_rounded_up(a, b):
    assert add_up(a, b) >= Fraction(a) + Fraction(b)
    assert mul_up(a, b) >= Fraction(a) * Fraction(b)
    assert div_up(a, b) == math.inf or not a or div_up(a, b) >= Fraction(a) / Fraction(b)


@FEW
@given(st.fractions(), st.integers(-1200, 1200))
def test_sizes_are_bounds_of_what_they_stand_for(x, e):
    x *= Fraction(2) ** e
    assert magnitude_down(x) <= abs(x) <= magnitude(x)
    near, lost = dyadic(x)
    assert abs(near - x) <= lost


@FEW
@given(st.integers(-(1 << 900), 1 << 900), st.integers(0, 3000), st.floats(0, 1))
def test_a_shortened_centre_stays_within_its_bound(top, digits, bound):
    x = Fraction(top, 1 << digits)
    near, grown = shorten(x, bound)
    assert grown == math.inf or abs(near - x) + Fraction(bound) <= Fraction(grown)


@pytest.mark.parametrize("name", NAMES)
@FEW
@given(data=st.data())
def test_one_operation_and_any_rounding_stays_inside(name, data):
    a, b = data.draw(balls(name, 0.5)), data.draw(balls(name, 0.5))
    x, y = member(a, data.draw(parts)), member(b, data.draw(parts))
    evaluation, grid = Evaluation(data.draw(seeds), name), Grid(dtype(name), FREE)
    for exact, found in (
        (x + y, arithmetic.add(a, b, grid)),
        (x - y, arithmetic.subtract(a, b, grid)),
        (x * y, arithmetic.multiply(a, b, grid)),
        (x / y if y else None, arithmetic.divide(a, b, grid)),
    ):
        if exact is not None:
            assert found.contains(number(evaluation.round(exact)))
            assert found.radius == math.inf or abs(exact - found.centre) <= found.radius


@pytest.mark.parametrize("name", NAMES)
@FEW
@given(data=st.data())
def test_without_freedom_a_rounding_of_one_number_is_tight(name, data):
    a, b = data.draw(floats(name, 0.4)), data.draw(floats(name, 0.4))
    found = arithmetic.multiply(Enclosure(a), Enclosure(b), Grid(dtype(name), Freedom(wide=False)))
    nearest = rounded(a * b, name)
    assume(not isinstance(nearest, float))
    moved = abs(nearest - a * b)
    assert moved <= found.radius <= moved * (1 + Fraction(1, 1 << 40))


@pytest.mark.parametrize("name", NAMES)
@FEW
@given(data=st.data())
def test_a_fused_product_stays_inside_of_the_sum_of_a_rounded_one(name, data):
    a, b, c = (data.draw(floats(name, 0.3)) for _ in range(3))
    grid = Grid(dtype(name), FREE)
    written = arithmetic.add(arithmetic.multiply(Enclosure(a), Enclosure(b), grid), Enclosure(c), grid)
    assert written.contains(number(rounded(a * b + c, name)))
    assert arithmetic.multiply_add(Enclosure(a), Enclosure(b), Enclosure(c), grid).contains(
        number(rounded(a * b + c, name))
    )


@pytest.mark.parametrize("name", NAMES)
@FEW
@given(data=st.data())
def test_a_square_root_stays_inside(name, data):
    a = data.draw(balls(name))
    x = member(a, data.draw(parts))
    assume(x >= 0)
    with mpmath.workprec(400):
        root = mpmath.sqrt(mpmath.mpf(x.numerator) / x.denominator)
        exact = Fraction(int(mpmath.floor(root * mpmath.mpf(2) ** 300)), 1 << 300)
    found = arithmetic.square_root(a, Grid(dtype(name), FREE))
    assert found.contains(number(Evaluation(data.draw(seeds), name).round(exact)))


@pytest.mark.parametrize("name", NAMES)
@FEW
@given(data=st.data())
def test_a_sum_along_any_tree_with_any_rounding_stays_inside(name, data):
    pairs = data.draw(st.lists(st.tuples(floats(name, 0.5), floats(name, 0.4)), max_size=12))
    evaluation, grid = Evaluation(data.draw(seeds), name), Grid(dtype(name), FREE)
    terms = [arithmetic.multiply(Enclosure(a), Enclosure(b), grid) for a, b in pairs]
    found = total(terms, grid)
    assert found.contains(number(evaluation.sum([evaluation.product(a, b) for a, b in pairs])))
    exact = sum((a * b for a, b in pairs), Fraction(0))
    assert found.radius == math.inf or abs(exact - found.centre) <= found.radius


@pytest.mark.parametrize("name", NAMES)
@FEW
@given(st.data())
def test_the_bound_of_a_sum_holds_for_every_tree_there_is(name, data):
    terms = data.draw(st.lists(floats(name, 0.1), min_size=1, max_size=5))
    grid = Grid(dtype(name), Freedom(wide=False))
    exact = sum(terms, Fraction(0))
    error, _, _ = tree_error([Enclosure(term) for term in terms], magnitude(exact), grid)
    assert all(abs(evaluated(tree, name) - exact) <= error for tree in all_trees(terms))


def test_sums_of_small_whole_numbers_are_exact():
    grid = Grid(dtype("float16"), FREE)
    assert total([Enclosure(Fraction(n % 17 - 8)) for n in range(200)], grid).radius == 0.0
    assert total([Enclosure(Fraction(2048)), Enclosure(Fraction(1))], grid).radius > 0.0


@pytest.mark.parametrize("name", NAMES)
@FEW
@given(data=st.data())
def test_a_product_along_any_chain_stays_inside(name, data):
    values = data.draw(st.lists(floats(name, 0.2), max_size=8))
    evaluation, grid = Evaluation(data.draw(seeds), name), Grid(dtype(name), FREE)
    found = total_product([Enclosure(x) for x in values], grid)
    evaluation.random.shuffle(values)
    product = Fraction(1)
    for x in values:
        exact = product * x if not isinstance(product, float) else product * number(x)
        product = evaluation.round(exact)
        if isinstance(product, float):
            break
    assert found.contains(number(product if isinstance(product, float) else rounded(product, name)))


@FEW
@given(st.integers(0, 5000), st.integers(1, 40))
def test_gamma_bounds_the_growth_of_errors(count, digits):
    unit = Fraction(1, 1 << digits)
    assume(count * unit < Fraction(1, 2))
    assert gamma(count, float(unit)) >= (1 + unit) ** count - 1


@FEW
@given(st.data())
def test_sets_and_relations_hold_their_members(data):
    a, b = data.draw(balls("float32", 0.2)), data.draw(balls("float32", 0.2))
    x, y = member(a, data.draw(parts)), member(b, data.draw(parts))
    assert relation(a, b) & (LT if x < y else EQ if x == y else GT)

    def holds(ball, value):
        return ball.radius == math.inf or abs(value - ball.centre) <= ball.radius

    assert holds(greater(a, b), max(x, y))
    assert holds(smaller(a, b), min(x, y))
    assert holds(absolute(a), abs(x))
    assert holds(join(a, b), x)
    assert holds(join(a, b), y)
    assert holds(between(min(x, y), max(x, y)), x)


MPMATH = {
    "exp": mpmath.exp,
    "exp2": lambda x: mpmath.mpf(2) ** x,
    "exp10": lambda x: mpmath.mpf(10) ** x,
    "log": mpmath.log,
    "log2": lambda x: mpmath.log(x, 2),
    "log10": mpmath.log10,
    "log1p": mpmath.log1p,
    "sin": mpmath.sin,
    "cos": mpmath.cos,
    "tan": mpmath.tan,
    "sinh": mpmath.sinh,
    "cosh": mpmath.cosh,
    "tanh": mpmath.tanh,
    "asin": mpmath.asin,
    "acos": mpmath.acos,
    "atan": mpmath.atan,
    "asinh": mpmath.asinh,
    "acosh": mpmath.acosh,
    "atanh": mpmath.atanh,
    "sigmoid": lambda x: 1 / (1 + mpmath.exp(-x)),
    "erf": mpmath.erf,
    "rsqrt": lambda x: 1 / mpmath.sqrt(x),
}


def test_every_function_of_one_float_has_a_witness():
    unary = {name for name, row in SCALAR_OPS.items() if row.contract.clause in ("NUM-501", "NUM-502")}
    assert unary - {"sqrt"} == set(MPMATH)


@pytest.mark.parametrize("function", MPMATH)
@FEW
@given(data=st.data())
def test_a_function_of_any_member_stays_inside(function, data):
    centre = data.draw(st.floats(-1.125, 1.125, width=32) | st.floats(-90, 90, width=32))
    a = Enclosure(Fraction(centre), data.draw(st.just(0.0) | st.floats(0, 1e-3) | st.floats(0, 3)))
    x = member(a, data.draw(parts))
    grid = Grid(dtype("float32"), FREE)
    found = functions.unary(function, a, grid, FREE)
    with mpmath.workprec(300):
        try:
            exact = MPMATH[function](mpmath.mpf(x.numerator) / x.denominator)
        except (ValueError, ZeroDivisionError):
            exact = mpmath.nan
        if isinstance(exact, mpmath.mpc) or not mpmath.isfinite(exact):
            assert found.specials
            return
        value = Fraction(int(mpmath.floor(exact * mpmath.mpf(2) ** 600)), 1 << 600) if exact else Fraction(0)
    assert found.contains(number(rounded(value, "float32")))


@pytest.mark.parametrize("function", ["pow", "hypot", "atan2"])
@FEW
@given(data=st.data())
def test_a_function_of_two_members_stays_inside(function, data):
    radii = st.just(0.0) | st.floats(0, 1)
    a, b = (Enclosure(Fraction(data.draw(st.floats(-9, 9, width=32))), data.draw(radii)) for _ in range(2))
    x, y = member(a, data.draw(parts)), member(b, data.draw(parts))
    assume(function != "atan2" or x or y)
    grid = Grid(dtype("float32"), FREE)
    found = functions.binary(function, a, b, grid, FREE)
    with mpmath.workprec(300):
        left, right = mpmath.mpf(x.numerator) / x.denominator, mpmath.mpf(y.numerator) / y.denominator
        try:
            exact = {"pow": mpmath.power, "hypot": mpmath.hypot, "atan2": mpmath.atan2}[function](left, right)
        except (ValueError, ZeroDivisionError):
            exact = mpmath.nan
        if isinstance(exact, mpmath.mpc) or not mpmath.isfinite(exact):
            assert found.specials
            return
        value = Fraction(int(mpmath.floor(exact * mpmath.mpf(2) ** 600)), 1 << 600)
    assert found.contains(number(rounded(value, "float32")))


@pytest.mark.parametrize("function", ["ceil", "floor", "trunc", "round"])
@example(2.5, 0.0, 0.0)
@FEW
@given(st.floats(-50, 50, width=32), st.just(0.0) | st.floats(0, 3), parts)
def test_whole_parts_of_members_stay_inside(function, centre, radius, part):
    a = Enclosure(Fraction(centre), radius)
    whole = {"ceil": math.ceil, "floor": math.floor, "trunc": math.trunc, "round": round}[function](member(a, part))
    assert functions.unary(function, a, Grid(dtype("float32"), FREE), FREE).contains(float(whole))
