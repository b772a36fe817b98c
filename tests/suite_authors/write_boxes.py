"""Area `op`: boxes of images that cover each other, by NumPy (`boxes.py`); area `reject`: what are no boxes.

Coordinates are eighths, so that overlaps lie on their thresholds; corners stand in any order, and boxes may be empty.
"""

import sys

import numpy as np
from book import Book, Judged, given
from boxes import Wish, by_class, suppressed
from op_usual import HEAD, op, type_of

# class, score, left, top, right, bottom
PLAIN = [
    [0, 0.50, 0, 0, 2, 4],
    [0, 0.90, 0, 0, 4, 4],
    [1, 0.80, 4, 4, 0.5, 0],
    [0, 0.70, 5, 0, 9, 4],
    [2, 0.65, 6, 1, 9, 6],
    [1, 0.50, 5, 1, 9, 4],
    [0, 0.00, 20, 20, 21, 21],
]
OTHER = [
    [1, 0.30, 1, 1, 1, 1],
    [1, 0.35, 1, 1, 1, 1],
    [1, 0.95, 0, 2, 3, 5],
    [2, -0.25, 8, 8, 9, 9],
    [1, 0.85, 1, 2, 4, 5],
    [2, 0.60, 0, 3, 3, 6],
    [1, 0.75, 2, 2, 5, 5.5],
]
DATA = np.array([PLAIN, OTHER], np.float32)
NUMBERS = np.array([[10, 7, 33, 5, 0, 21, 4], [1, 0, 2, 9, 3, 8, 6]], np.int32)
COUNTS = (np.array([7, 7], np.int32), np.array([5, 3], np.int32), np.array([0, 6], np.int32))
WISHES = {
    "usual": Wish(),
    "half": Wish(threshold=0.5, force=True),
    "less": Wish(threshold=0.25, label=-1),
    "two": Wish(most=2, threshold=0.75),
    "none-at-most": Wish(most=0, threshold=0.9),
    "top-three": Wish(top=3, force=True, threshold=0.125),
    "top-more": Wish(top=9, most=1),
    "rows": Wish(indices=False, force=True, threshold=0.375),
    "rows-up": Wish(indices=False, bottom=True, force=True, threshold=0.375),
    "numbers-up": Wish(bottom=True, threshold=0.375),
}
SOFT = {
    "usual": Wish(sigma=0.5, threshold=0.75),
    "force": Wish(sigma=0.25, force=True, threshold=1.0, least=0.125),
    "two": Wish(sigma=0.5, most=2, threshold=0.6),
    "top": Wish(sigma=0.75, top=4, label=-1, threshold=0.9, least=0.3),
    "rows": Wish(sigma=0.5, indices=False, threshold=0.75, least=0.2),
    "rows-up": Wish(sigma=2.0, indices=False, bottom=True, force=True, threshold=0.8, least=0.65),
    "gone": Wish(sigma=0.5, threshold=0.5, least=0.6),
}


def eighths(seed, images, boxes, dtype="float32"):
    """Boxes at random: class, score, four coordinates; scores of an image are all different."""
    draw = np.random.default_rng(seed)
    rows = np.empty((images, boxes, 6), np.float64)
    rows[:, :, 0] = draw.integers(0, 3, (images, boxes))
    rows[:, :, 1] = np.stack([draw.permutation(boxes) for _ in range(images)]) / (boxes + 1) + 1 / 16
    rows[:, :, 2:] = draw.integers(0, 24, (images, boxes, 4)) / 8
    return rows.astype(dtype)


def arranged(data, wish):
    """The numbers of each row where `wish` has them, and one more."""
    wide = np.full((*data.shape[:2], 7), 0.75, data.dtype)
    wide[:, :, wish.label], wide[:, :, wish.score] = data[:, :, 0], data[:, :, 1]
    wide[:, :, wish.start : wish.start + 4] = data[:, :, 2:]
    return wide


def one(book, name, wish, calls):
    data, count, numbers = calls[0]
    params = f"a: {type_of(data)}, b: {type_of(count)}, c: {type_of(numbers)}"
    form = f"R.vision.non_max_suppression(a, b, c{wish.attributes()})"
    text = f"{HEAD}@R.function\ndef main({params}):\n    y = {form}\n    return y\n"
    asked = [Judged([given(x) for x in call], suppressed(*call, wish)) for call in calls]
    book.judged(name, ["LIB-074"], text, asked)


def chosen(book):
    """`vision.non_max_suppression` of these boxes and of others, in each order of the numbers of a row."""
    for kind, wishes in (("hard", WISHES), ("soft", SOFT)):
        for name, wish in wishes.items():
            one(book, f"op.vision-non-max-suppression.{kind}-{name}", wish, [(DATA, n, NUMBERS) for n in COUNTS])
    places = {
        "hard-first": Wish(threshold=0.3, start=0, score=4, label=6),
        "hard-last": Wish(threshold=0.3, start=3, score=0, label=2, indices=False, bottom=True),
        "soft-first": Wish(sigma=0.4, threshold=0.7, start=0, score=6, label=4),
        "soft-last": Wish(sigma=0.4, threshold=0.7, start=3, score=2, label=1, least=0.1),
    }
    for seed, (name, wish) in enumerate(places.items()):
        data, numbers = arranged(eighths(seed, 3, 6), wish), np.tile(np.arange(6, dtype=np.int32)[::-1], (3, 1))
        one(book, f"op.vision-non-max-suppression.{name}", wish, [(data, np.array([6, 4, 1], np.int32), numbers)])
    numbers = np.array([[4, 3, 2, 1, 0], [0, 2, 4, 6, 8]], np.int32)
    for dtype in ("float64", "float16"):
        for kind, wish in (("hard", Wish(threshold=0.2, force=True)), ("soft", Wish(sigma=0.5, force=True))):
            call = (eighths(7, 2, 5, dtype), np.array([5, 4], np.int32), numbers)
            one(book, f"op.vision-non-max-suppression.{kind}-{dtype}", wish, [call])


def classes(book):
    """`vision.all_class_non_max_suppression` of two images, three classes and five boxes."""
    boxes = np.array(
        [
            [[0, 0, 4, 4], [4, 4, 0.5, 0], [0, 0, 2, 4], [5, 0, 9, 4], [6, 1, 9, 6]],
            [[1, 1, 1, 1], [1, 1, 1, 1], [0, 2, 3, 5], [1, 2, 4, 5], [0, 3, 3, 6]],
        ],
        np.float32,
    )
    scores = np.array(
        [
            [[0.5, 0.75, 0.75, 0.25, 0.5], [-0.5, -0.25, -1.5, 0.5, 0.75], [0.125, 0.0, 0.375, 0.625, 0.875]],
            [[0.25, 0.25, 0.125, 0.875, 0.5], [0.5, 0.25, 0.75, 1.0, 0.875], [-1.0, -2.0, 0.0, -0.5, -0.75]],
        ],
        np.float32,
    )
    limits = {
        "all": (5, 0.5, -9.0),
        "above": (5, 0.25, 0.25),
        "two": (2, 0.875, -9.0),
        "one": (1, 0.125, 0.5),
        "no-room": (0, 0.5, -9.0),
        "no-overlap": (5, 0.0, -9.0),
        "below": (5, -0.5, -9.0),
        "few": (3, 0.4, 0.1),
    }
    for form in ("onnx", "tensorflow"):
        said = "" if form == "onnx" else f', output_format="{form}"'
        for name, (most, threshold, least) in limits.items():
            found = by_class(boxes, scores, most, threshold, least, form)
            for kind in ((), (1,))[: 1 + (name == "two" and form != "onnx")]:
                given_ = [np.full(kind, v, d) for v, d in ((most, "int64"), (threshold, "float32"), (least, "float32"))]
                inputs = (boxes, scores, *given_)
                call = f"vision.all_class_non_max_suppression(a, b, c, d, e{said})"
                stem = f"op.vision-all-class-non-max-suppression.{name}-of-two-{form}{'-vector' if kind else ''}"
                op(book, stem, "LIB-075", call, inputs, found)


if __name__ == "__main__":
    pages = Book("op", "numpy", strict=False)
    for part, stem in ((chosen, "boxes"), (classes, "boxes-of-classes")):
        part(pages)
        sys.stdout.write("".join(f"{line}\n" for line in pages.disagreements))
        pages.disagreements.clear()
        sys.stdout.write(f"{pages.write(stem, 'Boxes that better ones cover.')}\n")
