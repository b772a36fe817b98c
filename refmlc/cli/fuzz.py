"""`refmlc fuzz`: a campaign of generated programs, through every path."""

import os
from pathlib import Path

import click

from refmlc.cli.console import json_option
from refmlc.cli.durations import Duration
from refmlc.cli.fuzz_run import run_campaign
from refmlc.cli.trusting import trust_option
from refmlc.oracle.fuzz.settings import KINDS, Ways

DEFAULT = 600.0  # seconds, where neither a time nor a number of programs is asked for
NONE = "none"


class Kinds(click.ParamType[tuple[str, ...]]):
    """Kinds of programs, with commas between."""

    name = "kind,kind,…"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, ...]:
        """The kinds."""
        if isinstance(value, tuple):
            return value
        parts = tuple(dict.fromkeys(part.strip() for part in str(value).split(",")))
        if not set(parts) <= set(KINDS):
            self.fail(f"{value!r} is not a list of kinds; there are {', '.join(KINDS)}", param, ctx)
        return parts


@click.command()
@click.option(
    "--impl",
    "impls",
    multiple=True,
    metavar="SPEC",
    help="Compare these; SPEC@8: in one batch of 8.  [default: native:tiny, moved, moved:best@32]",
)
@click.option("--time", "seconds", type=Duration(), help="How long: 90s, 10m, 2h.  [default: 10m]")
@click.option("--programs", type=click.IntRange(1), help="How many programs, rounded up to whole batches.")
@click.option("--seed", type=click.IntRange(0), help="Which programs.  [default: 0]")
@click.option("--jobs", type=click.IntRange(1), help="How many workers.  [default: one for each core]")
@click.option(
    "--dir", "path", type=click.Path(path_type=Path, file_okay=False), default="refmlc-fuzz", show_default=True
)
@click.option("--kinds", type=Kinds(), help="Kinds of programs: functions, graphs, schedules, operators.")
@click.option("--aim", help="What programs do wrong: a code, `none`, or `any` for a mixture.  [default: any]")
@click.option("--sanitize", type=click.IntRange(0), help="One batch in so many runs under the sanitizer; 0: none.")
@click.option("--batch", "size", type=click.IntRange(1), help="How many programs are compiled together.")
@click.option("--large", type=click.IntRange(0), help="One function in so many is not small; 0: none.")
@click.option("--limit", "program_seconds", type=Duration(), help="How long one program may take.")
@click.option("--memory", type=click.IntRange(256), metavar="MIB", help="Address space of a worker.")
@click.option("--shrink", type=click.FloatRange(0), default=60.0, show_default=True, help="Seconds for each finding.")
@click.option("--scheduler", metavar="ADDRESS", help="Have a Dask cluster do it (extra `cluster`).")
@trust_option
@json_option
def fuzz(  # noqa: PLR0913 - one parameter per option
    impls: tuple[str, ...],
    seconds: float | None,
    programs: int | None,
    jobs: int | None,
    path: Path,
    shrink: float,
    scheduler: str | None,
    *,
    trust: bool,
    as_json: bool,
    **decides: object,
) -> None:
    """Run generated programs on every path and keep what disagrees; exit status 1 where something does.

    The directory keeps the campaign: the same command goes on where it was, however it ended. What its settings name
    and the command does not is started with `--trust` only, unless it is refmlc's own.
    """
    asked = {name: value for name, value in decides.items() if value is not None}
    if impls:
        asked["implementations"] = impls
    if "aim" in asked:
        asked["aim"] = "" if asked["aim"] == NONE else asked["aim"]
    if seconds is None and programs is None:
        seconds = DEFAULT
    cores = len(os.sched_getaffinity(0)) if jobs is None else jobs
    run_campaign(path, asked, Ways(seconds, programs, cores, scheduler, shrink), trust=trust, as_json=as_json)
