"""What `refmlc check` says: a table of verdicts, remarks, findings, a summary; the same as data.

| part     | holds                                                                                         |
|----------|-----------------------------------------------------------------------------------------------|
| table    | a row for the meaning of each function, one for each implementation: calls with each verdict     |
| remarks  | why something is unsupported; branches that no call reaches; lints, where they are no findings   |
| findings | each once: of those that have one cause, the first                                             |
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.table import Table
from rich.text import Text

from refmlc.cli.check_inputs import Checked
from refmlc.diag import Diagnostic
from refmlc.diag.render import Json, to_json
from refmlc.oracle.examine import Examination
from refmlc.oracle.finding import arguments_text
from refmlc.oracle.outcome import Kind, Verdict
from refmlc.oracle.pairs.branches import Branch

COLOURS = {
    "defined": "green",
    "equal": "green",
    "permitted": "green",
    "wrong": "bold red",
    "undefined": "red",
    "crashed": "bold red",
    "timed out": "red",
    "unsupported": "yellow",
}
MOST_REMARKS = 12
WIDEST = 100


@dataclass(frozen=True)
class Row:
    """A function: its program and what was found; or the problem that no call of it can be made."""

    name: str
    program: Checked | None = None
    found: Examination | None = None
    missed: tuple[Branch, ...] = ()
    problem: Diagnostic | None = None

    @property
    def compared(self) -> bool:
        """Whether the result of some call was compared, or its verdict."""
        if self.found is None:
            return False
        kinds = {verdict.kind for verdicts in self.found.verdicts.values() for verdict in verdicts}
        return bool(kinds - {Kind.UNSUPPORTED, Kind.TIMED_OUT})


def table(title: str, rows: Sequence[Row]) -> Table:
    """The verdicts for people."""
    shown = Table(title=title, title_justify="left")
    for column in ("function", "path", "calls", "sanitizer"):
        shown.add_column(column, overflow="fold")
    for row in rows:
        if row.found is None:
            shown.add_row(Text(row.name), "meaning", Text("no arguments can be made", style="yellow"), "")
            continue
        meanings = [reference.verdict for reference in row.found.reference]
        shown.add_row(Text(row.name), "meaning", _counted(meanings), Text(_sanitizer(row.found)))
        sizes = _sizes(row)
        for number, (path, verdicts) in enumerate(row.found.verdicts.items()):
            kinds = [verdict.kind.value for verdict in verdicts]
            shown.add_row(Text("" if number else sizes, style="dim"), Text(short(path)), _counted(kinds), "")
    return shown


def short(path: str) -> str:
    """The name of an implementation, without the folder that it lies in."""
    kind, _, rest = path.partition(":")
    return kind if kind == "tvm" else f"cmd:{rest.split('/')[-1]}" if kind == "cmd" else path


def _counted(words: Sequence[str]) -> Text:
    """How many calls have each verdict."""
    parts = [Text(f"{count} {word}", style=COLOURS.get(word, "yellow")) for word, count in Counter(words).items()]
    return Text(", ").join(parts)


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


def remarks(rows: Sequence[Row]) -> list[str]:
    """What is not in the table: reasons, branches, lints; each once."""
    found = list(dict.fromkeys(_remarks(rows)))
    more = len(found) - MOST_REMARKS
    return [*found[:MOST_REMARKS], f"and {more} more"] if more > 0 else found


def _remarks(rows: Sequence[Row]) -> Iterator[str]:
    for row in rows:
        if row.problem is not None:
            yield _clipped(f"{row.name}: {row.problem.message}")
        if row.found is None:
            continue
        for reference in row.found.reference:
            if reference.verdict not in ("defined", "undefined"):
                words = getattr(reference.answer, "message", "")
                yield _clipped(f"{row.name}: the meaning is {reference.verdict}: {words}")
        for path, verdicts in row.found.verdicts.items():
            for verdict, reference in zip(verdicts, row.found.reference, strict=True):
                if verdict.kind in (Kind.UNSUPPORTED, Kind.TIMED_OUT) and reference.verdict == "defined":
                    yield _clipped(f"{row.name}, {short(path)}: {verdict.kind.value}: {_why(verdict)}")
        if row.found.unvaried:
            yield f"{row.name}: {row.found.unvaried}"
        yield from (f"{row.name}: {branch}" for branch in row.missed)
        yield from (f"lint: {one.code.id}: {one.message}" for one in _reported(row, lints=True))


def _why(verdict: Verdict) -> str:
    return "; ".join(verdict.notes) or (verdict.report.message if verdict.report is not None else "")


def _clipped(text: str) -> str:
    return text if len(text) <= WIDEST else f"{text[: WIDEST - 2]} …"


def findings(rows: Sequence[Row], *, strict: bool) -> list[Diagnostic]:
    """The findings, those that have one cause together: undefined behaviour, then implementations that are wrong."""
    found: dict[object, Diagnostic] = {}
    counts: Counter[object] = Counter()
    for row in rows:
        for one in (*_reported(row, lints=False), *(_reported(row, lints=True) if strict else ())):
            span = one.span
            key = (one.code.id, None if span is None else (span.line, span.column))
            found.setdefault(key, one)
            counts[key] += 1
        for finding in row.found.findings if row.found is not None else ():
            cause = (row.name, finding.part, *finding.signature)
            found.setdefault(cause, finding.diagnostic)
            counts[cause] += 1
    return [_told(one, counts[key]) for key, one in found.items()]


def _told(diagnostic: Diagnostic, count: int) -> Diagnostic:
    return diagnostic if count == 1 else diagnostic.noting(f"the same in {count} calls; this is the first")


def _reported(row: Row, *, lints: bool) -> Iterator[Diagnostic]:
    """What the sanitizer reports, lints or the rest, with the arguments of the call."""
    if row.found is None or row.program is None:
        return
    for number, reference in enumerate(row.found.reference):
        for one in reference.report.findings if reference.report is not None else ():
            if one.is_lint is lints and one.diagnostic.code.id.startswith("RM3"):
                note = f"call {number + 1}: {arguments_text(row.program, number)}"
                yield one.diagnostic if lints else one.diagnostic.noting(note)


def summary(rows: Sequence[Row], *, strict: bool) -> str:
    """What it comes to, in a line."""
    examined = [row.found for row in rows if row.found is not None]
    paths = dict.fromkeys(path for found in examined for path in found.verdicts)
    calls, pairs = sum(len(found.reference) for found in examined), sum(len(found.pairs) for found in examined)
    codes = [one.code.id for one in findings(rows, strict=strict)]
    head = f"{_many(len(rows), 'function')}, {_many(calls, 'call')}, {_many(len(paths), 'implementation')}"
    head += f", {_many(pairs, 'variant')}" if pairs else ""
    if codes:
        return f"{head}: {_many(len(codes), 'finding')} ({', '.join(dict.fromkeys(codes))})"
    if not any(row.compared for row in rows):
        return f"{head}: nothing could be compared"
    return f"{head}: nothing is found"


def _many(count: int, word: str) -> str:
    return f"{count} {word}" if count == 1 else f"{count} {word}s"


def as_data(rows: Sequence[Row], *, strict: bool) -> dict[str, object]:
    """The same for machines."""
    return {
        "functions": [_row_data(row) for row in rows],
        "findings": [to_json(one) for one in findings(rows, strict=strict)],
        "summary": summary(rows, strict=strict),
    }


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
    }


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
