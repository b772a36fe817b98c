"""`refmlc fuzz`: a campaign of generated programs, on every implementation."""

import os
from pathlib import Path

import click
from click.core import ParameterSource

from refmlc.cli.fuzz_ledger import ledger as ledger_command, merge
from refmlc.cli.fuzz_page import page as page_command
from refmlc.cli.fuzz_run import CampaignFiles, run_campaign
from refmlc.cli.fuzz_show import show_coverage
from refmlc.cli.options import PATH, Duration, impl_option, json_option, trust_option
from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE
from refmlc.oracle.fuzz.campaign import CLOSING, LEFT
from refmlc.oracle.fuzz.settings import KINDS, SUBJECT_KINDS, RunOptions

DEFAULT = 600.0  # seconds, without a time and a number of programs
NO_FAULT = "none"
TIME = (
    "Run this long: 90s, 10m, 2h; the command ends at most the seconds of `--shrink` and "
    f"{LEFT + CLOSING:g} s later.  [default: 10m]"
)


class Kinds(click.ParamType[tuple[str, ...]]):
    """Kinds of programs, separated by commas."""

    name = "kind,kind,…"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, ...]:
        """The kinds in `value`, each once."""
        if isinstance(value, tuple):
            return value
        parts = tuple(dict.fromkeys(part.strip() for part in str(value).split(",")))
        if not set(parts) <= {*KINDS, *SUBJECT_KINDS}:
            self.fail(f"{value!r} is not a list of kinds; there are {', '.join((*KINDS, *SUBJECT_KINDS))}", param, ctx)
        return parts


@click.group(invoke_without_command=True, epilog="Example: refmlc fuzz --time 10m --dir campaign")
@impl_option("Compare this; SPEC@8: every 8th batch. May be repeated.  [default: native:tiny, moved, moved:best@32]")
@click.option("--time", "seconds", type=Duration(), help=TIME)
@click.option("--programs", type=click.IntRange(1), help="Number of programs, rounded up to whole batches.")
@click.option("--seed", type=click.IntRange(0), help="Seed of the programs.  [default: 0]")
@click.option("--jobs", type=click.IntRange(1), help="Number of workers.  [default: one per core]")
@click.option(
    "--dir",
    "path",
    type=click.Path(path_type=Path, file_okay=False),
    default="refmlc-fuzz",
    show_default=True,
    help="Keep the campaign in this folder.",
)
@click.option("--kinds", type=Kinds(), help=f"Generate only these kinds: {', '.join((*KINDS, *SUBJECT_KINDS))}.")
@click.option("--aim", help="Generate programs with this fault: a code, `none`, or `any` (a mixture).  [default: any]")
@click.option(
    "--exclude",
    multiple=True,
    metavar="NAME",
    help="Generate no program with this dtype, operator, or trait. May be repeated.",
)
@click.option("--sanitize", type=click.IntRange(0), help="Run every Nth batch under the sanitizer; 0: none.")
@click.option("--prove", type=click.IntRange(0), help="Prove a rewrite of each function in every Nth batch; 0: none.")
@click.option(
    "--batch",
    "size",
    type=click.IntRange(1),
    help="Number of programs of a batch.  [default: 144; 16 with tvm: or cmd:, less with several]",
)
@click.option("--large", type=click.IntRange(0), help="Make every Nth function large; 0: none.")
@click.option("--limit", "program_seconds", type=Duration(), help="Time limit of one program.")
@click.option("--memory", type=click.IntRange(256), metavar="MIB", help="Address space of a worker, in MiB.")
@click.option(
    "--shrink", type=click.FloatRange(0), default=60.0, show_default=True, help="Seconds for shrinking each finding."
)
@click.option("--scheduler", metavar="ADDRESS", help="Run on this Dask cluster (extra `cluster`).")
@click.option(
    "--ledger",
    type=PATH,
    help="Match findings with this ledger, move away from known causes, and merge the findings into it at the end.",
)
@click.option("--page", type=PATH, help="Write the campaign's page at the end (extra `report`).")
@click.option("--show", type=click.Choice(["coverage"]), help="Run nothing: show this of the campaign in the folder.")
@trust_option
@json_option
@click.pass_context
def fuzz(  # noqa: PLR0913 - one parameter per option
    ctx: click.Context,
    /,
    impls: tuple[str, ...],
    seconds: float | None,
    programs: int | None,
    jobs: int | None,
    path: Path,
    shrink: float,
    scheduler: str | None,
    *,
    ledger: Path | None,
    page: Path | None,
    show: str | None,
    trust: bool,
    as_json: bool,
    **values: object,
) -> None:
    """Run generated programs on every implementation and keep the disagreements, each shrunk.

    The folder keeps the campaign: the same command continues it, however it ended. An external program that only the
    settings in the folder name is started with `--trust` only. Exit status 1: there are disagreements.
    """
    if ctx.invoked_subcommand is not None:
        if any(ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE for name in ctx.params):
            raise fail(BAD_USAGE, f"put options after `{ctx.invoked_subcommand}`, which has its own")
        return
    if show is not None:
        show_coverage(path, as_json=as_json)
        return
    settings = {name: value for name, value in values.items() if value not in (None, ())}
    if impls:
        settings["implementations"] = impls
    if "aim" in settings:
        settings["aim"] = "" if settings["aim"] == NO_FAULT else settings["aim"]
    if seconds is None and programs is None:
        seconds = DEFAULT
    cores = len(os.sched_getaffinity(0)) if jobs is None else jobs
    ways = RunOptions(seconds, programs, cores, scheduler, shrink)
    run_campaign(path, settings, ways, trust=trust, as_json=as_json, files=CampaignFiles(ledger, page))


fuzz.add_command(merge)
fuzz.add_command(ledger_command)
fuzz.add_command(page_command)
