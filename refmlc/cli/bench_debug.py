"""`refmlc bench debug`: what the debugger costs."""

import sys
from dataclasses import asdict

import click
from rich.progress import Progress
from rich.table import Table

from refmlc.cli.console import err, json_option, out, print_json
from refmlc.tools.bench import debugger


def peak() -> float:
    """Peak memory of this process; 0 where the system does not report it. Units: megabytes."""
    try:
        import resource  # noqa: PLC0415 - not every system has it
    except ImportError:
        return 0.0
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / 1e6 if sys.platform == "darwin" else most / 1e3


@click.command(epilog="Example: refmlc bench debug --rounds 3")
@click.option("--rounds", default=5, show_default=True, type=click.IntRange(1), help="Number of measurements.")
@click.option(
    "--size", default=80, show_default=True, type=click.IntRange(4), help="Size of the matrices: 80 gives 10^6 steps."
)
@json_option
def debug(rounds: int, size: int, *, as_json: bool) -> None:
    """Measure the debugger: a breakpoint that is never hit, a step back, memory.

    Exit status 1: a goal is missed.
    """
    with Progress(console=err, transient=True) as progress:
        task = progress.add_task("rounds", total=rounds + 1)
        cost = debugger.bench_debugger(rounds, lambda: progress.advance(task), size)
    memory = peak()
    kept = cost.kept and memory < debugger.MOST_MEGABYTES
    if as_json:
        print_json({**asdict(cost), "ratio": cost.ratio, "peak_megabytes": memory, "kept": kept})
    else:
        table = Table(title=f"debugger, a run of {cost.statements} statements")
        for column in ("what", "measured", "goal"):
            table.add_column(column)
        table.add_row("a statement, hooks that do nothing", f"{cost.hooks:.0f} ns", "")
        table.add_row("a statement, debugger without breakpoints", f"{cost.debugger:.0f} ns", "")
        table.add_row("a statement, a breakpoint that is never met", f"{cost.breakpoint:.0f} ns", "")
        table.add_row("the last to the first", f"{cost.ratio:.2f}", f"at most {debugger.MOST_RATIO}")
        back = f"{cost.median_back:.0f} ms, worst {cost.worst_back:.0f} ms"
        table.add_row("a step back, median", back, f"below {debugger.MOST_MILLISECONDS:.0f} ms")
        table.add_row("snapshots", f"{cost.snapshots}, {cost.megabytes:.1f} MB", "")
        table.add_row("memory of the process, at most", f"{memory:.0f} MB", f"below {debugger.MOST_MEGABYTES:.0f} MB")
        out.print(table)
    if not kept:
        raise SystemExit(1)
