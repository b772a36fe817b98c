"""The command `refmlc`: one file per subcommand; they only read arguments, call the library and render.

A subcommand is loaded when it is asked for: most of them need what others do not.
"""

from collections.abc import Mapping
from pathlib import Path
from shlex import quote
from typing import ClassVar

import click

from refmlc.cli.console import GuardedGroup


class Commands(GuardedGroup):
    """All subcommands, by name."""

    places: ClassVar[Mapping[str, str]] = {
        "bench": "refmlc.cli.bench:bench",
        "cache": "refmlc.cli.cache:cache",
        "check": "refmlc.cli.check:check",
        "conform": "refmlc.cli.conform:conform",
        "course": "refmlc.cli.course:course",
        "dap": "refmlc.cli.dap:dap",
        "debug": "refmlc.cli.debug:debug",
        "demo": "refmlc.cli.demo:demo",
        "equiv": "refmlc.cli.equiv:equiv",
        "explain": "refmlc.cli.explain:explain",
        "fuzz": "refmlc.cli.fuzz:fuzz",
        "import": "refmlc.cli.import_:import_command",
        "native": "refmlc.cli.native:native",
        "passes": "refmlc.cli.passes:passes",
        "reduce": "refmlc.cli.reduce:reduce_command",
        "replay": "refmlc.cli.replay:replay",
        "run": "refmlc.cli.run:run",
        "show": "refmlc.cli.show:show",
        "spec": "refmlc.cli.spec:spec",
        "trace": "refmlc.cli.trace:trace",
        "vscode": "refmlc.cli.vscode:vscode",
        "why": "refmlc.cli.why:why_command",
    }

    def unknown(self, name: str) -> str:
        """What is said of a name that no subcommand has: that of a file is for `refmlc check`."""
        if name.endswith(".py") or Path(name).is_file():
            return f"No such command '{name}'. To check this file: refmlc check {quote(name)}"
        return super().unknown(name)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="refmlc")
def main() -> None:
    """Read, show, check and run TVM IRModules, exactly per their semantics.

    Exit status: 0 ok, 1 a finding, 2 bad usage or input, 3 unsupported, 4 a budget is used up, 70 a bug in refmlc,
    130 an interrupt.
    """
