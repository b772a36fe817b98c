"""Make wrong variants, let the tests kill them, print what became of them.

`python tests/mutants/run.py matrix [--family interp] [--number 40] [--jobs 2] [--minutes 30]` judges a sample of each
family (`families.py`) by the tests that can see it, and prints the matrix; exit 1 where one survives without a reason.
Results are kept (`--results FILE`), so that a run that was broken off goes on.

`python -m tests.mutants.run headers` is about `kernels_c`, `… codegen` about `refmlc/native`. Of all, or of a sample:
`--number 60 --seed 1`. Survivors among headers must stand in `survivors.toml` with the reason, else exit 1; `--slowly`
lets the sanitizer look at them too, with `--tests` also the tests of the headers themselves. What becomes of wrong
generators is listed: a variant that writes other C with the same results is slower, or as good.
"""

import argparse
import sys
import time
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

from rich.console import Console
from rich.table import Table

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

KEPT = Path.home() / ".cache" / "refmlc-mutants" / "results.json"
MATRIX = ("killed", "explained", "survived")
HEADERS = ("killed", "explained", "survived", "no C")
GENERATOR = ("killed", "other text", "same text", "not reached")


def matrix(title, states, ends):
    """Counts by place and end, and what part of those is killed that nobody explains."""
    table = Table(title=title)
    for column in ("in", "mutants", *states, "share"):
        table.add_column(column, justify="left" if column == "in" else "right")
    groups = {}
    for place, state in ends:
        groups.setdefault(place, Counter())[state] += 1
    whole = sum(groups.values(), start=Counter())
    for place, counts in [*sorted(groups.items()), ("all", whole)]:
        faults = counts.total() - counts["explained"] - counts["no C"]
        share = f"{100 * counts['killed'] / faults:.1f} %" if faults else ""
        table.add_row(place, str(counts.total()), *(str(counts[state]) for state in states), share)
    return table


def headers(options, console):
    """Mutants of headers; whether one survived that is not explained."""
    import kernel_mutants  # noqa: PLC0415 - the other kind must not load what this one does
    from reasons import OF_ALL_TESTS, Reasons  # noqa: PLC0415 - the same
    from units import sample  # noqa: PLC0415 - the same

    kernel_mutants.prove_itself()
    if options.slowly:
        kernel_mutants.prove_slowly(tests=options.tests)
    reasons, ends = Reasons(files=[OF_ALL_TESTS]), []
    chosen = [one for one in kernel_mutants.mutants() if options.only in one.name]
    for mutant in sample(chosen, options.number or len(chosen), options.seed):
        end = kernel_mutants.judge(mutant)
        state = "explained" if end.state == "survived" and reasons.row_of(mutant.name) else end.state
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
    from units import sample  # noqa: PLC0415 - as above

    generator_mutants.prove_itself()
    ends = []
    chosen = [one for one in generator_mutants.mutants() if options.only in one.name]
    for mutant in sample(chosen, options.number or len(chosen), options.seed):
        end = generator_mutants.verdict(mutant)
        ends.append((mutant.module.removeprefix("refmlc.native."), end.state))
        if end.state == "other text" or options.verbose:
            place = f"{end.state}: {mutant.name} (line {mutant.line})"
            console.print(" ".join(f"{place} {end.why}".split()), markup=False, soft_wrap=True)
    console.print(matrix("wrong generators", GENERATOR, ends))
    return False


def whole_matrix(options, console):
    """A sample of each family; whether one survived that is not explained."""
    from families import FAMILIES  # noqa: PLC0415 - as above
    from matrix import Matrix, Results, copied  # noqa: PLC0415 - as above
    from reasons import OF_ALL_TESTS, Reasons  # noqa: PLC0415 - as above

    reasons, ends = Reasons(Path(options.tree), [OF_ALL_TESTS]), []
    until = time.monotonic() + 60 * options.minutes if options.minutes else float("inf")
    with ExitStack() as copies:
        roots = [copies.enter_context(copied(Path(options.tree))) for _ in range(options.jobs)]
        matrix_of = Matrix(roots, Results(Path(options.results)), until)
        for family in options.family or FAMILIES:
            for end in matrix_of.judge(family, options.number or 40, options.seed):
                if end.state == "no C":
                    continue
                state = "explained" if end.state == "survived" and reasons.row_of(end.name) else end.state
                ends.append((family, state))
                if state == "survived" or options.verbose:
                    console.print(f"{state}: {end.name} {end.why}", markup=False, soft_wrap=True)
        matrix_of.close()
    console.print(matrix("wrong variants", MATRIX, ends))
    return any(state == "survived" for _, state in ends)


def main() -> None:
    """Print the matrix and what survived; exit 1 when that is not explained."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind", choices=("headers", "codegen", "matrix"))
    parser.add_argument("--number", type=int, default=0, help="a sample of so many; 0: all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="those whose name holds this text")
    parser.add_argument("--slowly", action="store_true")
    parser.add_argument("--tests", action="store_true")
    parser.add_argument("--verbose", action="store_true", help="say what becomes of each")
    parser.add_argument("--family", action="append", help="matrix: this family only, or these")
    parser.add_argument("--jobs", type=int, default=2, help="matrix: so many processes")
    parser.add_argument("--minutes", type=float, default=0, help="matrix: begin no mutant after so long")
    parser.add_argument("--results", default=str(KEPT), help="matrix: the file in which results are kept")
    parser.add_argument("--tree", default=str(HERE.parents[1]), help="matrix: the tree that is judged")
    options = parser.parse_args()
    judge = {"headers": headers, "codegen": generator, "matrix": whole_matrix}[options.kind]
    raise SystemExit(judge(options, Console(width=150)))


if __name__ == "__main__":
    main()
