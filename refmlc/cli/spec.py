"""`refmlc spec CLAUSE`: print a clause of the specification."""

import click
from rich.text import Text

from refmlc.cli.console import out, print_json
from refmlc.cli.options import json_option
from refmlc.lang.spec import Clause, clause, clauses


@click.command(epilog="Example: refmlc spec TIR-201")
@click.argument("name", metavar="CLAUSE", required=False)
@json_option
def spec(name: str | None, *, as_json: bool) -> None:
    """Print CLAUSE of the specification (such as TIR-201); without CLAUSE, list all clauses."""
    if name is None:
        rows = {identity: row.title for identity, row in clauses().items()}
        if as_json:
            print_json(rows)
        for identity, title in () if as_json else rows.items():
            out.print(f"{identity}  {title}")
        return
    row = clause(name)
    if as_json:
        print_json(as_data(row))
        return
    out.print(Text.assemble((row.id, "bold"), f" {row.title}\n\n{row.text}"))
    for code in row.undefined:
        out.print(f"  undefined — {code}")
    for label, text in (("exact", row.exact), ("decision", row.decision), ("source", row.source)):
        if text:
            out.print(Text.assemble("\n", (f"{label}:", "dim"), f" {text}"))


def as_data(row: Clause) -> dict[str, str | list[str]]:
    """A clause for machines."""
    return {
        "id": row.id,
        "title": row.title,
        "text": row.text,
        "undefined": list(row.undefined),
        "exact": row.exact,
        "decision": row.decision,
        "source": row.source,
    }
