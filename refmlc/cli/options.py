"""Options and types of arguments that several subcommands share; each is declared here once."""

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import click

from refmlc.native.threads import MOST, VARIABLE

F = TypeVar("F", bound=Callable[..., None])

PATH = click.Path(path_type=Path)
UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0}
DURATION = re.compile(r"^(\d+(?:\.\d+)?)(s|m|h|)$")


class Duration(click.ParamType[float]):
    """A positive duration: `90`, `90s`, `10m`, `2h`. Units: seconds."""

    name = "duration"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The duration in seconds."""
        if isinstance(value, int | float):
            return float(value)
        match = DURATION.match(str(value))
        if match is None or float(match[1]) == 0:
            self.fail(f"`{value}` is not a duration: write 90s, 10m or 2h", param, ctx)
        return float(match[1]) * UNITS[match[2]]


file_argument = click.argument("file", type=PATH)
json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
trust_option = click.option(
    "--trust", is_flag=True, help="Allow the file to start external programs that it names, and code that it holds."
)
register_option = click.option(
    "--register",
    "registered",
    multiple=True,
    type=PATH,
    metavar="FILE.py",
    help="Execute this file first, to register packed functions. May be repeated.",
)
params_option = click.option("--params", type=PATH, help="Inputs by name: .npz, .safetensors or .pkl.")
suite_option = click.option("--suite", type=PATH, help="Another suite: a folder with the layout of `conformance`.")
seconds_option = click.option(
    "--seconds", type=click.FloatRange(0.1), default=60.0, show_default=True, help="Time limit of each run."
)

calls_option = click.option(
    "--calls", type=click.IntRange(1, 1000), help="At most this many calls.  [default: as many as the purposes need]"
)
seed_option = click.option(
    "--seed", type=int, default=0, help="Add random calls by this seed; the others stay the same."
)
budget_option = click.option(
    "--budget", type=Duration(), default="10s", show_default=True, help="About the time that the calls may take."
)


def _ask_for_threads(_context: click.Context, _option: click.Parameter, threads: int | None) -> None:
    """The option is the variable: workers and whatever else compiles ask for as many threads."""
    if threads is not None:
        os.environ[VARIABLE] = str(threads)


threads_option = click.option(
    "--threads",
    type=click.IntRange(1, MOST),
    expose_value=False,
    callback=_ask_for_threads,
    help="Run compiled loops whose iterations are independent on that many threads, to the same bits.  "
    f"[default: {VARIABLE}, or 1]",
)


def impl_option(text: str, name: str = "impls") -> Callable[[F], F]:
    """`--impl SPEC`, which may be repeated, with a help of its own."""
    return click.option("--impl", name, multiple=True, metavar="SPEC", help=text)


def assume_option(function: F) -> F:
    """`--assume LINE`, which may be repeated."""
    text = "A contract that arguments satisfy, as `indptr: ascending` or `n % 16 == 0`. May be repeated."
    return click.option("--assume", multiple=True, metavar="LINE", help=text)(function)


def dims_option(text: str) -> Callable[[F], F]:
    """`--dim NAME=SIZE`, which may be repeated, with a help of its own."""
    return click.option("--dim", "dims", multiple=True, metavar="NAME=SIZE", help=text)


def count_option(name: str, default: int, text: str, least: int = 1) -> Callable[[F], F]:
    """A whole number from `least` on, with a default that the help shows."""
    return click.option(name, type=click.IntRange(least), default=default, show_default=True, help=text)


def folder_option(default: str) -> Callable[[F], F]:
    """`-o FOLDER`, with a default that the help shows."""
    return click.option(
        "-o",
        "--output",
        "folder",
        type=click.Path(path_type=Path, file_okay=False),
        default=default,
        show_default=True,
        help="Write to this folder.",
    )
