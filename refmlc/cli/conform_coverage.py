"""`refmlc conform coverage`: how many cases of the suite show each clause of the specification."""

from pathlib import Path

import click

from refmlc.cli.console import json_option, out, print_json
from refmlc.oracle.suite.coverage import coverage as covered
from refmlc.oracle.suite.suite import load_suite


@click.command(epilog="Example: refmlc conform coverage")
@click.option(
    "--suite", type=click.Path(path_type=Path), help="Another suite: a folder with the layout of `conformance`."
)
@json_option
@click.pass_context
def coverage(ctx: click.Context, *, suite: Path | None, as_json: bool) -> None:
    """Count the cases that show each clause.

    Exit status: 0 every clause that a case can show has one, 1 otherwise.
    """
    cases = load_suite(suite)
    found = covered(cases, suite)
    if as_json:
        lists = {"unshown": dict(found.unshown), "missing": list(found.missing), "unknown": list(found.unknown)}
        print_json({"version": cases.version, "cases": len(cases.cases), "clauses": dict(found.counts), **lists})
    else:
        for name, count in found.counts.items():
            why = found.unshown.get(name, "" if count else "no case")
            out.print(f"{name} {count:5}  {why}".rstrip())
        for name in found.unknown:
            out.print(f"{name}: cases name it, the specification has no such clause")
        for name in found.idle:
            out.print(f"{name}: said not to be shown, and shown by {found.counts[name]} cases")
        able = len(found.counts) - len(found.unshown)
        out.print(
            f"{100 * found.share:.1f} % of {able} clauses by {len(cases.cases)} cases of version {cases.version}; "
            f"{len(found.unshown)} cannot be shown",
        )
    ctx.exit(1 if found.missing or found.unknown or found.idle else 0)
