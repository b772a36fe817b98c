"""A suite run with an implementation that is named by a word, in workers: what crashes or hangs ends alone.

Each worker makes the implementation once and keeps it, with the files of cases that it meets.

| what happens                     | then                                                            |
|----------------------------------|-----------------------------------------------------------------|
| a worker dies over several cases | each of them runs again alone                                   |
| a worker dies over one case      | crash or timeout, with its last words; another worker continues |
| Ctrl-C                           | the workers are ended; the report has what was done             |

Workers are those of campaigns (`refmlc.oracle.fuzz.cage`). A case has the time of its calls, and some more for the
rest.
"""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from time import monotonic

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE, BUG, CODES
from refmlc.diag.errors import RefmlcError
from refmlc.oracle.evidence.case_file import CaseFile
from refmlc.oracle.fuzz.cage import Cage, Cages, WorkerDied
from refmlc.oracle.implementations.implementation import Implementation, Limits
from refmlc.oracle.implementations.lookup import implementation
from refmlc.oracle.suite.expectations import Expectations, expectations_for
from refmlc.oracle.suite.result import CallResult, CaseResult, CaseVerdict, SuiteReport, case_result, result_of
from refmlc.oracle.suite.runner import at_once, identity, reported, selected_cases
from refmlc.oracle.suite.runner_cases import run_cases
from refmlc.oracle.suite.score import is_scored
from refmlc.oracle.suite.suite import Suite, load_file, manifest, root_of, version_of


def described(spec: str, seconds: float, prepare: float) -> dict[str, object]:
    """Name, version, and the number of cases per request; `problem`: why the implementation does not start."""
    try:
        implementation = _implementation(spec, seconds, prepare)
    except RefmlcError as failure:
        return _problem(failure)
    name, version = identity(implementation)
    return {"name": name, "version": version, "at_once": at_once(implementation)}


def results(spec: str, seconds: float, prepare: float, folder: str, ids: list[list[str]]) -> dict[str, object]:
    """The results of cases, each by its file and id; `problem`, `code`: what is wrong with the suite."""
    try:
        implementation = _implementation(spec, seconds, prepare)
        cases = [_cases(folder, file)[name] for file, name in ids]
        case_results = [result.to_json() for result in run_cases(implementation, cases)]
    except RefmlcError as failure:
        return _problem(failure)
    return {"results": case_results}


def _problem(failure: RefmlcError) -> dict[str, object]:
    diagnostic = failure.diagnostic
    return {"problem": diagnostic.message, "code": diagnostic.code.id, "helps": list(diagnostic.helps)}


@lru_cache(maxsize=128)
def _cases(folder: str, file: str) -> dict[str, CaseFile]:
    """The cases of one file: a worker meets few of them."""
    digests, version = _frozen(folder)
    return {case.id: case for case in load_file(Path(folder) if folder else None, file, digests.get(file, ""), version)}


@lru_cache(maxsize=1)
def _frozen(folder: str) -> tuple[dict[str, str], str]:
    """The suite's manifest and version."""
    root = root_of(Path(folder) if folder else None)
    return manifest(root), version_of(root)


@lru_cache(maxsize=1)
def _implementation(spec: str, seconds: float, prepare: float) -> Implementation:
    """Decision: the clock runs in refmlc's own process too: a report says what a user would see."""
    return implementation(spec, Limits(seconds=seconds, prepare=prepare, clock=True))


PART = "refmlc.oracle.suite.runner_workers"
START = 300.0  # seconds that an implementation has to start
MEMORY = 64 << 10  # MiB of address space: limits of memory are the implementation's
DIED = {"timed out": CaseVerdict.TIMEOUT}


@dataclass(frozen=True)
class RunRequest:
    """How: the word, the folder of the suite (empty: refmlc's own). Units: seconds: a call, making ready, to spare.

    An implementation that looks at the clock itself is waited for: that is what time to spare is for.
    """

    spec: str
    folder: str = ""
    seconds: float = 10.0
    prepare: float = 60.0
    jobs: int = 1
    slack: float = 5.0

    def limit(self, cases: Sequence[CaseFile]) -> float:
        """The time for `cases`."""
        return self.slack + sum(self.prepare + (self.seconds + self.slack) * len(case.calls) for case in cases)


def run_named(
    suite: Suite,
    request: RunRequest,
    expectations: Expectations | None = None,
    only: Sequence[str] = (),
    tick: Callable[[int, int], None] | None = None,
) -> SuiteReport:
    """The report on `asked.spec`; None for `expectations`: those that come with the suite. `tick`: cases done, of all.

    Fails: RM109, RM112 (no such implementation, it does not start).
    """
    cases, begin = selected_cases(suite, only), monotonic()
    with closing(Cages()) as cages:
        workers = _Workers(request, cages)
        says = workers.described()
        name, version = str(says.get("name")), str(says.get("version"))
        size = int(str(says.get("at_once", 1)))
        results, interrupted = _collected(workers, cases, size, tick)
    known_folder = Path(request.folder) / "known" if request.folder else None
    applicable = expectations_for(name, version, known_folder) if expectations is None else expectations
    seconds = monotonic() - begin
    return reported(suite, (name, version), results, applicable, seconds=seconds, interrupted=interrupted)


def _collected(
    workers: "_Workers", cases: Sequence[CaseFile], size: int, tick: Callable[[int, int], None] | None
) -> tuple[list[CaseResult], bool]:
    """The results in the order of the suite, and whether the run was interrupted."""
    results_by_id: dict[str, CaseResult] = {}
    interrupted = False
    with ThreadPoolExecutor(workers.request.jobs) as pool:
        waiting = [pool.submit(workers.ask, batch) for batch in together(cases, size)]
        try:
            for future in as_completed(waiting):
                results_by_id |= {result.id: result for result in future.result()}
                if tick is not None:
                    tick(len(results_by_id), len(cases))
        except KeyboardInterrupt:
            interrupted = True
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            workers.stop()
    return [results_by_id[case.id] for case in cases if case.id in results_by_id], interrupted


def together(cases: Sequence[CaseFile], size: int) -> list[Sequence[CaseFile]]:
    """The cases as workers get them: `size` of them, or those of one module, which some read but once."""
    if size > 1:
        return [cases[at : at + size] for at in range(0, len(cases), size)]
    return [list(group) for _, group in groupby(cases, key=lambda case: case.text)]


class _Workers:
    """The workers of one implementation."""

    def __init__(self, request: RunRequest, cages: Cages) -> None:
        self.request = request
        self._cages = cages
        self._stopped = False
        self._started: set[int] = set()

    def described(self) -> Mapping[str, object]:
        """The implementation's description of itself. Fails: RM112."""
        try:
            with self._cages.borrowed(MEMORY) as cage:
                return self._start(cage)
        except WorkerDied as death:
            raise fail(BAD_USAGE, f"`{self.request.spec}` does not start: {_last_words(death)}") from None

    def stop(self) -> None:
        """Kill them all; running cases have no result."""
        self._stopped = True
        self._cages.close()

    def ask(self, cases: Sequence[CaseFile]) -> list[CaseResult]:
        """The results of `cases`, one by one if they fail together. Raises WorkerDied after `stop`."""
        begin = monotonic()
        try:
            answer = self._results([[case.file, case.id] for case in cases], self.request.limit(cases))
        except WorkerDied as death:
            if self._stopped:
                raise
            if len(cases) > 1:
                return [result for case in cases for result in self.ask([case])]
            return [_dead(cases[0], death, monotonic() - begin)]
        listed = answer.get("results")
        return [result_of(each) for each in listed] if isinstance(listed, list) else []

    def _results(self, ids: list[list[str]], seconds: float) -> Mapping[str, object]:
        request = self.request
        with self._cages.borrowed(MEMORY) as cage:
            self._start(cage)
            return _answer_of(
                cage, "results", [request.spec, request.seconds, request.prepare, request.folder, ids], seconds
            )

    def _start(self, cage: Cage) -> Mapping[str, object]:
        """Let the worker start the implementation, unless it runs; return its description."""
        if cage.pid in self._started:
            return {}
        request = self.request
        description = _answer_of(cage, "described", [request.spec, request.seconds, request.prepare], START)
        self._started.add(cage.pid)
        return description


def _answer_of(cage: Cage, name: str, arguments: list[object], seconds: float) -> Mapping[str, object]:
    """The result of a function of this module in a worker. Raises WorkerDied. Fails: RM112, RM109; RM901 for a bug."""
    answer = cage.ask(f"{PART}:{name}", arguments, seconds)
    result = answer.get("result")
    if not isinstance(result, dict):
        raise fail(BUG, f"a worker raised {answer.get('raised')}")
    if "problem" in result:
        code = CODES.get(str(result.get("code")), BAD_USAGE)
        raise fail(code, str(result["problem"]), None, *map(str, result.get("helps", ())))
    return result


def _dead(case: CaseFile, death: WorkerDied, seconds: float) -> CaseResult:
    """The result of a case over which a worker died."""
    verdict, why = DIED.get(death.why, CaseVerdict.CRASH), _last_words(death)
    scored = [is_scored(case, number, promises=True) for number in range(len(case.calls))]
    return case_result(
        case.id, [CallResult(verdict, why) if scores else CallResult(None) for scores in scored], seconds
    )


def _last_words(death: WorkerDied) -> str:
    """How the worker died, with the last that it said."""
    last_line = death.output.strip().rpartition("\n")[2]
    return f"{death.message}: {last_line}" if last_line else death.message


def folder_for_workers(folder: Path | None) -> str:
    """The folder of a suite, as sent to workers."""
    return "" if folder is None else str(folder.absolute())
