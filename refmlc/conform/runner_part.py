"""Inside of a worker: some cases of a suite asked of an implementation that is named by a word, results as data.

The suite and the implementation are made once for each worker and kept.
"""

from functools import lru_cache
from pathlib import Path

from refmlc.adapters.implementation import Implementation
from refmlc.adapters.limits import Limits
from refmlc.adapters.lookup import implementation
from refmlc.conform.runner import at_once, identity
from refmlc.conform.runner_cases import run_cases
from refmlc.conform.suite import load_suite
from refmlc.diag.errors import RefmlcError
from refmlc.evidence.case_file import CaseFile


def described(spec: str, seconds: float, prepare: float, folder: str) -> dict[str, object]:
    """Name, version, and how many cases it is asked at once; `problem`: why there is no such implementation."""
    try:
        made = _implementation(spec, seconds, prepare)
        _cases(folder)
    except RefmlcError as failure:
        return _problem(failure)
    name, version = identity(made)
    return {"name": name, "version": version, "at_once": at_once(made)}


def results(spec: str, seconds: float, prepare: float, folder: str, ids: list[str]) -> dict[str, object]:
    """The results of the cases called `ids`; `problem`, `code`: what is wrong with the suite."""
    try:
        cases = _cases(folder)
        made = _implementation(spec, seconds, prepare)
        found = [result.to_json() for result in run_cases(made, [cases[name] for name in ids])]
    except RefmlcError as failure:
        return _problem(failure)
    return {"results": found}


def _problem(failure: RefmlcError) -> dict[str, object]:
    told = failure.diagnostic
    return {"problem": told.message, "code": told.code.id, "helps": list(told.helps)}


@lru_cache(maxsize=1)
def _cases(folder: str) -> dict[str, CaseFile]:
    return {case.id: case for case in load_suite(Path(folder) if folder else None).cases}


@lru_cache(maxsize=1)
def _implementation(spec: str, seconds: float, prepare: float) -> Implementation:
    """Decision: the clock runs in refmlc's own process too: a report says what a user would see."""
    return implementation(spec, Limits(seconds=seconds, prepare=prepare, clock=True))
