"""Area `op`: axes, parts, what is added around, layouts, by NumPy and PyTorch. As `write_places.py` has slices."""

import sys

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812 - its own name
from book import Book
from write_places import Forms, irregular, several

X, Y = irregular(2, 3, 4), irregular(5, 1, 3, 1)
NONE = irregular(0, 3)
ONE = np.array(-7, np.int32)


def axes(book):
    """Axes exchanged, added and left out, counted from either end."""
    rows = [
        (f"permute_dims(a, axes=[{o}])", lambda x, o=o: x.transpose([int(k) for k in o.split(",")]))
        for o in ("-1, 0, 1", "0, 2, 1", "1, 0, -1", "0, 1, 2", "2, -3, -2")
    ]
    several(book, Forms("permute-dims.orders", "LIB-901", rows), [X])
    several(
        book,
        Forms(
            "permute-dims.of-one-and-none",
            "LIB-901",
            [("permute_dims(a)", lambda x, *_: x), ("permute_dims(b, axes=[])", lambda _, y: y)],
        ),
        [irregular(3), ONE],
    )
    types = 'a: R.Tensor(("l", "m", "n"), "int32")'
    rows = [("permute_dims(a, axes=[1, 2, 0])", lambda x: x.transpose(1, 2, 0)), ("permute_dims(a)", np.transpose)]
    several(
        book, Forms("permute-dims.symbolic", "LIB-901", rows, types), [X], [irregular(3, 1, 2)], [irregular(2, 0, 3)]
    )
    rows = [
        (f"expand_dims(a, axis={at})", lambda x, at=at: np.expand_dims(x, at))
        for at in (0, 3, -1, -4, 1, [3, 0], [-1, -3], [1, 2], [-5, 4])
    ]
    rows = [
        (form, lambda x, of=of, form=form: of(x) if "[" not in form else np.expand_dims(x, tuple(eval_axes(form))))
        for form, of in rows
    ]
    several(book, Forms("expand-dims.places", "LIB-902", rows), [X])
    rows = [
        (f"squeeze(a{at})", of)
        for at, of in (
            ("", lambda x: x.reshape(5, 3)),
            (", axis=1", lambda x: x.reshape(5, 3, 1)),
            (", axis=-1", lambda x: x.reshape(5, 1, 3)),
            (", axis=[-1, 1]", lambda x: x.reshape(5, 3)),
            (", axis=[3]", lambda x: x.reshape(5, 1, 3)),
            (", axis=[]", lambda x: x),
        )
    ]
    several(book, Forms("squeeze.places", "LIB-902", rows), [Y])
    types = 'a: R.Tensor(("m", 1, "n"), "int32")'
    rows = [
        ("squeeze(a, axis=1)", lambda x: x[:, 0]),
        ("squeeze(a, axis=[-2])", lambda x: x[:, 0]),
    ]
    several(book, Forms("squeeze.symbolic", "LIB-902", rows, types), [irregular(3, 1, 2)], [irregular(2, 1, 5)])
    rows = [("squeeze(a, axis=0)", lambda x: x[0]), ("squeeze(a, axis=[0, 1])", lambda x: x[0, 0])]
    several(book, Forms("squeeze.symbolic-one", "LIB-902", rows, types), [irregular(1, 1, 2)], [irregular(1, 1, 5)])
    rows = [
        ("flatten(a)", lambda x, *_: x.ravel()),
        ("flatten(b)", lambda _, y, *__: y.ravel()),
        ("flatten(c)", lambda *z: z[2].ravel()),
        ("flatten(d)", lambda *z: z[3].ravel()),
    ]
    several(book, Forms("flatten.of-each-rank", "LIB-903", rows), [X, irregular(6), ONE, irregular(3, 5)])
    rows = [
        ("nn.batch_flatten(a)", lambda x, *_: x.reshape(2, 12)),
        ("nn.batch_flatten(c)", lambda *z: z[2]),
        ("nn.batch_flatten(d)", lambda *z: z[3].reshape(5, 3)),
    ]
    several(book, Forms("nn-batch-flatten.of-each-rank", "LIB-903", rows), [X, irregular(6), irregular(3, 5), Y])
    types = 'a: R.Tensor(("l", "m", "n"), "int32")'
    rows = [("flatten(a)", lambda x, *_: x.ravel()), ("nn.batch_flatten(a)", lambda x: x.reshape(len(x), -1))]
    several(book, Forms("flatten.symbolic", "LIB-903", rows, types), [X], [irregular(3, 5, 1)])


def eval_axes(form):
    """The numbers between the brackets of a form."""
    return [int(one) for one in form[form.index("[") + 1 : form.index("]")].split(",")]


def spread(book):
    """Extents of 1, and new ones in front."""
    shapes = ((5, 1, 3, 1), (5, 2, 3, 4), (5, 2, 3, 1), (2, 5, 1, 3, 1), (3, 2, 5, 4, 3, 2))
    rows = [(f"broadcast_to(a, {shape})", lambda x, shape=shape: np.broadcast_to(x, shape)) for shape in shapes]
    several(book, Forms("broadcast-to.shapes", "LIB-904", rows), [Y])
    rows = [
        ("broadcast_to(a, (2, 3))", lambda x, *_: np.broadcast_to(x, (2, 3))),
        ("broadcast_to(b, (4, 1))", lambda *z: np.broadcast_to(z[1], (4, 1))),
        ("broadcast_to(b, (0,))", lambda *_: irregular(0)),
        ("broadcast_to(a, ())", lambda x, *_: x),
    ]
    several(book, Forms("broadcast-to.of-one", "LIB-904", rows), [ONE, irregular(1)])
    types = 'a: R.Tensor(("m", 1), "int32"), b: R.Tensor(("n",), "int32")'
    rows = [
        ("broadcast_to(a, R.shape([m, n]))", lambda x, y: np.broadcast_to(x, (len(x), len(y)))),
        ("broadcast_to(b, R.shape([m, n]))", lambda x, y: np.broadcast_to(y, (len(x), len(y)))),
        ("broadcast_to(a, R.shape([n, m, 2]))", lambda x, y: np.broadcast_to(x, (len(y), len(x), 2))),
    ]
    several(
        book,
        Forms("broadcast-to.symbolic", "LIB-904", rows, types, "m = T.int64()\nn = T.int64()"),
        [irregular(3, 1), irregular(2)],
        [irregular(2, 1), irregular(5)],
    )


def joined(book):
    """Tensors of different extents along the axis; nothing among them."""
    parts = [irregular(2, 3), irregular(2, 1) + 200, irregular(2, 4) - 300]
    rows = [
        ("concat((a, b, c), axis=1)", lambda *z: np.concatenate(z, 1)),
        ("concat((c, a, b), axis=-1)", lambda a, b, c: np.concatenate([c, a, b], 1)),
        ("concat((b,), axis=0)", lambda *z: z[1]),
    ]
    several(book, Forms("concat.of-three", "LIB-905", rows), parts)
    flat = [("concat((a, b, c), axis=None)", lambda *z: np.concatenate(z))]
    several(book, Forms("concat.without-axis", "LIB-905", flat), [irregular(3), irregular(1), irregular(4)])
    tall = [irregular(2, 3), irregular(1, 3) + 200, irregular(0, 3), irregular(4, 3) - 300]
    rows = [
        ("concat((a, b, c, d))", lambda *z: np.concatenate(z)),
        ("concat((d, c, b), axis=-2)", lambda _, b, c, d: np.concatenate([d, c, b])),
    ]
    several(book, Forms("concat.with-nothing", "LIB-905", rows), tall)
    types = 'a: R.Tensor(("m", "n"), "int32"), b: R.Tensor(("m", 2), "int32"), c: R.Tensor(("k", "n"), "int32")'
    rows = [
        ("concat((a, b, a), axis=1)", lambda a, b, _: np.concatenate([a, b, a], 1)),
        ("concat((c, a), axis=0)", lambda a, _, c: np.concatenate([c, a])),
    ]
    calls = [[irregular(m, n), irregular(m, 2) + 200, irregular(k, n) - 300] for m, n, k in ((3, 1, 2), (2, 5, 4))]
    several(book, Forms("concat.symbolic", "LIB-905", rows, types), *calls)
    three = [X, X + 200, X - 300]
    rows = [(f"stack((a, b, c), axis={at})", lambda *z, at=at: np.stack(z, at)) for at in (0, 1, 2, 3, -1, -2, -4)]
    several(book, Forms("stack.of-three", "LIB-905", rows), three)
    rows = [("stack((a,))", lambda x, *_: x[None]), ("stack((b, c), axis=-1)", lambda *z: np.stack(z[1:], -1))]
    several(book, Forms("stack.of-one", "LIB-905", rows), [irregular(3), ONE, ONE + 3])


def parts(book):
    """Into so many parts, the last smaller or empty; before each of some places."""

    def even(n, count):
        size = -(-n // count)
        return [min(k * size, n) for k in range(1, count)]

    x = irregular(7, 5)
    rows = [
        (f"split(a, {count}, axis={axis})", lambda x, c=count, axis=axis: np.split(x, even(x.shape[axis], c), axis))
        for count, axis in ((3, 0), (4, 0), (7, -2), (2, 1), (5, -1))
    ]
    several(book, Forms("split.into-parts", "LIB-906", rows), [x])
    rows = [
        (f"split(a, {count}, axis={axis})", lambda x, c=count, axis=axis: np.split(x, even(x.shape[axis], c), axis))
        for count, axis in ((4, 1), (9, 0), (6, 1))
    ]
    several(book, Forms("split.into-empty-parts", "LIB-906", rows), [x])
    rows = [
        (f"split(a, {places}, axis={axis})", lambda x, p=places, axis=axis: np.split(x, p, axis))
        for places, axis in (([1, 4], 0), ([2], 1), ([1, 3, 6], -2), ([4], -1))
    ]
    several(book, Forms("split.at-places", "LIB-906", rows), [x])
    rows = [
        (f"split(a, {places}, axis={axis})", lambda x, p=places, axis=axis: np.split(x, p, axis))
        for places, axis in (([0, 4, 4], 0), ([5], 1), ([3, 1], 0))
    ]
    several(book, Forms("split.at-places-of-nothing", "LIB-906", rows), [x])
    types = 'a: R.Tensor((6, "n"), "int32")'
    rows = [
        ("split(a, [1, 3], axis=1)", lambda x: np.split(x, [1, 3], 1)),
        ("split(a, [2, 5])", lambda x: np.split(x, [2, 5])),
        ("split(a, 2)", lambda x: np.split(x, 2)),
    ]
    several(
        book, Forms("split.symbolic", "LIB-906", rows, types), [irregular(6, 4)], [irregular(6, 7)], [irregular(6, 3)]
    )


def repeated(book):
    """As a whole, and element by element."""
    rows = [
        (f"tile(a, {n})", lambda x, n=n: np.tile(x, n))
        for n in (2, [3], [2, 1], [2, 3, 2], [2, 1, 1, 3], [1, 2, 1, 1, 2], [1])
    ]
    several(book, Forms("tile.numbers", "LIB-907", rows), [X])
    rows = [("tile(a, [2, 3])", lambda x, *_: np.tile(x, (2, 3))), ("tile(b, 4)", lambda *z: np.tile(z[1], 4))]
    several(book, Forms("tile.of-one", "LIB-907", rows), [ONE, irregular(2)])
    types = 'a: R.Tensor(("m", "n"), "int32")'
    rows = [("tile(a, [2, 3])", lambda x: np.tile(x, (2, 3))), ("tile(a, [2, 1, 2])", lambda x: np.tile(x, (2, 1, 2)))]
    several(book, Forms("tile.symbolic", "LIB-907", rows, types), [irregular(2, 3)], [irregular(3, 1)])
    rows = [
        (f"repeat(a, {n}, axis={at})", lambda x, n=n, at=at: np.repeat(x, n, at))
        for n, at in ((2, 0), (3, 1), (2, -1), (1, 2), (3, -3))
    ]
    several(book, Forms("repeat.axes", "LIB-907", [*rows, ("repeat(a, 3)", lambda x: np.repeat(x, 3))]), [X])
    rows = [("repeat(a, 2, axis=1)", lambda x: np.repeat(x, 2, 1)), ("repeat(a, 3)", lambda x: np.repeat(x, 3))]
    several(book, Forms("repeat.symbolic", "LIB-907", rows, types), [irregular(2, 3)], [irregular(3, 1)])
    rows = [(f"flip(a, axis={at})", lambda x, at=at: np.flip(x, at)) for at in (0, 1, 2, -1, -2, -3)]
    several(book, Forms("flip.axes", "LIB-908", rows), [X])
    rows = [(f"flip(a, axis={at})", lambda x, at=at: np.flip(x, at)) for at in (0, 1)]
    several(book, Forms("flip.symbolic", "LIB-908", rows, types), [irregular(2, 3)], [irregular(4, 1)])
    three = [irregular(2), irregular(3) + 200, irregular(4) - 300]
    rows = [
        (f'meshgrid((a, b, c), indexing="{how}")', lambda *z, how=how: np.meshgrid(*z, indexing=how))
        for how in ("ij", "xy")
    ]
    rows += [
        ('meshgrid((b, c), indexing="xy")', lambda *z: np.meshgrid(*z[1:], indexing="xy")),
        ("meshgrid((c, a))", lambda a, _, c: np.meshgrid(c, a, indexing="ij")),
    ]
    several(book, Forms("meshgrid.of-three", "LIB-909", rows), three)
    rows = [(f'meshgrid((a,), indexing="{how}")', lambda a, *_: [a]) for how in ("ij", "xy")]
    several(book, Forms("meshgrid.of-one", "LIB-909", rows), [three[2]])
    rows = [("meshgrid((a, b))", lambda a, b: [a.reshape(1, 1), b.reshape(1, 1)])]
    several(book, Forms("meshgrid.of-numbers", "LIB-909", rows), [ONE, ONE + 3])
    types = 'a: R.Tensor(("m",), "int32"), b: R.Tensor(("n",), "int32")'
    rows = [
        (f'meshgrid((a, b), indexing="{how}")', lambda *z, how=how: np.meshgrid(*z, indexing=how))
        for how in ("ij", "xy")
    ]
    several(
        book,
        Forms("meshgrid.symbolic", "LIB-909", rows, types),
        [irregular(2), irregular(3)],
        [irregular(4), irregular(1)],
    )


MODES = {"constant": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap"}


def around(mode, width, **more):
    return lambda x: np.pad(x, np.array(width).reshape(-1, 2), MODES[mode], **more)


def padded(book):
    """Each mode, with other numbers before than after, up to the most that there can be."""
    wide = {
        "constant": (1, 0, 0, 2, 3, 4),
        "reflect": (1, 0, 0, 2, 3, 2),
        "replicate": (1, 4, 0, 2, 3, 0),
        "circular": (1, 5, 7, 0, 3, 9),
    }
    for mode, width in wide.items():
        widths = [width, (0, 0, 2, 1, 0, 1), (0, 1, 0, 0, 2, 0), (0, 0, 0, 0, 0, 0)]
        rows = [(f'nn.pad(a, pad_width={list(w)}, pad_mode="{mode}")', around(mode, w)) for w in widths]
        several(book, Forms(f"nn-pad.{mode}-of-three-axes", "LIB-030", rows), [X])
        types = 'a: R.Tensor(("m", "n"), "int32")'
        rows = [(f'nn.pad(a, pad_width={w}, pad_mode="{mode}")', around(mode, w)) for w in ([0, 0, 2, 1], [1, 2, 0, 0])]
        several(book, Forms(f"nn-pad.{mode}-symbolic", "LIB-030", rows, types), [irregular(3, 4)], [irregular(4, 3)])
    several(
        book,
        Forms(
            "nn-pad.circular-often",
            "LIB-030",
            [('nn.pad(a, pad_width=[9, 11], pad_mode="circular")', around("circular", (9, 11)))],
        ),
        [irregular(4)],
    )
    of_none = [
        (f'nn.pad(a, pad_width=[0, 0, 1, 2], pad_mode="{mode}")', around(mode, (0, 0, 1, 2)))
        for mode in MODES
        if mode != "circular"
    ]
    several(book, Forms("nn-pad.along-the-other-axis", "LIB-030", of_none), [irregular(0, 3)])
    several(
        book,
        Forms(
            "nn-pad.constant-of-nothing",
            "LIB-030",
            [("nn.pad(a, pad_width=[1, 1, 0, 1], pad_value=3)", around("constant", (1, 1, 0, 1), constant_values=3))],
        ),
        [irregular(0, 2)],
    )
    values = {
        "int8": (-128, 127),
        "uint8": (0, 255),
        "int32": (-(2**31), 7),
        "float32": (0.1, -2.5),
        "float16": (1.5, -0.25),
        "float64": (0.1, -3.0),
    }
    for dtype, numbers in values.items():
        x = np.array([3, 5], dtype)
        rows = [
            (f"nn.pad(a, pad_width=[1, 2], pad_value={n})", around("constant", (1, 2), constant_values=n))
            for n in numbers
        ]
        several(
            book,
            Forms(
                f"nn-pad.value-{dtype}", "LIB-030", [*rows, ("nn.pad(a, pad_width=[0, 1])", around("constant", (0, 1)))]
            ),
            [x],
        )


def shuffled(r):
    return lambda x: F.pixel_shuffle(torch.tensor(x), r).numpy()


def shuffles(book):
    """Factors of 1 to 3, of images in batches and alone."""
    book.witness = "torch"
    for name, shape in (("alone", (36, 2, 1)), ("of-a-batch", (2, 36, 1, 2)), ("of-batches", (2, 1, 36, 1, 1))):
        rows = [(f"nn.pixel_shuffle(a, upscale_factor={r})", shuffled(r)) for r in (1, 2, 3)]
        several(book, Forms(f"nn-pixel-shuffle.{name}", "LIB-031", rows), [irregular(*shape)])


def laid(of, shape=None, value=0):
    """What `layout_transform` gives, element by element; `shape` where it is not the greatest index and 1."""

    def moved(x):
        places = {at: of(*at) for at in np.ndindex(*x.shape)}
        extents = (
            shape(*x.shape)
            if callable(shape)
            else shape or [max(p[k] for p in places.values()) + 1 for k in range(len(next(iter(places.values()))))]
        )
        found = np.full(extents, value, x.dtype)
        for at, place in places.items():
            found[tuple(place)] = x[at]
        return found

    return moved


MAPS = {
    "exchanged": ("lambda i, j: (j, i)", lambda i, j: (j, i), None),
    "split": ("lambda i, j: (j // 2, i, j % 2)", lambda i, j: (j // 2, i, j % 2), None),
    "joined": ("lambda i, j: (i * 6 + j,)", lambda i, j: (i * 6 + j,), None),
    "joined-left": ("lambda i, j: (j * 4 + i,)", lambda i, j: (4 * j + i,), None),
    "between": ("lambda i, j: (i, 0, j)", lambda i, j: (i, 0, j), None),
}
PADDED = {
    "backwards": ("lambda i, j: (3 - i, 5 - j)", lambda i, j: (3 - i, 5 - j), (4, 6)),
    "split": ("lambda i, j: (i, j // 4, j % 4)", lambda i, j: (i, j // 4, j % 4), (4, 2, 4)),
    "split-rows": ("lambda i, j: (i // 3, j, i % 3)", lambda i, j: (i // 3, j, i % 3), (2, 6, 3)),
    "inside": ("lambda i, j: (i % 7, j)", lambda i, j: (i, j), (4, 6)),
    "inside-exactly": ("lambda i, j: (i % 4, j)", lambda i, j: (i, j), (4, 6)),
    "later": ("lambda i, j: (i + 2, 1 + j)", lambda i, j: (i + 2, j + 1), (6, 7)),
    "earlier": ("lambda i, j: (i, j + 3 - 1)", lambda i, j: (i, j + 2), (4, 8)),
    "apart": ("lambda i, j: (i * 3, 2 * j + 1)", lambda i, j: (i * 3, 2 * j + 1), (10, 12)),
    "aslant": ("lambda i, j: (i + j, j)", lambda i, j: (i + j, j), (9, 6)),
    "aslant-down": ("lambda i, j: (i - j + 5, j)", lambda i, j: (i - j + 5, j), (9, 6)),
    "down-from": ("lambda i, j: (9 - i * 2, 8 - (j + 1))", lambda i, j: (9 - i * 2, 7 - j), (10, 8)),
    "down-from-sums": ("lambda i, j: (20 - (i * 3 + 2), 12 - (9 - j))", lambda i, j: (18 - i * 3, 3 + j), (19, 9)),
    "down-from-joined": (
        "lambda i, j: (30 - (i * 6 + j), 3 - (i % 4))",
        lambda i, j: (30 - (i * 6 + j), 3 - i),
        (31, 4),
    ),
    "down-from-less": ("lambda i, j: (i, 20 - (9 - (i + j)))", lambda i, j: (i, 11 + i + j), (4, 20)),
    "down-from-halves": ("lambda i, j: (i, 20 - (j - i) * 2)", lambda i, j: (i, 20 - (j - i) * 2), (4, 27)),
    "down-from-parts": (
        "lambda i, j: (9 - (i + 6) // 2, 9 - (i + 1) % 9, j)",
        lambda i, j: (9 - (i + 6) // 2, 8 - i, j),
        (7, 9, 6),
    ),
    "down-from-rest": ("lambda i, j: (7 - j % 4, i, j // 4)", lambda i, j: (7 - j % 4, i, j // 4), (8, 4, 2)),
    "parts-of-sums": (
        "lambda i, j: ((j + 3) // 4, i, (j + 3) % 4)",
        lambda i, j: ((j + 3) // 4, i, (j + 3) % 4),
        (3, 4, 4),
    ),
    "rest-below": ("lambda i, j: ((j - 2) % 7, i)", lambda i, j: ((j - 2) % 7, i), (7, 4)),
    "rest-of-ten": ("lambda i, j: ((i * 6 + j) // 10, (i * 6 + j) % 10)", lambda i, j: divmod(i * 6 + j, 10), (3, 10)),
}


def layouts(book):
    x = irregular(4, 6)
    rows = [(f"layout_transform(a, index_map={text})", laid(of, shape)) for text, of, shape in MAPS.values()]
    several(book, Forms("layout-transform.places", "LIB-933", rows), [x])
    for name, (text, of, shape) in PADDED.items():
        row = (f"layout_transform(a, index_map={text}, pad_value=-9)", laid(of, shape, -9))
        several(book, Forms(f"layout-transform.padded-{name}", "LIB-933", [row]), [x])
    text, of, shape = PADDED["split"]
    several(
        book,
        Forms(
            "layout-transform.padded-float32",
            "LIB-933",
            [(f"layout_transform(a, index_map={text}, pad_value=0.5)", laid(of, shape, 0.5))],
        ),
        [x.astype(np.float32)],
    )
    several(
        book,
        Forms("layout-transform.unpadded", "LIB-933", [(f"layout_transform(a, index_map={text})", laid(of, shape))]),
        [x],
    )
    types = 'a: R.Tensor(("m", "n"), "int32")'
    rows = [
        ("layout_transform(a, index_map=lambda i, j: (j, i))", np.transpose),
        (
            "layout_transform(a, index_map=lambda i, j: (i, j // 2, j % 2))",
            laid(lambda i, j: (i, j // 2, j % 2), lambda m, n: (m, (n - 1) // 2 + 1, 2)),
        ),
    ]
    more = [
        (
            "layout_transform(a, index_map=lambda i, j: (j * 4 + i,))",
            laid(lambda i, j: (j * 4 + i,), lambda m, n: (n * 4 - 4 + m,)),
        ),
        (
            "layout_transform(a, index_map=lambda i, j: (i + j + 1, j))",
            laid(lambda i, j: (i + j + 1, j), lambda m, n: (m + n, n)),
        ),
    ]
    calls = [[irregular(4, 3)], [irregular(3, 4)], [irregular(1, 5)]]
    several(book, Forms("layout-transform.symbolic", "LIB-933", rows, types), *calls)
    several(book, Forms("layout-transform.symbolic-sums", "LIB-933", more, types), *calls)


PARTS = (
    (axes, "moves-axes"),
    (spread, "moves-spread"),
    (joined, "moves-joined"),
    (parts, "moves-parts"),
    (repeated, "moves-repeated"),
    (padded, "moves-padded"),
    (layouts, "moves-layouts"),
    (shuffles, "moves-shuffled"),
)


if __name__ == "__main__":
    pages, wished = Book("op", "numpy", strict=False), sys.argv[1:]
    for part, stem in PARTS:
        if not wished or stem in wished:
            part(pages)
            sys.stdout.write("".join(f"{line}\n" for line in pages.disagreements))
            pages.disagreements.clear()
            sys.stdout.write(f"{stem} {pages.write(stem, 'Elements in other places.')}\n")
            sys.stdout.flush()
