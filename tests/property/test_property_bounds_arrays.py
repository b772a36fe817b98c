"""Enclosures in arrays are sound: they hold what permitted evaluations give, and what numbers, one by one, enclose.

`arrays_from=0` lets every plain function run on arrays. Judges are exact fractions, mpmath, other evaluations of
programs of operators, and the certificate of numbers: the exact result lies in both.
"""

import math
import random
from collections import Counter
from fractions import Fraction
from functools import cache

import mpmath
import numpy as np
import pytest
from hypothesis import given, strategies as st
from permitted_evaluations import Evaluation, number, rounded
from test_property_bounds_enclosures import FEW, MPMATH, floats, parts
from test_property_bounds_variants import Widened, fused, mixed

from refmlc.diag import RefmlcError
from refmlc.lang.dtypes import dtype
from refmlc.lang.ir import IRModule, tir
from refmlc.lang.ir.visit import rewrite
from refmlc.lang.script import read
from refmlc.observe.bounds import array_nests, ball_functions, balls
from refmlc.observe.bounds.balls import Balls
from refmlc.observe.bounds.certify import certify
from refmlc.observe.bounds.enclosure import Enclosure
from refmlc.observe.bounds.freedom import Freedom
from refmlc.observe.bounds.graph import tensors
from refmlc.observe.bounds.roundoff import Grid
from refmlc.rewrite.transform import legalize_ops
from refmlc.run.interp.machine import Machine
from refmlc.strategies.operators.program import rolled_operators

FREE = Freedom()
NAMES = ("float16", "float32")


def one(mid, rad):
    """A ball in arrays of one element."""
    return Balls(np.array([mid], np.float64), np.array([rad], np.float64))


def holds(found, value):
    """Whether the only element may be `value`, a float or a fraction."""
    mid, rad = found.mid.item(), found.rad.item()
    if rad == math.inf:
        return True
    if isinstance(value, float) and not math.isfinite(value):
        return mid == value or (math.isnan(mid) and math.isnan(value))
    return math.isfinite(mid) and abs(Fraction(value) - Fraction(mid)) <= Fraction(rad)


def drawn(data, name, size=0.5):
    """A ball whose centre is a number of the dtype, and a member of it."""
    mid = float(data.draw(floats(name, size)))
    rad = data.draw(st.just(0.0) | st.floats(0, 4) | st.floats(0, 1e-4)) * abs(mid)
    return one(mid, rad), Fraction(mid) + Fraction(rad) * Fraction(data.draw(parts))


@pytest.mark.parametrize("name", NAMES)
@FEW
@given(data=st.data())
def test_one_operation_and_any_rounding_stays_inside(name, data):
    (a, x), (b, y) = drawn(data, name), drawn(data, name)
    evaluation, grid = Evaluation(data.draw(st.integers(0, 99).map(random.Random)), name), Grid(dtype(name), FREE)
    with np.errstate(all="ignore"):
        rows = (
            (x + y, balls.add(a, b, grid)),
            (x - y, balls.subtract(a, b, grid)),
            (x * y, balls.multiply(a, b, grid)),
            (x / y if y else None, balls.divide(a, b, grid)),
        )
    for exact, found in rows:
        if exact is not None:
            assert holds(found, exact)
            assert holds(found, number(evaluation.round(exact)))


@FEW
@given(data=st.data())
def test_choices_and_extremes_hold_their_members(data):
    (a, x), (b, y) = drawn(data, "float32"), drawn(data, "float32")
    assert holds(balls.greater(a, b), max(x, y))
    assert holds(balls.smaller(a, b), min(x, y))
    assert holds(balls.absolute(a), abs(x))
    assert holds(balls.join(a, b), x)
    assert holds(balls.join(a, b), y)


SPECIALS = (math.inf, -math.inf, math.nan, 0.0, -0.0, 1.5, -2.0)
OPERATORS = {
    "add": (balls.add, lambda x, y: x + y),
    "sub": (balls.subtract, lambda x, y: x - y),
    "mul": (balls.multiply, lambda x, y: x * y),
    "div": (balls.divide, np.divide),
    "max": (lambda a, b, _: balls.greater(a, b), lambda x, y: np.where(x > y, x, y)),
    "min": (lambda a, b, _: balls.smaller(a, b), lambda x, y: np.where(x < y, x, y)),
}


@pytest.mark.parametrize("operator", OPERATORS)
def test_special_values_have_the_results_of_ieee_754(operator):
    on_balls, on_floats = OPERATORS[operator]
    grid = Grid(dtype("float32"), FREE)
    certain = 0
    for x in SPECIALS:
        for y in SPECIALS:
            with np.errstate(all="ignore"):
                found = on_balls(one(x, 0.0), one(y, 0.0), grid)
                value = float(on_floats(np.float64(x), np.float64(y)))
            assert holds(found, value), (x, y)
            certain += found.rad.item() != math.inf
    assert certain >= 30


@pytest.mark.parametrize("x", [math.inf, -math.inf, math.nan])
@pytest.mark.parametrize("operator", OPERATORS)
def test_a_special_value_with_a_ball_holds_every_outcome(operator, x):
    on_balls, on_floats = OPERATORS[operator]
    for mid, rad in ((1.0, 0.5), (-1.0, 0.5), (0.25, 0.5), (0.0, 0.0)):
        for y in (mid - rad, mid, mid + rad):
            with np.errstate(all="ignore"):
                pairs = (
                    (on_balls(one(x, 0.0), one(mid, rad), Grid(dtype("float32"), FREE)), on_floats(np.float64(x), y)),
                    (on_balls(one(mid, rad), one(x, 0.0), Grid(dtype("float32"), FREE)), on_floats(np.float64(y), x)),
                )
            assert all(holds(found, float(value)) for found, value in pairs)


@pytest.mark.parametrize("function", [*ball_functions.VALUES, "sin", "cos"])
@FEW
@given(data=st.data())
def test_a_function_of_any_member_stays_inside(function, data):
    mid = data.draw(st.floats(-1.125, 1.125, width=32) | st.floats(-90, 90, width=32))
    rad = data.draw(st.just(0.0) | st.floats(0, 1e-3) | st.floats(0, 3))
    x = Fraction(mid) + Fraction(rad) * Fraction(data.draw(parts))
    with np.errstate(all="ignore"):
        found = ball_functions.unary(function, one(mid, rad), Grid(dtype("float32"), FREE), FREE)
    with mpmath.workprec(300):
        try:
            exact = MPMATH[function](mpmath.mpf(x.numerator) / x.denominator)
        except (ValueError, ZeroDivisionError):
            exact = mpmath.nan
        if isinstance(exact, mpmath.mpc) or not mpmath.isfinite(exact):
            assert found.rad.item() == math.inf or not math.isfinite(found.mid.item())
            return
        value = Fraction(int(mpmath.floor(exact * mpmath.mpf(2) ** 600)), 1 << 600) if exact else Fraction(0)
    assert holds(found, value)
    assert holds(found, number(rounded(value, "float32")))


@pytest.mark.parametrize("function", ball_functions.VALUES)
def test_numpy_is_much_closer_than_the_slack(function):
    generator = np.random.default_rng(5)
    values = np.concatenate([generator.uniform(-1.1, 1.1, 150), generator.uniform(-80, 80, 150)])
    with np.errstate(all="ignore"):
        computed = ball_functions.VALUES[function](values)
    checked = 0
    for x, y in zip(values.tolist(), computed.tolist(), strict=True):
        if not math.isfinite(y) or y == 0.0:
            continue
        with mpmath.workprec(200):
            exact = MPMATH[function](mpmath.mpf(x))
            assert abs(mpmath.mpf(y) - exact) <= abs(exact) * ball_functions.SLACK / 16, x
        checked += 1
    assert checked > 20


@FEW
@given(st.floats(-4, 4, width=32), st.floats(0, 1), parts, st.integers(1, 7) | st.floats(-3, 3, width=32))
def test_a_power_of_any_member_stays_inside(mid, rad, part, exponent):
    x = Fraction(mid) + Fraction(rad) * Fraction(part)
    with np.errstate(all="ignore"):
        found = ball_functions.power(one(mid, rad), one(exponent, 0.0), Grid(dtype("float32"), FREE), FREE)
    if isinstance(exponent, int):
        assert holds(found, x**exponent)
    elif x > 0:
        with mpmath.workprec(300):
            exact = mpmath.power(mpmath.mpf(x.numerator) / x.denominator, exponent)
            value = Fraction(int(mpmath.floor(exact * mpmath.mpf(2) ** 400)), 1 << 400)
        assert holds(found, value)
    else:
        assert found.rad.item() == math.inf


DOT = """
@T.prim_func(s_tir=True)
def main(A: T.Buffer((2, {n}), "{name}"), B: T.Buffer(({n}, 3), "{name}"), C: T.Buffer((2, 3), "{name}")):
    for i, j, k in T.grid(2, 3, {n}):
        with T.sblock("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.Cast("{name}", T.float32(0))
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
"""


@pytest.mark.parametrize("name", NAMES)
@FEW
@given(data=st.data())
def test_a_sum_of_products_along_any_tree_stays_inside(name, data):
    count = data.draw(st.integers(1, 12))
    rows = [[float(data.draw(floats(name, 0.3))) for _ in range(count)] for _ in range(2)]
    columns = [[float(data.draw(floats(name, 0.3))) for _ in range(count)] for _ in range(3)]
    args = [np.array(rows, name), np.array(columns, name).T.copy(), np.zeros((2, 3), name)]
    (found,) = certify(read(DOT.format(n=count, name=name)), "main", args, arrays_from=0).outputs
    (narrow,) = certify(read(DOT.format(n=count, name=name)), "main", args).outputs
    evaluation = Evaluation(data.draw(st.integers(0, 99).map(random.Random)), name)
    for at in range(6):
        pairs = [(Fraction(a), Fraction(b)) for a, b in zip(rows[at // 3], columns[at % 3], strict=True)]
        exact = sum((a * b for a, b in pairs), Fraction(0))
        element = found.elements[at]
        assert element.radius == math.inf or abs(exact - element.centre) <= element.radius
        assert found.permits(at, number(evaluation.sum([evaluation.product(a, b) for a, b in pairs])))
        assert element.radius == math.inf or narrow.elements[at].radius <= 2 * element.radius


@cache
def operator_programs():
    """What lay outside among programs of operators of Relax, and how many functions ran on arrays.

    The judges: the interpreter's result, other permitted evaluations, and the centre of numbers, which is the exact
    result.
    """
    wrong, counts = [], Counter()
    execute = array_nests.execute_on_arrays

    def counting(run, plain):
        execute(run, plain)
        counts["on arrays"] += 1

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("refmlc.observe.bounds.graph.execute_on_arrays", counting)
        for seed in range(250):
            case = rolled_operators(seed)
            module = legalize_ops(case.module)
            try:
                narrow = certify(module, case.func, case.arguments())
                found = certify(module, case.func, case.arguments(), arrays_from=0)
            except RefmlcError:
                continue
            counts["programs"] += 1
            for kind, result in evaluations(module, case, seed):
                counts[kind] += 1
                for output, tensor in zip(found.outputs, result, strict=True):
                    values = np.ravel(tensor.array)
                    counts["differing"] += tensor.array.tobytes() != output.reference.tobytes()
                    lost = [at for at in range(values.size) if not permitted(output, at, values[at].item())]
                    wrong += [(seed, kind, output.name, at) for at in lost]
            for exact, output in zip(narrow.outputs, found.outputs, strict=True):
                values = np.ravel(output.reference)
                for at, (element, reference) in enumerate(zip(output.elements, exact.elements, strict=True)):
                    value = values[at].item()
                    inside = permitted(output, at, value)
                    if isinstance(reference, Enclosure) and reference.finite and isinstance(element, Enclosure):
                        counts["numbers"] += 1
                        counts["anything"] += element.radius == math.inf > reference.radius
                        if not (element.finite and abs(reference.centre - element.centre) <= as_fraction(element)):
                            inside = False
                    if not inside:
                        wrong.append((seed, output.name, at, value, element, reference))
    return wrong, counts


def permitted(output, at, value):
    value = value if isinstance(value, bool | int | float) else float(value)
    return output.elements[at] is None or output.permits(at, value)


def evaluations(module, case, seed):
    """The results of other permitted evaluations of the module, those that are defined."""
    generator = random.Random(seed)  # noqa: S311 - reproducible
    for name, change in (("wide", Widened()), ("fused", fused), ("mixed", mixed(generator))):
        functions = {
            key: rewrite(func, change) if isinstance(func, tir.PrimFunc) else func
            for key, func in module.functions.items()
        }
        if all(func is functions[key] for key, func in module.functions.items()):
            continue
        try:
            result = Machine(IRModule(functions)).call(case.func, case.arguments())
        except RefmlcError:
            continue
        yield name, list(tensors(result))


def as_fraction(element):
    return element.radius if element.radius == math.inf else Fraction(element.radius)


def test_operators_lie_inside():
    wrong, counts = operator_programs()
    assert wrong == []
    assert counts["programs"] >= 150, counts
    assert counts["on arrays"] >= 150, counts
    assert counts["numbers"] > 1000, counts
    assert min(counts["wide"], counts["fused"], counts["mixed"]) >= 10, counts
    assert counts["differing"] >= 10, counts
    assert counts["anything"] < counts["numbers"] / 5, counts
