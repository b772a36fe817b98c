"""The matrix: for each family so many mutants, always the same ones, and what becomes of each.

| column      | counts                                                                              |
|-------------|-------------------------------------------------------------------------------------|
| `made`      | those that were judged; what does not compile is no fault and is not counted         |
| `killed`    | a test fails, or its process dies or does not end                                    |
| `explained` | survivors that stand in `survivors.toml` with the reason: equivalents, mostly         |
| `survived`  | all others                                                                           |
| `share`     | killed, of those that are not explained                                              |

Judged is a copy of the tree, so that nobody's editing comes between. Nothing is counted of a family before its judge
has shown that it can fail: a module that raises is killed, and survives unchanged. Results are kept in a file as they
come: of a killed mutant under its text, of a survivor under its text and that of the family's tests. A run that is
broken off goes on from there; a new test is tried on survivors only.
"""

import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from biting import prove, raising_at_loading
from families import FAMILIES, found
from python_mutations import mutants_of
from units import sample

HERE = Path(__file__).parent
PARTS = ("refmlc", "tests", "kernels_c", "conformance", "setup.cfg", "pyproject.toml", "README.md")
AT_ONCE = 30.0  # seconds of tests that are asked together
MOST = 240.0  # seconds of tests that are asked at most
PROOFS = 3  # tests that must see what is certainly wrong


@dataclass(frozen=True)
class Judged:
    """What became of one mutant. `state`: killed, survived, no C."""

    family: str
    name: str
    state: str
    why: str


@contextmanager
def copied(tree):
    """A copy of what tests need, in a folder that is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="refmlc-mutants-") as name:
        for part in PARTS:
            source, target = tree / part, Path(name) / part
            if source.is_dir():
                shutil.copytree(source, target, symlinks=True, ignore=shutil.ignore_patterns("*.pyc"))
            elif source.exists():
                shutil.copy2(source, target)
        yield Path(name)


class Server:
    """A process that answers JSON lines, one at a time."""

    def __init__(self, script, root, *more) -> None:
        self.root = root
        command = [script, root, *more]
        self._process = subprocess.Popen(
            [sys.executable, *map(str, command)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )
        self._lock = threading.Lock()

    def ask(self, **question):
        """The answer."""
        with self._lock:
            self._process.stdin.write(json.dumps(question) + "\n")
            return json.loads(self._process.stdout.readline())

    def close(self):
        """End the process."""
        with self._process:  # closes both pipes, and waits
            self._process.stdin.close()


class Results:
    """What is known, in a file that is written after each mutant."""

    def __init__(self, path) -> None:
        self._path, self._lock = path, threading.Lock()
        self.folder = path.parent
        path.parent.mkdir(parents=True, exist_ok=True)
        self._known = json.loads(path.read_text("utf-8")) if path.exists() else {}

    def get(self, key, tests):
        """The end of a mutant, if it is known and still holds."""
        row = self._known.get(key)
        return row if row is not None and (row["state"] != "survived" or row["tests"] == tests) else None

    def put(self, key, row):
        """Keep it."""
        with self._lock:
            self._known[key] = row
            beside = self._path.with_suffix(".new")
            beside.write_text(json.dumps(self._known, indent=0), "utf-8")
            beside.replace(self._path)


def digest(*texts):
    """A name for texts."""
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:24]


class Matrix:
    """The judgement of families on copies of a tree, one for each process that is asked."""

    def __init__(self, roots, results, until) -> None:
        self._root, self._results, self._until = roots[0], results, until
        self._servers = [Server(HERE / "asked_tests.py", root) for root in roots]
        self._free = list(self._servers)
        self._lock = threading.Lock()

    def close(self):
        """End the processes."""
        for server in self._servers:
            server.close()

    def judge(self, family, count, seed):
        """What became of a sample, in its order; those for which there was time."""
        row = FAMILIES[family]
        by = Server(HERE / "asked_programs.py", self._root, row.by) if row.by else None
        try:
            named = _Programs(by) if by else None
            chosen = sample(self._mutants(family, named), count, seed)
            asking = _Tests(self, family) if row.tests else None
            if named:
                named.prove(f"the judge of `{family}` by {row.by}")
            if asking:
                asking.prove(f"the judge of `{family}` by tests", chosen)
            with ThreadPoolExecutor(len(self._servers)) as threads:
                ends = threads.map(lambda mutant: self._end(family, mutant, named, asking), chosen)
                return [end for end in ends if end is not None]
        finally:
            if by:
                by.close()

    def _mutants(self, family, named):
        paths = found(self._root, FAMILIES[family].modules)
        if not paths:
            return [_Named(name) for name in named.names()]
        made = []
        for path in paths:
            module = ".".join(Path(path).with_suffix("").parts)
            if not path.endswith("__init__.py"):
                made += mutants_of(module, (self._root / path).read_text("utf-8"))
        return made

    def _end(self, family, mutant, named, asking):
        tests = self._texts(family)
        key = digest(mutant.name, getattr(mutant, "source", tests))
        row = self._results.get(key, tests)
        if row is None:
            if time.monotonic() > self._until:
                return None
            end = named.end(mutant.name) if named else {"state": "survived", "why": ""}
            if end["state"] not in ("killed", "no C") and asking:
                end = asking.end(mutant)
            state = end["state"] if end["state"] in ("killed", "no C") else "survived"
            row = {"state": state, "why": end["why"], "tests": tests, "name": mutant.name}
            self._results.put(key, row)
        return Judged(family, mutant.name, row["state"], row["why"])

    def _texts(self, family):
        """A name for the tests of a family; where the judge is no test, for that."""
        row = FAMILIES[family]
        paths = found(self._root, (*row.tests, "tests/mutants/kernel_*.py") if row.by == "points" else row.tests)
        headers = found(self._root, ("kernels_c/*.h",)) if row.by == "points" else []
        asking = (HERE / "asked_tests.py").read_text("utf-8")
        return digest(asking, *((self._root / path).read_text("utf-8") for path in [*paths, *headers]))

    @contextmanager
    def server(self):
        """One that is free: there are as many as threads."""
        with self._lock:
            one = self._free.pop()
        try:
            yield one
        finally:
            with self._lock:
                self._free.append(one)

    def noted(self, family):
        """Which tests reach which line of the family: from the file beside the results, or by running all of them."""
        sources = found(self._root, FAMILIES[family].modules)
        files = found(self._root, FAMILIES[family].tests)
        name = digest(*((self._root / path).read_text("utf-8") for path in [*sources, *files]))
        kept = self._results.folder / f"reach-{family}-{name}.json"
        if not kept.exists():
            with self.server() as one:
                said = one.ask(reach=files, source=sources)
            if "lines" not in said:
                raise SystemExit(f"the tests of `{family}` do not run: {said}")
            kept.write_text(json.dumps(said), "utf-8")
        return json.loads(kept.read_text("utf-8"))


@dataclass(frozen=True)
class _Named:
    """A mutant that its judge keeps."""

    name: str


class _Programs:
    """The judges that know their mutants by name."""

    def __init__(self, server) -> None:
        self._server = server

    def names(self):
        return self._server.ask(list=True)

    def end(self, name):
        return self._server.ask(name=name)

    def prove(self, judge):
        """See that it can fail."""
        said = self._server.ask(prove=True)
        if said["wrong"]:
            raise SystemExit(f"{judge}: {said['wrong']}")


class _Tests:
    """Tests that reach the line, then the others of the family."""

    def __init__(self, matrix, family) -> None:
        self._matrix, self._family, self._lock = matrix, family, threading.Lock()
        self._times = self._lines = None

    def _load(self):
        """What is noted of the tests: only where a mutant needs them."""
        with self._lock:
            if self._times is None:
                said = self._matrix.noted(self._family)
                self._lines, self._times = said["lines"], said["times"]

    def prove(self, judge, mutants):
        """See that it can fail: a module that raises when it is loaded is killed, one that is as it was survives."""
        self._load()
        for module in {mutant.module: None for mutant in mutants}:
            path = f"{module.replace('.', '/')}.py"
            tests = self._ranked({test for names in self._lines.get(path, {}).values() for test in names})
            if tests:
                break
        else:
            raise SystemExit(f"{judge}: no test reaches any module that is made wrong")
        with self._matrix.server() as one:
            right = (one.root / path).read_text("utf-8")
            ends = [
                one.ask(module=path, text=text, tests=tests[:PROOFS], seconds=120)
                for text in (raising_at_loading(right), right)
            ]
        told = [f"{end['state']} {end['why']}" for end in ends]
        why = f"{path} that raises: {told[0]}; unchanged: {told[1]}"
        prove(judge, notices=ends[0]["state"] == "killed", passes=ends[1]["state"] == "survived", why=why)

    def _ranked(self, tests):
        """Quickest first."""
        return sorted(tests & self._times.keys(), key=self._times.get)

    def end(self, mutant):
        self._load()
        path = f"{mutant.module.replace('.', '/')}.py"
        reached = self._reaching(path, mutant)
        # A table is made when its module is loaded, whatever executes the functions that stand in it.
        chosen = self._ranked(reached) + self._ranked(self._times.keys() - reached if mutant.is_table else set())
        if not chosen:
            return {"state": "survived", "why": "no test reaches the line"}
        end = {"state": "survived", "why": ""}
        for part, seconds in self._parts(chosen):
            with self._matrix.server() as one:
                limit = 30 + 8 * seconds
                end = one.ask(module=path, text=mutant.source, tests=part, seconds=limit, is_table=mutant.is_table)
            if end["state"] == "killed":
                break
        return end

    def _reaching(self, path, mutant):
        """The tests that execute the line."""
        lines = self._lines.get(path, {})
        return {test for line in range(mutant.first, mutant.last + 1) for test in lines.get(str(line), ())}

    def _parts(self, tests):
        """Few tests first, then as many as take a while, until it is too long."""
        part, sum_, whole = [], 0.0, 0.0
        for test in tests:
            time_ = self._times[test]
            if part and sum_ + time_ > AT_ONCE:
                yield part, sum_
                part, sum_ = [], 0.0
            if whole > MOST:
                return
            part.append(test)
            sum_, whole = sum_ + time_, whole + time_
        if part:
            yield part, sum_
