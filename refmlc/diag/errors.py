"""One exception class per kind of failure; kinds are disjoint and each has its exit code.

`str()` of an exception is the whole message, as the command line shows it. Notebooks show it in colours, with the
lines of the cells that led to it.

| kind        | codes | exit | means                                         |
|-------------|-------|------|-----------------------------------------------|
| Malformed   | RM1xx | 2    | the text is not TVMScript, the input no tensor |
| IllFormed   | RM2xx | 2    | a static rule is broken                       |
| Undefined   | RM3xx | 1    | the program has undefined behaviour           |
| Trap        | RM4xx | 1    | the program stops itself (assert, no function) |
| Unsupported | RM5xx | 3    | our limit, never agreement                    |
| Exhausted   | RM6xx | 4    | budget, depth or memory is used up            |
| Mismatch    | RM7xx | 1    | two computations differ                       |
| Internal    | RM9xx | 70   | our bug                                       |
"""

from traceback import format_exception
from typing import ClassVar

from refmlc.diag.catalogue import Code
from refmlc.diag.diagnostic import Diagnostic
from refmlc.diag.frames import user_lines
from refmlc.diag.layout import plain
from refmlc.diag.render import render_line, render_text
from refmlc.diag.source import Span


class RefmlcError(Exception):
    """A failure with its diagnostic. Never raised itself: raise the kind, or `fail(code, …)`."""

    exit_code: ClassVar[int] = 70

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic)
        self.diagnostic = diagnostic

    def __str__(self) -> str:
        """The whole message: code, place, source line, facts."""
        return render_text(self.diagnostic)

    def __repr__(self) -> str:
        """The kind and the message in one line."""
        return f"<{type(self).__name__} {render_line(self.diagnostic)}>"

    def _render_traceback_(self) -> list[str]:
        """The text that a notebook shows instead of the traceback (IPython's protocol)."""
        lines = (plain(line) for line in user_lines(self.__traceback__))
        return [*render_text(self.diagnostic, color=True).splitlines(), *lines]

    @property
    def code(self) -> Code:
        """The catalogue row of this failure."""
        return self.diagnostic.code


class Malformed(RefmlcError):
    """The input is not what its format says (RM1xx)."""

    exit_code = 2


class IllFormed(RefmlcError):
    """The module breaks a static rule (RM2xx)."""

    exit_code = 2


class Undefined(RefmlcError):
    """The program has undefined behaviour (RM3xx)."""

    exit_code = 1


class Trap(RefmlcError):
    """The program stops itself (RM4xx)."""

    exit_code = 1


class Unsupported(RefmlcError):
    """The program is beyond refmlc (RM5xx); says nothing on the program."""

    exit_code = 3


class Exhausted(RefmlcError):
    """A budget is used up (RM6xx); says nothing on the program."""

    exit_code = 4


class Mismatch(RefmlcError):
    """Two computations of one program differ (RM7xx)."""

    exit_code = 1


class Internal(RefmlcError):
    """A bug in refmlc (RM9xx)."""

    exit_code = 70

    def _render_traceback_(self) -> list[str]:
        """The whole traceback, which is what one needs then."""
        return "".join(format_exception(self)).splitlines()


KINDS: dict[str, type[RefmlcError]] = {
    kind.__name__: kind for kind in (Malformed, IllFormed, Undefined, Trap, Unsupported, Exhausted, Mismatch, Internal)
}
"""The exceptions by `Code.kind`."""


def error(diagnostic: Diagnostic) -> RefmlcError:
    """The exception of the kind that the diagnostic's code belongs to."""
    return KINDS[diagnostic.code.kind](diagnostic)


def fail(code: Code, message: str, span: Span | None = None, *notes: str, label: str = "") -> RefmlcError:
    """Build the exception for `code`: `raise fail(OUT_OF_BOUNDS, "load from `A` …", span)`."""
    return error(Diagnostic(code, message, span, label, notes))


def render(problem: RefmlcError | Diagnostic, *, color: bool = False) -> str:
    """The whole message of a failure, as the command line shows it; `color`: with the escapes of a terminal."""
    return render_text(problem if isinstance(problem, Diagnostic) else problem.diagnostic, color)
