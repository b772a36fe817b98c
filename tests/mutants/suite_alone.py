"""How many wrong variants of refmlc the suite finds by itself: `python tests/mutants/suite_alone.py [--number 60]`.

Which cases call which function is noted first. Each mutant of the interpreter, of the scalar operators and of the
operators' definitions is then loaded in a process of its own, forked from one that has read the files of the suite and
nothing of refmlc; it is asked cases that call its function, those of different operators first, until one does not
hold. Killed: one does not, or the process dies or does not end. What no case calls survives.

Survivors must stand in `survivors.toml` or `suite_survivors.toml` with the reason, else exit 1. `--least 95` is the
share that is asked for instead.
"""

import argparse
import ast
import importlib.abc
import importlib.util
import json
import os
import select
import shutil
import signal
import sys
import tempfile
import time
import tomllib
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from itertools import chain, zip_longest
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE))

from families import found  # noqa: E402 - after the path
from python_mutations import mutants_of, sample  # noqa: E402 - the same

FAMILIES = {
    "interp": ("refmlc/interp/*.py", "refmlc/interp/*/*.py"),
    "ops": ("refmlc/ops/scalar/*.py", "refmlc/dtypes/rounding.py", "refmlc/dtypes/bits.py"),
    "library": ("refmlc/library/*.py",),
}
SECONDS, MOST = 400, 150  # of a mutant; cases that are noted of a function
assert not any(name.startswith("refmlc") for name in sys.modules)


def mutants(family):
    """All of a family."""
    made = []
    for path in found(ROOT, FAMILIES[family]):
        if not path.endswith("__init__.py"):
            module = ".".join(Path(path).with_suffix("").parts)
            made += mutants_of(module, (ROOT / path).read_text("utf-8"))
    return made


class Wrong(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Loads one module from another text."""

    def __init__(self, name, source):
        self._name, self._source = name, source

    def find_spec(self, name, path, target=None):
        if name != self._name:
            return None
        file = ROOT / (name.replace(".", "/") + ".py")
        return importlib.util.spec_from_file_location(name, file, loader=self)

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        exec(compile(self._source, module.__spec__.origin, "exec"), module.__dict__)  # noqa: S102 - the mutant


def tables(folder):
    """The files of the suite, parsed: by text, so that children need not."""
    paths = [*(folder / "cases").glob("*/*.toml"), *(folder / "frozen").glob("*.toml")]
    texts = [path.read_text("utf-8") for path in paths]
    return {text: tomllib.loads(text) for text in texts}


def spread(cases):
    """One case of each operator, then another one of each, and so on."""
    groups = defaultdict(list)
    for case in cases:
        groups[".".join(case.id.split(".")[:2])].append(case)
    turns = zip_longest(*groups.values())
    return [case for case in chain.from_iterable(turns) if case is not None]


def first_broken(module, source, parsed, folder, ids=None, reached=None):
    """In the child: the first case of `ids` that does not hold, and why. `reached` is told of each case."""
    real = tomllib.loads
    tomllib.loads = lambda text: parsed[text] if text in parsed else real(text)
    if module:
        sys.meta_path.insert(0, Wrong(module, source))
    from refmlc.adapters.implementation import Stopped  # noqa: PLC0415 - the mutant is loaded here
    from refmlc.adapters.inside import answered  # noqa: PLC0415 - the same
    from refmlc.adapters.interp import Interp  # noqa: PLC0415 - the same
    from refmlc.adapters.limits import Limits  # noqa: PLC0415 - the same
    from refmlc.conform.suite import load_suite  # noqa: PLC0415 - the same
    from refmlc.evidence.replay import holds  # noqa: PLC0415 - the same

    interp = Interp(Limits(steps=2_000_000))
    for case in spread(load_suite(folder).cases):
        if "detectors" in case.features or (ids is not None and case.id not in ids):
            continue
        if reached:
            reached(case.id)
        read = answered(lambda case=case: case.module)
        made = read if isinstance(read, Stopped) else interp.prepare(read)
        for number in range(len(case.calls)):
            answer = made if isinstance(made, Stopped) else made.run(case.func, case.arguments(number))
            wrong = holds(case, number, answer)
            if wrong:
                return f"{case.id}: {wrong}"
    return ""


class Calls:
    """Which cases call which function: a function is its file and first line."""

    def __init__(self):
        self.by, self._seen, self._case = defaultdict(list), set(), ""

    def begin(self, name):
        self._case, self._seen = name, set()

    def __call__(self, frame, event, arg):
        code = frame.f_code
        if code not in self._seen:
            self._seen.add(code)
            cases = self.by[code.co_filename, code.co_firstlineno]
            if self._case and len(cases) < MOST:
                cases.append(self._case)


def reach(parsed, folder, into):
    """In a child: write which cases call each function; why the suite does not hold."""
    calls = Calls()
    sys.settrace(calls)
    try:
        wrong = first_broken("", "", parsed, folder, reached=calls.begin)
    finally:
        sys.settrace(None)
    rows = [[path, line, cases] for (path, line), cases in calls.by.items() if path.startswith(str(ROOT))]
    into.write_text(json.dumps(rows), "utf-8")
    return wrong


def reaching(rows, mutant):
    """The cases that call the function of a mutant, or those inside of it; None: all, where it stands in none."""
    path = str(ROOT / (mutant.module.replace(".", "/") + ".py"))
    if mutant.is_table:
        return None
    starts = {line: cases for file, line, cases in rows if file == path}
    inner = None
    for node in ast.walk(ast.parse(Path(path).read_text("utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.Lambda) and node.lineno <= mutant.line <= node.end_lineno:
            first = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", ()))])
            if inner is None or first >= inner:
                inner = first
    return None if inner is None else set(starts.get(inner, ()))


def judged(module, source, parsed, folder, ids=None, into=None):
    """`killed` or `survived`, and why."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1)
        os.dup2(quiet, 2)
        try:
            told = reach(parsed, folder, into) if into else first_broken(module, source, parsed, folder, ids)
        except BaseException as problem:  # noqa: BLE001 - a mutant may raise anything
            told = f"{type(problem).__name__}: {problem}"
        os.write(writing, (told or "\0").encode()[:2000])
        os._exit(0)
    os.close(writing)
    there = select.select([reading], [], [], SECONDS)[0]
    told = os.read(reading, 2000).decode(errors="replace") if there else "it does not end"
    if not there:
        os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    os.close(reading)
    return ("survived", "") if told == "\0" else ("killed", told or "the process dies")


def explained():
    """Survivors with a reason, by name."""
    files = [HERE / "survivors.toml", HERE / "suite_survivors.toml"]
    rows = [
        row for file in files if file.exists() for row in tomllib.loads(file.read_text("utf-8")).get("survivor", [])
    ]
    return {name: row["why"] for row in rows for name in row["names"]}


def main():
    """Print what became of a sample of each family."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--family", action="append", choices=FAMILIES)
    parser.add_argument("--number", type=int, default=30, help="of each family")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=0, help="begin no mutant after so long")
    parser.add_argument("--least", type=float, default=0, help="the share in %% that is enough")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="refmlc-suite-") as name:
        folder = Path(name) / "conformance"  # a copy: nobody's editing comes between
        shutil.copytree(ROOT / "conformance", folder)
        ends = judge_all(options, folder)
    raise SystemExit(report(ends, options.least))


def judge_all(options, folder):
    """Family and end of each mutant that there was time for."""
    parsed, known, until = tables(folder), explained(), time.monotonic() + 60 * (options.minutes or 1e6)
    into = folder / "reach.json"
    state, why = judged("", "", parsed, folder, into=into)
    if state == "killed":
        raise SystemExit(f"the suite does not hold without a mutant: {why}")
    ends, rows = [], json.loads(into.read_text("utf-8"))
    with ThreadPoolExecutor(options.jobs) as threads:
        for family in options.family or FAMILIES:
            chosen = sample([one for one in mutants(family) if options.only in one.name], options.number, options.seed)

            def end(mutant):
                ids = reaching(rows, mutant)
                if ids is not None and not ids:
                    return "survived", "no case reaches it"
                if time.monotonic() > until:
                    return None
                return judged(mutant.module, mutant.source, parsed, folder, ids)

            for mutant, told in zip(chosen, threads.map(end, chosen), strict=True):
                if told is None:
                    continue
                state = "explained" if told[0] == "survived" and mutant.name in known else told[0]
                ends.append((family, state))
                if state == "survived":
                    sys.stdout.write(f"survived: {mutant.name} (line {mutant.line}) {told[1]}\n")
                    sys.stdout.flush()
    return ends


def report(ends, least):
    """The table; whether it is not enough."""
    for family in (*FAMILIES, ""):
        mine = [state for each, state in ends if family in ("", each)]
        faults = len(mine) - mine.count("explained")
        if faults:
            share = 100 * mine.count("killed") / faults
            told = f"{mine.count('killed')} of {faults} killed, {share:.1f} %, {mine.count('explained')} explained"
            sys.stdout.write(f"{family or 'all':8} {told}\n")
    killed, faults = sum(s == "killed" for _, s in ends), sum(s != "explained" for _, s in ends)
    return killed < faults if not least else bool(faults) and 100 * killed / faults < least


if __name__ == "__main__":
    main()
