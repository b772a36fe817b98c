"""Images in another size: each coordinate mode with each method, corners, splines, layouts, by `image_witness`."""

import itertools

import numpy as np
from image_witness import resize
from op_images import several, uneven


def resized(size, method, mode, rounding="", more="", name="image.resize2d", layout=""):
    words = f', rounding_method="{rounding}"' if rounding else ""
    words += f', layout="{layout}"' if layout else ""
    return f'{name}(a, R.shape({list(size)}), method="{method}", coordinate_transformation_mode="{mode}"{words}{more})'


COORDINATES = (
    "half_pixel",
    "align_corners",
    "asymmetric",
    "pytorch_half_pixel",
    "tf_half_pixel_for_nn",
    "tf_crop_and_resize",
)


def resizing(book):
    book.witness = "numpy"
    x = uneven(2, 2, 4, 5)
    for mode in COORDINATES:
        for method in ("linear", "cubic"):
            sizes = [(3, 9), (8, 2)] + ([(1, 1)] if mode not in ("align_corners", "tf_crop_and_resize") else [])
            roi, more = (None, "")
            if mode == "tf_crop_and_resize":
                roi, more = [0.25, -0.125, 1.0, 1.25], ", roi=[0.25, -0.125, 1.0, 1.25], extrapolation_value=-7.5"
            rows = [
                (
                    resized(size, method, mode, "round", more),
                    resize(x, size, method, mode, "round", roi=roi, outside=-7.5).astype(np.float32),
                )
                for size in sizes
            ]
            several(book, f"op.image-resize2d.{method}-{mode.replace('_', '-')}-dense", "LIB-060", rows, [x])
    for rounding in ("round", "round_prefer_floor", "round_prefer_ceil", "floor", "ceil"):
        rows = []
        for mode, size in itertools.product(COORDINATES[:5], ((8, 3), (7, 10))):
            rows.append(
                (
                    resized(size, "nearest_neighbor", mode, rounding),
                    resize(x, size, "nearest_neighbor", mode, rounding).astype(np.float32),
                )
            )
        several(book, f"op.image-resize2d.nearest-{rounding.replace('_', '-')}-dense", "LIB-060", rows, [x])


def resizing_more(book):
    """Defaults, layouts, corners, splines, dtypes."""
    book.witness = "numpy"
    x = uneven(2, 3, 3, 4)
    f32 = np.float32
    rows = [
        ("image.resize2d(a, R.shape([5, 6]))", resize(x, (5, 6)).astype(f32)),
        ("image.resize2d(a, (4,))", resize(x, (4, 4)).astype(f32)),
        (
            'image.resize2d(a, R.shape([5, 7]), method="nearest_neighbor")',
            resize(x, (5, 7), "nearest_neighbor", rounding="round").astype(f32),
        ),
        (
            'image.resize2d(a, R.shape([5, 7]), method="nearest_neighbor", rounding_method="")',
            resize(x, (5, 7), "nearest_neighbor").astype(f32),
        ),
        (
            'image.resize2d(a, R.shape([5, 7]), method="nearest_neighbor", rounding_method="", coordinate_transformation_mode="align_corners")',
            resize(x, (5, 7), "nearest_neighbor", "align_corners").astype(f32),
        ),
        ('image.resize2d(a, R.shape([5, 3]), method="cubic")', resize(x, (5, 3), "cubic").astype(f32)),
        (
            'image.resize2d(a, R.shape([5, 3]), method="cubic", cubic_alpha=-0.5)',
            resize(x, (5, 3), "cubic", alpha=-0.5).astype(f32),
        ),
        (
            'image.resize2d(a, R.shape([7, 9]), method="cubic", cubic_alpha=-0.5, cubic_exclude=1)',
            resize(x, (7, 9), "cubic", alpha=-0.5, exclude=1).astype(f32),
        ),
        (
            'image.resize2d(a, R.shape([2, 3]), method="cubic", cubic_exclude=1)',
            resize(x, (2, 3), "cubic", exclude=1).astype(f32),
        ),
    ]
    several(book, "op.image-resize2d.defaults-and-splines", "LIB-060", rows, [x])
    for method in ("nearest_neighbor", "linear", "cubic"):
        rows = [
            (
                resized((5, 6), method, "half_pixel", "floor", layout="NHWC"),
                resize(x.transpose(0, 3, 1, 2), (5, 6), method, rounding="floor").transpose(0, 2, 3, 1).astype(f32),
            )
        ]
        several(book, f"op.image-resize2d.{method.replace('_', '-')}-layout", "LIB-060", rows, [x])
    crops = [
        ([0.0, 0.25, 1.0, 0.75], (3, 4), 0.0),
        ([0.5, -0.5, 1.5, 0.5], (5, 3), 9.0),
        ([0.0, 1.0, 1.0, 0.0], (2, 4), 3.0),
        ([1.0, 0.0, 1.25, 1.0], (2, 4), 4.0),
    ]
    for method in ("nearest_neighbor", "linear", "cubic"):
        rows = []
        for roi, size, value in crops:
            more = f", roi={roi}" + (f", extrapolation_value={value}" if value else "")
            rows.append(
                (
                    resized(size, method, "tf_crop_and_resize", "round", more),
                    resize(x, size, method, "tf_crop_and_resize", "round", roi=roi, outside=value).astype(f32),
                )
            )
        rows.append(
            (
                resized((2, 2), method, "tf_crop_and_resize", "floor"),
                resize(x, (2, 2), method, "tf_crop_and_resize", "floor").astype(f32),
            )
        )
        rows.append(
            (
                resized((2, 2), method, "tf_crop_and_resize", "floor", ", roi=0.5"),
                resize(x, (2, 2), method, "tf_crop_and_resize", "floor", roi=[0.5] * 4).astype(f32),
            )
        )
        several(book, f"op.image-resize2d.{method.replace('_', '-')}-crops", "LIB-060", rows, [x])
        roi, more = [0.25, 0.5, 0.75, 1.125], ", roi=[0.25, 0.5, 0.75, 1.125], extrapolation_value=2.0"
        rows = [
            (
                resized((1, 1), method, "tf_crop_and_resize", "round", more),
                resize(x, (1, 1), method, "tf_crop_and_resize", "round", roi=roi, outside=2.0).astype(f32),
            )
        ]
        several(book, f"op.image-resize2d.{method.replace('_', '-')}-one-element-crops", "LIB-060", rows, [x])
    symbols(book, x)
    cubes(book)
    kinds(book)


def symbols(book, x):
    rows = []
    for mode, method in itertools.product(("half_pixel", "asymmetric"), ("nearest_neighbor", "linear", "cubic")):
        form = resized((5, 2), method, mode, "round_prefer_floor")
        rows.append((form, resize(x, (5, 2), method, mode, "round_prefer_floor").astype(np.float32)))
    several(book, "op.image-resize2d.symbols", "LIB-060", rows, [x], symbols=True)


def cubes(book):
    cube = uneven(1, 2, 2, 3, 4)
    f32, name = np.float32, "image.resize3d"
    rows = [
        ("image.resize3d(a, R.shape([3, 2, 5]))", resize(cube, (3, 2, 5)).astype(f32)),
        ("image.resize3d(a, (2,))", resize(cube, (2, 2, 2)).astype(f32)),
        (
            'image.resize3d(a, R.shape([3, 5, 2]), method="nearest_neighbor")',
            resize(cube, (3, 5, 2), "nearest_neighbor").astype(f32),
        ),
        (
            resized((4, 2, 3), "nearest_neighbor", "align_corners", name=name),
            resize(cube, (4, 2, 3), "nearest_neighbor", "align_corners").astype(f32),
        ),
        (
            resized((3, 2, 5), "linear", "align_corners", name=name),
            resize(cube, (3, 2, 5), "linear", "align_corners").astype(f32),
        ),
        (
            resized((3, 2, 2), "cubic", "asymmetric", name=name),
            resize(cube, (3, 2, 2), "cubic", "asymmetric").astype(f32),
        ),
    ]
    several(book, "op.image-resize3d.dense", "LIB-060", rows, [cube])
    turned = np.ascontiguousarray(cube.transpose(0, 2, 3, 4, 1))
    found = resize(cube, (3, 2, 5)).transpose(0, 2, 3, 4, 1).astype(f32)
    several(
        book,
        "op.image-resize3d.layout",
        "LIB-060",
        [('image.resize3d(a, R.shape([3, 2, 5]), layout="NDHWC")', found)],
        [turned],
    )
    roi = [0.0, 0.5, 0.25, 1.0, 1.0, 1.5]
    rows = [
        (
            resized((2, 3, 4), method, "tf_crop_and_resize", "round", f", roi={roi}, extrapolation_value=5.0", name),
            resize(cube, (2, 3, 4), method, "tf_crop_and_resize", "round", roi=roi, outside=5.0).astype(f32),
        )
        for method in ("nearest_neighbor", "linear")
    ]
    several(book, "op.image-resize3d.crops", "LIB-060", rows, [cube])


def kinds(book):
    """Nearest elements stay as they are, others are float32 first."""
    whole = np.array([[[[2**31 - 1, -7, 16777217], [3, 0, -(2**31)]]]], np.int32)
    at = resize(whole.astype(np.float64), (3, 4), "nearest_neighbor").astype(np.int32)
    rows = [('image.resize2d(a, R.shape([3, 4]), method="nearest_neighbor", rounding_method="")', at)]
    several(book, "op.image-resize2d.nearest-of-integers", "LIB-060", rows, [whole])
    small = np.array([[[[10, 20, 90], [-30, 40, -128]]]], np.int8)
    rows = [("image.resize2d(a, R.shape([4, 3]))", np.trunc(resize(small, (4, 3))).astype(np.int8))]
    several(book, "op.image-resize2d.linear-of-integers", "LIB-060", rows, [small])
    rows = [
        (f'image.resize2d(a, R.shape([4, 3]), out_dtype="{dtype}")', resize(small, (4, 3)).astype(dtype))
        for dtype in ("float32", "float64")
    ]
    several(book, "op.image-resize2d.out-dtype", "LIB-060", rows, [small])
