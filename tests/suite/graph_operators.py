"""What operators of Relax give, by NumPy. Functions of cases are read by Python's parser; each call has a row here.

Nothing of refmlc. What rows do not know they say by `NoWitness`: another argument, another operator.
"""

import ast

import arrays
import images
import numpy as np
import windows
from boxes import Wish, by_class, suppressed
from case_files import NoWitness
from rounding import stored

PLAIN = {
    **dict.fromkeys(("shape", "prim_value"), lambda value: value),
    **{f"T.{name}": getattr(np, name) for name in ("int64", "int32", "float64", "float32")},
    "T.bool": bool,
}
SPACE = {1: "W", 2: "HW", 3: "DHW"}
NMS = {
    "max_output_size": "most", "iou_threshold": "threshold", "force_suppress": "force", "top_k": "top",
    "coord_start": "start", "score_index": "score", "id_index": "label", "return_indices": "indices",
    "invalid_to_bottom": "bottom", "soft_nms_sigma": "sigma", "score_threshold": "least",
}  # fmt: skip


def given(function, arrays):
    """What a function of bindings and calls returns: an array, or a list of them."""
    names = dict(zip((each.arg for each in function.args.args), arrays, strict=True))
    for node in function.body:
        match node:
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=value)
                | ast.AnnAssign(target=ast.Name(id=name), value=value)
            ):
                names[name] = _value(value, names)
            case ast.Return(value=value):
                return _value(value, names)
            case _:
                raise NoWitness(ast.unparse(node))
    raise NoWitness("nothing is returned")


def _value(node, names):
    match node:
        case ast.Name(id=name) if name in names:
            return names[name]
        case ast.Call(func=function, args=args, keywords=keywords):
            word = ast.unparse(function).removeprefix("R.")
            if word in PLAIN:
                return PLAIN[word](_value(args[0], names)) if args else []
            if word not in ROWS:
                raise NoWitness(word)
            named = {each.arg: _value(each.value, names) for each in keywords}
            try:
                return ROWS[word](*(_value(arg, names) for arg in args), **named)
            except TypeError as problem:
                raise NoWitness(f"{word}: {problem}") from problem
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            return [_value(part, names) for part in parts]
        case ast.Call(func=ast.Attribute(attr="float"), args=[ast.Constant(value=str(word))]):
            return float(word)
    try:
        return ast.literal_eval(node)
    except ValueError as problem:
        raise NoWitness(ast.unparse(node)) from problem


# ------------------------------------------------------------------------------------------------- windows


def listed(value, rank):
    """A number for each dimension."""
    found = list(value) if isinstance(value, (list, tuple)) else [value]
    return found * rank if len(found) == 1 else found


def over(rank, of):
    """An operator of images in any layout: it sees `N, C` and space."""

    def value(x, *args, layout=None, out_layout=None, **more):
        letters = "NC" + SPACE[rank]
        source = layout or letters
        plain = np.transpose(x, [source.index(one) for one in letters])
        return windows.laid(of(plain, *args, **more), out_layout or source, letters)

    return value


def pool(rank, of, **usual):
    """A pool with the attributes that each has."""

    def value(x, pool_size=1, strides=1, padding=0, dilation=1, ceil_mode=False, **more):
        size = listed(pool_size, rank)
        moved = windows.moves(
            size, listed(strides, rank), listed(padding, rank), listed(dilation, rank), ceil=ceil_mode
        )
        return of(x, moved, **_padded({**usual, **more}))

    return over(rank, value)


def _padded(more):
    return {("padded" if name == "count_include_pad" else name): value for name, value in more.items()}


def adaptive(rank):
    def value(x, output_size=None):
        parts = list(x.shape[2:]) if output_size is None else listed(output_size, rank)
        return windows.adaptive(x, parts)

    return over(rank, value)


def pool_backward(of, **usual):
    """The gradient of a pool of two dimensions."""

    def value(gradient, x, pool_size=1, strides=1, padding=0, dilation=1, ceil_mode=False, layout="NCHW", **more):
        target = more.pop("out_layout", None) or layout
        moved = windows.moves(
            listed(pool_size, 2), listed(strides, 2), listed(padding, 2), listed(dilation, 2), ceil=ceil_mode
        )
        laid = ((gradient, target), (x, layout))
        plain = [np.transpose(one, [order.index(letter) for letter in "NCHW"]) for one, order in laid]
        return windows.laid(of(*plain, moved, **_padded({**usual, **more})), layout, "NCHW")

    return value


def convolution(rank, of, kernel, extra=()):
    """A convolution in any layout."""

    def value(x, weight, strides=1, padding=0, **more):
        letters, space = "NC" + SPACE[rank], SPACE[rank]
        source = more.pop("data_layout", letters)
        laid = more.pop("kernel_layout", kernel + space)
        target = more.pop("out_layout", None) or source
        kind = more.pop("out_dtype", None)
        kind = stored(kind) if kind and kind != "void" else x.dtype
        plain = np.transpose(x, [source.index(one) for one in letters])
        weights = np.transpose(weight, [laid.index(one) for one in kernel + space])
        moved = windows.moves(
            weights.shape[2:], listed(strides, rank), listed(padding, rank), listed(more.pop("dilation", 1), rank)
        )
        known = {"groups": more.pop("groups", 1), **{name: listed(more.pop(old, 0), rank) for old, name in extra}}
        if more:
            raise NoWitness(str(more))
        return windows.laid(of(plain, weights, moved, dtype=kind, **known), target, letters)

    return value


ROWS = arrays.ROWS | {
    "grad.max_pool2d_backward": pool_backward(windows.max_pool_backward),
    "grad.avg_pool2d_backward": pool_backward(windows.avg_pool_backward, padded=False),
}
for _rank in SPACE:
    ROWS[f"nn.max_pool{_rank}d"] = pool(_rank, windows.max_pool)
    ROWS[f"nn.avg_pool{_rank}d"] = pool(_rank, windows.avg_pool, padded=_rank != 2)
    ROWS[f"nn.adaptive_avg_pool{_rank}d"] = adaptive(_rank)
    ROWS[f"nn.conv{_rank}d"] = convolution(_rank, windows.conv, "OI")
    ROWS[f"nn.conv{_rank}d_transpose"] = convolution(_rank, windows.conv_transpose, "IO", (("output_padding", "more"),))


# -------------------------------------------------------------------------------------------------- images


def resize(rank, usual):
    """`image.resize2d`, `image.resize3d`: with the rounding that is usual."""

    def value(x, size, roi=0.0, layout=None, method="linear", **more):
        mode, rounding = more.pop("coordinate_transformation_mode", "half_pixel"), more.pop("rounding_method", usual)
        numbers = [more.pop(name, other) for name, other in (("cubic_alpha", -0.75), ("cubic_exclude", 0))]
        outside, kind = more.pop("extrapolation_value", 0.0), more.pop("out_dtype", None)
        if more or kind not in (None, "", "void"):
            raise NoWitness(f"{kind} {more}")
        words = (listed(size, rank), method, mode, rounding, *numbers, listed(roi, 2 * rank), outside)
        return over(rank, images.resize)(x, *words, layout=layout).astype(x.dtype)

    return value


def roi_align(x, rois, pooled_size, spatial_scale, sample_ratio=-1, aligned=False, layout="NCHW", mode="avg"):
    """LIB-070."""
    of = lambda plain: images.roi_align(plain, rois, listed(pooled_size, 2), spatial_scale, sample_ratio, aligned, mode)  # noqa: E731 - of one call
    return over(2, of)(x, layout=layout).astype(x.dtype)


def roi_pool(x, rois, pooled_size, spatial_scale, layout="NCHW"):
    """LIB-071."""
    return over(2, lambda plain: images.roi_pool(plain, rois, listed(pooled_size, 2), spatial_scale))(x, layout=layout)


def valid_counts(x, score_threshold=0.0, id_index=0, score_index=1):
    """LIB-073."""
    return images.valid_counts(x, score_threshold, id_index, score_index)


def multibox(scores, moved, anchor, *, clip=False, threshold=0.0, variances=(1, 1, 1, 1), keep_background=True):
    """LIB-072."""
    return [
        images.boxes_of(moved, anchor, variances, clip).astype(moved.dtype),
        images.scores_of(scores, threshold, keep_background, True).astype(scores.dtype),
    ]


def affine_grid(maps, size=None, align_corners=True):
    """LIB-062."""
    return images.affine_grid(maps, listed(size, 2), align_corners)


def suppression(data, valid, indices, **attributes):
    """LIB-074."""
    return suppressed(data, valid, indices, Wish(**{NMS[name]: value for name, value in attributes.items()}))


def suppression_by_class(boxes, scores, most, threshold, least, output_format="onnx"):
    """LIB-075."""
    limits = [one.reshape(-1)[0] if isinstance(one, np.ndarray) else one for one in (most, threshold, least)]
    return by_class(boxes, scores, *limits, output_format)


ROWS |= {
    "image.resize2d": resize(2, "round"),
    "image.resize3d": resize(3, ""),
    "image.affine_grid": affine_grid,
    "vision.roi_align": roi_align,
    "vision.roi_pool": roi_pool,
    "vision.get_valid_counts": valid_counts,
    "vision.multibox_transform_loc": multibox,
    "vision.non_max_suppression": suppression,
    "vision.all_class_non_max_suppression": suppression_by_class,
}
