"""`refmlc import` of a model whose parameters are larger than the text that `refmlc` reads."""

import warnings

import numpy as np
import pytest
from click.testing import CliRunner
from needs import imported

from refmlc.cli import main

torch = imported("torch")


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """A model of 17 MB in a file."""
    torch.manual_seed(7)
    place = tmp_path_factory.mktemp("large") / "large.pt2"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch's own, on its own code
        model = torch.nn.Linear(2100, 2000).eval()
        torch.export.save(torch.export.export(model, (torch.rand(1, 2100),)), str(place))
    return place, model


def refmlc(*words):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch's own, on its own code
        return CliRunner().invoke(main, [str(word) for word in words])


@pytest.mark.needs("compiler")
def test_parameters_that_no_text_holds_go_beside_it(large, tmp_path) -> None:
    place, model = large
    done = refmlc("import", place, "--trust", "-o", tmp_path / "model.py")
    assert done.exit_code == 0, done.output
    assert "model.py.npz" in done.output.replace("\n", "")
    with np.load(tmp_path / "model.py.npz") as values:
        np.testing.assert_array_equal(values["p_weight"], model.weight.detach().numpy())
    np.save(tmp_path / "x.npy", np.ones((1, 2100), np.float32))
    given = ("--input", f"input={tmp_path / 'x.npy'}", "--params", tmp_path / "model.py.npz")
    ran = refmlc("run", tmp_path / "model.py", *given, "--tier", "native", "--out", tmp_path)
    assert ran.exit_code == 0, ran.output
    (result,) = (np.load(one) for one in tmp_path.glob("*.npy") if one.name != "x.npy")
    np.testing.assert_allclose(result, model(torch.ones(1, 2100)).detach().numpy(), rtol=1e-4, atol=1e-5)


def test_a_file_of_pytorch_is_not_read_without_trust(large, tmp_path) -> None:
    done = refmlc("import", large[0], "-o", tmp_path / "model.py")
    assert done.exit_code == 2
    assert "--trust" in done.output
    assert not (tmp_path / "model.py").exists()
