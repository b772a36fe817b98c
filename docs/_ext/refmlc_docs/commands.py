"""The subcommands in the groups of `refmlc --help`, as reStructuredText for sphinx-click."""

from refmlc.cli.commands import GROUPS


def group(title: str) -> str:
    """The commands of a group, each with its options."""
    return "\n\n".join(_section(name, entry.place) for name, entry in GROUPS[title].items())


def _section(name: str, place: str) -> str:
    lines = (f".. click:: {place}", f"   :prog: refmlc {name}", "   :nested: full")
    return "\n".join((f"(command-{name})=", "```{eval-rst}", *lines, "```"))
