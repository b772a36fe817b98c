"""Area `op`: elements in other places, by NumPy: slices, axes, parts, what is added around, layouts.

A case is a function of several calls of one operator, its result the tuple of what they give; tensors have different
extents along all axes, and different elements. Extents that are symbols are asked several times.
"""

import sys
from dataclasses import dataclass

import numpy as np
from book import Book, Judged, given
from hand import i32, i64
from op_usual import HEAD, type_of


@dataclass(frozen=True)
class Forms:
    """`rows`: texts after `R.`, each with a function of the arrays that gives what NumPy has for it."""

    name: str
    clause: str
    rows: list
    types: str = ""
    before: str = ""


def several(book, forms, *inputs):
    """A case: the forms as one function, called with each of the lists of arrays."""
    params = forms.types or ", ".join(f"{n}: {type_of(x)}" for n, x in zip("abcdefgh", inputs[0], strict=False))
    lines = [*forms.before.splitlines(), *(f"y{n} = R.{form}" for n, (form, _) in enumerate(forms.rows))]
    names = ", ".join(f"y{n}" for n in range(len(forms.rows)))
    body = "".join(f"    {line}\n" for line in lines)
    single = len(forms.rows) == 1
    text = f"{HEAD}@R.function\ndef main({params}):\n{body}    return {'y0' if single else f'({names})'}\n"
    calls = []
    for arrays in inputs:
        found = [plain(of(*arrays)) for _, of in forms.rows]
        calls.append(Judged([given(x) for x in arrays], found[0] if single else found))
    book.judged(f"op.{forms.name}", forms.clause.split(), text, calls)


def plain(value):
    """Arrays as the files have them; a list is a tuple."""
    return [plain(one) for one in value] if isinstance(value, (list, tuple)) else np.array(value, order="C")


def irregular(*shape, dtype="int32"):
    """Elements without an order."""
    count = int(np.prod(shape))
    return ((np.arange(count) * 37 + 11) % 101 - 50).reshape(shape).astype(dtype)


# ------------------------------------------------------------------------------------------------ slices


def cut(axes, begin, end, strides):
    """What `strided_slice` takes, as NumPy has it."""

    def of(x, *_):
        for axis, first, last, step in zip(axes, begin, end, strides, strict=True):
            x = np.take(x, range(*slice(first, last, step).indices(x.shape[axis])), axis)
        return x

    return of


def slice_of(begin, end, step, axis=0):
    return f"strided_slice(a, [{axis}], [{begin}], [{end}], [{step}])", cut([axis], [begin], [end], [step])


NEAR, MORE = (-8, -7, -1, 0, 3, 6, 7, 8), ((-9, 9), (-7, 6), (0, 7), (1, 6), (2, 2**63 - 1), (-6, -1))


def slices(book):
    """Begins and ends on each side of the ends of the axis; apart what is empty because the end is before the begin."""
    x = irregular(7)
    pairs = [(begin, end, step) for step in (1, -1) for begin in NEAR for end in NEAR]
    for step in (2, 3, 7):
        pairs += [(*pair, step) for pair in MORE] + [(*pair[::-1], -step) for pair in MORE]
    full, none = [], []
    for begin, end, step in pairs:
        first, last, _ = slice(begin, end, step).indices(7)
        (full if (last - first) * step >= 0 else none).append(slice_of(begin, end, step))
    for name, rows in (("ends", full), ("nothing", none)):
        for number, first in enumerate(range(0, len(rows), 16), 1):
            several(book, Forms(f"strided-slice.{name}-{number}", "LIB-910", rows[first : first + 16]), [x])
    for n in (0, 1):
        rows = [slice_of(*one) for one in ((0, 9, 1), (-1, 9, 1), (5, 9, 2), (-1, -9, -1), (0, -9, -1), (5, -2, -1))]
        several(book, Forms(f"strided-slice.of-{n}", "LIB-910", rows), [irregular(n)])
    y = irregular(3, 5, 4)
    rows = [
        ("strided_slice(a, (2, -3), (3, 0), (0, 2), (-2, 1))", cut([2, 0], [3, 0], [0, 2], [-2, 1])),
        ("strided_slice(a, axes=[1], begin=[-4], end=[-1])", cut([1], [-4], [-1], [1])),
        ("strided_slice(a, (), (), ())", cut([], [], [], [])),
        ("strided_slice(a, [1, 2], [1, 1], [4, 3], [2, 1], assume_inbound=True)", cut([1, 2], [1, 1], [4, 3], [2, 1])),
        ("strided_slice(a, [1], [4], [0], [-2], assume_inbound=True)", cut([1], [4], [0], [-2])),
        ("strided_slice(a, [0], [2], [1], [-1], assume_inbound=True)", cut([0], [2], [1], [-1])),
    ]
    several(book, Forms("strided-slice.of-three-axes", "LIB-910", rows), [y])


def symbolic_slices(book):
    """Extents, begins and ends that are known when it runs; where the number of places is known, it may be split."""
    ends = [
        (0, 2**63 - 1, 1),
        (-3, -1, 1),
        (1, 4, 2),
        (-2, 9, 3),
        (3, -9, -1),
        (-1, -4, -1),
        (2**63 - 1, 1, -2),
        (0, -7, -1),
    ]
    rows = [slice_of(*one) for one in ends]
    types = 'a: R.Tensor(("n",), "int32")'
    forward = Forms("strided-slice.symbolic-ends", "LIB-910", rows[:-2], types)
    several(book, forward, [irregular(5)], [irregular(8)])
    largest = Forms("strided-slice.symbolic-from-largest", "LIB-910", rows[-2:-1], types)
    several(book, largest, [irregular(5)], [irregular(8)])
    for n in (0, 1, 2, 3):
        several(book, Forms(f"strided-slice.symbolic-ends-of-{n}", "LIB-910", rows, types), [irregular(n)])
    told = [
        ("2", "n - 1", 1, lambda n: (2, n - 1)),
        ("0", "n", 1, lambda n: (0, n)),
        ("0", "n", 3, lambda n: (0, n)),
        ("n - 2", "n", 1, lambda n: (n - 2, n)),
        ("n - 1", "0", -1, lambda n: (n - 1, 0)),
        ("n", "1", -2, lambda n: (n, 1)),
        ("n + 3", "-9", -1, lambda n: (n + 3, -9)),
        ("3 - n", "n + 1", 2, lambda n: (3 - n, n + 1)),
        ("1 - n", "2 - n", 1, lambda n: (1 - n, 2 - n)),
        ("n - 9", "-1", 1, lambda n: (n - 9, -1)),
    ]
    rows = [
        (
            f"strided_slice(a, [0], [{b}], [{e}], [{s}])",
            lambda x, s=s, of=of: cut([0], of(len(x))[:1], of(len(x))[1:], [s])(x),
        )
        for b, e, s, of in told
    ]
    said = "n = T.int64()"
    several(
        book, Forms("strided-slice.symbolic-places", "LIB-910", rows, types, said), *([irregular(n)] for n in (3, 5, 8))
    )
    for n in (0, 1, 2):
        several(book, Forms(f"strided-slice.symbolic-places-of-{n}", "LIB-910", rows, types, said), [irregular(n)])
    longer = [[irregular(n, 4)] for n in (4, 5, 9)]
    types = 'a: R.Tensor(("n", 4), "int32")'
    rows = [
        ("strided_slice(a, [0], [n - 4], [n], [1], assume_inbound=True)", lambda x: x[-4:]),
        ("strided_slice(a, [0], [0], [n - 1], [2], assume_inbound=True)", lambda x: x[: len(x) - 1 : 2]),
    ]
    several(book, Forms("strided-slice.symbolic-inbound", "LIB-910", rows, types, said), *longer)
    rows = [
        ("strided_slice(a, [0], [n - 1], [1], [-2], assume_inbound=True)", lambda x: x[len(x) - 1 : 1 : -2]),
        ("strided_slice(a, [0], [n - 1], [n - 4], [-1], assume_inbound=True)", lambda x: x[: len(x) - 4 : -1]),
    ]
    several(book, Forms("strided-slice.symbolic-inbound-down", "LIB-910", rows, types, said), *longer)
    known = "n = T.int64()\ns = R.strided_slice(a, [0], [n - 4], [n], [1], assume_inbound=True)"
    rows = [("split(s, 2, axis=0)", lambda x: [x[-4:-2], x[-2:]])]
    several(book, Forms("strided-slice.symbolic-known", "LIB-910 LIB-906", rows, types, known), *longer)
    known = "n = T.int64()\ns = R.strided_slice(a, [0], [n - 1], [n - 4], [-1], assume_inbound=True)"
    rows = [("split(s, 2, axis=0)", lambda x: [x[-1:-3:-1], x[-3:-4:-1]])]
    several(book, Forms("strided-slice.symbolic-known-down", "LIB-910 LIB-906", rows, types, known), *longer)


def dynamic_slices(book):
    """Begins, ends and strides as tensors; apart what is empty because the end is before the begin."""
    full = [
        ((0, 0), (5, 7), (1, 1)),
        ((-5, -7), (4, 6), (2, 3)),
        ((-6, -8), (6, 8), (3, 2)),
        ((4, 6), (-6, -8), (-1, -1)),
        ((5, 7), (-7, 0), (-2, -3)),
        ((-1, -2), (-5, -6), (-3, -2)),
        ((2, 3), (2, 3), (1, -1)),
        ((9, 1), (0, 2), (-4, 5)),
        ((1, 9), (4, 9), (2, 1)),
    ]
    none = [
        ((3, 0), (2, 7), (1, 2)),
        ((0, 2), (4, 5), (-1, -1)),
        ((4, -1), (0, -3), (1, 2)),
        ((-9, 5), (9, 2), (-2, 3)),
    ]
    vector = 'b: R.Tensor((2,), "int64"), c: R.Tensor((2,), "int64"), d: R.Tensor((2,), "int64")'
    row = ("dynamic_strided_slice(a, b, c, d)", lambda x, b, c, d: cut([0, 1], b.tolist(), c.tolist(), d.tolist())(x))
    for kind, places in (("places", full), *((f"nothing-{number}", [one]) for number, one in enumerate(none, 1))):
        for how, types in (("", 'a: R.Tensor((5, 7), "int32")'), ("-symbolic", 'a: R.Tensor(("m", "n"), "int32")')):
            calls = [[irregular(5, 7), *(i64(*one) for one in place)] for place in places]
            if how and kind == "places":
                calls += [[irregular(2, 3), *(i64(*one) for one in place)] for place in places[:3]]
            several(book, Forms(f"dynamic-strided-slice.{kind}{how}", "LIB-911", [row], f"{types}, {vector}"), *calls)
    calls = [[irregular(3, 1, 4), i64(0, 0, -1), i64(3, 9, -5), i64(2, 4, -1)]]
    several(
        book,
        Forms(
            "dynamic-strided-slice.of-three-axes",
            "LIB-911",
            [(row[0], lambda x, b, c, d: cut([0, 1, 2], b.tolist(), c.tolist(), d.tolist())(x))],
        ),
        *calls,
    )


def scattered(axis, start, end, step):
    """What `slice_scatter` gives, as NumPy has it."""

    def of(x, new, *_):
        found = x.copy()
        found[(slice(None),) * axis + (slice(start, end, step),)] = new
        return found

    return of


def scattering(book, name, axis, places):
    """A case of these starts, ends and steps; a source for each number of places that they have."""
    x = irregular(4, 5, 6)
    counts = sorted({len(range(*slice(*place).indices(x.shape[axis]))) for place in places})
    inputs = [x, *(-100 - irregular(*(n if at == axis else m for at, m in enumerate(x.shape))) for n in counts)]
    rows = []
    for number, (start, end, step) in enumerate(places):
        source = 1 + counts.index(len(range(*slice(start, end, step).indices(x.shape[axis]))))
        form = f"slice_scatter(a, {'abcdefgh'[source]}, {start}, {end}, {step}, axis={axis - 3 * (number % 2)})"
        of = scattered(axis, start, end, step)
        rows.append((form, lambda *z, source=source, of=of: of(z[0], z[source])))
    several(book, Forms(name, "LIB-912", rows), inputs)


def scatters(book):
    """A part along each axis replaced; apart where its ends count from the end, or lie outside."""
    for axis, n in enumerate((4, 5, 6)):
        ends = (-n - 1, -n, -1, 0, 1, n - 2, n - 1, n, n + 1, 2**63 - 1)
        plain_, counted = [], []
        for at, start in enumerate(ends[:-1]):
            for end in ends[at % 2 :: 2]:
                step = 1 + (at + end) % 3
                inside = 0 <= start <= end <= n
                (plain_ if inside else counted).append((start, end, step))
        plain_ += [(0, n, 1), (0, n, 2), (1, n, 3), (1, n - 1, 2), (n, n, 1)]
        for kind, places in (("", plain_), ("-counted", counted)):
            scattering(book, f"slice-scatter.axis-{axis}{kind}", axis, places)
    rows = [("slice_scatter(a, b, 1, 4, 2)", scattered(0, 1, 4, 2))]
    several(book, Forms("slice-scatter.usual-axis", "LIB-912", rows), [irregular(4, 4), -100 - irregular(2, 4)])
    types = 'a: R.Tensor(("n", 2), "int32"), b: R.Tensor(("m", 2), "int32")'
    rows = [
        (f"slice_scatter(a, b, {s}, {e}, {k}, axis=0)", scattered(0, s, e, k))
        for s, e, k in ((1, 2**63 - 1, 2), (-5, 6, 2))
    ]
    for number, (row, sizes) in enumerate(zip(rows, (((5, 2), (6, 3), (1, 0)), ((5, 3), (8, 2))), strict=True), 1):
        calls = [[irregular(n, 2), -100 - irregular(m, 2)] for n, m in sizes]
        several(book, Forms(f"slice-scatter.symbolic-{number}", "LIB-912", [row], types), *calls)


def turned(seq, batch):
    """What `reverse_sequence` gives."""

    def of(x, lengths):
        found = x.copy()
        rows, into = np.moveaxis(x, (batch, seq), (0, 1)), np.moveaxis(found, (batch, seq), (0, 1))
        for place, length in enumerate(lengths):
            count = max(0, min(int(length), rows.shape[1]))
            into[place, :count] = rows[place, :count][::-1]
        return found

    return of


def sequences(book):
    """Each pair of axes; lengths from below 0 to above the extent."""
    lengths = {2: (2, 9), 3: (-1, 3, 2), 5: (0, 1, 2, 3, 4)}
    for dtype in ("int32", "int64"):
        for batch, extent in enumerate((3, 2, 5)):
            rows = []
            for seq in {0, 1, 2} - {batch}:
                rows.append((f"reverse_sequence(a, b, seq_axis={seq}, batch_axis={batch})", turned(seq, batch)))
                rows.append((f"reverse_sequence(a, b, seq_axis={seq - 3}, batch_axis={batch - 3})", turned(seq, batch)))
            if batch == 0:
                rows.append(("reverse_sequence(a, b)", turned(1, 0)))
            name = f"reverse-sequence.{dtype}-{batch}"
            several(book, Forms(name, "LIB-913", rows), [irregular(3, 2, 5), np.array(lengths[extent], dtype)])
    types = 'a: R.Tensor(("m", "n"), "int32"), b: R.Tensor(("m",), "int32")'
    calls = [[irregular(2, n), i32(n - 1, n + 1)] for n in (0, 1, 2, 4)]
    several(
        book, Forms("reverse-sequence.symbolic", "LIB-913", [("reverse_sequence(a, b)", turned(1, 0))], types), *calls
    )


PARTS = (
    (slices, "slices"),
    (symbolic_slices, "slices-symbolic"),
    (dynamic_slices, "slices-dynamic"),
    (scatters, "slices-replaced"),
    (sequences, "sequences"),
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
