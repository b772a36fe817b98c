"""Two loops as one vector dim: when, in which of two ways, and the bits of either."""

import nest_kinds as kinds
import numpy as np
import pytest
from nest_kit import ISAS_TO_TEST, Making, buffer, cast, const, differing, form_of, op, pairs, var

WRITTEN = "written by runs of {} of {}"


def said(nest, isa="avx512"):
    return form_of(nest[0], isa).plan


@pytest.mark.parametrize(
    ("nest", "words"),
    [
        # 56 of 64 lanes in rows; 3246 elements with what is between rows take 203 vectors of 65 rows, packed 196 of 70
        (kinds.conv2d(64, 64, 56, 56, 3), ("tiles of 6 of f x 4 vectors of 16 of y_x", WRITTEN.format(56, 58))),
        # 838 elements take 53 vectors of 129 rows, packed 49 of 134
        (kinds.conv2d(128, 128, 28, 28, 3), ("4 vectors of 16 of y_x", "`P` packed 576 x 64, row after row")),
        # what is two elements apart is packed anyway
        (kinds.conv2d(16, 4, 7, 7, 3, stride=2), ("`P` packed 36 x 64, row after row",)),
    ],
)
def test_the_way_that_takes_the_least_time(nest, words):
    assert [word for word in words if word not in ", ".join(said(nest))] == []


@pytest.mark.parametrize(
    "nest",
    [
        kinds.conv2d(64, 8, 4, 32, 3),  # as many vectors in rows
        kinds.conv2d(
            6, 8, 4, 30, 3
        ),  # in rows 8 vectors of 6 rows; 126 elements are 8 vectors, and are written by runs
        kinds.conv2d(64, 4, 7, 7, 3, "float16"),  # small floats are held as other numbers than memory has
    ],
)
def test_where_neither_takes_less_time_loops_stay_as_they_are(nest):
    assert "of y_x" not in "".join(said(nest))


def test_without_vectors_loops_stay_as_they_are():
    assert "of y_x" not in "".join(said(kinds.conv2d(64, 4, 7, 7, 3), "none"))


def test_without_rows_that_share_what_is_read_loops_stay_as_they_are():
    assert "of y_x" not in "".join(said(kinds.depthwise(64, 7, 7, 3)))


def test_the_points_of_a_reduction_are_one_loop_where_what_is_not_packed_continues():
    packed = "\n".join(form_of(kinds.conv2d(128, 4, 28, 28, 3)[0], "avx512").lines)
    assert "for (int64_t c_ry_rx = 0; c_ry_rx < 36; ++c_ry_rx)" in packed
    chunks = "\n".join(form_of(kinds.conv2d(64, 256, 7, 7, 3, stride=2)[0], "avx512").lines)
    assert "for (int64_t c_ry_rx = 9 * c_from; c_ry_rx < 9 * c_to; ++c_ry_rx)" in chunks
    assert "P_panel + 64 * (c_ry_rx - 9 * c_from)" in chunks
    in_place = "\n".join(form_of(kinds.conv2d(64, 64, 56, 56, 3)[0], "avx512").lines)
    assert "c_ry_rx" not in in_place


def valued(axis):
    """A convolution to which the number of the axis is added."""
    made = Making()
    f, y, x, r = (var(name) for name in ("f", "y", "x", "r"))
    p, w, out = buffer("P"), buffer("W"), buffer("Y")
    at, number = {f: 49, y: 7, x: 1}, cast("float32", {"y": y, "x": x, "r": r}[axis])
    made.start(out, at, const("float32", 0))
    product = op("mul", made.load(p, {y: 18, x: 2, r: 1}), op("add", made.load(w, {f: 3, r: 1}), number))
    made.store(out, at, op("add", made.load(out, at), product))
    sizes = {"P": ("float32", 18 * 7), "W": ("float32", 48 * 3), "Y": ("float32", 48 * 49)}
    return made.nest([(f, 48), (y, 7), (x, 7)], [(r, 3)]), sizes


def test_a_loop_that_a_value_names_stays_as_it_is():
    assert all("of y_x" not in "".join(said(valued(axis))) for axis in "yx")
    assert "of y_x" in "".join(said(valued("r")))


def sliced(kind="float32"):
    """Y[f, y, x] += P[r, y, x] * W[f, r] of rows of 7 in 9: what is read does not slide, so that it is packed."""
    made = Making()
    f, y, x, r = (var(name) for name in ("f", "y", "x", "r"))
    p, w, out = buffer("P", kind), buffer("W", kind), buffer("Y", kind)
    at = {f: 35, y: 7, x: 1}
    made.start(out, at, const(kind, 0))
    product = op("mul", made.load(p, {r: 45, y: 9, x: 1}), made.load(w, {f: 20, r: 1}))
    made.store(out, at, op("add", made.load(out, at), product))
    return made.nest([(f, 40), (y, 5), (x, 7)], [(r, 20)]), {"P": (kind, 900), "W": (kind, 800), "Y": (kind, 1400)}


def with_bias():
    """A convolution of rows, a number of each column added: that number does not continue from row to row."""
    made = Making()
    f, y, x, r = (var(name) for name in ("f", "y", "x", "r"))
    p, w, b, out = (buffer(name) for name in ("P", "W", "B", "Y"))
    at = {f: 49, y: 7, x: 1}
    made.start(out, at, made.load(b, {x: 1}))
    product = op("mul", made.load(p, {y: 9, x: 1, r: 1}), made.load(w, {f: 3, r: 1}))
    made.store(out, at, op("add", made.load(out, at), product))
    sizes = {"P": ("float32", 63), "W": ("float32", 144), "B": ("float32", 7), "Y": ("float32", 48 * 49)}
    return made.nest([(f, 48), (y, 7), (x, 7)], [(r, 3)]), sizes


def added_to():
    """A convolution without an init: what is there is read."""
    made = Making()
    f, y, x, r = (var(name) for name in ("f", "y", "x", "r"))
    p, w, out = buffer("P"), buffer("W"), buffer("Y")
    at = {f: 49, y: 7, x: 1}
    product = op("mul", made.load(p, {y: 9, x: 1, r: 1}), made.load(w, {f: 3, r: 1}))
    made.store(out, at, op("add", made.load(out, at), product))
    sizes = {"P": ("float32", 63), "W": ("float32", 144), "Y": ("float32", 48 * 49)}
    return made.nest([(f, 48), (y, 7), (x, 7)], [(r, 3)]), sizes


def test_what_is_read_by_column_or_not_begun_is_not_folded_between_rows():
    assert "row after row" in "".join(said(sliced()))
    assert "of y_x" not in "".join(said(with_bias()))
    assert "written by runs" not in "".join(said(added_to()))


SHAPES = [
    kinds.conv2d(f, c, y, x, 3, kind, stride)
    for kind in ("float32", "float64", "int32")
    for f, c, y, x, stride in (
        (24, 3, 9, 7, 1),  # between rows
        (41, 2, 5, 17, 1),
        (13, 2, 11, 20, 1),
        (96, 2, 6, 14, 1),  # packed
        (17, 3, 7, 7, 2),
        (26, 2, 13, 9, 2),
        (24, 2, 3, 19, 3),
        (30, 260, 4, 5, 2),  # in chunks
    )
]
OTHERS = [sliced(), sliced("int32"), with_bias(), added_to(), *(valued(axis) for axis in "yxr")]


@pytest.mark.needs("compiler")
@pytest.mark.parametrize("isa", ISAS_TO_TEST)
def test_the_bits_are_those_of_the_loops_in_order(isa):
    rng = np.random.default_rng(3)
    cases = [*SHAPES, *OTHERS]
    made = pairs([nest for nest, _ in cases], isa)
    wrong = [
        (one.form.plan, names)
        for one, (_, sizes) in zip(made, cases, strict=True)
        if (names := differing(one, sizes, rng))
    ]
    assert wrong == []
