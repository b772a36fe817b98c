"""The command `refmlc`: one file per subcommand; each only reads arguments, calls the library and renders.

A subcommand is loaded when it is called, because most of them need libraries that others do not.
"""

import gc
import re
from collections.abc import Mapping
from pathlib import Path
from shlex import quote
from typing import ClassVar

import click

from refmlc.cli.commands import FILES, GROUPS, SYNONYMS
from refmlc.cli.console import GuardedGroup

CODE = re.compile(r"RM\d{3}", re.IGNORECASE)
CLAUSE = re.compile(r"[A-Z]{3}-\d{3}", re.IGNORECASE)
YOUNG = 50_000  # new objects between two looks for cycles: what is loaded is never garbage, and calls make few
FIRST = "Try first: refmlc check FILE.py (a module as TVM prints it), or refmlc demo."


class Commands(GuardedGroup):
    """The group of all subcommands."""

    places: ClassVar[Mapping[str, str]] = {
        name: entry.place for group in GROUPS.values() for name, entry in group.items()
    }

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the subcommands in groups, without loading any."""
        del ctx
        width = max(map(len, self.places))
        for title, group in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(width), entry.summary) for name, entry in group.items()])

    def suggestion(self, name: str) -> str:
        """The message for an unknown name: the command that takes it as its argument, or a similar command."""
        command, purpose = self._command_for(name)
        if command:
            return f"No such command '{name}'. To {purpose}: refmlc {command} {quote(name)}"
        if name.lower() in SYNONYMS:
            return f"No such command '{name}'. Did you mean '{SYNONYMS[name.lower()]}'?"
        if name == "help":
            return "No such command 'help'. For help: refmlc --help, or refmlc COMMAND --help"
        return super().suggestion(name)

    @staticmethod
    def _command_for(name: str) -> tuple[str, str]:
        """The subcommand that takes `name` as its argument, and its purpose; two empty texts: none."""
        path = Path(name)
        if CODE.fullmatch(name):
            return "explain", "explain this code"
        if CLAUSE.fullmatch(name):
            return "spec", "read this clause"
        if path.suffix in FILES:
            return FILES[path.suffix]
        if path.is_dir():
            return "check", "check this folder"
        return ("check", "check this file") if path.is_file() else ("", "")


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]}, epilog=FIRST)
@click.version_option(package_name="refmlc")
def main() -> None:
    """Read, show, check and run IRModules of TVM, exactly as their specification says.

    Exit status: 0 ok, 1 a finding, 2 bad usage or input, 3 unsupported, 4 a budget is used up, 70 a bug in refmlc,
    130 an interrupt.
    """
    gc.set_threshold(YOUNG)
