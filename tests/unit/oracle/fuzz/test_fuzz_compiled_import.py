"""Importer or compiler: which is wrong, and the row that the compiler's fault has; a compiler stands in for TVM."""

from dataclasses import replace

import numpy as np
import pytest
from needs import need
from own_findings import ROWS, SAYS, state_said, without

from refmlc.oracle import record
from refmlc.oracle.fuzz.settings import CampaignSettings
from refmlc.oracle.fuzz.subjects.imports import importers, torch_imports
from refmlc.oracle.fuzz.subjects.imports.compiled_import import AtFault, ImportedCall, WrongImport, compiled_import
from refmlc.oracle.fuzz.subjects.imports.torch_operators import TorchCall, TorchProgram
from refmlc.oracle.implementations.implementation import Stop, Stopped
from refmlc.oracle.implementations.interp import Interp
from refmlc.rewrite.transform.normal_form import normalize
from refmlc.run.memory.tensor import Tensor

PATH = f"{importers.IMPORTER}/a/python"
SETTINGS = CampaignSettings(implementations=("tvm:/a/python",))


class FaultyCompiler:
    """The interpreter, which introduces itself as TVM; `fault` changes what it answers where an operator occurs."""

    promises_verdicts, says, name = False, SAYS, "tvm:/a/python"

    def __init__(self, operator, fault):
        self.operator, self.fault = operator, fault

    def prepare(self, module):
        """The module, executed by the interpreter; where the fault is a stop, that."""
        self.has_operator = f"R.{self.operator}(" in str(module)
        self._ready = Interp().prepare(module)
        return self.fault if self.has_operator and isinstance(self.fault, Stopped) else self

    def run(self, func, args):
        """The answer with the fault."""
        answer = self._ready.run(func, args)
        if not self.has_operator:
            return answer
        return replace(answer, value=self._changed(answer.value))

    def _changed(self, value):
        if isinstance(value, tuple):
            return tuple(map(self._changed, value))
        return Tensor.from_numpy(np.array(self.fault(value.numpy()), order="C"))

    def close(self):
        """Nothing is held."""


class Importer:
    """TVM's importer: it is asked for its name, and makes no module."""

    says = SAYS | {"name": f"{SAYS['name']} importer"}

    def shown(self, _path):
        """No text."""
        return ""


@pytest.fixture
def tvm(monkeypatch):
    """Put a compiler and an importer of TVM in place of the real ones. No row has words of importers."""
    tables = record._tables
    monkeypatch.setattr(record, "_tables", lambda *says: [{**row, "nodes": []} for row in tables(*says)])

    def stand_in(operator, fault):
        for module in (importers, torch_imports):
            monkeypatch.setattr(module, "compiler", lambda _python, _seconds: FaultyCompiler(operator, fault))
        for module in (importers, torch_imports):
            monkeypatch.setattr(module, "importer", lambda _python, _seconds: Importer())

    return stand_in


class Found(importers.Judge):
    """A judge whose TVM gives what its compiler makes of refmlc's module, or a fault of the importer's own."""

    def __init__(self, fault):
        super().__init__(("/a/python",), 20.0)
        self.fault = fault

    def of(self, path, drawn):
        answers = self.evaluated(drawn)
        return answers if path == importers.OURS else [self.fault(each) for each in answers]


def matrix(array):
    """The output that has as many elements as the input, with its extents: what the row `unique-inverse` records."""
    return array.reshape(2, 2) if array.size == 4 else array


def model(operator, opset, array, **outputs):
    need("onnx")
    from refmlc.oracle.fuzz.subjects.imports.onnx_graphs import OnnxGraph, OnnxNode  # noqa: PLC0415 - ONNX is optional

    names = tuple(outputs) or ("y",)
    return OnnxGraph(opset, (OnnxNode(operator, ("x",), names, {}),), {}, {"x": array}, names[-1:])


def state_of(judge, drawn):
    """What a campaign says of the finding on TVM's importer, and its message."""
    finding = importers.finding_of(judge, PATH, drawn)
    message = importers.record_of(SETTINGS, 0, judge, finding).message
    return state_said([message]), message


UNIQUE = {"y": 0, "first": 1, "inverse": 2}


def test_a_wrong_result_that_refmlc_s_module_has_in_tvm_too_has_the_row_of_the_compiler(tvm):
    drawn = model("Unique", 11, np.array([[1, 2], [2, 1]], "float32"), **UNIQUE)
    tvm("unique", matrix)
    state, message = state_of(Found(matrix), drawn)
    assert state == "like unique-inverse"
    assert AtFault.COMPILER.value in message
    with without("unique-inverse"):
        assert state_of(Found(matrix), drawn)[0] == "new"


def test_a_wrong_result_of_the_importer_alone_has_no_row_of_the_compiler(tvm):
    drawn = model("Unique", 11, np.array([[1, 2], [2, 1]], "float32"), **UNIQUE)
    tvm("unique", lambda array: array)
    state, message = state_of(Found(matrix), drawn)
    assert state == "new"
    assert AtFault.IMPORTER.value in message
    tvm("unique", lambda array: array + 1)  # wrong in another way
    state, message = state_of(Found(matrix), drawn)
    assert state == "new"
    assert "so its" not in message


def test_a_fault_of_the_compiler_that_no_row_has_is_new(tvm):
    tvm("abs", lambda array: array + 1)
    state, message = state_of(Found(lambda array: array + 1), model("Abs", 13, np.array([3, -4], "float32")))
    assert state == "new"
    assert AtFault.COMPILER.value in message


def test_the_smaller_model_is_looked_for_among_rows_of_programs_too(tvm, monkeypatch):
    drawn = model("Unique", 11, np.array([[1, 2], [2, 1]], "float32"), **UNIQUE)
    tvm("unique", matrix)
    judge = Found(matrix)
    record = importers.record_of(SETTINGS, 0, judge, importers.finding_of(judge, PATH, drawn))
    monkeypatch.setattr(importers, "Judge", lambda _pythons, _seconds: judge)
    monkeypatch.setattr(importers, "less", lambda _graph: iter(()))
    assert state_said([importers.shrink_graph(SETTINGS, record, 5.0)["message"]]) == "like unique-inverse"


def test_inputs_are_given_to_the_module_by_their_names(tvm):
    """The module takes no shape that it has as a constant, which may stand before the others."""
    need("onnx")
    from refmlc.oracle.fuzz.subjects.imports.onnx_graphs import OnnxGraph, OnnxNode  # noqa: PLC0415 - as above

    arguments = {"s": np.array([2, 2]), "x": np.array([1, 2, 3, 4], "float32")}
    drawn = OnnxGraph(13, (OnnxNode("Reshape", ("x", "s"), ("y",), {}),), {}, arguments, ("y",))
    tvm("abs", lambda array: array)
    assert importers.Judge((), 20.0).compiles_ours("/a/python", drawn)


STOP = "InternalError: Check failed: (strides[i] < 0 ? (end_i <= begin_i) : (begin_i <= end_i)) is false: ["


@pytest.mark.parametrize(("words", "fault"), [(f"{STOP}3, 1]", AtFault.COMPILER), ("another", AtFault.UNKNOWN)])
def test_where_there_is_no_result_the_message_says_whether_it_is_the_same(words, fault):
    import refmlc  # noqa: PLC0415 - the module of the test

    text = "@R.function\ndef main(x: R.Tensor((2,), 'float32')):\n    return R.abs(x)\n"
    call = ImportedCall(refmlc.read(text), (np.ones(2, "float32"),))
    compiler = FaultyCompiler("abs", Stopped(Stop.REJECTED, f"{STOP}5, 2]", fault=True))
    wrong = WrongImport(("Abs", "failed"), words)
    assert compiled_import(compiler, call, [np.ones(2, "float32")], wrong, str).fault is fault


THEIRS = {
    "R.multiply(R.sign(x), x)": AtFault.COMPILER_ON_IMPORT,
    "R.sign(x)": AtFault.IMPORTER,
    "R.nonsense(x)": AtFault.EITHER,
    "": AtFault.IMPORTER,
}


@pytest.mark.parametrize(("value", "fault"), THEIRS.items())
def test_what_the_importer_makes_is_executed_where_the_compiler_has_ours_right(value, fault):
    import refmlc  # noqa: PLC0415 - the module of the test

    head = "@R.function\ndef main(x: R.Tensor((2,), 'float32')):\n    return "
    call = ImportedCall(refmlc.read(f"{head}R.abs(x)\n"), (np.array([-2, 3], "float32"),))
    compiler = FaultyCompiler("sign", lambda array: array + 1)
    expected, wrong = [np.array([2, 3], "float32")], WrongImport(("Abs", "value"))
    found = compiled_import(compiler, call, expected, wrong, lambda: f"{head}{value}\n" if value else "")
    assert found.fault is fault


def test_a_fault_of_the_compiler_on_what_the_importer_makes_has_its_row(tvm):
    import refmlc  # noqa: PLC0415 - as above

    row = next(each for each in ROWS if each["id"] == "unique-inverse")
    theirs = str(normalize(refmlc.read(row["module"])))
    ours = "R.reshape(R.astype(R.subtract(x, R.const(1, 'float32')), 'int64'), R.shape([4]))"
    text = f"@R.function\ndef main(x: R.Tensor((2, 2), 'float32')):\n    return {ours}\n"
    call = ImportedCall(refmlc.read(text), (np.array([[1, 2], [2, 1]], "float32"),))
    expected, wrong = [np.array([0, 1, 1, 0])], WrongImport(("Unique", "shape"))
    found = compiled_import(FaultyCompiler("unique", matrix), call, expected, wrong, lambda: theirs)
    assert found.fault is AtFault.COMPILER_ON_IMPORT
    assert found.rows
    assert "unique-inverse" in found.rows[0]


class FoundInPyTorch(torch_imports.TorchJudge):
    """As `Found`."""

    def __init__(self, fault):
        super().__init__(("/a/python",), 20.0)
        self.fault = fault

    def of(self, path, program):
        answers = self.evaluated(program)
        return answers if path == importers.OURS else [self.fault(each) for each in answers]


@pytest.mark.needs("torch")
@pytest.mark.parametrize("ours_is_right", [False, True])
def test_a_call_of_pytorch_has_the_row_of_the_compiler_too(tvm, ours_is_right):
    def fault(array):
        return np.zeros_like(array)

    program = TorchProgram((TorchCall("amax", ("x",), {"dim": 1}),), {}, {"x": np.ones((1, 2), "float32")})
    tvm("max", (lambda array: array) if ours_is_right else fault)
    judge = FoundInPyTorch(fault)
    finding = torch_imports.finding_of(judge, PATH, program)
    message = torch_imports.record_of(SETTINGS, 0, judge, finding).message
    assert (AtFault.IMPORTER if ours_is_right else AtFault.COMPILER).value in message
