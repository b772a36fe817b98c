"""A suite asked of implementations that are named by a word, in workers: what crashes or hangs ends alone.

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
from itertools import groupby
from pathlib import Path
from time import monotonic

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE, BUG, CODES
from refmlc.oracle.evidence.case_file import CaseFile
from refmlc.oracle.fuzz.cage import Cage, Cages, WorkerDied
from refmlc.oracle.suite.expectations import Expectations, expectations_for
from refmlc.oracle.suite.result import CallResult, CaseResult, Report, case_result, result_of
from refmlc.oracle.suite.runner import chosen, reported
from refmlc.oracle.suite.score import is_scored
from refmlc.oracle.suite.suite import Suite
from refmlc.oracle.suite.verdict import Verdict

PART = "refmlc.oracle.suite.runner_part"
START = 300.0  # seconds that an implementation has to start
MEMORY = 64 << 10  # MiB of address space: limits of memory are the implementation's
DIED = {"timed out": Verdict.TIMEOUT}


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
    asked: RunRequest,
    expectations: Expectations | None = None,
    only: Sequence[str] = (),
    tick: Callable[[int, int], None] | None = None,
) -> Report:
    """The report on `asked.spec`; None for `expectations`: those that come with the suite. `tick`: cases done, of all.

    Fails: RM109, RM112 (no such implementation, it does not start).
    """
    cases, begin = chosen(suite, only), monotonic()
    with closing(Cages()) as cages:
        workers = _Workers(asked, cages)
        says = workers.described()
        name, version = str(says.get("name")), str(says.get("version"))
        size = int(str(says.get("at_once", 1)))
        results, interrupted = _collected(workers, cases, size, tick)
    own = Path(asked.folder) / "known" if asked.folder else None
    applicable = expectations_for(name, version, own) if expectations is None else expectations
    seconds = monotonic() - begin
    return reported(suite, (name, version), results, applicable, seconds=seconds, interrupted=interrupted)


def _collected(
    workers: "_Workers", cases: Sequence[CaseFile], size: int, tick: Callable[[int, int], None] | None
) -> tuple[list[CaseResult], bool]:
    """The results in the order of the suite, and whether the run was interrupted."""
    results_by_id: dict[str, CaseResult] = {}
    interrupted = False
    with ThreadPoolExecutor(workers.asked.jobs) as pool:
        waiting = [pool.submit(workers.ask, some) for some in together(cases, size)]
        try:
            for done in as_completed(waiting):
                results_by_id |= {result.id: result for result in done.result()}
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
    return [list(some) for _, some in groupby(cases, key=lambda case: case.text)]


class _Workers:
    """The workers of one implementation."""

    def __init__(self, asked: RunRequest, cages: Cages) -> None:
        self.asked = asked
        self._cages = cages
        self._stopped = False
        self._started: set[int] = set()

    def described(self) -> Mapping[str, object]:
        """The implementation's description of itself. Fails: RM112."""
        try:
            with self._cages.borrowed(MEMORY) as cage:
                return self._start(cage)
        except WorkerDied as death:
            raise fail(BAD_USAGE, f"`{self.asked.spec}` does not start: {_last(death)}") from None

    def stop(self) -> None:
        """Kill them all; running cases have no result."""
        self._stopped = True
        self._cages.close()

    def ask(self, cases: Sequence[CaseFile]) -> list[CaseResult]:
        """The results of `cases`, one by one if they fail together. Raises WorkerDied after `stop`."""
        begin = monotonic()
        try:
            answer = self._results([[case.file, case.id] for case in cases], self.asked.limit(cases))
        except WorkerDied as death:
            if self._stopped:
                raise
            if len(cases) > 1:
                return [result for case in cases for result in self.ask([case])]
            return [_dead(cases[0], death, monotonic() - begin)]
        listed = answer.get("results")
        return [result_of(each) for each in listed] if isinstance(listed, list) else []

    def _results(self, ids: list[list[str]], seconds: float) -> Mapping[str, object]:
        asked = self.asked
        with self._cages.borrowed(MEMORY) as cage:
            self._start(cage)
            return _said(cage, "results", [asked.spec, asked.seconds, asked.prepare, asked.folder, ids], seconds)

    def _start(self, cage: Cage) -> Mapping[str, object]:
        """Let the worker start the implementation, unless it runs; return its description."""
        if cage.pid in self._started:
            return {}
        asked = self.asked
        description = _said(cage, "described", [asked.spec, asked.seconds, asked.prepare], START)
        self._started.add(cage.pid)
        return description


def _said(cage: Cage, name: str, arguments: list[object], seconds: float) -> Mapping[str, object]:
    """The result of a function of `runner_part`. Raises WorkerDied. Fails: RM112, RM109; RM901 for a bug of refmlc."""
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
    verdict, why = DIED.get(death.why, Verdict.CRASH), _last(death)
    scored = [is_scored(case, number, promises=True) for number in range(len(case.calls))]
    return case_result(
        case.id, [CallResult(verdict, why) if scores else CallResult(None) for scores in scored], seconds
    )


def _last(death: WorkerDied) -> str:
    """How the worker died, with the last that it said."""
    last_line = death.said.strip().rpartition("\n")[2]
    return f"{death.message}: {last_line}" if last_line else death.message


def here(folder: Path | None) -> str:
    """The folder of a suite, as sent to workers."""
    return "" if folder is None else str(folder.absolute())
