"""Elements in other places: no element changes, so the bits are compared."""

from collections.abc import Callable, Sequence

import numpy as np

from refmlc.oracle.exact.definitions.arrays import Array, axes_of
from refmlc.oracle.exact.definitions.definition import NUMPY, ONNX, PYTORCH, SAME, ExactDefinition, NoDefinition, rows

MODES = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}


def permute_dims(x: Array, *, axes: Sequence[int] | None = None) -> Array:
    """Axis axes[i] becomes axis i."""
    return np.transpose(x, None if axes is None else tuple(axes))


def expand_dims(x: Array, *, axis: int | Sequence[int]) -> Array:
    """New axes at these places of the result."""
    return np.expand_dims(x, axis if isinstance(axis, int) else tuple(axis))


def squeeze(x: Array, *, axis: int | Sequence[int] | None = None) -> Array:
    """Axes of extent 1 left out."""
    return np.squeeze(x, None if axis is None else axes_of(axis, x.ndim))


def concat(tensors: Sequence[Array], *, axis: int | None = 0) -> Array:
    """One after the other; None: in row-major order."""
    return np.concatenate(tensors, axis)


def split(x: Array, *, indices_or_sections: int | Sequence[int], axis: int = 0) -> tuple[Array, ...]:
    """Before each index; or into parts of ceil(n / parts) places, the last being smaller (ONNX Split)."""
    cuts = indices_or_sections
    if isinstance(cuts, int):
        part = -(-x.shape[axis] // cuts)
        cuts = [min(part * place, x.shape[axis]) for place in range(1, cuts)]
    return tuple(np.split(x, list(cuts), axis))


def flip(x: Array, *, axis: int) -> Array:
    """The opposite order."""
    return np.flip(x, axis)


def tile(x: Array, *, repeats: int | Sequence[int]) -> Array:
    """The whole tensor again."""
    return np.tile(x, repeats if isinstance(repeats, int) else tuple(repeats))


def repeat(x: Array, *, repeats: int, axis: int | None = None) -> Array:
    """Each element again."""
    return np.repeat(x, repeats, axis)


def stack(tensors: Sequence[Array], *, axis: int = 0) -> Array:
    """Along a new axis."""
    return np.stack(tensors, axis)


def meshgrid(tensors: Sequence[Array], *, indexing: str = "ij") -> tuple[Array, ...]:
    """Vectors broadcast to each other."""
    return tuple(np.meshgrid(*tensors, indexing="xy" if indexing == "xy" else "ij"))


def layout_transform(x: Array, *, index_map: Callable[..., tuple[int, ...]], pad_value: float | None = None) -> Array:
    """The element at i, … goes to index_map(i, …); `index_map` is the adapter's function of numbers."""
    moves = {at: index_map(*at) for at in np.ndindex(*x.shape)}
    if not moves:
        raise NoDefinition("a layout of no elements")
    extents = getattr(index_map, "extents", None)
    if extents is None:
        raise NoDefinition("a layout whose extents are not known")
    result = np.full(extents, 0 if pad_value is None else pad_value).astype(x.dtype)
    for source, target in moves.items():
        result[target] = x[source]
    return result


def pad(
    x: Array, *, pad_width: Sequence[int], pad_mode: str | None = "constant", pad_value: float | None = 0.0
) -> Array:
    """Elements added before and after each dimension."""
    widths = list(zip(pad_width[::2], pad_width[1::2], strict=True))
    if pad_mode in (None, "constant"):
        value = np.asarray(0 if pad_value is None else pad_value, np.float64).astype(x.dtype)
        shape = [n + low + high for n, (low, high) in zip(x.shape, widths, strict=True)]
        result = np.full(shape, value, x.dtype)
        result[tuple(slice(low, low + n) for n, (low, _high) in zip(x.shape, widths, strict=True))] = x
        return result
    if not x.size:
        raise NoDefinition("a mirror of no elements")
    places = np.pad(np.arange(x.size).reshape(x.shape), widths, mode=MODES[pad_mode])  # type: ignore[call-overload]
    return x.reshape(-1)[places]


def pixel_shuffle(x: Array, *, upscale_factor: int) -> Array:
    """(…, c r², h, w) gives (…, c, h r, w r)."""
    r = upscale_factor
    *outer, channels, height, width = x.shape
    parts = x.reshape(*outer, channels // r**2, r, r, height, width)
    rank = len(outer)
    order = [*range(rank), rank, rank + 3, rank + 1, rank + 4, rank + 2]
    return parts.transpose(order).reshape(*outer, channels // r**2, height * r, width * r)


def same(x: Array) -> Array:
    """The argument."""
    return x


MOVEMENT = (
    *rows(
        {
            "expand_dims": expand_dims,
            "squeeze": squeeze,
            "broadcast_to": np.broadcast_to,
            "stack": stack,
            "tile": tile,
            "repeat": repeat,
            "flip": flip,
            "meshgrid": meshgrid,
        },
        f"{NUMPY} numpy.{{}}",
        SAME,
    ),
    ExactDefinition("permute_dims", permute_dims, f"{NUMPY} numpy.transpose", SAME),
    ExactDefinition("concat", concat, f"{NUMPY} numpy.concatenate", SAME),
    ExactDefinition("split", split, f"{NUMPY} numpy.split, {ONNX} Split", SAME),
    ExactDefinition("flatten", lambda x: x.reshape(-1), f"{NUMPY} numpy.ndarray.flatten", SAME),
    ExactDefinition(
        "nn.batch_flatten", lambda x: x.reshape(len(x), int(np.prod(x.shape[1:]))), f"{ONNX} Flatten", SAME
    ),
    ExactDefinition("layout_transform", layout_transform, "TVM 0.27 tirx.IndexMap: a permutation of places", SAME),
    ExactDefinition("nn.pad", pad, f"{NUMPY} numpy.pad", SAME),
    ExactDefinition("nn.pixel_shuffle", pixel_shuffle, f"{PYTORCH} torch.nn.PixelShuffle", SAME),
    *(
        ExactDefinition(f"grad.{name}", same, "TVM 0.27: the argument", SAME)
        for name in ("no_grad", "start_checkpoint", "end_checkpoint")
    ),
)
