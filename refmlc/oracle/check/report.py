"""What `check` says: a table of verdicts, remarks, findings, a summary; as text, as HTML, as data.

| part     | holds                                                                                         |
|----------|-----------------------------------------------------------------------------------------------|
| table    | a row for the meaning of each function, one for each implementation: calls with each verdict     |
| remarks  | why something is unsupported; branches that no call reaches; lints, where they are no findings   |
| findings | each once: of those that have one cause, the first                                             |
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from html import escape

from refmlc.diag import Diagnostic
from refmlc.diag.layout import plain
from refmlc.diag.render import Json, render_text, to_json
from refmlc.oracle.check.program import Checked
from refmlc.oracle.examine import Examination
from refmlc.oracle.finding import Finding, arguments_text
from refmlc.oracle.outcome import Kind, Verdict
from refmlc.oracle.pairs.branches import Branch

COLUMNS = ("function", "path", "calls", "sanitizer")
MOST_REMARKS = 12
WIDEST = 100


@dataclass(frozen=True)
class Row:
    """A function: its program and what was found; or the problem that no call of it can be made.

    `notes`: what the user has to know of how the function is executed.
    """

    name: str
    program: Checked | None = None
    found: Examination | None = None
    missed: tuple[Branch, ...] = ()
    problem: Diagnostic | None = None
    notes: tuple[str, ...] = ()

    @property
    def compared(self) -> bool:
        """Whether the result of some call was compared, or its verdict."""
        if self.found is None:
            return False
        kinds = {verdict.kind for verdicts in self.found.verdicts.values() for verdict in verdicts}
        return bool(kinds - {Kind.UNSUPPORTED, Kind.TIMED_OUT})

    @property
    def executed(self) -> bool:
        """Whether the meaning of some call is known, and nothing is compared with it."""
        return (
            self.found is not None
            and not self.compared
            and any(one.verdict == "defined" for one in self.found.reference)
        )


@dataclass(frozen=True)
class Line:
    """A line of the table. `counts`: how many calls have each verdict; no one, where no arguments can be made."""

    function: str
    path: str
    counts: tuple[tuple[int, str], ...]
    sanitizer: str = ""

    @property
    def calls(self) -> str:
        """The counts in words."""
        return ", ".join(f"{count} {word}" for count, word in self.counts) or NO_ARGUMENTS


@dataclass(frozen=True)
class Cause:
    """A finding, and in how many calls there is one of the same cause. Undefined behaviour is in no implementation."""

    finding: Finding
    count: int = 1
    lint: bool = False

    @property
    def diagnostic(self) -> Diagnostic:
        """The finding, with the count."""
        told = self.finding.diagnostic
        return told if self.count == 1 else told.noting(f"the same in {self.count} calls; this is the first")


NO_ARGUMENTS = "no arguments can be made"
NOT_COMPARED = "nothing could be compared"
ALONE = "only the meaning was executed: no other implementation takes this function"


@dataclass(frozen=True, repr=False)
class Report:
    """What was found in a module.

    `shown`: what the table calls each implementation; `strict`: lints are findings; `named`: the caller named
    implementations, so that a check that compares with none of them is no success.
    """

    title: str
    rows: tuple[Row, ...]
    shown: Mapping[str, str] = field(default_factory=dict)
    strict: bool = False
    named: bool = False

    @cached_property
    def causes(self) -> tuple[Cause, ...]:
        """What is found, those of one cause together: undefined behaviour, then implementations that are wrong."""
        first: dict[object, Cause] = {}
        for row in self.rows:
            for key, cause in (*_undefined(row, strict=self.strict), *_wrong(row)):
                known = first.get(key)
                first[key] = cause if known is None else replace(known, count=known.count + 1)
        return tuple(first.values())

    @property
    def findings(self) -> tuple[Diagnostic, ...]:
        """What is wrong, each cause once."""
        return tuple(cause.diagnostic for cause in self.causes)

    @property
    def ok(self) -> bool:
        """Whether nothing is found."""
        return not self.causes

    @property
    def compared(self) -> bool:
        """Whether anything was compared."""
        return any(row.compared for row in self.rows)

    @property
    def executed(self) -> bool:
        """Whether the meaning of some function is known, and nothing is compared with it."""
        return any(row.executed for row in self.rows)

    @property
    def status(self) -> int:
        """The exit status of the command: 1 a finding, 3 nothing executed, or no named way took part; else 0."""
        return 1 if self.causes else 0 if self.compared or (self.executed and not self.named) else 3

    def table(self) -> tuple[Line, ...]:
        """The verdicts, a line for the meaning of each function and one for each implementation."""
        return tuple(line for row in self.rows for line in _lines(row, self.shown))

    @property
    def remarks(self) -> list[str]:
        """What is not in the table: reasons, branches, lints; each once."""
        found = list(dict.fromkeys(remark for row in self.rows for remark in _remarks(row, self.shown)))
        more = len(found) - MOST_REMARKS
        return [*found[:MOST_REMARKS], f"and {more} more"] if more > 0 else found

    @property
    def summary(self) -> str:
        """What it comes to, in a line."""
        examined = [row.found for row in self.rows if row.found is not None]
        paths = dict.fromkeys(path for found in examined for path in found.verdicts)
        calls, pairs = sum(len(found.reference) for found in examined), sum(len(found.pairs) for found in examined)
        head = f"{many(len(self.rows), 'function')}, {many(calls, 'call')}, {many(len(paths), 'implementation')}"
        head += f", {many(pairs, 'variant')}" if pairs else ""
        codes = [one.code.id for one in self.findings]
        if codes:
            return f"{head}: {many(len(codes), 'finding')} ({', '.join(dict.fromkeys(codes))})"
        if self.compared:
            return f"{head}: nothing is found"
        alone = self.executed and not self.named
        return f"{head}: {'nothing is found, only the meaning was executed' if alone else NOT_COMPARED}"

    def __repr__(self) -> str:
        return f"<Report {plain(self.title)}: {self.summary}>"

    def __str__(self) -> str:
        """The table, remarks, findings, the summary."""
        findings = [f"\n{render_text(diagnostic)}" for diagnostic in self.findings]
        return "\n".join(
            [plain(self.title), *_table_text(self.table()), *map(plain, self.remarks), *findings, "", self.summary]
        )

    def _repr_html_(self) -> str:
        """The same for notebooks."""
        head = "".join(f"<th>{column}</th>" for column in COLUMNS)
        rows = "".join(f"<tr>{''.join(map(_cell, _cells(line)))}</tr>" for line in self.table())
        rest = [*self.remarks, *(f"\n{render_text(diagnostic)}" for diagnostic in self.findings), "", self.summary]
        table = f"<table><caption>{escape(plain(self.title))}</caption><tr>{head}</tr>{rows}</table>"
        return f"{table}<pre>{escape(chr(10).join(rest))}</pre>"

    def to_json(self) -> dict[str, object]:
        """The same for machines: what `refmlc check --json` prints."""
        return {
            "functions": [_row_data(row) for row in self.rows],
            "findings": [to_json(one) for one in self.findings],
            "summary": self.summary,
        }


def _cells(line: Line) -> tuple[str, str, str, str]:
    return line.function, line.path, line.calls, line.sanitizer


def _cell(text: str) -> str:
    return f'<td style="text-align: left; white-space: pre">{escape(text)}</td>'


def _table_text(lines: Sequence[Line]) -> Iterator[str]:
    """The table in columns that are as wide as they need to be."""
    rows = [COLUMNS, *([plain(cell) for cell in cells] for line in lines for cells in _split(line))]
    widths = [max(len(row[at]) for row in rows) for at in range(len(COLUMNS))]
    for row in rows:
        yield "  ".join(f"{cell:{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()


def _split(line: Line) -> Iterator[tuple[str, str, str, str]]:
    """A line of the table as lines of text: the sizes of several dimensions stand below each other."""
    first, *more = line.function.split("\n")
    yield first, *_cells(line)[1:]
    yield from ((each, "", "", "") for each in more)


def _lines(row: Row, shown: Mapping[str, str]) -> Iterator[Line]:
    """The lines of a function; the sizes of its symbolic dimensions stand below its name."""
    if row.found is None:
        yield Line(row.name, "meaning", ())
        return
    yield Line(row.name, "meaning", _counted(one.verdict for one in row.found.reference), _sanitizer(row.found))
    sizes = _sizes(row)
    for path, verdicts in row.found.verdicts.items():
        yield Line(sizes, shown.get(path, path), _counted(verdict.kind.value for verdict in verdicts))
        sizes = ""


def _counted(words: Iterator[str]) -> tuple[tuple[int, str], ...]:
    """How many calls have each verdict."""
    return tuple((count, word) for word, count in Counter(words).items())


def _sizes(row: Row) -> str:
    """The sizes of symbolic dimensions, call by call."""
    calls = () if row.program is None else row.program.calls
    names = list(dict.fromkeys(name for call in calls for name in call.sizes))
    return "\n".join(f"{name} = {', '.join(str(call.sizes[name]) for call in calls)}" for name in names)


def _sanitizer(found: Examination) -> str:
    """What the sanitizer met, by code, over all calls."""
    counts: Counter[str] = Counter()
    for reference in found.reference:
        if reference.report is not None:
            counts.update({code: count for code, count in reference.report.counts.items() if count})
    return ", ".join(f"{code}: {count}" for code, count in sorted(counts.items())) or "nothing"


def _remarks(row: Row, shown: Mapping[str, str]) -> Iterator[str]:
    if row.problem is not None:
        yield _clipped(f"{row.name}: {row.problem.message}")
    if row.found is None:
        return
    yield from row.notes
    if row.executed:
        yield f"{row.name}: {ALONE}"
    for reference in row.found.reference:
        if reference.verdict not in ("defined", "undefined"):
            words = getattr(reference.answer, "message", "")
            yield _clipped(f"{row.name}: the meaning is {reference.verdict}: {words}")
    for path, verdicts in row.found.verdicts.items():
        for verdict, reference in zip(verdicts, row.found.reference, strict=True):
            if verdict.kind in (Kind.UNSUPPORTED, Kind.TIMED_OUT) and reference.verdict == "defined":
                yield _clipped(f"{row.name}, {shown.get(path, path)}: {verdict.kind.value}: {_why(verdict)}")
    if row.found.unvaried:
        yield f"{row.name}: {row.found.unvaried}"
    yield from (f"{row.name}: {branch}" for branch in row.missed)
    yield from (f"lint: {one.code.id}: {one.message}" for _, one in _reported(row, lints=True))


def _why(verdict: Verdict) -> str:
    return "; ".join(verdict.notes) or (verdict.report.message if verdict.report is not None else "")


def _clipped(text: str) -> str:
    return text if len(text) <= WIDEST else f"{text[: WIDEST - 2]} …"


def _undefined(row: Row, *, strict: bool) -> Iterator[tuple[object, Cause]]:
    """What the sanitizer reports of each call, with what makes it one cause."""
    for lints in (False, True) if strict else (False,):
        for number, one in _reported(row, lints=lints):
            if row.found is None or row.program is None:
                continue
            note = f"call {number + 1}: {arguments_text(row.program, number)}"
            told = one if lints else one.noting(note)
            verdict, reference = Verdict(Kind.UNDEFINED, report=one), row.found.reference[number]
            key = (one.code.id, None if one.span is None else (one.span.line, one.span.column))
            yield key, Cause(Finding(one.code, row.program, number, "", verdict, told, reference), lint=lints)


def _wrong(row: Row) -> Iterator[tuple[object, Cause]]:
    """What is found of implementations."""
    for finding in row.found.findings if row.found is not None else ():
        yield (row.name, finding.part, *finding.signature), Cause(finding)


def _reported(row: Row, *, lints: bool) -> Iterator[tuple[int, Diagnostic]]:
    """What the sanitizer reports, lints or the rest, with the number of the call."""
    for number, reference in enumerate(row.found.reference if row.found is not None else ()):
        for one in reference.report.findings if reference.report is not None else ():
            if one.is_lint is lints and one.diagnostic.code.id.startswith("RM3"):
                yield number, one.diagnostic


def many(count: int, word: str) -> str:
    """A count with its noun."""
    return f"{count} {word}" if count == 1 else f"{count} {word}s"


def _row_data(row: Row) -> dict[str, object]:
    if row.found is None or row.program is None:
        return {"name": row.name, "problem": None if row.problem is None else to_json(row.problem), "calls": []}
    calls = [_call_data(row.program, row.found, number) for number in range(len(row.found.reference))]
    missed = [str(branch) for branch in row.missed]
    return {
        "name": row.name,
        "calls": calls,
        "variants": list(row.found.pairs),
        **_left_out(row.found),
        "unreached": missed,
        **_notes(row),
    }


def _notes(row: Row) -> dict[str, object]:
    notes = [*row.notes, *([ALONE] if row.executed else [])]
    return {"notes": notes} if notes else {}


def _left_out(found: Examination) -> dict[str, object]:
    return {"unvaried": found.unvaried} if found.unvaried else {}


def _call_data(program: Checked, found: Examination, number: int) -> dict[str, object]:
    reference = found.reference[number]
    report = reference.report
    verdicts: dict[str, Json] = {path: str(each[number].kind.value) for path, each in found.verdicts.items()}
    return {
        "sizes": dict(program.calls[number].sizes),
        "arguments": arguments_text(program, number),
        "meaning": reference.verdict,
        "counts": {} if report is None else dict(report.counts),
        "verdicts": verdicts,
        "reasons": {path: str(each[number]) for path, each in found.verdicts.items()},
    }
