"""What every node has: the place it was read from, and its text.

The text of a node is the matter of `lang/script`, which imports this package. The root of refmlc provides the functions
that print (`refmlc.lazy`), so that `node.script()` works as TVM's users expect and no import points upwards. Its
dialect, where none is given, is that of `REFMLC_DIALECT` in the environment, else 0.27.
"""

import os
from dataclasses import dataclass, field
from typing import Protocol, TypeVar, cast, dataclass_transform

from refmlc.diag import Span
from refmlc.lazy import provided

C = TypeVar("C")


class Show(Protocol):
    """`refmlc.lang.script.show`."""

    def __call__(self, node: "Node", *, dialect: str, show_meta: bool) -> str:
        """The text of `node`."""


class Display(Protocol):
    """`refmlc.lang.script.display.display`; a module of its own, since colours take their time to import."""

    def __call__(self, text: str) -> None:
        """Print TVMScript, coloured where the terminal can."""


class Words(Protocol):
    """`refmlc.lang.script.line.line`, which is one line, or `text`, which is TVMScript where there is any."""

    def __call__(self, node: "Node") -> str:
        """The HTML of `node`."""


class Printer(Protocol):
    """What IPython and Hypothesis print with."""

    def text(self, text: str) -> None:
        """Print `text`."""


class Page(Protocol):
    """`refmlc.lang.drawing.page`."""

    def __call__(self, node: "Node", text: str) -> str:
        """TVMScript as HTML, with the pictures of graphs."""


@dataclass_transform(eq_default=False, frozen_default=True, field_specifiers=(field,))
def node(cls: type[C]) -> type[C]:
    """Make `cls` a node: an immutable dataclass that is compared by identity."""
    return dataclass(frozen=True, slots=True, eq=False, repr=False)(cls)


@node
class Node:
    """A node of the IR."""

    span: Span | None = field(default=None, kw_only=True, repr=False)

    def script(self, *, dialect: str | None = None, show_meta: bool = False) -> str:
        """The TVMScript of this node, as `refmlc.show` gives it."""
        show = cast("Show", provided("node.text"))
        dialect = os.environ.get("REFMLC_DIALECT", "0.27") if dialect is None else dialect
        return show(self, dialect=dialect, show_meta=show_meta)

    def show(self, *, dialect: str | None = None, show_meta: bool = False) -> None:
        """Print the TVMScript of this node, coloured where the terminal can."""
        display = cast("Display", provided("node.display"))
        display(self.script(dialect=dialect, show_meta=show_meta))

    def __repr__(self) -> str:
        """The kind and content, in one line."""
        return f"<{cast('Words', provided('node.line'))(self)}>"

    def __str__(self) -> str:
        """The TVMScript of this node, where it has any."""
        return cast("Words", provided("node.summary"))(self)

    def _repr_pretty_(self, printer: Printer, _cycle: bool) -> None:
        """The TVMScript, where IPython or Hypothesis print a node."""
        printer.text(str(self))

    def _repr_html_(self) -> str:
        """The TVMScript of this node, highlighted, and the graphs of its Relax functions, for notebooks."""
        page = cast("Page", provided("node.page"))
        return page(self, self.script())
