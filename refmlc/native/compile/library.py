"""Loaded libraries: C functions by name, called through cffi's ABI mode.

What cffi knows of `rm_run` is what `rm_guard.h` says: its declaration is taken from there.
Libraries are loaded by `dlopen` itself, declared to cffi: a library has no declarations of its own that cffi would
have to parse each time.
"""

import os
import re
import weakref
from collections.abc import Callable
from functools import cache
from typing import Any, TypeAlias

from refmlc.native.compile.compiler import HEADERS
from refmlc.native.compile.failures import BuildFailed, Cause

RUN = re.compile(r"typedef struct rm_run \{.*?\} rm_run;", re.DOTALL)
LOADER = """
void *dlopen(const char *path, int mode);
void *dlsym(void *library, const char *name);
int dlclose(void *library);
char *dlerror(void);
"""

CFunction: TypeAlias = Callable[..., int]


@cache
def ffi() -> Any:  # noqa: ANN401 - cffi has no types
    """The one FFI of the native tier; it knows `rm_run`. Made when first asked for: that takes milliseconds."""
    import cffi  # noqa: PLC0415 - commands that compile nothing start without it

    interface = cffi.FFI()
    declared = RUN.search((HEADERS / "rm_guard.h").read_text(encoding="utf-8"))
    interface.cdef(LOADER + ("" if declared is None else declared[0]))
    return interface


@cache
def _loader() -> Any:  # noqa: ANN401 - the same
    """The system's own functions for libraries."""
    return ffi().dlopen(None)


class Library:
    """A loaded library. It stays loaded as long as it or one of its functions is held."""

    __slots__ = ("__weakref__", "_handle", "path")

    def __init__(self, path: str) -> None:
        """Load the file at `path`, of which the caller has made sure. Raises BuildFailed (NOT_LOADED).

        `path` must be new, or hold what it held before: the system knows loaded libraries by their paths.
        """
        loader = _loader()
        self.path = path
        self._handle = loader.dlopen(os.fsencode(path), os.RTLD_NOW | os.RTLD_LOCAL)
        if self._handle == ffi().NULL:
            raise BuildFailed(Cause.NOT_LOADED, _last_error())
        weakref.finalize(self, loader.dlclose, self._handle).atexit = False

    def function(self, symbol: str, c_type: str) -> CFunction:
        """The function `symbol`; `c_type` is its type in C: `int64_t (*)(rm_run *, void *)`.

        It keeps the library loaded. Raises BuildFailed (NOT_LOADED) where the library has no such symbol.
        """
        loader = _loader()
        loader.dlerror()  # its first use looks it up, which would forget the failure
        address = loader.dlsym(self._handle, symbol.encode())
        if address == ffi().NULL:
            raise BuildFailed(Cause.NOT_LOADED, _last_error())
        function: CFunction = ffi().gc(ffi().cast(c_type, address), _Holder(self))
        return function


class _Holder:
    """What is called when a function is gone; until then it holds the function's library."""

    __slots__ = ("library",)

    def __init__(self, library: Library) -> None:
        self.library: Library | None = library

    def __call__(self, _function: object) -> None:
        self.library = None


def _last_error() -> str:
    """What the system says of the last failure."""
    text = _loader().dlerror()
    message: bytes = ffi().string(text) if text != ffi().NULL else b"no reason is given"
    return message.decode(errors="replace")
