"""The table as a picture: a bar per row, as long as the measured number is of its goal; the line is where it is kept.

Needs matplotlib (the extra `bench`), which draws into the file without a display.
"""

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_FILE, BAD_USAGE
from refmlc.tools.bench.row import BenchRow, RowVerdict, number

KEPT, MISSED, FAILED = "#3f7f5f", "#b5651d", "#a02020"
COLOURS = {RowVerdict.KEPT: KEPT, RowVerdict.MISSED: MISSED, RowVerdict.FAILED: FAILED}
LONGEST = 3.0  # times the goal; longer bars are cut, the number stands beside


def bar(row: BenchRow) -> float:
    """How well the promise is kept: 1 is just so, more is better."""
    if row.measured is None:
        return 0
    if row.goal.direction == "at least":
        return min(row.measured / row.goal.value, LONGEST)
    if row.measured == 0 or row.goal.value == 0:
        return LONGEST if row.goal.met(row.measured) else 0
    return min(row.goal.value / row.measured, LONGEST)


def label(row: BenchRow) -> str:
    """The label at the end of the bar."""
    return row.verdict.value if row.measured is None else f"{number(row.measured, row.goal.unit)} ({row.goal})"


def name(row: BenchRow) -> str:
    """What stands before the bar."""
    return f"{row.number}  {row.what}" + (f" / {row.against}" if row.against else "")


def write_chart(rows: Sequence[BenchRow], path: Path, title: str) -> None:
    """Draw the rows that were measured. Fails: RM112 (no matplotlib), RM109 (the file cannot be written)."""
    if find_spec("matplotlib") is None:
        raise fail(BAD_USAGE, "a chart needs matplotlib: pip install 'refmlc[bench]'")
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415 - of the extra `bench`
    from matplotlib.figure import Figure  # noqa: PLC0415 - the same

    measured_rows = [row for row in rows if row.verdict is not RowVerdict.NOT_MEASURED]
    figure = Figure(figsize=(11, 1.2 + 0.34 * max(len(measured_rows), 1)), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    places = range(len(measured_rows))
    axes.barh(
        places, [bar(row) for row in measured_rows], color=[COLOURS[row.verdict] for row in measured_rows], height=0.62
    )
    axes.axvline(1, color="#303030", linewidth=1, linestyle="--")
    for place, row in zip(places, measured_rows, strict=True):
        behind = {"facecolor": "white", "edgecolor": "none", "pad": 1}
        axes.text(bar(row) + 0.03, place, label(row), va="center", fontsize=8.5, bbox=behind)
    axes.set_yticks(places, [name(row) for row in measured_rows], fontsize=8.5)
    axes.set_xlim(0, LONGEST + 1.2)
    axes.set_xlabel("of the goal (dashed); longer is better")
    axes.set_title(title, fontsize=10, loc="left")
    axes.invert_yaxis()
    axes.spines[["top", "right"]].set_visible(False)
    try:
        figure.savefig(path, dpi=110, format="png")
    except OSError as problem:
        raise fail(BAD_FILE, f"{path}: {problem.strerror}") from problem
