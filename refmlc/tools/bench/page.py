"""The page of all groups: each number with its goal, what limits it, and the earlier runs on the same machine.

It is made as the pages of evidence are: one file without scripts, in which all text is escaped. Extra `[report]`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from refmlc.oracle.evidence.listing import DARK, LIGHT, style
from refmlc.oracle.evidence.page import template, versions, write_html
from refmlc.tools.bench.history import BenchRun, Trend, trends
from refmlc.tools.bench.row import Goal, number

MOST_POINTS = 30
WIDTH, HEIGHT = 120, 24


@dataclass(frozen=True, slots=True)
class PageRow:
    """A line of the page, all of it text; `met` and `is_regression` colour it."""

    what: str
    against: str
    measured: str
    goal: str
    met: bool | None
    limit: str
    note: str
    earlier: str
    change: str
    is_regression: bool
    line: str


def write_bench_page(current: BenchRun, earlier: Sequence[BenchRun], path: Path, *, command: str) -> None:
    """Write the page of a run after `earlier` ones. Fails: RM109."""
    write_html(bench_page(current, earlier, command=command), path)


def bench_page(current: BenchRun, earlier: Sequence[BenchRun], *, command: str) -> str:
    """The page as a text."""
    rows = trends(current, earlier)
    groups = dict.fromkeys(trend.measurement.group for trend in rows)
    return template("bench.html").render(
        run=current,
        machine=list(current.machine.items()),
        groups=[(group, [_row(trend) for trend in rows if trend.measurement.group == group]) for group in groups],
        runs=sum(each.place == current.place for each in earlier),
        regressions=sum(trend.is_regression for trend in rows),
        missed=sum(trend.measurement.met is False for trend in rows),
        command=command,
        versions=versions(),
        size=(WIDTH, HEIGHT),
        light_style=style(LIGHT),
        dark_style=style(DARK),
    )


def _row(trend: Trend) -> PageRow:
    each = trend.measurement
    goal = "" if each.goal is None else str(Goal(each.goal, each.unit, each.direction))
    measured = "not measured" if each.measured is None else number(each.measured, each.unit)
    change = "" if trend.change is None else f"{100 * trend.change:+.1f} %"
    earlier = f"{len(trend.earlier)}" if trend.earlier else ""
    line = "" if each.measured is None else _line((*trend.earlier[1 - MOST_POINTS :], each.measured))
    return PageRow(
        each.what,
        each.against,
        measured,
        goal,
        each.met,
        each.limit,
        each.note,
        earlier,
        change,
        trend.is_regression,
        line,
    )


def _line(values: tuple[float, ...]) -> str:
    """The points of a line through `values`, from 0 at the bottom."""
    top, step = max((*values, 1e-9)), WIDTH / max(1, len(values) - 1)
    return " ".join(f"{at * step:.1f},{HEIGHT - 2 - (HEIGHT - 4) * value / top:.1f}" for at, value in enumerate(values))
