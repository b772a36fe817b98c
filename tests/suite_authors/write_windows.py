"""Area `op`: how many windows there are, and where, by NumPy and PyTorch; area `reject`: attributes that say no windows.

`max_pool1d` with `ceil_mode` has one window more where something is left over, if it begins before the end (LIB-020).
Apart is what begins after the end, which others count too.
"""

import itertools
import sys

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812 - its own name
from book import Book
from hand import ask, reject
from write_places import Forms, several

X = ((np.arange(11) * 7) % 11 - 5.0).astype(np.float32).reshape(1, 1, 11)


def places(extent, size, stride, dilation, before, after, *, ceil):
    """The places of each window, those outside left out."""
    found, begin = [], -before
    while begin < extent if ceil else begin + (size - 1) * dilation < extent + after:
        last = begin + (size - 1) * dilation
        if begin + before > 0 and last - stride >= extent + after - 1:
            break
        found.append([p for p in range(begin, last + 1, dilation) if 0 <= p < extent])
        begin += stride
    return found


def greatest(*attributes, ceil):
    def of(x):
        windows = places(x.shape[-1], *attributes, ceil=ceil)
        return np.stack([x[..., window].max(-1) for window in windows], -1)

    return of


def pools(book):
    """Each mixture of small numbers."""
    groups = {"floor": [], "inside": [], "left-over": [], "after-the-end": []}
    for size, stride, dilation, after, before in itertools.product(
        (1, 2, 3, 4), (1, 2, 3, 4), (1, 2), (0, 1, 2), (0, 1)
    ):
        if max(before, after) >= size or (dilation > 1 and size == 1):
            continue
        for extent, ceil in ((8, True), (9, True), (10, True), (9, False)):
            attributes = (extent, size, stride, dilation, before, after)
            windows = places(*attributes, ceil=ceil)
            if not all(windows):
                continue
            room = extent + before + after - (size - 1) * dilation - 1
            more = -(-room // stride) + 1
            kind = (
                "floor"
                if not ceil
                else "after-the-end"
                if more > len(windows)
                else "left-over"
                if more > room // stride + 1
                else "inside"
            )
            groups[kind].append((extent, size, stride, dilation, before, after, ceil))
    for kind, rows in groups.items():
        forms = []
        for extent, size, stride, dilation, before, after, ceil in rows[:: max(1, len(rows) // 14)]:
            said = f"pool_size=[{size}], strides=[{stride}], dilation=[{dilation}], padding=[{before}, {after}], ceil_mode={ceil}"
            names = {8: "a", 9: "b", 10: "c"}
            of = greatest(size, stride, dilation, before, after, ceil=ceil)
            forms.append(
                (f"nn.max_pool1d({names[extent]}, {said})", lambda *z, of=of, extent=extent: of(z[extent - 8]))
            )
        several(book, Forms(f"nn-max-pool1d.windows-{kind}", "LIB-020", forms), [X[..., :8], X[..., 1:10], X[..., 1:]])


def tensor(x):
    return torch.tensor(x.astype(np.float64))


def convolutions(book):
    """Attributes of one number, of one for each dimension, of one for each side; layouts."""
    book.witness = "torch"
    draw = np.random.default_rng(5)
    image, kernel = (draw.integers(-3, 4, shape).astype(np.float32) for shape in ((2, 2, 7, 6), (3, 2, 2, 3)))

    def of(pads=(0, 0, 0, 0), **more):
        top, left, bottom, right = pads
        return lambda x, k: (
            F.conv2d(F.pad(tensor(x), (left, right, top, bottom)), tensor(k), **more).numpy().astype(np.float32)
        )

    rows = [
        ("nn.conv2d(a, b, strides=2, padding=1, dilation=2)", of((1, 1, 1, 1), stride=2, dilation=2)),
        ("nn.conv2d(a, b, strides=[2], padding=[2], dilation=[1])", of((2, 2, 2, 2), stride=2)),
        (
            "nn.conv2d(a, b, strides=[2, 1], padding=[1, 2], dilation=[2, 1])",
            of((1, 2, 1, 2), stride=(2, 1), dilation=(2, 1)),
        ),
        (
            "nn.conv2d(a, b, strides=[1, 3], padding=[0, 1, 2, 3], dilation=[1, 2])",
            of((0, 1, 2, 3), stride=(1, 3), dilation=(1, 2)),
        ),
    ]
    several(book, Forms("nn-conv2d.attributes", "LIB-010", rows), [image, kernel])
    exact = [("nn.conv2d(a, b)", of()), ("nn.conv2d(a, b, dilation=[6, 1])", of(dilation=(6, 1)))]
    several(
        book,
        Forms("nn-conv2d.window-of-all", "LIB-010", exact),
        [image, draw.integers(-3, 4, (1, 2, 2, 6)).astype(np.float32)],
    )
    for data, weight, out in (
        ("NHWC", "HWIO", "NHWC"),
        ("CWNH", "WIOH", "HNWC"),
        ("HWCN", "IHOW", "NCHW"),
        ("NHWC", "OIHW", "WCHN"),
    ):
        orders = [
            [letters.index(one) for one in text] for text, letters in ((data, "NCHW"), (weight, "OIHW"), (out, "NCHW"))
        ]
        said = f'data_layout="{data}", kernel_layout="{weight}", out_layout="{out}"'

        def laid(x, k, orders=orders):
            found = of((1, 0, 0, 2), stride=(2, 1))(
                x.transpose(np.argsort(orders[0])), k.transpose(np.argsort(orders[1]))
            )
            return found.transpose(orders[2])

        rows = [(f"nn.conv2d(a, b, strides=[2, 1], padding=[1, 0, 0, 2], {said})", laid)]
        inputs = [np.ascontiguousarray(x.transpose(order)) for x, order in zip((image, kernel), orders, strict=False)]
        several(book, Forms(f"nn-conv2d.layout-{data.lower()}-{weight.lower()}", "LIB-010", rows), inputs)


def refused(book):
    image = 'a: R.Tensor((1, 2, 7, 6), "float32"), b: R.Tensor((3, 2, 2, 3), "float32")'
    for what, code, said in (
        ("stride-zero", "RM105", "strides=[1, 0]"),
        ("stride-below", "RM105", "strides=[-1, 1]"),
        ("dilation-zero", "RM105", "dilation=[0, 1]"),
        ("padding-below", "RM105", "padding=[0, 0, 0, -1]"),
        ("padding-of-three", "RM105", "padding=[1, 1, 1]"),
        ("padding-of-five", "RM105", "padding=[1, 1, 1, 1, 1]"),
        ("strides-of-three", "RM105", "strides=[1, 1, 1]"),
        ("dilation-of-three", "RM105", "dilation=[1, 1, 1]"),
        ("data-layout", "RM105", 'data_layout="NHWW"'),
        ("kernel-layout", "RM105", 'kernel_layout="HWI"'),
        ("out-layout", "RM105", 'out_layout="NCDHW"'),
        ("window-greater", "RM202", "dilation=[7, 1]"),
        ("window-greater-by-more", "RM202", "dilation=[1, 4], padding=[0, 0, 0, 0]"),
    ):
        text = f"@R.function\ndef main({image}):\n    y = «R.nn.conv2d(a, b, {said})»\n    return y\n"
        ask(book, f"reject.{code.lower()}.nn-conv2d-{what}", "LIB-010", text, ([], reject(code)))
    for what, params in (
        ("image-of-three", 'a: R.Tensor((2, 7, 6), "float32"), b: R.Tensor((3, 2, 2, 3), "float32")'),
        ("image-of-five", 'a: R.Tensor((1, 2, 7, 6, 1), "float32"), b: R.Tensor((3, 2, 2, 3), "float32")'),
        ("kernel-of-three", 'a: R.Tensor((1, 2, 7, 6), "float32"), b: R.Tensor((3, 2, 2), "float32")'),
        ("kernel-of-five", 'a: R.Tensor((1, 2, 7, 6), "float32"), b: R.Tensor((3, 2, 2, 3, 1), "float32")'),
    ):
        text = f"@R.function\ndef main({params}):\n    y = «R.nn.conv2d(a, b)»\n    return y\n"
        ask(book, f"reject.rm105.nn-conv2d-{what}", "LIB-010", text, ([], reject("RM105")))
    image = 'a: R.Tensor((1, 2, 7, 6), "float32")'
    for what, code, said in (
        ("pool-zero", "RM105", "pool_size=[2, 0]"),
        ("pool-of-three", "RM105", "pool_size=[2, 2, 2]"),
        ("stride-zero", "RM105", "pool_size=[2, 2], strides=[0, 1]"),
        ("padding-below", "RM105", "pool_size=[2, 2], padding=[-1, 0, 0, 0]"),
        ("layout", "RM105", 'pool_size=[2, 2], layout="NCH"'),
        ("window-greater", "RM202", "pool_size=[2, 7]"),
        ("window-greater-down", "RM202", "pool_size=[9, 2], padding=[0, 0, 1, 0], ceil_mode=True"),
    ):
        text = f"@R.function\ndef main({image}):\n    y = «R.nn.max_pool2d(a, {said})»\n    return y\n"
        ask(book, f"reject.{code.lower()}.nn-max-pool2d-{what}", "LIB-020", text, ([], reject(code)))


if __name__ == "__main__":
    for area, part, stem in (
        ("op", pools, "windows-of-pools"),
        ("op", convolutions, "windows-of-images"),
        ("reject", refused, "windows"),
    ):
        pages = Book(area, "hand" if area == "reject" else "numpy", strict=False)
        part(pages)
        sys.stdout.write("".join(f"{line}\n" for line in pages.disagreements))
        sys.stdout.write(f"{stem} {pages.write(stem, 'Windows that move over images.')}\n")
