"""`refmlc equiv BEFORE AFTER`: ask whether one module may replace another."""

import shlex
import sys
from pathlib import Path

import click

from refmlc.cli.call import register
from refmlc.cli.console import err, out, print_json, show_diagnostic
from refmlc.cli.options import (
    PATH,
    assume_option,
    count_option,
    impl_option,
    json_option,
    register_option,
    seconds_option,
    seed_option,
)
from refmlc.cli.sources import Source
from refmlc.diag.render import to_json
from refmlc.oracle.contracts.assumptions import assumed, assumed_beside, known_assumptions
from refmlc.oracle.evidence import write_page
from refmlc.oracle.implementations.implementation import Limits
from refmlc.oracle.refine.calls import ProgramSubject, entry
from refmlc.oracle.refine.comparison import INTERP, ComparisonOptions, RefinementResult, compared, finding_of


@click.command(epilog="Example: refmlc equiv before.py after.py --calls 50")
@click.argument("before", type=click.Path(path_type=Path, allow_dash=True))
@click.argument("after", type=PATH)
@click.option("--func", "--function", "func", help="The function to call.  [default: main, or the only one]")
@impl_option("Run AFTER on this implementation.  [default: interp]")
@count_option("--calls", 20, "Number of calls: one for each purpose, then random ones.")
@seed_option
@seconds_option
@assume_option
@click.option("--exact", is_flag=True, help="Require the same bits; accept no certified bound.")
@click.option("--report", "page", type=PATH, help="Write the counterexample as an HTML page (extra `report`).")
@register_option
@json_option
def equiv(  # noqa: PLR0913 - one parameter per option
    before: Path,
    after: Path,
    func: str | None,
    impls: tuple[str, ...],
    calls: int,
    seed: int,
    seconds: float,
    *,
    assume: tuple[str, ...],
    exact: bool,
    page: Path | None,
    registered: tuple[Path, ...],
    as_json: bool,
) -> None:
    """Compare the modules in BEFORE and AFTER on generated calls, to see whether AFTER may replace BEFORE.

    AFTER must be defined wherever BEFORE is, with the same bits or within the certified bound. Exit status: 0 no
    difference, 1 a small call on which they differ, 2 or 3 they cannot be compared.
    """
    register(registered)
    first = Source(before).read()
    name = entry(first, func)
    old, new = ProgramSubject(first, name), _second(after, name)
    limits = Limits(seconds=seconds, clock=True)
    contracts = (*assumed(assume), *assumed_beside(before))
    known_assumptions(first, contracts)
    options = ComparisonOptions(None, calls, seed, impls or (INTERP,), limits, exact=exact, assume=contracts)
    with err.status(f"comparing {name} …"):
        comparison = compared(old, new, options)
    if comparison.counterexample is not None and page is not None:
        command = ["refmlc", *sys.argv[1:]]
        write_page(finding_of(old, new, comparison.counterexample, limits), page, command=shlex.join(command))
    _show(name, comparison, calls, as_json=as_json)
    click.get_current_context().exit(1 if comparison.counterexample is not None else 0)


def _second(file: Path, name: str) -> ProgramSubject:
    """The module AFTER, which has the function too. Fails: as reading does; RM112."""
    module = Source(file).read()
    return ProgramSubject(module, entry(module, name))


def _show(func: str, comparison: RefinementResult, calls: int, *, as_json: bool) -> None:
    """Print the number of calls without a difference, or the counterexample."""
    counterexample = comparison.counterexample
    if as_json:
        finding = None if counterexample is None else to_json(counterexample.diagnostic)
        print_json(
            {
                "func": func,
                "equivalent": counterexample is None,
                "calls": comparison.defined,
                "finding": finding,
                "notes": list(comparison.notes),
            }
        )
    elif counterexample is None:
        undefined = calls - comparison.defined
        note = f"; {undefined} are not counted: BEFORE is undefined there" if undefined else ""
        out.print(f"`{func}`: no difference on {comparison.defined} calls{note}")
        for line in comparison.notes:
            out.print(f"`{func}`: {line}")
    else:
        show_diagnostic(counterexample.diagnostic, out)
