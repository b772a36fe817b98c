"""Plans of operators over images: windows, convolutions, resizing, boxes, attention.

Windows reach into the padding on all sides, leave rows out at the end, and are as large as the image.
"""

from collections.abc import Callable, Mapping
from functools import partial

from refmlc.lang.ir import tir
from refmlc.strategies.operators.calls import FLOATS, INTEGERS, Calls, DrawnTensor, Plan, sizes

METHODS = ("nearest_neighbor", "linear", "cubic")
MODES = ("half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel", "tf_half_pixel_for_nn")
ROUNDINGS = ("round", "floor", "ceil", "round_prefer_floor", "round_prefer_ceil")
SIDES = (3, 4, 2, 5, 1)
LAYOUTS = {1: ("NCW", "NWC"), 2: ("NCHW", "NHWC"), 3: ("NCDHW", "NDHWC")}
WEIGHTS = {1: "OIW", 2: "OIHW", 3: "OIDHW"}
SOME = FLOATS[:4]


def draw_image(calls: Calls, space: int, layout: str, channels: int | None = None) -> DrawnTensor:
    """An image with `space` spatial dimensions: the last result if it fits, else a new parameter."""
    pick = calls.choices.pick
    extents = {"N": pick((1, 2)), "C": channels or pick((1, 2, 3))} | {letter: pick(SIDES) for letter in "DHW"}
    dtypes = (*SOME, INTEGERS[0]) if calls.choices.chance(10) else SOME
    last, calls.last = calls.last, None
    if last is not None and last.rank == space + 2 and last.dtype in dtypes and channels is None and min(last.shape):
        return last
    return calls.parameter(pick(dtypes), [extents[letter] for letter in layout])


def space_of(tensor: DrawnTensor, layout: str) -> dict[str, int]:
    """The extents of an image by their letters."""
    return dict(zip(layout, tensor.shape, strict=True))


def padding(calls: Calls, space: int, most: int) -> tuple[int, ...]:
    """Paddings up to `most` before and after each dimension."""
    before = tuple(calls.choices.below(most + 1) for _ in range(space))
    return (*before, *(calls.choices.below(most + 1) for _ in range(space)))


def pool(calls: Calls, space: int, *, counts: bool = False) -> Plan:
    """An image and its pool; `counts`: averages may count the padding."""
    layout = calls.choices.pick(LAYOUTS[space])
    image = draw_image(calls, space, layout)
    pick = calls.choices.pick
    size = tuple(pick((2, 1, 3)) for _ in range(space))
    attrs: dict[str, tir.Attr] = {
        "pool_size": size,
        "strides": tuple(pick((1, 2, 3)) for _ in range(space)),
        "padding": padding(calls, space, min(size) - 1 if calls.choices.chance(80) else 2),
        "dilation": tuple(pick((1, 1, 1, 2)) for _ in range(space)),
        "ceil_mode": calls.flag(),
        "count_include_pad": counts and calls.flag(),
        "layout": layout,
    }
    return [image.expr], attrs


def pool_gradient(calls: Calls, *, counts: bool = False) -> Plan:
    """The gradient of the result and the image of a pool of two dimensions, without dilation."""
    (data,), attrs = pool(calls, 2, counts=counts)
    recipe = calls.recipes[-1]
    attrs = {**attrs, "dilation": (1, 1)}
    letters = dict(zip(str(attrs["layout"]), recipe.shape, strict=True))
    pads, size, strides = attrs["padding"], attrs["pool_size"], attrs["strides"]
    if not (isinstance(pads, tuple) and isinstance(size, tuple) and isinstance(strides, tuple)):
        raise TypeError(pads)
    for at, letter in enumerate("HW"):
        room = letters[letter] + int(str(pads[at])) + int(str(pads[at + 2])) - int(str(size[at]))
        step = int(str(strides[at]))
        count = (-(-room // step) if attrs["ceil_mode"] else room // step) + 1
        if attrs["ceil_mode"] and (count - 1) * step >= letters[letter] + int(str(pads[at])):
            count -= 1
        letters[letter] = max(0, count)
    grad = calls.parameter(recipe.dtype, [letters[letter] for letter in str(attrs["layout"])])
    return [grad.expr, data], attrs


def adaptive_pool(calls: Calls, space: int) -> Plan:
    """An image and the size of the result."""
    layout = calls.choices.pick(LAYOUTS[space])
    image = draw_image(calls, space, layout)
    return [image.expr], {
        "output_size": tuple(calls.choices.pick((2, 1, 3, 4)) for _ in range(space)),
        "layout": layout,
    }


def convolution(calls: Calls, space: int) -> Plan:
    """An image and weights."""
    pick = calls.choices.pick
    groups = pick((1, 1, 2))
    layout = pick(LAYOUTS[space])
    image = draw_image(calls, space, layout, groups * pick((1, 2)))
    inner = space_of(image, layout)["C"] // groups
    kernel = [pick((1, 2, 3)) for _ in range(space)]
    weight = calls.like(image, (groups * pick((1, 2)), inner, *kernel))
    attrs: dict[str, tir.Attr] = {
        "strides": tuple(pick((1, 2)) for _ in range(space)),
        "padding": padding(calls, space, 2),
        "dilation": tuple(pick((1, 1, 2)) for _ in range(space)),
        "groups": groups,
        "data_layout": layout,
        "kernel_layout": WEIGHTS[space],
    }
    return [image.expr, weight.expr], attrs


def transposed_convolution(calls: Calls, space: int) -> Plan:
    """An image and weights, as a transposed convolution takes them."""
    pick = calls.choices.pick
    groups = pick((1, 1, 2))
    layout = LAYOUTS[space][0]
    image = draw_image(calls, space, layout, groups * pick((1, 2)))
    kernel = [pick((1, 2, 3)) for _ in range(space)]
    weight = calls.like(image, (space_of(image, layout)["C"], pick((1, 2)), *kernel))
    strides = tuple(pick((1, 2, 3)) for _ in range(space))
    attrs: dict[str, tir.Attr] = {
        "strides": strides,
        "padding": padding(calls, space, 1),
        "output_padding": tuple(calls.choices.below(stride) for stride in strides),
        "dilation": tuple(pick((1, 1, 1, 2)) for _ in range(space)),
        "groups": groups,
    }
    return [image.expr, weight.expr], attrs


def pad(calls: Calls) -> Plan:
    """A tensor, and the widths and values around it."""
    image = calls.data((*FLOATS, *INTEGERS[:2]))
    mode = calls.choices.pick(("constant", "reflect", "replicate", "circular"))
    widths = tuple(calls.choices.pick((0, 1, 2)) for _ in range(2 * image.rank))
    value = calls.choices.pick((0.0, 1.5, -0.0, -3.0))
    return [image.expr], {"pad_width": widths, "pad_mode": mode, "pad_value": value}


def resize(calls: Calls, space: int) -> Plan:
    """An image and another size."""
    pick = calls.choices.pick
    layout = pick(LAYOUTS[space])
    image = draw_image(calls, space, layout)
    attrs: dict[str, tir.Attr] = {
        "layout": layout,
        "method": pick(METHODS),
        "coordinate_transformation_mode": pick(MODES),
        "rounding_method": pick(ROUNDINGS),
        "cubic_alpha": pick((-0.75, -0.5)),
        "cubic_exclude": pick((0, 1)),
    }
    return [image.expr, sizes(*(pick((1, 2, 3, 5, 7)) for _ in range(space)))], attrs


def grid_sample(calls: Calls, space: int = 2) -> Plan:
    """An image and a grid of places."""
    pick = calls.choices.pick
    layout = LAYOUTS[space][0]
    image = draw_image(calls, space, layout)
    grid = calls.like(image, (image.shape[0], space, *(pick((1, 2, 3)) for _ in range(space))))
    attrs: dict[str, tir.Attr] = {
        "method": pick(("bilinear", "nearest", "bicubic")),
        "padding_mode": pick(("zeros", "border", "reflection")),
        "align_corners": calls.flag(),
        "layout": layout,
    }
    return [image.expr, grid.expr], attrs


def affine_grid(calls: Calls) -> Plan:
    """Matrices, and the size of the grid."""
    pick = calls.choices.pick
    image = calls.parameter(pick(SOME), (pick((1, 2)), 2, 3))
    return [image.expr, sizes(pick((1, 2, 3)), pick((1, 2, 4)))], {"align_corners": calls.flag()}


def boxes(calls: Calls, *, pool: bool) -> Plan:
    """An image and boxes, some of them reversed or outside; `pool`: for `roi_pool`."""
    pick = calls.choices.pick
    image = draw_image(calls, 2, "NCHW")
    rois = calls.like(image, (pick((1, 2)), 5))
    attrs: dict[str, tir.Attr] = {
        "pooled_size": (pick((1, 2)), pick((1, 2, 3))),
        "spatial_scale": pick((1.0, 0.5)),
    }
    if not pool:
        attrs |= {"sample_ratio": pick((1, 2, -1)), "aligned": calls.flag(), "mode": pick(("avg", "max"))}
    return [image.expr, rois.expr], attrs


def attention(calls: Calls, *, bias: bool) -> Plan:
    """Queries, keys and values, and a bias if `bias`."""
    pick = calls.choices.pick
    batch, rows, heads, depth = pick((1, 2)), pick((2, 1, 3)), pick((1, 2)), pick((1, 2))
    query = calls.parameter(pick(SOME), (batch, rows, heads, depth))
    keys = pick((rows, 2, 3))
    others = [calls.like(query, (batch, keys, heads, depth)).expr for _ in range(2)]
    more = [calls.like(query, (batch, heads, rows, keys)).expr] if bias else []
    mask: tir.Attr = pick((None, "TopLeft", "BottomRight"))
    return [query.expr, *others, *more], {"causal_mask": mask, "scale": pick((None, 1.0))}


def pixel_shuffle(calls: Calls) -> Plan:
    """An image with channels for a larger one."""
    pick = calls.choices.pick
    factor = pick((2, 1))
    image = calls.parameter(pick(SOME), (pick((1, 2)), factor * factor * pick((1, 2)), pick((1, 2)), pick((2, 3))))
    return [image.expr], {"upscale_factor": factor}


def _spaces(name: str, plan: Callable[..., Plan], **more: bool) -> dict[str, Callable[[Calls], Plan]]:
    return {name.format(space): partial(plan, space=space, **more) for space in (1, 2, 3)}


PLANS: Mapping[str, Callable[[Calls], Plan]] = {
    **_spaces("nn.max_pool{}d", pool),
    **_spaces("nn.avg_pool{}d", pool, counts=True),
    **_spaces("nn.adaptive_avg_pool{}d", adaptive_pool),
    **_spaces("nn.conv{}d", convolution),
    **_spaces("nn.conv{}d_transpose", transposed_convolution),
    "grad.max_pool2d_backward": pool_gradient,
    "grad.avg_pool2d_backward": partial(pool_gradient, counts=True),
    "nn.pad": pad,
    "nn.pixel_shuffle": pixel_shuffle,
    "image.resize2d": partial(resize, space=2),
    "image.resize3d": partial(resize, space=3),
    "image.grid_sample": grid_sample,
    "image.affine_grid": affine_grid,
    "vision.roi_align": partial(boxes, pool=False),
    "vision.roi_pool": partial(boxes, pool=True),
    "nn.attention": partial(attention, bias=False),
    "nn.attention_bias": partial(attention, bias=True),
}
