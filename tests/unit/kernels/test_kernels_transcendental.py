"""The transcendentals in C against the value functions, in both modes: every value of 16 bits and less, many above.

`plain` is compiled for any processor, without a fused multiply-add; `native` for this one, as vector code. Both must
give the bits of the value functions.
"""

import numpy as np
import pytest
from points import boundary, code_type, columns, differing, every, expected, first_lines, value_type
from wrappers import DTYPES, Library, operator_helper

from refmlc.codegen import kernels
from refmlc.ops.scalar import SCALAR_OPS
from refmlc.ops.scalar.libm import LIBM_OPS

ROWS = {"cr": SCALAR_OPS, "libm": LIBM_OPS}
NAMES = [name for name in SCALAR_OPS if kernels.header_of(name) == kernels.TRANSCENDENTAL_HEADER]
FLOATS = [dtype for dtype in DTYPES if dtype.is_float]
BUILDS = {"plain": ("-O2",), "native": ("-O3", "-march=native")}
RANDOM = 200_000
PREFIX = {"cr": "", "libm": "#define RM_MATH_LIBM\n"}


@pytest.fixture(scope="module", params=list(BUILDS))
def build(request):
    return request.param


@pytest.fixture(scope="module", params=list(ROWS))
def mode(request):
    return request.param


@pytest.fixture(scope="module")
def library(mode, build, tmp_path_factory):
    helpers = [operator_helper(SCALAR_OPS[name].contract, dtype) for name in NAMES for dtype in FLOATS]
    text = f'{PREFIX[mode]}#include "rm_transcendental.h"\n'
    return Library.build(tmp_path_factory.mktemp("c"), f"{mode}_{build}", helpers, text, BUILDS[build])


def random_values(dtype, seed):
    """Random codes, and numbers of the sizes where the functions do something; as binary64 numbers."""
    rng = np.random.default_rng(seed)
    with np.errstate(invalid="ignore", over="ignore"):
        codes = rng.integers(0, 1 << dtype.bits, RANDOM // 2, dtype=code_type(dtype)).view(dtype.element)
        near = rng.normal(0, 3, RANDOM // 4).astype(dtype.element)
        sizes = (rng.normal(0, 1, RANDOM // 4) * 2.0 ** rng.integers(-30, 8, RANDOM // 4)).astype(dtype.element)
        return np.concatenate([codes, near, sizes]).astype(np.float64).tolist()
