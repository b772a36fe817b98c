"""The facts of a report on an importer of TVM: each is measured here.

| fact        | from                                                                                              |
|-------------|---------------------------------------------------------------------------------------------------|
| the model   | the program with shorter axes and plainer numbers, as long as TVM is wrong in the same way and    |
|             | refmlc's importer agrees with the framework as before                                             |
| neighbours  | the model without an attribute or option, in another version or dtype; refmlc's importer          |
| versions    | the same model in each Python that the user names                                                 |
| duplicates  | the row of `conformance/known` on the operator and the words of the cause                         |

The framework and the importers run in a worker (`caged_judge`).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import Any, cast

import numpy as np

from refmlc.diag import RefmlcError, fail
from refmlc.diag.catalogue import BAD_USAGE, UNSUPPORTED_CONSTRUCT
from refmlc.lazy import load
from refmlc.oracle.fuzz.subjects.imports import answer_difference, importers, torch_imports
from refmlc.oracle.fuzz.subjects.imports.caged_judge import CagedJudge
from refmlc.oracle.fuzz.subjects.imports.import_kinds import KINDS
from refmlc.oracle.fuzz.subjects.imports.imported_model import (
    CODES,
    MISSING,
    ModelFindingFile,
    judge_of,
    name_of,
    stored_program,
)
from refmlc.oracle.fuzz.subjects.imports.onnx_reduction import alone_of
from refmlc.oracle.fuzz.subjects.imports.tensor_reduction import less, reduced
from refmlc.oracle.fuzz.subjects.imports.torch_operators import TorchProgram, function_of
from refmlc.oracle.issue.model_script import model_script, model_text
from refmlc.oracle.issue.report import SILENT, NeighbourRow
from refmlc.oracle.issue.torch_script import torch_script, torch_text
from refmlc.oracle.issue.versions import VersionVerdict, in_order, verdicts
from refmlc.oracle.record import known_nodes

SECONDS = 60.0  # that TVM has for a model
MOST_VERSIONS = 3
FLOATS = ("float32", "float64")


@dataclass(frozen=True)
class ModelForm:
    """How a kind of models is written: as text, as a script with its message; models that differ in one thing."""

    text: Callable[[Any], str]
    script: Callable[[Any, str], str]
    variants: Callable[[Any], Iterator[tuple[str, Any]]]


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
    program, path = stored_program(file, file.id), f"{importers.IMPORTER}{pythons[0]}"
    kind, form = KINDS[file.kind], FORMS[file.kind]
    with judge_of(file.kind, pythons[:1], SECONDS) as judge:
        progress("run")
        how, _ = _verdict(judge, path, program)
        if how in ("", MISSING):
            does = "imports it right" if not how else "says that it does not take it"
            raise fail(BAD_USAGE, f"`{name_of(judge, path)}`, asked for the model of `{file.id}`, {does}")
        progress("reduce")
        program = _first_wrong(judge, path, program) or program
        how, _ = _verdict(judge, path, program)
        deadline = monotonic() + seconds
        ours = _verdict(judge, importers.OURS, program)[0]

        def keeps(other: object) -> bool:
            in_time = monotonic() < deadline and importers.same(judge, path, other, how)
            return in_time and _verdict(judge, importers.OURS, other)[0] == ours

        program = reduced(program, less, keeps)
        expected, found = judge.evaluated(program), judge.of(path, program)
        names, arguments = kind.names(program), program.arguments.items()
        report = ModelReport(
            file,
            form.text(program),
            "+".join(names),
            how,
            CODES[how].id if how in CODES else importers.WRONG,
            answer_difference.shown(expected),
            answer_difference.shown(found),
            name_of(judge, path).removesuffix(" importer"),
            arguments=tuple(f"{name}: {answer_difference.shown([array])}" for name, array in arguments),
            row=known_nodes(judge.says(path), kind.cause(program, how)) if len(names) == 1 else "",
            script=form.script(program, answer_difference.described(expected, found)),
        )
        progress("neighbours")
        report = replace(report, neighbours=tuple(_neighbours(judge, path, program)))
        progress("versions")
        return replace(report, versions=tuple(_versions(judge, pythons, program)))


def _first_wrong(judge: CagedJudge[Any], path: str, program: Any) -> Any | None:  # noqa: ANN401 - a graph or program
    """The first node of several that is wrong by itself, on the values that reach it; None: none, or no graph."""
    if judge.kind != importers.KIND or len(program.nodes) < 2:
        return None
    values = {**program.constants, **program.arguments}
    for number, node in enumerate(program.nodes, 1):
        alone = alone_of(program, node, values)
        if answer_difference.how_wrong(judge.evaluated(alone), judge.of(path, alone)) not in ("", MISSING):
            return alone
        names = tuple(filter(None, node.outputs))
        results = judge.evaluated(replace(program, nodes=program.nodes[:number], outputs=names))
        if isinstance(results, str):
            return None
        values |= dict(zip(names, results, strict=True))
    return None


def _verdict(judge: CagedJudge[Any], path: str, program: object) -> tuple[str, str]:
    """How the result on a path is wrong, and both results. Fails: RM504 where the framework has none."""
    expected, witness = judge.evaluated(program), KINDS[judge.kind].witness
    if isinstance(expected, str):
        raise fail(UNSUPPORTED_CONSTRUCT, f"nothing was compared: {witness} has no result, {expected}")
    found = judge.of(path, program)
    how = answer_difference.how_wrong(expected, found)
    return how, f"{how}: {answer_difference.described(expected, found)}" if how else f"as {witness}"


def _neighbours(judge: CagedJudge[Any], path: str, program: object) -> Iterator[NeighbourRow]:
    """The models that differ in one thing and have a meaning; refmlc's importer; its module, compiled by this TVM."""
    for name, other in FORMS[judge.kind].variants(program):
        try:
            how, word = _verdict(judge, path, other)
        except RefmlcError:
            continue
        yield NeighbourRow(name, not how, word)
    how, word = _verdict(judge, importers.OURS, program)
    yield NeighbourRow("refmlc's importer for TVM's", not how, word)
    if not how:
        right = judge.compiles_ours(path.removeprefix(importers.IMPORTER), program)
        yield NeighbourRow("refmlc's module of the model, compiled by this TVM", right, word if right else "differs")


def _other_graphs(graph: Any) -> Iterator[tuple[str, Any]]:  # noqa: ANN401 - a graph, whose module needs ONNX
    """The graph without an attribute, and in the nearest other versions of the operators."""
    for place, node in enumerate(graph.nodes):
        for name in node.attributes:
            rest = {key: value for key, value in node.attributes.items() if key != name}
            nodes = (*graph.nodes[:place], replace(node, attributes=rest), *graph.nodes[place + 1 :])
            yield f"{node.op} without `{name}`", replace(graph, nodes=nodes)
    opsets = cast("Sequence[int]", load(f"{importers.GRAPHS}:OPSETS"))
    nearest = sorted((each for each in opsets if each != graph.opset), key=lambda each: abs(each - graph.opset))
    for opset in sorted(nearest[:MOST_VERSIONS]):
        yield f"opset {opset} for {graph.opset}", replace(graph, opset=opset)


def _other_programs(program: TorchProgram) -> Iterator[tuple[str, TorchProgram]]:
    """The program without an option, and with floats of another dtype."""
    for place, call in enumerate(program.calls):
        for name in call.options:
            rest = {key: value for key, value in call.options.items() if key != name}
            calls = (*program.calls[:place], replace(call, options=rest), *program.calls[place + 1 :])
            function = function_of(call.function)
            yield f"`{function}` without `{name}`", replace(program, calls=calls)
    arrays = {**program.constants, **program.arguments}.values()
    dtypes = sorted({str(array.dtype) for array in arrays if array.dtype.kind == "f"})
    for dtype in FLOATS if dtypes else ():
        if dtypes != [dtype]:
            other = replace(program, constants=_as(program.constants, dtype), arguments=_as(program.arguments, dtype))
            yield f"{dtype} for {', '.join(dtypes)}", other


def _as(arrays: Mapping[str, np.ndarray], dtype: str) -> Mapping[str, np.ndarray]:
    return {name: array.astype(dtype) if array.dtype.kind == "f" else array for name, array in arrays.items()}


FORMS: Mapping[str, ModelForm] = {
    importers.KIND: ModelForm(model_text, model_script, _other_graphs),
    torch_imports.KIND: ModelForm(torch_text, torch_script, _other_programs),
}


def _versions(judge: CagedJudge[Any], pythons: Sequence[str], program: object) -> list[VersionVerdict]:
    """The verdict on each version. A Python that does not start, or lacks the framework, is left out.

    `judge` has started the first of them already: to start it again takes longer than all that it does here.
    """

    def judge_with(python: str) -> AbstractContextManager[CagedJudge[Any]]:
        return nullcontext(judge) if python == pythons[0] else judge_of(judge.kind, [python], SECONDS)

    started: list[tuple[str, str]] = []
    for python in pythons:
        try:
            with judge_with(python) as asked:
                name = name_of(asked, f"{importers.IMPORTER}{python}")
                started.append((name.removeprefix("tvm ").removesuffix(" importer"), python))
        except RefmlcError:
            continue
    order = in_order([version for version, _ in started])

    def run(number: int) -> tuple[bool, str]:
        python = started[order[number]][1]
        with judge_with(python) as asked:
            how, word = _verdict(asked, f"{importers.IMPORTER}{python}", program)
            return how not in ("", MISSING), word

    return verdicts([started[number][0] for number in order], run)
