"""The accepted forms of a program in Python: `refmlc.read`, the assertions, `refmlc.check`, schedules.

| given                                             | the module                                     |
|---------------------------------------------------|------------------------------------------------|
| an `IRModule`                                     | itself                                         |
| a TensorIR or Relax function                      | the one that holds it, as `main`               |
| a case or a function drawn by `refmlc.strategies` | the one that it holds                          |
| a module or a function of real TVM                | read from the text that it prints (`from_tvm`) |
| a `Path`, a text of one line that names a file    | read from the file                             |
| any other text                                    | read from the text                             |

Anything else is refused by its type. Texts from elsewhere (a file, another process) are read by
`refmlc.lang.wellformed.reader_checks.read`, for which a text is never a path.
"""

import os
import re
from pathlib import Path
from typing import Protocol, TypeAlias, runtime_checkable

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_FILE, BAD_USAGE
from refmlc.diag.entry import entry_point
from refmlc.frontends.tvm_objects import Scriptable, from_tvm
from refmlc.lang.ir import IRModule, relax, tir
from refmlc.lang.wellformed import reader_checks

NEEDED = "an IRModule, a function, a path or TVMScript is needed"
_PATH = re.compile(r"[^\s()=@'\"#]+\.[A-Za-z]\w*|[^\s()=@'\"#]*[/\\][^\s()=@'\"#]*")


@runtime_checkable
class CaseLike(Protocol):
    """A program with its calls, as `refmlc.strategies` draws it."""

    @property
    def module(self) -> IRModule:
        """The module."""
        ...

    @property
    def func(self) -> str:
        """The function that is called."""
        ...

    @property
    def calls(self) -> tuple[tuple[object, ...], ...]:
        """The arguments of each call."""
        ...


@runtime_checkable
class Drawn(Protocol):
    """A function with the steps that led to it, as `refmlc.strategies.schedules` draws it."""

    @property
    def func(self) -> tir.PrimFunc:
        """The function."""
        ...


Program: TypeAlias = "IRModule | tir.PrimFunc | relax.Function | Scriptable | CaseLike | Drawn | os.PathLike[str] | str"


@entry_point
def read(program: str | os.PathLike[str], name: str = "<text>", *, check: bool = True) -> IRModule:
    """Read the module in the text `program`, which messages call `name`, or in the file that it is the path of.

    A path is a `Path`, or a text of one line that names a file or looks like a file's name.
    Fails: RM1xx when the text is not TVMScript, RM109 if the file does not exist; RM2xx, the first finding with the
    number of others, when a static rule is broken and `check` is on.
    """
    if isinstance(program, os.PathLike):
        return reader_checks.read_file(Path(program), check=check)
    if not isinstance(program, str):
        raise fail(BAD_USAGE, f"a path or TVMScript is needed, this is {type(program).__name__}")
    if "\n" in program or not _is_path(program):
        return reader_checks.read(program, name, check=check)
    if not Path(program).exists():
        note = "a text of one line is read as the path of a file"
        raise fail(BAD_FILE, f"`{program}`: No such file or directory", None, note)
    return reader_checks.read_file(program, check=check)


def _is_path(text: str) -> bool:
    """Whether a line names a file, or looks as if it did."""
    if _PATH.fullmatch(text):
        return True
    try:
        return bool(text) and Path(text).is_file()
    except (OSError, ValueError):  # too long for a name, or with a NUL
        return False


def as_module(program: object, name: str = "<text>") -> IRModule:
    """The module that `program` is; messages call a text `name`.

    Fails: RM112 for an invalid program, and as reading does.
    """
    match program:
        case IRModule():
            return program
        case tir.PrimFunc() | relax.Function():
            return IRModule({"main": program})
        case str() | os.PathLike():
            return read(program, name)
        case CaseLike(module=IRModule() as module):
            return module
        case Drawn(func=tir.PrimFunc() as func):
            return IRModule({"main": func})
        case Scriptable() if not isinstance(program, type):
            return from_tvm(program)
        case _:
            raise fail(BAD_USAGE, f"{NEEDED}, this is {type(program).__name__}")
