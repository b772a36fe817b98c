"""Python mutants against pytest: a server that forks a process for each, while one module has another text.

`python asked_tests.py ROOT` answers JSON lines; ROOT is a copy of the tree that nobody else uses. Tests are chosen by
`reach`: which lines each one executes, noted once with coverage.py. Of a mutant, the tests that reach its line are run,
quickest first, then others of the family.

| question                                       | answer                                               |
|------------------------------------------------|------------------------------------------------------|
| `{"reach": [test files], "source": [modules]}` | `{"times": {test: s}, "lines": {module: {line: tests}}}` |
| `{"module", "text", "tests", "seconds"}`       | `{"state", "why"}`: killed, survived                  |
"""

import importlib
import json
import os
import resource
import signal
import sys
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import pytest

MEMORY = 6 << 30
LEFT_OUT = ("cacheprovider", "xdist", "pytest_cov")
QUIET = ("-q", "-x", "--no-header", "--tb=line", "-o", "timeout=0", *(f"-pno:{name}" for name in LEFT_OUT))


@contextmanager
def written(path, text, times=count(1_000_000_000)):  # noqa: B008 - no two texts of a process have the same time
    """The module's file with another text: whoever loads it loads that, pytest's rewriting and other processes too.

    What was compiled of a file is known by its time and size: no other text has this time.
    """
    right, status, time = path.read_text("utf-8"), path.stat(), next(times)
    path.write_text(text, "utf-8")
    os.utime(path, (time, time))
    try:
        yield
    finally:
        path.write_text(right, "utf-8")
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


class Chosen:
    """Of what pytest collects, only `tests`, in that order. Failing examples need not be made small."""

    def __init__(self, tests, *, is_table=False) -> None:
        self._is_table = is_table
        self._rank = {test: rank for rank, test in enumerate(tests)}
        self.failed = ""

    def pytest_sessionstart(self):
        """After the profiles are there, before tests are collected."""
        from hypothesis import Phase, settings  # noqa: PLC0415 - pytest's plugin must load it first

        settings.register_profile("mutants", settings.default, phases=(Phase.explicit, Phase.generate))
        settings.load_profile("mutants")

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items):
        """Choose and sort. Of a function that is chosen, cases that are new belong to it: a table has made them."""
        if self._rank:
            last, of_cases = len(self._rank), {test.split("[")[0] for test in self._rank if "[" in test}
            ranks = {item: self._rank.get(item.nodeid) for item in items}
            for item in items if self._is_table else ():
                if ranks[item] is None and item.nodeid.split("[")[0] in of_cases:
                    ranks[item] = last
            items[:] = sorted((item for item in items if ranks[item] is not None), key=ranks.get)

    def pytest_runtest_logreport(self, report):
        """Remember the first that fails."""
        if report.failed and not self.failed:
            self.failed = report.nodeid

    def pytest_collectreport(self, report):
        """A module that does not load is a failure too."""
        if report.failed and not self.failed:
            self.failed = report.nodeid


class Noted(Chosen):
    """Every test, with its time, and its name for the lines that it executes."""

    def __init__(self, coverage) -> None:
        super().__init__(())
        self._coverage, self.times = coverage, {}

    def pytest_runtest_logstart(self, nodeid):
        """From here lines belong to this test."""
        self._coverage.switch_context(nodeid)

    def pytest_runtest_logreport(self, report):
        """Its time, set-up included; a test that fails without a mutant is not asked."""
        super().pytest_runtest_logreport(report)
        self.times[report.nodeid] = self.times.get(report.nodeid, 0.0) + report.duration
        if report.failed or report.skipped:
            self.times[report.nodeid] = -1e9


def reach(files, source):
    """The time of each test, and the tests that execute each line of the modules."""
    import coverage  # noqa: PLC0415 - in a process of its own

    paths = [str(Path(path).resolve()) for path in source]
    tracer = coverage.Coverage(data_file=None, config_file=False, include=paths)  # setup.cfg chooses other packages
    noted = Noted(tracer)
    tracer.start()
    pytest.main([*(arg for arg in QUIET if arg != "-x"), *files], plugins=[noted])
    tracer.stop()
    data, lines = tracer.get_data(), {}
    for path in source:
        contexts = data.contexts_by_lineno(str(Path(path).resolve()))
        lines[path] = {line: [name for name in names if name] for line, names in contexts.items()}
    return {"times": {test: time for test, time in noted.times.items() if time >= 0}, "lines": lines}


def asked(tests, *, is_table=False):
    """Run the tests."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    chosen = Chosen(tests, is_table=is_table)
    files = list(dict.fromkeys(test.split("::", 1)[0] for test in tests))
    status = pytest.main([*QUIET, *files], plugins=[chosen])
    if status == pytest.ExitCode.OK:
        return {"state": "survived", "why": f"{len(tests)} tests"}
    return {"state": "killed", "why": chosen.failed or f"pytest ends with {int(status)}"}


def forked(work, seconds):
    """What `work` gives, in a process of its own, whose output nobody reads."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(int(seconds))
        silent = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(silent, number)
        try:
            said = work()
        except BaseException as problem:  # noqa: BLE001 - whatever a mutant ends in
            said = {"state": "killed", "why": f"{type(problem).__name__}: {problem}"[:300]}
        with os.fdopen(writing, "w") as out:
            out.write(json.dumps(said))
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as heard:
        text = heard.read()
    _, status = os.waitpid(child, 0)
    ended = "does not end" if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGALRM else f"dies: {status}"
    return json.loads(text) if text else {"state": "killed", "why": ended}


def preload():
    """What tests load that is not ours: each process would do so again."""
    for name in ("numpy", "ml_dtypes", "cffi", "mpmath", "rich.console", "click", "tomllib"):
        importlib.import_module(name)


def answer(question):
    """What becomes of the question."""
    if "reach" in question:
        return forked(lambda: reach(question["reach"], question["source"]), 1800)
    with written(Path(question["module"]), question["text"]):
        return forked(lambda: asked(question["tests"], is_table=question.get("is_table", False)), question["seconds"])


def main() -> None:
    """Answer until nobody asks."""
    root = Path(sys.argv[1])
    os.chdir(root)
    sys.path.insert(0, str(root))
    os.environ["PYTHONPATH"] = str(root)  # of processes that tests start
    preload()
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    for line in sys.stdin:
        answers.write(json.dumps(answer(json.loads(line))) + "\n")


if __name__ == "__main__":
    main()
