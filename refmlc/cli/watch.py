"""`refmlc watch FOLDER`: check what changes while one works, until Ctrl-C."""

from collections.abc import Iterable, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from time import strftime

import click

from refmlc.cli.check_files import Adoption, Selection, baseline_of
from refmlc.cli.check_run import Evidence, run_check
from refmlc.cli.console import INTERRUPTED, counted, err, out, report_failure
from refmlc.cli.options import PATH, budget_option, calls_option, impl_option, seconds_option
from refmlc.cli.sources import files_in
from refmlc.diag import RefmlcError
from refmlc.oracle.arguments import CallLimits
from refmlc.oracle.check.program import CallRequest
from refmlc.oracle.check.run import DEFAULT_PATHS, CheckOptions
from refmlc.oracle.contracts.assumptions import contract_file
from refmlc.oracle.implementations.implementation import Implementation, Limits
from refmlc.oracle.implementations.lookup import implementation
from refmlc.system.file_changes import changes, state_of


@click.command(epilog="Example: refmlc watch kernels --calls 4")
@click.argument("paths", nargs=-1, required=True, metavar="FOLDER…", type=click.Path(path_type=Path, exists=True))
@impl_option("Compare this, as `refmlc check` does. May be repeated.  [default: native:guarded, native]")
@calls_option
@budget_option
@seconds_option
@click.option("--baseline", type=PATH, help="Do not report the findings that this file accepts.")
@click.option("--all", "everything", is_flag=True, help="Check every file first.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object for each round.")
def watch(
    paths: tuple[Path, ...],
    impls: tuple[str, ...],
    calls: int | None,
    budget: float,
    seconds: float,
    *,
    baseline: Path | None,
    everything: bool,
    as_json: bool,
) -> None:
    """Check each file of FOLDER that changes, when it has been written; Ctrl-C ends it (exit status 130).

    FOLDER is searched as `refmlc check` does: *.py with TVMScript. A change of the contracts beside a module is one of
    the module. Implementations stay open, so that a check begins at once.
    """
    limits = Limits(seconds=seconds, clock=True)
    choices = CheckOptions(CallRequest({}, {}, {}, CallLimits(calls, 0, budget)), limits, named=bool(impls))
    with ExitStack() as stack:
        opened = (implementation(spec, limits, kept=True) for spec in impls or DEFAULT_PATHS)
        ways = [stack.enter_context(closing(way)) for way in opened]
        known = state_of(() if everything else _watched(paths))
        err.print(f"watching {counted(len(_modules(paths)), 'module')}; Ctrl-C ends it", style="dim")
        for changed in changes(lambda: _watched(paths), known=known):
            modules = [file for file in _modules(paths) if file in changed or contract_file(file) in changed]
            _round(modules, ways, choices, baseline, as_json=as_json)


def _watched(paths: Sequence[Path]) -> list[Path]:
    """The files whose changes matter: Python files, since one may become a module, and contracts."""
    files = [file for path in paths for file in files_in(path)]
    return [*files, *map(contract_file, files)]


def _modules(paths: Iterable[Path]) -> list[Path]:
    """The modules of now."""
    sources, _skipped = Selection(tuple(paths), skip=True).sources()
    return [source.path for source in sources]


def _round(
    modules: Sequence[Path],
    ways: Sequence[Implementation],
    choices: CheckOptions,
    baseline: Path | None,
    *,
    as_json: bool,
) -> None:
    """Check the modules that changed. A failure is shown, and watching continues."""
    if not modules:
        return
    if not as_json:
        out.print(f"\n{strftime('%H:%M:%S')} {', '.join(map(str, modules))}", style="bold")
    try:
        adoption = Adoption(baseline=baseline_of(baseline, update=False))
        selection = Selection(tuple(modules))
        status = run_check(selection, None, ways, choices, Evidence(adoption=adoption), as_json=as_json)
    except RefmlcError as failure:
        report_failure(failure, as_json=as_json)
        return
    if status == INTERRUPTED:
        raise KeyboardInterrupt
