"""Wrong variants of the generator against generated functions: C of them must come to what the interpreter comes to.

Each mutant runs in a process of its own, forked from one that knows the programs and their outcomes and has not loaded
the generator yet; it translates programs that reach the changed line, compiles and calls them. It is killed by another
outcome, by C that does not compile, by an exception, by its end, or by what `test_property_tiers.py` asks of counts.

| end           | means                                                                         |
|---------------|-------------------------------------------------------------------------------|
| `killed`      | one of these                                                                  |
| `other text`  | the C is another, and comes to the same: slower, with more checks, or as good |
| `same text`   | the C of all programs that reach the line is the same                         |
| `not reached` | no program reaches the line                                                   |
"""

import importlib.abc
import importlib.util
import json
import os
import signal
import sys
from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from biting import prove, raising_at_loading
from python_mutations import mutants_of

from refmlc.strategies import AIMS, rolled

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests" / "property"))

from tier_outcomes import interpreted  # noqa: E402 - after the path

PACKAGES = ("emit", "analysis", "tile")
SECONDS = 90
MIXED, EACH, MOST = 200, 14, 96
FEW = 4  # programs that show what is certainly wrong
assert not any(name.startswith("refmlc.native") for name in sys.modules)


@dataclass(frozen=True)
class End:
    """What became of a mutant, and why."""

    state: str
    why: str = ""


@cache
def texts():
    """The text of each module of the generator, read once, by its name."""
    folder = ROOT / "refmlc" / "native"
    paths = [path for package in PACKAGES for path in sorted((folder / package).glob("*.py"))]
    return {".".join(path.relative_to(ROOT).with_suffix("").parts): path.read_text("utf-8") for path in paths}


def mutants():
    """All mutants of all modules."""
    return [one for name, text in texts().items() if not name.endswith("__init__") for one in mutants_of(name, text)]


@cache
def programs():
    """Programs of all kinds, and some for each kind of undefined behaviour; with their outcomes."""
    cases = [rolled(seed, None) for seed in range(MIXED)]
    cases += [rolled(seed, aim) for aim in AIMS for seed in range(1000, 1000 + EACH)]
    return cases, interpreted(cases)


@cache
def usual():
    """Without a mutant: of each program the digests of its C, and the lines that translating it executes."""
    cases, _ = programs()

    def work():
        sys.meta_path.insert(0, Replaced(texts()))
        from c_of_programs import digests, reached_lines  # noqa: PLC0415 - in this process only

        return json.dumps([digests(cases), [sorted(lines) for lines in reached_lines(cases, "refmlc.native.")]])

    return json.loads(forked(work, 900))


@cache
def reaching():
    """The numbers of the programs that reach a line: by module and line."""
    found = defaultdict(list)
    for number, lines in enumerate(usual()[1]):
        for module, line in lines:
            found[module, line].append(number)
    return found


class Replaced(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Loads the modules of the generator from the texts that were read, whatever becomes of the files."""

    def __init__(self, sources) -> None:
        self._sources = sources

    def find_spec(self, fullname, _path, _target=None):
        """Modules of the generator, and no others."""
        if fullname not in self._sources or fullname.endswith("__init__"):
            return None
        return importlib.util.spec_from_loader(fullname, self)

    def exec_module(self, module):
        """Execute the text."""
        name = module.__name__
        exec(compile(self._sources[name], name, "exec"), module.__dict__)  # noqa: S102 - text of our own


def chosen(mutant):
    """The numbers of programs that a mutant is tried on: those that reach it; of many some of each kind."""
    cases, wanted = programs()
    numbers = range(len(cases)) if mutant.is_table else reaching().get((mutant.module, mutant.line), [])
    undefined = [number for number in numbers if any(end.verdict for end in wanted[number])]
    others = [number for number in numbers if number not in set(undefined)]
    return [*undefined[: MOST // 2], *others[: MOST // 2]]


@dataclass(frozen=True)
class Text:
    """A module of the generator with another text."""

    module: str
    source: str


def prove_itself():
    """A module that raises when it is loaded is killed, one that is as it was gives the same C."""
    module = "refmlc.native.emit.module"
    right = texts()[module]
    ends = [tried(Text(module, text), range(FEW)) for text in (raising_at_loading(right), right)]
    killed, same = (end.state for end in ends)
    why = f"{module} that raises: {ends[0]}; unchanged: {ends[1]}"
    prove("the judge of the generator", notices=killed == "killed", passes=same == "same text", why=why)


def verdict(mutant):
    """The end of a mutant."""
    numbers = chosen(mutant)
    return tried(mutant, numbers) if numbers else End("not reached")


def tried(mutant, numbers):
    """What becomes of these programs."""
    cases, wanted = programs()
    known = usual()[0]

    def work():
        sys.meta_path.insert(0, Replaced({**texts(), mutant.module: mutant.source}))
        from c_of_programs import judge  # noqa: PLC0415 - in this process only

        picked = [[some[number] for number in numbers] for some in (cases, wanted, known)]
        return judge(*picked, mutant.module)

    said = forked(work, SECONDS)
    if not said.startswith("others: "):
        return End("killed", said)
    return End("same text" if said == "others: 0" else "other text", said)


def forked(work, seconds):
    """What `work` says, in a process of its own."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)  # pytest-timeout has a handler of its own
        signal.alarm(seconds)
        try:
            said = work()
        except BaseException as problem:  # noqa: BLE001 - whatever a mutant ends in
            said = f"{type(problem).__name__}: {problem}"[:400]
        with os.fdopen(writing, "w") as out:
            out.write(said)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as heard:
        text = heard.read()
    _, status = os.waitpid(child, 0)
    return text or f"the process dies: signal {os.WTERMSIG(status)}"
