"""`--trust`: start what a file names, which is not done without a word of the user (`refmlc.adapters.trust`)."""

from collections.abc import Callable
from typing import TypeVar

import click

F = TypeVar("F", bound=Callable[..., None])


def trust_option(command: F) -> F:
    """Give a subcommand `--trust`."""
    text = "Start the programs that the file names, though they are not refmlc's own."
    return click.option("--trust", is_flag=True, help=text)(command)
