"""`refmlc check FILE …`: run each function on several calls and compare implementations."""

from dataclasses import replace
from pathlib import Path

import click

from refmlc.cli.call import register
from refmlc.cli.check_files import Adoption, FileNames, Selection, file_options
from refmlc.cli.check_run import Evidence, run_check
from refmlc.cli.inputs import named_values, sizes_of
from refmlc.cli.options import (
    PATH,
    assume_option,
    budget_option,
    calls_option,
    dims_option,
    impl_option,
    json_option,
    params_option,
    register_option,
    seconds_option,
    seed_option,
    threads_option,
    trust_option,
)
from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE
from refmlc.observe.sanitize.kinds import ALL
from refmlc.oracle.arguments import CallLimits
from refmlc.oracle.check.program import CallRequest
from refmlc.oracle.check.run import CheckOptions
from refmlc.oracle.contracts.assumptions import assumed
from refmlc.oracle.implementations.implementation import Limits
from refmlc.run.memory.files import read_arrays

IMPLS = (
    "Compare this: interp, native[:WAY], tvm:PYTHON, cmd:COMMAND. May be repeated.  [default: native:guarded, native]"
)


@click.command(cls=FileNames, epilog="Example: refmlc check model.onnx --impl native --report page.html")
@click.argument("files", nargs=-1, required=True, metavar="FILE…", type=click.Path(path_type=Path, allow_dash=True))
@click.option("--func", help="Check only this function.  [default: every public one]")
@click.option(
    "--input", "inputs", multiple=True, metavar="NAME=VALUE", help="With --func: an argument, as for `refmlc run`."
)
@params_option
@dims_option("With --func: the size of a symbolic dimension.")
@assume_option
@impl_option(IMPLS)
@calls_option
@budget_option
@seed_option
@seconds_option
@click.option("--no-pairs", is_flag=True, help="Do not compare variants of the program (serial and parallel, …).")
@click.option(
    "--kinds",
    multiple=True,
    metavar="CODE",
    help="Report only this code of the sanitizer. May be repeated.  [default: all]",
)
@click.option(
    "--allow", multiple=True, metavar="CODE", help="Continue after this code, as hardware does (RM306: integers wrap)."
)
@click.option(
    "--orders",
    type=click.IntRange(1, 100_000),
    default=1,
    show_default=True,
    help="Try up to this many orders of the threads of a kernel (TIW-012).",
)
@click.option("--as-written", is_flag=True, help="Assume no barriers except those in the text (TIR-229).")
@click.option(
    "--against",
    type=click.Choice(["reference"]),
    help="Hold each operator of Relax to its exact definition too (RM709).",
)
@click.option("--finite", is_flag=True, help="Count NaN and infinities made from finite arguments as findings (RM710).")
@click.option(
    "--strict",
    is_flag=True,
    help="Count lints (RM324, RM325, RM326), and undefined calls outside of contracts.",
)
@click.option("--report", "page", type=PATH, help="Write findings as HTML pages.")
@click.option("--case", type=PATH, help="Write findings as TOML cases for `refmlc replay`.")
@file_options
@threads_option
@register_option
@trust_option
@json_option
def check(  # noqa: PLR0913 - one parameter per option
    files: tuple[Path, ...],
    *,
    func: str | None,
    inputs: tuple[str, ...],
    params: Path | None,
    dims: tuple[str, ...],
    assume: tuple[str, ...],
    impls: tuple[str, ...],
    calls: int | None,
    budget: float,
    seed: int,
    seconds: float,
    kinds: tuple[str, ...],
    allow: tuple[str, ...],
    registered: tuple[Path, ...],
    page: Path | None,
    case: Path | None,
    adoption: Adoption,
    no_pairs: bool,
    strict: bool,
    finite: bool,
    as_written: bool,
    orders: int,
    against: str | None,
    trust: bool,
    as_json: bool,
) -> None:
    """Run each function in FILE on several calls, under the sanitizer, and compare every implementation with that.

    FILE is a file, a folder (every *.py in it with TVMScript) or `-`, the standard input. Arguments and sizes that are
    not given are generated: a call for each purpose that the program has (NaN first, ends of dtypes, ties, …). A model
    (.pt2 with --trust, .onnx) is imported, and compared with its own framework too. Exit status: 0 no finding, 1 a
    finding, 2 a file cannot be read, 3 no function can be executed.
    """
    if (inputs or dims) and func is None:
        raise fail(BAD_USAGE, "`--input` and `--dim` are for one function: give `--func` too")
    arrays = dict(read_arrays(params)) if params else {}
    limit = CallLimits(calls, seed, budget)
    request = CallRequest(named_values(inputs), arrays, sizes_of(dims), limit, assumed(assume))
    choices = CheckOptions(request, Limits(seconds=seconds, clock=True), kinds or ALL, frozenset(allow), not no_pairs)
    choices = replace(choices, strict=strict, as_written=as_written, against=against or "", finite=finite)
    choices = replace(choices, named=bool(impls), orders=orders)
    register(registered)
    selection = Selection(files, adoption.revision, trust=trust, skip=adoption.skip)
    evidence = Evidence(page, case, adoption)
    click.get_current_context().exit(run_check(selection, func, impls, choices, evidence, as_json=as_json))
