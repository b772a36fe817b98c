"""A finding on an importer, made again: the stored graph through importers, each held to ONNX's evaluator.

| the finding is on | asked again                                        |
|-------------------|----------------------------------------------------|
| TVM's importer    | that TVM                                           |
| refmlc's importer | refmlc's                                           |
| the evaluator     | refmlc's importer, and each TVM of the campaign    |
"""

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from refmlc.diag import Diagnostic, fail
from refmlc.diag.catalogue import BAD_FILE, BAD_USAGE, CRASHED, REFUSED_PROGRAM, UNSUPPORTED_CONSTRUCT, WRONG_IMPORT
from refmlc.lazy import load
from refmlc.oracle.fuzz.subjects.imports import importers
from refmlc.oracle.fuzz.subjects.imports.importer_process import end_processes, importer
from refmlc.oracle.fuzz.subjects.replayed_trace import ReplayedTrace

if TYPE_CHECKING:
    from refmlc.oracle.fuzz.subjects.imports.onnx_graphs import OnnxGraph

CODES = {"crashed": CRASHED, "failed": REFUSED_PROGRAM}
"""The codes of what is no result; every other difference is RM706."""
KINDS = "biuf"  # of NumPy's dtypes that tensors of a file may have
MISSING = "refused"


@dataclass(frozen=True)
class ModelFindingFile:
    """The content of the file of a finding on an importer. `graph`: as data; `specs`: the TVMs that it names."""

    id: str
    path: str
    code: str
    cause: tuple[str, ...]
    graph: Mapping[str, object]
    specs: tuple[str, ...]


def read_model(text: str) -> ModelFindingFile | None:
    """The finding on an importer that `text` holds; None: it is another one, or none."""
    match tomllib.loads(text):
        case {
            "signature": str(identity),
            "path": str(path),
            "kind": importers.KIND,
            "code": str(code),
            "case": {"graph": dict(graph), "cause": [*cause]},
            **more,
        }:
            named = more.get("implementations")
            pythons = importers.pythons_among(list(map(str, named)) if isinstance(named, list) else [])
            if path == importers.OURS:
                pythons = ()
            elif path.startswith(importers.IMPORTER):
                pythons = (path.removeprefix(importers.IMPORTER),)
            specs = tuple(f"{importers.TVM}{python}" for python in pythons)
            return ModelFindingFile(identity, path, code, tuple(map(str, cause)), graph, specs)
    return None


def paths_of(file: ModelFindingFile, specs: Sequence[str]) -> tuple[str, ...]:
    """The importers to ask: TVM's of `specs`, as `--impl` takes them; refmlc's where the finding is not on TVM's."""
    pythons = importers.pythons_among(specs)
    is_theirs = file.path.startswith(importers.IMPORTER) or (file.path == importers.OURS and pythons)
    ours = () if is_theirs else (importers.OURS,)
    return (*ours, *(f"{importers.IMPORTER}{python}" for python in pythons))


def graph_of(file: ModelFindingFile, name: str) -> "OnnxGraph":
    """The graph of the file `name`. Fails: RM109; RM112 where ONNX is missing."""
    if importers.missing():
        raise fail(BAD_USAGE, f"`{importers.missing()}` is not installed; the graph of `{name}` needs it")
    try:
        arrays = [*_values(file.graph["constants"]), *_values(file.graph["arguments"])]
        kinds = {np.dtype(dtype).kind for dtype, _, _ in arrays}
        graph: OnnxGraph | None = _graph(file.graph) if kinds <= set(KINDS) else None
    except MemoryError:
        raise
    except Exception as problem:  # noqa: BLE001 - ONNX raises anything
        raise fail(BAD_FILE, f"`{name}` has no graph of ONNX: {problem}") from None
    if graph is None:
        raise fail(BAD_FILE, f"`{name}` has a tensor that holds no numbers")
    return graph


def _graph(data: Mapping[str, object]) -> "OnnxGraph":
    """The graph, of which ONNX makes a model."""
    graph: OnnxGraph = load(f"{importers.GRAPHS}:OnnxGraph").from_json(data)
    graph.model()
    return graph


def _values(table: Any) -> list[Any]:  # noqa: ANN401 - of a file
    return list(table.values())


@contextmanager
def judge_of(pythons: Sequence[str], seconds: float) -> Iterator[importers.Judge]:
    """The evaluator and the importers; processes that were started end. Fails: RM112 where a TVM lacks ONNX."""
    judge = importers.Judge(pythons, seconds)
    with ExitStack() as stack:
        for python in pythons:
            stack.callback(end_processes, python, seconds)
            if importers.FRAMEWORK in importers.lacking(judge, python):
                raise fail(BAD_USAGE, f"`{importers.FRAMEWORK}` is not installed beside the TVM of `{python}`")
        yield judge


def name_of(judge: importers.Judge, path: str) -> str:
    """What answers on a path, with its version."""
    if path == importers.OURS:
        return "refmlc's importer"
    return str(importer(path.removeprefix(importers.IMPORTER), judge.seconds).says.get("name", "TVM's importer"))


def replayed_model(file: ModelFindingFile, specs: Sequence[str], name: str, seconds: float) -> list[ReplayedTrace]:
    """The verdict on each importer. `specs`: TVMs. Fails: RM109, RM112; RM504 where nothing is compared."""
    graph = graph_of(file, name)
    with judge_of(importers.pythons_among(specs), seconds) as judge:
        return [_replayed(judge, path, graph) for path in paths_of(file, specs)]


def _replayed(judge: importers.Judge, path: str, graph: "OnnxGraph") -> ReplayedTrace:
    expected, by = judge.evaluated(graph), name_of(judge, path)
    if isinstance(expected, str):
        raise fail(UNSUPPORTED_CONSTRUCT, f"nothing was compared: ONNX's evaluator has no result, {expected}")
    found = judge.of(path, graph)
    how = importers.how_wrong(expected, found)
    if not how:
        return ReplayedTrace(by, ("equal",), None)
    line = f"{how}: {importers.described(expected, found)}"
    if how == MISSING:
        raise fail(UNSUPPORTED_CONSTRUCT, f"nothing was compared: {by} does not take the model: {found}")
    operators = "+".join(node.op for node in graph.nodes)
    message = f"{by} is wrong on {operators}: {line}"
    return ReplayedTrace(by, (f"wrong, {line}",), Diagnostic(CODES.get(how, WRONG_IMPORT), message))
