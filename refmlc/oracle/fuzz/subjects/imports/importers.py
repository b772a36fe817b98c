"""Programs of the kind `imports`: graphs of ONNX, by TVM's importer and by refmlc's, each held to ONNX's own evaluator.

| who differs from the evaluator | the finding is on                                                                  |
|--------------------------------|------------------------------------------------------------------------------------|
| TVM                            | `tvm-importer:PYTHON`: `compiled_import` says whether its importer or its compiler |
| refmlc                         | `refmlc-importer`                                                                  |
| both, and they agree           | `onnx`: the evaluator is alone; to be judged, and then a row of `evaluator_faults` |

The first node that is wrong is taken out of its graph, and loses attributes and inputs that its fault does not need.
A cause is its operator, what is left of these, and how its result is wrong; words of `conformance/known` (`nodes`) that
a cause has make it a known one. Each TVM of the campaign runs it, so that a finding names the versions that have it.

Floats are compared within the error of their dtype: what is less exact is no finding of importers. TVM gives a shape
and a number where ONNX has a tensor of int64; they are taken for it.
"""

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import TYPE_CHECKING, TypeVar, cast

import numpy as np

from refmlc.diag import RefmlcError, fail
from refmlc.diag.catalogue import BAD_USAGE
from refmlc.lang.dtypes import SCALARS
from refmlc.lazy import load
from refmlc.oracle.fuzz.finding_pattern import Pattern, failure_words
from refmlc.oracle.fuzz.likeness import like_row
from refmlc.oracle.fuzz.result import BatchResult, FindingRecord, Json, digest_of, merged, signature
from refmlc.oracle.fuzz.settings import CampaignSettings
from refmlc.oracle.fuzz.subjects.imports.answer_difference import described, how_wrong
from refmlc.oracle.fuzz.subjects.imports.compiled_import import (
    CompiledImport,
    CompilingJudge,
    ImportedCall,
    WrongImport,
    compiled_import,
    is_right,
)
from refmlc.oracle.fuzz.subjects.imports.evaluator_faults import excluded
from refmlc.oracle.fuzz.subjects.imports.importer_process import Answers, ImportJudge, compiler, importer
from refmlc.oracle.fuzz.subjects.imports.onnx_domains import NoResult
from refmlc.oracle.fuzz.subjects.imports.onnx_operators import OPERATORS
from refmlc.oracle.fuzz.subjects.imports.onnx_reduction import alone_of, simpler
from refmlc.oracle.fuzz.subjects.imports.tensor_reduction import less, reduced
from refmlc.oracle.record import known_nodes

if TYPE_CHECKING:
    from refmlc.oracle.fuzz.subjects.imports.onnx_graphs import OnnxGraph

P = TypeVar("P")
KIND = "imports"
TVM = "tvm:"
IMPORTER = "tvm-importer:"
OURS = "refmlc-importer"
FRAMEWORK = "onnx"
JUDGED = ("equal", "wrong")
WRONG, REFUSED, CRASHED = "RM706", "RM707", "RM703"
GRAPHS = "refmlc.oracle.fuzz.subjects.imports.onnx_graphs"


def pythons_of(settings: CampaignSettings) -> tuple[str, ...]:
    """The Pythons of the campaign's TVMs, each once."""
    return pythons_among(settings.implementations)


def pythons_among(implementations: Sequence[str]) -> tuple[str, ...]:
    """The Pythons of the TVMs among implementations, each once."""
    specs = [spec.removeprefix(TVM).rpartition("@") for spec in implementations if spec.startswith(TVM)]
    paths = [(path if at and number.isdecimal() else f"{path}{at}{number}") for path, at, number in specs]
    return tuple(dict.fromkeys(path.partition(",")[0] for path in paths))


@dataclass(frozen=True)
class ImportFinding:
    """A wrong result of an importer. `graph`: one node; `cause`: operator, words that matter, how it is wrong.

    `refusal`: the words of an importer that does not take it.
    """

    graph: "OnnxGraph"
    path: str
    code: str
    cause: tuple[str, ...]
    message: str
    refusal: str = ""


class Judge:
    """The evaluator, refmlc's importer and the TVMs of a campaign."""

    def __init__(self, pythons: Sequence[str], seconds: float) -> None:
        self.pythons, self.seconds = tuple(pythons), seconds

    def evaluated(self, graph: "OnnxGraph") -> Answers:
        """What ONNX's evaluator computes."""
        try:
            values = load(f"{GRAPHS}:evaluated")(graph)
        except MemoryError:
            raise
        except NoResult as problem:
            return f"refused: {problem}"
        except Exception as problem:  # noqa: BLE001 - the evaluator raises anything
            return f"refused: {type(problem).__name__}"
        return [values[name] for name in graph.outputs]

    def exports(self, graph: "OnnxGraph") -> bool:
        """A graph is a model already."""
        return bool(graph.nodes)

    def ours(self, graph: "OnnxGraph") -> Answers:
        """The result of refmlc's importer, executed by the interpreter."""
        prepared = load("refmlc.frontends.onnx_backend:prepare")(graph.model(), "CPU", "interp")
        try:
            return [np.asarray(each) for each in prepared.run(dict(graph.arguments))]
        except RefmlcError as failure:
            return f"refused: {failure.diagnostic.message}"

    def theirs(self, python: str, graph: "OnnxGraph") -> Answers:
        """The result of TVM's importer."""
        with written(graph) as path:
            return importer(python, self.seconds).answers(path, list(graph.arguments.values()))

    def shown(self, python: str, graph: "OnnxGraph") -> str:
        """The text of the module that TVM's importer makes; empty: it makes none."""
        with written(graph) as path:
            return importer(python, self.seconds).shown(path)

    def of(self, path: str, graph: "OnnxGraph") -> Answers:
        """The answers on a path."""
        return self.ours(graph) if path == OURS else self.theirs(path.removeprefix(IMPORTER), graph)

    def others(self, path: str) -> tuple[str, ...]:
        """The paths of another maker."""
        return tuple(f"{IMPORTER}{python}" for python in self.pythons) if path == OURS else (OURS,)

    def compiles_ours(self, python: str, graph: "OnnxGraph") -> bool:
        """Whether this TVM gives the right result for the module that refmlc imports."""
        call = self._call(graph)
        return call is not None and is_right(compiler(python, self.seconds), call, self.evaluated(graph))

    def compiled(self, python: str, graph: "OnnxGraph", wrong: WrongImport) -> CompiledImport:
        """What this TVM makes of the module that refmlc imports, where its importer is wrong."""
        call = self._call(graph)
        if call is None:
            return CompiledImport()
        tvm, expected = compiler(python, self.seconds), self.evaluated(graph)
        return compiled_import(tvm, call, expected, wrong, lambda: self.shown(python, graph))

    def _call(self, graph: "OnnxGraph") -> ImportedCall | None:
        """The module that refmlc imports, with its inputs; None: there is none."""
        try:
            prepared = load("refmlc.frontends.onnx_backend:prepare")(graph.model(), "CPU", "interp")
            module = prepared.module(dict(graph.arguments))
            arrays = [graph.arguments[each.name] for each in module.functions["main"].params]
        except (RefmlcError, KeyError):
            return None
        return ImportedCall(module, tuple(map(np.asarray, arrays)))


@contextmanager
def written(graph: "OnnxGraph") -> Iterator[Path]:
    """A file with the model, which ends with the block."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.onnx"
        path.write_bytes(graph.model().SerializeToString())
        yield path


def guilty(judge: Judge, path: str, graph: "OnnxGraph") -> "OnnxGraph | None":
    """The first node that is wrong on a path, alone, with the evaluator's values as inputs; None: no node alone is."""
    values = {**graph.constants, **graph.arguments, **load(f"{GRAPHS}:evaluated")(graph)}
    for node in graph.nodes:
        alone = alone_of(graph, node, values)
        if how_wrong(judge.evaluated(alone), judge.of(path, alone)):
            return alone
    return None


def cause_of(graph: "OnnxGraph", how: str) -> tuple[str, ...]:
    """The operator, the words that matter (attributes, inputs, the output, an old version), and how it is wrong."""
    node = graph.nodes[0]
    schema = load(f"{GRAPHS}:schema_of")(node.op, graph.opset)
    words = set(node.attributes)
    for place, name in enumerate(node.inputs[1:], 1):
        formal = schema.inputs[min(place, len(schema.inputs) - 1)].name
        is_own = name in graph.arguments and place < len(schema.inputs)
        if is_own and formal in ("shape", "starts", "ends", "split", "repeats", "axes"):
            words.add(f"{formal}_argument")
        if name:
            words.add(formal)
    absent = [each.name for each in schema.inputs[len(node.inputs) :]]
    words |= {f"{name}_absent" for name in absent}
    arrays = (*graph.arguments.values(), *graph.constants.values())
    words |= {EMPTY} if any(not array.size for array in arrays) else set()
    words |= {f"out{node.outputs.index(graph.outputs[0])}"} if graph.outputs != node.outputs[:1] else set()
    return (node.op, *sorted(words), f"opset{schema.since_version}", how)


def has_specials(array: np.ndarray) -> bool:
    """Whether an array holds NaN or an infinity."""
    return array.dtype.kind == "f" and not np.isfinite(array).all()


def brief(cause: Sequence[str]) -> tuple[str, ...]:
    """The words of a cause that make it another one: not what is absent or has no elements, nor the version."""
    others = (word for word in cause if word != EMPTY and not word.endswith("_absent"))
    return tuple(word for word in others if not word.startswith("opset"))


def finding_of(judge: Judge, path: str, graph: "OnnxGraph") -> ImportFinding | None:
    """What is wrong with a graph on a path: one node of it, made small."""
    alone = guilty(judge, path, graph)
    whole = alone is None
    if alone is None:
        alone = graph
    expected, found = judge.evaluated(alone), judge.of(path, alone)
    how = how_wrong(expected, found)
    if not how:
        return None
    if not whole:
        alone = reduced(alone, simpler, lambda candidate: same(judge, path, candidate, how))
    expected, found = judge.evaluated(alone), judge.of(path, alone)
    others = judge.others(path) if not isinstance(found, str) and how_wrong(expected, found) else ()
    if any(not how_wrong(found, judge.of(other, alone)) for other in others):
        path = FRAMEWORK
    code = CRASHED if how == "crashed" else REFUSED if how in ("refused", "failed") else WRONG
    cause = cause_of(alone, how) if not whole else ("+".join(node.op for node in graph.nodes), how)
    name = "+".join(node.op for node in alone.nodes)
    who = {OURS: "refmlc's importer", FRAMEWORK: "either ONNX's evaluator or each importer"}.get(path, "TVM's importer")
    message = f"{who} is wrong on {name}: {how}: {described(expected, found)}"
    return ImportFinding(alone, path, code, cause, message, refusal_of(found))


def same(judge: ImportJudge[P], path: str, candidate: P, how: str) -> bool:
    """Whether a program is wrong in the same way."""
    expected = judge.evaluated(candidate)
    if isinstance(expected, str) or not judge.exports(candidate):
        return False
    return how_wrong(expected, judge.of(path, candidate)) == how


EMPTY = "empty"  # an argument or a constant has no elements
NUMBERS = ("shape", "starts", "ends", "split", "repeats", "axes", "max_output_boxes_per_class")
"""Inputs that make another cause where they are arguments, and no constants."""
PLANTED = {
    "opset": 13,
    "nodes": [["Neg", ["x"], ["a"], {}], ["Flatten", ["a"], ["b"], {"axis": 1}]],
    "constants": {},
    "arguments": {"x": ["float32", [2, 2], [1.0, 2.0, 3.0, 4.0]]},
    "outputs": ["b"],
}
"""A graph on which a planted importer, which takes the attribute for its default, is wrong in the second node."""


class Planted(Judge):
    """An importer with a fault: it ignores `axis`."""

    def of(self, path: str, graph: "OnnxGraph") -> Answers:
        """The evaluator's answer on the graph with `axis` 0."""
        del path
        nodes = tuple(replace(node, attributes={"axis": 0}) if node.op == "Flatten" else node for node in graph.nodes)
        return self.evaluated(replace(graph, nodes=nodes))


@cache
def prove_power() -> None:
    """Find the planted fault, once in a process. Raises RuntimeError: then no verdict of it is worth anything."""
    graph = load(f"{GRAPHS}:OnnxGraph").from_json(PLANTED)
    finding = finding_of(Planted((), 1.0), OURS, graph)
    if finding is None or brief(finding.cause) != ("Flatten", "shape"):
        raise RuntimeError("the planted importer that ignores an attribute is not found")


def operator_names() -> Collection[str]:
    """The operators of the table, which a campaign may leave out."""
    return tuple(OPERATORS)


def missing() -> str:
    """The package that graphs need and this Python lacks; empty: none."""
    try:
        load("onnx")
    except ImportError:
        return "onnx"
    return ""


def run_graphs(settings: CampaignSettings, batch: int, numbers: Sequence[int]) -> BatchResult:
    """Verdicts on both importers, findings, the operators that occurred, why results were not compared."""
    if missing():
        reasons = {
            FRAMEWORK: {f"unsupported: `{missing()}` is not installed (pip install 'refmlc[onnx]')": len(numbers)}
        }
        return BatchResult(batch, len(numbers), {FRAMEWORK: {"unsupported": len(numbers)}}, reasons=reasons)
    prove_power()
    judge = Judge(pythons_of(settings), judge_seconds(settings))
    counts: dict[str, Counter[str]] = {}
    reasons_by_path: dict[str, Counter[str]] = {}
    operators, findings, bases = set[str](), list[FindingRecord](), dict[str, list[str]]()
    for number in numbers:
        try:
            graph = load(f"{GRAPHS}:drawn_graph")(settings.seed_of(number), exclude=settings.exclude)
        except ValueError as none:
            counts.setdefault(FRAMEWORK, Counter())["unsupported"] += 1
            reasons_by_path.setdefault(FRAMEWORK, Counter())[f"unsupported: {none}"] += 1
            continue
        operators |= {node.op for node in graph.nodes}
        digest = digest_of(without_values(graph))
        for path in (OURS, *(f"{IMPORTER}{python}" for python in judge.pythons)):
            verdict, why, finding = judged(judge, path, graph)
            counts.setdefault(path, Counter())[verdict] += 1
            if verdict in JUDGED:
                bases.setdefault(path, []).append(digest)
            if why:
                reasons_by_path.setdefault(path, Counter())[f"{verdict}: {why}"] += 1
            if finding is not None:
                findings.append(record_of(settings, number, judge, finding))
    coverage = {"ONNX operators": tuple(sorted(operators))}
    return BatchResult(
        batch,
        len(numbers),
        counts,
        coverage,
        merged(findings),
        reasons={path: dict(rows) for path, rows in reasons_by_path.items()},
        bases={path: tuple(digests) for path, digests in bases.items()},
    )


def without_values(graph: "OnnxGraph") -> str:
    """The graph as text, without the values of its arguments."""
    shapes = {name: [str(array.dtype), *array.shape] for name, array in graph.arguments.items()}
    return json.dumps({**graph.to_json(), "arguments": shapes}, sort_keys=True)


def judged(judge: Judge, path: str, graph: "OnnxGraph") -> tuple[str, str, ImportFinding | None]:
    """The verdict on a path, why it is none, and the finding."""
    expected = judge.evaluated(graph)
    if isinstance(expected, str):
        return "unsupported", "the evaluator refuses", None
    python = path.removeprefix(IMPORTER)
    if path != OURS and FRAMEWORK in lacking(judge, python):
        return "unsupported", f"`{FRAMEWORK}` is not installed beside this TVM", None
    found = judge.of(path, graph)
    how = how_wrong(expected, found)
    if not how:
        return "equal", "", None
    if how == "refused":
        return "unsupported", str(found).partition(": ")[2], None
    finding = finding_of(judge, path, graph)
    if finding is None:
        return "unsupported", "the difference does not occur again", None
    why = excluded(finding.cause)
    return ("unsupported", f"the evaluator {why}", None) if why else ("wrong", "", finding)


def lacking(judge: Judge, python: str) -> Sequence[str]:
    """The packages that this TVM's importers miss."""
    said = importer(python, judge.seconds).says.get("missing") if python else ()
    return said if isinstance(said, list) else ()


def record_of(settings: CampaignSettings, number: int, judge: Judge, finding: ImportFinding) -> FindingRecord:
    """The finding as data."""
    python = finding.path.removeprefix(IMPORTER)
    lines = [finding.message]
    if finding.path.startswith(IMPORTER):
        says = importer(python, judge_seconds(settings)).says
        lines[0] = f"{str(says.get('name', '')).removesuffix(' importer')}: {finding.message}"
        lines += said_of(judge, finding.path, finding.graph, WrongImport(finding.cause, finding.refusal))
    return FindingRecord(
        signature("", KIND, finding.path, finding.code, *brief(finding.cause)),
        finding.code,
        finding.path,
        finding.cause[-1],
        "\n".join(lines),
        number,
        settings.seed_of(number),
        KIND,
        case_of(finding),
    )


def said_of(judge: CompilingJudge[P], path: str, program: P, wrong: WrongImport, action: str = "import") -> list[str]:
    """The recorded deviation that a finding is, or looks like, and what is wrong in TVM, as lines of its message."""
    if not path.startswith(IMPORTER):
        return []
    python = path.removeprefix(IMPORTER)
    compiled = judge.compiled(python, program, wrong)
    says = importer(python, judge.seconds).says
    return [*rows_said(says, wrong.cause, wrong.refusal, action, of_compiler=compiled.rows), *compiled.lines]


def rows_said(
    says: Mapping[str, object],
    cause: Sequence[str],
    refusal: str,
    action: str = "import",
    *,
    of_compiler: Sequence[str] = (),
) -> list[str]:
    """The recorded deviation that a finding is, or looks like, as a line of its message.

    `of_compiler`: such lines on refmlc's module of the same model; a row of the importer says more.
    """
    row = known_nodes(says, cause, refusal, action)
    if of_compiler and not row:
        return list(of_compiler)
    like = "" if row or not refusal else refusal_like(says, refusal, cause)
    return [f"as the known row {row}"] * bool(row) + [f"it is like the known row {like}"] * bool(like)


def refusal_of(found: Answers) -> str:
    """The words of an importer that refuses; empty: it gives results."""
    return found.partition(": ")[2] if isinstance(found, str) else ""


def refusal_like(says: Mapping[str, object], refusal: str, cause: Sequence[str] = ()) -> str:
    """The recorded deviation of TVM's compiler whose message this is, on the operator and the dtype of the cause."""
    compiler = {**says, "name": str(says.get("name", "")).removesuffix(" importer")}
    names = {cause[0], cause[0].lower()} if cause else set()
    dtypes = {word for word in cause[1:] if word in SCALARS} or {str(dtype) for dtype in SCALARS}
    uses = frozenset((name, dtype) for name in names for dtype in dtypes)
    return like_row(compiler, Pattern(failure_words(refusal), uses=uses), refusal)


def judge_seconds(settings: CampaignSettings) -> float:
    """How long an importer may take."""
    return settings.program_seconds


def case_of(finding: ImportFinding) -> dict[str, object]:
    """The graph as data, and as ONNX prints it."""
    text = load("onnx.printer:to_text")(finding.graph.model())
    return {"text": text, "graph": finding.graph.to_json(), "cause": list(finding.cause)}


def shrink_graph(settings: CampaignSettings, finding: FindingRecord, seconds: float) -> Json:
    """The graph with shorter axes and plainer numbers that is wrong for the same cause."""
    deadline = monotonic() + seconds
    judge = Judge(pythons_of(settings), judge_seconds(settings))
    graph = replayed(finding)
    how, path = str(finding.verdict), OURS if finding.path == FRAMEWORK else finding.path
    if not same(judge, path, graph, how):
        return {"problem": "the finding does not occur again"}
    before = sum(array.size for array in graph.arguments.values())
    graph = reduced(graph, less, lambda candidate: monotonic() < deadline and same(judge, path, candidate, how))
    found = judge.of(path, graph)
    nodes = cast("list[str]", finding.case["cause"])[0]
    cause = cause_of(graph, how) if len(graph.nodes) == 1 else (nodes, how)
    small = ImportFinding(graph, finding.path, finding.code, cause, "")
    rows = said_of(judge, path, graph, WrongImport(cause, refusal_of(found)))
    return {
        "case": case_of(small),
        "message": "\n".join([described(judge.evaluated(graph), found), *rows]),
        "elements": [before, sum(array.size for array in graph.arguments.values())],
    }


def replayed(finding: FindingRecord) -> "OnnxGraph":
    """The graph that a finding holds. Fails: RM112."""
    if missing():
        raise fail(BAD_USAGE, f"`{missing()}` is not installed; the graph of the finding needs it")
    graph: OnnxGraph = load(f"{GRAPHS}:OnnxGraph").from_json(json.loads(json.dumps(finding.case))["graph"])
    return graph
