"""Make wrong variants, let the tests kill them, print what became of them.

`python -m tests.mutants.run headers` (or `codegen`), of all or of a sample: `--number 60 --seed 1`. Those that survive
must stand in `survivors.toml` with the reason; else exit 1. `--slowly` lets the sanitizer and the tests of the headers
look at survivors too.
"""

import argparse
import sys
import tomllib
from collections import Counter
from pathlib import Path

from rich.console import Console
from rich.table import Table

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import kernel_mutants  # noqa: E402 - after the path
from c_mutations import sample  # noqa: E402 - the same


def explained():
    """The mutants that may survive, by name, and why."""
    rows = tomllib.loads((HERE / "survivors.toml").read_text(encoding="utf-8")).get("survivor", [])
    return {name: row["why"] for row in rows for name in row["names"]}


def matrix(ends):
    """Counts by header and end."""
    table = Table(title="wrong headers")
    states = ("killed", "explained", "survived", "no C")
    for column in ("header", "mutants", *states):
        table.add_column(column, justify="left" if column == "header" else "right")
    groups = {}
    for mutant, state, _ in ends:
        groups.setdefault(mutant.header, Counter())[state] += 1
    for header, counts in sorted(groups.items()):
        table.add_row(header, str(counts.total()), *(str(counts[state]) for state in states))
    whole = sum(groups.values(), start=Counter())
    table.add_row("all", str(whole.total()), *(str(whole[state]) for state in states))
    return table


def main() -> None:
    """Print the matrix and the survivors; exit 1 when one of them is not explained."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--number", type=int, default=0, help="a sample of so many; 0: all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="those whose name holds this text")
    parser.add_argument("--slowly", action="store_true")
    parser.add_argument("--tests", action="store_true", help="with --slowly: run the tests of the headers as well")
    parser.add_argument("--verbose", action="store_true", help="say what kills each")
    options = parser.parse_args()
    console, known, ends = Console(width=150), explained(), []
    chosen = [one for one in kernel_mutants.mutants() if options.only in one.name]
    for mutant in sample(chosen, options.number or len(chosen), options.seed):
        end = kernel_mutants.judge(mutant)
        if end.state == "survived" and options.slowly:
            end = kernel_mutants.judge_slowly(mutant, tests=options.tests)
        state = "explained" if end.state == "survived" and mutant.name in known else end.state
        ends.append((mutant, state, end.why))
        if state == "survived" or options.verbose:
            console.print(f"{state}: {mutant.name} (line {mutant.line}) {end.why}", markup=False, soft_wrap=True)
    console.print(matrix(ends))
    raise SystemExit(any(state == "survived" for _, state, _ in ends))


if __name__ == "__main__":
    main()
