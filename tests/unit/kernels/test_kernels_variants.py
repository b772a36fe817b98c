"""The same bits however the headers are compiled: other compilers, vectors, float16 by instructions or without."""

import itertools
import subprocess
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest
from points import boundary, chance, columns, differing, first_lines, value_type
from wrappers import (
    DTYPES,
    OWN,
    Library,
    cell_helpers,
    cell_wrappers,
    compiled,
    compiler,
    operator_helpers,
    strict_flags,
)

from refmlc.lang.dtypes import SCALARS
from refmlc.lang.dtypes.storage import storage_dtype

OPERATORS, CELLS = operator_helpers(), cell_helpers()
HALVES = ("float16", "bfloat16")
VARIANTS = {
    "tcc": ("tcc", ()),
    "clang": ("clang", ()),
    "gcc -O3, AVX-512": ("gcc", ("-O3", "-mavx512f", "-mavx512bw", "-mavx512dq", "-mavx512vl", "-mavx2", "-mf16c")),
    "gcc -O3, AVX2": ("gcc", ("-O3", "-mavx2", "-mf16c")),
    "gcc -O3": ("gcc", ("-O3",)),
}


def cpu_flags():
    path = Path("/proc/cpuinfo")
    text = path.read_text(encoding="ascii", errors="replace") if path.exists() else ""
    return {word for line in text.splitlines() if line.startswith("flags") for word in line.split(":")[1].split()}


def needs(flags):
    missing = {flag[2:] for flag in flags if flag.startswith("-m")} - cpu_flags()
    if missing:
        pytest.skip(f"this machine has no {', '.join(sorted(missing))}")


@lru_cache(maxsize=64)
def operands(dtype, arity):
    """Columns of a few thousand points: at most 40 of the boundaries, and random values."""
    edges = boundary(dtype)
    values = [*edges[:: max(1, len(edges) // 40)], *chance(dtype, 30, 11)]
    return columns((dtype,) * arity, list(zip(*itertools.product(values, repeat=arity), strict=True)))


def disagreements(one, other, contracts, dtypes=DTYPES):
    """Operators of one or two operands of one dtype on which two libraries differ."""
    for contract in contracts:
        for dtype in (dtype for dtype in dtypes if contract.accepts_dtype(dtype)):
            held = operands(dtype, contract.arity)
            helper = OPERATORS[contract.name, dtype.element]
            result = value_type(contract.result_dtype((dtype,) * contract.arity))
            found, wanted = (library.call(helper, held, result) for library in (one, other))
            different = differing(found[0], wanted[0]) | (found[1] != wanted[1])
            yield from (f"{helper.name}{line}" for line in first_lines(different, held, found[0], wanted[0]))


@pytest.mark.parametrize(
    "variant", ["tcc", "clang", *(pytest.param(name, marks=pytest.mark.soak) for name in VARIANTS if "gcc" in name)]
)
def test_operators_have_the_same_bits(operators, tmp_path, variant):
    name, flags = VARIANTS[variant]
    needs(flags)
    contracts = [contract for contract in OWN if contract.arity < 3 and contract.rest is None]
    helpers = [helper for (op, _), helper in OPERATORS.items() if op in {contract.name for contract in contracts}]
    other = Library.build(tmp_path, "variant", helpers, cell_wrappers(), flags, by=name)
    assert list(disagreements(other, operators, contracts)) == []


def float16_by_instructions(folder):
    needs(("-mf16c",))
    helpers = [helper for (_, name), helper in (*CELLS.items(), *OPERATORS.items()) if name == "float16"]
    assert "RM_TO_CODES" in macros("-mf16c")
    return Library.build(folder, "f16c", helpers, cell_wrappers(), ("-mf16c",))


def macros(*flags):
    """The macros that are left when rm_dtypes.h was read."""
    command = [compiler("gcc"), "-E", "-dM", *flags, "-x", "c", "-"]
    text = '#define RM_USE_ALL\n#include "rm_dtypes.h"\n'
    headers = Path(__file__).parents[3] / "kernels_c"
    done = subprocess.run([*command, f"-I{headers}"], input=text, capture_output=True, text=True, check=True)
    return done.stdout


def test_float16_by_instructions_and_without(operators, tmp_path):
    library = float16_by_instructions(tmp_path)
    codes = np.arange(1 << 16, dtype=np.uint16)
    found, wanted = (each.load("float16", codes, np.float32) for each in (library, operators))
    assert first_lines(differing(found, wanted), [codes], found, wanted) == []
    stored = (each.store("float16", np.uint16, wanted) for each in (library, operators))
    assert np.array_equal(*stored)
    bits = np.arange(0, 1 << 32, 8191, dtype=np.uint32).view(np.float32)
    found, wanted = (each.call(CELLS["narrow", "float16"], [bits], np.float32)[0] for each in (library, operators))
    assert first_lines(differing(found, wanted), [bits], found, wanted) == []
    contracts = [contract for contract in OWN if contract.rest is None]
    assert list(disagreements(library, operators, contracts, (SCALARS["float16"],))) == []


@pytest.mark.parametrize("name", HALVES)
def test_float32_is_narrowed_as_numpy_and_ml_dtypes_narrow_it(operators, name):
    values = np.arange(0, 1 << 32, 8191, dtype=np.uint32).view(np.float32)
    with np.errstate(over="ignore", invalid="ignore"):
        wanted = values.astype(storage_dtype(SCALARS[name])).astype(np.float32)
    found = operators.call(CELLS["narrow", name], [values], np.float32)[0]
    assert first_lines(differing(found, wanted), [values], found, wanted) == []


EVERY_FLOAT = """
  for (uint64_t bits = 0; bits <= UINT32_MAX; bits++) {{
    const float x = rm_float_of_bits((uint32_t)bits), one = rm_narrow_{D}(x), other = rm_rounded_{D}((double)x);
    wrong += rm_bits_of_float(one) != rm_bits_of_float(other) && !(one != one && other != other);
  }}
"""
EVERY_PAIR = """
  for (uint32_t i = 0; i < 0x8000; i++) {{ /* positive ones, as signs do not matter to + with any, - * / */
    const float a = rm_decode_{D}((uint16_t)i);
    for (uint32_t j = 0; j < 0x10000; j++) {{
      const float b = rm_decode_{D}((uint16_t)j);
      const float one = rm_{op}_{D}(a, b), other = rm_rounded_{D}((double)a {sign} (double)b);
      wrong += rm_bits_of_float(one) != rm_bits_of_float(other) && !(one != one && other != other);
    }}
  }}
"""


@pytest.mark.soak
@pytest.mark.parametrize("flags", [("-mf16c", "-mavx2"), ("-DRM_PLAIN",)], ids=["by instructions", "plainly"])
@pytest.mark.parametrize("name", HALVES)
@pytest.mark.parametrize("op", ["narrow", "add", "sub", "mul", "div"])
def test_float_is_enough_to_compute_16_bits_in(tmp_path, name, op, flags):
    """Every float32, every pair of operands: the same by way of float64, which is compared with the definition."""
    needs(flags)
    signs = {"add": "+", "sub": "-", "mul": "*", "div": "/"}
    loop = EVERY_FLOAT.format(D=name) if op == "narrow" else EVERY_PAIR.format(D=name, op=op, sign=signs[op])
    source = (
        '#define RM_USE_ALL\n#include <stdio.h>\n#include "rm_division.h"\nint main(void) {\n  long long wrong = 0;\n'
        + loop
        + '  printf("%lld\\n", wrong);\n  return 0;\n}\n'
    )
    path = compiled([compiler("gcc"), "-O3", *strict_flags("gcc"), *flags], source, tmp_path / "program")
    assert subprocess.run([str(path)], capture_output=True, text=True, check=True).stdout == "0\n"
