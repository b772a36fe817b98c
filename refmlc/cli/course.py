"""`refmlc course DOCUMENT`: execute a document, or those of a folder, block by block, and compare their outputs."""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path

import click
from rich.table import Table

from refmlc.cli.console import counted, out, print_json
from refmlc.cli.options import json_option
from refmlc.tools.course.comparison import NEITHER, NOT_THERE, Pair, run_both
from refmlc.tools.course.outputs import DIFFERS, EQUAL, EXPLAINED
from refmlc.tools.course.run import EXCERPT, FAILED, NEEDS, RAN, CourseReport, documents_in, run_document

STATUSES = (RAN, EXCERPT, NEEDS, FAILED)
OUTPUTS = (EQUAL, EXPLAINED, DIFFERS)
VERDICTS = (EQUAL, EXPLAINED, DIFFERS, NOT_THERE, NEITHER)


@click.command(epilog="Example: refmlc course chapter.md --compare PYTHON")
@click.argument("document", type=click.Path(path_type=Path, exists=True))
@click.option(
    "--online", is_flag=True, help="Run `!` lines in a shell and download data.  [default: use the shipped data]"
)
@click.option("--python", metavar="PYTHON", help="Execute with this Python; it uses its real TVM if it has one.")
@click.option("--compare", metavar="PYTHON", help="Execute here and with the real TVM of that Python, and compare.")
@click.option("--limit", default=600.0, show_default=True, help="Time limit of the whole document, in seconds.")
@json_option
@click.pass_context
def course(
    ctx: click.Context,
    document: Path,
    *,
    online: bool,
    python: str | None,
    compare: str | None,
    limit: float,
    as_json: bool,
) -> None:
    """Execute the code of DOCUMENT (Markdown, reStructuredText, notebook) with refmlc in place of `tvm`.

    Of a folder, all documents with code in it and below are executed, and one Markdown table has a row for each; the
    time limit is of each document.

    The code runs as it is, in a process of its own: use only documents that you would run yourself. Exit status 1: a
    block fails, or an output differs without a known reason.
    """
    if document.is_dir():
        if compare is not None:
            raise click.UsageError("--compare takes one document, not a folder")
        ok = run_folder(document, offline=not online, python=python, limit=limit, as_json=as_json)
    elif compare is None:
        ok = run(document, offline=not online, python=python, limit=limit, as_json=as_json)
    else:
        ok = run_and_compare(document, compare, offline=not online, limit=limit, as_json=as_json)
    if not ok:
        ctx.exit(1)


def run(document: Path, *, offline: bool, python: str | None, limit: float, as_json: bool) -> bool:
    """Execute a document and report; True if every block is as expected."""
    report = run_document(document, offline=offline, seconds=limit, python=python or sys.executable)
    if as_json:
        print_json(as_object(report))
    else:
        out.print(table(report))
        out.print(summary(report))
    return report.ok


def run_folder(folder: Path, *, offline: bool, python: str | None, limit: float, as_json: bool) -> bool:
    """Execute the documents of a folder and report; True if every block is as expected."""
    reports = list(folder_reports(folder, offline=offline, python=python or sys.executable, limit=limit))
    ok = all(report.ok for report in reports)
    if as_json:
        documents = [as_object(report) for report in reports]
        print_json({"folder": folder.name, "ok": ok, "totals": totals(reports), "documents": documents})
    else:
        out.print(folder_table(reports), markup=False, highlight=False, soft_wrap=True)
        for report in reports:
            for block in report.blocks:
                if block.status == FAILED:
                    out.print(f"{report.name}, block {block.number}, line {block.line}: {block.why}", markup=False)
    return ok


def folder_reports(folder: Path, *, offline: bool, python: str, limit: float) -> Iterator[CourseReport]:
    """The reports of the documents of a folder and of those in it, named by their paths there."""
    for path in documents_in(folder):
        report = run_document(path, offline=offline, seconds=limit, python=python)
        yield replace(report, name=path.relative_to(folder).as_posix())


def totals(reports: Sequence[CourseReport]) -> dict[str, int]:
    """How many blocks have each status, and how many outputs each verdict."""
    counts = {status: sum(report.count(status) for report in reports) for status in STATUSES}
    return counts | {verdict: sum(report.verdicts(verdict) for report in reports) for verdict in OUTPUTS}


def folder_table(reports: Sequence[CourseReport]) -> str:
    """A row for each document and one for all, in Markdown, whatever the width of the terminal."""
    columns = ("document", *STATUSES, *OUTPUTS)
    counts = [*((report.name, totals([report])) for report in reports), ("all", totals(reports))]
    rows = [columns, ("---",) * len(columns), *((name, *map(str, row.values())) for name, row in counts)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def run_and_compare(document: Path, python: str, *, offline: bool, limit: float, as_json: bool) -> bool:
    """Execute a document here and with real TVM, and report; True if no block differs."""
    pairs = run_both(document, python, offline=offline, seconds=limit)
    if as_json:
        print_json({"document": document.name, "blocks": [asdict(pair) for pair in pairs]})
    else:
        out.print(pairs_table(document.name, pairs))
        counts = ((sum(pair.verdict == verdict for pair in pairs), verdict) for verdict in VERDICTS)
        totals = ", ".join(f"{count} {verdict}" for count, verdict in counts if count)
        out.print(f"{counted(len(pairs), 'block')}, here and with TVM: {totals}")
    return all(pair.verdict != DIFFERS for pair in pairs)


def pairs_table(name: str, pairs: Sequence[Pair]) -> Table:
    """A table with a row for each block, run twice."""
    result = Table(title=f"{name}, here and with TVM", box=None, pad_edge=False)
    for column in ("block", "line"):
        result.add_column(column, justify="right", no_wrap=True)
    for column in ("verdict", "reason"):
        result.add_column(column)
    for pair in pairs:
        result.add_row(str(pair.number), str(pair.line), pair.verdict, pair.reason)
    return result


def as_object(report: CourseReport) -> dict[str, object]:
    """The report for machines."""
    blocks = [
        {
            "number": block.number,
            "line": block.line,
            "status": block.status,
            "why": block.why,
            "notes": list(block.notes),
            "seconds": block.seconds,
            "text": block.text,
            "outputs": [{"line": o.line, "verdict": o.verdict, "reason": o.reason} for o in block.outputs],
        }
        for block in report.blocks
    ]
    return {"document": report.name, "generation": report.generation, "ok": report.ok, "blocks": blocks}


def table(report: CourseReport) -> Table:
    """A table with a row for each block."""
    result = Table(title=f"{report.name}, dialect {report.generation}", box=None, pad_edge=False)
    for name in ("block", "line"):
        result.add_column(name, justify="right", no_wrap=True)
    for name in ("what", "output", "notes"):
        result.add_column(name)
    for block in report.blocks:
        outputs = "; ".join(o.verdict + (f" ({o.reason})" if o.reason else "") for o in block.outputs)
        notes = "; ".join(note for note in (block.why, *block.notes) if note)
        result.add_row(str(block.number), str(block.line), block.status, outputs, notes)
    return result


def summary(report: CourseReport) -> str:
    """The number of blocks and outputs per verdict, in one line."""
    blocks = ", ".join(
        f"{report.count(status)} {status}" for status in (RAN, EXCERPT, NEEDS, FAILED) if report.count(status)
    )
    outputs = ", ".join(
        f"{report.verdicts(verdict)} {verdict}" for verdict in (EQUAL, EXPLAINED, DIFFERS) if report.verdicts(verdict)
    )
    return f"{counted(len(report.blocks), 'block')}: {blocks or 'nothing to run'}; outputs: {outputs or 'none'}"
