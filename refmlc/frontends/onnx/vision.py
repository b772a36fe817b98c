"""Operators of ONNX on images: samples at places, boxes, blocks and windows put back.

| operator            | is                                                                                        |
|---------------------|-------------------------------------------------------------------------------------------|
| `AffineGrid`        | the maps times the places of an image, from -1 to 1                                       |
| `GridSample`        | `image.grid_sample`, the grid's coordinates first                                         |
| `DeformConv`        | samples at the moved places of each kernel, then the product with the weight              |
| `RoiAlign`          | `vision.roi_align` of boxes in the coordinates of the image; they are half a pixel less   |
|                     | with `half_pixel`, which is the default since version 16 and does not exist before        |
| `NonMaxSuppression` | `vision.all_class_non_max_suppression`, cut to the boxes that are kept                    |
| `Col2Im`            | blocks added into an image                                                                |
| `MaxUnpool`         | elements put at places of an image of zeros                                               |
"""

from collections.abc import Mapping, Sequence
from itertools import product as combinations
from math import prod

import numpy as np

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_INPUT, UNSUPPORTED_OP
from refmlc.frontends.arrays import constant
from refmlc.frontends.emitter import Emitter, Operand, Size, product, same_sizes
from refmlc.frontends.onnx.casting import reinterpreted
from refmlc.frontends.onnx.elementwise import OnnxRule, is_half
from refmlc.frontends.onnx.limits import check_size
from refmlc.frontends.onnx.node import Node
from refmlc.frontends.onnx.selection import new_extent, shaped
from refmlc.frontends.onnx.shape_rules import constant_of
from refmlc.lang.ir import relax

METHODS = {"linear": "bilinear", "bilinear": "bilinear", "cubic": "bicubic", "bicubic": "bicubic", "nearest": "nearest"}
LAYOUTS = {4: "NCHW", 5: "NCDHW"}


def _images(node: Node, place: int, ranks: tuple[int, ...]) -> tuple[relax.Expr, tuple[Size, ...]]:
    """An input of images, and its extents. Fails: RM501 for another rank."""
    x = node.tensor(place)
    if node.e.rank(x) not in ranks:
        raise fail(UNSUPPORTED_OP, f"`{node.op}` of {node.e.rank(x)} dimensions is not supported")
    return x, node.e.shape(x)


def _known(node: Node, sizes: tuple[Size, ...]) -> tuple[int, ...]:
    """Extents that are numbers. Fails: RM501."""
    numbers = tuple(size for size in sizes if isinstance(size, int))
    if len(numbers) != len(sizes):
        raise fail(UNSUPPORTED_OP, f"`{node.op}` of symbolic extents is not supported")
    return numbers


def _many(node: Node, name: str, count: int, default: int, least: int) -> tuple[int, ...]:
    """An attribute of `count` numbers, none below `least`. Fails: RM111."""
    numbers = node.ints(name) or (default,) * count
    if len(numbers) != count or any(number < least for number in numbers):
        raise fail(BAD_INPUT, f"`{name}` of `{node.op}` are {numbers[:8]}: {count} numbers from {least} on are needed")
    return numbers


def affine_grid(node: Node) -> Operand:
    """See the docstring of the module. ONNX's body does not run for one map of a plane.

    Decision: an extent of 1 whose corners are aligned is refused: ONNX 1.23's body divides by zero, its evaluator takes
    the place -1, ONNX Runtime 1.32 the place 1 and PyTorch 2.13 the place 0. Fails: RM111, RM501.
    """
    e, theta, sizes = node.e, node.tensor(0), node.integers(1)
    align, (count, *extents), rank = bool(node.whole("align_corners", 0)), (*sizes[:1], *sizes[2:]), len(sizes) - 2
    if rank not in (2, 3) or min(extents) < 1:
        raise fail(BAD_INPUT, f"`AffineGrid` to {list(sizes[:8])}: 4 or 5 extents from 1 on are needed")
    _check_shape(node, "map", theta, [count, rank, rank + 1])
    if align and 1 in extents:
        raise fail(UNSUPPORTED_OP, f"`AffineGrid` to {list(sizes)}: the corners of an extent of 1 are one place")
    check_size(node.op, *extents, rank + 1)
    dtype = e.dtype(theta)
    wide = "float32" if is_half(dtype) else dtype
    axes = [np.linspace(-1, 1, n) if align else (2 * np.arange(n) + 1) / n - 1 for n in extents]
    places = [*np.meshgrid(*axes, indexing="ij")][::-1]
    base = constant(np.stack([*places, np.ones(extents)]).reshape(rank + 1, -1).astype(wide))
    moved = e.call("matmul", e.astype(theta, wide), base)
    grid = e.reshape(e.call("permute_dims", moved, axes=(0, 2, 1)), [count, *extents, rank])
    return e.astype(grid, dtype)


def grid_sample(node: Node) -> Operand:
    """See the docstring of the module."""
    e, (x, _) = node.e, _images(node, 0, (4, 5))
    grid, mode = node.tensor(1), node.text("mode", "linear")
    padding, align = node.text("padding_mode", "zeros"), bool(node.whole("align_corners", 0))
    if mode not in METHODS or padding not in ("zeros", "border", "reflection"):
        raise fail(UNSUPPORTED_OP, f"`GridSample` in the mode `{mode}` with the padding `{padding}` is not supported")
    if METHODS[mode] == "bicubic" and e.rank(x) != len(LAYOUTS[4]):
        raise fail(UNSUPPORTED_OP, "`GridSample` in the mode `cubic` of volumes is not supported")
    if e.rank(grid) != e.rank(x):
        raise fail(BAD_INPUT, f"the grid of `GridSample` has {e.rank(grid)} dimensions, the image {e.rank(x)}")
    return _sampled(node, x, grid, METHODS[mode], padding, align=align)


def _sampled(node: Node, x: relax.Expr, grid: relax.Expr, method: str, padding: str, *, align: bool) -> relax.Expr:
    """Samples at the places of a grid whose last axis holds the coordinates; of halves in float32."""
    e, rank, dtype = node.e, node.e.rank(x), node.e.dtype(x)
    wide = "float32" if is_half(dtype) else dtype
    first = e.call("permute_dims", e.astype(grid, wide), axes=(0, rank - 1, *range(1, rank - 1)))
    samples = e.call(
        "image.grid_sample",
        e.astype(x, wide),
        first,
        method=method,
        layout=LAYOUTS[rank],
        padding_mode=padding,
        align_corners=align,
    )
    return e.astype(samples, dtype)


def deform_conv(node: Node) -> Operand:
    """See the docstring of the module. A place outside of the image has zeros around it.

    Order: the channels of a group, for each the kernel row by row; of halves in float32, rounded once.
    """
    e, (x, sizes), (weight, kernel_sizes) = node.e, _images(node, 0, (4,)), _images(node, 1, (4,))
    offset, mask, bias = node.tensor(2), node.optional(4), node.optional(3)
    (n, c, h, w), (out, each, kh, kw) = _known(node, sizes), _known(node, kernel_sizes)
    group, parts = node.whole("group", 1), node.whole("offset_group", 1)
    pads, strides = _many(node, "pads", 4, 0, 0), _many(node, "strides", 2, 1, 1)
    dilations = _many(node, "dilations", 2, 1, 1)
    if _many(node, "kernel_shape", 2, 0, 0) not in ((0, 0), (kh, kw)):
        raise fail(BAD_INPUT, f"`kernel_shape` of `DeformConv` is not that of the weight: {(kh, kw)}")
    rows, columns = (
        (extent + pads[at] + pads[at + 2] - (window - 1) * dilations[at] - 1) // strides[at] + 1
        for at, (extent, window) in enumerate(((h, kh), (w, kw)))
    )
    count = kh * kw
    _check_shape(node, "offset", offset, [n, 2 * parts * count, rows, columns])
    _check_shape(node, "mask", mask, [n, parts * count, rows, columns])
    if group < 1 or parts < 1 or c != each * group or out % group or c % parts or min(h, w, rows, columns, count) < 1:
        raise fail(BAD_INPUT, f"`DeformConv` of {list(sizes)} by {list(kernel_sizes)} in {group} and {parts} groups")
    check_size(node.op, count, rows, columns)
    dtype = e.dtype(x)
    wide = "float32" if is_half(dtype) else dtype
    own = _unmoved((kh, kw), (rows, columns), strides, dilations, pads)
    shifted = e.reshape(e.astype(offset, wide), [n * parts, count, 2, rows, columns])
    places = []
    for at in range(2):
        place = e.call("squeeze", e.call("strided_slice", shifted, [2], [at], [at + 1], [1]), axis=2)
        place = e.call("add", place, e.astype(constant_of(own[at]), wide))
        places.append(e.reshape(place, [n * parts, 1, count * rows * columns]))
    apart = e.reshape(e.astype(x, wide), [n * parts, c // parts, h, w])
    samples = e.reshape(_between(e, apart, places), [n, parts, c // parts, count, rows, columns])
    if mask is not None:
        shares = e.reshape(e.astype(mask, wide), [n, parts, 1, count, rows, columns])
        samples = e.call("multiply", samples, shares)
    matrix = e.reshape(samples, [n, group, each * count, rows * columns])
    factors = e.reshape(e.astype(weight, wide), [group, out // group, each * count])
    result = e.reshape(e.call("matmul", factors, matrix), [n, out, rows, columns])
    if bias is not None:
        result = e.call("add", result, e.reshape(e.astype(bias, wide), [1, -1, 1, 1]))
    return e.astype(result, dtype)


def _check_shape(node: Node, name: str, value: relax.Expr | None, due: list[int]) -> None:
    """Fails: RM111 where an input that is there has another shape than `due`."""
    if value is not None and not same_sizes(node.e.shape(value), due):
        raise fail(BAD_INPUT, f"the {name} of `{node.op}` has the shape {node.e.shape(value)}, {due} is needed")


def _unmoved(
    kernel: tuple[int, int],
    results: tuple[int, int],
    strides: tuple[int, ...],
    dilations: tuple[int, ...],
    pads: tuple[int, ...],
) -> list[np.ndarray]:
    """The row and the column that each place of a kernel has for each result, before it is moved."""
    first = [np.arange(extent) * strides[at] - pads[at] for at, extent in enumerate(results)]
    steps = [np.arange(extent) * dilations[at] for at, extent in enumerate(kernel)]
    rows, columns = (item.reshape(-1, 1, 1) for item in np.meshgrid(*steps, indexing="ij"))
    return [rows + first[0][None, :, None], columns + first[1][None, None, :]]


def _between(e: Emitter, x: relax.Expr, places: Sequence[relax.Expr]) -> relax.Expr:
    """The four elements around places, weighted by their distance, those outside of the image as zeros.

    Order: the upper left, upper right, lower left, lower right. A place that is NaN is outside.
    """
    n, c, *extents = e.shape(x)
    dtype, count = e.dtype(x), e.shape(places[0])[2]
    ends = []
    for place, extent in zip(places, extents, strict=True):
        last, outside = e.scalar(extent, dtype), e.scalar(-1, dtype)
        field = e.call("where", e.call("less", place, last), place, last)
        field = e.call("where", e.call("greater", field, outside), field, outside)
        first = e.call("floor", field)
        share = e.call("subtract", field, first)
        low = e.astype(first, "int64")
        high = e.call("add", low, e.scalar(1, "int64"))
        ends.append(((low, e.call("subtract", e.scalar(1, dtype), share)), (high, share)))
    flat = e.reshape(x, [n, c, product(extents)])
    total: relax.Expr | None = None
    for (row, up), (column, left) in combinations(*ends):
        weight, index = e.call("multiply", up, left), None
        for place, extent in ((row, extents[0]), (column, extents[1])):
            zero, most = e.scalar(0, "int64"), e.scalar(extent, "int64")
            inside = e.call("logical_and", e.call("greater_equal", place, zero), e.call("less", place, most))
            weight = e.call("where", inside, weight, e.scalar(0, dtype))
            field = e.call("where", inside, place, zero)
            index = field if index is None else e.call("add", e.call("multiply", index, most), field)
        every = e.call("broadcast_to", e.expr(index), e.sizes([n, c, count]))
        term = e.call("multiply", e.call("gather_elements", flat, every, axis=2), weight)
        total = term if total is None else e.call("add", total, term)
    return e.expr(total)


def roi_align(node: Node) -> Operand:
    """See the docstring of the module. Fails: RM501 for the mode `max`: of weighted elements, ONNX's evaluator says."""
    e, (x, _) = node.e, _images(node, 0, (4,))
    rois, images = node.tensor(1), node.tensor(2)
    usual = "half_pixel" if node.opset >= 16 else "output_half_pixel"
    mode, space = node.text("mode", "avg"), node.text("coordinate_transformation_mode", usual)
    height, width = node.whole("output_height", 1), node.whole("output_width", 1)
    samples, scale = node.whole("sampling_ratio", 0), node.real("spatial_scale", 1.0)
    if mode != "avg" or space not in ("half_pixel", "output_half_pixel"):
        raise fail(UNSUPPORTED_OP, f"`RoiAlign` in the mode `{mode}` and the coordinates `{space}` is not supported")
    if not same_sizes(e.shape(rois), [e.shape(images)[0] if e.rank(images) else 0, 4]):
        raise fail(BAD_INPUT, f"`RoiAlign` takes boxes of 4 numbers and an image for each, not {e.shape(rois)}")
    if min(height, width) < 1 or samples < 0 or not 0 < scale < float("inf"):
        raise fail(BAD_INPUT, f"`RoiAlign` to {height} x {width} with {samples} samples and a scale of {scale}")
    check_size(node.op, height, width, max(samples, 1) ** 2)
    dtype = e.dtype(x)
    wide = "float32" if is_half(dtype) else dtype
    boxes = e.call("multiply", e.astype(rois, wide), e.scalar(scale, wide))
    if space == "half_pixel":
        boxes = e.call("subtract", boxes, e.scalar(0.5, wide))
    numbered = e.call("concat", [e.astype(e.reshape(images, [e.shape(images)[0], 1]), wide), boxes], axis=1)
    result = e.call(
        "vision.roi_align",
        e.astype(x, wide),
        numbered,
        pooled_size=(height, width),
        spatial_scale=1.0,
        sample_ratio=samples or -1,
        aligned=space == "half_pixel",
        layout="NCHW",
        mode="avg",
    )
    return e.astype(result, dtype)


def non_max_suppression(node: Node) -> Operand:
    """See the docstring of the module; boxes of two corners in any order, or of a centre and a size."""
    e, boxes, scores = node.e, node.tensor(0), node.tensor(1)
    if node.whole("center_point_box", 0):
        centre = e.call("strided_slice", boxes, [2], [0], [2], [1])
        half = e.call("multiply", e.call("strided_slice", boxes, [2], [2], [4], [1]), e.scalar(0.5, e.dtype(boxes)))
        boxes = e.call("concat", [e.call("subtract", centre, half), e.call("add", centre, half)], axis=2)
    most = node.optional(2)
    limits = [
        e.scalar(0, "int64") if most is None else most,
        *(
            e.scalar(least, "float32") if node.input(at) is None else node.tensor(at)
            for at, least in ((3, 0.0), (4, -np.inf))
        ),
    ]
    limits[1] = _next(e, limits[1])
    vectors = [e.reshape(limit, [1]) for limit in limits]
    both = e.call("vision.all_class_non_max_suppression", boxes, scores, *vectors, output_format="onnx")
    rows, count = e.item(both, 0), e.item(both, 1)
    begin, step = constant_of(np.zeros(2)), constant_of(np.ones(2))
    end = e.call("concat", [count, constant_of(np.full(1, 3))], axis=0)
    cut = e.call("dynamic_strided_slice", rows, begin, end, step)
    return shaped(node, cut, [new_extent(node), 3], "int64")


def _next(e: Emitter, x: relax.Expr) -> relax.Expr:
    """The next greater float32: boxes of exactly the threshold stay in ONNX, those of at least a limit go here."""
    code = reinterpreted(e, e.call("add", e.astype(x, "float32"), e.scalar(0.0, "float32")), "uint32")
    return reinterpreted(e, e.call("add", code, e.scalar(1, "uint32")), "float32")


def col2im(node: Node) -> Operand:
    """See the docstring of the module. Order: the places of a block row by row, for each the blocks row by row."""
    e, x, image, block = node.e, node.tensor(0), node.integers(1), node.integers(2)
    rank = len(image)
    pads, strides = _many(node, "pads", 2 * rank, 0, 0), _many(node, "strides", rank, 1, 1)
    dilations = _many(node, "dilations", rank, 1, 1)
    if len(block) != rank or rank < 1 or min(*image, *block) < 1 or e.rank(x) != 3:
        raise fail(BAD_INPUT, f"`Col2Im` of {e.rank(x)} dimensions into {image[:8]} by blocks of {block[:8]}")
    padded = [extent + pads[at] + pads[at + rank] for at, extent in enumerate(image)]
    counts = [(padded[at] - dilations[at] * (window - 1) - 1) // strides[at] + 1 for at, window in enumerate(block)]
    batch, channels, length = e.shape(x)
    if (
        min(counts) < 1
        or not same_sizes([length], [prod(counts)])
        or not isinstance(channels, int)
        or channels % prod(block)
    ):
        raise fail(BAD_INPUT, f"`Col2Im` of {[batch, channels, length]} into {list(image)} by blocks of {list(block)}")
    check_size(node.op, *block, *counts)
    check_size(node.op, *padded)
    deep = channels // prod(block)
    places = np.zeros((*block, *counts), np.int64)
    for axis in range(rank):
        around = [1] * (2 * rank)
        around[axis] = block[axis]
        step = np.arange(block[axis]).reshape(around) * dilations[axis]
        around = [1] * (2 * rank)
        around[rank + axis] = counts[axis]
        first = np.arange(counts[axis]).reshape(around) * strides[axis]
        places = places * padded[axis] + step + first
    updates = e.reshape(x, [batch, deep, places.size])
    index = e.call("broadcast_to", constant_of(places.reshape(1, 1, -1)), e.sizes([batch, deep, places.size]))
    dtype = e.dtype(x)
    zeros = e.call("full", e.sizes([batch, deep, prod(padded)]), e.scalar(0, dtype), dtype=dtype)
    total: relax.Expr = e.call("scatter_elements", zeros, index, updates, axis=2, reduction="add")
    total = e.reshape(total, [batch, deep, *padded])
    axes = list(range(2, rank + 2))
    ends = [pads[at] + extent for at, extent in enumerate(image)]
    return e.call("strided_slice", total, axes, list(pads[:rank]), ends, [1] * rank)


def max_unpool(node: Node) -> Operand:
    """See the docstring of the module; places count in the image that the windows imply."""
    e, (x, sizes), places = node.e, _images(node, 0, (3, 4, 5)), node.tensor(1)
    rank = len(sizes) - 2
    kernel = _many(node, "kernel_shape", rank, 0, 1)
    strides, pads = _many(node, "strides", rank, 1, 1), _many(node, "pads", 2 * rank, 0, 0)
    whole = _known(node, sizes)
    implied = [
        *whole[:2],
        *((whole[at + 2] - 1) * strides[at] - pads[at] - pads[at + rank] + kernel[at] for at in range(rank)),
    ]
    target = implied if node.input(2) is None else list(node.integers(2))
    if len(target) != len(implied) or min(implied) < 1 or any(a < b for a, b in zip(target, implied, strict=True)):
        raise fail(BAD_INPUT, f"`MaxUnpool` to {target[:8]}, the windows need {implied}")
    check_size(node.op, *target)
    if not same_sizes(e.shape(places), sizes):
        raise fail(BAD_INPUT, f"`MaxUnpool` of {list(sizes)} with places of {list(e.shape(places))}")
    dtype = e.dtype(x)
    zeros = e.call("full", e.sizes([prod(implied)]), e.scalar(0, dtype), dtype=dtype)
    put = e.call("scatter_elements", zeros, e.reshape(places, [-1]), e.reshape(x, [-1]), axis=0, reduction="update")
    result: relax.Expr = e.reshape(put, implied)
    for axis, (extent, due) in enumerate(zip(implied, target, strict=True)):
        if due > extent:
            rest = list(e.shape(result))
            rest[axis] = due - extent
            more = e.call("full", e.sizes(rest), e.scalar(0, dtype), dtype=dtype)
            result = e.call("concat", [result, more], axis=axis)
    return result


VISION: Mapping[str, OnnxRule] = {
    "AffineGrid": affine_grid,
    "GridSample": grid_sample,
    "DeformConv": deform_conv,
    "RoiAlign": roi_align,
    "NonMaxSuppression": non_max_suppression,
    "Col2Im": col2im,
    "MaxUnpool": max_unpool,
}
