"""`refmlc explain CODE`: what a diagnostic code means."""

import click
from rich.markdown import Markdown
from rich.text import Text

from refmlc.cli.console import out, print_json
from refmlc.cli.options import json_option
from refmlc.diag.catalogue import BAD_USAGE, CODES
from refmlc.diag.errors import KINDS, fail


@click.command(epilog="Example: refmlc explain RM304")
@click.argument("code", required=False)
@json_option
def explain(code: str | None, *, as_json: bool) -> None:
    """Explain the diagnostic CODE (such as RM304); without CODE, list all codes."""
    if code is None:
        rows = {row.id: row.title for row in CODES.values()}
        if as_json:
            print_json(rows)
        for identity, title in () if as_json else rows.items():
            out.print(f"{identity}  {title}")
        return
    row = CODES.get(code.upper())
    if row is None:
        raise fail(BAD_USAGE, f"there is no code `{code}`", None, "`refmlc explain` lists all codes")
    kind = KINDS[row.kind]
    if as_json:
        fields = {"id": row.id, "kind": kind.__name__, "exit_code": kind.exit_code, "title": row.title}
        print_json({**fields, "clause": row.clause, "explanation": row.explanation, "example": row.example})
        return
    kind_text = f"({kind.__name__}, exit status {kind.exit_code})"
    out.print(Text.assemble((row.id, "bold"), f" {row.title}  ", (kind_text, "dim"), "\n"))
    out.print(Markdown(row.explanation))
    if row.example:
        out.print(Markdown(row.example))
    if row.clause:
        out.print(f"\nFollows from clause {row.clause}: `refmlc spec {row.clause}`")
