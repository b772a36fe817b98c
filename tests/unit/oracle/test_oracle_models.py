"""Models in files, checked: `refmlc check MODEL`, the framework as a witness, findings on importers."""

import json
import os
import sys
import warnings
from contextlib import closing
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from in_process import InProcess
from needs import TVM_PYTHON, imported, need

import refmlc
from refmlc.cli import main
from refmlc.diag import RefmlcError
from refmlc.frontends.files import Imported
from refmlc.oracle.check.model import Model
from refmlc.oracle.check.program import CallRequest
from refmlc.oracle.check.run import CheckOptions, examined
from refmlc.oracle.implementations.frameworks import Framework
from refmlc.oracle.implementations.implementation import Ended, Limits, Stop, Stopped
from refmlc.oracle.implementations.loops.operators import NotTaken
from refmlc.oracle.implementations.native import GUARDED, Native
from refmlc.run.memory.tensor import Tensor

SCALED = """
@R.function
def main(x: R.Tensor(("n", 2), "float32"), weight: R.Tensor((2,), "float32")) -> R.Tensor(("n", 2), "float32"):
    R.func_attr({"num_input": 1})
    return R.multiply(x, weight)
"""
WEIGHT = np.array([2, 3], "float32")
WITNESS = "onnxruntime" if find_spec("onnxruntime") else "onnx"


def scaled(compute):
    """A model that scales its input by the parameter of its file; its framework computes by `compute`."""
    module = refmlc.read(SCALED, "scaled.py")
    framework = InProcess("framework", module, lambda inputs: Tensor.from_numpy(compute(*(x.numpy() for x in inputs))))
    return Model(Path("scaled.onnx"), Imported(module, {"weight": WEIGHT}), framework)


def checked(model, **request):
    options = model.options(CheckOptions(CallRequest(**request), named=True))
    return model.judged(examined(model.module, "main", options, model.ways(options)))


def kinds(row, way):
    return [verdict.kind.value for verdict in row.examination.verdicts[way]]


def codes(row):
    return {finding.code.id for finding in row.examination.findings}


def test_the_framework_takes_the_inputs_and_has_the_parameters_itself():
    row = checked(scaled(lambda x: x * WEIGHT))
    assert set(kinds(row, "framework")) == {"equal"}
    assert all(np.array_equal(row.program.arguments(call)[1].numpy(), WEIGHT) for call in range(3))


def test_a_framework_that_differs_is_a_finding_on_the_importer():
    row = checked(scaled(lambda x: x * WEIGHT[::-1]))
    assert codes(row) == {"RM706"}
    assert "than the module that refmlc imported" in row.examination.findings[0].diagnostic.message


def test_what_the_framework_refuses_is_not_taken_by_name():
    def refuse(_x):
        raise NotTaken("the inputs: no batch of 1")

    row = checked(scaled(refuse))
    assert set(kinds(row, "framework")) == {"not taken"}
    assert row.examination.verdicts["framework"][0].notes == ("the framework does not take the inputs: no batch of 1",)
    assert not row.compared


@pytest.mark.parametrize("given", [{"inputs": {"weight": WEIGHT}}, {"params": {"weight": WEIGHT}}])
def test_the_parameters_of_a_model_are_those_of_its_file(given):
    with pytest.raises(RefmlcError, match=r"RM112.*its value is in"):
        checked(scaled(lambda x: x), **given)


def test_the_meaning_of_long_calls_comes_through_c_and_says_so(monkeypatch):
    monkeypatch.setattr("refmlc.oracle.check.model.COMPILES_FROM", 1)
    model = scaled(lambda x: x * WEIGHT)
    options = replace(model.options(CheckOptions()), named=False)
    ways = [Native(GUARDED), Native(), *model.ways(options)]
    row = model.judged(examined(model.module, "main", options, ways))
    assert set(kinds(row, "native:guarded")) == {"not taken"}
    assert "no witness of itself" in row.examination.verdicts["native:guarded"][0].notes[0]
    assert set(kinds(row, "native")) == {"equal"}
    assert set(kinds(row, "framework")) == {"equal"}
    assert set(kinds(row, "numpy")) == {"not taken"}
    assert "not run" in row.examination.verdicts["numpy"][0].notes[0]
    assert any("came through guarded C" in note for note in row.notes)
    assert row.examination.unvaried


def test_the_meaning_of_short_calls_is_the_interpreter():
    row = checked(scaled(lambda x: x * WEIGHT))
    assert not any(reference.compiled_calls for reference in row.examination.reference)
    assert not any("guarded C" in note for note in row.notes)


def test_what_guarded_c_finds_undefined_the_interpreter_reports(monkeypatch):
    monkeypatch.setattr("refmlc.oracle.check.model.COMPILES_FROM", 1)
    text = SCALED.replace("R.multiply(x, weight)", "R.take(x, R.const([0, 5], 'int64'), axis=1)")
    model = Model(Path("taken.onnx"), Imported(refmlc.read(text, "taken.py"), {"weight": WEIGHT}), None)
    row = checked(model)
    undefined = [each.answer.diagnostic.code.id for each in row.examination.reference if each.verdict == "undefined"]
    assert set(undefined) == {"RM304"}
    assert len(undefined) > 1


def run(*args):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch's own, on its own code
        return CliRunner().invoke(main, [str(one) for one in args], catch_exceptions=False)


def verdicts(done):
    """The verdicts of each way, of the only function."""
    (function,) = json.loads(done.stdout)["functions"]
    return {way: {call["verdicts"][way] for call in function["calls"]} for way in function["calls"][0]["verdicts"]}


@pytest.fixture
def onnx_file(tmp_path):
    """`relu(x @ weight) - x @ weight`, and which columns of it are largest."""
    onnx = imported("onnx")
    kind, helper = onnx.TensorProto, onnx.helper
    weight = np.random.default_rng(7).normal(size=(16, 3)).astype("float32")
    nodes = [
        helper.make_node("MatMul", ["x", "weight"], ["h"]),
        helper.make_node("Relu", ["h"], ["r"]),
        helper.make_node("Sub", ["r", "h"], ["y"]),
        helper.make_node("Cast", ["y"], ["z"], to=kind.INT32),
    ]
    graph = helper.make_graph(
        nodes,
        "net",
        [helper.make_tensor_value_info("x", kind.FLOAT, ["n", 16])],
        [
            helper.make_tensor_value_info("y", kind.FLOAT, ["n", 3]),
            helper.make_tensor_value_info("z", kind.INT32, None),
        ],
        [onnx.numpy_helper.from_array(weight, "weight")],
    )
    path = tmp_path / "net.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


@pytest.fixture
def torch_file(tmp_path):
    """A layer with a difference of its halves."""
    torch = imported("torch")

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = torch.nn.Linear(4, 6)

        def forward(self, x, y):
            a, b = self.linear(x).chunk(2, -1)
            return {"difference": torch.sub(a, b), "total": y.sum(0)}

    torch.manual_seed(3)
    path = tmp_path / "net.pt2"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        given = (torch.randn(2, 4), torch.ones(5, 2, dtype=torch.int32))
        torch.export.save(torch.export.export(Net().eval(), given), str(path))
    return path


def test_a_model_of_onnx_against_onnx(onnx_file):
    done = run("check", onnx_file, "--json")
    assert done.exit_code == 0, done.output
    found = verdicts(done)
    assert set(found) == {"native:guarded", "native", "numpy", WITNESS}
    assert found[WITNESS] <= {"equal", "permitted"}
    assert found["numpy"] == {"equal"}
    told = "pip install 'refmlc[onnxruntime]'" in run("check", onnx_file, "--impl", "interp").stdout
    assert told == (WITNESS == "onnx")
    assert f"net.onnx: {WITNESS} …" in done.stderr


def test_a_model_of_onnx_against_onnx_runtime(onnx_file):
    need("onnxruntime")
    done = run("check", onnx_file, "--impl", "interp", "--json")
    assert done.exit_code == 0, done.output
    found = verdicts(done)
    assert set(found) == {"interp", "onnxruntime"}
    assert found["onnxruntime"] <= {"equal", "permitted"}


def test_a_model_of_pytorch_against_pytorch(torch_file):
    done = run("check", torch_file, "--trust", "--impl", "interp", "--json")
    assert done.exit_code == 0, done.output
    assert set(verdicts(done)) == {"interp", "pytorch"}
    assert verdicts(done)["pytorch"] <= {"equal", "permitted"}


def test_a_model_that_executes_needs_trust(torch_file):
    done = run("check", torch_file)
    assert (done.exit_code, "RM112" in done.stderr, "--trust" in done.stderr) == (2, True, True)


def test_tensors_outside_of_the_folder_of_a_model_are_refused(onnx_file):
    onnx = imported("onnx")
    (onnx_file.parent / "secret").write_bytes(bytes(16 * 3 * 4))
    inside = onnx_file.parent / "inner" / "net.onnx"
    inside.parent.mkdir()
    model = onnx.load(onnx_file)
    (weight,) = model.graph.initializer
    weight.ClearField("raw_data")
    weight.data_location = onnx.TensorProto.EXTERNAL
    weight.external_data.add(key="location", value="../secret")
    inside.write_bytes(model.SerializeToString())
    for option in ((), ("--trust",)):
        done = run("check", inside, *option)
        assert (done.exit_code, "RM109" in done.stderr) == (2, True), done.output


def swapped(rule):
    """A rule with its operands exchanged."""
    return lambda e, a, b, *rest, **named: rule(e, b, a, *rest, **named)


def test_a_wrong_rule_for_onnx_is_found_by_the_framework(onnx_file, monkeypatch):
    rules = imported("onnx", "refmlc.frontends.onnx.rules").RULES
    monkeypatch.setitem(rules, "Relu", rules["Identity"])
    done = run("check", onnx_file, "--impl", "interp")
    assert done.exit_code == 1, done.output
    assert "RM706" in done.stdout
    assert "than the module that refmlc imported" in done.stdout


def test_a_wrong_rule_for_pytorch_is_found_by_the_framework(torch_file, monkeypatch):
    aten = imported("torch", "refmlc.frontends.aten")
    monkeypatch.setattr(aten, "RULES", {**aten.RULES, "sub": swapped(aten.RULES["sub"])})
    done = run("check", torch_file, "--trust", "--impl", "interp")
    assert done.exit_code == 1, done.output
    assert "error[RM706]: `pytorch` computes something else from `net.pt2`" in done.stdout


class Answering:
    """An implementation called `name` that scales the input by `factors`, or gives `stopped`."""

    promises_verdicts = False

    def __init__(self, name, factors, stopped=None):
        self.name, self.factors, self.stopped = name, factors, stopped

    def prepare(self, _module):
        return self.stopped or self

    def run(self, _func, args):
        with np.errstate(all="ignore"):
            return Ended(Tensor.from_numpy(args[0].numpy() * self.factors), tuple(args))

    def close(self):
        """Nothing is held."""


WRONG = WEIGHT + 1
REFUSAL = Stopped(Stop.REJECTED, "NotImplementedError: Mul")


def against_tvm(text_factors, importer_factors, *, framework_factors=WEIGHT, stopped=None, text_stopped=None):
    """The findings on TVM's importer: code and diagnostic."""
    model = scaled(lambda x: x * framework_factors)
    options = model.options(CheckOptions(CallRequest(), named=True))
    tvm = [Answering("tvm:it", text_factors, text_stopped), Answering("tvm-importer:it", importer_factors, stopped)]
    row = model.judged(examined(model.module, "main", options, [*tvm, *model.ways(options)]))
    findings = [finding for finding in row.examination.findings if finding.implementation == "tvm-importer:it"]
    return {(finding.code.id, finding.diagnostic.message, finding.diagnostic.notes[-1]) for finding in findings}


def test_an_importer_of_tvm_that_agrees_is_no_finding():
    assert against_tvm(WEIGHT, WEIGHT) == set()


def test_an_importer_of_tvm_that_changes_the_model_is_named():
    ((code, message, note),) = against_tvm(WEIGHT, WRONG)
    assert code == "RM706"
    assert message.startswith("TVM's importer changes `scaled.onnx`: ")
    assert "its importer is wrong" in note


def test_an_importer_of_tvm_that_refuses_is_named():
    ((code, message, note), *_) = sorted(against_tvm(WEIGHT, WEIGHT, stopped=REFUSAL))
    assert (code, message) == ("RM706", "TVM's importer makes no program of `scaled.onnx` that runs")
    assert "TVM" in note or "call" in note


def test_where_tvm_compiles_the_text_wrong_its_importer_may_be_innocent():
    assert {(code, "may be innocent" in note) for code, _, note in against_tvm(WRONG, WRONG)} == {("RM701", True)}


def test_what_tvm_refuses_of_both_is_unsupported():
    assert against_tvm(WEIGHT, WEIGHT, stopped=REFUSAL, text_stopped=Stopped(Stop.REJECTED, "no Mul")) == set()


def test_where_the_framework_contradicts_refmlc_tvm_may_be_right():
    told = against_tvm(WEIGHT, WRONG, framework_factors=WRONG)
    assert {(code, "TVM may be right" in note) for code, _, note in told} == {("RM701", True)}


@pytest.mark.needs("importers")
def test_a_model_of_onnx_against_the_importer_of_tvm(onnx_file):
    done = run("check", onnx_file, "--impl", f"tvm:{TVM_PYTHON}", "--json")
    assert done.exit_code == 0, done.output
    assert verdicts(done)[f"tvm-importer:{TVM_PYTHON}"] <= {"equal", "permitted"}


@pytest.mark.needs("importers")
def test_a_model_of_pytorch_against_the_importer_of_tvm(torch_file):
    done = run("check", torch_file, "--trust", "--impl", f"tvm:{TVM_PYTHON}", "--json")
    assert done.exit_code == 0, done.output
    assert verdicts(done)[f"tvm-importer:{TVM_PYTHON}"] <= {"equal", "permitted"}


@pytest.mark.needs("importers")
def test_the_importer_of_tvm_loses_the_statistics_of_a_layer_norm(tmp_path):
    """TVM 0.27 gives other shapes and values than ONNX for the second and third output (backend tests of ONNX)."""
    onnx = imported("onnx")
    helper, floats = onnx.helper, onnx.TensorProto.FLOAT
    outputs = ("y", "mean", "inverse")
    node = helper.make_node("LayerNormalization", ["x", "scale", "bias"], outputs, axis=0, epsilon=1e-5)
    inputs = [helper.make_tensor_value_info(name, floats, [3, 4]) for name in ("x", "scale", "bias")]
    results = [helper.make_tensor_value_info(name, floats, None) for name in outputs]
    graph = helper.make_graph([node], "norm", inputs, results)
    path = tmp_path / "norm.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    done = run("check", path, "--impl", f"tvm:{TVM_PYTHON}", "--calls", "1", "--json")
    assert done.exit_code == 1, done.output
    found = verdicts(done)
    assert found[f"tvm:{TVM_PYTHON}"] <= {"equal", "permitted"}
    assert found[WITNESS] <= {"equal", "permitted"}
    (finding,) = json.loads(done.stdout)["findings"]
    assert finding["code"] == "RM706"
    assert finding["message"].startswith("TVM's importer changes `norm.onnx`")


class WithoutOnnx:
    """An importer of TVM whose Python lacks the package."""

    missing = "onnx"
    name = "tvm-importer:it"

    def close(self):
        """Nothing is held."""


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_a_report_says_that_the_importer_of_tvm_was_left_out(onnx_file, monkeypatch, options):
    monkeypatch.setattr(Model, "importer", lambda *_: WithoutOnnx())
    done = run("check", onnx_file, "--impl", "interp", "--calls", "1", *options)
    note = "net.onnx: TVM's importer is not compared: its Python has no onnx"
    assert note in (json.loads(done.stdout)["functions"][0]["notes"] if options else done.stdout.splitlines())
    assert note not in done.stderr


def a_framework(path, model, **limits):
    """The framework of a model, for a module that has nothing to do with it."""
    module = refmlc.read(SCALED.replace('{"num_input": 1}', '{"num_input": 0}'), "other.py")
    return Framework(path, Imported(module, {}, model), Limits(**limits))


def of_nodes(*nodes):
    """A model without inputs."""
    onnx = imported("onnx")
    helper = onnx.helper
    graph = helper.make_graph(nodes, "g", [], [helper.make_tensor_value_info("y", onnx.TensorProto.INT8, None)])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def constant_of(count):
    """The node that makes `count` elements of int8."""
    onnx = imported("onnx")
    helper = onnx.helper
    shape = helper.make_node("Constant", [], ["s"], value_ints=[count])
    zero = helper.make_tensor("zero", onnx.TensorProto.INT8, [1], [7])
    return shape, helper.make_node("ConstantOfShape", ["s"], ["y"], value=zero)


def test_a_framework_runs_in_a_process_of_its_own_and_for_its_module_alone():
    framework = a_framework(Path("m.onnx"), of_nodes(*constant_of(3)))
    with closing(framework):
        answer = framework.prepare(framework.subject).run("main", [])
        assert answer.value.numpy().tolist() == [7, 7, 7]
        assert framework.process().pid != os.getpid()
        other = framework.prepare(refmlc.read(SCALED.replace('{"num_input": 1}', '{"num_input": 0}'), "other.py"))
        assert isinstance(other, Stopped)
        assert (other.why, "another module" in other.message) == (Stop.UNSUPPORTED, True)


def test_a_framework_that_takes_too_much_memory_ends_alone():
    framework = a_framework(Path("m.onnx"), of_nodes(*constant_of(1 << 36)), bytes=1 << 20)
    with closing(framework):
        answer = framework.prepare(framework.subject).run("main", [])
    assert isinstance(answer, Stopped)
    assert answer.why is Stop.EXHAUSTED, answer


def test_a_message_of_missing_memory_is_no_refusal():
    need("onnx")
    from refmlc.oracle.implementations import onnx_model  # noqa: PLC0415 - ONNX is optional

    def failing(message):
        raise RuntimeError(message)

    with pytest.raises(MemoryError):
        onnx_model._refusing(lambda: failing("[ONNXRuntimeError] : Failed to allocate memory for 1 byte"), "the inputs")
    with pytest.raises(NotTaken, match="another"):
        onnx_model._refusing(lambda: failing("another"), "the inputs")


def test_a_framework_that_dies_has_crashed(monkeypatch):
    framework = a_framework(Path("m.onnx"), of_nodes(*constant_of(3)))
    text = (
        "import json, os, sys; print(json.dumps({'name': 'onnx'}), flush=True); "
        "input(); input(); print(json.dumps({'ok': True}), flush=True); input(); os.abort()"
    )
    monkeypatch.setattr(framework, "_command", [sys.executable, "-c", text])
    with closing(framework):
        answer = framework.prepare(framework.subject).run("main", [])
    assert isinstance(answer, Stopped)
    assert answer.why is Stop.CRASHED


def test_a_framework_that_does_not_read_the_model_does_not_take_it(tmp_path):
    path = tmp_path / "m.pt2"
    path.write_bytes(b"no archive")
    framework = a_framework(path, None)
    with closing(framework):
        answer = framework.prepare(framework.subject)
    assert isinstance(answer, Stopped)
    assert answer.why is Stop.UNSUPPORTED
