"""A finding on an importer, made again: the stored program through importers, each held to its framework.

All of it runs in a worker, within the limits that programs of campaigns have (`caged_judge`).

| the finding is on | asked again                                        |
|-------------------|----------------------------------------------------|
| TVM's importer    | that TVM                                           |
| refmlc's importer | refmlc's                                           |
| the framework     | refmlc's importer, and each TVM of the campaign    |
"""

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any

from refmlc.diag import Diagnostic, fail
from refmlc.diag.catalogue import BAD_FILE, BAD_USAGE, CRASHED, REFUSED_PROGRAM, UNSUPPORTED_CONSTRUCT, WRONG_IMPORT
from refmlc.oracle.fuzz.subjects.imports import answer_difference, importers
from refmlc.oracle.fuzz.subjects.imports.caged_judge import CagedJudge
from refmlc.oracle.fuzz.subjects.imports.import_kinds import KINDS, program_of
from refmlc.oracle.fuzz.subjects.imports.tensor_reduction import StoredProgram
from refmlc.oracle.fuzz.subjects.replayed_trace import ReplayedTrace

CODES = {"crashed": CRASHED, "failed": REFUSED_PROGRAM}
"""The codes of what is no result; every other difference is RM706."""
MISSING = "refused"


@dataclass(frozen=True)
class ModelFindingFile:
    """The content of the file of a finding on an importer. `program`: as data; `specs`: the TVMs that it names."""

    id: str
    path: str
    code: str
    cause: tuple[str, ...]
    program: Mapping[str, object]
    specs: tuple[str, ...]
    kind: str = importers.KIND


def read_model(text: str) -> ModelFindingFile | None:
    """The finding on an importer that `text` holds; None: it is another one, or none."""
    match tomllib.loads(text):
        case {
            "signature": str(identity),
            "path": str(path),
            "kind": str(kind),
            "code": str(code),
            "case": {"cause": [*cause], **case},
            **more,
        } if kind in KINDS:
            program = case.get(KINDS[kind].data)
            if not isinstance(program, dict):
                return None
            named = more.get("implementations")
            pythons = importers.pythons_among(list(map(str, named)) if isinstance(named, list) else [])
            if path == importers.OURS:
                pythons = ()
            elif path.startswith(importers.IMPORTER):
                pythons = (path.removeprefix(importers.IMPORTER),)
            specs = tuple(f"{importers.TVM}{python}" for python in pythons)
            return ModelFindingFile(identity, path, code, tuple(map(str, cause)), program, specs, kind)
    return None


def paths_of(file: ModelFindingFile, specs: Sequence[str]) -> tuple[str, ...]:
    """The importers to ask: TVM's of `specs`, as `--impl` takes them; refmlc's where the finding is not on TVM's."""
    pythons = importers.pythons_among(specs)
    is_theirs = file.path.startswith(importers.IMPORTER) or (file.path == importers.OURS and pythons)
    ours = () if is_theirs else (importers.OURS,)
    return (*ours, *(f"{importers.IMPORTER}{python}" for python in pythons))


def stored_program(file: ModelFindingFile, name: str) -> StoredProgram:
    """The program of the file `name`. Fails: RM109; RM112 where its framework is missing."""
    kind = KINDS[file.kind]
    if kind.missing():
        raise fail(BAD_USAGE, f"`{kind.missing()}` is not installed; the program of `{name}` needs it")
    try:
        return program_of(file.kind, file.program)
    except MemoryError:
        raise
    except Exception as problem:  # noqa: BLE001 - a framework raises anything
        raise fail(BAD_FILE, f"`{name}` has no program of {kind.framework}: {problem}") from None


@contextmanager
def judge_of(kind: str, pythons: Sequence[str], seconds: float) -> Iterator[CagedJudge[Any]]:
    """The framework and the importers, in a worker that ends. Fails: RM112 where a TVM lacks the framework."""
    package = KINDS[kind].package
    with closing(CagedJudge[Any](kind, seconds)) as judge:
        for python in pythons:
            missing = judge.says(f"{importers.IMPORTER}{python}").get("missing")
            if isinstance(missing, list) and package in missing:
                raise fail(BAD_USAGE, f"`{package}` is not installed beside the TVM of `{python}`")
        yield judge


def name_of(judge: CagedJudge[Any], path: str) -> str:
    """What answers on a path, with its version."""
    return "refmlc's importer" if path == importers.OURS else str(judge.says(path).get("name", "TVM's importer"))


def replayed_model(file: ModelFindingFile, specs: Sequence[str], name: str, seconds: float) -> list[ReplayedTrace]:
    """The verdict on each importer. `specs`: TVMs. Fails: RM109, RM112; RM504 where nothing is compared."""
    program = stored_program(file, name)
    with judge_of(file.kind, importers.pythons_among(specs), seconds) as judge:
        return [_replayed(judge, path, program) for path in paths_of(file, specs)]


def _replayed(judge: CagedJudge[Any], path: str, program: StoredProgram) -> ReplayedTrace:
    expected, by, kind = judge.evaluated(program), name_of(judge, path), KINDS[judge.kind]
    if isinstance(expected, str):
        raise fail(UNSUPPORTED_CONSTRUCT, f"nothing was compared: {kind.witness} has no result, {expected}")
    found = judge.of(path, program)
    how = answer_difference.how_wrong(expected, found)
    if not how:
        return ReplayedTrace(by, ("equal",), None)
    line = f"{how}: {answer_difference.described(expected, found)}"
    if how == MISSING:
        raise fail(UNSUPPORTED_CONSTRUCT, f"nothing was compared: {by} does not take the model: {found}")
    message = f"{by} is wrong on {'+'.join(kind.names(program))}: {line}"
    return ReplayedTrace(by, (f"wrong, {line}",), Diagnostic(CODES.get(how, WRONG_IMPORT), message))
