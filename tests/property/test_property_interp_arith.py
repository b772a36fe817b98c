"""The operators that the interpreter writes out agree with their rows, on every dtype they are written out for."""

import math

import pytest
from hypothesis import given, strategies as st

from refmlc.diag import RefmlcError
from refmlc.lang.dtypes import BOOL, SCALARS
from refmlc.lang.dtypes.rounding import rounder
from refmlc.lang.ir import IRModule, tir
from refmlc.lang.ops.contract import UndefinedValue
from refmlc.lang.ops.scalar import SCALAR_OPS
from refmlc.run.interp.machine import Machine

INTS = [SCALARS[f"{kind}{bits}"] for kind in ("int", "uint") for bits in (1, 4, 8, 16, 32, 64)]
FLOATS = [SCALARS["float32"], SCALARS["float64"]]
COMPARE = ("eq", "ne", "lt", "le", "gt", "ge")


def prepared(op, dtype, result, *, plain):
    """The interpreter's function of two operands: plain variables, or expressions of the same value."""
    a, b, c, d = (tir.Var(name, dtype) for name in "abcd")
    operands = (a, b) if plain else (tir.Let(c, a, c), tir.Let(d, b, d))
    func = tir.PrimFunc((a, b), {}, tir.Return(tir.Apply(op, operands, result)))
    return lambda x, y: Machine(IRModule({"f": func})).call("f", (x, y))


def outcome(function, *args):
    try:
        return function(*args)
    except UndefinedValue as undefined:
        return undefined.code.id
    except RefmlcError as failure:
        return failure.code.id


def operands(dtype):
    if dtype.is_integer:
        near = st.integers(-3, 3).map(lambda x: min(max(x, dtype.minimum), dtype.maximum))
        ends = st.integers(0, 3).flatmap(
            lambda x: st.sampled_from([max(dtype.minimum, dtype.maximum - x), min(dtype.minimum + x, dtype.maximum)])
        )
        return near | ends | st.integers(dtype.minimum, dtype.maximum)
    return st.floats().map(rounder(dtype)) | st.sampled_from([0.0, -0.0, math.inf, -math.inf, math.nan])


def same(a, b):
    if isinstance(a, float) and isinstance(b, float):
        return (math.isnan(a) and math.isnan(b)) or (a == b and math.copysign(1, a) == math.copysign(1, b))
    return type(a) is type(b) and a == b


@pytest.mark.parametrize("op", ["add", "sub", "mul", "floordiv", "floormod", *COMPARE])
@given(data=st.data())
def test_integers(op, data):
    dtype = data.draw(st.sampled_from(INTS))
    x, y = data.draw(operands(dtype)), data.draw(operands(dtype))
    result = BOOL if op in COMPARE else dtype
    row = SCALAR_OPS[op].value((dtype, dtype), result)
    for plain in (True, False):
        assert same(outcome(prepared(op, dtype, result, plain=plain), x, y), outcome(row, x, y))


@pytest.mark.parametrize("op", ["add", "sub", "mul", *COMPARE])
@given(data=st.data())
def test_floats(op, data):
    dtype = data.draw(st.sampled_from(FLOATS))
    x, y = data.draw(operands(dtype)), data.draw(operands(dtype))
    result = BOOL if op in COMPARE else dtype
    row = SCALAR_OPS[op].value((dtype, dtype), result)
    for plain in (True, False):
        assert same(outcome(prepared(op, dtype, result, plain=plain), x, y), outcome(row, x, y))
