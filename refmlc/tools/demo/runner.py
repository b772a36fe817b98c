"""Run the variants of the demo's model on the demo's images and compare them with the NumPy model."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from time import perf_counter
from typing import cast

import numpy as np
from numpy.typing import NDArray

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_INPUT
from refmlc.lang.ir import IRModule
from refmlc.lang.wellformed.reader_checks import read
from refmlc.run.memory.files import read_arrays, read_idx
from refmlc.run.memory.registry import FunctionRegistry
from refmlc.run.memory.tensor import Tensor
from refmlc.vm import VirtualMachine, bind_params, build
from refmlc.vm.tiers import AUTO

Floats = NDArray[np.float32]
DATA = files("refmlc.tools.demo") / "data"
MODELS = files("refmlc.tools.demo") / "models"
CLASS_NAMES = tuple("0123456789")
SIZE = (28, 28)


@dataclass(frozen=True, slots=True)
class ModelVariant:
    """One way to write the model. `bound`: parameters are constants of the module."""

    name: str
    file: str
    bound: bool = False


VARIANTS = (
    ModelVariant("all TensorIR", "tensorir.py"),
    ModelVariant("all library calls", "library.py"),
    ModelVariant("mixed", "mixed.py"),
    ModelVariant("mixed, parameters bound", "mixed.py", bound=True),
)
IMPORTED = ModelVariant("imported from PyTorch", "torch_export.py")
ALL = (*VARIANTS, IMPORTED)


@dataclass(frozen=True, slots=True)
class VariantResult:
    """What one variant did. `difference` is the greatest distance of a score from the NumPy model's."""

    variant: str
    images: int
    right: int
    agreeing: int
    difference: float
    seconds: float


@dataclass(frozen=True, slots=True)
class Images:
    """Test images in 0 … 1 and their labels. Shapes: pixels (n, 28, 28), labels (n,)."""

    pixels: Floats
    labels: NDArray[np.uint8]


def read_images(images: Path | None, labels: Path | None, count: int) -> Images:
    """The first `count` images of an IDX pair, the shipped digits where no files are given. Fails: RM111."""
    pixels = read_idx(images or Path(str(DATA / "t10k-images-idx3-ubyte.gz")))
    truth = read_idx(labels or Path(str(DATA / "t10k-labels-idx1-ubyte.gz")))
    number = len(truth) if truth.ndim == 1 else 0
    if not number or pixels.shape != (number, *SIZE) or truth.max() >= len(CLASS_NAMES):
        shapes = f"pixels {pixels.shape} and labels {truth.shape}"
        raise fail(BAD_INPUT, f"the demo takes images of 28 x 28 with one label of 0 to 9 each, {shapes} are given")
    return Images((pixels[:count] / np.float32(255)).astype(np.float32), truth[:count].astype(np.uint8))


def read_params(path: Path | None = None) -> Mapping[str, Floats]:
    """The parameters w0, b0, w1, b1 from a file, the shipped ones where none is given. Fails: RM111."""
    shipped = read_arrays(Path(str(DATA / "digits_mlp.npz")))
    if path is None:
        return shipped
    params = read_arrays(path)
    for name, own in shipped.items():
        param = params.get(name)
        if param is None or param.shape != own.shape or param.dtype != own.dtype:
            description = "nothing" if param is None else f"{param.shape} of {param.dtype}"
            raise fail(BAD_INPUT, f"{path}: the demo's `{name}` is {own.shape} of {own.dtype}, {description} is given")
    return params


def numpy_model(x: Floats, params: Mapping[str, Floats]) -> Floats:
    """The model in plain NumPy. Shapes: (n, 784) → (n, 10)."""
    hidden = np.maximum(x @ params["w0"].T + params["b0"], 0)
    scores: Floats = hidden @ params["w1"].T + params["b1"]
    return scores


def library() -> FunctionRegistry:
    """`env.linear` and `env.relu`, destination-passing, in NumPy."""
    registry = FunctionRegistry()

    def linear(x: Tensor, w: Tensor, b: Tensor, out: Tensor) -> None:
        np.add(x.numpy() @ w.numpy().T, b.numpy(), out=out.numpy())

    def relu(x: Tensor, out: Tensor) -> None:
        np.maximum(x.numpy(), 0, out=out.numpy())

    registry.register("env.linear", linear)
    registry.register("env.relu", relu)
    return registry


def read_variant(variant: ModelVariant, params: Mapping[str, Floats]) -> IRModule:
    """The module of a variant, read from its file and bound where it says so."""
    path = Path(str(MODELS / variant.file))
    module = read(path.read_text(encoding="utf-8"), path.name)
    return bind_params(module, "main", params) if variant.bound else module


def run_variant(
    variant: ModelVariant,
    images: Images,
    params: Mapping[str, Floats],
    advance: Callable[[], None],
    tier: str = AUTO,
) -> tuple[VariantResult, Floats]:
    """Every image through the virtual machine, one call each; the row of the table and the scores (n, 10)."""
    main = VirtualMachine(build(read_variant(variant, params), tier, registry=library()))["main"]
    weights = () if variant.bound else tuple(params[name] for name in ("w0", "b0", "w1", "b1"))
    expected = numpy_model(images.pixels.reshape(-1, 784), params)
    scores = np.empty_like(expected)
    start = perf_counter()
    for number, pixels in enumerate(images.pixels):
        scores[number] = cast("Tensor", main(pixels.reshape(1, 784), *weights)).numpy()[0]
        advance()
    seconds = perf_counter() - start
    classes = scores.argmax(axis=1)
    row = VariantResult(
        variant.name,
        len(scores),
        int((classes == images.labels).sum()),
        int((classes == expected.argmax(axis=1)).sum()),
        float(np.abs(scores - expected).max()),
        seconds,
    )
    return row, scores


def run_all(
    images: Images, params: Mapping[str, Floats], advance: Callable[[], None], tier: str = AUTO
) -> Iterator[tuple[VariantResult, Floats]]:
    """The four variants, then the model of PyTorch, in order."""
    for variant in ALL:
        yield run_variant(variant, images, params, advance, tier)
