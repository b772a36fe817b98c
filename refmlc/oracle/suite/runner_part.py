"""Inside of a worker: some cases of a suite asked of an implementation that is named by a word, results as data.

The implementation is made once for each worker and kept, and so are the files of cases that it meets.
"""

from functools import lru_cache
from pathlib import Path

from refmlc.diag.errors import RefmlcError
from refmlc.oracle.evidence.case_file import CaseFile
from refmlc.oracle.implementations.implementation import Implementation
from refmlc.oracle.implementations.limits import Limits
from refmlc.oracle.implementations.lookup import implementation
from refmlc.oracle.suite.runner import at_once, identity
from refmlc.oracle.suite.runner_cases import run_cases
from refmlc.oracle.suite.suite import load_file, manifest, root_of, version_of


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
