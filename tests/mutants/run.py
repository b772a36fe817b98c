"""Make wrong variants, let the tests kill them, print what became of them.

`python -m tests.mutants.run headers` is about `kernels_c`, `… codegen` about `refmlc/codegen`. Of all, or of a sample:
`--number 60 --seed 1`. Survivors among headers must stand in `survivors.toml` with the reason, else exit 1; `--slowly`
lets the sanitizer look at them too, with `--tests` also the tests of the headers themselves. What becomes of wrong
generators is listed: a variant that writes other C with the same results is slower, or as good.
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

HEADERS = ("killed", "explained", "survived", "no C")
GENERATOR = ("killed", "other text", "same text", "not reached")


def explained():
    """The mutants that may survive, by name, and why."""
    rows = tomllib.loads((HERE / "survivors.toml").read_text(encoding="utf-8")).get("survivor", [])
    return {name: row["why"] for row in rows for name in row["names"]}


def matrix(title, states, ends):
    """Counts by place and end."""
    table = Table(title=title)
    for column in ("in", "mutants", *states):
        table.add_column(column, justify="left" if column == "in" else "right")
    groups = {}
    for place, state in ends:
        groups.setdefault(place, Counter())[state] += 1
    for place, counts in sorted(groups.items()):
        table.add_row(place, str(counts.total()), *(str(counts[state]) for state in states))
    whole = sum(groups.values(), start=Counter())
    table.add_row("all", str(whole.total()), *(str(whole[state]) for state in states))
    return table


def headers(options, console):
    """Mutants of headers; whether one survived that is not explained."""
    import kernel_mutants  # noqa: PLC0415 - the other kind must not load what this one does
    from c_mutations import sample  # noqa: PLC0415 - the same

    known, ends = explained(), []
    chosen = [one for one in kernel_mutants.mutants() if options.only in one.name]
    for mutant in sample(chosen, options.number or len(chosen), options.seed):
        end = kernel_mutants.judge(mutant)
        state = "explained" if end.state == "survived" and mutant.name in known else end.state
        if state == "survived" and options.slowly:
            end = kernel_mutants.judge_slowly(mutant, tests=options.tests)
            state = end.state
        ends.append((mutant.header, state))
        if state == "survived" or options.verbose:
            console.print(f"{state}: {mutant.name} (line {mutant.line}) {end.why}", markup=False, soft_wrap=True)
    console.print(matrix("wrong headers", HEADERS, ends))
    return any(state == "survived" for _, state in ends)


def generator(options, console):
    """Mutants of the generator; nothing that becomes of one is a failure by itself."""
    import generator_mutants  # noqa: PLC0415 - as above
    from python_mutations import sample  # noqa: PLC0415 - as above

    ends = []
    chosen = [one for one in generator_mutants.mutants() if options.only in one.name]
    for mutant in sample(chosen, options.number or len(chosen), options.seed):
        end = generator_mutants.verdict(mutant)
        ends.append((mutant.module.removeprefix("refmlc.codegen."), end.state))
        if end.state == "other text" or options.verbose:
            place = f"{end.state}: {mutant.name} (line {mutant.line})"
            console.print(" ".join(f"{place} {end.why}".split()), markup=False, soft_wrap=True)
    console.print(matrix("wrong generators", GENERATOR, ends))
    return False


def main() -> None:
    """Print the matrix and what survived; exit 1 when that is not explained."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind", choices=("headers", "codegen"))
    parser.add_argument("--number", type=int, default=0, help="a sample of so many; 0: all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="those whose name holds this text")
    parser.add_argument("--slowly", action="store_true")
    parser.add_argument("--tests", action="store_true")
    parser.add_argument("--verbose", action="store_true", help="say what becomes of each")
    options = parser.parse_args()
    judge = headers if options.kind == "headers" else generator
    raise SystemExit(judge(options, Console(width=150)))


if __name__ == "__main__":
    main()
