"""Conformance on the terminal: implementations × areas of the suite, then the unexpected results."""

from collections import Counter
from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from refmlc.cli.console import out
from refmlc.oracle.suite.report.text import refusal_lines, summary, unexpected_lines
from refmlc.oracle.suite.result import GRAVEST, RIGHT, CaseResult, CaseVerdict, SuiteReport

MOST = 20
MOST_REASONS = 5
COLOURS = {
    CaseVerdict.KNOWN: "yellow",
    CaseVerdict.UNSUPPORTED: "dim",
    CaseVerdict.PERMITTED: "green",
    CaseVerdict.PASS: "green",
}


def show_reports(reports: Sequence[SuiteReport]) -> None:
    """Print the table, the unexpected results, and a summary."""
    if reports:
        out.print(table(reports), soft_wrap=False)
    for report in reports:
        lines = [*unexpected_lines(report, MOST), *refusal_lines(report, MOST_REASONS)]
        if lines:
            out.print(f"\n{report.implementation}", style="bold")
            out.print("\n".join(lines))
    out.print()
    for report in reports:
        out.print(summary(report), style="" if report.ok else "red")


def table(reports: Sequence[SuiteReport]) -> Table:
    """A row for each area; a cell has how many cases were right of those scored, and the others by verdict."""
    table_ = Table(title=f"suite {reports[0].suite}", title_justify="left")
    table_.add_column("area")
    for report in reports:
        table_.add_column(f"{report.implementation} {report.version}".rstrip(), overflow="fold")
    areas = list(dict.fromkeys(result.id.partition(".")[0] for report in reports for result in report.results))
    for area in areas:
        table_.add_row(area, *(cell(_within(report, area)) for report in reports))
    if len(areas) > 1:
        table_.add_section()
        table_.add_row("all", *(cell(report.results) for report in reports))
    return table_


def _within(report: SuiteReport, area: str) -> list[CaseResult]:
    return [result for result in report.results if result.id.partition(".")[0] == area]


def cell(results: Sequence[CaseResult]) -> Text:
    """The counts of some cases: `12 of 14 right`, and the other verdicts."""
    counts = Counter(result.verdict for result in results)
    scored = sum(count for verdict, count in counts.items() if verdict is not None)
    if not scored:
        return Text("not scored" if results else "", style="dim")
    right = sum(counts[verdict] for verdict in RIGHT)
    wrong = [verdict for verdict in GRAVEST if verdict not in RIGHT and counts[verdict]]
    parts = [Text.assemble((str(right), "green"), f" of {scored}")]
    parts += [Text(f"{counts[verdict]} {verdict.value}", style=COLOURS.get(verdict, "bold red")) for verdict in wrong]
    return Text(", ").join(parts)
