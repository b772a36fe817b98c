"""The facts of a report on TVM's importer of ONNX: each is measured here.

| fact        | from                                                                                              |
|-------------|---------------------------------------------------------------------------------------------------|
| the model   | the graph with shorter axes and plainer numbers, as long as TVM is wrong in the same way and      |
|             | refmlc's importer agrees with the evaluator as before                                             |
| neighbours  | the model without an attribute, or in another version of the operators; refmlc's importer         |
| versions    | the same model in each Python that the user names                                                 |
| duplicates  | the row of `conformance/known` on the operator and the words of the cause                         |
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import TYPE_CHECKING, cast

from refmlc.diag import RefmlcError, fail
from refmlc.diag.catalogue import BAD_USAGE, UNSUPPORTED_CONSTRUCT
from refmlc.lazy import load
from refmlc.oracle.fuzz.subjects.imports import importers
from refmlc.oracle.fuzz.subjects.imports.imported_model import (
    CODES,
    MISSING,
    ModelFindingFile,
    graph_of,
    judge_of,
    name_of,
)
from refmlc.oracle.fuzz.subjects.imports.importer_process import Answers, importer
from refmlc.oracle.fuzz.subjects.imports.importers import Judge
from refmlc.oracle.fuzz.subjects.imports.tensor_reduction import less, reduced
from refmlc.oracle.issue.model_script import model_script, model_text
from refmlc.oracle.issue.report import SILENT, NeighbourRow
from refmlc.oracle.issue.versions import VersionVerdict, in_order, verdicts
from refmlc.oracle.record import known_nodes

if TYPE_CHECKING:
    from refmlc.oracle.fuzz.subjects.imports.onnx_graphs import OnnxGraph

SECONDS = 60.0  # that TVM has for a model
MOST_VERSIONS = 3
AS_MEANT = "as ONNX's evaluator"


@dataclass(frozen=True)
class ModelReport:
    """What is known of a model that TVM imports wrongly. `version`: TVM's name; `row`: the recorded deviation.

    `expected`, `found`: the results in words; `how`: a refusal, or how they differ.
    """

    file: ModelFindingFile
    text: str
    operators: str
    how: str
    code: str
    expected: str
    found: str
    version: str
    arguments: tuple[str, ...] = ()
    neighbours: tuple[NeighbourRow, ...] = ()
    versions: tuple[VersionVerdict, ...] = ()
    row: str = ""
    script: str | None = field(default=None, repr=False)


def model_report(
    file: ModelFindingFile,
    specs: Sequence[str],
    *,
    seconds: float = 60.0,
    progress: Callable[[str], None] = SILENT,
) -> ModelReport:
    """The report on the first TVM of `specs`; further ones are other versions of it. `seconds`: for the reduction.

    Fails: RM109; RM112 where the model is not imported wrongly any more, or no TVM is named.
    """
    pythons = importers.pythons_among(specs)
    if not pythons:
        raise fail(BAD_USAGE, f"`{file.id}` holds a model", None, "`--impl tvm:PYTHON` names the TVM that imports it")
    graph, path = graph_of(file, file.id), f"{importers.IMPORTER}{pythons[0]}"
    with judge_of(pythons[:1], SECONDS) as judge:
        progress("run")
        how, _ = _verdict(judge, path, graph)
        if how in ("", MISSING):
            does = "imports it right" if not how else "says that it does not take it"
            raise fail(BAD_USAGE, f"`{name_of(judge, path)}`, asked for the model of `{file.id}`, {does}")
        progress("reduce")
        deadline = monotonic() + seconds
        ours = _verdict(judge, importers.OURS, graph)[0]

        def keeps(other: "OnnxGraph") -> bool:
            in_time = monotonic() < deadline and importers.same(judge, path, other, how)
            return in_time and _verdict(judge, importers.OURS, other)[0] == ours

        graph = reduced(graph, less, keeps)
        expected, found = judge.evaluated(graph), judge.of(path, graph)
        says = importer(pythons[0], SECONDS).says
        code = CODES[how].id if how in CODES else importers.WRONG
        report = ModelReport(
            file,
            model_text(graph),
            "+".join(node.op for node in graph.nodes),
            how,
            code,
            importers.shown(expected),
            importers.shown(found),
            name_of(judge, path).removesuffix(" importer"),
            arguments=tuple(f"{name}: {importers.shown([array])}" for name, array in graph.arguments.items()),
            row=known_nodes(says, importers.cause_of(graph, how)) if len(graph.nodes) == 1 else "",
            script=model_script(graph, importers.described(expected, found)),
        )
        progress("neighbours")
        report = replace(report, neighbours=tuple(_neighbours(judge, path, graph)))
    progress("versions")
    return replace(report, versions=tuple(_versions(pythons, graph)))


def _verdict(judge: Judge, path: str, graph: "OnnxGraph") -> tuple[str, str]:
    """How the result on a path is wrong, and both results. Fails: RM504 where the evaluator has none."""
    expected = judge.evaluated(graph)
    if isinstance(expected, str):
        raise fail(UNSUPPORTED_CONSTRUCT, f"nothing was compared: ONNX's evaluator has no result, {expected}")
    found: Answers = judge.of(path, graph)
    how = importers.how_wrong(expected, found)
    return how, f"{how}: {importers.described(expected, found)}" if how else AS_MEANT


def _neighbours(judge: Judge, path: str, graph: "OnnxGraph") -> Iterator[NeighbourRow]:
    """The models that differ in one thing and have a meaning; refmlc's importer; its module, compiled by this TVM."""
    for name, other in (*_without_attributes(graph), *_other_opsets(graph)):
        try:
            how, word = _verdict(judge, path, other)
        except RefmlcError:
            continue
        yield NeighbourRow(name, not how, word)
    how, word = _verdict(judge, importers.OURS, graph)
    yield NeighbourRow("refmlc's importer for TVM's", not how, word)
    if not how:
        right = judge.compiles_ours(path.removeprefix(importers.IMPORTER), graph)
        yield NeighbourRow(
            "refmlc's module of the model, compiled by this TVM", right, AS_MEANT if right else "differs"
        )


def _without_attributes(graph: "OnnxGraph") -> "Iterator[tuple[str, OnnxGraph]]":
    for place, node in enumerate(graph.nodes):
        for name in node.attributes:
            rest = {key: value for key, value in node.attributes.items() if key != name}
            nodes = (*graph.nodes[:place], replace(node, attributes=rest), *graph.nodes[place + 1 :])
            yield f"{node.op} without `{name}`", replace(graph, nodes=nodes)


def _other_opsets(graph: "OnnxGraph") -> "Iterator[tuple[str, OnnxGraph]]":
    """The model in the nearest other versions of the operators."""
    opsets = cast("Sequence[int]", load(f"{importers.GRAPHS}:OPSETS"))
    nearest = sorted((each for each in opsets if each != graph.opset), key=lambda each: abs(each - graph.opset))
    for opset in sorted(nearest[:MOST_VERSIONS]):
        yield f"opset {opset} for {graph.opset}", replace(graph, opset=opset)


def _versions(pythons: Sequence[str], graph: "OnnxGraph") -> list[VersionVerdict]:
    """The verdict on each version. A Python that does not start, or lacks ONNX, is left out."""
    started: list[tuple[str, str]] = []
    for python in pythons:
        try:
            with judge_of([python], SECONDS) as judge:
                name = name_of(judge, f"{importers.IMPORTER}{python}")
                started.append((name.removeprefix("tvm ").removesuffix(" importer"), python))
        except RefmlcError:
            continue
    order = in_order([version for version, _ in started])

    def run(number: int) -> tuple[bool, str]:
        python = started[order[number]][1]
        with judge_of([python], SECONDS) as judge:
            how, word = _verdict(judge, f"{importers.IMPORTER}{python}", graph)
            return how not in ("", MISSING), word

    return verdicts([started[number][0] for number in order], run)
