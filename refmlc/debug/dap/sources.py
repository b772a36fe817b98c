"""The texts of a program: files by their paths, other texts by numbers, under which the server sends them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from refmlc.debug.dap.arguments import Arguments, RequestRefused
from refmlc.debug.program import Program
from refmlc.diag import Source

MIME = "text/x-python"


@dataclass
class Sources:
    """The texts of `program`. `reserved`: the numbers of texts of earlier programs; an equal text keeps its number."""

    program: Program
    reserved: dict[tuple[str, str], int] = field(default_factory=dict)

    @cached_property
    def texts(self) -> Mapping[str, Source]:
        """The texts by the names used in spans."""
        return self.program.sources

    @cached_property
    def paths(self) -> Mapping[str, str]:
        """The texts that are files."""
        return {name: str(Path(name).resolve()) for name in self.texts if _is_file(name)}

    @cached_property
    def _numbers(self) -> Mapping[str, int]:
        return {
            name: self.reserved.setdefault((name, source.text), len(self.reserved) + 1)
            for name, source in self.texts.items()
            if name not in self.paths
        }

    def description(self, name: str) -> dict[str, object]:
        """The description of a text for the client."""
        if name in self.paths:
            return {"name": Path(name).name, "path": self.paths[name]}
        if name not in self._numbers:
            return {"name": name}
        return {"name": name, "sourceReference": self._numbers[name], "origin": "shown by refmlc"}

    def find(self, arguments: Arguments) -> str | None:
        """The name of the text that the client means; None if it is not one of the program."""
        reference = arguments.number("sourceReference", 0)
        if reference:
            return next((name for name, number in self._numbers.items() if number == reference), None)
        if "path" in arguments:
            path = _resolved(arguments.text("path"))
            return next((name for name, file in self.paths.items() if file == path), None)
        name = arguments.text("name")
        return name if name in self.texts else None

    def content(self, arguments: Arguments) -> str:
        """The content of a text."""
        name = self.find(arguments)
        if name is None:
            raise RequestRefused("this text does not belong to the program")
        return self.texts[name].text


def changed(sources: Sources | None, other_sources: Sources | None) -> list[dict[str, object]]:
    """The texts of `sources` that are not in `other_sources`, as descriptions for the client."""
    other_rows = [] if other_sources is None else [other_sources.description(name) for name in other_sources.texts]
    rows = [] if sources is None else [sources.description(name) for name in sources.texts]
    return [row for row in rows if row not in other_rows]


def _is_file(name: str) -> bool:
    try:
        return Path(name).is_file()
    except (OSError, ValueError):
        return False


def _resolved(path: str) -> str:
    try:
        return str(Path(path).resolve())
    except (OSError, ValueError, RuntimeError):
        return path
