"""`refmlc check FILE`: what each function means on several calls, and whether implementations agree with that."""

from collections.abc import Collection, Sequence
from contextlib import ExitStack, closing
from pathlib import Path

import click

import refmlc
from refmlc.adapters.implementation import Implementation
from refmlc.adapters.interp import Interp
from refmlc.adapters.limits import Limits
from refmlc.adapters.lookup import implementation
from refmlc.cli.check_inputs import Asked, checked_program, known_function, public
from refmlc.cli.check_table import Row, as_data, findings, findings_text, remarks, summary, table
from refmlc.cli.console import err, json_option, out, print_json
from refmlc.diag import RefmlcError, fail
from refmlc.diag.catalogue import BAD_FILE, BAD_USAGE
from refmlc.evidence import case_text
from refmlc.ir import IRModule
from refmlc.oracle.examine import examine
from refmlc.oracle.finding import Finding
from refmlc.sanitize.kinds import ALL

DEFAULT_PATHS = ("native:guarded", "native")


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--func", help="Only this function.  [default: every public one]")
@click.option("--input", "inputs", multiple=True, metavar="NAME=VALUE", help="With --func: as `refmlc run` takes it.")
@click.option("--dim", "dims", multiple=True, metavar="NAME=SIZE", help="With --func: a symbolic dimension.")
@click.option("--impl", "impls", multiple=True, metavar="SPEC", help="interp, native[:WAY], tvm:PYTHON, cmd:COMMAND.")
@click.option("--calls", type=click.IntRange(1, 1000), default=3, show_default=True, help="Calls of each function.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the arguments that are made.")
@click.option("--seconds", type=click.FloatRange(0.1), default=60.0, show_default=True, help="For each run.")
@click.option("--no-pairs", is_flag=True, help="No variants of the program (serial against parallel, …).")
@click.option("--kinds", multiple=True, metavar="CODE", help="Only these of the sanitizer's codes.  [default: all]")
@click.option("--strict", is_flag=True, help="Lints (RM324, RM325, RM326) are findings.")
@click.option("--report", "page", type=click.Path(path_type=Path), help="Write the first finding as an HTML page.")
@click.option("--case", "case_file", type=click.Path(path_type=Path), help="Write the first finding as a TOML case.")
@json_option
def check(  # noqa: PLR0913 - one parameter per option
    file: Path,
    *,
    func: str | None,
    inputs: tuple[str, ...],
    dims: tuple[str, ...],
    impls: tuple[str, ...],
    calls: int,
    seed: int,
    seconds: float,
    kinds: tuple[str, ...],
    page: Path | None,
    case_file: Path | None,
    no_pairs: bool,
    strict: bool,
    as_json: bool,
) -> None:
    """Run the functions in FILE on several calls: the meaning under the sanitizer, then each implementation.

    Arguments and sizes that are not given are made, boundaries included. Exit status: 0, or 1 when something is found,
    3 when nothing could be compared.
    """
    if (inputs or dims) and func is None:
        raise fail(BAD_USAGE, "`--input` and `--dim` are for one function: give `--func` too")
    module = refmlc.read_file(file)
    asked = Asked(inputs, dims, calls, seed)
    limits = Limits(seconds=seconds, clock=True)
    with ExitStack() as stack:
        paths = [stack.enter_context(closing(implementation(spec, limits))) for spec in impls or DEFAULT_PATHS]
        rows = []
        for name in [known_function(module, func)] if func else public(module):
            with err.status(f"checking {name} …"):
                rows.append(examined(module, name, asked, paths, limits, kinds or ALL, pairs=not no_pairs))
    if as_json:
        print_json({"file": str(file), **as_data(rows, strict=strict)})
    else:
        _tell(file, rows, strict=strict)
    _evidence(rows, page, case_file)
    click.get_current_context().exit(status(rows, strict=strict))


def examined(
    module: IRModule,
    name: str,
    asked: Asked,
    paths: Sequence[Implementation],
    limits: Limits,
    kinds: Collection[str],
    *,
    pairs: bool,
) -> Row:
    """One function examined, or why no call of it can be made. Fails: RM111, RM112 where an option is to blame."""
    try:
        program, missed = checked_program(module, name, asked, Interp(limits))
    except RefmlcError as failure:
        if asked.inputs or asked.dims:
            raise
        return Row(name, problem=failure.diagnostic)
    found = examine([program], paths, kinds=kinds, limits=limits, pairs=pairs)[0]
    return Row(name, program, found, tuple(missed))


def status(rows: Sequence[Row], *, strict: bool) -> int:
    """The exit status: 1 a finding, 3 where nothing could be compared, else 0."""
    if findings(rows, strict=strict):
        return 1
    return 0 if any(row.compared for row in rows) else 3


def _tell(file: Path, rows: Sequence[Row], *, strict: bool) -> None:
    """The table, remarks, findings, and what they come to."""
    out.print(table(file.name, rows), soft_wrap=False)
    for remark in remarks(rows):
        out.print(remark, markup=False)
    color = out.is_terminal and not out.no_color
    for text in findings_text(rows, strict=strict, color=color):
        click.echo(f"\n{text}")
    out.print(f"\n{summary(rows, strict=strict)}", markup=False)


def _evidence(rows: Sequence[Row], page: Path | None, case_file: Path | None) -> None:
    """Write what was found where it is wanted. Fails: RM109, RM112 (nothing was found)."""
    if page is None and case_file is None:
        return
    found = [finding for row in rows if row.found is not None for finding in row.found.findings]
    if not found:
        err.print("no implementation is wrong: nothing is written", style="dim")
        return
    if page is not None:
        _write_page(found[0], page)
    if case_file is not None:
        try:
            case_file.write_text(case_text(found[0]), encoding="utf-8")
        except OSError as problem:
            raise fail(BAD_FILE, f"`{case_file}`: {problem.strerror}") from problem


def _write_page(finding: Finding, path: Path) -> None:
    """Write the page of a finding. Fails: RM109, RM112 (the extra is not there)."""
    try:
        from refmlc.evidence.page import write_page  # noqa: PLC0415 - needs an extra, which other commands do not
    except ModuleNotFoundError as problem:
        raise fail(BAD_USAGE, f"`--report` needs {problem.name}: pip install 'refmlc[report]'") from None
    write_page(finding, path)
