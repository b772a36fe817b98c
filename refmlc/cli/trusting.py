"""`--trust`: start what a file names or holds, as the user allows (`refmlc.oracle.implementations.trust`)."""

from collections.abc import Callable
from typing import TypeVar

import click

F = TypeVar("F", bound=Callable[..., None])


def trust_option(command: F) -> F:
    """Give a subcommand `--trust`."""
    text = "Let the file start what it names or holds, though it is not refmlc's own."
    return click.option("--trust", is_flag=True, help=text)(command)
