"""A generated witness of each kind of undefined behaviour: found by seeds with the aim, and made small.

`python tests/e2e/witnesses.py [--only RM316,…] [--show]` prints for each code the seed of the first program that ends
in it and in nothing else, how many programs with the aim do, the nodes of the program and of what is left of it, and
the seconds that took. `--show`: the programs that are left. Exit status 1: a code without one.
"""

import argparse
import sys
import time
from collections import Counter
from pathlib import Path

from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).parents[1]))

from biting import prove

from refmlc.diag import RefmlcError
from refmlc.diag.catalogue import CODES
from refmlc.lang.dtypes import INT32
from refmlc.lang.ir.visit import walk
from refmlc.lang.wellformed.reader_checks import read
from refmlc.observe.sanitize import sanitize
from refmlc.oracle.reduce import reduce_case
from refmlc.run.memory.budget import Budget
from refmlc.strategies import AIMS, MODULE_AIMS, THREAD_AIMS, rolled, rolled_module
from refmlc.strategies.arguments import Array
from refmlc.strategies.case import Case

SEEDS = 40
STEPS = 200_000


def codes_of(case):
    """What the first call of a program comes to: codes of findings, in order; None where it cannot be called."""
    try:
        report = sanitize(case.module, case.func, case.arguments(), budget=Budget(STEPS))
    except RefmlcError:
        return None
    return sorted({one.diagnostic.code.id for one in report.findings})


OUTSIDE = """
@T.prim_func
def main(A: T.Buffer((2,), "int32")):
    A[INDEX] = 1
"""


def prove_itself():
    """A store behind the end is told, a store to the last element is not."""
    calls = ((Array(INT32, (2,)),),)
    wrong, right = [codes_of(Case(read(OUTSIDE.replace("INDEX", index)), "main", calls)) for index in ("2", "1")]
    why = f"a store to element 2 of 2: {wrong}; to element 1: {right}"
    prove("the search for witnesses", notices=wrong == ["RM304"], passes=right == [], why=why)


def drawn(aim, seed):
    """The program of a seed with the aim."""
    return rolled_module(seed, aim) if aim in MODULE_AIMS else rolled(seed, aim, small=True)


def witness(aim):
    """The row of a code, and the program that is left; None where no seed has one."""
    cases = [drawn(aim, seed) for seed in range(SEEDS)]
    hits = [number for number, case in enumerate(cases) if codes_of(case) == [aim]]
    if not hits:
        return None
    case = cases[hits[0]]
    begin = time.perf_counter()
    small = reduce_case(case, lambda one: codes_of(one) == [aim]).case
    seconds = time.perf_counter() - begin
    sizes = [sum(1 for _ in walk(one.module)) for one in (case, small)]
    return (aim, str(hits[0]), f"{len(hits)} of {SEEDS}", *map(str, sizes), f"{seconds:.1f}"), small


def main():
    """Print the table; exit status 1 where a code has no witness."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="")
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    prove_itself()
    every = sorted(code for code in CODES if code.startswith("RM3"))
    wanted = options.only.split(",") if options.only else every
    console, table = Console(width=120), Table("code", "seed", "hits", "nodes", "left", "seconds", box=None)
    missing = Counter(code for code in wanted if code not in {*AIMS, *MODULE_AIMS, *THREAD_AIMS})
    texts = []
    for aim in wanted:
        found = None if aim in missing else witness(aim)
        if found is None:
            missing[aim] += 1
            table.add_row(aim, "none", "", "", "", "")
            continue
        table.add_row(*found[0])
        texts.append(repr(found[1]))
    console.print(table)
    for text in texts if options.show else ():
        console.print(text, markup=False, highlight=False)
    console.print(f"{len(wanted) - len(missing)} of {len(wanted)} kinds have a witness")
    return int(bool(missing))


if __name__ == "__main__":
    sys.exit(main())
