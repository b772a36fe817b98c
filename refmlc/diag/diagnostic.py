"""A finding as data: what is, where, with the values. Rendered elsewhere, once."""

from dataclasses import dataclass, field, replace

from refmlc.diag.catalogue import Code
from refmlc.diag.source import Span


@dataclass(frozen=True, slots=True)
class Related:
    """A second place that the reader must see, with one sentence on it."""

    message: str
    span: Span | None


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding. `message` says what is; `label` stands under the caret; only `helps` propose.

    `others` are further findings on the same text; they are rendered behind this one.
    """

    code: Code
    message: str
    span: Span | None = None
    label: str = ""
    notes: tuple[str, ...] = ()
    related: tuple[Related, ...] = ()
    helps: tuple[str, ...] = field(default=())
    others: "tuple[Diagnostic, ...]" = ()

    def at(self, span: Span | None) -> "Diagnostic":
        """The same finding with its place, where it had none yet."""
        return self if self.span is not None else replace(self, span=span)

    def noting(self, *notes: str) -> "Diagnostic":
        """The same finding with further facts."""
        return replace(self, notes=self.notes + notes)
