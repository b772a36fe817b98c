"""`refmlc fuzz merge`, `refmlc fuzz ledger`: the causes of many campaigns in one file."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import click
from rich.console import JustifyMethod
from rich.table import Table

from refmlc.cli.console import out, print_json
from refmlc.cli.options import PATH, json_option
from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE
from refmlc.oracle.fuzz.ledger import LedgerRow, opened, rows_of

WORD = slice(0, 60)  # of a state: what a person says may be long


@click.command(epilog="Example: refmlc fuzz merge campaign --into ledger.sqlite")
@click.argument("sources", type=PATH, nargs=-1, required=True)
@click.option("--into", "target", type=PATH, required=True, help="The ledger; made if it is not there.")
@json_option
def merge(*, sources: tuple[Path, ...], target: Path, as_json: bool) -> None:
    """Merge findings into a ledger: those of campaigns (folders), and of other ledgers (files).

    The order does not matter, and what is merged twice counts once. A campaign that has gone on may be merged again.
    """
    parts = []
    for source in sources:
        if source.is_dir():
            parts.append(rows_of(source))
        else:
            with opened(source) as other:
                parts.append(other.tables())
    with opened(target, create=True) as ledger:
        before = {row.signature for row in ledger.rows()}
        for tables in parts:
            ledger.merge(tables)
        rows = ledger.rows()
    added = len({row.signature for row in rows} - before)
    if as_json:
        print_json({"ledger": str(target), "added": added, **_figures(rows)})
        return
    out.print(f"{target}: {len({row.signature for row in rows}):,} causes, {added:,} of them added")
    out.print(states(rows))


@click.command(epilog="Example: refmlc fuzz ledger ledger.sqlite")
@click.argument("file", type=PATH)
@click.option("--judge", nargs=2, metavar="SIGNATURE TEXT", help="Keep a judgement on a cause, such as `filed as 123`.")
@json_option
def ledger(*, file: Path, judge: tuple[str, str] | None, as_json: bool) -> None:
    """Show the causes in a ledger, with their states: new, like ROW, earlier, known ROW, judged TEXT."""
    with opened(file) as book:
        if judge is not None and not book.judge(*judge):
            raise fail(BAD_USAGE, f"`{file}` has no cause `{judge[0]}`")
        rows = book.rows()
    if as_json:
        print_json({"ledger": str(file), **_figures(rows)})
        return
    table = Table(title=f"{len(rows)} rows", title_justify="left")
    for column in ("signature", "code", "implementation", "cause", "programs", "first seed", "state"):
        justify: JustifyMethod = "right" if column in ("programs", "first seed") else "left"
        table.add_column(column, justify=justify, no_wrap=column in ("signature", "code"))
    for row in rows:
        what = f"{row.path} {row.version}".rstrip()
        table.add_row(row.signature, row.code, what, row.cause, f"{row.programs:,}", row.seed, row.state[WORD])
    out.print(table)


def states(rows: Iterable[LedgerRow]) -> str:
    """How many rows have each state, in one line."""
    counts = Counter(row.state.partition(" ")[0] for row in rows)
    return ", ".join(f"{count:,} {state}" for state, count in sorted(counts.items())) or "it is empty"


def _figures(rows: list[LedgerRow]) -> dict[str, object]:
    return {"causes": len({row.signature for row in rows}), "rows": [row.to_json() for row in rows]}
