"""The finding that a row of `conformance/known` makes itself, and the row that it leads to.

| rows                | the finding                                                                      |
|---------------------|----------------------------------------------------------------------------------|
| of a result         | an implementation answers what the row records; anything else, where it says so   |
| of models, of calls | the importer's answer is the recorded one, the framework's the expected one       |

`without` leaves a row out, as if it were not known yet: what its finding leads to then is another row, or none.
"""

import ast
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import ml_dtypes
import numpy as np
import pytest

import refmlc
from refmlc.lang.ir import tir
from refmlc.oracle import record
from refmlc.oracle.examine import examine
from refmlc.oracle.fuzz import likeness
from refmlc.oracle.fuzz.finding_pattern import OF_C_COMPILER, Pattern, pattern_of
from refmlc.oracle.fuzz.result import KNOWN_ROW, LIKE_ROW
from refmlc.oracle.fuzz.subjects.imports import answer_difference, importer_process, importers
from refmlc.oracle.implementations.implementation import Ended, Stop, Stopped
from refmlc.oracle.implementations.interp import Interp
from refmlc.rewrite.transform.normal_form import normalize
from refmlc.run.memory.tensor import Tensor
from refmlc.vm.parameters import parameters_of

SAYS = {"name": "tvm 0.27.0.post1"}
ROWS = record.rows_on_record(SAYS)


@contextmanager
def without(row_id: str) -> Iterator[None]:
    """Without this row."""
    tables, looks = record._tables, likeness.looks_of_rows
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(record, "_tables", lambda *says: [row for row in tables(*says) if row["id"] != row_id])
        patched.setattr(likeness, "looks_of_rows", lambda *says: tuple(row for row in looks(*says) if row.id != row_id))
        yield


def array(typed):
    """`[dtype, values]` of a row; with a shape after them where there are no values."""
    name, values, *shape = typed
    found = np.array(values, np.dtype(getattr(ml_dtypes, name, None) or name))
    return found.reshape(shape[0]) if shape else found


# ----------------------------------------------------------------------------------------------- of a result


def arguments_by_name(row):
    """The arguments of a row by the names of its parameters."""
    names = [each.name for each in parameters_of(refmlc.read(row["module"]).functions["main"])]
    return {name: np.asarray(array(value), order="C") for name, value in zip(names, row["input"], strict=False)}


class RecordedCall:
    """The program of a row, with its arguments."""

    func, calls = "main", (0,)

    def __init__(self, row):
        self.module, self.name, self._input = normalize(refmlc.read(row["module"])), row["id"], row["input"]

    def arguments(self, number=0):
        """The arguments of the row."""
        del number
        return [Tensor.from_numpy(np.asarray(array(each), order="C")) for each in self._input]


class RecordedAnswer:
    """An implementation that answers every call as a row says; it introduces itself as TVM."""

    promises_verdicts, says, name = False, SAYS, "tvm"

    def __init__(self, row):
        self._row = row

    def prepare(self, module):
        """Itself: it has one answer."""
        self.is_graph = not isinstance(module.functions["main"], tir.PrimFunc)
        return self

    def run(self, func, args):
        """What the row got: another value than the expected one, where it says no more."""
        del func
        got = self._row["got"]
        if isinstance(got, str) and got.startswith(("SIG", "the process")):
            return Stopped(Stop.CRASHED, got if got.startswith("the process") else f"the process was killed by {got}")
        value = Tensor.from_numpy(np.asarray(another(self._row["expected"]) if isinstance(got, str) else array(got)))
        return Ended(value, tuple(args)) if self.is_graph else Ended(None, (*args[:-1], value))

    def close(self):
        """Nothing is held."""


def another(expected):
    """An array of other values: no expected one is 3."""
    return np.full_like(array(expected), 3)


@cache
def found(row_id):
    """The finding on the result that a row records, and its pattern; or the verdict, where it is none."""
    row = next(row for row in ROWS if row["id"] == row_id)
    call, answers = RecordedCall(row), RecordedAnswer(row)
    (examination,) = examine([call], [answers], sanitize=False)
    if not examination.findings:
        ((verdict,),) = examination.verdicts.values()
        return verdict
    finding = examination.findings[0]
    return finding, pattern_of(finding, answers if answers.is_graph else None, Interp())


def state_of_result(row):
    """`known ROW`, `like ROW` or `new`: what a campaign says of the result that a row records; empty: it has none."""
    result = found(row["id"])
    if not isinstance(result, tuple):
        return f"known {result.row}" if result.row else ""
    finding, pattern = result
    if pattern.row:
        return f"known {pattern.row}"
    of_c, guilty = row.get("action") == "run-c", row.get("guilty", "")
    like = likeness.row_like(SAYS, finding, pattern, of_c=of_c, guilty=guilty)
    return f"like {like}" if like else "new"


def state_of_c_error(row):
    """What a campaign says of the first error of the C compiler that a row records."""
    error = row["c_error"][0]
    module = refmlc.read(row["module"])
    like = likeness.like_row(SAYS, Pattern(f"{OF_C_COMPILER}{error}"), error, module, of_c=True)
    return f"like {like}" if like else "new"


# ----------------------------------------------------------------------------------------------- of importers


def graph_of(row):
    """The model of a row as campaigns have graphs."""
    import onnx  # noqa: PLC0415 - an optional package

    from refmlc.oracle.fuzz.subjects.imports.onnx_graphs import OnnxGraph, OnnxNode  # noqa: PLC0415 - as above

    model = onnx.parser.parse_model(row["module"])
    nodes = tuple(
        OnnxNode(
            node.op_type,
            tuple(node.input),
            tuple(node.output),
            {each.name: plain(onnx.helper.get_attribute_value(each)) for each in node.attribute},
        )
        for node in model.graph.node
    )
    constants = {each.name: onnx.numpy_helper.to_array(each) for each in model.graph.initializer}
    names = [each.name for each in model.graph.input]
    arguments = dict(zip(names, map(array, row["input"]), strict=True))
    outputs = tuple(each.name for each in model.graph.output)
    return OnnxGraph(model.opset_import[0].version, nodes, constants, arguments, outputs)


def plain(value):
    """An attribute as campaigns have it."""
    return value.decode() if isinstance(value, bytes) else list(value) if not np.isscalar(value) else value


def answers_of(row):
    """What the importer answers, as a judge has it: values, a refusal or a failure."""
    got = row["got"]
    if got == "runs":
        return [another(row["expected"])]
    if not isinstance(got, str):
        return [array(got)]
    return importer_process.refusal(Stopped(Stop.REJECTED, got, fault=True))


def state_of_cause(cause, found, action):
    """What a campaign says of the cause of a finding on an importer."""
    lines = importers.rows_said({"name": f"{SAYS['name']} importer"}, cause, importers.refusal_of(found), action)
    return state_said(lines)


def state_said(lines):
    """The state that lines of a message give."""
    text = "\n".join(lines)
    known, like = KNOWN_ROW.search(text), LIKE_ROW.search(text)
    row = known and (known["gives"] or known["step"])
    return f"known {row}" if row else f"like {like[1]}" if like else "new"


def state_of_model(row):
    """What a campaign says of what a row records of a model: of the whole graph, where it has several nodes."""
    graph, found = graph_of(row), answers_of(row)
    how = answer_difference.how_wrong([array(row["expected"])], found)
    single = len(graph.nodes) == 1
    cause = importers.cause_of(graph, how) if single else ("+".join(node.op for node in graph.nodes), how)
    return state_of_cause(cause, found, "import")


def program_of(row):
    """The call of a row as campaigns have it."""
    from refmlc.oracle.fuzz.subjects.imports.torch_operators import (  # noqa: PLC0415 - it imports NumPy tables
        FUNCTIONS,
        TorchCall,
        TorchProgram,
    )

    body = ast.parse(row["module"].strip(), mode="eval").body
    call = body.value if isinstance(body, ast.Subscript) else body
    name = ast.unparse(call.func).removeprefix("torch.").replace("nn.functional.", "F.")
    tensors = [each.id for each in call.args if isinstance(each, ast.Name)]
    plain_args = [ast.literal_eval(each) for each in call.args if not isinstance(each, ast.Name)]
    options = {
        each.arg: ast.literal_eval(each.value) for each in call.keywords if not isinstance(each.value, ast.Attribute)
    }
    options |= {each.arg: each.value.attr for each in call.keywords if isinstance(each.value, ast.Attribute)}
    mode = f"{name} {options.get('mode', '')}"
    name = mode if mode in FUNCTIONS else name
    function = FUNCTIONS.get(name)
    if function is None:
        return None
    names = [each for each in (*function.needed, *function.options) if each not in options]
    options |= dict(zip(names, plain_args, strict=False))
    arguments = dict(zip(("x", "y", "z"), map(array, row["input"]), strict=False))
    return TorchProgram((TorchCall(name, tuple(tensors), options),), {}, arguments)


def state_of_call(row):
    """What a campaign says of what a row records of a call of PyTorch; empty: no campaign draws it."""
    from refmlc.oracle.fuzz.subjects.imports import torch_imports  # noqa: PLC0415 - it takes a second

    program, found = program_of(row), answers_of(row)
    if program is None:
        return ""
    how = answer_difference.how_wrong([array(row["expected"])], found)
    return state_of_cause(torch_imports.cause_of(program, how), found, "torch")
