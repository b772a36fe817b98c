"""Each step of schedules, applied to generated functions, by us and by real TVM.

`python tests/e2e/schedule_soak.py [--steps split,fuse] [--count 1000] [--tvm PYTHON] [--jobs 2] [--journal FILE]`
draws applications, two hundred at a time, until so many of a step are legal, or twelve times as many were drawn, and
prints a row for each step. What is done stands in the journal: the same command goes on from there, `--count 0` prints
what there is.

| column              | counts                                                                                      |
|---------------------|---------------------------------------------------------------------------------------------|
| drawn               | applications, to loops and blocks that are there                                            |
| legal, refused      | what our schedule says                                                                      |
| interp              | legal ones whose function was run before and after on a call that is defined: the same bits |
| C                   | of these: executed in C to their end (views are not: what `tensorize` makes)                |
| shown               | refused ones that would change the meaning: seen by taking the step unchecked, or TVM's     |
| both                | accepted by TVM too                                                                         |
| equal, bits         | of these: structurally equal, but for regions; not equal, and the same bits                 |
| only us, only TVM   | accepted by one                                                                             |
| explained           | TVM's function has other bits or is undefined: a rule of `EXPLAINED` says why               |
| crashed             | TVM's process ended                                                                         |

Then for each step: what TVM says where only we accept, what we say where only TVM does. Exit status 1: a legal step
changed a bit, or TVM and we differ without an explanation.
"""

import argparse
import json
import re
import subprocess
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).parents[1] / "property"))

from step_applications import FORCIBLE, OURS_ONLY, STEPS, applied, draw
from tier_outcomes import left_in
from tier_runs import TINY, Ran

from refmlc.diag import RefmlcError, Unsupported
from refmlc.diag.catalogue import OUT_OF_SCOPE
from refmlc.lang.ir import IRModule, tir
from refmlc.lang.ir.equal import structural_equal
from refmlc.lang.ir.visit import rewrite, walk
from refmlc.lang.script import show
from refmlc.lang.wellformed.module import check_module
from refmlc.lang.wellformed.reader_checks import read
from refmlc.observe.sanitize import sanitize
from refmlc.run.memory.budget import Budget
from refmlc.run.memory.tensor import Tensor
from refmlc.strategies import rolled_inputs
from refmlc.strategies.arguments import arguments

SIDE = Path(__file__).parent / "tvm_side" / "apply_steps.py"
MOST = 12  # times the count: drawn applications of steps that are seldom legal
UNIT = 200  # applications of one step that are done together: one line of the journal, one module of C, one TVM
CRASHING = {"tensorize": 3}  # steps on which TVM's process ends: so many are tried
STATEMENTS = 1_000_000

DROPPED = "TVM drops a buffer that another block reads: the function is ill-formed (RM203)"
ZERO = "TVM takes 0 for a float times 0, as it substitutes: NaN, infinities and -0 are lost"
UNFINISHED = "TVM runs the consumer in each iteration on elements that are not written yet, at last on all of them"
EXPLAINED = (
    # (step, what we say of it, why TVM's function has other bits or is undefined)
    (
        "rfactor",
        "depends on the order",
        "TVM gathers the terms of a reduction anew: sums of floats are rounded otherwise",
    ),
    ("reorder", "order of the accesses", "TVM changes the order of the terms of a reduction: rounded otherwise"),
    ("reverse_compute_inline", "all its dimension", "TVM stores for iterations too that the consumer does not have"),
    ("reverse_compute_at", "reads nothing that is written", "TVM moves a block behind those that read what it writes"),
    ("reverse_compute_at", "may not run over all its dimension", UNFINISHED),
    ("reverse_compute_at", "may be finished in a later iteration", UNFINISHED),
    ("reverse_compute_at", "is read where other iterations write it", UNFINISHED),
    (
        "compute_at",
        "executed before|all its dimension",
        "TVM moves a block that nothing reads to where its operands are made",
    ),
)


@dataclass
class Row:
    """What was counted for one step."""

    step: str
    counts: Counter = field(default_factory=Counter)
    ours: Counter = field(default_factory=Counter)
    theirs: Counter = field(default_factory=Counter)
    faults: list = field(default_factory=list)
    explained: Counter = field(default_factory=Counter)

    def add(self, done):
        """Add what a unit came to: a line of the journal."""
        self.faults += done["faults"]
        for name in ("counts", "ours", "theirs", "explained"):
            getattr(self, name).update(done[name])


@dataclass
class Case:
    """An application, what we make of it, and what TVM does."""

    app: object
    after: tir.PrimFunc | None
    why: str
    theirs: dict = field(default_factory=dict)

    @property
    def told(self):
        """The case as text."""
        return f"seed {self.app.seed}, {self.app.words[:4]}\n{show(self.app.func)}"


def case_of(app):
    """The application in our schedule; None where there is no such place."""
    try:
        return Case(app, applied(app.func, *app.words), "")
    except Unsupported as failure:
        return Case(app, None, re.sub(r"`[^`]*`", "…", failure.diagnostic.message.partition("refused: ")[2]))
    except RefmlcError as failure:
        return Case(app, None, re.sub(r"`[^`]*`", "…", f"{failure.code.id} {failure.diagnostic.message}"))


def cases_of(step, first):
    """The applications of a unit, those that there are."""
    drawn = (draw(step, seed) for seed in range(first, first + UNIT))
    return [case_of(app) for app in drawn if app is not None]


def outcome(func, call):
    """Verdict and bits under all detectors; where it is not defined, no bits."""
    args = arguments(call)
    report = sanitize(IRModule({"main": func}), "main", args, budget=Budget(STATEMENTS))
    if report.verdict != "defined":
        return report.verdict, ()
    return report.verdict, tuple(left_in(one) for one in args if isinstance(one, Tensor))


def ask_tvm(python, cases):
    """TVM's answers; where its process ends, that is the answer to a case, and another process has the rest."""
    while cases:
        lines = [json.dumps({"text": show(case.app.func), "steps": [case.app.words]}) for case in cases]
        done = subprocess.run(
            [python, str(SIDE), "--lines"], input="\n".join(lines), capture_output=True, text=True, check=False
        )
        answers = [json.loads(line) for line in done.stdout.splitlines()]
        if len(answers) < len(cases):
            answers.append({"crashed": True})
        for case, answer in zip(cases, answers, strict=False):
            case.theirs = answer
        cases = cases[len(answers) :]


def bare(func):
    """The function without what blocks declare that they touch."""

    def change(node):
        return replace(node, reads=None, writes=None) if isinstance(node, tir.SBlock) else node

    return IRModule({"main": rewrite(func, change)})


def read_again(text):
    """TVM's function, or the finding on it: it may be ill-formed."""
    try:
        return read(text, "tvm.py")["main"]
    except RefmlcError as failure:
        return failure.diagnostic


def explanation(case, other):
    """The reason why TVM's step may change the meaning, or end in the finding `other`; None: there is none."""
    step = case.app.words[0]
    if step == "reverse_compute_inline" and getattr(other, "code", None) is OUT_OF_SCOPE:
        return DROPPED
    nothing = [one for one in walk(case.app.func) if isinstance(one, tir.Apply) and one.op == "mul"]
    if step == "blockize" and any(
        isinstance(arg, tir.FloatImm) and not arg.value for one in nothing for arg in one.args
    ):
        return ZERO
    return next((why for name, said, why in EXPLAINED if name == step and re.search(said, case.why)), None)


def examine(row, case):
    """Count one case; the call is the same for all of its functions. Returns what C must come to."""
    row.counts["drawn"] += 1
    row.counts["refused" if case.after is None else "legal"] += 1
    call = rolled_inputs(IRModule({"main": case.app.func}), "main", case.app.seed)
    before = outcome(case.app.func, call)
    defined = before[0] == "defined"
    if case.after is not None:
        module = IRModule({"main": case.after})
        if check_module(module) != () or not structural_equal(read(show(module), "after.py"), module):
            row.faults.append(f"ill-formed or not read back: {case.told}")
        if defined:
            row.counts["interp"] += 1
            if outcome(case.after, call) != before:
                row.faults.append(f"our step changes the meaning: {case.told}\n{show(case.after)}")
    shown = case.after is None and defined and forced_differs(case, call, before)
    compare(row, case, call, before, shown=shown)
    return (case, call, before[1]) if case.after is not None and defined else None


def forced_differs(case, call, before):
    """Whether the step, taken unchecked, is seen to change the meaning."""
    if case.app.words[0] not in FORCIBLE:
        return False
    try:
        forced = applied(case.app.func, *case.app.words, checked=False)
        return check_module(IRModule({"main": forced})) != () or outcome(forced, call) != before
    except RefmlcError:
        return False


def compare(row, case, call, before, *, shown):
    """TVM's answer beside ours."""
    text = case.theirs.get("text")
    row.counts["crashed"] += "crashed" in case.theirs
    if case.theirs and text is None and case.after is not None and "crashed" not in case.theirs:
        row.counts["only us"] += 1
        row.theirs[re.sub(r"\d+", "n", next(iter(case.theirs.values())))[:150]] += 1
    if text is None:
        row.counts["shown"] += shown
        return
    other = read_again(text)
    if case.after is None:
        row.counts["only TVM"] += 1
        row.ours[case.why] += 1
    else:
        row.counts["both"] += 1
        if isinstance(other, tir.PrimFunc) and structural_equal(bare(case.after), bare(other)):
            row.counts["equal"] += 1
            return
    if before[0] != "defined":
        return
    same = isinstance(other, tir.PrimFunc) and outcome(other, call) == before
    row.counts["shown"] += shown or (case.after is None and not same)
    if same:
        row.counts["bits"] += case.after is not None
        return
    why = explanation(case, other)
    if why is None:
        row.faults.append(f"TVM's step changes the meaning; we: {case.why or 'legal'}; {case.told}\n{text}")
    else:
        row.counts["explained"] += 1
        row.explained[why] += 1


def run_in_c(row, ran):
    """The functions after legal steps, compiled: the bits of the interpreter before."""
    tier = Ran(IRModule({f"f{number}": case.after for number, (case, _, _) in enumerate(ran)}), TINY)
    for number, (case, call, expected) in enumerate(ran):
        args = arguments(call)
        tier.call(f"f{number}", args)
        row.counts["compiled"] += 1
        if tuple(left_in(one) for one in args if isinstance(one, Tensor)) != expected:
            row.faults.append(f"C has other bits: {case.told}\n{show(case.after)}")
    row.counts["C"] += tier.counts["native"]


def examined(step, first, python):
    """The line of the journal for a unit."""
    row, cases = Row(step), cases_of(step, first)
    if python and step not in OURS_ONLY:
        ask_tvm(python, cases[: CRASHING[step] if first == 0 else 0] if step in CRASHING else cases)
    ran = [examine(row, case) for case in cases]
    run_in_c(row, [one for one in ran if one is not None])
    return {"first": first, "tvm": bool(python), **vars(row)}


def campaign(rows, options, journal):
    """Units of all steps in turn, until each has its count; what the journal has is not done again."""
    done = {step: {} for step in rows}
    for line in lines_of(journal):
        if line["step"] in rows and line["tvm"] == bool(options.tvm):
            done[line["step"]][line["first"]] = line
    with ProcessPoolExecutor(options.jobs) as pool, journal.open("a", encoding="utf-8") as file:
        while True:
            most = options.count * MOST
            units = [
                (step, len(lines) * UNIT)
                for step, lines in done.items()
                if legal_of(lines) < options.count and len(lines) * UNIT < most
            ]
            if not units:
                break
            waiting = [pool.submit(examined, step, first, options.tvm) for step, first in units]
            for one in as_completed(waiting):
                line = one.result()
                done[line["step"]][line["first"]] = line
                file.write(json.dumps(line) + "\n")
                file.flush()
    for step, row in rows.items():
        for line in done[step].values():
            row.add(line)


def lines_of(journal):
    """What the journal holds; a line that a kill cut off is taken away."""
    whole = journal.read_text("utf-8").rpartition("\n")[0] if journal.exists() else ""
    journal.write_text(whole and whole + "\n", "utf-8")
    return [json.loads(line) for line in whole.splitlines()]


def legal_of(lines):
    """How many applications are legal in lines of the journal."""
    return sum(line["counts"].get("legal", 0) for line in lines.values())


COLUMNS = (
    "drawn", "legal", "refused", "interp", "C", "shown", "both", "equal", "bits", "only us", "only TVM", "explained",
    "crashed",
)  # fmt: skip


def printed(rows, console):
    """The table, then what was said."""
    table = Table("step", *COLUMNS, box=None)
    for row in rows:
        table.add_row(row.step, *(str(row.counts[name]) for name in COLUMNS))
    total = sum((row.counts for row in rows), Counter())
    table.add_row("all", *(str(total[name]) for name in COLUMNS))
    console.print(table)
    console.print(
        f"{total['C']} of {total['compiled']} calls were executed in C to their end; the interpreter has the rest"
    )
    for row in rows:
        said = {
            "only we accept; TVM says": row.theirs,
            "only TVM accepts; we say": row.ours,
            "explained": row.explained,
        }
        for title, found in said.items():
            for words, number in found.most_common():
                console.print(f"{row.step}: {title} ({number}): {words}", highlight=False, markup=False)
    for row in rows:
        for fault in row.faults[:3]:
            console.print(f"FAULT {row.step} ({len(row.faults)} in all): {fault}", highlight=False, markup=False)


def main():
    """Print the table; exit status 1 where something is not as it should be."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", default=",".join(STEPS))
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--tvm", default="")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--journal", type=Path)
    options = parser.parse_args()
    rows = {step: Row(step) for step in options.steps.split(",")}
    with TemporaryDirectory() as folder:
        campaign(rows, options, options.journal or Path(folder) / "journal.jsonl")
    printed(list(rows.values()), Console(width=170))
    sys.exit(any(row.faults for row in rows.values()))


if __name__ == "__main__":
    main()
