"""A diagnostic as text in rustc's manner, as one line, or as JSON data. The only place where findings become text.

    error[RM304]: load from `A` is out of bounds
      --> gemm.py:14:24
       |
    14 |             C[i, j] += A[i, k] * B[k, j]
       |                        ^^^^^^^ index 1 is 128, extent is 128
       = note: i = 3, k = 128 in `main`
    note: `A` is declared here
      --> gemm.py:4:14
       |
     4 | def gemm(A: T.Buffer((128, 128), "float32"), …
       |          ^
       = help: `refmlc explain RM304`

A span over several lines is drawn with a bar at the left of its lines. Tabs count to the next multiple of four,
wide characters two cells, combining marks none; control characters and what reorders text are shown as `\ufffd`.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import TypeAlias

from refmlc.diag.diagnostic import Diagnostic, Related
from refmlc.diag.layout import clipped, plain, plain_lines
from refmlc.diag.source import Span

Json: TypeAlias = "str | int | list[Json] | dict[str, Json] | None"

LONGEST_RANGE = 6
RED, BLUE, GREEN, BOLD, RESET = "\x1b[1;31m", "\x1b[1;34m", "\x1b[1;32m", "\x1b[1m", "\x1b[0m"


@dataclass(frozen=True, slots=True)
class Painter:
    """Paints pieces of the message, or leaves them plain."""

    color: bool

    def __call__(self, style: str, text: str) -> str:
        """Put `text` between the escapes of `style`, where colours are on."""
        return f"{style}{text}{RESET}" if self.color and text else text


def render_text(diagnostic: Diagnostic, color: bool = False) -> str:
    """The whole message, several lines, without a line end at the end."""
    paint = Painter(color)
    spans = [diagnostic.span, *(related.span for related in diagnostic.related)]
    gutter = max((len(str(span.end_line)) for span in spans if span is not None), default=1)
    head, *more = plain_lines(diagnostic.message)
    lines = [paint(RED, f"error[{diagnostic.code.id}]") + paint(BOLD, f": {head}")]
    lines += [f"{'':{gutter}}   {line}" for line in more]
    lines += _place(diagnostic.span, diagnostic.label, gutter, paint)
    lines += _facts("note", diagnostic.notes, gutter, paint)
    for related in diagnostic.related:
        lines.append(paint(GREEN, "note") + f": {plain(related.message)}")
        lines += _place(related.span, "", gutter, paint)
    lines += _facts("help", (*diagnostic.helps, f"`refmlc explain {diagnostic.code.id}`"), gutter, paint)
    for other in diagnostic.others:
        lines += ["", render_text(other, color)]
    return "\n".join(lines)


def render_line(diagnostic: Diagnostic) -> str:
    """One line: `file:line:column: error[RM304]: message`."""
    place = "" if diagnostic.span is None else f"{plain(diagnostic.span.place)}: "
    return f"{place}error[{diagnostic.code.id}]: {' '.join(plain_lines(diagnostic.message))}"


def note_line(note: Related) -> str:
    """A note in one line: `note: file:line: message`."""
    place = "" if note.span is None else f"{plain(note.span.source.name)}:{note.span.line}: "
    return f"note: {place}{' '.join(plain_lines(note.message))}"


def note_json(note: Related) -> Json:
    """A note as data, as `related` of a diagnostic."""
    return {"message": note.message, "place": _place_json(note.span)}


def to_json(diagnostic: Diagnostic) -> dict[str, Json]:
    """Plain data for machines. Units: lines and columns count from 1, in characters; the end is exclusive."""
    data: dict[str, Json] = {
        "code": diagnostic.code.id,
        "kind": diagnostic.code.kind,
        "title": diagnostic.code.title,
        "clause": diagnostic.code.clause,
        "message": diagnostic.message,
        "place": _place_json(diagnostic.span),
        "label": diagnostic.label,
        "notes": list(diagnostic.notes),
        "related": [note_json(related) for related in diagnostic.related],
        "helps": list(diagnostic.helps),
    }
    return data | ({"others": [to_json(other) for other in diagnostic.others]} if diagnostic.others else {})


def _place_json(span: Span | None) -> Json:
    """The place as data, None where there is none."""
    if span is None:
        return None
    return {
        "file": span.source.name,
        "line": span.line,
        "column": span.column + 1,
        "end_line": span.end_line,
        "end_column": span.end_column + 1,
    }


def _facts(word: str, facts: tuple[str, ...], gutter: int, paint: Painter) -> Iterator[str]:
    """The `= note: …` lines; repeated facts are printed once, with their count."""
    for fact, again in groupby(facts):
        times = len(list(again))
        first, *rest = plain_lines(fact if times == 1 else f"{fact} ({times} times)")
        yield f"{'':{gutter}} {paint(BLUE, '=')} {paint(BOLD, word)}: {first}"
        for line in rest:
            yield f"{'':{gutter}}   {'':{len(word) + 2}}{line}"


def _place(span: Span | None, label: str, gutter: int, paint: Painter) -> Iterator[str]:
    """The arrow, the lines of the source, the carets."""
    if span is None:
        if label:
            yield from _facts("note", (label,), gutter, paint)
        return
    bar = paint(BLUE, "|")
    yield f"{'':{gutter}}{paint(BLUE, '-->')} {plain(span.place)}"
    yield f"{'':{gutter}} {bar}"
    drawn = _one_line(span, label, paint) if span.end_line <= span.line else _many_lines(span, label, paint)
    for number, text in drawn:
        shown = "..." if number is None else paint(BLUE, f"{number or '':>{gutter}}") + f" {bar}"
        yield f"{shown} {text}".rstrip()


def _one_line(span: Span, label: str, paint: Painter) -> Iterator[tuple[int | None, str]]:
    """The line and the carets under it, as (number or 0 for no number, text)."""
    line = clipped(span.source.line(span.line), span.column, max(span.end_column, span.column + 1))
    yield span.line, line.text
    carets = f"{'':{line.start}}" + paint(RED, "^" * (line.end - line.start))
    first, *rest = plain_lines(label)
    yield 0, carets + (" " + paint(RED, first) if first else "")
    for more in rest:
        yield 0, f"{'':{line.end}} {paint(RED, more)}"


def _many_lines(span: Span, label: str, paint: Painter) -> Iterator[tuple[int | None, str]]:
    """The lines with a bar at their left, joined to the last character; the middle of a long range is left out.

    A number of None stands for lines left out, 0 for a line without number.
    """
    numbers = list(range(span.line, span.end_line + 1))
    if len(numbers) > LONGEST_RANGE:
        numbers = [*numbers[:3], 0, *numbers[-2:]]
    side = paint(RED, "|")
    for number in numbers:
        if number == 0:
            yield None, side
            continue
        column = span.column if number == span.line else 0
        text = clipped(span.source.line(number), column, column + 1).text
        yield number, f"{paint(RED, '/') if number == span.line else side} {text}"
    last = clipped(span.source.line(span.end_line), max(span.end_column - 1, 0), span.end_column)
    first, *rest = plain_lines(label)
    yield 0, paint(RED, f"|_{'':_<{last.start}}^") + (" " + paint(RED, first) if first else "")
    for more in rest:
        yield 0, f"  {'':{last.start}}  {paint(RED, more)}"
