"""Pictures of another size, and elements at the places of a grid.

An axis at a time, the last first, by places and weights that are known when the model is imported; they are computed in
the dtype in which PyTorch computes them (float32, float64 for float64).

| operator               | a result is                                                                    |
|------------------------|--------------------------------------------------------------------------------|
| `upsample_nearest…d`   | the element below the place; `_upsample_nearest_exact…d`: below its middle      |
| `upsample_linear1d`, … | two elements, weighted by their distance                                       |
"""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from refmlc.diag import fail
from refmlc.diag.catalogue import UNSUPPORTED_OP
from refmlc.frontends.arrays import constant
from refmlc.frontends.aten.nans import any_of
from refmlc.frontends.emitter import Emitter, Operand
from refmlc.frontends.rule import Rule, whole
from refmlc.lang.ir import relax

Tensor = relax.Expr
Line = tuple[int, int, Operand]
"""The extent of an axis, the one it is to have, and the scale where one is given."""


def lines(e: Emitter, x: Tensor, size: Operand, scales: Operand) -> list[Line]:
    """What becomes of each axis of space. Fails: RM501 for extents that are not known."""
    own = [whole(item) for item in e.shape(x)[2:]]
    factors = list(scales) if isinstance(scales, list | tuple) else [None] * len(own)
    target = list(size) if isinstance(size, list | tuple) else [None] * len(own)
    results = [
        int(extent * float(str(factor))) if values is None else whole(values)
        for extent, values, factor in zip(own, target, factors, strict=True)
    ]
    return list(zip(own, results, factors, strict=True))


def opmath(e: Emitter, x: Tensor) -> np.dtype:
    """The dtype of places and weights."""
    return np.dtype(np.float64 if e.dtype(x) == "float64" else np.float32)


def step(line: Line, kind: np.dtype) -> np.ndarray:
    """How far apart the places of two results are."""
    extent, result, scale = line
    number = 1 / float(str(scale)) if scale is not None else extent / result
    return np.asarray(number, kind)


def nearest(*, exact: bool) -> Rule:
    """The element below each place, or below the middle of it."""

    def rule(e: Emitter, x: Tensor, output_size: Operand, scales: Operand) -> Tensor:
        result, kind = x, np.dtype(np.float32)
        for at, line in enumerate(lines(e, x, output_size, scales)):
            shift = np.asarray(0.5 if exact else 0, kind)
            places = np.floor((np.arange(line[1], dtype=kind) + shift) * step(line, kind)).astype(np.int64)
            result = e.call("take", result, constant(np.minimum(places, line[0] - 1)), axis=at + 2)
        return result

    return rule


def linear(e: Emitter, x: Tensor, output_size: Operand, align_corners: Operand, scales: Operand) -> Tensor:
    """Two elements around each place, weighted by their distance."""
    value, kind = x, opmath(e, x)
    every = lines(e, x, output_size, scales)
    dtype = e.dtype(x)
    value = e.astype(value, str(kind))
    for at in reversed(range(len(every))):
        extent, result, _ = every[at]
        there = np.arange(result, dtype=kind)
        if align_corners:
            places = there * np.asarray((extent - 1) / (result - 1) if result > 1 else 0, kind)
        else:
            half = np.asarray(0.5, kind)
            places = np.maximum(step(every[at], kind) * (there + half) - half, np.asarray(0, kind))
        left = np.minimum(np.floor(places).astype(np.int64), extent - 1)
        right = np.minimum(left + 1, extent - 1)
        share = np.clip(places - left.astype(kind), 0, 1)
        around = [result if axis == at + 2 else 1 for axis in range(e.rank(x))]
        parts = [
            e.call(
                "multiply",
                e.call("take", value, constant(selected), axis=at + 2),
                constant(weight.astype(kind).reshape(around)),
            )
            for selected, weight in ((left, 1 - share), (right, share))
        ]
        value = e.call("add", *parts)
    return e.astype(value, dtype)


def by_scales(rule: Rule) -> Rule:
    """The rule for operators that name the scales of the axes one by one."""
    return lambda e, x, output_size, scales_d=None, scales_h=None, scales_w=None, scales=None: rule(
        e, x, output_size, _given(e, x, scales_d, scales_h, scales_w, scales)
    )


def linear_by_scales(
    e: Emitter,
    x: Tensor,
    output_size: Operand,
    align_corners: Operand,
    scales_d: Operand = None,
    scales_h: Operand = None,
    scales_w: Operand = None,
    scales: Operand = None,
) -> Tensor:
    """`linear` of an operator that names the scales of the axes one by one."""
    return linear(e, x, output_size, align_corners, _given(e, x, scales_d, scales_h, scales_w, scales))


def _given(e: Emitter, x: Tensor, *scales: Operand) -> list[Operand]:
    """The scales of the axes of space, of those by name: depth, height, width; or the only one."""
    *named, alone = scales
    rank = e.rank(x) - 2
    return [alone] if rank == 1 else list(named[3 - rank :])


METHODS = ("bilinear", "nearest", "bicubic")
PADDING = ("zeros", "border", "reflection")


def grid_sample(
    e: Emitter, x: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: Operand
) -> Tensor:
    """The elements at the places of a grid, whose last axis has the coordinates.

    Decision: a coordinate that is not finite gives NaN in two dimensions where nothing brings it into the image, as
    PyTorch's kernel for pictures does; its kernel for three dimensions gives 0.
    """
    rank = e.rank(x)
    if METHODS[interpolation_mode] == "bicubic" and rank != 4:
        raise fail(UNSUPPORTED_OP, "a bicubic grid of three dimensions is not supported")
    method = METHODS[interpolation_mode]
    result = e.call(
        "image.grid_sample",
        x,
        e.call("permute_dims", grid, axes=(0, rank - 1, *range(1, rank - 1))),
        method=method,
        layout="NCHW" if rank == 4 else "NCDHW",
        padding_mode=PADDING[padding_mode],
        align_corners=bool(align_corners),
    )
    if method == "nearest" or (method == "bilinear" and (rank != 4 or PADDING[padding_mode] != "zeros")):
        return result
    strange = e.call("logical_not", e.call("isfinite", grid))
    lost = e.call("expand_dims", any_of(e, strange, (-1,), keep=False), axis=1)
    return e.call("where", lost, e.scalar(math.nan, e.dtype(x)), result)


RANKS: Sequence[int] = (1, 2, 3)
LINEAR = ("linear1d", "bilinear2d", "trilinear3d")

RESAMPLING: Mapping[str, Rule] = {
    **{
        f"{name}{rank}d": by_scales(nearest(exact=exact))
        for rank in RANKS
        for name, exact in (("upsample_nearest", False), ("_upsample_nearest_exact", True))
    },
    **{
        f"{name}{rank}d.vec": nearest(exact=exact)
        for rank in RANKS
        for name, exact in (("upsample_nearest", False), ("_upsample_nearest_exact", True))
    },
    **{f"upsample_{name}": linear_by_scales for name in LINEAR},
    **{f"upsample_{name}.vec": linear for name in LINEAR},
    "grid_sampler": grid_sample,
    "grid_sampler_2d": grid_sample,
    "grid_sampler_3d": grid_sample,
}
