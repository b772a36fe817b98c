"""The transcendentals in C against the value functions, in both modes: every value of 16 bits and less, many above.

`plain` is compiled for any processor, without a fused multiply-add; `native` for this one, as vector code. Both must
give the bits of the value functions.
"""

import math
from functools import cache

import numpy as np
import pytest
from points import binary, boundary, code_type, columns, differing, every, expected, first_lines, value_type
from wrappers import DTYPES, Library, operator_helper

from refmlc.lang.dtypes import SCALARS
from refmlc.lang.dtypes.storage import storage_dtype
from refmlc.lang.ops.scalar import SCALAR_OPS
from refmlc.lang.ops.scalar.libm import LIBM_OPS
from refmlc.native import kernels

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


def hypotenuses():
    """Operands of hypot whose result is a tie, or is close to one; tiny, great, and of all distances."""
    rng = np.random.default_rng(5)
    a = rng.integers(70_000_000, 94_000_000, 20_000)
    b = rng.integers(1, 60_000_000, 20_000) // 2 * 2 + 1 - a % 2
    a, b = a.astype(object), b.astype(object)
    legs = [(float(p * p - q * q), float(2 * p * q)) for p, q in zip(a, b, strict=True)]
    near = [(x, np.nextafter(y, rng.choice((0.0, np.inf)))) for x, y in legs[::4]]
    codes = rng.integers(0, 1 << 62, (2, 20_000), dtype=np.uint64)
    distance = np.uint64(1 << 52) * rng.integers(0, 31, 20_000, dtype=np.uint64)
    great = codes[0].view(np.float64)
    small = np.where(codes[0] > distance, codes[0] - distance, codes[1]).view(np.float64) * rng.uniform(0.5, 1, 20_000)
    tiny = codes.view(np.int64) >> rng.integers(10, 60, 20_000)
    pairs = [*legs, *near, *zip(great, small, strict=True), *zip(*tiny.view(np.float64), strict=True)]
    return [[float(x) for x in column] for column in zip(*pairs, strict=True)]


def test_hypot_rounds_once(libraries):
    lists = hypotenuses()
    compare(libraries, "cr", "hypot", "float64", lists)
    squares = [(int(x), int(y)) for x, y in zip(*lists, strict=True)][:20_000]
    assert sum(math.isqrt(x * x + y * y) ** 2 == x * x + y * y for x, y in squares) > 10_000
