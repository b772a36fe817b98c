"""The call that `run`, `debug`, `trace` and `why` execute: a function of a module, its arguments, its limits.

`--register FILE.py` names files of Python that register packed functions. They are executed before the program runs, as
`python FILE.py` would; they call `refmlc.register_func` or `refmlc.register_c_func`. Decision: only files that the user
names are executed; the file of the program never is.
"""

import runpy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from pathlib import Path

import click

import refmlc
from refmlc.cli.inputs import Inputs, gather
from refmlc.cli.options import dims_option, file_argument, params_option, register_option
from refmlc.diag import RefmlcError, fail
from refmlc.diag.catalogue import BAD_FILE
from refmlc.lang.ir import IRModule
from refmlc.vm.tiers import AUTO, NAMES

NAME = "refmlc_registered"  # `__name__` in a registered file

OPTIONS = (
    file_argument,
    click.option("--func", help="The function to run.  [default: main, or the only one]"),
    click.option(
        "--input",
        "inputs",
        multiple=True,
        metavar="NAME=VALUE",
        help="A .npy file, zeros, ones, iota, normal(SEED), or a number. May be repeated.",
    ),
    dims_option("The size of a symbolic dimension."),
    params_option,
    click.option("--max-steps", type=click.IntRange(1), help="Stop after this many statements (RM601)."),
    register_option,
)
tier_option = click.option(
    "--tier",
    type=click.Choice(NAMES),
    default=AUTO,
    show_default=True,
    help="Interpret, compile to C, or compile when it pays (auto).",
)


@dataclass(frozen=True)
class Call:
    """A call as the options describe it, ready to run."""

    file: Path
    module: IRModule
    func: str
    arguments: Inputs
    max_steps: int | None = None


def call_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a subcommand FILE and the options of a call; it takes them as one `call`."""

    @wraps(command)
    def with_call(
        *,
        file: Path,
        func: str | None,
        inputs: tuple[str, ...],
        dims: tuple[str, ...],
        params: Path | None,
        max_steps: int | None,
        registered: tuple[Path, ...],
        **options: object,
    ) -> None:
        command(call=open_call(file, func, inputs, dims, params, registered, max_steps), **options)

    for option in reversed(OPTIONS):
        option(with_call)
    return with_call


def open_call(
    file: Path,
    func: str | None,
    inputs: tuple[str, ...],
    dims: tuple[str, ...],
    params: Path | None,
    registered: Sequence[Path],
    max_steps: int | None = None,
) -> Call:
    """The call, after the registered files are executed. Fails: as reading does; as `register`, as `gather`."""
    module = refmlc.read_file(file)
    register(registered)
    name = func or (next(iter(module.functions)) if len(module.functions) == 1 else "main")
    return Call(file, module, name, gather(module, name, inputs, dims, params), max_steps)


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
