"""The output of `refmlc course`: a table with a line per block, one line of counts, or all of it as data."""

import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from rich.table import Table

from refmlc.cli.console import out, print_json
from refmlc.tools.course.comparison import NEITHER, NOT_THERE, Pair, run_both
from refmlc.tools.course.outputs import DIFFERS, EQUAL, EXPLAINED
from refmlc.tools.course.run import EXCERPT, FAILED, NEEDS, RAN, BlockReport, CourseReport, run_document

VERDICTS = (EQUAL, EXPLAINED, DIFFERS, NOT_THERE, NEITHER)


def told(document: Path, *, offline: bool, python: str | None, limit: float, as_json: bool) -> bool:
    """Execute a document and report; True if every block is as expected."""
    report = run_document(document, offline=offline, seconds=limit, python=python or sys.executable)
    if as_json:
        print_json(as_object(report))
    else:
        out.print(table(report))
        out.print(summary(report))
    return report.ok


def compared(document: Path, python: str, *, offline: bool, limit: float, as_json: bool) -> bool:
    """Execute a document here and with real TVM, and report; True if no block differs."""
    pairs = run_both(document, python, offline=offline, seconds=limit)
    if as_json:
        print_json({"document": document.name, "blocks": [asdict(one) for one in pairs]})
    else:
        out.print(pairs_table(document.name, pairs))
        counts = ((sum(one.verdict == verdict for one in pairs), verdict) for verdict in VERDICTS)
        told_counts = ", ".join(f"{count} {verdict}" for count, verdict in counts if count)
        out.print(f"{_blocks(len(pairs))}, here and with TVM: {told_counts}")
    return all(one.verdict != DIFFERS for one in pairs)


def pairs_table(name: str, pairs: Sequence[Pair]) -> Table:
    """A line for each block."""
    result = Table(title=f"{name}, here and with TVM", box=None, pad_edge=False)
    for column in ("block", "line"):
        result.add_column(column, justify="right", no_wrap=True)
    for column in ("verdict", "reason"):
        result.add_column(column)
    for one in pairs:
        result.add_row(str(one.number), str(one.line), one.verdict, one.reason)
    return result


def as_object(report: CourseReport) -> dict[str, object]:
    """The report for machines."""
    blocks = [
        {
            "number": one.number,
            "line": one.line,
            "status": one.status,
            "why": one.why,
            "notes": list(one.notes),
            "seconds": one.seconds,
            "text": one.text,
            "outputs": [{"line": o.line, "verdict": o.verdict, "reason": o.reason} for o in one.outputs],
        }
        for one in report.blocks
    ]
    return {"document": report.name, "generation": report.generation, "ok": report.ok, "blocks": blocks}


def table(report: CourseReport) -> Table:
    """The blocks, a line for each."""
    result = Table(title=f"{report.name}, dialect {report.generation}", box=None, pad_edge=False)
    for name in ("block", "line"):
        result.add_column(name, justify="right", no_wrap=True)
    for name in ("what", "output", "notes"):
        result.add_column(name)
    for one in report.blocks:
        result.add_row(str(one.number), str(one.line), one.status, _outputs(one), "; ".join(_notes(one)))
    return result


def _outputs(block: BlockReport) -> str:
    said = [one.verdict + (f" ({one.reason})" if one.reason else "") for one in block.outputs]
    return "; ".join(said)


def _notes(block: BlockReport) -> list[str]:
    return [one for one in (block.why, *block.notes) if one]


def summary(report: CourseReport) -> str:
    """One line of counts."""
    blocks = ", ".join(f"{report.count(one)} {one}" for one in (RAN, EXCERPT, NEEDS, FAILED) if report.count(one))
    outputs = ", ".join(f"{report.verdicts(one)} {one}" for one in (EQUAL, EXPLAINED, DIFFERS) if report.verdicts(one))
    return f"{_blocks(len(report.blocks))}: {blocks or 'nothing to run'}; outputs: {outputs or 'none'}"


def _blocks(count: int) -> str:
    return "1 block" if count == 1 else f"{count} blocks"
