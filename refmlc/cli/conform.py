"""`refmlc conform`: the suite run against implementations; reports on the terminal, as JUnit XML, JSON, HTML."""

import os
from pathlib import Path

import click
from click.core import ParameterSource

from refmlc.cli.conform_coverage import coverage
from refmlc.cli.conform_export import adapter, export, findings
from refmlc.cli.conform_run import ReportPaths, Settings, conformed, page_writer
from refmlc.cli.console import err
from refmlc.cli.options import PATH, Duration, impl_option, json_option, suite_option
from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE

DEFAULT = ("interp", "native")
SPECS = "interp, native[:WAY], numpy, torch, tvm:PYTHON[,…], cmd:COMMAND, py:MODULE:NAME. May be repeated."


@click.group(
    invoke_without_command=True, epilog="Example: refmlc conform --impl 'cmd:./mine --serve' --report page.html"
)
@impl_option(f"Test this: {SPECS}  [default: interp, native]")
@click.option(
    "--install-tvm",
    "tvm",
    metavar="[VERSION]",
    is_flag=False,
    flag_value="",
    help="Test real TVM too; installs it once, in an environment of its own.  [VERSION: 0.27.0.post1]",
)
@click.option(
    "--case", "cases", multiple=True, metavar="GLOB", help="Run only the cases whose ids match.  [default: all]"
)
@click.option("--known", multiple=True, type=PATH, help="Known deviations, in place of those in refmlc.")
@suite_option
@click.option("--junit", "junit_file", type=PATH, help="Write JUnit XML.")
@click.option("--report", "page", type=PATH, help="Write an HTML page (extra `report`).")
@click.option("--open", "show", is_flag=True, help="Open the page in a browser.")
@click.option("--jobs", type=click.IntRange(1, 256), help="Number of workers.  [default: one per core]")
@click.option("--limit", "seconds", type=Duration(), default="10s", show_default=True, help="Time limit of a call.")
@click.option("--prepare", type=Duration(), default="60s", show_default=True, help="Time limit for preparing a module.")
@json_option
@click.pass_context
def conform(  # noqa: PLR0913 - one parameter per option
    ctx: click.Context,
    *,
    impls: tuple[str, ...],
    tvm: str | None,
    cases: tuple[str, ...],
    known: tuple[Path, ...],
    suite: Path | None,
    junit_file: Path | None,
    page: Path | None,
    show: bool,
    jobs: int | None,
    seconds: float,
    prepare: float,
    as_json: bool,
) -> None:
    """Run the conformance suite against implementations.

    Deviations listed in `conformance/known` are expected; a case that passes although it is listed there fails too.
    Exit status: 0 everything is as expected, 1 otherwise, 2 bad usage.
    """
    if ctx.invoked_subcommand is not None:
        options = [name for name in ctx.params if ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE]
        if options:
            raise fail(BAD_USAGE, f"put options after `{ctx.invoked_subcommand}`, which has its own")
        return
    if show and page is None:
        raise fail(BAD_USAGE, "`--open` needs `--report FILE`, the page to open")

    if page is not None:
        page_writer()  # a missing extra is reported before anything is installed
    if tvm is not None:
        impls = (*impls, installed(tvm))
    workers = len(os.sched_getaffinity(0)) if jobs is None else jobs
    settings = Settings(impls or DEFAULT, cases, suite, known, seconds, prepare, workers)
    status = conformed(settings, ReportPaths(junit_file, page), as_json=as_json)
    if show and page is not None:
        click.launch(str(page))
    ctx.exit(status)


conform.add_command(coverage)
conform.add_command(export)
conform.add_command(adapter)
conform.add_command(findings)


def installed(version: str) -> str:
    """Real TVM as an implementation, installed where it is not there yet. Fails: RM112."""
    from refmlc.cli.conform_install import DEFAULT_VERSION, as_word, installed_tvm  # noqa: PLC0415 - few need it

    version = version or DEFAULT_VERSION
    with err.status(f"apache-tvm {version} in an environment of its own …"):
        return as_word(installed_tvm(version))
