"""The report of `check`: a table of verdicts, remarks, findings, a summary; as text, HTML or data.

| part     | holds                                                                                        |
|----------|----------------------------------------------------------------------------------------------|
| table    | a row for the meaning of each function, one for each implementation: calls with each verdict |
| remarks  | reasons for unsupported calls; unreached branches; lints that do not count as findings       |
| findings | the first of each cause                                                                      |
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from html import escape

from refmlc.diag import Diagnostic
from refmlc.diag.layout import plain
from refmlc.diag.render import Json, render_text, to_json
from refmlc.oracle.arguments import Trial
from refmlc.oracle.check.baseline import BaselineRow, row_of, unused
from refmlc.oracle.check.causes import FindingCause, FunctionResult, causes_of, reported, with_acceptances
from refmlc.oracle.check.program import CheckedProgram
from refmlc.oracle.check.proofs import counted, word_of_calls
from refmlc.oracle.check.purposes import PurposeLine, purpose_lines, purposes_text, reasons, trial_remarks
from refmlc.oracle.check.suppressions import Acceptance, suppression_remarks
from refmlc.oracle.exact.against import is_against, shown_path
from refmlc.oracle.examine import Examination, uncompared
from refmlc.oracle.finding import arguments_text
from refmlc.oracle.outcome import Kind, Verdict

COLUMNS = ("function", "path", "calls", "proof", "sanitizer")
MOST_REMARKS = 12
WIDEST = 160
MOST_NAMES = 3


@dataclass(frozen=True)
class TableLine:
    """A line of the table. `counts`: the number of calls per verdict; empty if no arguments can be made.

    `proof`: what is known for all arguments (`oracle.check.proofs`).
    """

    function: str
    path: str
    counts: tuple[tuple[int, str], ...]
    sanitizer: str = ""
    proof: str = ""

    @property
    def calls(self) -> str:
        """The counts in words."""
        return ", ".join(f"{count} {word}" for count, word in self.counts) or NO_ARGUMENTS


@dataclass(frozen=True)
class UncomparedCalls:
    """Defined calls without a comparison, or decided here, for one reason; `kind` is that of the verdict."""

    path: str
    kind: str
    why: str
    functions: tuple[str, ...]
    calls: int

    def __str__(self) -> str:
        """The functions, the number of calls, the kind, the reason."""
        names = [*self.functions[:MOST_NAMES], *(["…"] if len(self.functions) > MOST_NAMES else [])]
        return f"{many(self.calls, 'call')} of {', '.join(names)} {self.kind}: {self.why}"


NO_ARGUMENTS = "no arguments"
NOT_COMPARED = "nothing was compared"
ALONE = "only the meaning was executed: no other implementation takes this function"


@dataclass(frozen=True, repr=False)
class CheckReport:
    """The result of checking a module.

    `shown`: the table's name of each implementation; `strict`: lints are findings; `named`: the caller named
    implementations, so a check that compares with none of them fails. `baseline`: the rows of a baseline on this file.
    """

    title: str
    rows: tuple[FunctionResult, ...]
    shown: Mapping[str, str] = field(default_factory=dict)
    strict: bool = False
    named: bool = False
    baseline: tuple[BaselineRow, ...] = ()

    @cached_property
    def all_causes(self) -> tuple[FindingCause, ...]:
        """The findings grouped by cause, those that are accepted too."""
        return with_acceptances(causes_of(self.rows, strict=self.strict), self.baseline)

    @property
    def causes(self) -> tuple[FindingCause, ...]:
        """The findings grouped by cause, of each function first the one nearest to its cause (`NEAREST`)."""
        return tuple(cause for cause in self.all_causes if cause.accepted is None)

    @property
    def accepted(self) -> tuple[FindingCause, ...]:
        """The findings that a comment or the baseline accepts: they are not reported."""
        return tuple(cause for cause in self.all_causes if cause.accepted is not None)

    @property
    def findings(self) -> tuple[Diagnostic, ...]:
        """The findings, one for each cause."""
        return tuple(cause.diagnostic for cause in self.causes)

    @property
    def ok(self) -> bool:
        """True if there are no findings."""
        return not self.causes and not (self.strict and self.outside)

    @property
    def outside(self) -> tuple[Diagnostic, ...]:
        """What is undefined outside of inferred contracts: information, unless `strict`."""
        trials = (row.trial for row in self.rows if row.trial is not None)
        return tuple(diagnostic for trial in trials for diagnostic in trial.outside)

    @property
    def _outside_codes(self) -> list[str]:
        return [diagnostic.code.id for diagnostic in self.outside]

    @property
    def contracts(self) -> list[str]:
        """The contracts of each function, one line each."""
        return [
            f"{row.name}: {line}" for row in self.rows if row.trial is not None for line in row.trial.contracts.lines
        ]

    @property
    def compared(self) -> bool:
        """True if any function was compared."""
        return any(row.compared for row in self.rows)

    @property
    def executed(self) -> bool:
        """True if the meaning of some function is known but nothing was compared with it."""
        return any(row.executed for row in self.rows)

    @property
    def status(self) -> int:
        """The exit status: 1 for a finding, 3 if nothing ran or no named implementation was compared, else 0."""
        if not self.ok:
            return 1
        return 0 if self.compared or self.accepted or (self.executed and not self.named) else 3

    def table(self) -> tuple[TableLine, ...]:
        """The table: for each function, a line for the meaning and one for each implementation."""
        return tuple(line for row in self.rows for line in _lines(row, self.shown))

    @cached_property
    def decided(self) -> tuple["UncomparedCalls", ...]:
        """The calls whose result the clause decides where TVM's documentation does not: no findings, by row."""
        return self._by_reason(
            (row.name, path, verdict)
            for row in self.rows
            for path, verdicts in (row.examination.verdicts.items() if row.examination is not None else ())
            for verdict in verdicts
            if verdict.kind is Kind.DECIDED
        )

    @cached_property
    def uncompared(self) -> tuple["UncomparedCalls", ...]:
        """The defined calls that an implementation was not compared on, by reason, the most frequent first."""
        return self._by_reason(
            (row.name, path, verdict)
            for row in self.rows
            for path, verdict in (uncompared(row.examination) if row.examination is not None else ())
        )

    def _by_reason(self, calls: Iterable[tuple[str, str, Verdict]]) -> tuple["UncomparedCalls", ...]:
        """Calls of functions on ways, by their reason, the most frequent first."""
        functions: dict[tuple[str, str, str], Counter[str]] = {}
        for name, path, verdict in calls:
            why = verdict.notes[0] if verdict.kind is Kind.DECIDED else verdict.why
            functions.setdefault((path, verdict.kind.value, why), Counter())[name] += 1
        reasons = [
            UncomparedCalls(path, kind, why, tuple(counts), counts.total())
            for (path, kind, why), counts in functions.items()
        ]
        return tuple(sorted(reasons, key=lambda reason: -reason.calls))

    def purposes(self) -> tuple[PurposeLine, ...]:
        """Purposes × ways: the purposes of each function by their outcome on every way."""
        return tuple(
            line
            for row in self.rows
            if row.examination is not None and row.program is not None
            for line in purpose_lines(row.name, row.program.calls, row.examination, self.shown)
        )

    @property
    def reasons(self) -> Mapping[str, str]:
        """Why there are calls of each purpose, in one line each."""
        return reasons([call for row in self.rows if row.program is not None for call in row.program.calls])

    @property
    def remarks(self) -> list[str]:
        """Remarks beside the table, without repetition: reasons, branches, lints."""
        distinct = list(dict.fromkeys(remark for row in self.rows for remark in _remarks(row)))
        distinct += [_clipped(f"{shown_path(reason.path, self.shown)}: {reason}") for reason in self.uncompared]
        distinct = [f"{shown_path(each.path, self.shown)}: {each}" for each in self.decided] + distinct
        distinct = [*self._acceptance_remarks(), *distinct]
        more = len(distinct) - MOST_REMARKS
        return [*distinct[:MOST_REMARKS], f"and {more} more"] if more > 0 else distinct

    def _acceptance_remarks(self) -> Iterator[str]:
        """What is accepted, and what accepts nothing."""
        for cause in self.accepted:
            place = "" if cause.diagnostic.span is None else f"line {cause.diagnostic.span.line}: "
            yield _clipped(f"{place}{cause.diagnostic.code.id} is {cause.accepted}")
        undefined = [each for each in self.accepted if each.finding.verdict.kind is Kind.UNDEFINED and not each.lint]
        for name in dict.fromkeys(cause.finding.case.func for cause in undefined):
            yield f"`{name}`: a call is not compared, nor checked further, where accepted undefined behaviour ends it"
        sources = dict.fromkeys(row.program.module.source for row in self.rows if row.program is not None)
        findings = [cause.finding.diagnostic for cause in self.all_causes]
        for source in filter(None, sources):
            yield from suppression_remarks(source, findings)
        others = [cause for cause in self.all_causes if cause.accepted is None or cause.accepted.external]
        used = [row_of(finding, "").key for cause in others for finding in cause.of_functions]
        stale = unused([replace(row, file="") for row in self.baseline], used)
        names = {row.name for row in self.rows}
        for row in stale:
            if row.function in names:
                yield _clipped(f"the baseline accepts {row.code} in `{row.function}`, which is no finding any more")

    @property
    def summary(self) -> str:
        """The result in one line."""
        examined = [row.examination for row in self.rows if row.examination is not None]
        lines = dict.fromkeys(path for examination in examined for path in examination.verdicts)
        paths = [path for path in lines if not is_against(path)]
        calls, pairs = (
            sum(len(examination.reference) for examination in examined),
            sum(len(examination.pairs) for examination in examined),
        )
        head = f"{many(len(self.rows), 'function')}, {many(calls, 'call')}, {many(len(paths), 'implementation')}"
        head += f", {many(pairs, 'variant')}" if pairs else ""
        head += f", {len(self.accepted)} accepted" if self.accepted else ""
        codes = [finding.code.id for finding in self.findings]
        if codes:
            return f"{head}: {many(len(codes), 'finding')} ({', '.join(dict.fromkeys(codes))})"
        if self.strict and self.outside:
            return f"{head}: undefined outside of what was inferred ({', '.join(dict.fromkeys(self._outside_codes))})"
        if self.compared:
            return f"{head}: no findings"
        alone = self.executed and not self.named
        return f"{head}: {'no findings, only the meaning was executed' if alone else NOT_COMPARED}"

    def __repr__(self) -> str:
        return f"<Report {plain(self.title)}: {self.summary}>"

    def __str__(self) -> str:
        """The table, remarks, findings, the summary."""
        findings = [f"\n{render_text(diagnostic)}" for diagnostic in self.findings]
        return "\n".join(
            [
                plain(self.title),
                *_table_text(self.table()),
                *purposes_text(self.purposes(), self.reasons),
                *map(plain, self.contracts),
                *map(plain, self.remarks),
                *findings,
                "",
                self.summary,
            ]
        )

    def _repr_html_(self) -> str:
        """The same for notebooks."""
        head = "".join(f"<th>{column}</th>" for column in COLUMNS)
        rows = "".join(f"<tr>{''.join(map(_cell, _cells(line)))}</tr>" for line in self.table())
        purposes = map(plain, purposes_text(self.purposes(), self.reasons))
        rest = [
            *purposes,
            *self.contracts,
            *self.remarks,
            *(f"\n{render_text(diagnostic)}" for diagnostic in self.findings),
            "",
            self.summary,
        ]
        table = f"<table><caption>{escape(plain(self.title))}</caption><tr>{head}</tr>{rows}</table>"
        return f"{table}<pre>{escape(chr(10).join(rest))}</pre>"

    def to_json(self) -> dict[str, object]:
        """The same for machines: what `refmlc check --json` prints."""
        return {
            "functions": [_row_data(row) for row in self.rows],
            "findings": [to_json(finding) for finding in self.findings],
            "accepted": [_accepted_data(cause) for cause in self.accepted],
            "decided": [vars(each) | {"functions": list(each.functions)} for each in self.decided],
            "uncompared": [vars(reason) | {"functions": list(reason.functions)} for reason in self.uncompared],
            "summary": self.summary,
        }


def _cells(line: TableLine) -> tuple[str, str, str, str, str]:
    return line.function, line.path, line.calls, line.proof, line.sanitizer


def _cell(text: str) -> str:
    return f'<td style="text-align: left; white-space: pre">{escape(text)}</td>'


def _table_text(lines: Sequence[TableLine]) -> Iterator[str]:
    """The table in columns that are as wide as they need to be."""
    rows = [COLUMNS, *([plain(cell) for cell in cells] for line in lines for cells in _split(line))]
    widths = [max(len(row[at]) for row in rows) for at in range(len(COLUMNS))]
    for row in rows:
        yield "  ".join(f"{cell:{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()


def _split(line: TableLine) -> Iterator[tuple[str, str, str, str, str]]:
    """A line of the table as lines of text: the sizes of several dimensions stand below each other."""
    first, *more = line.function.split("\n")
    yield first, *_cells(line)[1:]
    yield from ((each, "", "", "", "") for each in more)


def _lines(row: FunctionResult, shown: Mapping[str, str]) -> Iterator[TableLine]:
    """The lines of a function; the sizes of its symbolic dimensions stand below its name."""
    if row.examination is None:
        yield TableLine(row.name, "meaning", ())
        return
    yield TableLine(
        row.name,
        "meaning",
        _counted(reference.verdict for reference in row.examination.reference),
        _sanitizer(row.examination),
    )
    sizes = _sizes(row)
    for path, verdicts in row.examination.verdicts.items():
        counts = _counted(verdict.label for verdict in verdicts)
        yield TableLine(sizes, shown_path(path, shown), counts, proof=word_of_calls(verdicts))
        sizes = ""
    for path, total, proof in counted(row.pairs):
        yield TableLine(sizes, path, ((total, "compared"),), proof=proof)


def _counted(words: Iterator[str]) -> tuple[tuple[int, str], ...]:
    """How many calls have each verdict."""
    return tuple((count, word) for word, count in Counter(words).items())


def _sizes(row: FunctionResult) -> str:
    """The sizes of symbolic dimensions, each once, in the order of the calls."""
    calls = () if row.program is None else row.program.calls
    names = list(dict.fromkeys(name for call in calls for name in call.sizes))
    sizes = {name: dict.fromkeys(str(call.sizes[name]) for call in calls if name in call.sizes) for name in names}
    return "\n".join(f"{name} = {', '.join(values)}" for name, values in sizes.items())


def _sanitizer(examination: Examination) -> str:
    """The number of sanitizer reports by code, over all calls."""
    counts: Counter[str] = Counter()
    for reference in examination.reference:
        if reference.report is not None:
            counts.update({code: count for code, count in reference.report.counts.items() if count})
    return ", ".join(f"{code}: {count}" for code, count in sorted(counts.items())) or "nothing"


def _remarks(row: FunctionResult) -> Iterator[str]:
    if row.problem is not None:
        yield _clipped(f"{row.name}: {row.problem.message}")
    if row.examination is None:
        return
    yield from row.notes
    if row.executed:
        yield f"{row.name}: {ALONE}"
    for reference in row.examination.reference:
        if reference.verdict not in ("defined", "undefined"):
            words = getattr(reference.answer, "message", "")
            yield _clipped(f"{row.name}: the meaning is {reference.verdict}: {words}")
    labels: dict[tuple[str, str], list[str]] = {}
    for pair in row.pairs:
        if pair.reason:
            labels.setdefault((pair.word, pair.reason), []).append(pair.label)
    for (word, reason), alike in labels.items():
        yield _clipped(f"{row.name}: {', '.join(dict.fromkeys(alike))}: {word}: {reason}")
    if row.examination.unvaried:
        yield f"{row.name}: {row.examination.unvaried}"
    if row.trial is not None:
        yield from trial_remarks(row.name, row.trial)
    yield from (f"lint: {diagnostic.code.id}: {diagnostic.message}" for _, diagnostic in reported(row, lints=True))


def _clipped(text: str) -> str:
    return text if len(text) <= WIDEST else f"{text[: WIDEST - 2]} …"


def many(count: int, word: str) -> str:
    """A count with its noun."""
    return f"{count} {word}" if count == 1 else f"{count} {word}s"


def _accepted_data(cause: FindingCause) -> dict[str, object]:
    """An accepted finding, why it is, and what says so."""
    why = Acceptance("") if cause.accepted is None else cause.accepted
    return {**to_json(cause.diagnostic), "reason": why.reason, "by": "baseline" if why.external else "comment"}


def _row_data(row: FunctionResult) -> dict[str, object]:
    if row.examination is None or row.program is None:
        return {"name": row.name, "problem": None if row.problem is None else to_json(row.problem), "calls": []}
    calls = [_call_data(row.program, row.examination, number) for number in range(len(row.examination.reference))]
    return {
        "name": row.name,
        "calls": calls,
        "variants": list(row.examination.pairs),
        "pairs": [vars(pair) for pair in row.pairs],
        **_left_out(row.examination),
        **_trial_data(row),
        **_notes(row),
    }


def _trial_data(row: FunctionResult) -> dict[str, object]:
    """What is known of the calls."""
    trial = Trial() if row.trial is None else row.trial
    reach = trial.reach
    return {
        "contracts": [str(row) for row in trial.contracts.rows],
        "outside": [to_json(diagnostic) for diagnostic in trial.outside],
        "unreached": [str(branch) for branch in reach.missed],
        "branches": reach.branches,
        "block_instances": {"visited": reach.visited, "ran": reach.instances, "unused": list(reach.unused)},
        "adapted": trial.notes,
        "left_out": trial.left,
    }


def _notes(row: FunctionResult) -> dict[str, object]:
    notes = [*row.notes, *([ALONE] if row.executed else [])]
    return {"notes": notes} if notes else {}


def _left_out(examination: Examination) -> dict[str, object]:
    return {"unvaried": examination.unvaried} if examination.unvaried else {}


def _call_data(program: CheckedProgram, examination: Examination, number: int) -> dict[str, object]:
    reference = examination.reference[number]
    report = reference.report
    verdicts: dict[str, Json] = {path: each[number].label for path, each in examination.verdicts.items()}
    return {
        "purpose": program.calls[number].purpose,
        "why": program.calls[number].why,
        "sizes": dict(program.calls[number].sizes),
        "arguments": arguments_text(program, number),
        "meaning": reference.verdict,
        "counts": {} if report is None else dict(report.counts),
        "verdicts": verdicts,
        "reasons": {path: str(each[number]) for path, each in examination.verdicts.items()},
    }
