"""The transcendentals in C against the value functions, in both modes: every value of 16 bits and less, many above.

`plain` is compiled for any processor, without a fused multiply-add; `native` for this one, as vector code. Both must
give the bits of the value functions.
"""

from functools import cache

import numpy as np
import pytest
from points import binary, boundary, code_type, columns, differing, every, expected, first_lines, value_type
from wrappers import DTYPES, Library, operator_helper

from refmlc.codegen import kernels
from refmlc.dtypes import SCALARS
from refmlc.dtypes.storage import storage_dtype
from refmlc.ops.scalar import SCALAR_OPS
from refmlc.ops.scalar.libm import LIBM_OPS

ROWS = {"cr": SCALAR_OPS, "libm": LIBM_OPS}
PREFIX = {"cr": "", "libm": "#define RM_MATH_LIBM\n"}
BUILDS = {"plain": ("-O2",), "native": ("-O3", "-march=native")}
FLOATS = [dtype.element for dtype in DTYPES if dtype.is_float]
NAMES = [name for name in SCALAR_OPS if kernels.header_of(name) == kernels.TRANSCENDENTAL_HEADER]
UNARY = [name for name in NAMES if SCALAR_OPS[name].contract.arity == 1]
BINARY = [name for name in NAMES if SCALAR_OPS[name].contract.arity == 2]
RANDOM, RANDOM_PAIRS = 200_000, 50_000


@pytest.fixture(scope="module")
def libraries(tmp_path_factory):
    """Of a mode: the library of each build, by its name."""

    @cache
    def of_mode(mode):
        helpers = [operator_helper(SCALAR_OPS[name].contract, SCALARS[dtype]) for name in NAMES for dtype in FLOATS]
        text = f'{PREFIX[mode]}#include "rm_transcendental.h"\n'
        folder = tmp_path_factory.mktemp(mode)
        return {build: Library.build(folder, build, helpers, text, flags) for build, flags in BUILDS.items()}

    return of_mode


@cache
def numbers(element):
    """Every value, or boundaries with random codes and numbers of the sizes where the functions do something."""
    dtype = SCALARS[element]
    if dtype.bits <= 16:
        return every(dtype)
    rng = np.random.default_rng(dtype.bits)
    stored = storage_dtype(dtype)
    with np.errstate(invalid="ignore", over="ignore"):
        drawn = [
            rng.integers(0, (1 << dtype.bits) - 1, RANDOM // 2, code_type(dtype), endpoint=True).view(stored),
            rng.normal(0, 3, RANDOM // 4).astype(stored),
            (rng.normal(0, 1, RANDOM // 4) * 2.0 ** rng.integers(-30, 8, RANDOM // 4)).astype(stored),
        ]
        return [*boundary(dtype), *np.concatenate(drawn).astype(np.float64).tolist()]


def compare(of_mode, mode, op, element, lists):
    """Both builds against the value function, and where the operator is undefined."""
    dtype = SCALARS[element]
    row = ROWS[mode][op]
    function = row.value((dtype,) * row.contract.arity, dtype)
    may_be_undefined = kernels.has_undefined(op, dtype)
    wanted, undefined, _ = expected(function, lists, may_be_undefined=may_be_undefined)
    helper = operator_helper(row.contract, dtype)
    arrays = columns((dtype,) * len(lists), lists)
    for build, library in of_mode(mode).items():
        found, found_undefined = library.call(helper, arrays, value_type(dtype))
        assert not (found_undefined != undefined).any(), (build, element)
        wrong = differing(found, wanted) & ~undefined
        assert not wrong.any(), (build, element, first_lines(wrong, lists, found, wanted))


@pytest.mark.parametrize("op", UNARY)
@pytest.mark.parametrize("mode", ROWS)
def test_functions_of_one_float(libraries, mode, op):
    for element in FLOATS:
        compare(libraries, mode, op, element, [numbers(element)])


@pytest.mark.parametrize("op", BINARY)
@pytest.mark.parametrize("mode", ROWS)
def test_functions_of_two_floats(libraries, mode, op):
    for element in FLOATS:
        compare(libraries, mode, op, element, binary(SCALARS[element], RANDOM_PAIRS))
