"""Every law of every contract, on every dtype that the operator accepts."""

import math

import pytest
from hypothesis import given, settings, strategies as st

from refmlc.lang.dtypes import SCALARS
from refmlc.lang.dtypes.rounding import rounder
from refmlc.lang.ops.contract import UndefinedValue
from refmlc.lang.ops.laws import LAWS, Law, Setting, holds, same
from refmlc.lang.ops.scalar import SCALAR_OPS

CASES = [(name, law) for name, row in SCALAR_OPS.items() for law in row.contract.laws]


def operands_of(row):
    if row.kind == "bool":
        return st.booleans()
    if row.is_integer:
        return st.integers(row.minimum, row.maximum) | st.integers(max(row.minimum, -5), min(row.maximum, 5))
    numbers = st.floats(-4, 4) | st.floats() | st.integers(-300, 300).map(float)
    return numbers.map(rounder(row)).filter(lambda x: row.format.has_nan or not math.isnan(x))


def setting_of(name, row):
    def function(op):
        contract = SCALAR_OPS[op].contract
        operands = (row,) * contract.arity
        return SCALAR_OPS[op].value(operands, contract.result_dtype(operands))

    return Setting(row, function(name), function)


SETTINGS = {
    name: [setting_of(name, row) for row in SCALARS.values() if SCALAR_OPS[name].contract.accepts_dtype(row)]
    for name in {name for name, _ in CASES}
}


@pytest.mark.parametrize(("name", "law"), CASES, ids=[f"{name}-{law}" for name, law in CASES])
@settings(max_examples=60)
@given(data=st.data())
def test_law(name, law, data):
    setting = data.draw(st.sampled_from(SETTINGS[name]), label="dtype")
    drawn = [data.draw(operands_of(setting.dtype)) for _ in range(LAWS[law].operands)]
    assert holds(LAWS[law], setting, *drawn) is not False, (name, law, str(setting.dtype), drawn)


def test_a_broken_operator_breaks_its_law():
    row = SCALARS["int32"]
    broken = Setting(row, lambda a, b: a - b, setting_of("add", row).other)
    assert holds(LAWS["commutative"], broken, 1, 2) is False
    assert holds(LAWS["associative-int"], broken, 1, 2, 3) is False
    assert holds(LAWS["commutative"], broken, 1, 1) is True


def test_the_undefined_is_beyond_laws():
    row = SCALARS["int32"]
    assert holds(LAWS["commutative"], setting_of("add", row), 2**31 - 1, 1) is None
    assert holds(LAWS["commutative-int"], setting_of("max", SCALARS["float32"]), 0.0, -0.0) is None
    with pytest.raises(UndefinedValue):
        setting_of("add", row).f(2**31 - 1, 1)
    assert Law("nothing", 0, lambda _: None).holds(None) is None


def test_sameness():
    assert same(math.nan, -math.nan)
    assert not same(math.nan, 1.0)
    assert not same(0.0, -0.0)
    assert same(1, 1)
