"""Operators of Relax by our definitions against TVM's lowerings: a row for each operator, the cases that differ.

`python tests/e2e/operator_table.py --tvm PYTHON [PREFIX …]`; `--sample DIRECTORY` uses results made before. Agreement
is to the bit in mode `libm`, as in `sample_table`. Exit status 1 where a case differs that `explained_operators.toml`
does not explain.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from pathlib import Path

import sample_table
from rich.console import Console
from rich.table import Table

HERE = Path(__file__).parent
EXPLAINED = HERE / "explained_operators.toml"


def make(python: str, directory: Path, prefixes: list[str]) -> None:
    """Let TVM make the results."""
    subprocess.run([python, str(HERE / "tvm_side" / "operator_results.py"), str(directory), *prefixes], check=True)


def outcomes(directory: Path, tier: str = "auto", prefixes: tuple[str, ...] = ()) -> list[sample_table.Outcome]:
    """What became of each case."""
    index = json.loads((directory / "index.json").read_text(encoding="utf-8"))
    chosen = [entry for entry in index if not prefixes or entry["name"].startswith(prefixes)]
    return [sample_table.check((str(directory), entry, tier)) for entry in chosen]


def explained() -> dict[str, str]:
    """The cases that may differ, each with its reason."""
    return tomllib.loads(EXPLAINED.read_text(encoding="utf-8"))["differs"]


def table(found: list[sample_table.Outcome]) -> Table:
    """A row for each operator."""
    shown = Table(title="operators of Relax: our definitions and TVM's lowerings")
    for column in ("operator", *sample_table.VERDICTS, "TVM cannot"):
        shown.add_column(column, justify="left" if column == "operator" else "right")
    rows: dict[str, Counter] = {}
    for one in found:
        rows.setdefault(one.name.partition("/")[0], Counter())[one.ran or "TVM cannot"] += 1
    for name, counts in rows.items():
        shown.add_row(name, *(str(counts[key] or "") for key in (*sample_table.VERDICTS, "TVM cannot")))
    return shown


def main() -> int:
    """Print the table and what differs."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("prefixes", nargs="*")
    options.add_argument("--tvm", default="")
    options.add_argument("--sample", type=Path)
    options.add_argument("--tier", default="auto")
    given = options.parse_args()
    console = Console()
    with tempfile.TemporaryDirectory() as temporary:
        directory = given.sample or Path(temporary)
        if given.tvm:
            make(given.tvm, directory, given.prefixes)
        found = outcomes(directory, given.tier, tuple(given.prefixes))
    console.print(table(found))
    reasons = explained()
    bad = [one for one in found if one.ran in ("differs", "error") and one.name not in reasons]
    for one in found:
        if one.ran not in sample_table.VERDICTS[:2]:
            console.print(f"{one.name}: {one.ran or 'not run'}: {one.reason} {reasons.get(one.name, '')}", markup=False)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
