"""A translation unit whose function writes 7 and says 3, and what can be seen of it."""

from refmlc.native.compile import ffi

SEVEN = (
    '#define RM_USE_int32\n#include "rm_guard.h"\n#include "rm_dtypes.h"\n'
    "int64_t f0_seven(rm_run *const run, rm_int32_cell *const cells) {\n"
    "  cells[0] = 7;\n  run->site = 3;\n  return RM_DONE;\n}\n"
)
SEVEN_TYPE = "int64_t (*)(rm_run *, void *)"


def unit(number):
    """A translation unit of its own for each number, which `f0_seven` returns."""
    return SEVEN.replace("return RM_DONE", f"return {number}")


def call(library):
    """What `f0_seven` of the library returns, writes and notes."""
    run, cells = ffi().new("rm_run *"), ffi().new("int32_t *")
    status = library.function("f0_seven", SEVEN_TYPE)(run, cells)
    return status, cells[0], run.site


def left_in(folder):
    """All files below `folder`."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))
