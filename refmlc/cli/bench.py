"""`refmlc bench`: measure speeds as ratios in one run."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path

import click
from rich.progress import Progress
from rich.table import Table
from rich.text import Text

from refmlc.cli.console import Terminal, err, out, print_json
from refmlc.cli.options import PATH, count_option, json_option
from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE
from refmlc.lazy import load
from refmlc.tools.bench import debugger
from refmlc.tools.bench.campaign import bench_campaigns, population
from refmlc.tools.bench.chart import write_chart
from refmlc.tools.bench.groups import bench_all
from refmlc.tools.bench.history import add_to_history, read_history, trends
from refmlc.tools.bench.interpreter import LIMIT, bench_interpreter
from refmlc.tools.bench.low_level import KERNELS
from refmlc.tools.bench.row import LAST, BenchRow, RowVerdict, number
from refmlc.tools.bench.session import FULL, TINY
from refmlc.tools.bench.shell import LARGE, bench_shell
from refmlc.tools.bench.table import run_table

WIDE = 200  # columns where the terminal does not report its width
COLOURS = {
    RowVerdict.KEPT: "green",
    RowVerdict.MISSED: "yellow",
    RowVerdict.FAILED: "red",
    RowVerdict.NOT_MEASURED: "dim",
}


class Numbers(click.ParamType[tuple[int, ...]]):
    """Row numbers, separated by commas."""

    name = "row,row,…"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, ...]:
        """The row numbers in `value`."""
        if isinstance(value, tuple):
            return value
        parts = str(value).split(",")
        if not all(part.strip().isdecimal() and 1 <= int(part) <= LAST for part in parts):
            self.fail(f"{value!r} is not a list of rows; there are 1 to {LAST}", param, ctx)
        return tuple(int(part) for part in parts)


@click.group(epilog="Example: refmlc bench interp")
def bench() -> None:
    """Measure speed as ratios: interleaved in one run, medians of thread CPU time."""


@bench.command(epilog="Example: refmlc bench interp --rounds 3")
@count_option("--rounds", 7, "Number of measurements.")
@json_option
def interp(rounds: int, *, as_json: bool) -> None:
    """Measure the interpreter: time per innermost statement of eleven kernels, against loops by hand.

    Exit status 1: a ratio is above the promised one.
    """
    with Progress(console=err, transient=True) as progress:
        task = progress.add_task("kernels", total=len(KERNELS))
        measurements = tuple(bench_interpreter(rounds, lambda: progress.advance(task)))
    if as_json:
        print_json({"limit": LIMIT, "rows": [asdict(measurement) for measurement in measurements]})
    else:
        table = Table(title="interpreter, bounds and initialisation checked, against low-level NumPy")
        for column in ("kernel", "candidate", "ns per innermost statement", "times low-level NumPy"):
            table.add_column(column, justify="left" if column in ("kernel", "candidate") else "right")
        for measurement in measurements:
            numbers = f"{measurement.nanoseconds:.0f}", f"{measurement.ratio:.2f}"
            table.add_row(measurement.kernel, measurement.candidate, *numbers)
        out.print(table)
        out.print(f"promised: at most {LIMIT} times, with hooks that do nothing as without")
    if not all(measurement.within for measurement in measurements):
        raise SystemExit(1)


@bench.command(epilog="Example: refmlc bench native --tvm PYTHON --chart speed.png")
@click.option("--tvm", "python", metavar="PYTHON", envvar="REFMLC_TVM_PYTHON", help="A Python with apache-tvm.")
@click.option("--only", type=Numbers(), default=tuple(range(1, LAST + 1)), help="Measure only these rows: 1,2,5.")
@count_option("--rounds", 9, "Number of measurements.")
@click.option("--tiny", is_flag=True, help="Small sizes: tests the benchmark itself, not the speed.")
@click.option("--chart", type=PATH, metavar="FILE.png", help="Draw the rows as bars.")
@json_option
def native(
    python: str | None, only: tuple[int, ...], rounds: int, *, tiny: bool, chart: Path | None, as_json: bool
) -> None:
    """Measure compiled functions against NumPy, TVM and the machine's limit.

    Results are compared before anything is timed. All rows but 12 run on one thread; the extra `bench` limits NumPy's
    BLAS to one. Exit status 1: a goal is missed.
    """
    with err.status("starting …") as status:
        report = run_table(
            python, only, rounds, lambda name: status.update(Text(f"measuring {name} …")), TINY if tiny else FULL
        )
    if as_json:
        print_json(report.as_data())
    else:
        for name, value in report.machine.items():
            out.print(f"{name:16}{value}", style="dim")
        console = out if out.is_terminal else Terminal(soft_wrap=False, width=WIDE)
        console.print(as_table(report.rows))
    if chart is not None:
        write_chart(report.rows, chart, f"{report.machine['processor']}, {report.machine['instruction set']}")
    if report.missed:
        raise SystemExit(1)


@bench.command(epilog="Example: refmlc bench fuzz --batches 3")
@count_option("--batches", 9, "Number of batches.")
@click.option("--size", type=click.IntRange(1), help="Programs per batch.  [default: as in campaigns]")
@click.option("--tvm", "python", metavar="PYTHON", help="A Python with apache-tvm, measured too.")
@json_option
def fuzz(batches: int, size: int | None, python: str | None, *, as_json: bool) -> None:
    """Measure campaigns: programs per second and core, for each choice of implementations.

    Exit status 1: a goal is missed.
    """
    with Progress(console=err, transient=True) as progress:
        task = progress.add_task("batches", total=batches + 1)
        speeds = bench_campaigns(batches, size, lambda: progress.advance(task), python)
    programs = population(batches, size)
    if as_json:
        rows = [
            {"candidate": speed.candidate, "implementations": speed.implementations, "per_second": speed.programs}
            | {"goal": speed.goal}
            for speed in speeds
        ]
        print_json({"batches": batches, "rows": rows, "population": asdict(programs)})
    else:
        table = Table(title="campaigns: programs per second of processor time, compilers included")
        for column in ("candidate", "programs/s", "ms per program", "goal"):
            table.add_column(column, justify="left" if column == "candidate" else "right")
        for speed in speeds:
            goal = "" if speed.goal is None else f"at least {speed.goal}"
            table.add_row(speed.candidate, f"{speed.programs:.0f}", f"{1000 / speed.programs:.2f}", goal)
        out.print(table)
        out.print(f"{programs.programs} programs, {programs.distinct} distinct, {programs.nodes:.0f} nodes on average")
    if not all(speed.within for speed in speeds):
        raise SystemExit(1)


@bench.command(epilog="Example: refmlc bench shell --rounds 1")
@count_option("--rounds", 5, "Number of measurements.")
@count_option("--size", LARGE, "Characters of the large texts.", least=1000)
@json_option
def shell(rounds: int, size: int, *, as_json: bool) -> None:
    """Measure what people wait for: reading and showing large texts, memory, one check, the start of a command.

    Exit status 1: a goal is missed.
    """
    with Progress(console=err, transient=True) as progress:
        task = progress.add_task("parts", total=5)
        rows = bench_shell(rounds, lambda: progress.advance(task), characters=size)
    if as_json:
        print_json({"characters": size, "rows": [{**asdict(row), "within": row.within} for row in rows]})
    else:
        table = Table(title="at the shell: processor time of processes of their own, the median")
        for column in ("what", "of, against", "measured", "goal", "limit"):
            table.add_column(column, justify="right" if column in ("measured", "goal") else "left")
        for row in rows:
            goal = f"at most {number(row.goal, row.unit)}"
            table.add_row(row.what, row.against, number(row.measured, row.unit), goal, row.limit)
        out.print(table)
    if not all(row.within for row in rows):
        raise SystemExit(1)


def as_table(rows: Sequence[BenchRow]) -> Table:
    """The rows as a table."""
    table = Table(title="compiled functions: ratios in one run", title_justify="left")
    for column in ("#", "what", "against", "goal", "measured", "", "note"):
        table.add_column(column, justify="right" if column in ("#", "goal", "measured") else "left")
    for row in rows:
        measured = "" if row.measured is None else number(row.measured, row.goal.unit)
        verdict = Text(row.verdict.value, style=COLOURS[row.verdict])
        note = row.failed or row.note
        table.add_row(str(row.number), row.what, row.against, str(row.goal), measured, verdict, note)
    return table


def peak() -> float:
    """Peak memory of this process; 0 where the system does not report it. Units: megabytes."""
    try:
        import resource  # noqa: PLC0415 - not every system has it
    except ImportError:
        return 0.0
    maximum = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return maximum / 1e6 if sys.platform == "darwin" else maximum / 1e3


@bench.command(epilog="Example: refmlc bench debug --rounds 3")
@count_option("--rounds", 5, "Number of measurements.")
@count_option("--size", 80, "Size of the matrices: 80 gives 10^6 steps.", least=4)
@json_option
def debug(rounds: int, size: int, *, as_json: bool) -> None:
    """Measure the debugger: a breakpoint that is never hit, a step back, memory.

    Exit status 1: a goal is missed.
    """
    with Progress(console=err, transient=True) as progress:
        task = progress.add_task("rounds", total=rounds + 1)
        cost = debugger.bench_debugger(rounds, lambda: progress.advance(task), size)
    memory = peak()
    goals_met = cost.kept and memory < debugger.MOST_MEGABYTES
    if as_json:
        print_json({**asdict(cost), "ratio": cost.ratio, "peak_megabytes": memory, "kept": goals_met})
    else:
        table = Table(title=f"debugger, a run of {cost.statements} statements")
        for column in ("what", "measured", "goal"):
            table.add_column(column)
        table.add_row("a statement, hooks that do nothing", f"{cost.hooks:.0f} ns", "")
        table.add_row("a statement, debugger without breakpoints", f"{cost.debugger:.0f} ns", "")
        table.add_row("a statement, a breakpoint that is never hit", f"{cost.breakpoint:.0f} ns", "")
        table.add_row("ratio of the last to the first", f"{cost.ratio:.2f}", f"at most {debugger.MOST_RATIO}")
        back = f"{cost.median_back:.0f} ms, worst {cost.worst_back:.0f} ms"
        table.add_row("a step back, median", back, f"below {debugger.MOST_MILLISECONDS:.0f} ms")
        table.add_row("snapshots", f"{cost.snapshots}, {cost.megabytes:.1f} MB", "")
        table.add_row("memory of the process, at most", f"{memory:.0f} MB", f"below {debugger.MOST_MEGABYTES:.0f} MB")
        out.print(table)
    if not goals_met:
        raise SystemExit(1)


@bench.command("all", epilog="Example: refmlc bench all --chart speed.html")
@click.option("--tvm", "python", metavar="PYTHON", envvar="REFMLC_TVM_PYTHON", help="A Python with apache-tvm.")
@click.option("--chart", "page", type=PATH, required=True, metavar="FILE.html", help="Write the page of all numbers.")
@click.option("--history", type=PATH, metavar="FILE.jsonl", help="Earlier runs.  [default: beside the page]")
@count_option("--rounds", 7, "Number of measurements.")
@click.option("--tiny", is_flag=True, help="Small sizes: tests the benchmark itself, not the speed.")
@json_option
def every(python: str | None, page: Path, history: Path | None, rounds: int, *, tiny: bool, as_json: bool) -> None:
    """Measure everything, and write one page with the history of each number.

    A line of JSON is added to the history for each run, with the machine, the versions and the commit. Exit status 1: a
    number is more than 10 % worse than the median of earlier runs on this machine, beyond what those differ by.
    """
    write_bench_page = _page_writer()
    path = page.with_suffix(".jsonl") if history is None else history
    earlier = read_history(path)
    with err.status("starting …") as status:
        current = bench_all(python, rounds, lambda name: status.update(Text(f"measuring {name} …")), tiny=tiny)
    add_to_history(path, current)
    write_bench_page(current, earlier, page, command=f"refmlc bench all --chart {page}")
    rows = trends(current, earlier)
    regressions = [trend for trend in rows if trend.is_regression]
    missed = sum(trend.measurement.met is False for trend in rows)
    if as_json:
        print_json({**current.as_data(), "missed": missed, "regressions": [each.as_data() for each in regressions]})
    else:
        out.print(f"{len(rows)} rows, {missed} goals missed, {len(regressions)} regressions: {page}")
        for trend in regressions:
            out.print(f"{trend.measurement.group}: {trend.measurement.what}: {100 * (trend.change or 0):+.1f} %")
    if regressions:
        raise SystemExit(1)


def _page_writer() -> Callable[..., None]:
    """Writes the page. Fails: RM112 (no extra `[report]`)."""
    try:
        writer: Callable[..., None] = load("refmlc.tools.bench.page:write_bench_page")
    except ModuleNotFoundError as missing:
        raise fail(BAD_USAGE, f"an HTML page needs `{missing.name}`", None, "pip install 'refmlc[report]'") from None
    return writer
