"""`rm_vector.h` against the scalar headers: small floats on all codes, transposes, exp; and without a warning."""

import subprocess

import numpy as np
import pytest
from needs import by
from nest_kit import FLAGS, HEADERS, HERE_ISAS, ISAS_TO_TEST, SOAK, compiled

from refmlc.native.options import ISAS

pytestmark = pytest.mark.needs("compiler")

VECTORS = [name for name in ISAS_TO_TEST if name != "none"]
WIDTHS = {64: 16, 32: 8, 16: 4}
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
WARNINGS = ("-Wall", "-Wextra", "-Wconversion", "-Werror", "-Wno-psabi")

EVERYTHING = "\n".join(
    [
        "#define RM_USE_ALL",
        '#include "rm_dtypes.h"',
        '#include "rm_vector.h"',
        *(f"RM_VECTOR({kind}, {lanes})" for lanes in (2, 4, 8, 16, 32, 64) for kind in INTEGERS),
        *(f"RM_VECTOR(float32, {lanes})" for lanes in (2, 4, 8, 16)),
        *(f"RM_VECTOR(float64, {lanes})" for lanes in (2, 4, 8)),
        *(f"RM_VECTOR({kind}, {lanes})" for lanes in (4, 8, 16) for kind in ("float16", "bfloat16")),
        *(f"RM_VECTOR_BOOL({lanes})" for lanes in (4, 16, 64)),
        *(f"RM_TRANSPOSE(float32, 4, {lanes})" for lanes in (4, 8, 16)),
        *(f"RM_TRANSPOSE(float64, 8, {lanes})" for lanes in (2, 4, 8)),
        "RM_EXP_WHOLE(2) RM_EXP_WHOLE(4) RM_EXP_WHOLE(8) RM_EXP_HALVES(16, 8)",
        "RM_VECTOR_STREAM(float32, float, 16, 64) RM_VECTOR_STREAM(float32, float, 8, 32)",
        "RM_VECTOR_STREAM(int64, int64_t, 2, 16)",
        "RM_VECTOR_COPY(float32, float, 16) RM_VECTOR_COPY(float32, float, 8) RM_VECTOR_COPY(float32, float, 4)",
        "RM_VECTOR_COPY(int32, int32_t, 16) RM_VECTOR_COPY(float64, double, 8) RM_VECTOR_COPY(int8, int8_t, 64)",
        "",
    ]
)

SMALL = """
#define RM_USE_float32
#define RM_USE_{kind}
#include "rm_dtypes.h"
#include "rm_convert.h"
#include "rm_vector.h"
RM_DEFINE_CAST(float32, {kind})
RM_VECTOR(uint16, {lanes}) RM_VECTOR(uint32, {lanes}) RM_VECTOR(int32, {lanes}) RM_VECTOR(float32, {lanes})
RM_VECTOR({kind}, {lanes})
int decoded(void **b) {{
  int wrong = 0;
  for (uint32_t code = 0; code < 65536; code += {lanes}) {{
    uint16_t codes[{lanes}], back[{lanes}];
    float values[{lanes}];
    for (uint32_t l = 0; l < {lanes}; ++l) codes[l] = (uint16_t)(code + l);
    rm_store_float32x{lanes}(values, rm_load_{kind}x{lanes}(codes));
    rm_store_{kind}x{lanes}(back, rm_load_float32x{lanes}(values));
    for (uint32_t l = 0; l < {lanes}; ++l) {{
      const float is = rm_decode_{kind}(codes[l]);
      wrong += is != is ? values[l] == values[l] || rm_decode_{kind}(back[l]) == rm_decode_{kind}(back[l])
                        : rm_bits_of_float(is) != rm_bits_of_float(values[l]) || back[l] != codes[l];
    }}
  }}
  return b == NULL || wrong;
}}
int rounded(void **b) {{
  const float *x = b[0];
  const int64_t n = *(int64_t *)b[1];
  int wrong = 0;
  for (int64_t i = 0; i < n; i += {lanes}) {{
    float values[{lanes}];
    rm_store_float32x{lanes}(values, rm_cast_float32_{kind}x{lanes}(rm_load_float32x{lanes}(x + i)));
    for (int64_t l = 0; l < {lanes}; ++l) {{
      const float is = rm_cast_float32_{kind}(x[i + l]);
      wrong += is != is ? values[l] == values[l] : rm_bits_of_float(is) != rm_bits_of_float(values[l]);
    }}
  }}
  return wrong;
}}
"""

TRANSPOSED = """
#include "rm_vector.h"
RM_VECTOR({kind}, {lanes}) RM_TRANSPOSE({kind}, {bytes}, {lanes})
int transposed(void **b) {{
  rm_{kind} *from = b[0], *to = b[1];
  rm_{kind}x{lanes} rows[{lanes}];
  for (int64_t l = 0; l < {lanes}; ++l) rows[l] = RM_LOAD({kind}x{lanes}, from + {lanes} * l);
  rm_transpose_{kind}x{lanes}(rows);
  for (int64_t l = 0; l < {lanes}; ++l) RM_STORE({kind}x{lanes}, to + {lanes} * l, rows[l]);
  return 0;
}}
"""

COPIED = """
#include "rm_vector.h"
RM_VECTOR({kind}, {lanes}) RM_VECTOR_COPY({kind}, rm_{kind}, {lanes})
int copied(void **b) {{
  const int64_t *sizes = b[2];
  rm_copy_{kind}x{lanes}(b[0], b[1], sizes[0], sizes[1]);
  return 0;
}}
int copied_by_two(void **b) {{
  const int64_t *sizes = b[2];
  rm_copy_{kind}x{lanes}(b[0], b[1], 2, sizes[1]);
  return 0;
}}
"""

EXP = """
#define RM_USE_float32
#define RM_USE_float64
#include "rm_transcendental.h"
#include "rm_vector.h"
RM_VECTOR(float32, {lanes}) RM_VECTOR(float64, {half}) {define}
int compared(void **b) {{
  const uint64_t step = *(uint64_t *)b[0];
  int wrong = 0;
  for (uint64_t first = 0; first < UINT64_C(1) << 32; first += {lanes} * step) {{
    float x[{lanes}], y[{lanes}];
    for (uint32_t l = 0; l < {lanes}; ++l) x[l] = rm_float_of_bits((uint32_t)first + l);
    rm_store_float32x{lanes}(y, rm_exp_float32x{lanes}(rm_load_float32x{lanes}(x)));
    for (uint32_t l = 0; l < {lanes}; ++l) {{
      const float is = rm_exp_float32(x[l]);
      wrong += is != is ? y[l] == y[l] : rm_bits_of_float(is) != rm_bits_of_float(y[l]);
    }}
  }}
  return wrong;
}}
"""


def boundary_floats(kind):
    """Floats next to each value of the format, to the middles between them, and to what is too large or too small."""
    codes = np.arange(65536, dtype=np.uint32)
    shift = {"float16": 13, "bfloat16": 16}[kind]
    near = (codes << shift) if kind == "bfloat16" else ((codes & 0x7FFF) << shift) + (112 << 23) | (codes >> 15 << 31)
    half = np.uint32(1 << (shift - 1))
    small = np.float32(2.0**-25) * np.arange(-5000, 5000, dtype=np.float32)
    every = np.concatenate([(near + half + d).astype(np.uint32) for d in (np.uint32(0), np.uint32(1), ~np.uint32(0))])
    every = np.concatenate([every, near.astype(np.uint32), small.view(np.uint32), np.uint32([0x7FFFFFFF, 0xFFFFFFFF])])
    return np.resize(every, -(-len(every) // 16) * 16).view(np.float32)


@pytest.mark.parametrize("isa", VECTORS)
@pytest.mark.parametrize("kind", ["float16", "bfloat16"])
@pytest.mark.parametrize("flags", [(), ("-DRM_PLAIN",)])
def test_small_floats_are_decoded_encoded_and_rounded_as_one_by_one(kind, isa, flags):
    for lanes in {4, WIDTHS[ISAS[isa].vector_bytes]}:
        library, ffi = compiled(SMALL.format(kind=kind, lanes=lanes), ["decoded", "rounded"], isa, flags=flags)
        values, count = boundary_floats(kind), np.zeros(1, np.int64)
        count[0] = len(values)
        pointers = ffi.new("void *[]", [ffi.from_buffer(values), ffi.from_buffer(count)])
        assert library.decoded(pointers) == 0
        assert library.rounded(pointers) == 0


@pytest.mark.parametrize("isa", VECTORS)
@pytest.mark.parametrize("kind", ["float32", "int32", "float64", "int64"])
def test_transposes(kind, isa):
    size = np.dtype(kind).itemsize
    for lanes in (16, 8, 4, 2):
        if (size, lanes) in ((8, 16), (4, 2)):
            continue
        library, ffi = compiled(TRANSPOSED.format(kind=kind, bytes=size, lanes=lanes), ["transposed"], isa)
        a, b = np.arange(lanes * lanes, dtype=kind).reshape(lanes, lanes), np.zeros((lanes, lanes), kind)
        library.transposed(ffi.new("void *[]", [ffi.from_buffer(a), ffi.from_buffer(b)]))
        assert (b == a.T).all()


@pytest.mark.parametrize("isa", VECTORS)
@pytest.mark.parametrize("flags", [(), ("-DRM_PLAIN",)])
def test_exp_of_lanes_is_exp_one_by_one(isa, flags):
    lanes, half = {64: (16, 8), 32: (8, 4), 16: (4, 2)}[ISAS[isa].vector_bytes]
    define = f"RM_EXP_HALVES({lanes}, {half})"
    library, ffi = compiled(EXP.format(lanes=lanes, half=half, define=define), ["compared"], isa, flags=flags)
    step = np.array([1 if SOAK else 4099], np.uint64)
    assert library.compared(ffi.new("void *[]", [ffi.from_buffer(step)])) == 0


@pytest.mark.parametrize("compiler", by("gcc", "clang"))
@pytest.mark.parametrize("isa", HERE_ISAS[:-1])
def test_no_warning(compiler, isa, tmp_path):
    source = tmp_path / "all.c"
    source.write_text(EVERYTHING)
    command = [
        compiler,
        *FLAGS,
        *WARNINGS,
        *ISAS[isa].flags,
        f"-I{HEADERS}",
        "-c",
        str(source),
        "-o",
        str(tmp_path / "o"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("isa", VECTORS)
@pytest.mark.parametrize("kind", ["float32", "float64", "int32", "int8"])
def test_a_copy_is_of_as_many_cells_as_are_asked_for(isa, kind):
    lanes = ISAS[isa].vector_bytes // np.dtype(kind).itemsize
    library, ffi = compiled(COPIED.format(kind=kind, lanes=lanes), ["copied", "copied_by_two"], isa)
    for step in (1, 2, 3):
        for count in range(2 * lanes + 3):
            source = np.arange(
                max(0, step * (count - 1) + 1), dtype=kind
            )  # no cell after the last one that is asked for
            for function in (library.copied, *([library.copied_by_two] if step == 2 else [])):
                target = np.full(count + lanes, -1, kind)
                sizes = np.array([step, count], np.int64)
                function(ffi.new("void *[]", [ffi.from_buffer(each) for each in (target, source, sizes)]))
                expected = np.full(count + lanes, -1, kind)
                expected[:count] = source[::step][:count]
                assert (target == expected).all()
