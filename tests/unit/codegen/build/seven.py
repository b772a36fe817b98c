"""A translation unit whose function writes 7 and says 3, and what can be seen of it."""

from refmlc.codegen.build import ffi

SEVEN = (
    '#include "rm_guard.h"\n'
    "int64_t seven(rm_run *run, void *cells) { *(int32_t *)cells = 7; run->site = 3; return RM_DONE; }\n"
)
SEVEN_TYPE = "int64_t (*)(rm_run *, void *)"


def unit(number):
    """A translation unit of its own for each number, which `seven` returns."""
    return SEVEN.replace("return RM_DONE", f"return {number}")


def call(library):
    """What `seven` of the library returns, writes and notes."""
    run, cells = ffi().new("rm_run *"), ffi().new("int32_t *")
    status = library.function("seven", SEVEN_TYPE)(run, cells)
    return status, cells[0], run.site


def left_in(folder):
    """All files below `folder`."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))
