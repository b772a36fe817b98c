"""`--trust`: start what a file names or holds, as the user allows (`refmlc.oracle.implementations.trust`)."""

from collections.abc import Callable
from typing import TypeVar

import click

F = TypeVar("F", bound=Callable[..., None])


def trust_option(command: F) -> F:
    """Give a subcommand `--trust`."""
    text = "Allow the file to start external programs that it names, and code that it holds."
    return click.option("--trust", is_flag=True, help=text)(command)
