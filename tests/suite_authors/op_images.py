"""Operators of images, dense: every mode of each, on images whose extents all differ, by PyTorch and `image_witness`."""

import itertools

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812 - its own name
from book import Judged, given
from image_witness import affine_grid, boxes_of, roi_align, roi_pool, scores_of, valid_counts
from op_usual import HEAD, type_of

MODES = ("zeros", "border", "reflection")
INF, NAN = np.inf, np.nan


def uneven(*shape, dtype="float32", scale=1):
    """Small whole numbers without a pattern, times `scale`."""
    i = np.arange(int(np.prod(shape)))
    return (((7 * i * i + 5 * i) % 43 - 19) * scale).astype(dtype).reshape(shape)


def symbolic(name, x):
    extents = "".join(f'"{name}{axis}", ' for axis in range(x.ndim))
    return f'R.Tensor(({extents.removesuffix(" ")}), "{x.dtype}")'


def several(book, name, clauses, rows, inputs, *, symbols=False, witness=""):
    """Several calls of operators on the same arguments; each row is a call and what it gives."""
    kind = symbolic if symbols else lambda _, x: type_of(x)
    params = ", ".join(f"{one}: {kind(one, x)}" for one, x in zip("abcdefgh", inputs, strict=False))
    lines = "".join(f"    y{number} = R.{form}\n" for number, (form, _) in enumerate(rows))
    last = f"({', '.join(f'y{number}' for number in range(len(rows)))})" if len(rows) > 1 else "y0"
    text = f"{HEAD}@R.function\ndef main({params}):\n{lines}    return {last}\n"
    wanted = [found for _, found in rows] if len(rows) > 1 else rows[0][1]
    book.judged(name, clauses.split(), text, [Judged([given(x) for x in inputs], wanted)], witness=witness)


# ------------------------------------------------------------------------------------------------- grid_sample


def sampled(x, grid, method, mode, align):
    at = torch.tensor(np.moveaxis(grid.astype(np.float64), 1, -1).copy())
    found = F.grid_sample(torch.tensor(x.astype(np.float64)), at, method, mode, align)
    return found.numpy().astype(x.dtype)


def call_of(method, mode, align, rank=2):
    layout = ', layout="NCDHW"' if rank == 3 else ""
    return f'image.grid_sample(a, b, method="{method}"{layout}, padding_mode="{mode}", align_corners={align})'


PLACES = [-1, 1, 0, -0.5, 0.875, -3.25, 2.75, 0.3125, -1.0625, 1.125, -0.1875, 5.5, -7.75, 0.625, -2.125, 1.5625]


def places(*shape, scale=1.0, dtype="float32"):
    """Places in and around an image, far outside of it as well, all of them binary fractions."""
    i = np.arange(int(np.prod(shape)))
    return (np.array(PLACES)[(5 * i + i // 16 + i // 7) % 16] * scale).astype(dtype).reshape(shape)


def grids(book):
    book.witness = "torch"
    plane, flat = uneven(2, 3, 4, 5), places(2, 2, 3, 7)
    cube, deep = uneven(2, 2, 3, 4, 5), places(2, 3, 2, 3, 5)
    for align in (False, True):
        word = "corners" if align else "edges"
        for method in ("bilinear", "nearest", "bicubic"):
            near = np.clip(flat, -1.75, 1.75) if method == "bicubic" else flat
            rows = [(call_of(method, mode, align), sampled(plane, near, method, mode, align)) for mode in MODES]
            several(book, f"op.image-grid-sample.{method}-{word}-dense", "LIB-061", rows, [plane, near])
        for method in ("bilinear", "nearest"):
            rows = [(call_of(method, mode, align, 3), sampled(cube, deep, method, mode, align)) for mode in MODES]
            several(book, f"op.image-grid-sample.{method}-{word}-cube", "LIB-061", rows, [cube, deep])
    for method in ("bilinear", "nearest"):
        rows = [
            (call_of(method, mode, align), sampled(plane, np.clip(flat, -1.5, 1.5), method, mode, align))
            for mode, align in (("zeros", False), ("reflection", True))
        ]
        inputs = [plane, np.clip(flat, -1.5, 1.5)]
        several(book, f"op.image-grid-sample.{method}-symbols", "LIB-061", rows, inputs, symbols=True)
    rows = [
        ("image.grid_sample(a, b)", sampled(plane, flat, "bilinear", "zeros", False)),
        ('image.grid_sample(a, b, method="nearest")', sampled(plane, flat, "nearest", "zeros", False)),
    ]
    several(book, "op.image-grid-sample.defaults", "LIB-061", rows, [plane, flat])
    thin, across = uneven(1, 2, 2, 1), places(1, 2, 2, 4)
    for method in ("bilinear", "nearest"):
        rows = [
            (call_of(method, mode, align), sampled(thin, across, method, mode, align))
            for mode, align in itertools.product(MODES, (False, True))
        ]
        several(book, f"op.image-grid-sample.{method}-thin", "LIB-061", rows[:-1], [thin, across])
        several(book, f"op.image-grid-sample.{method}-one-element-reflected", "LIB-061", rows[-1:], [thin, across])
    wide, far = uneven(1, 1, 3, 8, dtype="float64"), places(1, 2, 2, 4, dtype="float64", scale=2.0**25)
    rows = [
        (call_of(method, "reflection", False), sampled(wide, far, method, "reflection", False))
        for method in ("bilinear", "nearest")
    ]
    several(book, "op.image-grid-sample.reflected-far", "LIB-061", rows, [wide, far])
    far = places(1, 2, 3, 4, scale=8.0)
    rows = [
        (call_of("bicubic", mode, align), sampled(wide.astype("float32"), far, "bicubic", mode, align))
        for mode in ("zeros", "border")
        for align in (False, True)
    ]
    several(book, "op.image-grid-sample.bicubic-far", "LIB-061", rows, [wide.astype("float32"), far])


def reflected(book):
    """Places far outside are mirrored as often as it takes, for each of the elements around them."""
    book.witness = "torch"
    x, far = uneven(1, 1, 3, 8), places(1, 2, 3, 4, scale=8.0)
    rows = [
        (call_of("bicubic", "reflection", align), sampled(x, far, "bicubic", "reflection", align))
        for align in (False, True)
    ]
    several(book, "op.image-grid-sample.bicubic-reflected-far", "LIB-061", rows, [x, far])


def lost(book):
    """Places that are no places: NaN lies before the image, as -inf does."""
    book.witness = "hand"
    x = uneven(1, 2, 3, 4)
    grid = np.array([[[[NAN, INF, -INF, NAN, 0.25, INF]], [[NAN, INF, -INF, 0.0, NAN, -INF]]]], np.float32)
    corners = x[:, :, [0, 2, 0, 1, 0, 0], [0, 3, 0, 0, 2, 3]][:, :, None]
    nothing = np.zeros((1, 2, 1, 6), np.float32)
    rows = [(call_of(method, "zeros", False), nothing) for method in ("bilinear", "nearest", "bicubic")]
    rows.append((call_of("nearest", "border", False), corners))
    several(book, "op.image-grid-sample.lost", "LIB-061", rows, [x, grid])


def affine(book):
    book.witness = "numpy"
    flat, deep = uneven(2, 2, 3, scale=0.25), uneven(2, 3, 4, scale=0.25)
    rows = [
        (f"image.affine_grid(a, size=R.shape([{h}, {w}]), align_corners={align})", affine_grid(flat, (h, w), align))
        for (h, w), align in itertools.product(((3, 5), (2, 4)), (False, True))
    ]
    rows.append(("image.affine_grid(a, size=R.shape([4, 2]))", affine_grid(flat, (4, 2), True)))
    rows.append(("image.affine_grid(a, size=R.shape([1, 2]), align_corners=False)", affine_grid(flat, (1, 2), False)))
    several(book, "op.image-affine-grid.dense", "LIB-062", rows, [flat])
    rows = [
        (f"image.affine_grid(a, size=R.shape([2, 3, 4]), align_corners={align})", affine_grid(deep, (2, 3, 4), align))
        for align in (False, True)
    ]
    rows.append(
        ("image.affine_grid(a, size=R.shape([1, 1, 2]), align_corners=False)", affine_grid(deep, (1, 1, 2), False))
    )
    several(book, "op.image-affine-grid.deep", "LIB-062", rows, [deep])


# ------------------------------------------------------------------------------------------------------- vision

ROIS = np.array(
    [
        [1, 0, 0, 3, 2.5],
        [0, 1.5, 0.5, 4.5, 3],
        [1, -1.5, -2, 2, 6],
        [0, 2, 1, 2.25, 1.5],
        [1, 5.5, 3.5, 8, 9],
        [0, 3, 2, 1, 0],
    ],
    np.float32,
)


def rois(book):
    book.witness = "numpy"
    x, f32 = uneven(2, 3, 4, 5), np.float32
    turned = np.ascontiguousarray(x.transpose(0, 2, 3, 1))
    for mode, aligned in itertools.product(("avg", "max"), (False, True)):
        boxes, rows = ROIS[:5] if aligned else ROIS, []
        for parts, scale, ratio in (((1, 2), 1.0, -1), ((2, 3), 1.0, 2), ((2, 1), 0.5, 0), ((2, 2), 0.75, 1)):
            form = f'vision.roi_align(a, b, pooled_size={list(parts)}, spatial_scale={scale}, sample_ratio={ratio}, aligned={aligned}, mode="{mode}")'
            rows.append((form, roi_align(x, boxes, parts, scale, ratio, aligned, mode).astype(f32)))
        word = f"{mode}-{'aligned' if aligned else 'long'}"
        several(book, f"op.vision-roi-align.{word}-dense", "LIB-070", rows, [x, boxes])
        several(book, f"op.vision-roi-align.{word}-symbols", "LIB-070", rows[:2], [x, boxes], symbols=True)
    rows = [
        ("vision.roi_align(a, b, pooled_size=2, spatial_scale=1.0)", roi_align(x, ROIS, (2, 2), 1.0).astype(f32)),
        ("vision.roi_pool(a, b, pooled_size=2, spatial_scale=1.0)", roi_pool(x, ROIS, (2, 2), 1.0)),
    ]
    several(book, "op.vision-roi-align.defaults", "LIB-070 LIB-071", rows, [x, ROIS])
    form = 'vision.roi_align(a, b, pooled_size=[2, 3], spatial_scale=1.0, layout="NHWC")'
    several(
        book,
        "op.vision-roi-align.layout",
        "LIB-070",
        [(form, roi_align(x, ROIS, (2, 3), 1.0).transpose(0, 2, 3, 1).astype(f32))],
        [turned, ROIS],
    )
    rows = [
        (
            f"vision.roi_pool(a, b, pooled_size={list(parts)}, spatial_scale={scale})",
            roi_pool(x - 30, ROIS, parts, scale),
        )
        for parts, scale in (((1, 1), 1.0), ((2, 3), 1.0), ((3, 2), 0.5), ((1, 4), 1.5))
    ]
    several(book, "op.vision-roi-pool.dense", "LIB-071", rows, [x - 30, ROIS])
    several(book, "op.vision-roi-pool.symbols", "LIB-071", rows[:3], [x - 30, ROIS], symbols=True)
    edge_boxes(book, x)


def edge_boxes(book, x):
    """Samples exactly 1 before an image, and exactly an extent behind: both are at the edge still."""
    ends = np.array(
        [
            [0, -1.5, 0, -0.5, 1],
            [0, -2, 0, -1, 1],
            [0, 4.5, 0, 5.5, 1],
            [0, 5, 0, 6, 1],
            [0, 0, -1.5, 1, -0.5],
            [0, 0, -2, 1, -1],
            [0, 0, 3.5, 1, 4.5],
            [0, 0, 4, 1, 5],
        ],
        np.float32,
    )
    rows = [
        (
            f'vision.roi_align(a, b, pooled_size=[1, 1], spatial_scale=1.0, sample_ratio=1, mode="{mode}")',
            roi_align(x, ends, (1, 1), 1.0, 1, mode=mode).astype(np.float32),
        )
        for mode in ("avg", "max")
    ]
    several(book, "op.vision-roi-align.at-the-edges", "LIB-070", rows, [x, ends])
    none = np.zeros((0, 5), np.float32)
    rows = [
        (f"vision.roi_{word}(a, b, pooled_size=[1, 2], spatial_scale=1.0)", np.zeros((0, 3, 1, 2), np.float32))
        for word in ("align", "pool")
    ]
    several(book, "op.vision-roi-align.no-boxes", "LIB-070 LIB-071", rows, [x, none])


def multibox(book):
    book.witness = "numpy"
    scores, moved = uneven(2, 3, 4, scale=0.125), uneven(2, 16, scale=0.0625)
    anchor = np.array(
        [[[0.125, 0.25, 0.5, 1], [0, 0.5, 0.25, 0.625], [-0.5, 0, 1, 0.75], [0.5, 0.125, 0.625, 0.375]]], np.float32
    )
    variances = (0.5, 0.25, 0.75, 0.125)
    f32, rows = np.float32, []
    for clip, least, background, softmax in (
        (False, 0.5, False, False),
        (True, 0.125, True, False),
        (False, 0.25, True, True),
        (True, 0.3125, False, True),
    ):
        form = f"vision.multibox_transform_loc(a, b, c, clip={clip}, threshold={least}, variances={list(variances)}, keep_background={background}, apply_softmax={softmax})"
        rows.append(
            (
                form,
                [
                    boxes_of(moved, anchor, variances, clip).astype(f32),
                    scores_of(scores, least, background, softmax).astype(f32),
                ],
            )
        )
    rows.append(
        (
            "vision.multibox_transform_loc(a, b, c)",
            [boxes_of(moved, anchor, (1, 1, 1, 1), False).astype(f32), scores_of(scores, 0.0, True, True).astype(f32)],
        )
    )
    several(book, "op.vision-multibox-transform-loc.dense", "LIB-072", rows, [scores, moved, anchor])
    several(book, "op.vision-multibox-transform-loc.symbols", "LIB-072", rows, [scores, moved, anchor], symbols=True)


def counted(book):
    book.witness = "numpy"
    x = np.array(
        [
            [[0, 0.75, 3], [2, 0.5, -1], [-1, 0.875, 2], [1, 0.25, 0], [0, 1, -2]],
            [[3, 0, 1], [0, -1, 0], [1, 0.5625, 5], [-2, 0.5, 1], [4, 2, -3]],
        ],
        np.float32,
    )
    rows = [("vision.get_valid_counts(a)", valid_counts(x, 0, 0, 1))]
    for least, number, score in (
        (0.5, 0, 1),
        (0.5, -1, 1),
        (-1.0, 2, 1),
        (0.0, 1, 0),
        (1.5, 0, 2),
        (9.0, 0, 1),
        (-9.0, -1, 0),
    ):
        form = f"vision.get_valid_counts(a, score_threshold={least}, id_index={number}, score_index={score})"
        rows.append((form, valid_counts(x, least, number, score)))
    several(book, "op.vision-get-valid-counts.dense", "LIB-073", rows, [x])
    several(book, "op.vision-get-valid-counts.symbols", "LIB-073", rows, [x], symbols=True)
    whole = (x * 4).astype(np.int32)
    several(
        book,
        "op.vision-get-valid-counts.integers",
        "LIB-073",
        [("vision.get_valid_counts(a, score_threshold=2)", valid_counts(whole, 2, 0, 1))],
        [whole],
    )
    none = np.zeros((2, 0, 3), np.float32)
    several(
        book,
        "op.vision-get-valid-counts.none",
        "LIB-073",
        [("vision.get_valid_counts(a)", valid_counts(none, 0, 0, 1))],
        [none],
    )
    several(
        book,
        "op.vision-get-valid-counts.none-symbols",
        "LIB-073",
        [("vision.get_valid_counts(a)", valid_counts(none, 0, 0, 1))],
        [none],
        symbols=True,
    )
