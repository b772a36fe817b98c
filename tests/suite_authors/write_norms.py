"""Area `op`: normalisation over other axes than the last, with what is left out, and in float16, by NumPy in float64."""

import sys

import numpy as np
from book import Book
from op_usual import op, several


def drawn(seed, *shape, dtype="float32"):
    return (np.random.default_rng(seed).integers(-40, 41, shape) / 8).astype(dtype)


def wide(x):
    return x.astype(np.float64)


def softmax(x, axis):
    powers = np.exp(wide(x) - wide(x).max(axis, keepdims=True))
    return powers / powers.sum(axis, keepdims=True)


def log_softmax(x, axis):
    rest = wide(x) - wide(x).max(axis, keepdims=True)
    return rest - np.log(np.exp(rest).sum(axis, keepdims=True))


def normed(x, axes, epsilon, weight=None, bias=None):
    x = wide(x)
    mean = x.mean(axes, keepdims=True)
    found = (x - mean) / np.sqrt(((x - mean) ** 2).mean(axes, keepdims=True) + epsilon)
    found = found if weight is None else found * weight
    return found if bias is None else found + bias


def along(vector, axis, rank):
    """A vector for the places of an axis."""
    return wide(vector).reshape([-1 if at == axis else 1 for at in range(rank)])


def in_axes(weight, axes, rank):
    extents = iter(weight.shape)
    return wide(weight).reshape([next(extents) if at in axes else 1 for at in range(rank)])


def softmaxes(book):
    x = drawn(1, 2, 4, 3)
    for axis in (0, 1, 2, -1, -3):
        for kind, of in (("softmax", softmax), ("log_softmax", log_softmax)):
            here = f"op.nn-{kind.replace('_', '-')}.pinned-{axis if axis >= 0 else f'from-the-end-{-axis}'}"
            op(book, here, "LIB-701", f"nn.{kind}(a, axis={axis})", [x], of(x, axis).astype(np.float32))
    for kind, of in (("softmax", softmax), ("log_softmax", log_softmax)):
        name = f"op.nn-{kind.replace('_', '-')}"
        op(book, f"{name}.pinned-default", "LIB-701", f"nn.{kind}(a)", [x], of(x, 2).astype(np.float32))
        y = x[:, :, :1].copy()
        op(book, f"{name}.pinned-one", "LIB-701", f"nn.{kind}(a, axis=2)", [y], of(y, 2).astype(np.float32))
        half = drawn(2, 3, 4, dtype="float16")
        op(book, f"{name}.pinned-float16", "LIB-701", f"nn.{kind}(a, axis=0)", [half], of(half, 0).astype(np.float16))
        rows = [(y, of(y, 0).astype(np.float32)) for y in (drawn(3, 5, 2), drawn(4, 1, 3))]
        several(book, f"{name}.pinned-symbolic", "LIB-701", 'a: R.Tensor(("n", "m"), "float32")', f"nn.{kind}(a, axis=0)",
                [([y], found) for y, found in rows])  # fmt: skip


def layers(book):
    x = drawn(5, 2, 4, 3)
    for axes in ([0], [1], [2], [1, 2], [0, 2], [0, 1, 2], [-1], [-2, -1]):
        own = tuple(sorted(axis % 3 for axis in axes))
        shape = [x.shape[axis] for axis in own]
        g, b = drawn(6, *shape), drawn(7, *shape)
        put = in_axes(g, own, 3), in_axes(b, own, 3)
        name = "-".join(map(str, axes)).replace("--", "-of-end-").replace("-of-end-", "-e").strip("-")
        for more, arrays in (
            ("", put),
            (", center=False", (put[0], None)),
            (", scale=False", (None, put[1])),
            (", center=False, scale=False", (None, None)),
        ):
            if more and axes not in ([1], [1, 2]):
                continue
            said = "".join(f"-{word.split('=')[0]}" for word in more.replace(" ", "").split(",") if word)
            found = normed(x, own, 0.5, *arrays).astype(np.float32)
            sign = "end-" if axes[0] < 0 else ""
            form = f"nn.layer_norm(a, b, c, axes={axes}, epsilon=0.5{more})"
            op(book, f"op.nn-layer-norm.pinned-{sign}{name}{said}", "LIB-702", form, [x, g, b], found)
        form = f"nn.rms_norm(a, b, axes={axes}, epsilon=0.5)"
        found = wide(x) / np.sqrt((wide(x) ** 2).mean(own, keepdims=True) + 0.5) * put[0]
        sign = "end-" if axes[0] < 0 else ""
        op(book, f"op.nn-rms-norm.pinned-{sign}{name}", "LIB-703", form, [x, g], found.astype(np.float32))
    y, g, b = drawn(8, 3, 4), drawn(9, 4), drawn(10, 4)
    y[0] = [0.25, 0.25, 0.25, 0.2578125]
    form = "nn.layer_norm(a, b, c, axes=[-1])"
    op(
        book,
        "op.nn-layer-norm.pinned-default",
        "LIB-702",
        form,
        [y, g, b],
        normed(y, (1,), 1e-5, wide(g), wide(b)).astype(np.float32),
    )
    small = (y / 256).astype(np.float32)
    found = wide(small) / np.sqrt((wide(small) ** 2).mean(1, keepdims=True) + 1e-5) * g
    op(book, "op.nn-rms-norm.pinned-default", "LIB-703", "nn.rms_norm(a, b)", [small, g], found.astype(np.float32))
    halves(book, y)


def halves(book, y):
    for dtype in ("float16", "float64"):
        x, g, b = y.astype(dtype), drawn(9, 4, dtype=dtype), drawn(10, 4, dtype=dtype)
        form = "nn.layer_norm(a, b, c, axes=[1], epsilon=0.125)"
        found = normed(x, (1,), 0.125, wide(g), wide(b)).astype(dtype)
        op(book, f"op.nn-layer-norm.pinned-{dtype}", "LIB-702", form, [x, g, b], found)
        found = (wide(x) / np.sqrt((wide(x) ** 2).mean(1, keepdims=True) + 0.125) * wide(g)).astype(dtype)
        op(
            book,
            f"op.nn-rms-norm.pinned-{dtype}",
            "LIB-703",
            "nn.rms_norm(a, b, axes=[1], epsilon=0.125)",
            [x, g],
            found,
        )
    big = np.array([[300, 400, -500, 200]], np.float16)
    g = np.array([1, 2, -1, 0.5], np.float16)
    found = (wide(big) / np.sqrt((wide(big) ** 2).mean(1, keepdims=True) + 1e-5) * wide(g)).astype(np.float16)
    op(
        book,
        "op.nn-rms-norm.pinned-float16-squares",
        "LIB-703",
        "nn.rms_norm(a, b, axes=[1], epsilon=1e-5)",
        [big, g],
        found,
    )
    found = normed(big, (1,), 1e-5, wide(g), wide(g)).astype(np.float16)
    op(
        book,
        "op.nn-layer-norm.pinned-float16-squares",
        "LIB-702",
        "nn.layer_norm(a, b, b, axes=[1], epsilon=1e-5)",
        [big, g],
        found,
    )
    rows = [(x, normed(x, (1, 2), 0.5)) for x in (drawn(11, 2, 3, 4), drawn(12, 1, 2, 1))]
    several(book, "op.nn-layer-norm.pinned-symbolic", "LIB-702",
            'a: R.Tensor(("n", "m", "k"), "float32"), b: R.Tensor(("m", "k"), "float32"), c: R.Tensor(("m", "k"), "float32")',
            "nn.layer_norm(a, b, c, axes=[1, 2], epsilon=0.5)",
            [([x, np.ones(x.shape[1:], np.float32), np.zeros(x.shape[1:], np.float32)], found.astype(np.float32))
             for x, found in rows])  # fmt: skip


def group_normed(x, groups, channel, axes, epsilon, weight, bias):
    """The channels of a group stand in an axis of their own."""
    per = x.shape[channel] // groups
    split = wide(x).reshape([*x.shape[:channel], groups, per, *x.shape[channel + 1 :]])
    own = (channel + 1, *(axis if axis < channel else axis + 1 for axis in axes))
    found = normed(split, own, epsilon).reshape(x.shape)
    found = found if weight is None else found * along(weight, channel, x.ndim)
    return found if bias is None else found + along(bias, channel, x.ndim)


def groups(book):
    x = drawn(13, 2, 6, 3, 2)
    for name, count, channel, axes, shape in (
        ("two", 2, 1, [2, 3], (2, 6, 3, 2)),
        ("three", 3, 1, [2, 3], (2, 6, 3, 2)),
        ("one", 1, 1, [2], (2, 6, 3, 2)),
        ("each", 6, 1, [3], (2, 6, 3, 2)),
        ("channels-last", 2, -1, [1, 2], (2, 3, 2, 6)),
        ("channels-first", 3, 0, [2, 1], (6, 2, 3)),
        ("inside", 2, 2, [1, 3], (2, 3, 4, 2)),
        ("negative", 2, 1, [-1, -2], (2, 4, 3, 5)),
        ("channels-only", 2, 1, [], (2, 4, 3)),
    ):
        x = drawn(13, *shape)
        own = channel % x.ndim
        g, b = drawn(14, shape[own]), drawn(15, shape[own])
        over = [axis % x.ndim for axis in axes]
        for more, arrays in (("", (g, b)), ("center=False", (g, None)), ("scale=False", (None, b))):
            if more and name not in ("two", "channels-last"):
                continue
            said = f", {more}" if more else ""
            form = f"nn.group_norm(a, b, c, num_groups={count}, channel_axis={channel}, axes={axes}, epsilon=0.5{said})"
            found = group_normed(x, count, own, over, 0.5, *arrays).astype(np.float32)
            here = f"op.nn-group-norm.pinned-{name}{'-' + more.split('=')[0] if more else ''}"
            op(book, here, "LIB-704", form, [x, g, b], found)
    instances(book)
    for dtype in ("float16", "float64"):
        x, g, b = drawn(16, 2, 4, 3, dtype=dtype), drawn(17, 4, dtype=dtype), drawn(18, 4, dtype=dtype)
        form = "nn.group_norm(a, b, c, num_groups=2, channel_axis=1, axes=[2], epsilon=0.125)"
        found = group_normed(x, 2, 1, [2], 0.125, g, b).astype(dtype)
        op(book, f"op.nn-group-norm.pinned-{dtype}", "LIB-704", form, [x, g, b], found)
        form = "nn.instance_norm(a, b, c, channel_axis=1, axes=[2], epsilon=0.125)"
        found = normed(x, (2,), 0.125, along(g, 1, 3), along(b, 1, 3)).astype(dtype)
        op(book, f"op.nn-instance-norm.pinned-{dtype}", "LIB-704", form, [x, g, b], found)
    x = drawn(19, 1, 2, 4) / 64
    g, b = np.ones(2, np.float32), np.zeros(2, np.float32)
    form = "nn.group_norm(a, b, c, num_groups=1, channel_axis=1, axes=[2])"
    found = group_normed(x, 1, 1, [2], 1e-5, g, b).astype(np.float32)
    op(book, "op.nn-group-norm.pinned-default", "LIB-704", form, [x, g, b], found)
    form = "nn.instance_norm(a, b, c, channel_axis=1, axes=[2])"
    found = normed(x, (2,), 1e-5).astype(np.float32)
    op(book, "op.nn-instance-norm.pinned-default", "LIB-704", form, [x, g, b], found)


def instances(book):
    for name, channel, axes, shape in (
        ("usual", 1, [2, 3], (2, 4, 3, 5)),
        ("channels-last", -1, [1, 2], (2, 3, 5, 4)),
        ("channels-first", 0, [2], (3, 2, 5)),
        ("inside", 2, [-1, 1], (2, 3, 4, 5)),
    ):
        x = drawn(20, *shape)
        own = channel % x.ndim
        g, b = drawn(21, shape[own]), drawn(22, shape[own])
        over = tuple(axis % x.ndim for axis in axes)
        for more, put in (("", (g, b)), ("center=False", (g, None)), ("scale=False", (None, b))):
            said = f", {more}" if more else ""
            arrays = [None if each is None else along(each, own, x.ndim) for each in put]
            form = f"nn.instance_norm(a, b, c, channel_axis={channel}, axes={axes}, epsilon=0.5{said})"
            found = normed(x, over, 0.5, *arrays).astype(np.float32)
            here = f"op.nn-instance-norm.pinned-{name}{'-' + more.split('=')[0] if more else ''}"
            op(book, here, "LIB-704", form, [x, g, b], found)
    rows = [drawn(23, 2, 3, 4), drawn(24, 1, 3, 1)]
    several(book, "op.nn-instance-norm.pinned-symbolic", "LIB-704",
            'a: R.Tensor(("n", 3, "k"), "float32"), b: R.Tensor((3,), "float32")',
            "nn.instance_norm(a, b, b, channel_axis=1, axes=[2], epsilon=0.5)",
            [([x, np.ones(3, np.float32)], normed(x, (2,), 0.5, 1, 1).astype(np.float32)) for x in rows])  # fmt: skip


if __name__ == "__main__":
    pages = Book("op", "numpy", strict=False)
    for part in (softmaxes, layers, groups):
        part(pages)
        stem = f"norms-{part.__name__}"
        sys.stdout.write(f"{stem} {pages.write(stem, f'Normalisation along axes: {part.__name__}.')}\n")
    sys.stdout.write("".join(f"{line}\n" for line in pages.disagreements))
