"""Models in files, and `refmlc import`."""

import json
import pickle
import subprocess
import sys
import warnings
import zipfile

import numpy as np
import pytest
from click.testing import CliRunner
from needs import imported, need

import refmlc
from refmlc.cli import main
from refmlc.diag import RefmlcError
from refmlc.frontends.files import import_file

torch = imported("torch")


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A model, an input, and its file."""
    torch.manual_seed(3)
    model, x = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.ReLU()).eval(), torch.randn(2, 4)
    path = tmp_path_factory.mktemp("models") / "model.pt2"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch's own, on its own code
        torch.export.save(torch.export.export(model, (x,)), str(path))
    return model, x, path


def run(*args):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return CliRunner().invoke(main, [str(one) for one in args], catch_exceptions=False)


def test_a_model_becomes_text_with_its_constants(saved, tmp_path) -> None:
    model, x, path = saved
    done = run("import", "--trust", path, "-o", tmp_path / "module.py")
    assert done.exit_code == 0, done.output
    module = refmlc.read_file(tmp_path / "module.py")
    found = refmlc.VirtualMachine(refmlc.build(module))["main"](x.numpy())
    np.testing.assert_allclose(found.numpy(), model(x).detach().numpy(), rtol=1e-5, atol=1e-6)


def test_parameters_go_to_a_file_of_their_own(saved, tmp_path) -> None:
    model, x, path = saved
    text, params = tmp_path / "module.py", tmp_path / "params.npz"
    assert run("import", "--trust", path, "-o", text, "--npz", params).exit_code == 0
    np.save(tmp_path / "x.npy", x.numpy())
    name = refmlc.read_file(text).functions["main"].params[0].name
    done = run("run", text, "--params", params, "--input", f"{name}={tmp_path / 'x.npy'}", "--out", tmp_path)
    assert done.exit_code == 0, done.output
    (written,) = [one for one in tmp_path.glob("*.npy") if one.name != "x.npy"]
    np.testing.assert_allclose(np.load(written), model(x).detach().numpy(), rtol=1e-5, atol=1e-6)


def test_the_text_is_printed_or_given_as_json(saved) -> None:
    _, _, path = saved
    assert "R.nn.relu" in run("import", "--trust", path).output
    assert json.loads(run("import", "--trust", path, "--json").output)["functions"] == ["main"]


class Marking:
    """Whoever opens a pickle of it leaves a mark."""

    def __init__(self, mark):
        self.mark = mark

    def __reduce__(self):
        return (self.mark.touch, ())


def test_what_a_file_of_pytorch_holds_is_not_executed(saved, tmp_path) -> None:
    _, _, path = saved
    mark, hostile = tmp_path / "mark", tmp_path / "hostile.pt2"
    with zipfile.ZipFile(path) as archive, zipfile.ZipFile(hostile, "w") as other:
        for name in archive.namelist():
            hidden = pickle.dumps(Marking(mark)) if "sample_inputs" in name or "example_inputs" in name else None
            other.writestr(name, archive.read(name) if hidden is None else hidden)
    for model in (hostile, path):
        done = run("import", model)
        assert (done.exit_code, "RM112" in done.stderr, "--trust" in done.stderr) == (2, True, True)
        assert "torch.export.load" in done.stderr
    assert not mark.exists()
    run("import", "--trust", hostile)
    assert mark.exists()  # PyTorch does: this is why


def test_other_files_are_refused(tmp_path) -> None:
    assert run("import", tmp_path / "model.h5").exit_code == 2
    assert run("import", tmp_path / "missing.pt2").exit_code == 2


def test_a_damaged_model_is_told_as_a_bad_file(saved, tmp_path) -> None:
    _, _, path = saved
    half = tmp_path / "half.pt2"
    half.write_bytes(path.read_bytes()[:400])
    state = tmp_path / "state.pt2"
    torch.save({"weight": torch.ones(2)}, state)
    emptied = tmp_path / "emptied.pt2"
    with zipfile.ZipFile(path) as archive, zipfile.ZipFile(emptied, "w") as other:
        for name in archive.namelist():
            other.writestr(name, b"" if name.endswith("model.json") else archive.read(name))
    for bad in (half, state, emptied):
        done = run("import", "--trust", bad)
        assert (done.exit_code, "RM109" in done.output) == (2, True), done.output


def test_a_damaged_model_of_onnx_is_told_as_a_bad_file(tmp_path) -> None:
    need("onnx")
    bad = tmp_path / "bad.onnx"
    bad.write_bytes(b"from tvm.script import tirx as T\n")
    done = run("import", bad)
    assert (done.exit_code, "RM109" in done.output) == (2, True), done.output


def test_a_missing_framework_is_told(saved, monkeypatch) -> None:
    _, _, path = saved
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(RefmlcError) as refused:
        import_file(path, trust=True)
    assert "refmlc[torch]" in refused.value.diagnostic.notes[0]


def test_refmlc_does_not_import_the_frontends() -> None:
    code = "import refmlc, refmlc.cli, sys; assert 'torch' not in sys.modules and 'onnx' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_frontends_are_loaded_when_they_are_asked_for() -> None:
    """In a process where neither framework can be imported, a frontend names the extra that is missing."""
    code = (
        "import sys; sys.modules['onnx'] = None; sys.modules['torch'] = None\n"
        "from refmlc import frontends\n"
        "assert frontends.from_tvm\n"
        "try: frontends.from_onnx\n"
        "except Exception as missing: print(missing)\n"
        "try: frontends.nothing\n"
        "except AttributeError as missing: print(missing)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    assert "RM112" in done.stdout, done.stderr
    assert "pip install 'refmlc[onnx]'" in done.stdout
    assert "has no attribute 'nothing'" in done.stdout
