"""C that calls every helper on whole columns of operands: the text, from the contracts; building it; calling it.

Each function `void name(const void **columns, void *out, uint8_t *undefined, int64_t count)` is one helper in a loop.
"""

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import cffi
import numpy as np
from needs import need

from refmlc.lang.dtypes import SCALARS
from refmlc.lang.ops.scalar import SCALAR_OPS
from refmlc.native import kernels

HEADERS = Path(__file__).parents[3] / "kernels_c"
# As kernels_c/README.md has it.
FLAGS = ("-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math", "-fwrapv", "-fexcess-precision=standard")
STRICT = ("-std=c11", "-Wall", "-Wextra", "-Wconversion", "-Werror")

DTYPES = tuple(dtype for dtype in SCALARS.values() if dtype.kind not in ("handle", "void"))
FAMILIES = ("arith", "bitwise", "compare", "convert", "division", "fixed", "floating", "integral")
INCLUDES = "".join(f'#include "rm_{family}.h"\n' for family in FAMILIES)
# The transcendentals and the conversions have tests of their own.
OWN = tuple(
    row.contract
    for row in SCALAR_OPS.values()
    if kernels.header_of(row.contract.name)[3:-2] in set(FAMILIES) - {"convert"}
)


@dataclass(frozen=True)
class Helper:
    """One helper: its name in C, the C types of its operands, of its result, and whether `_undefined` exists."""

    name: str
    operands: tuple[str, ...]
    result: str
    undefined: bool

    @property
    def wrapper(self):
        calls = ", ".join(f"((const {c_type} *)columns[{index}])[i]" for index, c_type in enumerate(self.operands))
        undefined = f"undefined[i] = {self.name}_undefined({calls});" if self.undefined else "undefined[i] = 0;"
        return (
            f"void all_{self.name}(const void **columns, void *out, uint8_t *undefined, int64_t count) {{\n"
            f"  for (int64_t i = 0; i < count; i++) {{\n"
            f"    (({self.result} *)out)[i] = {self.name}({calls});\n"
            f"    {undefined}\n  }}\n}}\n"
        )


def operator_helpers():
    """A helper per operator of the families here and dtype that its contract accepts."""
    return {
        (contract.name, dtype.element): operator_helper(contract, dtype)
        for contract in OWN
        for dtype in DTYPES
        if contract.accepts_dtype(dtype)
    }


def operator_helper(contract, dtype):
    first = f"rm_{dtype.element}"
    rest = first if contract.rest is None else "int64_t"
    result = "bool" if contract.result == "bool" else "int32_t" if contract.result == "int32" else first
    return Helper(
        f"rm_{contract.name}_{dtype.element}",
        (first, *(rest,) * (contract.arity - 1)),
        result,
        kernels.has_undefined(contract.name, dtype),
    )


def cast_helpers():
    """A helper per pair of dtypes. From a float to an integer `_undefined` exists even where it cannot be true."""
    return {
        (source.element, target.element): Helper(
            f"rm_cast_{source.element}_{target.element}",
            (f"rm_{source.element}",),
            f"rm_{target.element}",
            (source.is_float and target.is_integer) or kernels.cast_has_undefined(source, target),
        )
        for source in DTYPES
        for target in DTYPES
    }


def reinterpret_helpers():
    return {
        (source.element, target.element): Helper(
            f"rm_reinterpret_{source.element}_{target.element}",
            (f"rm_{source.element}",),
            f"rm_{target.element}",
            False,
        )
        for source in DTYPES
        for target in DTYPES
        if source.bits == target.bits
    }


def cell_helpers():
    """Loads and stores, codes, and the rounding of floats, in the shape of the others."""
    found = {}
    for dtype in DTYPES:
        name = dtype.element
        code = "uint8_t" if name == "bool" else f"rm_{name}_code"
        found["encode", name] = Helper(f"rm_encode_{name}", (f"rm_{name}",), code, False)
        found["decode", name] = Helper(f"rm_decode_{name}", (code,), f"rm_{name}", False)
        if dtype.is_float:
            found["rounded", name] = Helper(f"rm_rounded_{name}", ("double",), f"rm_{name}", False)
            found["narrow", name] = Helper(f"rm_narrow_{name}", (f"rm_{name}_work",), f"rm_{name}", False)
    return found


def cell_wrappers():
    return "".join(
        f"void load_{name}(const void *cells, void *out, int64_t count) {{\n"
        f"  for (int64_t i = 0; i < count; i++) ((rm_{name} *)out)[i] = rm_get_{name}(cells, i);\n}}\n"
        f"void store_{name}(void *cells, const void *from, int64_t count) {{\n"
        f"  for (int64_t i = 0; i < count; i++) rm_put_{name}(cells, i, ((const rm_{name} *)from)[i]);\n}}\n"
        for name in (dtype.element for dtype in DTYPES)
    )


def definitions(casts, reinterprets):
    """The casts and reinterprets that are used."""
    lines = [f"RM_DEFINE_CAST({source}, {target})\n" for source, target in casts]
    lines += [f"RM_DEFINE_REINTERPRET({source}, {target})\n" for source, target in reinterprets]
    return "".join(lines)


def compiler(name):
    need(name)
    return shutil.which(name)


def strict_flags(by):
    """The flags of the headers' README, and warnings as errors. clang knows no other excess precision."""
    return [*(flag for flag in FLAGS if by == "gcc" or "excess" not in flag), *STRICT]


def compiled(command, source, target):
    """Run a compiler on the text `source`; the test fails with what it says."""
    file = target.with_suffix(".c")
    file.write_text(source, encoding="ascii")
    libraries = [] if {"-c", "-fsyntax-only"} & set(command) else ["-lm"]
    command = [*command, f"-I{HEADERS}", str(file), "-o", str(target), *libraries]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:4000]
    return target


@dataclass(frozen=True)
class Library:
    """A loaded library of wrappers."""

    ffi: cffi.FFI
    lib: object

    @classmethod
    def build(cls, folder, name, helpers, text, flags=(), by="gcc"):
        """`text` is what stands before the wrappers; `by` the compiler."""
        source = "#define RM_USE_ALL\n" + INCLUDES + text + "".join(helper.wrapper for helper in helpers)
        command = [
            compiler(by),
            "-shared",
            *(() if by == "tcc" else ("-O1" if by == "clang" else "-O2", "-fPIC", *strict_flags(by))),
            *flags,
        ]
        path = compiled(command, source, folder / f"{name}.so")
        ffi = cffi.FFI()
        ffi.cdef("".join(f"void all_{helper.name}(const void **, void *, uint8_t *, int64_t);" for helper in helpers))
        ffi.cdef("".join(
            f"void load_{dtype.element}(const void *, void *, int64_t);"
            f"void store_{dtype.element}(void *, const void *, int64_t);"
            for dtype in DTYPES
        ))  # fmt: skip
        return cls(ffi, ffi.dlopen(str(path)))

    def call(self, helper, columns, result):
        """The results as an array of the NumPy dtype `result`, and where the operator is undefined."""
        count = len(columns[0])
        out, undefined = np.zeros(count, result), np.zeros(count, np.uint8)
        held = [self.ffi.from_buffer(column) for column in columns]
        pointers = self.ffi.new("const void *[]", held)
        function = getattr(self.lib, f"all_{helper.name}")
        function(pointers, self.ffi.from_buffer(out), self.ffi.from_buffer("uint8_t[]", undefined), count)
        return out, undefined.astype(bool)

    def load(self, element, cells, result):
        out = np.zeros(len(cells), result)
        getattr(self.lib, f"load_{element}")(self.ffi.from_buffer(cells), self.ffi.from_buffer(out), len(cells))
        return out

    def store(self, element, cell, values):
        cells = np.zeros(len(values), cell)
        getattr(self.lib, f"store_{element}")(self.ffi.from_buffer(cells), self.ffi.from_buffer(values), len(values))
        return cells
