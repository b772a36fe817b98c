"""The downloads of the chapters, made from shipped files: the same formats, other digits.

| in a chapter                                            | offline                                                  |
|---------------------------------------------------------|----------------------------------------------------------|
| `torchvision.datasets.FashionMNIST("data", download=…)` | the demo's digits lie in `data/FashionMNIST/raw`, as IDX |
| `!wget …/fasionmnist_mlp_params.pkl`                    | the demo's parameters w0, b0, w1, b1, as a pickle        |
| `!wget …/fasionmnist_mlp_assignment_params.pkl`         | parameters of its shapes, drawn, as a pickle             |
| `!pip …`                                                | left out, and told                                       |

With `--online` nothing of this is done: commands run as they stand, in a shell.
"""

import gzip
import pickle
import subprocess
from pathlib import Path

import numpy as np

from refmlc.tools.demo.runner import DATA, read_params

PARAMETERS = "fasionmnist_mlp_params.pkl"
ASSIGNMENT = "fasionmnist_mlp_assignment_params.pkl"
SHAPES = {
    "conv2d_weight": (32, 1, 3, 3), "conv2d_bias": (32,),
    "linear0_weight": (100, 32 * 13 * 13), "linear0_bias": (100,),
    "linear1_weight": (10, 100), "linear1_bias": (10,),
}  # fmt: skip
"""The parameters of the network of the assignment."""
RAW = Path("data/FashionMNIST/raw")
PARTS = ("images-idx3-ubyte", "labels-idx1-ubyte")


def lay_out(folder: Path) -> None:
    """Put the images where torchvision's download would put them. The training images are the same ones."""
    raw = folder / RAW
    raw.mkdir(parents=True, exist_ok=True)
    for part in PARTS:
        content = (DATA / f"t10k-{part}.gz").read_bytes()
        for start in ("t10k", "train"):
            (raw / f"{start}-{part}.gz").write_bytes(content)
            (raw / f"{start}-{part}").write_bytes(gzip.decompress(content))


def write_parameters(folder: Path) -> None:
    """Write the pickle of the model's parameters."""
    params = {name: array.copy() for name, array in read_params().items()}
    (folder / PARAMETERS).write_bytes(pickle.dumps(params))


def write_assignment(folder: Path) -> None:
    """Write a pickle of parameters of the assignment's shapes, which are drawn, not trained."""
    draw = np.random.default_rng(0)
    params = {name: draw.normal(0, 0.05, shape).astype("float32") for name, shape in SHAPES.items()}
    (folder / ASSIGNMENT).write_bytes(pickle.dumps(params))


def command(text: str, folder: Path, *, offline: bool) -> str:
    """Do what a line `!…` or `%…` says, or leave it; the words for the report."""
    if not text.startswith("!"):
        return f"`{text}` is left out"
    if not offline:
        done = subprocess.run(text[1:], shell=True, cwd=folder, check=False)  # noqa: S602 - the owner's own chapter
        return f"`{text}` ended with status {done.returncode}"
    words = text[1:].split()
    if words and words[0] in ("wget", "curl") and any(word.endswith(PARAMETERS) for word in words):
        write_parameters(folder)
        return f"`{words[0]} …/{PARAMETERS}`: the demo's parameters, offline"
    if words and words[0] in ("wget", "curl") and any(word.endswith(ASSIGNMENT) for word in words):
        write_assignment(folder)
        return f"`{words[0]} …/{ASSIGNMENT}`: parameters of its shapes, offline: random ones, not trained"
    return f"`{text}` is left out, offline"
