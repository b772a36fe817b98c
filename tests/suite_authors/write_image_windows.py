"""Area `op`: pools, convolutions and their gradients, each attribute apart from its default.

Every dimension has an extent of its own, so that exchanged ones show; elements are small integers, whose sums are exact
in any order. The witness is `window_witness`, which goes by the definition.
"""

import itertools
import sys

import numpy as np
import window_witness as w
from book import Book
from op_usual import op, several

SPACE = {1: "W", 2: "HW", 3: "DHW"}
KIND = "LIB-020", "LIB-021", "LIB-022"


def whole(seed, *shape, dtype="float32", low=-9, high=10):
    """Small integers."""
    return np.random.default_rng(seed).integers(low, high, shape).astype(dtype)


def told(**attributes):
    return "".join(f", {name}={value!r}" for name, value in attributes.items())


DATA = {1: (2, 3, 7), 2: (2, 3, 5, 4), 3: (1, 2, 3, 5, 4)}
POOLS = (
    # rank, name of the case, size, stride, padding, dilation, ceil, attributes
    (1, "two-sides", [3], 2, [2, 1], 1, False, {"pool_size": [3], "strides": [2], "padding": [2, 1]}),
    (1, "one-number", [2], 3, 1, 2, False, {"pool_size": 2, "strides": 3, "padding": 1, "dilation": 2}),
    (1, "ceil-behind", [2], 3, [0, 2], 1, True, {"pool_size": [2], "strides": [3], "padding": [0, 2], "ceil_mode": True}),
    (1, "ceil-over", [2], 4, 0, 1, True, {"pool_size": [2], "strides": [4], "ceil_mode": True}),
    (2, "four-sides", [3, 2], [2, 1], [1, 0, 2, 1], 1, False,
     {"pool_size": [3, 2], "strides": [2, 1], "padding": [1, 0, 2, 1]}),
    (2, "after-only", [2, 3], [1, 2], [0, 0, 1, 2], 1, False,
     {"pool_size": [2, 3], "strides": [1, 2], "padding": [0, 0, 1, 2]}),
    (2, "before-only", [3, 2], [1, 2], [2, 1, 0, 0], 1, False,
     {"pool_size": [3, 2], "strides": [1, 2], "padding": [2, 1, 0, 0]}),
    (2, "dilated", [2, 2], [2, 1], [1, 2, 1, 0], [3, 2], False,
     {"pool_size": [2, 2], "strides": [2, 1], "padding": [1, 2, 1, 0], "dilation": [3, 2]}),
    (2, "ceil", [2, 3], [3, 2], 0, 1, True, {"pool_size": [2, 3], "strides": [3, 2], "ceil_mode": True}),
    (2, "ceil-dilated", [2, 2], [2, 3], [1, 0], [2, 1], True,
     {"pool_size": [2, 2], "strides": [2, 3], "padding": [1, 0], "dilation": [2, 1], "ceil_mode": True}),
    (3, "six-sides", [2, 3, 1], [1, 2, 2], [0, 1, 0, 1, 0, 1], 1, False,
     {"pool_size": [2, 3, 1], "strides": [1, 2, 2], "padding": [0, 1, 0, 1, 0, 1]}),
    (3, "dilated", [1, 2, 2], [1, 1, 2], [0, 1, 1], [1, 3, 2], False,
     {"pool_size": [1, 2, 2], "strides": [1, 1, 2], "padding": [0, 1, 1], "dilation": [1, 3, 2]}),
)  # fmt: skip


def pools(book):
    for number, (rank, name, size, stride, padding, dilation, ceil, attributes) in enumerate(POOLS):
        data = whole(number, *DATA[rank])
        moved = w.moves(size, stride, padding, dilation, ceil=ceil)
        form = told(**attributes)
        here = f"op.nn-max-pool{rank}d.pinned-{name}"
        op(book, here, KIND[0], f"nn.max_pool{rank}d(a{form})", [data], w.max_pool(data, moved))
        for padded in (False, True):
            op(
                book,
                f"op.nn-avg-pool{rank}d.pinned-{name}{'-padded' if padded else ''}",
                KIND[1],
                f"nn.avg_pool{rank}d(a{form}, count_include_pad={padded})",
                [data],
                w.avg_pool(data, moved, padded=padded),
            )
    defaults(book)
    layouts(book)


def defaults(book):
    """What is not said: windows of one place, one apart; count_include_pad by the number of dimensions."""
    for rank in (1, 2, 3):
        data, moved = whole(rank, *DATA[rank]), w.moves([2] * rank, padding=1)
        one = w.moves([1] * rank)
        op(
            book,
            f"op.nn-max-pool{rank}d.pinned-default",
            KIND[0],
            f"nn.max_pool{rank}d(a)",
            [data],
            w.max_pool(data, one),
        )
        op(book, f"op.nn-avg-pool{rank}d.pinned-default", KIND[1], f"nn.avg_pool{rank}d(a)", [data], data)
        form = f"nn.avg_pool{rank}d(a, pool_size=2, padding=1)"
        found = w.avg_pool(data, moved, padded=rank != 2)
        op(book, f"op.nn-avg-pool{rank}d.pinned-count", KIND[1], form, [data], found)
    data, moved = whole(6, 1, 2, 3, 2), w.moves([1, 1], 2, [1, 2])
    form = "nn.avg_pool2d(a, strides=2, padding=[1, 2], count_include_pad=False)"
    op(book, "op.nn-avg-pool2d.pinned-no-places", KIND[1], form, [data], w.avg_pool(data, moved, padded=False))
    data = whole(5, 1, 1, 6, dtype="int32")
    moved = w.moves([3], 2, 1)
    form = "nn.max_pool1d(a, pool_size=[3], strides=[2], padding=[1])"
    op(book, "op.nn-max-pool1d.pinned-int32", KIND[0], form, [data - 100], w.max_pool(data - 100, moved))


def layouts(book):
    for name, rank, source, target in (
        ("last", 1, "NWC", None),
        ("turned", 2, "NHWC", None),
        ("out", 2, "NCHW", "HWNC"),
        ("mixed", 2, "CHWN", "NWCH"),
        ("last", 3, "NDHWC", None),
        ("out", 3, "NCDHW", "NDHWC"),
    ):
        letters = "NC" + SPACE[rank]
        size, stride, padding = [2, 3, 1][:rank], [1, 2, 2][:rank], [1, 0, 0, 0, 2, 1][: 2 * rank]
        data, moved = whole(rank + 7, *DATA[rank]), w.moves(size, stride, padding)
        layout = {"layout": source, **({"out_layout": target} if target else {})}
        form = told(pool_size=size, strides=stride, padding=padding, **layout)
        put = [w.laid(data, source, letters)]
        for kind, found in (("max", w.max_pool(data, moved)), ("avg", w.avg_pool(data, moved, padded=False))):
            more = "" if kind == "max" else ", count_include_pad=False"
            laid = w.laid(found, target or source, letters)
            here = f"op.nn-{kind}-pool{rank}d.pinned-layout-{name}"
            op(book, here, KIND[kind == "avg"], f"nn.{kind}_pool{rank}d(a{form}{more})", put, laid)
        parts = [3, 2, 3][:rank]
        laid = w.laid(w.adaptive(data, parts), target or source, letters)
        form = f"nn.adaptive_avg_pool{rank}d(a{told(output_size=parts, **layout)})"
        op(book, f"op.nn-adaptive-avg-pool{rank}d.pinned-layout-{name}", KIND[2], form, put, laid)


def adaptives(book):
    for name, rank, parts, form in (
        ("same", 1, [7], [7]),
        ("one", 1, [1], 1),
        ("more", 1, [9], [9]),
        ("uneven", 1, [5], [5]),
        ("default", 2, [5, 4], None),
        ("one-number", 2, [3, 3], 3),
        ("even", 2, [5, 2], [5, 2]),
        ("mixed", 2, [1, 3], [1, 3]),
        ("default", 3, [3, 5, 4], None),
        ("mixed", 3, [1, 4, 2], [1, 4, 2]),
    ):
        data = whole(rank, *DATA[rank])
        said = "" if form is None else f", output_size={form}"
        here = f"op.nn-adaptive-avg-pool{rank}d.pinned-{name}"
        op(book, here, KIND[2], f"nn.adaptive_avg_pool{rank}d(a{said})", [data], w.adaptive(data, parts))


def symbolic(book):
    """Extents that are known when it runs."""
    several(
        book,
        "op.nn-adaptive-avg-pool2d.pinned-symbolic",
        KIND[2],
        'a: R.Tensor((1, 2, "h", "v"), "float32")',
        "nn.adaptive_avg_pool2d(a, output_size=[3, 1])",
        [([x], w.adaptive(x, [3, 1])) for x in (whole(1, 1, 2, 5, 4), whole(2, 1, 2, 2, 3), whole(3, 1, 2, 6, 1))],
    )
    for kind in ("max", "avg"):
        moved = w.moves([3], 2, [1, 0], ceil=True)
        several(
            book,
            f"op.nn-{kind}-pool1d.pinned-symbolic",
            KIND[kind == "avg"],
            'a: R.Tensor(("n", 2, "v"), "float32")',
            f"nn.{kind}_pool1d(a, pool_size=3, strides=2, padding=[1, 0], ceil_mode=True)",
            [
                ([x], w.max_pool(x, moved) if kind == "max" else w.avg_pool(x, moved, padded=True))
                for x in (whole(1, 1, 2, 5), whole(2, 3, 2, 6), whole(4, 1, 2, 2))
            ],
        )
    moved = w.moves([2, 3], [2, 1], 1)
    several(
        book,
        "op.nn-conv2d.pinned-symbolic",
        "LIB-010",
        'a: R.Tensor(("n", "c", "h", 4), "int32"), b: R.Tensor((3, "c", 2, 3), "int32")',
        "nn.conv2d(a, b, strides=[2, 1], padding=1)",
        [
            ([x, y], w.conv(x, y, moved))
            for x, y in (
                (whole(1, 2, 2, 5, 4, dtype="int32"), whole(2, 3, 2, 2, 3, dtype="int32")),
                (whole(3, 1, 3, 2, 4, dtype="int32"), whole(4, 3, 3, 2, 3, dtype="int32")),
                (whole(5, 1, 0, 2, 4, dtype="int32"), whole(6, 3, 0, 2, 3, dtype="int32")),
            )
        ],
    )
    moved = w.moves([2], 3, [1, 0])
    several(
        book,
        "op.nn-conv1d-transpose.pinned-symbolic",
        "LIB-011",
        'a: R.Tensor(("n", "c", "v"), "int32"), b: R.Tensor(("c", 2, 2), "int32")',
        "nn.conv1d_transpose(a, b, strides=3, padding=[1, 0])",
        [
            ([x, y], w.conv_transpose(x, y, moved))
            for x, y in (
                (whole(1, 2, 2, 5, dtype="int32"), whole(2, 2, 2, 2, dtype="int32")),
                (whole(3, 1, 3, 2, dtype="int32"), whole(4, 3, 2, 2, dtype="int32")),
                (whole(5, 1, 0, 2, dtype="int32"), whole(6, 0, 2, 2, dtype="int32")),
            )
        ],
    )


CONVS = (
    # rank, name, data, weight, groups, stride, padding, dilation, attributes
    (1, "default", (2, 3, 6), (4, 3, 2), 1, 1, 0, 1, {}),
    (1, "moved", (2, 4, 7), (6, 2, 2), 2, 2, [2, 1], 3, {"strides": [2], "padding": [2, 1], "dilation": [3], "groups": 2}),
    (1, "depthwise", (1, 3, 5), (6, 1, 2), 3, 1, 0, 1, {"groups": 3}),
    (2, "default", (1, 2, 4, 3), (3, 2, 2, 1), 1, 1, 0, 1, {}),
    (2, "moved", (2, 4, 6, 5), (4, 2, 2, 3), 2, [2, 1], [1, 0, 2, 1], [3, 1],
     {"strides": [2, 1], "padding": [1, 0, 2, 1], "dilation": [3, 1], "groups": 2}),
    (2, "wide", (1, 1, 3, 3), (2, 1, 3, 2), 1, 3, [0, 2], [1, 2], {"strides": 3, "padding": [0, 2], "dilation": [1, 2]}),
    (3, "default", (1, 2, 2, 4, 3), (1, 2, 2, 1, 3), 1, 1, 0, 1, {}),
    (3, "moved", (1, 2, 3, 4, 5), (2, 1, 2, 1, 3), 2, [1, 2, 3], [1, 0, 1, 0, 1, 2], [2, 1, 1],
     {"strides": [1, 2, 3], "padding": [1, 0, 1, 0, 1, 2], "dilation": [2, 1, 1], "groups": 2}),
)  # fmt: skip


def convolutions(book):
    for number, (rank, name, x, y, groups, stride, padding, dilation, attributes) in enumerate(CONVS):
        data, weight = whole(number, *x, dtype="int32"), whole(number + 50, *y, dtype="int32")
        found = w.conv(data, weight, w.moves(y[2:], stride, padding, dilation), groups)
        form = f"nn.conv{rank}d(a, b{told(**attributes)})"
        op(book, f"op.nn-conv{rank}d.pinned-{name}", "LIB-010", form, [data, weight], found)
    small, other = whole(1, 1, 2, 4, 3, dtype="int8", low=-128, high=128), whole(2, 2, 2, 2, 2, dtype="int8", low=-99)
    found = w.conv(small, other, w.moves([2, 2]), dtype="int32")
    op(book, "op.nn-conv2d.pinned-out-dtype", "LIB-010", 'nn.conv2d(a, b, out_dtype="int32")', [small, other], found)
    mixed = whole(3, 2, 2, 2, 2)
    found = w.conv(small, mixed, w.moves([2, 2]), dtype="float32")
    op(book, "op.nn-conv2d.pinned-two-dtypes", "LIB-010", 'nn.conv2d(a, b, out_dtype="float32")', [small, mixed], found)
    for name, rank, source, kernel, target in (
        ("last", 1, "NWC", "WIO", None),
        ("turned", 2, "NHWC", "HWIO", None),
        ("out", 2, "NCHW", "IHWO", "HWNC"),
        ("mixed", 2, "CHWN", "OHWI", "NWCH"),
        ("last", 3, "NDHWC", "DHWIO", None),
        ("out", 3, "NCDHW", "OIDHW", "NDHWC"),
    ):
        rank_letters, size = SPACE[rank], [2, 3, 1][:rank]
        stride, padding = [1, 2, 2][:rank], [1, 0, 0, 0, 2, 1][: 2 * rank]
        data = whole(rank, *DATA[rank][:1], 4, *DATA[rank][2:], dtype="int32")
        weight = whole(rank + 9, 6, 2, *size, dtype="int32")
        found = w.conv(data, weight, w.moves(size, stride, padding), 2)
        laid = [w.laid(data, source, "NC" + rank_letters), w.laid(weight, kernel, "OI" + rank_letters)]
        layout = {"data_layout": source, "kernel_layout": kernel, **({"out_layout": target} if target else {})}
        form = f"nn.conv{rank}d(a, b{told(strides=stride, padding=padding, groups=2, **layout)})"
        result = w.laid(found, target or source, "NC" + rank_letters)
        op(book, f"op.nn-conv{rank}d.pinned-layout-{name}", "LIB-010", form, laid, result)


TRANSPOSED = (
    (1, "default", (2, 3, 4), (3, 2, 2), 1, 1, 0, 1, 0, {}),
    (1, "moved", (2, 4, 3), (4, 3, 2), 2, 3, [2, 1], 2, 2,
     {"strides": [3], "padding": [2, 1], "dilation": [2], "output_padding": [2], "groups": 2}),
    (1, "one-place", (1, 1, 1), (1, 1, 1), 1, 2, 0, 1, 1, {"strides": 2, "output_padding": 1}),
    (2, "default", (1, 2, 2, 3), (2, 3, 3, 2), 1, 1, 0, 1, 0, {}),
    (2, "moved", (2, 4, 2, 3), (4, 1, 3, 2), 2, [2, 3], [1, 0, 0, 2], [1, 2], [0, 2],
     {"strides": [2, 3], "padding": [1, 0, 0, 2], "dilation": [1, 2], "output_padding": [0, 2], "groups": 2}),
    (2, "depthwise", (1, 3, 2, 2), (3, 1, 2, 1), 3, 2, 0, 1, 0, {"strides": 2, "groups": 3}),
    (3, "default", (1, 2, 2, 1, 3), (2, 1, 1, 2, 2), 1, 1, 0, 1, 0, {}),
    (3, "moved", (1, 2, 2, 1, 3), (2, 2, 2, 3, 1), 2, [1, 2, 3], [0, 1, 0, 1, 1, 0], [2, 1, 1], [0, 1, 2],
     {"strides": [1, 2, 3], "padding": [0, 1, 0, 1, 1, 0], "dilation": [2, 1, 1], "output_padding": [0, 1, 2], "groups": 2}),
)  # fmt: skip


def transposed(book):
    for number, (rank, name, x, y, groups, stride, padding, dilation, more, attributes) in enumerate(TRANSPOSED):
        data, weight = whole(number, *x, dtype="int32"), whole(number + 50, *y, dtype="int32")
        found = w.conv_transpose(data, weight, w.moves(y[2:], stride, padding, dilation), groups, more)
        form = f"nn.conv{rank}d_transpose(a, b{told(**attributes)})"
        op(book, f"op.nn-conv{rank}d-transpose.pinned-{name}", "LIB-011", form, [data, weight], found)
    small, other = whole(1, 1, 2, 4, dtype="int8", low=-128, high=128), whole(2, 2, 2, 2, dtype="int8", low=-99)
    found = w.conv_transpose(small, other, w.moves([2]), dtype="int32")
    form = 'nn.conv1d_transpose(a, b, out_dtype="int32")'
    op(book, "op.nn-conv1d-transpose.pinned-out-dtype", "LIB-011", form, [small, other], found)
    for name, rank, source, kernel, target in (
        ("last", 1, "NWC", "WOI", None),
        ("turned", 2, "NHWC", "HWIO", None),
        ("out", 2, "NCHW", "IOHW", "HWNC"),
        ("last", 3, "NDHWC", "DHWOI", None),
    ):
        letters, size = SPACE[rank], [2, 3, 1][:rank]
        stride, padding, more = [1, 2, 3][:rank], [1, 0, 0, 0, 2, 1][: 2 * rank], [0, 1, 2][:rank]
        data, weight = whole(3, 2, 4, *[2, 3, 1][:rank], dtype="int32"), whole(4, 4, 3, *size, dtype="int32")
        found = w.conv_transpose(data, weight, w.moves(size, stride, padding), 2, more)
        laid = [w.laid(data, source, "NC" + letters), w.laid(weight, kernel, "IO" + letters)]
        layout = {"data_layout": source, "kernel_layout": kernel, **({"out_layout": target} if target else {})}
        form = told(strides=stride, padding=padding, output_padding=more, groups=2, **layout)
        result = w.laid(found, target or source, "NC" + letters)
        here = f"op.nn-conv{rank}d-transpose.pinned-layout-{name}"
        op(book, here, "LIB-011", f"nn.conv{rank}d_transpose(a, b{form})", laid, result)


BACKWARD = (
    ("default", [1, 1], 1, 0, 1, False, {}),
    ("apart", [2, 2], [2, 2], 0, 1, False, {"pool_size": [2, 2], "strides": [2, 2]}),
    ("overlapping", [3, 2], [1, 1], 0, 1, False, {"pool_size": [3, 2]}),
    ("strides", [3, 2], [2, 3], [1, 0, 2, 1], 1, False,
     {"pool_size": [3, 2], "strides": [2, 3], "padding": [1, 0, 2, 1]}),
    ("dilated", [2, 2], [1, 2], [1, 2, 1, 0], [3, 2], False,
     {"pool_size": [2, 2], "strides": [1, 2], "padding": [1, 2, 1, 0], "dilation": [3, 2]}),
    ("ceil", [2, 3], [3, 2], 0, 1, True, {"pool_size": [2, 3], "strides": [3, 2], "ceil_mode": True}),
    ("ceil-around", [3, 3], [2, 3], [1, 1, 0, 1], 1, True,
     {"pool_size": [3, 3], "strides": [2, 3], "padding": [1, 1, 0, 1], "ceil_mode": True}),
)  # fmt: skip


def gradients(book):
    for number, (name, size, stride, padding, dilation, ceil, attributes) in enumerate(BACKWARD):
        data, moved = whole(number, 2, 3, 6, 5), w.moves(size, stride, padding, dilation, ceil=ceil)
        gradient = whole(number + 40, 2, 3, *moved.counts([6, 5])) * np.float32(12)
        form = told(**attributes)
        found = w.max_pool_backward(gradient, data, moved)
        here = f"op.grad-max-pool2d-backward.pinned-{name}"
        op(book, here, "LIB-052", f"grad.max_pool2d_backward(a, b{form})", [gradient, data], found)
        for padded in (False, True):
            more = ", count_include_pad=True" if padded else ""
            found = w.avg_pool_backward(gradient, data, moved, padded=padded)
            here = f"op.grad-avg-pool2d-backward.pinned-{name}{'-padded' if padded else ''}"
            op(book, here, "LIB-052", f"grad.avg_pool2d_backward(a, b{form}{more})", [gradient, data], found)
    for name, source, target in (("last", "NHWC", None), ("out", "NCHW", "HWNC"), ("mixed", "CHWN", "NWCH")):
        data, moved = whole(7, 2, 3, 5, 4), w.moves([2, 3], [2, 1], [1, 0, 0, 2])
        gradient = whole(8, 2, 3, *moved.counts([5, 4])) * np.float32(12)
        layout = {"layout": source, **({"out_layout": target} if target else {})}
        form = told(pool_size=[2, 3], strides=[2, 1], padding=[1, 0, 0, 2], **layout)
        put = [w.laid(gradient, target or source, "NCHW"), w.laid(data, source, "NCHW")]
        found = w.laid(w.max_pool_backward(gradient, data, moved), source, "NCHW")
        here = f"op.grad-max-pool2d-backward.pinned-layout-{name}"
        op(book, here, "LIB-052", f"grad.max_pool2d_backward(a, b{form})", put, found)
        found = w.laid(w.avg_pool_backward(gradient, data, moved, padded=False), source, "NCHW")
        here = f"op.grad-avg-pool2d-backward.pinned-layout-{name}"
        op(book, here, "LIB-052", f"grad.avg_pool2d_backward(a, b{form})", put, found)
    taken(book)


def take_backward(gradient, x, indices, axis):
    found = np.zeros(x.shape)
    moved, terms = np.moveaxis(found, axis, 0), np.moveaxis(gradient, axis, 0)
    for k, at in enumerate(indices):
        if 0 <= at < len(moved):
            moved[at] += terms[k]
    return found.astype(x.dtype)


def taken(book):
    for name, shape, axis, indices in (
        ("vector", (5,), None, [4, 0, 4, 4, 2]),
        ("rows", (4, 3), 0, [3, 0, 3]),
        ("middle", (2, 4, 3), 1, [0, 3, 3, 1, 0]),
        ("last", (2, 4, 3), 2, [2, 2]),
        ("outside", (2, 4), 1, [-1, 4, 0, 7, 3]),
        ("none", (2, 3), 1, []),
    ):
        x, at = whole(3, *shape), np.array(indices, np.int64 if name != "rows" else np.int32)
        own = axis or 0
        gradient = whole(9, *shape[:own], len(indices), *shape[own + 1 :])
        form = "grad.take_backward(a, b, c" + ("" if axis is None else f", axis={axis}") + ")"
        found = take_backward(gradient, x, at, own)
        op(book, f"op.grad-take-backward.pinned-{name}", "LIB-053", form, [gradient, x, at], found)
    x, at, gradient = whole(3, 2, 4, 3), np.array([0, 3, 3], np.int64), whole(9, 2, 3, 3)
    found = take_backward(gradient, x, at, 1)
    form = "grad.take_backward(a, b, c, axis=-2)"
    op(book, "op.grad-take-backward.pinned-from-the-end", "LIB-053", form, [gradient, x, at], found)


def nll_backward(gradient, predictions, targets, weights, reduction, ignored):
    """Minus the weight of the target class, times the gradient; ignored targets weigh nothing."""
    axis = min(1, predictions.ndim - 1)
    weigh = np.zeros(targets.shape)
    for at in np.ndindex(*targets.shape):
        weigh[at] = 0 if targets[at] == ignored else weights[targets[at]]
    found = np.zeros(predictions.shape)
    for i in np.ndindex(*predictions.shape):
        at = (*i[:axis], *i[axis + 1 :])
        if i[axis] == targets[at]:
            own = gradient[at] if reduction == "none" else gradient[()]
            found[i] = -weigh[at] * (own / weigh.sum() if reduction == "mean" else own)
    return found.astype(predictions.dtype)


def losses(book):
    heavy = np.array([2, 0.5, 1, 4], np.float32)
    for name, shape, targets in (
        ("one", (4,), np.array(2)),
        ("rows", (3, 4), np.array([3, 0, 1])),
        ("space", (2, 4, 3), np.array([[0, 3, 1], [2, 2, 3]])),
        ("ignored", (3, 4), np.array([3, -100, 1])),
        ("class-ignored", (4, 4), np.array([3, 1, 0, 1])),
    ):
        x = whole(4, *shape)
        for reduction, is_weighed in itertools.product(("mean", "sum", "none"), (True, False)):
            gradient = whole(5, *(targets.shape if reduction == "none" else ()), low=1)
            weights = heavy if is_weighed else np.ones(4, np.float32)
            ignored = 1 if name == "class-ignored" else -100
            said = f', reduction="{reduction}"' + (", ignore_index=1" if name == "class-ignored" else "")
            found = nll_backward(gradient, x, targets, weights, reduction, ignored)
            inputs = [gradient, x, targets, *([heavy] if is_weighed else [])]
            form = f"grad.nll_loss_backward(a, b, c{', d' if is_weighed else ''}{said})"
            here = f"op.grad-nll-loss-backward.pinned-{name}-{reduction}{'-weighed' if is_weighed else ''}"
            op(book, here, "LIB-051", form, inputs, found)
    x, targets, gradient = whole(4, 3, 4), np.array([3, 0, 1]), np.array(7, np.float32)
    found = nll_backward(gradient, x, targets, heavy, "mean", -100)
    form = "grad.nll_loss_backward(a, b, c, d)"
    op(book, "op.grad-nll-loss-backward.pinned-default", "LIB-051", form, [gradient, x, targets, heavy], found)


if __name__ == "__main__":
    pages = Book("op", "numpy", strict=False)
    for part in (pools, adaptives, convolutions, transposed, gradients, losses, symbolic):
        part(pages)
        stem = f"windows-{part.__name__}"
        sys.stdout.write(f"{stem} {pages.write(stem, f'Windows over images: {part.__name__}.')}\n")
    sys.stdout.write("".join(f"{line}\n" for line in pages.disagreements))
