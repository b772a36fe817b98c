"""`--register FILE.py`: the packed functions that a program calls, from a file of Python that registers them.

The file is executed before the program is run, as `python FILE.py` would; it calls `refmlc.register_func`, or
`refmlc.register_c_func`. Decision: only what the user names is executed, and the file of the program never is.
"""

import runpy
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import click

from refmlc.diag import RefmlcError, fail
from refmlc.diag.catalogue import BAD_FILE

F = TypeVar("F", bound=Callable[..., None])
NAME = "refmlc_registered"  # what `__name__` is in the file


def register_option(command: F) -> F:
    """Give a subcommand `--register`."""
    text = "Execute this file first, to register packed functions. May be repeated."
    kind = click.Path(path_type=Path)
    return click.option("--register", "registered", multiple=True, type=kind, metavar="FILE.py", help=text)(command)


def register(files: Sequence[Path]) -> None:
    """Execute `files` in order. Fails: RM109 for what cannot be read, or raises; RM112 as registering does."""
    for file in files:
        try:
            runpy.run_path(str(file), run_name=NAME)
        except RefmlcError:
            raise
        except OSError as problem:
            raise fail(BAD_FILE, f"`{file}`: {problem.strerror or problem}") from problem
        except (Exception, SystemExit) as problem:  # the border: the user's code may raise anything
            raise fail(BAD_FILE, f"`{file}` is executed and raises {type(problem).__name__}: {problem}") from problem
