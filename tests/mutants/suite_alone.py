"""How many wrong variants of refmlc the suite finds by itself: `python tests/mutants/suite_alone.py [--number 60]`.

| family    | what is wrong                                                    | asked is         |
|-----------|------------------------------------------------------------------|------------------|
| `interp`  | the interpreter                                                  | `interp`         |
| `ops`     | value functions of scalar operators, rounding, conversions       | `interp`         |
| `library` | the definitions of graph operators                               | `interp`         |

Left out is what no case can see by its nature (`suite_unseen`): words of messages, and what rows say to tests. The C
headers and the generator are judged by `suite_native.py`. A random sample of each (`--seed`), or all (`--number 0`). A
mutant is asked the cases that execute its line, those first that killed its neighbours, until one does not hold; then
those that call its function often, and may (`suite_reach`).
Killed: one does not, or the process dies, or takes many times what the case takes. What no case executes survives. The
share has its interval of 95 % (Wilson).

What is learnt is kept in a file (`--results`): of a killed mutant as long as the case that did it is the same, of a
survivor as long as the suite is. A run that is broken off goes on there.

Survivors must stand in `survivors.toml` or in `suite_survivors/` with the reason, else exit 1. `--least 95` is the
share that is asked for instead. Who writes cases looks round with `--most 300 --first op.topk`: no more than so many
cases are asked of a mutant, those first whose ids hold the text; what survives so is not kept.
"""

import argparse
import ast
import sys
import time
from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import cache
from math import sqrt
from multiprocessing.connection import wait
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import ml_dtypes  # noqa: E402, F401 - loaded once: no process need do it again
import numpy as np  # noqa: E402, F401 - the same
from biting import prove, raising, raising_at_loading  # noqa: E402 - after the path
from families import found  # noqa: E402 - after the path
from judged_tree import copied, digest  # noqa: E402 - the same
from python_mutations import is_python, mutants_of  # noqa: E402 - the same
from reasons import Reasons  # noqa: E402 - the same
from suite_cases import asked_ids, digests, load, tables  # noqa: E402 - the same
from suite_forks import Setting, Worker, in_fork  # noqa: E402 - the same
from suite_reach import Notes  # noqa: E402 - the same
from suite_results import Results, row_of  # noqa: E402 - the same
from suite_swaps import run_at_loading  # noqa: E402 - the same
from suite_unseen import unseen  # noqa: E402 - the same
from units import sample  # noqa: E402 - the same

FAMILIES = {
    "interp": ("refmlc/run/interp/*.py", "refmlc/run/interp/*/*.py"),
    "ops": ("refmlc/lang/ops/scalar/*.py", "refmlc/lang/dtypes/rounding.py", "refmlc/lang/dtypes/bits.py"),
    "library": ("refmlc/lang/library/*.py",),
}
LEFT_OUT = ("__init__.py", "ops/scalar/libm.py")  # `math="libm"`, TVM's own formulas: in no case's hands
WHOLE = 1000  # lines: more than a module has
MOST = 800  # cases that are asked of a row of a table: those first whose names stand in it
PROVED = "refmlc.run.interp.tensorir.expressions"  # what is certainly wrong is shown by it,
FEW = 3  # and by so many cases
FUNCTIONS = (ast.FunctionDef, ast.Lambda)
KEPT = Path.home() / ".cache" / "refmlc-mutants" / "suite.jsonl"


@dataclass(frozen=True)
class Judged:
    """What became of a mutant. `state`: killed, survived, explained."""

    family: str
    name: str
    state: str


def mutants(tree, family):
    """All of a family; those left out that no case can see (`unseen`)."""
    made = []
    for path in found(tree, FAMILIES[family]):
        if not path.endswith(LEFT_OUT):
            right = (tree / path).read_text("utf-8")
            hidden = unseen(right)
            of_file = mutants_of(".".join(Path(path).with_suffix("").parts), right, all_compile=False)
            made += [one for one in of_file if not any(one.within(*span) for span in hidden)]
    return made


class Suite:
    """The suite in a copy of the tree, and which of its cases reach what."""

    def __init__(self, tree, results, options):
        self.tree, self.results, self.options = tree, results, options
        self.parsed = tables(tree / "conformance")
        self.digests = digests(self.parsed)
        self.whole = digest(*(f"{name} {each}" for name, each in sorted(self.digests.items())))
        results.keep_suite(self.whole, self.digests.values())
        self.reach = self._noted()
        self.killers = defaultdict(Counter)
        for place, case in results.killers():
            self.killers[place][case] += 1

    def _noted(self):
        """Which cases reach which lines; the suite must hold without a mutant."""
        patterns = [pattern for each in FAMILIES.values() for pattern in each]
        folder, conformance = self.results.path.parent, self.tree / "conformance"
        ids = asked_ids(self.parsed)
        for part in Notes(self.tree, patterns, folder).parts(self.digests, ids):

            def work(_at, part=part):
                cases = load(self.parsed, conformance)
                return Notes(self.tree, patterns, folder).note([cases[one] for one in part], self.digests)

            told = in_fork(work)
            if told.state == "killed":
                raise SystemExit(f"the suite does not hold without a mutant: {told.case} {told.why}")
        return Notes(self.tree, patterns, folder).reach(self.digests, ids)

    def unknown_first(self, chosen):
        """The mutants in the order in which they are judged: those that survived another suite come last."""
        return sorted(chosen, key=lambda one: bool(self.results.cases_before(self.key(one))))

    def key(self, mutant):
        """By what its verdict is kept."""
        return digest(mutant.name, mutant.source, *(["anew"] if self.needs_loading(mutant) else []))

    def needs_loading(self, mutant):
        """Whether it stands in what a function runs when its module is loaded."""
        return mutant.line in at_loading(self.tree / (mutant.module.replace(".", "/") + ".py"))

    def asked(self, mutant):
        """The ids that are asked of a mutant, in the order in which they are."""
        path = mutant.module.replace(".", "/") + ".py"
        sure = self.reach.ids_of(path, mutant.first, mutant.last)
        first = begin_of(self.tree / path, mutant.line)
        perhaps = self.reach.ids_of(path, first, first) if first else [] if sure else self.reach.ids_of(path, 1, WHOLE)
        ids = list(dict.fromkeys((*sure, *perhaps)))
        known = self.killers[mutant.place]
        words, lines = named(self.tree / path, mutant.line) if mutant.is_table else (), set(sure)
        times = self.reach.times

        def rank(one):
            about = any(part in words for part in one.replace("-", "_").split("."))
            wished = any(text in one for text in self.options.first)
            return not wished, -known[one], one not in lines, not about, times[one] > 0.2

        most = self.options.most or (MOST if mutant.is_table else None)
        return sorted(ids, key=rank)[:most]


@cache
def functions(path):
    """First line, last line, and the line in which it is called, of each function of a file, outer ones first."""
    nodes = [node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, FUNCTIONS)]
    lines = [(node, [each.lineno for each in getattr(node, "decorator_list", ())]) for node in nodes]
    return [(node.lineno, node.end_lineno, min([node.lineno, *more])) for node, more in lines]


@cache
def at_loading(path):
    """Lines of a file that run when it is loaded, though they stand in functions."""
    return run_at_loading(path.read_text("utf-8"))


def begin_of(path, line):
    """The first line of the innermost function that a line stands in; 0: it stands in none."""
    return max((begin for first, last, begin in functions(path) if first <= line <= last), default=0)


def named(path, line):
    """The words of the row of a table: letters of its line and those before, up to where it begins."""
    lines = path.read_text("utf-8").splitlines()
    first = last = line - 1
    while first and not (lines[first][:1].strip() and lines[first][0] not in ")]}"):
        first -= 1
    while last + 1 < len(lines) and lines[last + 1][:1] in ("", " ", ")", "]"):
        last += 1
    text = " ".join(lines[first : last + 1])
    return {word.lower() for word in "".join(c if c.isalnum() or c == "_" else " " for c in text).split()}


def judge(suite, chosen, workers):
    """Ends of mutants as they come; of those that there is time for."""
    options, waiting, busy, rights = suite.options, list(reversed(chosen)), {}, {}
    free = list(workers)
    until = time.monotonic() + 60 * (options.minutes or 1e6)
    while waiting or busy:
        while waiting and free:
            mutant = waiting.pop()
            key = suite.key(mutant)
            row = suite.results.get(key, suite.digests, suite.whole)
            old = set() if row is not None else suite.results.cases_before(key)
            ids = [one for one in suite.asked(mutant) if suite.digests[one] not in old] if row is None else []
            if row is None and not ids:
                row = suite.results.put(key, suite, mutant, "survived", "", "" if old else "no case reaches it")
            if row is not None:
                yield mutant, row
            elif time.monotonic() < until:
                path = suite.tree / (mutant.module.replace(".", "/") + ".py")
                right = rights.setdefault(path, path.read_text("utf-8"))
                worker = free.pop()
                worker.ask(mutant.module, right, mutant.source, ids, options.anew or suite.needs_loading(mutant))
                busy[worker.link] = (worker, mutant, key)
        for link in wait(list(busy)) if busy else ():
            worker, mutant, key = busy.pop(link)
            told = link.recv()
            free.append(worker)
            suite.killers[mutant.place][told.case] += 1
            keep = suite.results.put if told.state == "killed" or not options.most else row_of
            yield mutant, keep(key, suite, mutant, told.state, told.case, told.why)


def main():
    """Print what became of a sample of each family."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--family", action="append", choices=FAMILIES)
    parser.add_argument("--number", type=int, default=100, help="of each family; 0: all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="those whose name holds this text")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=0, help="begin no mutant after so long")
    parser.add_argument("--least", type=float, default=0, help="the share in %% that is enough")
    parser.add_argument("--most", type=int, default=0, help="ask no more cases of a mutant")
    parser.add_argument("--first", action="append", default=[], help="ask cases first whose ids hold this text")
    parser.add_argument("--anew", action="store_true", help="survivors are judged once more, loaded from scratch")
    parser.add_argument("--verbose", action="store_true", help="say what kills each")
    parser.add_argument("--results", type=Path, default=KEPT)
    parser.add_argument("--tree", type=Path, default=HERE.parents[1], help="what is judged")
    options = parser.parse_args()
    with copied(options.tree) as tree:
        ends = judge_all(options, tree)
    raise SystemExit(report(ends, options))


def prove_itself(suite, worker):
    """A module that raises is killed, one that is as it was survives: with its code swapped in, and loaded."""
    path = f"{PROVED.replace('.', '/')}.py"
    right, ids = (suite.tree / path).read_text("utf-8"), suite.reach.ids_of(path, 1, WHOLE)[:FEW]
    ends = []
    for wrong, anew in ((raising(right), False), (raising_at_loading(right), True), (right, True)):
        worker.ask(PROVED, right, wrong, ids, anew)
        ends.append(worker.link.recv())
    why = f"{PROVED} whose functions raise: {ends[0]}; that raises when it is loaded: {ends[1]}; unchanged: {ends[2]}"
    killed, survived = [end.state == "killed" for end in ends[:2]], ends[2].state == "survived"
    prove("the judge by the suite", notices=all(killed), passes=survived, why=why)


def judge_all(options, tree):
    """What became of each."""
    suite = Suite(tree, Results(options.results), options)
    workers = [Worker(Setting(tree, suite.parsed, suite.reach.times)) for _ in range(options.jobs)]
    prove_itself(suite, workers[0])
    reasons, ends = Reasons(tree), []
    for family in options.family or FAMILIES:
        made = [one for one in mutants(tree, family) if options.only in one.name]
        chosen = sample(made, options.number or len(made), options.seed)
        chosen = suite.unknown_first([one for one in chosen if is_python(one.source)])
        for mutant, row in judge(suite, chosen, workers):
            state = "explained" if row["state"] == "survived" and reasons.row_of(mutant.name) else row["state"]
            ends.append(Judged(family, mutant.name, state))
            if state == "survived" or options.verbose:
                sys.stdout.write(f"{state}: {mutant.name} (line {mutant.line}) {row['case']} {row['why']}\n")
                sys.stdout.flush()
    for worker in workers:
        worker.close()
    return ends


def interval(killed, faults):
    """The interval of 95 % of a share, in per cent (Wilson)."""
    z = 1.959964
    share = killed / faults
    middle = (share + z * z / (2 * faults)) / (1 + z * z / faults)
    half = z * sqrt(share * (1 - share) / faults + z * z / (4 * faults * faults)) / (1 + z * z / faults)
    return 100 * (middle - half), 100 * (middle + half)


def report(ends, options):
    """The table; whether it is not enough."""
    for family in (*FAMILIES, ""):
        counts = Counter(end.state for end in ends if family in ("", end.family))
        faults = counts.total() - counts["explained"]
        if faults:
            low, high = interval(counts["killed"], faults)
            share = f"{100 * counts['killed'] / faults:.1f} % (95 %: {low:.1f} to {high:.1f})"
            told = f"{counts['killed']} of {faults} killed: {share}; {counts['explained']} more are explained"
            sys.stdout.write(f"{family or 'all':8} {told}\n")
    counts = Counter(end.state for end in ends)
    faults = counts.total() - counts["explained"]
    if not faults:
        return True
    return 100 * counts["killed"] / faults < options.least if options.least else counts["survived"] > 0


if __name__ == "__main__":
    main()
