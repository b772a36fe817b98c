"""More operators than the sample has: orders, slices, indices, windows, training, images, filling, boxes.

TVM refuses some of these cases, and prints some of their lowered modules not at all.
"""

import numpy as np
from operator_case import Case, f32, of, prim
from tvm import tirx
from tvm.relax import op as R


def order_cases():
    """Orders of elements: ties, signs of zero, axes, dtypes."""
    ties = np.array([[2, 0, 1, 2, 0, 1, 2, 1], [1, 1, 1, 0, 0, 0, 5, 5]], "float32")
    zeros, wide = np.array([[0.0, -0.0, 0.0, -1.0, -0.0]], "float32"), of("int64", 5, 9, 2)
    for down in (False, True):
        for label, x in (("ties", ties), ("zeros", zeros), ("wide", wide), ("int8", of("int8", 3, 7))):
            for axis in (-1, 0):
                yield Case(f"sort/{label}/{axis}/{down}", lambda a, k=axis, d=down: R.sort(a, k, d), (x,))
                yield Case(
                    f"argsort/{label}/{axis}/{down}", lambda a, k=axis, d=down: R.argsort(a, k, d, "int64"), (x,)
                )
                yield Case(f"topk/{label}/{axis}/{down}", lambda a, k=axis, d=down: R.topk(a, 1, k, "both", d), (x,))
        yield Case(f"topk/several/{down}", lambda a, d=down: R.topk(a, 5, 1, "both", d), (ties,))
        yield Case(f"topk/all/{down}", lambda a, d=down: R.topk(a, 0, 1, "both", d), (ties,))
        yield Case(f"topk/values/{down}", lambda a, d=down: R.topk(a, 3, 1, "values", d), (ties,))
        yield Case(f"topk/indices/{down}", lambda a, d=down: R.topk(a, 3, 1, "indices", d, "int64"), (ties,))
    for axis in (None, 1, -1, 0):
        for keep in (False, True):
            yield Case(f"median/ties/{axis}/{keep}", lambda a, k=axis, p=keep: R.median(a, k, p), (ties,))
    for name in ("cumsum", "cumprod"):
        for axis in (None, 0, -1):
            for only in (False, True):
                yield Case(
                    f"{name}/{axis}/{only}",
                    lambda a, n=name, k=axis, e=only: getattr(R, n)(a, k, None, e),
                    (f32(3, 4),),
                )
        yield Case(f"{name}/int32", lambda a, n=name: getattr(R, n)(a, 1, "int64"), (of("int32", 3, 4),))
        yield Case(f"{name}/float16", lambda a, n=name: getattr(R, n)(a, 1), (of("float16", 3, 4),))
        yield Case(f"{name}/bool", lambda a, n=name: getattr(R, n)(a, 1, "int32"), (of("bool", 3, 4),))
        yield Case(f"{name}/zeros", lambda a, n=name: getattr(R, n)(a, 1), (zeros,))
    yield Case("nonzero", R.nonzero, (of("int32", 3, 4, low=0, high=2),))
    yield Case("nonzero/bool", R.nonzero, (of("bool", 7),))
    yield Case("nonzero/float32", R.nonzero, (zeros,))
    for flags in ((), (True,), (False,), (True, True, True, True), (False, True, True, True)):
        name = "".join(str(int(flag)) for flag in flags)
        yield Case(f"unique/{name}", lambda a, f=flags: R.unique(a, *f), (ties,))
        yield Case(f"unique/{name}/axis", lambda a, f=flags: R.unique(a, *(*f, *DOWN[len(f) :]), 0), (ties,))
    probabilities = np.array([[0.2, 0.3, 0.5], [0.25, 0.5, 0.25]], "float32")
    samples = np.array([[0.0], [0.2], [0.4], [0.25], [0.75], [0.999]], "float32")
    rows = np.array([[0], [0], [0], [1], [1], [1]], "int64")
    yield Case("multinomial_from_uniform", R.multinomial_from_uniform, (probabilities, samples, rows))


DOWN = (True, False, False, False)


def slice_cases():
    """Slices whose ends lie outside, count from the end, go down."""
    x = f32(4, 7)
    for begin, end, step in (
        (0, 7, 1), (2, 100, 1), (-3, 7, 1), (-100, 100, 2), (6, 0, -1), (6, -8, -1), (100, -100, -2), (1, 6, 3),
        (5, 5, 1), (-1, -5, -1), (0, 2**63 - 1, 2), (5, 2, 1), (2, 5, -1), (9, 12, 1),
    ):  # fmt: skip
        yield Case(
            f"strided_slice/{begin}:{end}:{step}",
            lambda a, b=begin, e=end, s=step: R.strided_slice(a, [1], [b], [e], [s]),
            (x,),
        )
    yield Case("strided_slice/axes", lambda a: R.strided_slice(a, [-1, 0], [1, 1], [4, 3]), (x,))
    yield Case("strided_slice/inbound", lambda a: R.strided_slice(a, [1], [1], [6], [2], assume_inbound=True), (x,))
    whole = (np.array([0, 1], "int64"), np.array([4, 6], "int64"), np.array([2, 1], "int64"))
    yield Case("dynamic_strided_slice", R.dynamic_strided_slice, (x, *whole))
    down = (np.array([3, -2], "int64"), np.array([-5, 1], "int64"), np.array([-1, -2], "int64"))
    yield Case("dynamic_strided_slice/down", R.dynamic_strided_slice, (x, *down))
    for start, end, step in ((0, 7, 1), (1, 5, 2), (2, 7, 3)):
        size = len(range(start, end, step))
        yield Case(
            f"slice_scatter/{start}:{end}:{step}",
            lambda a, b, s=start, e=end, k=step: R.slice_scatter(a, b, s, e, k, 1),
            (x, f32(4, size)),
        )
    for axes in ((1, 0), (0, 1)):
        lengths = np.array([0, 1, 3, 9, 2, 4, -1][: x.shape[axes[1]]], "int32")
        yield Case(f"reverse_sequence/{axes[0]}", lambda a, b, k=axes: R.reverse_sequence(a, b, *k), (x, lengths))


def index_cases():
    """Indices that are elements; places written by them."""
    x, at = f32(3, 4, 5), np.array([[1, 0], [2, 1]], "int64")
    outside = np.array([-7, -1, 0, 2, 3, 8], "int32")
    for mode in ("clip", "wrap", "nan"):
        yield Case(f"take/{mode}", lambda a, b, m=mode: R.take(a, b, 0, m), (x, outside))
    yield Case("take/vector", R.take, (f32(6), at))
    yield Case("take/axis-1", lambda a, b: R.take(a, b, -1), (x, at.astype("int32")))
    yield Case("take/empty", lambda a, b: R.take(a, b, 1), (x, at[:0].copy()))
    yield Case("gather_elements/0", lambda a, b: R.gather_elements(a, b, -2), (f32(3, 3), at))
    yield Case("gather_nd/rest", lambda a, b: R.gather_nd(a, b), (x, np.array([[[1], [0]], [[2], [2]]], "int64")))
    yield Case("gather_nd/batch", lambda a, b: R.gather_nd(a, b, 1), (x, np.array([[[1, 0]], [[2, 4]], [[3, 3]]])))
    yield Case("index_tensor/two", lambda a, b, c: R.index_tensor(a, [b, c]), (x, at, np.array([3, 0], "int64")))
    for axis in (0, 1, 2):
        yield Case(f"one_hot/{axis}", lambda a, k=axis: R.one_hot(a, prim(5.0), prim(-1.0), 3, k), (at + np.int64(1),))
    yield Case("size", R.size, (x,))
    yield Case("collapse_sum_to/all", lambda a: R.collapse_sum_to(a, ()), (x,))
    yield Case("collapse_sum_to/middle", lambda a: R.collapse_sum_to(a, (3, 1, 5)), (x,))
    yield Case("collapse_sum_to/vector", lambda a: R.collapse_sum_to(a, (5,)), (x,))
    yield Case("collapse_sum_like", R.collapse_sum_like, (x, f32(4, 1)))
    for right in (False, True):
        values = np.array([[-1, 0, 0.5, 1, 2, np.nan, np.inf]], "float32")
        bounds = np.array([0, 1, 1, 2], "float32")
        yield Case(f"bucketize/{right}", lambda a, b, r=right: R.bucketize(a, b, True, r), (values, bounds))
    yield Case(
        "layout_transform/blocked", lambda a: R.layout_transform(a, lambda p, q: (p, q // 4, q % 4)), (f32(3, 8),)
    )
    yield Case(
        "layout_transform/padded",
        lambda a: R.layout_transform(a, lambda p, q: (p, q // 4, q % 4), pad_value=prim(2.0)),
        (f32(3, 6),),
    )
    for reduction in ("update", "add", "mul", "mean", "max", "min"):
        many = np.array([[1, 1, -1, 0, 1]], "int64")
        yield Case(
            f"scatter_elements/{reduction}",
            lambda a, b, c, r=reduction: R.scatter_elements(a, b, c, 1, r),
            (f32(2, 3), many, f32(1, 5)),
        )
        if reduction != "mean":
            yield Case(
                f"scatter_nd/{reduction}",
                lambda a, b, c, r=reduction: R.scatter_nd(a, b, c, r),
                (f32(3, 4), np.array([[1, 2], [1, 2], [0, 3], [1, 2]], "int64"), f32(4)),
            )
    for more in (False, True):
        spots = (np.array([1, 1, -1, 0], "int64"), np.array([2, 2, 0, -1], "int64"))
        yield Case(
            f"index_put/{more}", lambda a, b, c, v, m=more: R.index_put(a, (b, c), v, m), (f32(3, 4), *spots, f32(4))
        )
    for text, shapes in (
        ("ij,jk->ik", ((2, 3), (3, 4))), ("ii->i", ((3, 3),)), ("ii", ((3, 3),)), ("ij->ji", ((2, 3),)),
        ("bij,bjk->bik", ((2, 2, 3), (2, 3, 2))), ("i,j->ij", ((2,), (3,))), ("ij,ij->", ((2, 3), (2, 3))),
        ("ij,jk,kl->il", ((2, 3), (3, 2), (2, 4))), ("ba,cb", ((2, 3), (4, 2))),
        ("...ij,...jk->...ik", ((2, 2, 3), (3, 4))),
    ):  # fmt: skip
        yield Case(f"einsum/{text}", lambda *a, t=text: R.einsum(list(a), t), tuple(f32(*shape) for shape in shapes))


def window_cases():
    """Convolutions, pools, paddings with further attributes."""
    yield Case("nn.conv1d/grouped", lambda a, b: R.nn.conv1d(a, b, 2, 1, 2, 2), (f32(2, 4, 9), f32(6, 2, 3)))
    yield Case(
        "nn.conv3d/grouped", lambda a, b: R.nn.conv3d(a, b, 2, 1, 1, 2), (f32(1, 4, 4, 3, 5), f32(2, 2, 3, 2, 2))
    )
    yield Case(
        "nn.conv2d/hwio",
        lambda a, b: R.nn.conv2d(a, b, (2, 1), (1, 0, 0, 2), data_layout="NHWC", kernel_layout="HWIO"),
        (f32(1, 5, 6, 3), f32(3, 2, 3, 2)),
    )
    yield Case(
        "nn.conv2d/float16", lambda a, b: R.nn.conv2d(a, b), (of("float16", 1, 3, 4, 4), of("float16", 2, 3, 3, 3))
    )
    yield Case(
        "nn.conv2d/int8",
        lambda a, b: R.nn.conv2d(a, b, padding=1, out_dtype="int32"),
        (of("int8", 1, 3, 4, 4), of("int8", 2, 3, 3, 3)),
    )
    yield Case(
        "nn.conv1d_transpose/grouped",
        lambda a, b: R.nn.conv1d_transpose(a, b, 3, (1, 2), 2, 1, 2),
        (f32(2, 4, 5), f32(4, 3, 3)),
    )
    yield Case(
        "nn.conv2d_transpose/dilated",
        lambda a, b: R.nn.conv2d_transpose(a, b, (2, 3), (1, 0, 2, 1), (1, 0), (2, 1), 2),
        (f32(1, 4, 4, 3), f32(4, 2, 3, 2)),
    )
    yield Case(
        "nn.conv3d_transpose", lambda a, b: R.nn.conv3d_transpose(a, b, 2, 1), (f32(1, 3, 3, 2, 3), f32(3, 2, 3, 2, 2))
    )
    for name, dtype in (("max", "float32"), ("avg", "float32"), ("max", "int8"), ("avg", "float16"), ("avg", "int32")):
        pool = getattr(R.nn, f"{name}_pool2d")
        yield Case(
            f"nn.{name}_pool2d/padded/{dtype}",
            lambda a, pool=pool: pool(a, (3, 2), (2, 1), (1, 0, 0, 1), count_include_pad=True),
            (of(dtype, 1, 2, 6, 5),),
        )
    for name in ("max", "avg"):
        line, plane = (getattr(R.nn, f"{name}_pool{rank}d") for rank in (1, 2))
        yield Case(
            f"nn.{name}_pool2d/dilated",
            lambda a, pool=plane: pool(a, (2, 3), (1, 2), (1, 1), (2, 1)),
            (f32(1, 2, 6, 5),),
        )
        yield Case(
            f"nn.{name}_pool2d/nhwc",
            lambda a, pool=plane: pool(a, (2, 3), (2, 2), (0, 1), layout="NHWC"),
            (f32(1, 6, 5, 2),),
        )
        yield Case(
            f"nn.{name}_pool1d/ceil",
            lambda a, pool=line: pool(a, 3, 2, 1, ceil_mode=True),
            (f32(1, 2, 8),),
        )
        yield Case(
            f"nn.{name}_pool2d/behind",
            lambda a, pool=plane: pool(a, 1, 3, ceil_mode=True, count_include_pad=True),
            (f32(1, 1, 3, 3),),
        )
    yield Case("nn.adaptive_avg_pool1d", lambda a: R.nn.adaptive_avg_pool1d(a, 3), (f32(1, 2, 7),))
    yield Case("nn.adaptive_avg_pool2d/one", lambda a: R.nn.adaptive_avg_pool2d(a, 1), (f32(1, 2, 7, 5),))
    yield Case("nn.adaptive_avg_pool2d/all", lambda a: R.nn.adaptive_avg_pool2d(a), (f32(1, 2, 3, 2),))
    yield Case("nn.adaptive_avg_pool3d", lambda a: R.nn.adaptive_avg_pool3d(a, (2, 1, 2)), (f32(1, 2, 4, 3, 6),))
    for mode in ("replicate", "circular"):
        yield Case(f"nn.pad/{mode}", lambda a, mode=mode: R.nn.pad(a, (1, 2, 0, 1), mode), (f32(3, 4),))
    yield Case("nn.pad/int32", lambda a: R.nn.pad(a, (1, 2, 0, 1), "constant", -7.0), (of("int32", 3, 4),))


def training_cases():
    """Moments, attention, losses and gradients with further attributes."""
    batch = (f32(2, 4, 3), f32(4), f32(4), f32(4), f32(4, low=0.5))
    yield Case("nn.batch_norm/inference", lambda *x: R.nn.batch_norm(*x, 1, training=False), batch)
    yield Case("nn.batch_norm/plain", lambda *x: R.nn.batch_norm(*x, 1, 0.01, False, False, 0.7), batch)
    heads, bias = (f32(2, 3, 2, 4), f32(2, 5, 2, 4), f32(2, 5, 2, 3)), f32(2, 1, 3, 5)
    yield Case("nn.attention/scale", lambda *x: R.nn.attention(*x, scale=tirx.FloatImm("float32", 0.3)), heads)
    yield Case("nn.attention/bias", R.nn.attention, (*heads, bias))
    yield Case("nn.attention/right", lambda *x: R.nn.attention(*x, causal_mask="BottomRight"), (*heads, bias))
    small = (f32(1, 3, 1, 1, low=199, high=200), f32(1, 3, 1, 1, low=-2, high=-1), f32(1, 3, 1, 2))
    yield Case("nn.attention/small", lambda *x: R.nn.attention(*x, causal_mask="TopLeft"), small)
    yield Case("nn.cross_entropy_with_logits/vector", R.nn.cross_entropy_with_logits, (f32(5), f32(5)))
    places = np.array([[1, 0, 3], [2, 2, 0]], "int64")
    for reduction in ("mean", "sum", "none"):
        yield Case(
            f"nn.nll_loss/weights/{reduction}",
            lambda a, b, c, r=reduction: R.nn.nll_loss(a, b, c, r, 2),
            (f32(2, 4, 3), places, f32(4, low=0.1)),
        )
        shape = places.shape if reduction == "none" else ()
        yield Case(
            f"grad.nll_loss_backward/{reduction}",
            lambda g, a, b, c, r=reduction: R.grad.nll_loss_backward(g, a, b, c, r, 2),
            (f32(*shape), f32(2, 4, 3), places, f32(4, low=0.1)),
        )
    yield Case(
        "grad.nll_loss_backward/one",
        lambda g, a, b: R.grad.nll_loss_backward(g, a, b),
        (f32(), f32(4), np.array(2, "int64")),
    )
    yield Case("nn.nll_loss/one", R.nn.nll_loss, (f32(4), np.array(2, "int64")))
    windows = {"pool_size": (3, 3), "strides": (2, 2), "padding": (1, 1, 1, 1), "dilation": (1, 1)}
    for name in ("max", "avg"):
        backward = getattr(R.grad, f"{name}_pool2d_backward")
        for count in (False, True):
            yield Case(
                f"grad.{name}_pool2d_backward/{count}",
                lambda g, a, backward=backward, c=count: backward(g, a, **windows, count_include_pad=c),
                (f32(1, 2, 3, 3), of("float32", 1, 2, 5, 6, low=-3, high=3).round()),
            )
        yield Case(
            f"grad.{name}_pool2d_backward/rest",
            lambda g, a, backward=backward: backward(g, a, (2, 2), (2, 2), (0, 0, 0, 0), (1, 1)),
            (f32(1, 1, 3, 3), f32(1, 1, 7, 7)),
        )
        yield Case(
            f"grad.{name}_pool2d_backward/ceil",
            lambda g, a, backward=backward: backward(
                g, a, (2, 2), (2, 2), (0, 0, 0, 0), (1, 1), ceil_mode=True, count_include_pad=True
            ),
            (f32(1, 1, 4, 4), f32(1, 1, 7, 7)),
        )
    taken = np.array([1, 0, 1], "int64")
    yield Case(
        "grad.take_backward", lambda g, x, i: R.grad.take_backward(g, x, i, 1), (f32(2, 3, 2), f32(2, 4, 2), taken)
    )
    yield Case("grad.take_backward/vector", lambda g, x, i: R.grad.take_backward(g, x, i), (f32(3), f32(4), taken))
    yield Case("grad.no_grad", R.grad.no_grad, (f32(2, 3),))
    yield Case("grad.start_checkpoint", R.grad.start_checkpoint, (f32(2, 3),))
    yield Case("grad.end_checkpoint", R.grad.end_checkpoint, (f32(2, 3),))


def image_cases():
    """Images in other sizes, at the places of grids."""
    modes = ("align_corners", "asymmetric", "pytorch_half_pixel", "tf_half_pixel_for_nn", "tf_crop_and_resize")
    for mode in modes:
        for method in ("nearest_neighbor", "linear", "cubic"):
            yield Case(
                f"image.resize2d/{mode}/{method}",
                lambda a, m=method, c=mode: R.image.resize2d(
                    a, (5, 7), (0.0, 0.25, 0.75, 1.5), "NCHW", m, c, "", -0.5, 1, 9.0
                ),
                (f32(1, 2, 4, 3),),
            )
    for rounding in ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil"):
        yield Case(
            f"image.resize2d/{rounding}",
            lambda a, r=rounding: R.image.resize2d(
                a, (6, 2), layout="NHWC", method="nearest_neighbor", rounding_method=r
            ),
            (of("int8", 1, 4, 5, 2),),
        )
    yield Case("image.resize2d/int8", lambda a: R.image.resize2d(a, (3, 7)), (of("int8", 1, 2, 4, 5),))
    yield Case(
        "image.resize2d/out_dtype",
        lambda a: R.image.resize2d(a, (3, 7), method="nearest_neighbor", out_dtype="float16"),
        (f32(1, 2, 4, 5),),
    )
    for method in ("nearest_neighbor", "linear", "cubic"):
        yield Case(
            f"image.resize3d/{method}",
            lambda a, m=method: R.image.resize3d(a, (3, 2, 4), method=m),
            (f32(1, 1, 2, 3, 3),),
        )
    grid = f32(1, 2, 3, 4, low=-1.6, high=1.6)
    for method in ("bilinear", "nearest", "bicubic"):
        for mode in ("zeros", "border", "reflection"):
            for align in (False, True):
                yield Case(
                    f"image.grid_sample/{method}/{mode}/{align}",
                    lambda a, b, m=method, p=mode, c=align: R.image.grid_sample(a, b, m, "NCHW", p, c),
                    (f32(1, 2, 4, 3), grid),
                )
    for method in ("bilinear", "nearest"):
        yield Case(
            f"image.grid_sample/3d/{method}",
            lambda a, b, m=method: R.image.grid_sample(a, b, m, "NCDHW", "border"),
            (f32(1, 1, 3, 4, 2), f32(1, 3, 2, 2, 3, low=-1.3, high=1.3)),
        )
    yield Case("image.affine_grid/edges", lambda a: R.image.affine_grid(a, (3, 4), False), (f32(2, 2, 3),))


def filling_cases():
    """Tensors that are made of numbers; what is left of attention and sums of exponents."""
    x = f32(3, 4)
    for dtype in ("float32", "int8", "float16"):
        yield Case(f"zeros/{dtype}", lambda _, d=dtype: R.zeros((2, 3), d), (x,))
        yield Case(f"ones/{dtype}", lambda _, d=dtype: R.ones((2, 3), d), (x,))
    yield Case("full_like", R.full_like, (x, np.array(2.5, "float32")))
    for k in (0, 1, -2):
        yield Case(f"eye/{k}", lambda _, k=k: R.eye(3, 4, k, "float32"), (x,))
        yield Case(f"eye_like/{k}", lambda a, k=k: R.eye_like(a, k), (x,))
    for begin, end, step, dtype in (
        (0, 5, 1, "int64"),
        (7, -3, -2, "int32"),
        (0, 1, 0.25, "float32"),
        (3, 3, 1, "int64"),
    ):
        yield Case(f"arange/{begin}:{end}:{step}", lambda _, r=(begin, end, step, dtype): R.arange(*r), (x,))
    for periodic in (True, False):
        yield Case(
            f"hamming_window/{periodic}", lambda _, p=periodic: R.hamming_window(5, p, 0.54, 0.46, "float32"), (x,)
        )
    yield Case("wrap_param", lambda a: R.wrap_param(a, "float32"), (of("float16", 3),))
    yield Case("log_add_exp", R.log_add_exp, (x, f32(4)))
    query = f32(1, 3, 2, 4)
    yield Case("nn.attention_bias", lambda q, k, v, b: R.nn.attention(q, k, v, b), (query,) * 3 + (f32(1, 2, 3, 3),))


def vision_cases():
    """Boxes on images."""
    rois = np.array([[0, 1, 1, 4, 5], [1, -2, 0.5, 3.2, 9], [0, 2, 2, 2.1, 2.1]], "float32")
    for mode in ("avg", "max"):
        for aligned in (False, True):
            for ratio in (-1, 2):
                yield Case(
                    f"vision.roi_align/{mode}/{aligned}/{ratio}",
                    lambda a, b, m=mode, c=aligned, r=ratio: R.vision.roi_align(a, b, (2, 3), 0.5, r, c, "NCHW", m),
                    (f32(2, 2, 6, 5), rois),
                )
    yield Case(
        "vision.roi_align/nhwc", lambda a, b: R.vision.roi_align(a, b, 2, 1.0, layout="NHWC"), (f32(2, 6, 5, 2), rois)
    )
    yield Case("vision.roi_pool", lambda a, b: R.vision.roi_pool(a, b, (2, 3), 0.5), (f32(2, 2, 6, 5), rois))
    boxes = (f32(2, 3, 5), f32(2, 20), f32(1, 5, 4, low=0, high=1))
    yield Case("vision.multibox_transform_loc", R.vision.multibox_transform_loc, boxes)
    yield Case(
        "vision.multibox_transform_loc/clip",
        lambda *x: R.vision.multibox_transform_loc(*x, True, 0.1, (0.1, 0.1, 0.2, 0.2), False, False),
        boxes,
    )
    for least in (0.0, 0.5):
        yield Case(
            f"vision.get_valid_counts/{least}",
            lambda a, t=least: R.vision.get_valid_counts(a, t, int(t) if t else -1, 1),
            (f32(2, 5, 6),),
        )


FURTHER = (
    order_cases,
    slice_cases,
    index_cases,
    window_cases,
    training_cases,
    image_cases,
    vision_cases,
    filling_cases,
)
