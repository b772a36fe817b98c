"""`refmlc conform coverage`: the number of cases that show each clause of the specification."""

from pathlib import Path

import click

from refmlc.cli.console import out, print_json
from refmlc.cli.options import json_option, suite_option
from refmlc.oracle.suite.coverage import coverage as count_cases
from refmlc.oracle.suite.suite import load_suite


@click.command(epilog="Example: refmlc conform coverage")
@suite_option
@json_option
@click.pass_context
def coverage(ctx: click.Context, *, suite: Path | None, as_json: bool) -> None:
    """Count the cases that show each clause.

    Exit status: 0 every clause that a case can show has one, 1 otherwise.
    """
    cases = load_suite(suite)
    result = count_cases(cases, suite)
    if as_json:
        lists = {"unshown": dict(result.unshown), "missing": list(result.missing), "unknown": list(result.unknown)}
        print_json({"version": cases.version, "cases": len(cases.cases), "clauses": dict(result.counts), **lists})
    else:
        for name, count in result.counts.items():
            why = result.unshown.get(name, "" if count else "no case")
            out.print(f"{name} {count:5}  {why}".rstrip())
        for name in result.unknown:
            out.print(f"{name}: named by cases, unknown to the specification")
        for name in result.idle:
            out.print(f"{name}: listed as not shown, but shown by {result.counts[name]} cases")
        able = len(result.counts) - len(result.unshown)
        out.print(
            f"{100 * result.share:.1f} % of {able} clauses by {len(cases.cases)} cases of version {cases.version}; "
            f"{len(result.unshown)} cannot be shown"
        )
    ctx.exit(1 if result.missing or result.unknown or result.idle else 0)
