"""`refmlc bench`: measured speeds, as ratios in one process."""

import click
from rich.progress import Progress
from rich.table import Table

from refmlc.bench.interpreter import LIMIT, bench_linear0
from refmlc.cli.console import err, json_option, out, print_json


@click.group()
def bench() -> None:
    """Measure speed: ratios in one process, interleaved, medians of thread CPU time."""


@bench.command()
@click.option("--rounds", default=7, show_default=True, type=click.IntRange(1))
@json_option
def interp(rounds: int, *, as_json: bool) -> None:
    """Time per innermost statement of `linear0` in the interpreter; exit status 1 above the promised ratio."""
    with Progress(console=err, transient=True) as progress:
        task = progress.add_task("rounds", total=rounds)
        timings = bench_linear0(rounds, lambda: progress.advance(task))
    if as_json:
        rows = [{"candidate": t.candidate, "nanoseconds": t.nanoseconds, "ratio": t.ratio} for t in timings]
        print_json({"limit": LIMIT, "rows": rows})
    else:
        table = Table(title="interpreter on linear0 (1x128x784, float32), bounds and initialisation checked")
        for column in ("candidate", "ns per innermost statement", "times low-level NumPy"):
            table.add_column(column, justify="left" if column == "candidate" else "right")
        for timing in timings:
            table.add_row(timing.candidate, f"{timing.nanoseconds:.0f}", f"{timing.ratio:.2f}")
        out.print(table)
        out.print(f"promised: at most {LIMIT} times, with hooks that do nothing before each statement")
    if not all(timing.within for timing in timings):
        raise SystemExit(1)
