"""Every operator's C helper against its value function: all pairs at 8 bits and below, all values of 16 bits."""

import itertools
import os

import numpy as np
import pytest
from points import binary, boundary, chance, columns, differing, expected, first_lines, unary, value_type
from wrappers import OWN, operator_helpers

from refmlc.lang.dtypes import BOOL, SCALARS
from refmlc.lang.ops.scalar import SCALAR_OPS
from refmlc.native import kernels

RANDOM = 100_000 if os.environ.get("REFMLC_PROFILE") == "soak" else 1500
HELPERS = operator_helpers()
INT64 = SCALARS["int64"]
PER_AXIS = tuple(SCALARS[name] for name in ("int32", "int32", "int32", "int32", "int32", "bool", "bool"))
EXPONENTS = (0, 1, -1, 2, -2, 7, -9, 23, -30, 127, -149, 150, 1023, -1074, 2200, -2200, 2**31 - 1, -(2**31), 2**62)


def operands_of(contract, dtype):
    """The dtypes of the operands, and columns of values."""
    match contract.name:
        case "ldexp":
            pairs = itertools.product([*boundary(dtype), *chance(dtype, 200, 5)], EXPONENTS)
            return (dtype, INT64), [list(column) for column in zip(*pairs, strict=True)]
        case "q_multiply_shift":
            return (dtype,) * 4, fixed_point(
                ((-1, 0, 1, 15, 31, 32, 62, 63, 64), (-64, -32, -1, 0, 1, 30, 31, 62, 63, 64))
            )
        case "q_multiply_shift_per_axis":
            counts = (-1, 0, 1, 5, 32, 63, 64)
            return PER_AXIS, fixed_point((counts, counts, (-1, 0, 1, 31, 32, 58, 63), (False, True), (False, True)), 12)
    shape = unary if contract.arity == 1 else binary
    return (dtype,) * contract.arity, shape(dtype, RANDOM)


def fixed_point(others, count=30):
    """x, y from int32, and every choice of the others."""
    x, y = chance(SCALARS["int32"], count, 6), chance(SCALARS["int32"], count, 7)
    factors = zip([*x, 3, -1, -(2**31), 2**31 - 1], [*y, 1 << 30, 1, -(2**31), 2**31 - 1], strict=True)
    rows = [(*pair, *rest) for pair, rest in itertools.product(factors, itertools.product(*others))]
    return [list(column) for column in zip(*rows, strict=True)]


@pytest.mark.parametrize("name", [contract.name for contract in OWN])
def test_helpers_and_value_functions_agree(operators, name):
    row = SCALAR_OPS[name]
    for dtype in SCALARS.values():
        if not row.contract.accepts_dtype(dtype):
            continue
        operands, lists = operands_of(row.contract, dtype)
        result = row.contract.result_dtype(operands)
        undefinable = kernels.has_undefined(name, dtype)
        wanted, undefined, known = expected(row.value(operands, result), lists, may_be_undefined=undefinable)
        types = operands if row.contract.rest is None else (dtype, *(INT64,) * (len(operands) - 1))
        found, claimed = operators.call(HELPERS[name, dtype.element], columns(types, lists), value_type(result))
        assert first_lines(claimed != undefined, lists, claimed, undefined) == [], dtype
        assert undefinable == bool(undefined.any()), f"{dtype}: no operands here are undefined, or some should not be"
        if name == "ceildiv":  # its finding is of a step, and so is the value to go on with
            known &= ~undefined
        assert first_lines(differing(found, wanted) & known, lists, found, wanted) == [], dtype


def test_a_second_factor_that_int32_does_not_hold_counts_as_undefined(operators):
    lists = [[1, 1, 1], [2**31, -(2**31) - 1, 2**31 - 1], [0] * 3, [0] * 3, [31] * 3, [0] * 3, [0] * 3]
    types = (SCALARS["int32"], *(INT64,) * 6)
    helper = HELPERS["q_multiply_shift_per_axis", "int32"]
    _, undefined = operators.call(helper, columns(types, lists), np.dtype(np.int32))
    assert undefined.tolist() == [True, True, False]


def test_results_of_comparisons_are_bools():
    helpers = [helper for (name, _), helper in HELPERS.items() if SCALAR_OPS[name].contract.result == BOOL.element]
    assert helpers
    assert {helper.result for helper in helpers} == {"bool"}
