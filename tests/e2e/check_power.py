"""The power of `check`: how many planted faults it finds, and how many correct programs it accuses.

    python tests/e2e/check_power.py                    # the faults of both files, under five seeds
    python tests/e2e/check_power.py --only NAME        # those whose name contains NAME
    python tests/e2e/check_power.py --innocents        # correct programs, and what accuses them (`power_innocents.py`)
    python tests/e2e/check_power.py --innocents tvm kv --printed FOLDER    # those that real TVM has printed there
    python tests/e2e/check_power.py --tvm PYTHON       # programs of which real TVM 0.27 gives a wrong result

`power/faults.toml` and `power/holdout.toml` hold a fault in each `[[fault]]`, one for each class of wrong compiler:

* `name`: the class. `seen`: where a compiler had a fault of this class, an issue or a name.
* `module`: what the program means, in TVMScript, with a function `main`.
* `edits`: the text that a wrong compiler changes, each `[before, after]`; `before` stands once in `module`. Or
  `faulty`: the whole wrong program.
* `shows`: a call that shows the fault, where not every call does: whoever misses the fault misses something. Values
  by the names of parameters, repeated until the argument is full; sizes by the names of dimensions; `pitch`: how
  many elements the rows of an input are apart in memory. What is left out is 0, or 1 for a size.

A wrong compiler is an implementation that executes the wrong program in the interpreter, whichever is asked for. Three
ways look for it, each with its own defaults:

| way        | is                                                                                                   |
|------------|------------------------------------------------------------------------------------------------------|
| check      | `refmlc check` with the wrong compiler as its implementation                                         |
| equivalent | `assert_equivalent` of the two programs                                                              |
| stages     | the two programs as stages of a compiler: the comparison in `check_passes`, `check_schedule`, `passes` |

`power/tvm.toml` has programs of which TVM 0.27 gives a wrong result: `[[wrong]]` with a `row` of `conformance/known`,
a `module` and a call that `shows` it, which is tried too.

The hold-out was written after the first file, and before its author had seen how arguments are chosen. Nobody looks at
a fault of it to choose arguments; whoever does moves the fault to the first file and writes another.
"""

# ruff: noqa: T201 - a command

import argparse
import sys
import time
import tomllib
from collections import Counter
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parent))

import numpy as np
import power_innocents
from biting import prove
from planted import Exchanged, Planted, unchanged
from power_innocents import Innocent

from refmlc import VirtualMachine, build
from refmlc.diag import RefmlcError
from refmlc.lang.ir import tir
from refmlc.lang.script import show
from refmlc.lang.wellformed.reader_checks import read
from refmlc.oracle.check.run import check
from refmlc.oracle.implementations.implementation import Limits
from refmlc.oracle.implementations.lookup import implementation as lookup
from refmlc.oracle.passes.check import check as check_stages
from refmlc.oracle.passes.stages import PassTrace, Stage
from refmlc.oracle.refine.assertions import Inequivalent, assert_equivalent
from refmlc.vm.parameters import parameters_of

FOLDER = Path(__file__).parent / "power"
FILES = ("faults", "holdout")
HEAD = "from tvm.script import ir as I\nfrom tvm.script import relax as R\nfrom tvm.script import tirx as T\n\n"
SEEDS = 5
WRONG, RIGHT = "wrong compiler", "right compiler"
OWN, PRINTED = ("library", "kernels", "schedules", "models", "faults"), ("tvm", "kv")
SLOW = 5.0  # seconds
PAGE = "docs/reference/planted-faults.md"
CERTAIN = "one element too few is reduced"


@dataclass(frozen=True)
class Fault:
    """A class of fault, with what a program means and what a wrong compiler makes of it."""

    name: str
    seen: str
    module: str
    faulty: str
    file: str = ""
    shows: dict | None = None

    @property
    def implementation(self):
        return Exchanged(WRONG, read(self.module, self.name), read(self.faulty, self.name))


@dataclass(frozen=True)
class Outcome:
    """What a way says of a fault. `codes`: of findings against the wrong compiler; `accused`: of other findings."""

    codes: tuple = ()
    accused: tuple = ()
    seconds: float = 0.0
    problem: str = ""


def faults(file):
    """The faults of a file. Fails: ValueError where an edit does not fit."""
    path = FOLDER / f"{file}.toml"
    rows = tomllib.loads(path.read_text(encoding="utf-8"))["fault"] if path.exists() else []
    return [
        Fault(row["name"], row["seen"], HEAD + row["module"], HEAD + _faulty(row), file, row.get("shows"))
        for row in rows
    ]


def _faulty(row):
    text = row.get("faulty") or row["module"]
    for before, after in row.get("edits", ()):
        if text.count(before) != 1:
            raise ValueError(f"{row['name']}: `{before}` stands {text.count(before)} times in the module")
        text = text.replace(before, after)
    return text


def witness(fault):
    """The arguments that show a fault."""
    return [
        _argument(parameter, fault.shows)
        for parameter in parameters_of(read(fault.module, fault.name).functions["main"])
    ]


def _argument(parameter, shows):
    """The values of a parameter, repeated until it is full. Rows of inputs are `pitch` elements apart."""
    values = np.array(shows.get(parameter.name, [0]))
    kind = str(parameter.ty.dtype)
    if not hasattr(parameter.ty, "shape"):
        return values.astype(kind).item()
    shape = [
        extent.value if isinstance(extent, tir.IntImm) else shows.get(extent.name, 1) for extent in parameter.ty.shape
    ]
    whole = np.resize(values.astype(kind), shape)
    if parameter.written or "pitch" not in shows:
        return whole
    memory = np.zeros((shape[0], shows["pitch"]), kind)
    memory[:, : shape[1]] = whole
    return memory[:, : shape[1]]


def shown(fault):
    """Whether the witness of a fault shows it. The one of a `pitch` is executed here: `assert_equivalent` copies it."""
    if "pitch" in fault.shows:
        results = [_executed(text, fault) for text in (fault.module, fault.faulty)]
        return any((before != after).any() for before, after in zip(*results, strict=True))
    try:
        assert_equivalent(fault.module, fault.faulty, inputs=[witness(fault)])
    except Inequivalent:
        return True
    return False


def _executed(text, fault):
    """The arguments as the program leaves them."""
    arguments = witness(fault)
    VirtualMachine(build(read(text, fault.name)))["main"](*arguments)
    return arguments


def checked(fault, seed, implementation=None):
    """What `check` says, at its defaults."""
    report = check(read(fault.module, fault.name), implementations=[implementation or fault.implementation], seed=seed)
    ours = [cause.finding for cause in report.causes if cause.finding.implementation == WRONG]
    others = [cause.finding.code.id for cause in report.causes if cause.finding.implementation != WRONG]
    problem = next((row.problem.message for row in report.rows if row.problem is not None), "")
    return Outcome(tuple(finding.code.id for finding in ours), tuple(others), problem=problem)


def equivalent(fault, seed):
    """What `assert_equivalent` says, at its defaults."""
    try:
        assert_equivalent(fault.module, fault.faulty, seed=seed)
    except Inequivalent as finding:
        return Outcome((finding.diagnostic.code.id,))
    except RefmlcError as failure:
        return Outcome(problem=f"{failure.diagnostic.code.id} {failure.diagnostic.message}")
    return Outcome()


def stages(fault, seed):
    """What the comparison of stages says, at its defaults."""
    texts = (show(read(text, fault.name), show_meta=True) for text in (fault.module, fault.faulty))
    trace = PassTrace(tuple(Stage(name, text) for name, text in zip(("the module", "a pass"), texts, strict=True)))
    result = check_stages(trace, seed=seed)
    if result.broken is not None:
        return Outcome((result.broken.diagnostic.code.id,))
    return Outcome(problem=next((row.why for row in result.rows if not row.calls), ""))


WAYS = {"check": checked, "equivalent": equivalent, "stages": stages}


def timed(way, fault, seed):
    """The outcome of a way, with its seconds."""
    begin = time.perf_counter()
    outcome = WAYS[way](fault, seed)
    return Outcome(outcome.codes, outcome.accused, time.perf_counter() - begin, outcome.problem)


@dataclass(frozen=True)
class Row:
    """A fault with its outcomes: for each way, one for each seed."""

    fault: Fault
    outcomes: dict

    def found(self, way):
        """Under how many seeds a way finds the fault."""
        return sum(bool(outcome.codes) for outcome in self.outcomes[way])

    def seconds(self, way):
        """The mean time of a way."""
        return sum(outcome.seconds for outcome in self.outcomes[way]) / len(self.outcomes[way])


def measured(fault, seeds, ways):
    return Row(fault, {way: [timed(way, fault, seed) for seed in range(seeds)] for way in ways})


def prove_itself():
    """A wrong compiler that is right is accused of nothing; one that is certainly wrong is found, in every way."""
    fault = next(fault for fault in faults("faults") if fault.name == CERTAIN)
    innocent = Fault(fault.name, fault.seen, fault.module, fault.module)
    found = {way: bool(timed(way, fault, 0).codes) for way in WAYS}
    accused = {way: bool(timed(way, innocent, 0).codes) for way in WAYS}
    prove("the measure of check", notices=all(found.values()), passes=not any(accused.values()), why=str(found))


@dataclass(frozen=True)
class Trial:
    """What `check` says of a correct program. `accusations`: codes with messages; `problem`: why nothing is known."""

    innocent: Innocent
    accusations: tuple
    seconds: float
    problem: str = ""


def tried(innocent, seed):
    """`check` at its defaults, with an implementation that is right."""
    begin = time.perf_counter()
    accusations, problem = (), ""
    try:
        report = check(innocent.module, implementations=[Planted(RIGHT, unchanged)], seed=seed)
        accusations = tuple(
            f"{cause.finding.code.id} {cause.diagnostic.message}" for cause in report.causes if not cause.lint
        )
        if not report.compared:
            problem = next((row.problem.message for row in report.rows if row.problem is not None), report.summary)
    except RefmlcError as failure:
        problem = f"{failure.diagnostic.code.id} {failure.diagnostic.message}"
    return Trial(innocent, accusations, time.perf_counter() - begin, problem)


def innocents(sources, printed_folder=""):
    """The correct programs of these sources."""
    for source in sources:
        if source in PRINTED:
            yield from power_innocents.printed(Path(printed_folder) / source, source)
        elif source == "faults":
            for fault in (fault for file in FILES for fault in faults(file)):
                yield Innocent(source, fault.name, read(fault.module, fault.name))
        else:
            yield from getattr(power_innocents, source)()


def trials(sources, printed_folder, seeds, only="", each=1):
    """The trials of these sources, or of one in so `each`, and a line of progress on standard error."""
    for innocent in [innocent for source in sources for innocent in list(innocents([source], printed_folder))[::each]]:
        if only in innocent.name:
            for seed in range(seeds):
                trial = tried(innocent, seed)
                print("!" if trial.accusations else "-" if trial.problem else ".", end="", flush=True, file=sys.stderr)
                yield trial
    print(file=sys.stderr)


def verdicts(tries):
    """The accusations in lines, then a line for each source."""
    for trial in tries:
        for accusation in trial.accusations:
            yield f"ACCUSED {trial.innocent.source}: {trial.innocent.name}: {accusation}"
    for trial in tries:
        if trial.problem:
            yield f"unknown {trial.innocent.source}: {trial.innocent.name}: {trial.problem}"
    for trial in tries:
        if trial.seconds > SLOW:
            yield f"slow    {trial.innocent.source}: {trial.innocent.name}: {trial.seconds:.1f} s"
    for source in [*dict.fromkeys(trial.innocent.source for trial in tries), "all"]:
        of = [trial for trial in tries if source in (trial.innocent.source, "all")]
        accused, unknown = sum(bool(trial.accusations) for trial in of), sum(bool(trial.problem) for trial in of)
        codes = Counter(accusation.split()[0] for trial in of for accusation in trial.accusations)
        seconds = sum(trial.seconds for trial in of)
        yield (
            f"{source:10} {len(of):5} programs, {len(of) - unknown:5} executed and compared, {accused:4} accused, "
            f"{seconds / len(of):.2f} s each  {', '.join(f'{code} x {count}' for code, count in sorted(codes.items()))}"
        )


def wrong_results():
    """The programs of which TVM gives a wrong result, named by the row and a number."""
    path = FOLDER / "tvm.toml"
    rows = tomllib.loads(path.read_text(encoding="utf-8"))["wrong"]
    names = [f"{row['row']}" for row in rows]
    return [
        Fault(f"{name} {names[:at].count(name) + 1}" if name in names[:at] else name, name, HEAD + row["module"], "",
              "tvm", row["shows"])
        for at, (name, row) in enumerate(zip(names, rows, strict=True))
    ]  # fmt: skip


def tvm_finds(fault, implementation, seed=0, inputs=None, dims=None):
    """The codes of what `check` finds of an implementation, and why it finds nothing."""
    try:
        report = check(
            read(fault.module, fault.name),
            "main",
            implementations=[implementation],
            seed=seed,
            inputs=inputs or {},
            dims=dims or {},
        )
    except RefmlcError as failure:
        return [], f"{failure.diagnostic.code.id} {failure.diagnostic.message}"
    ours = [cause.finding.code.id for cause in report.causes if cause.finding.implementation == implementation.name]
    others = [cause.finding.code.id for cause in report.causes if cause.finding.implementation != implementation.name]
    problem = [f"ACCUSED {code}" for code in others] + ([] if ours or report.compared else report.remarks)
    return ours, "; ".join(dict.fromkeys(problem))


def tvm_table(python, seeds, only="", each=1):
    """A line for each program, or one of so `each`: under how many seeds it is found, whether its own call shows it."""
    found, shown_too, all_seeds, programs = 0, 0, 0, [fault for fault in wrong_results()[::each] if only in fault.name]
    with closing(lookup(f"tvm:{python}", Limits(seconds=60.0, clock=True))) as implementation:
        for fault in programs:
            begin = time.perf_counter()
            tries = [tvm_finds(fault, implementation, seed) for seed in range(seeds)]
            seconds = (time.perf_counter() - begin) / seeds
            parameters = parameters_of(read(fault.module, fault.name).functions["main"])
            inputs = {each.name: _argument(each, fault.shows) for each in parameters if not each.written}
            dims = {name: size for name, size in fault.shows.items() if name not in {each.name for each in parameters}}
            told, why = tvm_finds(fault, implementation, 0, {} if dims else inputs, dims)
            count = sum(bool(codes) for codes, _ in tries)
            found, shown_too, all_seeds = found + count, shown_too + bool(told), all_seeds + (count == seeds)
            codes = sorted({code for codes, _ in tries for code in codes})
            problems = sorted({problem for _, problem in (*tries, ([], why)) if problem})
            yield (
                f"{fault.name:30}{count:>3} of {seeds}   {'shown' if told else 'NOT SHOWN':9} {seconds:6.2f} s  "
                f"{', '.join((*codes, *problems))}"
            )
    yield (
        f"\n{all_seeds} of {len(programs)} programs are found under every seed, {found} of {len(programs) * seeds} of "
        f"programs and seeds; {shown_too} by the call that shows them"
    )


def table(rows, ways, seeds):
    """The table in lines: a fault in each, then the shares."""
    width = max(len(row.fault.name) for row in rows) + 2
    yield f"{'fault':{width}}" + "".join(f"{way:>12}{'s':>7}" for way in ways) + "  codes"
    for row in rows:
        cells = "".join(f"{f'{row.found(way)} of {seeds}':>12}{row.seconds(way):>7.2f}" for way in ways)
        codes = {code for way in ways for outcome in row.outcomes[way] for code in outcome.codes}
        accused = {code for way in ways for outcome in row.outcomes[way] for code in outcome.accused}
        problems = {outcome.problem for way in ways for outcome in row.outcomes[way]} - {""}
        rest = [*sorted(codes), *(f"ACCUSED {code}" for code in sorted(accused)), *sorted(problems)]
        yield f"{row.fault.name:{width}}{cells}  {', '.join(rest)}"


def summary(rows, ways, seeds):
    """For each file and way: how many faults are found under every seed, and how many of all pairs."""
    for file in dict.fromkeys(row.fault.file for row in rows):
        of = [row for row in rows if row.fault.file == file]
        for way in ways:
            always = sum(row.found(way) == seeds for row in of)
            pairs = sum(row.found(way) for row in of)
            seconds = sum(row.seconds(way) for row in of) / len(of)
            yield (
                f"{file:9}{way:11} {always} of {len(of)} faults under every seed, "
                f"{pairs} of {len(of) * seeds} ({pairs / len(of) / seeds:.1%}) of faults and seeds, "
                f"{seconds:.2f} s a fault"
            )
    accused = sum(bool(outcome.accused) for row in rows for way in ways for outcome in row.outcomes[way])
    yield f"correct modules that were accused on the way: {accused}"


def document(rows, ways, seeds):
    """The page of `--docs`: what each way finds, in Markdown."""
    yield from (
        "# What `check` finds of planted faults",
        "",
        f"`python tests/e2e/check_power.py --docs {PAGE}` writes this page: faults of compilers, each of a class of",
        "its own, planted in place of a correct program. A number is how many of the seeds find the fault, at the",
        f"defaults of the way; there are {seeds}. *Seen* says where a compiler had a fault of the class. Those with †",
        "are the hold-out: written before their author had seen how arguments are chosen.",
        "",
        "The first look at the hold-out, before it served to choose any argument, gave 100 of 115 (87.0%); its misses",
        "gave the purposes `anywhere` and `held`. Three random calls gave 303 of 375 and 60 of 115.",
        "",
        *(f"* {line}" for line in summary(rows, ways, seeds)),
        "",
        f"| fault | seen | {' | '.join(ways)} |",
        f"|---|---|{'---|' * len(ways)}",
    )
    for row in rows:
        mark = " †" if row.fault.file == "holdout" else ""
        counts = " | ".join(str(row.found(way)) for way in ways)
        yield f"| {row.fault.name}{mark} | {row.fault.seen} | {counts} |".replace("`", "")


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--file", action="append", choices=FILES, help="Faults of this file.  [default: both]")
    options.add_argument("--only", default="", help="Only faults whose name contains this.")
    options.add_argument("--seeds", type=int, help="How many seeds, from 0.  [default: 5; 1 for correct programs]")
    options.add_argument("--way", action="append", choices=tuple(WAYS), help="In this way.  [default: all]")
    options.add_argument(
        "--innocents",
        nargs="*",
        choices=(*OWN, *PRINTED),
        metavar="SOURCE",
        help="Correct programs.  [default: our own]",
    )
    options.add_argument("--printed", default="", metavar="FOLDER", help="Where `tvm` and `kv` lie, texts of real TVM.")
    options.add_argument("--docs", type=Path, metavar="FILE", help="Write the page too.")
    options.add_argument("--each", type=int, default=1, metavar="N", help="One in N correct programs of each source.")
    options.add_argument("--tvm", default="", metavar="PYTHON", help="A Python that has apache-tvm 0.27.")
    chosen = options.parse_args()
    if chosen.tvm:
        prove_itself()
        for line in tvm_table(chosen.tvm, chosen.seeds or 1, chosen.only):
            print(line, flush=True)
        return 0
    if chosen.innocents is not None:
        prove_itself()
        tries = list(trials(chosen.innocents or OWN, chosen.printed, chosen.seeds or 1, chosen.only, chosen.each))
        print("\n".join(verdicts(tries)))
        return int(any(trial.accusations for trial in tries))
    ways = chosen.way or list(WAYS)
    seeds = chosen.seeds or SEEDS
    prove_itself()
    rows = []
    for fault in (fault for file in chosen.file or FILES for fault in faults(file) if chosen.only in fault.name):
        rows.append(measured(fault, seeds, ways))
        print(".", end="", flush=True, file=sys.stderr)
    print(file=sys.stderr)
    if chosen.docs:
        chosen.docs.write_text("\n".join(document(rows, ways, seeds)) + "\n", encoding="utf-8")
    print("\n".join((*table(rows, ways, seeds), "", *summary(rows, ways, seeds))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
