"""Strategies of values, tensors and expressions: what they give is what they say, and they reach the corners."""

import math

import numpy as np
import pytest
from hypothesis import HealthCheck, find, given, settings, strategies as st

from refmlc.diag import RefmlcError
from refmlc.lang.dtypes import BOOL, FLOAT32, INT32, SCALARS
from refmlc.lang.dtypes.rounding import rounder
from refmlc.lang.ir import IRModule, tir
from refmlc.run.interp.machine import Machine
from refmlc.run.memory.tensor import Tensor
from refmlc.strategies import dtypes, prim_exprs, scalars, shapes, tensors

QUICK = settings(max_examples=60, database=None)
FINDING = settings(max_examples=3000, database=None, suppress_health_check=list(HealthCheck))
FLOATS = ("float16", "float32", "float64", "bfloat16", "float8_e4m3fn", "float8_e5m2", "float4_e2m1fn")


@QUICK
@given(st.data())
def test_a_scalar_is_a_value_of_its_dtype(data):
    kind = data.draw(dtypes())
    value = data.draw(scalars(kind))
    if kind.is_float:
        assert math.isnan(value) or rounder(kind)(value) == value
    elif kind.is_integer:
        assert kind.minimum <= value <= kind.maximum
    else:
        assert value in (0, 1)


@pytest.mark.parametrize(
    "wanted",
    [
        math.isnan,
        lambda value: value == math.inf,
        lambda value: value == 0 and math.copysign(1, value) < 0,
        lambda value: 0 < value < 2.0**-126,
        lambda value: value == 3.4028234663852886e38,
    ],
    ids=["nan", "inf", "-0", "subnormal", "greatest"],
)
def test_the_corners_of_float32_are_reached(wanted):
    assert wanted(find(scalars(FLOAT32), wanted, settings=FINDING))


@pytest.mark.parametrize("value", [-(2**31), 2**31 - 1, 0, -1])
def test_the_corners_of_int32_are_reached(value):
    assert find(scalars(INT32), lambda found: found == value, settings=FINDING) == value


def test_they_shrink_to_the_simplest():
    assert find(dtypes(), lambda _: True) == FLOAT32
    assert find(scalars(FLOAT32), lambda _: True) == 0.0
    assert find(shapes(), lambda _: True) == ()
    assert find(shapes(), lambda shape: math.prod(shape) > 3) in [(4,), (2, 2)]


@QUICK
@given(st.data())
def test_a_tensor_has_its_dtype_and_shape_and_is_all_written(data):
    kind, shape = data.draw(dtypes()), data.draw(shapes(max_rank=3))
    found = data.draw(tensors(kind, shape))
    assert isinstance(found, Tensor)
    assert (found.dtype, found.shape, found.initialised) == (kind, shape, True)


@QUICK
@given(tensors(INT32, (3,), st.integers(5, 9)))
def test_elements_are_those_that_are_asked_for(tensor):
    assert all(5 <= one <= 9 for one in tensor.numpy().tolist())


@pytest.mark.parametrize("name", FLOATS)
def test_an_element_is_the_scalar_that_was_drawn(name):
    kind = SCALARS[name]
    found = find(tensors(kind, (1,), st.just(1.5)), lambda _: True)
    assert float(found.numpy().astype(np.float64)[0]) == 1.5


X, Y, Z = tir.Var("x", INT32), tir.Var("y", INT32), tir.Var("z", FLOAT32)


def value_of(expr, params, args):
    """What the interpreter makes of an expression; RM3xx where it is undefined."""
    func = tir.PrimFunc(params, {}, tir.Return(expr), {}, expr.dtype)
    return Machine(IRModule({"main": func})).call("main", list(args))


@settings(max_examples=80, database=None)
@given(st.data())
def test_an_expression_is_defined_for_all_values_of_its_variables(data):
    kind = data.draw(st.sampled_from((INT32, FLOAT32, BOOL, SCALARS["int64"], SCALARS["uint8"])))
    expr = data.draw(prim_exprs(kind, [X, Y, Z]))
    assert expr.dtype == kind
    value_of(expr, (X, Y, Z), (data.draw(scalars(INT32)), data.draw(scalars(INT32)), data.draw(scalars(FLOAT32))))


@pytest.mark.parametrize("aim", ["RM306", "RM307", "RM308", "RM309"])
def test_an_expression_with_an_aim_hits_it(aim):
    def hits(drawn):
        try:
            value_of(drawn[0], (X, Y), drawn[1:])
        except RefmlcError as failure:
            return failure.code.id == aim
        return False

    drawn = st.tuples(prim_exprs(INT32, [X, Y], aim=aim), scalars(INT32), scalars(INT32))
    assert hits(find(drawn, hits, settings=FINDING))
