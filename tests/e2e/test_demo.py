"""The demo: four variants on real digits, and the course's own file formats."""

import gzip
import json
import pickle
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from click.testing import CliRunner

from refmlc.cli import main
from refmlc.tools.demo.runner import DATA, numpy_model, read_images, read_params

COUNT = 4


def demo(*arguments):
    return CliRunner().invoke(main, ["demo", "--count", str(COUNT), *map(str, arguments)])


@pytest.mark.needs("compiler")
def test_all_variants_agree_with_numpy(tmp_path):
    done = demo("--png", tmp_path / "digit.png", "--svg", tmp_path / "graph.svg", "--json")
    assert done.exit_code == 0, done.output
    rows = json.loads(done.stdout)["rows"]
    assert [row["variant"] for row in rows] == [
        "all TensorIR", "all library calls", "mixed", "mixed, parameters bound", "imported from PyTorch",
    ]  # fmt: skip
    digits = read_images(None, None, COUNT)
    classes = numpy_model(digits.pixels.reshape(-1, 784), read_params()).argmax(axis=1)
    for row in rows:
        assert row["images"] == row["agreeing"] == COUNT
        assert row["right"] == (classes == digits.labels).sum()
        assert row["difference"] < 1e-4
    assert rows[2]["difference"] == rows[3]["difference"]
    paths = json.loads(done.stdout)["paths"]
    assert paths.pop("imported anew", "equal") == "equal"
    assert paths == {"meaning": "defined", "native:guarded": "equal", "native": "equal"}
    picture = ET.parse(tmp_path / "graph.svg")  # noqa: S314 - our own file
    texts = [one.text for one in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert texts.count("matmul") == texts.count("permute_dims") == texts.count("add") == 2
    assert (tmp_path / "digit.png").read_bytes().startswith(b"\x89PNG")


def test_the_shipped_model_is_as_good_as_the_training_script_says():
    digits = read_images(None, None, 360)
    right = numpy_model(digits.pixels.reshape(-1, 784), read_params()).argmax(axis=1) == digits.labels
    assert len(digits.labels) == 360
    assert right.mean() == 0.975


def test_the_courses_formats_plain_idx_and_pickle(tmp_path):
    images, labels, params = tmp_path / "images", tmp_path / "labels", tmp_path / "params.pkl"
    images.write_bytes(gzip.decompress(Path(str(DATA / "t10k-images-idx3-ubyte.gz")).read_bytes()))
    labels.write_bytes(gzip.decompress(Path(str(DATA / "t10k-labels-idx1-ubyte.gz")).read_bytes()))
    params.write_bytes(pickle.dumps({name: np.array(value) for name, value in read_params().items()}))
    done = demo(
        "--images",
        images,
        "--labels",
        labels,
        "--params",
        params,
        "--png",
        tmp_path / "x.png",
        "--svg",
        tmp_path / "x.svg",
    )
    assert done.exit_code == 0, done.output
    assert "all TensorIR" in done.stdout


def test_missing_images_are_one_message(tmp_path):
    done = demo("--images", tmp_path / "none.gz")
    assert done.exit_code == 2
    assert done.stderr.startswith("error[RM109]")


def test_parameters_and_images_of_other_models_are_one_message(tmp_path):
    np.savez(tmp_path / "p.npz", w0=np.zeros((2, 2), "float32"))
    np.savez(tmp_path / "q.npz", **{**read_params(), "b1": np.zeros(10)})
    images, labels = tmp_path / "images-ubyte", tmp_path / "labels-ubyte"
    images.write_bytes(bytes([0, 0, 8, 3, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 5]))
    labels.write_bytes(bytes([0, 0, 8, 1, 0, 0, 0, 1, 5]))
    for arguments in (
        ("--params", tmp_path / "p.npz"),
        ("--params", tmp_path / "q.npz"),
        ("--images", images, "--labels", labels),
        ("--images", labels, "--labels", images),
        ("--labels", labels),
    ):
        done = demo(*arguments)
        assert done.exit_code == 2
        assert done.stderr.startswith("error[RM111]: ")
