"""The work of `refmlc check`: every function examined, told as a table or as data, the evidence written."""

from collections.abc import Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path

import refmlc
from refmlc.adapters.implementation import Implementation
from refmlc.adapters.interp import Interp
from refmlc.adapters.limits import Limits
from refmlc.adapters.lookup import implementation
from refmlc.cli.check_inputs import Asked, checked_program, known_function, public
from refmlc.cli.check_table import Row, as_data, findings, remarks, summary, table
from refmlc.cli.console import err, out, print_json, tell
from refmlc.diag import RefmlcError, fail
from refmlc.diag.catalogue import BAD_FILE, BAD_USAGE
from refmlc.evidence import case_text
from refmlc.ir import IRModule
from refmlc.oracle.examine import examine
from refmlc.oracle.finding import Finding
from refmlc.sanitize.kinds import ALL

DEFAULT_PATHS = ("native:guarded", "native")


@dataclass(frozen=True)
class Settings:
    """The options. Units: `seconds` for each run."""

    func: str | None
    inputs: tuple[str, ...]
    dims: tuple[str, ...]
    impls: tuple[str, ...]
    calls: int
    seed: int
    seconds: float
    kinds: tuple[str, ...]
    allow: tuple[str, ...]
    pairs: bool
    strict: bool

    @property
    def limits(self) -> Limits:
        """What each run may use."""
        return Limits(seconds=self.seconds, clock=True)


def checked(file: Path, settings: Settings, page: Path | None, case_file: Path | None, *, as_json: bool) -> int:
    """Check the module in `file` and tell; the exit status."""
    module = refmlc.read_file(file)
    strict, specs = settings.strict, settings.impls or DEFAULT_PATHS
    with ExitStack() as stack:
        paths = [stack.enter_context(closing(implementation(spec, settings.limits))) for spec in specs]
        rows = []
        for name in [known_function(module, settings.func)] if settings.func else public(module):
            with err.status(f"checking {name} …"):
                rows.append(examined(module, name, settings, paths))
    if as_json:
        print_json({"file": str(file), **as_data(rows, strict=strict)})
    else:
        _show(file, rows, strict=strict)
    _evidence(rows, page, case_file)
    return status(rows, strict=strict)


def examined(module: IRModule, name: str, settings: Settings, paths: Sequence[Implementation]) -> Row:
    """One function examined, or why no call of it can be made. Fails: RM111, RM112 where an option is to blame."""
    limits, allow = settings.limits, frozenset(settings.allow)
    asked = Asked(settings.inputs, settings.dims, settings.calls, settings.seed)
    try:
        program, missed = checked_program(module, name, asked, Interp(limits, allow=allow))
    except RefmlcError as failure:
        if asked.inputs or asked.dims:
            raise
        return Row(name, problem=failure.diagnostic)
    kinds = settings.kinds or ALL
    found = examine([program], paths, kinds=kinds, limits=limits, pairs=settings.pairs, allow=allow)[0]
    return Row(name, program, found, tuple(missed))


def status(rows: Sequence[Row], *, strict: bool) -> int:
    """The exit status: 1 a finding, 3 where nothing could be compared, else 0."""
    if findings(rows, strict=strict):
        return 1
    return 0 if any(row.compared for row in rows) else 3


def _show(file: Path, rows: Sequence[Row], *, strict: bool) -> None:
    """The table, remarks, findings, and what they come to."""
    out.print(table(file.name, rows), soft_wrap=False)
    for remark in remarks(rows):
        out.print(remark)
    for diagnostic in findings(rows, strict=strict):
        out.print()
        tell(diagnostic, out)
    out.print(f"\n{summary(rows, strict=strict)}")


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
