"""Reduce texts that refmlc cannot read as modules: by lines, nested by indentation, and by numbers.

| edit                           | example                                           |
|--------------------------------|---------------------------------------------------|
| units dropped, several at once | a line, with the lines below it that stand deeper |
| the head of a unit dropped     | a loop, its body moved to the left                |
| a number made smaller          | 128 to 1, 2, 64                                   |

Nothing is known of the language, so what is valid is for the predicate to say.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE
from refmlc.oracle.reduce.search import Candidate, Pass, Search, SearchLimits, Size, SubjectText
from refmlc.oracle.reduce.subject import spans_of

NUMBER = re.compile(r"(?<![\w.])\d+(?![\w.])")


@dataclass(frozen=True)
class TextReduction:
    """The smallest text found. `before` and `after`: lines, characters, the sum of the numbers' digits and values."""

    text: str
    before: Size
    after: Size
    tries: int
    steps: int
    finished: bool


def indent(line: str) -> int:
    """How far to the right a line begins."""
    return len(line) - len(line.lstrip())


def end_of(lines: Sequence[str], start: int) -> int:
    """The line after the unit that begins at `start`: deeper lines, and empty ones between them, belong to it."""
    end = start + 1
    for number in range(start + 1, len(lines)):
        if not lines[number].strip():
            continue
        if indent(lines[number]) <= indent(lines[start]):
            break
        end = number + 1
    return end


def drop_units(text: str) -> Iterator[Callable[[], str]]:
    """The text without some units, neighbours in order."""
    lines = text.splitlines(keepends=True)
    for piece in spans_of(len(lines)):
        if len(lines[piece]) < len(lines):
            yield partial(_without, lines, piece)


def _without(lines: list[str], piece: slice) -> str:
    """The text without the lines of a piece and what belongs to them."""
    last = max(end_of(lines, number) for number in range(piece.start, piece.stop))
    return "".join(lines[: piece.start] + lines[last:])


def drop_lines(text: str) -> Iterator[Callable[[], str]]:
    """The text without some lines, whatever belongs to them."""
    lines = text.splitlines(keepends=True)
    for piece in spans_of(len(lines)):
        if len(lines[piece]) < len(lines):
            yield partial("".join, lines[: piece.start] + lines[piece.stop :])


def unwrap_units(text: str) -> Iterator[Callable[[], str]]:
    """A unit's first line dropped, the others moved to the left."""
    lines = text.splitlines(keepends=True)
    for number in range(len(lines)):
        if end_of(lines, number) > number + 1:
            yield partial(_unwrapped, lines, number)


def _unwrapped(lines: list[str], number: int) -> str:
    end = end_of(lines, number)
    depth = min(indent(line) for line in lines[number + 1 : end] if line.strip()) - indent(lines[number])
    body = [line[depth:] if line.strip() else line for line in lines[number + 1 : end]]
    return "".join(lines[:number] + body + lines[end:])


def smaller_numbers(text: str) -> Iterator[Callable[[], str]]:
    """A number made smaller: everywhere, then in one place."""
    numerals = [match for match in NUMBER.finditer(text) if len(match[0]) < 19]
    for word in dict.fromkeys(match[0] for match in numerals):
        for other in _smaller(int(word)):
            yield partial(re.sub, rf"(?<![\w.]){word}(?![\w.])", str(other), text)
    for match in numerals:
        for other in _smaller(int(match[0])):
            yield partial(_replaced, text, match.span(), str(other))


def _smaller(value: int) -> Iterator[int]:
    yield from (other for other in dict.fromkeys((0, 1, 2, value // 2, value - 1)) if 0 <= other < value)


def _replaced(text: str, span: tuple[int, int], word: str) -> str:
    return text[: span[0]] + word + text[span[1] :]


class TextMatter:
    """Texts as the matter of a search."""

    groups: Sequence[Sequence[Pass[str]]] = ((drop_units,), (unwrap_units, drop_lines), (smaller_numbers,))

    def shown(self, subject: str) -> SubjectText[str]:
        return SubjectText(subject, subject, subject)

    def read(self, shown: SubjectText[str]) -> Candidate[str]:
        """The text with its size."""
        return Candidate(shown.text, shown.text, size_of_text(shown.text))


def size_of_text(text: str) -> Size:
    """Lines that are not empty, characters, the sum of the numbers."""
    lines = sum(bool(line.strip()) for line in text.splitlines())
    return (lines, len(text), sum(int(match[0][:19]) for match in NUMBER.finditer(text)))


def reduce_text(
    text: str,
    keep: Callable[[str], bool],
    *,
    seconds: float | None = None,
    tries: int | None = None,
    jobs: int = 1,
    on_progress: Callable[[TextReduction], None] | None = None,
) -> TextReduction:
    """The smallest text found for which `keep` holds, as it holds for `text`. Fails: RM112 where it does not."""
    texts = TextMatter()
    first = texts.read(texts.shown(text))
    if not keep(text):
        raise fail(BAD_USAGE, "the predicate does not hold for the original text")

    def state(search: Search[str], *, finished: bool = False) -> TextReduction:
        best = search.best
        return TextReduction(best.text, first.size, best.size, search.tries, search.steps, finished)

    def report(search: Search[str]) -> None:
        if on_progress is not None:
            on_progress(state(search))

    limits = SearchLimits(seconds, tries, jobs)
    with Search(texts, first, lambda candidate: keep(candidate.text), limits, report) as search:
        return state(search, finished=search.run())
