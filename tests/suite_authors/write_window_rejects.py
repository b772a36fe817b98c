"""Areas `reject` and `undefined`: what pools, convolutions, norms, gathering, scattering, orders and counts do not take.

By hand from the clauses of the library and RLX-905. A row: the name, the code, the call, the types of its arguments.
What is said of a boundary stands beside what is just right, which the area `op` has.
"""

import sys

import numpy as np
from book import Book
from hand import ask, i64, reject, undefined

F, L, J, H = "float32", "int64", "int32", "float16"


def t(*shape, of=F):
    """The type of an argument."""
    return shape, of


POOLS = tuple(
    row
    for kind in ("max", "avg")
    for row in (
        (f"nn-{kind}-pool1d.size-0", "RM105", f"nn.{kind}_pool1d(a, pool_size=0)", [t(1, 2, 6)]),
        (f"nn-{kind}-pool2d.strides-0", "RM105", f"nn.{kind}_pool2d(a, strides=[1, 0])", [t(1, 2, 5, 4)]),
        (f"nn-{kind}-pool2d.padding-below", "RM105", f"nn.{kind}_pool2d(a, padding=[0, -1])", [t(1, 2, 5, 4)]),
        (f"nn-{kind}-pool2d.dilation-0", "RM105", f"nn.{kind}_pool2d(a, dilation=[0, 1])", [t(1, 2, 5, 4)]),
        (f"nn-{kind}-pool2d.three-sizes", "RM105", f"nn.{kind}_pool2d(a, pool_size=[1, 1, 1])", [t(1, 2, 5, 4)]),
        (f"nn-{kind}-pool2d.three-paddings", "RM105", f"nn.{kind}_pool2d(a, padding=[1, 1, 1])", [t(1, 2, 5, 4)]),
        (f"nn-{kind}-pool2d.too-wide", "RM202", f"nn.{kind}_pool2d(a, pool_size=[5, 5])", [t(1, 2, 5, 4)]),
        (
            f"nn-{kind}-pool2d.too-far",
            "RM202",
            f"nn.{kind}_pool2d(a, pool_size=[3, 1], dilation=[3, 1])",
            [t(1, 2, 6, 4)],
        ),
        (f"nn-{kind}-pool1d.matrix", "RM105", f"nn.{kind}_pool1d(a)", [t(2, 6)]),
        (f"nn-{kind}-pool3d.image", "RM105", f"nn.{kind}_pool3d(a)", [t(1, 2, 5, 4)]),
        (f"nn-{kind}-pool2d.layout", "RM105", f'nn.{kind}_pool2d(a, layout="NCHH")', [t(1, 2, 5, 4)]),
        (f"nn-{kind}-pool1d.out-layout", "RM105", f'nn.{kind}_pool1d(a, out_layout="NCD")', [t(1, 2, 6)]),
    )
)
OTHER_POOLS = (
    ("nn-adaptive-avg-pool1d.nothing", "RM202", "nn.adaptive_avg_pool1d(a, output_size=[2])", [t(1, 2, 0)]),
    ("nn-adaptive-avg-pool2d.nothing", "RM202", "nn.adaptive_avg_pool2d(a, output_size=[1, 1])", [t(1, 2, 3, 0)]),
    ("nn-adaptive-avg-pool2d.three", "RM105", "nn.adaptive_avg_pool2d(a, output_size=[1, 1, 1])", [t(1, 2, 5, 4)]),
    ("nn-adaptive-avg-pool1d.size-0", "RM105", "nn.adaptive_avg_pool1d(a, output_size=[0])", [t(1, 2, 6)]),
    ("nn-adaptive-avg-pool2d.vector", "RM105", "nn.adaptive_avg_pool2d(a, output_size=[1, 1])", [t(1, 2, 5)]),
    ("nn-adaptive-avg-pool2d.layout", "RM105", 'nn.adaptive_avg_pool2d(a, layout="NHWD")', [t(1, 2, 5, 4)]),
    ("nn-adaptive-avg-pool2d.out-layout", "RM105", 'nn.adaptive_avg_pool2d(a, out_layout="NCH")', [t(1, 2, 5, 4)]),
)
CONVS = (
    ("nn-conv1d.channels", "RM202", "nn.conv1d(a, b)", [t(1, 3, 6), t(4, 2, 2)]),
    ("nn-conv2d.group-channels", "RM202", "nn.conv2d(a, b, groups=2)", [t(1, 4, 5, 4), t(4, 4, 2, 2)]),
    ("nn-conv2d.groups-of-filters", "RM202", "nn.conv2d(a, b, groups=2)", [t(1, 4, 5, 4), t(3, 2, 2, 2)]),
    ("nn-conv2d.groups-0", "RM105", "nn.conv2d(a, b, groups=0)", [t(1, 4, 5, 4), t(4, 4, 2, 2)]),
    ("nn-conv2d.too-wide", "RM202", "nn.conv2d(a, b)", [t(1, 1, 5, 4), t(1, 1, 1, 5)]),
    ("nn-conv2d.too-far", "RM202", "nn.conv2d(a, b, dilation=[3, 1])", [t(1, 1, 6, 4), t(1, 1, 3, 1)]),
    ("nn-conv2d.dtypes", "RM201", "nn.conv2d(a, b)", [t(1, 1, 5, 4), t(1, 1, 2, 2, of=H)]),
    ("nn-conv1d.weight-matrix", "RM105", "nn.conv1d(a, b)", [t(1, 2, 6), t(4, 2)]),
    ("nn-conv3d.image", "RM105", "nn.conv3d(a, b)", [t(1, 2, 5, 4), t(1, 2, 1, 1, 1)]),
    ("nn-conv2d.data-layout", "RM105", 'nn.conv2d(a, b, data_layout="NCWW")', [t(1, 1, 5, 4), t(1, 1, 2, 2)]),
    ("nn-conv2d.kernel-layout", "RM105", 'nn.conv2d(a, b, kernel_layout="NCHW")', [t(1, 1, 5, 4), t(1, 1, 2, 2)]),
    ("nn-conv2d.out-layout", "RM105", 'nn.conv2d(a, b, out_layout="OIHW")', [t(1, 1, 5, 4), t(1, 1, 2, 2)]),
    ("nn-conv2d.strides", "RM105", "nn.conv2d(a, b, strides=[0, 1])", [t(1, 1, 5, 4), t(1, 1, 2, 2)]),
    ("nn-conv2d.three-strides", "RM105", "nn.conv2d(a, b, strides=[1, 1, 1])", [t(1, 1, 5, 4), t(1, 1, 2, 2)]),
    ("nn-conv1d-transpose.channels", "RM202", "nn.conv1d_transpose(a, b)", [t(1, 3, 6), t(2, 2, 2)]),
    ("nn-conv1d-transpose.groups", "RM202", "nn.conv1d_transpose(a, b, groups=2)", [t(1, 3, 6), t(3, 2, 2)]),
    ("nn-conv2d-transpose.groups-0", "RM105", "nn.conv2d_transpose(a, b, groups=0)", [t(1, 3, 6, 5), t(3, 2, 2, 1)]),
    ("nn-conv1d-transpose.more-than-strides", "RM105", "nn.conv1d_transpose(a, b, strides=2, output_padding=2)",
     [t(1, 3, 6), t(3, 2, 2)]),
    ("nn-conv2d-transpose.more-in-one", "RM105", "nn.conv2d_transpose(a, b, strides=[2, 1], output_padding=[1, 1])",
     [t(1, 3, 6, 5), t(3, 2, 2, 1)]),
    ("nn-conv1d-transpose.more-below", "RM105", "nn.conv1d_transpose(a, b, strides=2, output_padding=-1)",
     [t(1, 3, 6), t(3, 2, 2)]),
    ("nn-conv1d-transpose.dtypes", "RM201", "nn.conv1d_transpose(a, b)", [t(1, 3, 6), t(3, 2, 2, of=H)]),
    ("nn-conv1d-transpose.no-places", "RM202", "nn.conv1d_transpose(a, b)", [t(1, 3, 0), t(3, 2, 2)]),
    ("nn-conv1d-transpose.nothing-left", "RM202", "nn.conv1d_transpose(a, b, padding=[2, 1])", [t(1, 3, 1), t(3, 2, 2)]),
    ("nn-conv1d-transpose.layout", "RM105", 'nn.conv1d_transpose(a, b, data_layout="NCH")', [t(1, 3, 6), t(3, 2, 2)]),
    ("nn-conv1d-transpose.kernel-layout", "RM105", 'nn.conv1d_transpose(a, b, kernel_layout="NCW")',
     [t(1, 3, 6), t(3, 2, 2)]),
    ("nn-conv1d-transpose.out-layout", "RM105", 'nn.conv1d_transpose(a, b, out_layout="OIW")', [t(1, 3, 6), t(3, 2, 2)]),
    ("nn-conv1d-transpose.matrix", "RM105", "nn.conv1d_transpose(a, b)", [t(3, 6), t(3, 2, 2)]),
    ("nn-conv1d-transpose.weight-matrix", "RM105", "nn.conv1d_transpose(a, b)", [t(1, 3, 6), t(3, 2)]),
)  # fmt: skip
GRADIENTS = tuple(
    row
    for kind in ("max", "avg")
    for row in (
        (f"grad-{kind}-pool2d-backward.height", "RM202", f"grad.{kind}_pool2d_backward(a, b, pool_size=[2, 2])",
         [t(1, 2, 5, 3), t(1, 2, 5, 4)]),
        (f"grad-{kind}-pool2d-backward.width", "RM202", f"grad.{kind}_pool2d_backward(a, b, pool_size=[2, 2])",
         [t(1, 2, 4, 4), t(1, 2, 5, 4)]),
        (f"grad-{kind}-pool2d-backward.images", "RM202", f"grad.{kind}_pool2d_backward(a, b)",
         [t(2, 2, 5, 4), t(1, 2, 5, 4)]),
        (f"grad-{kind}-pool2d-backward.channels", "RM202", f"grad.{kind}_pool2d_backward(a, b)",
         [t(1, 3, 5, 4), t(1, 2, 5, 4)]),
        (f"grad-{kind}-pool2d-backward.rank", "RM202", f"grad.{kind}_pool2d_backward(a, b)",
         [t(1, 2, 5), t(1, 2, 5, 4)]),
        (f"grad-{kind}-pool2d-backward.dtype", "RM201", f"grad.{kind}_pool2d_backward(a, b)",
         [t(1, 2, 5, 4, of=H), t(1, 2, 5, 4)]),
        (f"grad-{kind}-pool2d-backward.size-0", "RM105", f"grad.{kind}_pool2d_backward(a, b, pool_size=[0, 1])",
         [t(1, 2, 5, 4), t(1, 2, 5, 4)]),
        (f"grad-{kind}-pool2d-backward.too-wide", "RM202", f"grad.{kind}_pool2d_backward(a, b, pool_size=[6, 1])",
         [t(1, 2, 1, 4), t(1, 2, 5, 4)]),
        (f"grad-{kind}-pool2d-backward.layout", "RM105", f'grad.{kind}_pool2d_backward(a, b, layout="NHWH")',
         [t(1, 2, 5, 4), t(1, 2, 5, 4)]),
        (f"grad-{kind}-pool2d-backward.volume", "RM105", f"grad.{kind}_pool2d_backward(a, b)",
         [t(1, 2, 5, 4), t(1, 2, 5, 4, 1)]),
    )
)  # fmt: skip
TAKEN = (
    ("grad-take-backward.matrix-of-indices", "RM105", "grad.take_backward(a, b, c, axis=0)", [t(2, 3), t(5, 3), t(1, 2, of=L)]),
    ("grad-take-backward.float-indices", "RM105", "grad.take_backward(a, b, c, axis=0)", [t(2, 3), t(5, 3), t(2)]),
    ("grad-take-backward.no-axis", "RM105", "grad.take_backward(a, b, c)", [t(2, 3), t(5, 3), t(2, of=L)]),
    ("grad-take-backward.axis", "RM105", "grad.take_backward(a, b, c, axis=2)", [t(2, 3), t(5, 3), t(2, of=L)]),
    ("grad-take-backward.count", "RM202", "grad.take_backward(a, b, c, axis=0)", [t(3, 3), t(5, 3), t(2, of=L)]),
    ("grad-take-backward.before", "RM202", "grad.take_backward(a, b, c, axis=1)", [t(4, 2), t(5, 3), t(2, of=L)]),
    ("grad-take-backward.after", "RM202", "grad.take_backward(a, b, c, axis=0)", [t(2, 2), t(5, 3), t(2, of=L)]),
    ("grad-take-backward.dtype", "RM201", "grad.take_backward(a, b, c, axis=0)", [t(2, 3, of=H), t(5, 3), t(2, of=L)]),
    ("grad-nll-loss-backward.shape", "RM202", 'grad.nll_loss_backward(a, b, c, reduction="none")',
     [t(3), t(2, 4), t(2, of=L)]),
    ("grad-nll-loss-backward.rank", "RM202", 'grad.nll_loss_backward(a, b, c, reduction="mean")',
     [t(2), t(2, 4), t(2, of=L)]),
    ("grad-nll-loss-backward.rank-of-none", "RM202", 'grad.nll_loss_backward(a, b, c, reduction="none")',
     [t(), t(2, 4), t(2, of=L)]),
    ("grad-nll-loss-backward.dtype", "RM201", 'grad.nll_loss_backward(a, b, c, reduction="sum")',
     [t(of=H), t(2, 4), t(2, of=L)]),
)  # fmt: skip
NORMS = (
    ("nn-softmax.integers", "RM201", "nn.softmax(a)", [t(2, 3, of=J)]),
    ("nn-softmax.axis", "RM105", "nn.softmax(a, axis=2)", [t(2, 3)]),
    ("nn-softmax.axis-below", "RM105", "nn.softmax(a, axis=-3)", [t(2, 3)]),
    ("nn-log-softmax.integers", "RM201", "nn.log_softmax(a)", [t(2, 3, of=J)]),
    ("nn-log-softmax.axis", "RM105", "nn.log_softmax(a, axis=2)", [t(2, 3)]),
    ("nn-layer-norm.integers", "RM201", "nn.layer_norm(a, b, b, axes=[1])", [t(2, 3, of=J), t(3, of=J)]),
    ("nn-layer-norm.bools", "RM201", "nn.layer_norm(a, b, b, axes=[1])", [t(2, 3, of="bool"), t(3, of="bool")]),
    ("nn-layer-norm.axis", "RM105", "nn.layer_norm(a, b, b, axes=[2])", [t(2, 3), t(3)]),
    ("nn-layer-norm.axis-twice", "RM105", "nn.layer_norm(a, b, b, axes=[1, -1])", [t(2, 3), t(3, 3)]),
    ("nn-rms-norm.integers", "RM201", "nn.rms_norm(a, b, axes=[1])", [t(2, 3, of=J), t(3, of=J)]),
    ("nn-rms-norm.axis", "RM105", "nn.rms_norm(a, b, axes=[2])", [t(2, 3), t(3)]),
    ("nn-group-norm.integers", "RM201", "nn.group_norm(a, b, b, num_groups=2, channel_axis=1, axes=[2])",
     [t(2, 4, 3, of=J), t(4, of=J)]),
    ("nn-group-norm.groups", "RM105", "nn.group_norm(a, b, b, num_groups=3, channel_axis=1, axes=[2])", [t(2, 4, 3), t(4)]),
    ("nn-group-norm.no-groups", "RM105", "nn.group_norm(a, b, b, num_groups=0, channel_axis=1, axes=[2])",
     [t(2, 4, 3), t(4)]),
    ("nn-group-norm.groups-below", "RM105", "nn.group_norm(a, b, b, num_groups=-2, channel_axis=1, axes=[2])",
     [t(2, 4, 3), t(4)]),
    ("nn-group-norm.channel-axis", "RM105", "nn.group_norm(a, b, b, num_groups=2, channel_axis=3, axes=[2])",
     [t(2, 4, 3), t(4)]),
    ("nn-group-norm.axes", "RM105", "nn.group_norm(a, b, b, num_groups=2, channel_axis=1, axes=[3])", [t(2, 4, 3), t(4)]),
    ("nn-instance-norm.integers", "RM201", "nn.instance_norm(a, b, b, channel_axis=1, axes=[2])",
     [t(2, 4, 3, of=J), t(4, of=J)]),
    ("nn-instance-norm.channel-axis", "RM105", "nn.instance_norm(a, b, b, channel_axis=-4, axes=[2])", [t(2, 4, 3), t(4)]),
)  # fmt: skip
GATHERED = (
    ("take.no-axis", "RM105", "take(a, b)", [t(2, 3), t(2, of=L)]),
    ("take.no-axis-no-dimensions", "RM105", "take(a, b)", [t(), t(2, of=L)]),
    ("take.float-indices", "RM201", "take(a, b, axis=0)", [t(2, 3), t(2)]),
    ("take.float-number", "RM201", "take(a, R.prim_value(T.float32(1)), axis=0)", [t(2, 3)]),
    ("take.bool-indices", "RM201", "take(a, b, axis=0)", [t(2, 3), t(2, of="bool")]),
    ("take.mode", "RM105", 'take(a, b, axis=0, mode="raise")', [t(2, 3), t(2, of=L)]),
    ("take.nan-of-integers", "RM201", 'take(a, b, axis=0, mode="nan")', [t(2, 3, of=J), t(2, of=L)]),
    ("take.axis", "RM105", "take(a, b, axis=2)", [t(2, 3), t(2, of=L)]),
    ("take.axis-below", "RM105", "take(a, b, axis=-3)", [t(2, 3), t(2, of=L)]),
    ("gather-elements.axis", "RM105", "gather_elements(a, b, axis=2)", [t(2, 3), t(2, 3, of=L)]),
    ("gather-elements.float-indices", "RM201", "gather_elements(a, b)", [t(2, 3), t(2, 3)]),
    ("gather-elements.rank", "RM202", "gather_elements(a, b)", [t(2, 3), t(2, of=L)]),
    ("gather-elements.rank-above", "RM202", "gather_elements(a, b)", [t(2, 3), t(2, 3, 1, of=L)]),
    ("gather-elements.too-long", "RM202", "gather_elements(a, b, axis=0)", [t(2, 3), t(2, 4, of=L)]),
    ("gather-elements.too-long-before", "RM202", "gather_elements(a, b, axis=1)", [t(2, 3), t(3, 3, of=L)]),
    ("gather-nd.float-indices", "RM201", "gather_nd(a, b)", [t(2, 3), t(2, 2)]),
    ("gather-nd.too-many", "RM105", "gather_nd(a, b)", [t(2, 3), t(2, 3, of=L)]),
    ("gather-nd.no-dimensions", "RM105", "gather_nd(a, b)", [t(2, 3), t(of=L)]),
    ("gather-nd.batch-below", "RM105", "gather_nd(a, b, batch_dims=-1)", [t(2, 3), t(2, 1, of=L)]),
    ("gather-nd.batch-of-all", "RM105", "gather_nd(a, b, batch_dims=2)", [t(2, 1, 3), t(2, 1, of=L)]),
    ("gather-nd.batch-and-too-many", "RM105", "gather_nd(a, b, batch_dims=1)", [t(2, 3), t(2, 2, of=L)]),
    ("gather-nd.batch-differs", "RM202", "gather_nd(a, b, batch_dims=1)", [t(2, 3), t(3, 1, of=L)]),
    ("gather-nd.second-batch-differs", "RM202", "gather_nd(a, b, batch_dims=2)", [t(2, 3, 4), t(2, 2, 1, of=L)]),
    ("index-tensor.too-many", "RM105", "index_tensor(a, (b, b, b))", [t(2, 3), t(2, of=L)]),
    ("index-tensor.none", "RM105", "index_tensor(a, ())", [t(2, 3)]),
    ("index-tensor.floats", "RM201", "index_tensor(a, (b, c))", [t(2, 3), t(2, of=L), t(2)]),
    ("index-tensor.first-floats", "RM201", "index_tensor(a, (c, b))", [t(2, 3), t(2, of=L), t(2)]),
    ("index-tensor.shapes", "RM202", "index_tensor(a, (b, c))", [t(2, 3), t(2, of=L), t(3, of=L)]),
    ("one-hot.floats", "RM201", "one_hot(a, R.prim_value(1), R.prim_value(0), depth=2)", [t(2)]),
    ("one-hot.dtypes", "RM201", "one_hot(a, R.prim_value(T.int32(1)), R.prim_value(0), depth=2)", [t(2, of=L)]),
    ("one-hot.depth-0", "RM105", "one_hot(a, R.prim_value(1), R.prim_value(0), depth=0)", [t(2, of=L)]),
    ("one-hot.axis", "RM105", "one_hot(a, R.prim_value(1), R.prim_value(0), depth=2, axis=2)", [t(2, of=L)]),
    ("one-hot.axis-below", "RM105", "one_hot(a, R.prim_value(1), R.prim_value(0), depth=2, axis=-3)", [t(2, of=L)]),
    ("bucketize.matrix", "RM105", "bucketize(a, b)", [t(2), t(2, 3)]),
    ("bucketize.no-dimensions", "RM105", "bucketize(a, b)", [t(2), t()]),
    ("bucketize.dtypes", "RM201", "bucketize(a, b)", [t(2), t(3, of=H)]),
    ("collapse-sum-to.longer", "RM202", "collapse_sum_to(a, R.shape([1, 2, 3]))", [t(2, 3)]),
    ("collapse-sum-to.extent", "RM202", "collapse_sum_to(a, R.shape([2, 3]))", [t(5, 2, 4)]),
    ("collapse-sum-to.first-extent", "RM202", "collapse_sum_to(a, R.shape([3, 4]))", [t(5, 2, 4)]),
    ("collapse-sum-to.of-one", "RM202", "collapse_sum_to(a, R.shape([2, 4]))", [t(2, 1)]),
    ("collapse-sum-like.longer", "RM202", "collapse_sum_like(a, b)", [t(2, 3), t(1, 2, 3)]),
    ("collapse-sum-like.extent", "RM202", "collapse_sum_like(a, b)", [t(2, 3), t(2, 2)]),
)
SCATTERED = (
    ("scatter-elements.axis", "RM105", "scatter_elements(a, b, c, axis=2)", [t(2, 3), t(2, 3, of=L), t(2, 3)]),
    (
        "scatter-elements.reduction",
        "RM105",
        'scatter_elements(a, b, c, reduction="sum")',
        [t(2, 3), t(2, 3, of=L), t(2, 3)],
    ),
    ("scatter-elements.float-indices", "RM201", "scatter_elements(a, b, c)", [t(2, 3), t(2, 3), t(2, 3)]),
    ("scatter-elements.dtypes", "RM201", "scatter_elements(a, b, c)", [t(2, 3), t(2, 3, of=L), t(2, 3, of=H)]),
    ("scatter-elements.rank-of-indices", "RM202", "scatter_elements(a, b, c)", [t(2, 3), t(2, of=L), t(2, 3)]),
    ("scatter-elements.rank-of-updates", "RM202", "scatter_elements(a, b, c)", [t(2, 3), t(2, 3, of=L), t(2)]),
    ("scatter-elements.rank-of-data", "RM202", "scatter_elements(a, b, c)", [t(2), t(2, 3, of=L), t(2, 3)]),
    ("scatter-elements.updates", "RM202", "scatter_elements(a, b, c)", [t(2, 3), t(2, 3, of=L), t(2, 2)]),
    ("scatter-elements.first-of-updates", "RM202", "scatter_elements(a, b, c)", [t(2, 3), t(2, 3, of=L), t(1, 3)]),
    ("scatter-nd.mean", "RM105", 'scatter_nd(a, b, c, reduction="mean")', [t(2, 3), t(4, 2, of=L), t(4)]),
    ("scatter-nd.reduction", "RM105", 'scatter_nd(a, b, c, reduction="sum")', [t(2, 3), t(4, 2, of=L), t(4)]),
    ("scatter-nd.float-indices", "RM201", "scatter_nd(a, b, c)", [t(2, 3), t(4, 2), t(4)]),
    ("scatter-nd.dtypes", "RM201", "scatter_nd(a, b, c)", [t(2, 3), t(4, 2, of=L), t(4, of=H)]),
    ("scatter-nd.too-many", "RM105", "scatter_nd(a, b, c)", [t(2, 3), t(4, 3, of=L), t(4)]),
    ("scatter-nd.no-dimensions", "RM105", "scatter_nd(a, b, c)", [t(2, 3), t(of=L), t(2, 3)]),
    ("scatter-nd.rank", "RM202", "scatter_nd(a, b, c)", [t(2, 3), t(4, 1, of=L), t(4)]),
    ("scatter-nd.rank-above", "RM202", "scatter_nd(a, b, c)", [t(2, 3), t(4, 2, of=L), t(4, 3)]),
    ("scatter-nd.outer", "RM202", "scatter_nd(a, b, c)", [t(2, 3), t(4, 1, of=L), t(5, 3)]),
    ("scatter-nd.rest", "RM202", "scatter_nd(a, b, c)", [t(2, 3), t(4, 1, of=L), t(4, 2)]),
    ("index-put.too-few", "RM105", "index_put(a, (b,), c)", [t(2, 3), t(4, of=L), t(4)]),
    ("index-put.too-many", "RM105", "index_put(a, (b, b), c)", [t(2), t(4, of=L), t(4)]),
    ("index-put.floats", "RM201", "index_put(a, (b, d), c)", [t(2, 3), t(4, of=L), t(4), t(4)]),
    ("index-put.dtypes", "RM201", "index_put(a, (b, b), c)", [t(2, 3), t(4, of=L), t(4, of=H)]),
    ("index-put.values", "RM202", "index_put(a, (b, b), c)", [t(2, 3), t(4, of=L), t(3)]),
    ("index-put.values-above", "RM202", "index_put(a, (b, b), c)", [t(2, 3), t(4, of=L), t(1, 4)]),
    ("index-put.values-above-alike", "RM202", "index_put(a, (b, b), c)", [t(2, 3), t(4, of=L), t(4, 4)]),
    ("index-put.wider-values", "RM202", "index_put(a, (b, b), c)", [t(2, 3), t(1, of=L), t(4)]),
    ("index-put.indices", "RM202", "index_put(a, (b, d), c)", [t(2, 3), t(4, of=L), t(4), t(3, of=L)]),
)
ORDERED = (
    ("sort.axis", "RM105", "sort(a, axis=2)", [t(2, 3)]),
    ("sort.axis-below", "RM105", "sort(a, axis=-3)", [t(2, 3)]),
    ("argsort.axis", "RM105", "argsort(a, axis=2)", [t(2, 3)]),
    ("topk.axis", "RM105", "topk(a, axis=2)", [t(2, 3)]),
    ("topk.kind", "RM105", 'topk(a, ret_type="value")', [t(2, 3)]),
    ("median.axes", "RM105", "median(a, axis=[0, 1])", [t(2, 3)]),
    ("median.axis", "RM105", "median(a, axis=[2])", [t(2, 3)]),
    ("unique.axis", "RM105", "unique(a, axis=R.prim_value(2))", [t(2, 3)]),
    ("unique.axis-below", "RM105", "unique(a, axis=R.prim_value(-3))", [t(2, 3)]),
)
CHANNELS = (
    ("nn-group-norm.channel-among-axes", "RM105", "nn.group_norm(a, b, b, num_groups=2, channel_axis=1, axes=[1, 2])",
     [t(2, 4, 3), t(4)]),
    ("nn-instance-norm.channel-among-axes", "RM105", "nn.instance_norm(a, b, b, channel_axis=-2, axes=[1, 2])",
     [t(2, 4, 3), t(4)]),
)  # fmt: skip
UNKNOWN = (
    # what has to be known where the module is made
    ("unique.flag-unknown", 'a: R.Tensor((3,), "int32"), s: R.Prim("bool")', "unique(a, s)"),
    ("unique.index-unknown", 'a: R.Tensor((3,), "int32"), s: R.Prim("bool")', "unique(a, return_index=s)"),
    ("unique.inverse-unknown", 'a: R.Tensor((3,), "int32"), s: R.Prim("bool")', "unique(a, return_inverse=s)"),
    ("unique.counts-unknown", 'a: R.Tensor((3,), "int32"), s: R.Prim("bool")', "unique(a, return_counts=s)"),
    ("unique.axis-unknown", 'a: R.Tensor((3,), "int32"), s: R.Prim("int64")', "unique(a, axis=s)"),
    ("gather-nd.unknown", 'a: R.Tensor((2, 3), "float32"), b: R.Tensor((2, "n"), "int64")', "gather_nd(a, b)"),
    ("scatter-nd.unknown", 'a: R.Tensor((2,), "int32"), b: R.Tensor((2, "n"), "int64"), c: R.Tensor((2,), "int32")',
     "scatter_nd(a, b, c)"),
    ("nn-group-norm.unknown", 'a: R.Tensor((2, "n"), "float32"), b: R.Tensor(("n",), "float32")',
     "nn.group_norm(a, b, b, num_groups=1, channel_axis=1, axes=[0])"),
)  # fmt: skip
CLAUSES = "RLX-905"


def refused(book):
    asked(book, (*POOLS, *OTHER_POOLS, *CONVS, *GRADIENTS, *TAKEN, *NORMS, *GATHERED, *SCATTERED, *ORDERED))
    for name, params, form in UNKNOWN:
        text = f"@R.function\ndef main({params}):\n    y = R.{form}\n    return y\n"
        ask(book, f"reject.rm105.pinned-{name}", CLAUSES, text, ([], reject("RM105")))


def channels(book):
    """The axis of the channels among those of a norm."""
    asked(book, CHANNELS)


def asked(book, rows):
    for name, code, form, types in rows:
        params = ", ".join(f'{one}: R.Tensor({shape}, "{of}")' for one, (shape, of) in zip("abcd", types, strict=False))
        text = f"@R.function\ndef main({params}):\n    y = R.{form}\n    return y\n"
        ask(book, f"reject.{code.lower()}.pinned-{name}", CLAUSES, text, ([], reject(code)))


def outside(book):
    """Indices just outside: below 0, and the extent."""
    x, y = np.arange(6, dtype=np.float32).reshape(2, 3), np.array([9], np.float32)
    for name, clause, form, calls in (
        ("take", "LIB-920", "take(a, b, axis=1)", [[x, i64(0, 3)], [x, i64(-1, 2)]]),
        ("take-rows", "LIB-920", "take(a, b, axis=0)", [[x, i64(2)], [x, i64(-1)]]),
        ("gather-elements", "LIB-921", "gather_elements(a, b, axis=1)", [[x, i64([0, 3])], [x, i64([-1, 2])]]),
        ("gather-nd", "LIB-922", "gather_nd(a, b)", [[x, i64(each)] for each in ([0, 3], [2, 0], [1, -1])]),
        ("index-tensor", "LIB-923", "index_tensor(a, (b, c))",
         [[x, i64(one), i64(other)] for one, other in ((0, 3), (2, 0), (-1, 0))]),
        ("scatter-elements", "LIB-930", "scatter_elements(a, b, c, axis=1)",
         [[x, i64([each]), y.reshape(1, 1)] for each in (3, -4)]),
        ("scatter-nd", "LIB-931", "scatter_nd(a, b, c)", [[x, i64(each), y] for each in ([0, 3], [-1, 0])]),
        ("index-put", "LIB-932", "index_put(a, (b, d), c)",
         [[x, i64(one), y, i64(other)] for one, other in ((2, 0), (0, -4), (0, 3))]),
    ):  # fmt: skip
        params = ", ".join(type_of(one, v) for one, v in zip("abcd", calls[0], strict=False))
        text = f"@R.function\ndef main({params}):\n    y = «R.{form}»\n    return y\n"
        ask(book, f"undefined.{name}.pinned-outside", clause, text, *((args, undefined("RM304")) for args in calls))


def type_of(name, array):
    return f'{name}: R.Tensor({array.shape}, "{array.dtype}")'


if __name__ == "__main__":
    said = []
    stem = "windows-and-places"
    for part, area, name in (
        (refused, "reject", stem),
        (channels, "reject", "norm-channels"),
        (outside, "undefined", stem),
    ):
        pages = Book(area, "hand", strict=False)
        part(pages)
        sys.stdout.write(f"{pages.write(name, 'Pools, convolutions, norms, gathering, scattering, orders, counts.')}\n")
        said += pages.disagreements
    sys.stdout.write("".join(f"{line}\n" for line in said))
