"""Lets TVM's reader look at its callers in a tenth of the time, inside TVM's environment.

TVM asks `inspect.stack()` at every definition. Python then looks for the module of each caller's file, and where a file
is no module, such as one that pytest rewrites, goes through all modules for each caller again.
"""

import inspect
from types import FrameType, ModuleType


def remember_modules() -> None:
    """From now on, `inspect` looks once for the module of a file."""
    known: dict[str, ModuleType | None] = {}
    look = inspect.getmodule

    def getmodule(object: object, _filename: str | None = None) -> ModuleType | None:  # noqa: A002 - as `inspect` has it
        if not isinstance(object, FrameType):
            return look(object, _filename)
        file = object.f_code.co_filename
        if file not in known:
            known[file] = look(object, _filename)
        return known[file]

    inspect.getmodule = getmodule
