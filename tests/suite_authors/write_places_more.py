"""Area `op`: what `write_places`, `write_moves` and `write_boxes` leave out: extents of 1, ends far outside, limits of 0."""

import sys

import numpy as np
from book import Book
from boxes import Wish
from hand import i64
from write_boxes import DATA, NUMBERS, one
from write_moves import around
from write_places import Forms, cut, irregular, several


def edges(book):
    row = [("dynamic_strided_slice(a, b, c, d)", lambda x, b, c, d: cut([0, 1], b.tolist(), c.tolist(), d.tolist())(x))]
    ends = [((4, 6), (-9, -20), (-1, -2)), ((8, 3), (-30, -9), (-3, -1)), ((-30, -9), (30, 20), (1, 3))]
    for number, places in enumerate(ends, 1):
        call = [irregular(5, 7), *(i64(*one_) for one_ in places)]
        several(book, Forms(f"dynamic-strided-slice.far-outside-{number}", "LIB-911", row), call)
    rows = [
        (f'nn.pad(a, pad_width={list(width)}, pad_mode="{mode}")', around(mode, width))
        for mode in ("replicate", "circular")
        for width in ((1, 0, 0, 0), (0, 2, 1, 1), (3, 1, 0, 2))
    ]
    several(book, Forms("nn-pad.around-one", "LIB-030", rows), [irregular(1, 2)])
    several(book, Forms("nn-pad.around-one-alone", "LIB-030", rows), [irregular(1, 1)])
    for kind, sigma in (("hard", 0.0), ("soft", 0.5)):
        calls = [(DATA, np.array([7, 5], np.int32), NUMBERS)]
        one(book, f"op.vision-non-max-suppression.{kind}-top-none", Wish(top=0, sigma=sigma), calls)


def points(book):
    """Boxes without an area cover nothing: their overlap is 0, which is at least a threshold of 0."""
    data = np.array([[[0, 0.75, 1, 1, 1, 1], [0, 0.5, 1, 1, 1, 1], [0, 0.25, 3, 1, 3, 1]]], np.float32)
    calls = [(data, np.array([3], np.int32), np.array([[5, 6, 7]], np.int32))]
    one(book, "op.vision-non-max-suppression.points-at-zero", Wish(threshold=0.0), calls)


if __name__ == "__main__":
    for part, stem in ((edges, "places-more"), (points, "places-points")):
        pages = Book("op", "numpy", strict=False)
        part(pages)
        sys.stdout.write("".join(f"{line}\n" for line in pages.disagreements))
        title = "Elements in other places: extents of 1, ends far outside, limits of 0."
        sys.stdout.write(f"{pages.write(stem, title)}\n")
