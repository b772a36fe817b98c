"""`refmlc replay FILE --model MODEL`: a finding of `check MODEL` on its import, made again with the model."""

import sys

import numpy as np
import pytest
from click.testing import CliRunner
from needs import imported

from refmlc.cli import main
from refmlc.oracle.check.model import Model


def run(*args):
    return CliRunner().invoke(main, [str(word) for word in args], catch_exceptions=False)


def scaled(path, weight):
    """`relu(x * weight)` in a file."""
    onnx = imported("onnx")
    kind, helper = onnx.TensorProto, onnx.helper
    nodes = [helper.make_node("Mul", ["x", "weight"], ["h"]), helper.make_node("Relu", ["h"], ["y"])]
    value = [helper.make_tensor_value_info(name, kind.FLOAT, [2]) for name in "xy"]
    initial = [onnx.numpy_helper.from_array(np.array(weight, "float32"), "weight")]
    graph = helper.make_graph(nodes, "net", value[:1], value[1:], initial)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


@pytest.fixture
def wrong(tmp_path, monkeypatch):
    """A model, and the case of a finding on refmlc's importer, which takes `Relu` for nothing."""
    rules = imported("onnx", "refmlc.frontends.onnx.rules").RULES
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    monkeypatch.setitem(rules, "Relu", rules["Identity"])
    model, case = scaled(tmp_path / "net.onnx", [2, -3]), tmp_path / "case.toml"
    done = run("check", model, "--impl", "interp", "--calls", "2", "--case", case)
    assert (done.exit_code, 'id = "rm706-' in case.read_text("utf-8")) == (1, True), done.output
    return model, case


def test_a_finding_on_refmlcs_importer_is_made_again(wrong):
    model, case = wrong
    done = run("replay", case, "--model", model)
    assert (done.exit_code, "error[RM706]: `onnx` computes something else from `net.onnx`" in done.stderr) == (1, True)
    assert "onnx, call 1: wrong" in done.stdout
    assert "another module" not in done.stderr


def test_a_mended_importer_has_no_finding_and_a_note(wrong, monkeypatch):
    model, case = wrong
    monkeypatch.undo()
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    done = run("replay", case, "--model", model)
    assert done.exit_code == 0, done.output
    assert "onnx, call 1: equal" in done.stdout
    assert "refmlc imports another module from" in " ".join(done.stderr.split())


def test_another_model_is_refused(wrong):
    model, case = wrong
    done = run("replay", case, "--model", scaled(model.with_name("other.onnx"), [2, 3]))
    assert (done.exit_code, "`weight` has another value" in " ".join(done.stderr.split())) == (2, True)


def test_the_model_is_named_by_the_user_alone(wrong):
    model, case = wrong
    assert str(model) not in case.read_text("utf-8")
    done = run("replay", case)
    assert (done.exit_code, "--model FILE" in done.stderr) == (2, True)


@pytest.mark.parametrize("code", ["rm706", "rm701"])
def test_the_tvm_of_a_case_starts_where_it_is_trusted_alone(wrong, tmp_path, code):
    model, case = wrong
    started = tmp_path / "started"
    python = tmp_path / "python"
    python.write_text(f"#!/bin/sh\ntouch {started}\n", "utf-8")
    python.chmod(0o755)
    text = case.read_text("utf-8").replace('implementation = "onnx"', f'implementation = "tvm-importer:{python}"')
    case.write_text(text.replace('id = "rm706-', f'id = "{code}-'), "utf-8")
    done = run("replay", case, "--model", model)
    assert (done.exit_code, "this would run the program" in done.stderr) == (2, True)
    assert not started.exists()
    trusted = run("replay", case, "--model", model, "--trust")
    assert (trusted.exit_code, "does not run TVM" in trusted.stderr, started.exists()) == (2, True, True)


def test_the_importer_of_the_tvm_that_is_named_is_asked(wrong, monkeypatch):
    model, case = wrong
    asked = []
    monkeypatch.setattr(Model, "importer", lambda _self, spec, _limits: asked.append(spec))
    assert run("replay", case, "--model", model, "--impl", "interp").exit_code == 1
    assert asked == ["interp"]


def test_a_case_without_an_importer_needs_no_model(wrong, tmp_path):
    model, case = wrong
    text = case.read_text("utf-8").replace('implementation = "onnx"', 'implementation = "interp"')
    case.write_text(text.replace('id = "rm706-', 'id = "rm701-'), "utf-8")
    done = run("replay", case, "--model", model)
    assert (done.exit_code, "it needs no `--model`" in " ".join(done.stderr.split())) == (2, True)
    finding = tmp_path / "finding.toml"
    finding.write_text('signature = "0"\npath = "interp"\n[case]\ntext = ""\n', "utf-8")
    done = run("replay", finding, "--model", model)
    assert (done.exit_code, "needs no `--model`" in " ".join(done.stderr.split())) == (2, True)


def test_a_report_asks_for_the_model_and_for_tvm(wrong, tmp_path):
    model, case = wrong
    done = run("report", case)
    assert (done.exit_code, "--model FILE" in done.stderr) == (2, True)
    done = run("report", case, "--model", model)
    assert (done.exit_code, "--impl tvm:PYTHON" in done.stderr) == (2, True)
    done = run("report", case, "--model", scaled(model.with_name("other.onnx"), [2, 3]), "--impl", "tvm:/a/python")
    assert (done.exit_code, "`weight` has another value" in " ".join(done.stderr.split())) == (2, True)
    plain = tmp_path / "plain.toml"
    text = case.read_text("utf-8").replace('implementation = "onnx"', 'implementation = "native"')
    plain.write_text(text.replace('id = "rm706-', 'id = "rm701-'), "utf-8")
    done = run("report", plain, "--model", model, "--impl", "native")
    assert (done.exit_code, "it needs no `--model`" in " ".join(done.stderr.split())) == (2, True), done.output
