"""Area `reject`: what slices, axes, parts, widths, layouts and boxes do not take; area `undefined`: places outside.

By hand, from the clauses of the operators and from what their docstrings say that they fail with.
"""

import sys

from book import Book
from hand import ask, i32, reject, undefined

ROW = 'a: R.Tensor((5, 7), "int32")'
CUBE = 'a: R.Tensor((2, 3, 4), "int32")'
ANY = 'a: R.Tensor(("n", 7), "int32")'
VECTORS = ('b: R.Tensor((2,), "int64")', 'c: R.Tensor((2,), "int64")', 'd: R.Tensor((2,), "int64")')
CLAUSES = {
    "strided-slice": "LIB-910",
    "dynamic-strided-slice": "LIB-911",
    "slice-scatter": "LIB-912",
    "reverse-sequence": "LIB-913",
    "permute-dims": "LIB-901",
    "expand-dims": "LIB-902",
    "squeeze": "LIB-902",
    "nn-batch-flatten": "LIB-903",
    "broadcast-to": "LIB-904",
    "concat": "LIB-905",
    "stack": "LIB-905",
    "split": "LIB-906",
    "repeat": "LIB-907",
    "flip": "LIB-908",
    "meshgrid": "LIB-909",
    "nn-pad": "LIB-030",
    "nn-pixel-shuffle": "LIB-031",
    "layout-transform": "LIB-933",
    "vision-non-max-suppression": "LIB-074",
    "vision-all-class-non-max-suppression": "LIB-075",
}


def parameters(*types):
    """Parameters `a`, `b` … of these shapes and dtypes."""
    return ", ".join(
        f'{name}: R.Tensor({shape}, "{dtype}")' for name, (shape, dtype) in zip("abcdefgh", types, strict=False)
    )


def two(first, second):
    return parameters((first, "int32"), (second, "int32"))


def slices():
    """Rows of a name, a code, the parameters and the call."""
    yield "ends-of-two", "RM105", ROW, "strided_slice(a, [1], [0], [3, 4])"
    yield "strides-of-two", "RM105", ROW, "strided_slice(a, [1], [0], [3], [1, 1])"
    yield "axis-twice", "RM105", ROW, "strided_slice(a, [1, -1], [0, 0], [3, 3])"
    yield "axis-below", "RM105", ROW, "strided_slice(a, [-3], [0], [3])"
    yield "end-of-floats", "RM201", ROW, "strided_slice(a, [0], [1], [R.prim_value(T.float32(3))])"
    yield "stride-symbolic", "RM105", ANY, "strided_slice(a, [1], [0], [5], [n])"
    yield "axis-symbolic", "RM105", ANY, "strided_slice(a, [n], [0], [5], [1])"
    for at, name in enumerate("bcd"):
        for what, code, kind in (
            ("int32", "RM201", '(2,), "int32"'),
            ("long", "RM202", '(3,), "int64"'),
            ("square", "RM105", '(2, 1), "int64"'),
        ):
            types = [ROW, *VECTORS]
            types[at + 1] = f"{name}: R.Tensor({kind})"
            yield f"dynamic.{what}-{name}", code, ", ".join(types), "dynamic_strided_slice(a, b, c, d)"


def replaced():
    for what, code, first, second, call in (
        ("step-zero", "RM105", "(5, 7)", "(5, 2)", "1, 3, 0, axis=1"),
        ("step-below", "RM105", "(5, 7)", "(5, 2)", "3, 1, -1, axis=1"),
        ("axis-above", "RM105", "(5, 7)", "(5, 2)", "1, 3, 1, axis=2"),
        ("axis-below", "RM105", "(5, 7)", "(5, 2)", "1, 3, 1, axis=-3"),
        ("too-many", "RM202", "(5, 7)", "(5, 3)", "1, 3, 1, axis=1"),
        ("too-few", "RM202", "(5, 7)", "(5, 3)", "0, 7, 2, axis=1"),
        ("other-rows", "RM202", "(5, 7)", "(4, 2)", "1, 3, 1, axis=1"),
        ("other-axis", "RM202", "(5, 5)", "(5, 2)", "1, 3, 1, axis=0"),
        ("other-rank", "RM201", "(5, 7)", "(2,)", "1, 3, 1, axis=1"),
        ("start-of-floats", "RM201", "(5, 7)", "(5, 2)", "T.float32(1), 3, 1, axis=1"),
        ("end-of-floats", "RM201", "(5, 7)", "(5, 2)", "1, T.float32(3), 1, axis=1"),
    ):
        values = call.split(", ")
        prims = ", ".join(f"R.prim_value({one})" for one in values[:3])
        yield what, code, two(first, second), f"slice_scatter(a, b, {prims}, {values[3]})"
    yield (
        "other-dtype",
        "RM201",
        parameters(("(5, 7)", "int32"), ("(5, 2)", "int64")),
        "slice_scatter(a, b, R.prim_value(1), R.prim_value(3), R.prim_value(1), axis=1)",
    )


def turned():
    for what, code, lengths, call in (
        ("square-lengths", "RM105", ("(5, 1)", "int32"), ""),
        ("one-length", "RM105", ("()", "int32"), ""),
        ("same-axis", "RM105", ("(5,)", "int32"), ", seq_axis=0, batch_axis=0"),
        ("same-axis-below", "RM105", ("(7,)", "int32"), ", seq_axis=1, batch_axis=-1"),
        ("seq-axis-above", "RM105", ("(5,)", "int32"), ", seq_axis=2, batch_axis=0"),
        ("seq-axis-below", "RM105", ("(5,)", "int32"), ", seq_axis=-3, batch_axis=0"),
        ("batch-axis-above", "RM105", ("(5,)", "int32"), ", seq_axis=1, batch_axis=2"),
        ("int16", "RM201", ("(5,)", "int16"), ""),
        ("uint32", "RM201", ("(5,)", "uint32"), ""),
        ("float32", "RM201", ("(5,)", "float32"), ""),
        ("too-few", "RM202", ("(4,)", "int32"), ""),
        ("of-the-other-axis", "RM202", ("(7,)", "int32"), ""),
        ("of-the-first-axis", "RM202", ("(5,)", "int64"), ", seq_axis=0, batch_axis=1"),
    ):
        yield what, code, parameters(("(5, 7)", "int32"), lengths), f"reverse_sequence(a, b{call})"


def axes():
    for what, call in (
        ("too-few", "permute_dims(a, axes=[0, 1])"),
        ("too-many", "permute_dims(a, axes=[0, 1, 2, 0])"),
        ("twice", "permute_dims(a, axes=[0, 2, -1])"),
        ("above", "permute_dims(a, axes=[0, 1, 3])"),
        ("below", "permute_dims(a, axes=[0, 1, -4])"),
        ("above", "expand_dims(a, axis=4)"),
        ("below", "expand_dims(a, axis=-5)"),
        ("above-of-two", "expand_dims(a, axis=[0, 5])"),
        ("twice", "expand_dims(a, axis=[1, 1])"),
        ("twice-below", "expand_dims(a, axis=[0, -5])"),
        ("above", "squeeze(a, axis=3)"),
        ("below", "squeeze(a, axis=[-4])"),
        ("above", "flip(a, axis=3)"),
        ("below", "flip(a, axis=-4)"),
        ("above", "repeat(a, 2, axis=3)"),
        ("below", "repeat(a, 2, axis=-4)"),
        ("above", "split(a, 2, axis=3)"),
        ("below", "split(a, [1], axis=-4)"),
        ("above", "concat((a, a), axis=3)"),
        ("below", "concat((a, a), axis=-4)"),
        ("above", "stack((a, a), axis=4)"),
        ("below", "stack((a, a), axis=-5)"),
    ):
        yield f"axis-{what}", "RM105", CUBE, call
    ones = 'a: R.Tensor((1, 3, 1), "int32")'
    yield "axis-twice", "RM105", ones, "squeeze(a, axis=[0, -3])"
    yield "of-three", "RM202", ones, "squeeze(a, axis=1)"
    yield "of-three-among-ones", "RM202", ones, "squeeze(a, axis=[0, 1, 2])"
    yield "of-one", "RM105", 'a: R.Tensor((), "int32")', "nn.batch_flatten(a)"


def joined():
    yield "fewer", "RM202", CUBE, "broadcast_to(a, (3, 4))"
    yield "other", "RM202", CUBE, "broadcast_to(a, (2, 3, 5))"
    yield "to-one", "RM202", CUBE, "broadcast_to(a, (2, 1, 4))"
    yield "to-one-in-front", "RM202", CUBE, "broadcast_to(a, (6, 1, 3, 4))"
    three = [("(2, 3)", "int32")] * 3
    for what, code, kind in (
        ("dtype", "RM201", ("(2, 3)", "int64")),
        ("rank", "RM201", ("(2, 3, 1)", "int32")),
        ("extent", "RM202", ("(4, 3)", "int32")),
    ):
        for at, name in enumerate("abc"):
            changed = [*three[:at], kind, *three[at + 1 :]]
            yield f"other-{what}-{name}", code, parameters(*changed), "concat((a, b, c), axis=1)"
            yield f"other-{what}-{name}", code, parameters(*changed), "stack((a, b, c), axis=1)"
    yield "other-columns", "RM202", two("(2, 3)", "(2, 4)"), "concat((a, b), axis=0)"
    yield "other-columns", "RM202", two("(2, 3)", "(2, 4)"), "stack((a, b))"
    yield "other-extents", "RM202", two("(1, 3)", "(2, 3)"), "stack((a, b))"
    yield "of-nothing", "RM105", CUBE, "concat(())"
    yield "of-nothing", "RM105", CUBE, "stack(())"
    yield "of-nothing", "RM105", CUBE, "meshgrid(())"
    yield "square", "RM105", two("(2, 3)", "(2, 3)"), "meshgrid((a, b))"
    yield "square-alone", "RM105", 'a: R.Tensor((2, 3), "int32")', "meshgrid((a,))"
    yield "other-indexing", "RM105", two("(2,)", "(3,)"), 'meshgrid((a, b), indexing="yx")'
    yield "other-rank", "RM201", two("(2,)", "()"), "meshgrid((a, b))"
    yield "other-dtype", "RM201", parameters(("(2,)", "int32"), ("(3,)", "int64")), "meshgrid((a, b))"


def around():
    for what, code, dtype, call in (
        ("mode", "RM105", "int32", 'pad_width=[1, 1, 1, 1], pad_mode="edge"'),
        ("three-widths", "RM105", "int32", "pad_width=[1, 1, 1]"),
        ("two-widths", "RM105", "int32", "pad_width=[1, 1]"),
        ("six-widths", "RM105", "int32", "pad_width=[1, 1, 1, 1, 1, 1]"),
        ("width-below", "RM105", "int32", "pad_width=[1, 1, -1, 1]"),
        ("width-below-at-last", "RM105", "int32", 'pad_width=[0, 0, 0, -1], pad_mode="replicate"'),
        ("value-256", "RM105", "uint8", "pad_width=[1, 1, 1, 1], pad_value=256"),
        ("value-below", "RM105", "uint8", "pad_width=[1, 1, 1, 1], pad_value=-1"),
        ("value-128", "RM105", "int8", "pad_width=[1, 1, 1, 1], pad_value=128"),
        ("value-below-128", "RM105", "int8", "pad_width=[1, 1, 1, 1], pad_value=-129"),
        ("value-half", "RM105", "int32", "pad_width=[1, 1, 1, 1], pad_value=0.5"),
        ("reflect-before", "RM202", "int32", 'pad_width=[3, 0, 0, 0], pad_mode="reflect"'),
        ("reflect-after", "RM202", "int32", 'pad_width=[0, 0, 1, 5], pad_mode="reflect"'),
        ("reflect-after-only", "RM202", "int32", 'pad_width=[0, 3, 0, 0], pad_mode="reflect"'),
    ):
        yield what, code, f'a: R.Tensor((3, 5), "{dtype}")', f"nn.pad(a, {call})"
    for mode in ("reflect", "replicate", "circular"):
        for width in ([0, 1, 0, 0], [1, 0, 0, 0]):
            yield (
                f"{mode}-of-nothing-{width[0]}",
                "RM202",
                'a: R.Tensor((0, 5), "int32")',
                f'nn.pad(a, pad_width={width}, pad_mode="{mode}")',
            )
    for what, code, shape, factor in (
        ("of-two", "RM105", "(4, 4)", 2),
        ("factor-zero", "RM105", "(4, 2, 2)", 0),
        ("factor-below", "RM105", "(4, 2, 2)", -2),
        ("six-channels", "RM202", "(6, 4, 4)", 2),
        ("two-channels", "RM202", "(2, 2, 2)", 2),
        ("batch-of-four", "RM202", "(4, 9, 4, 4)", 2),
    ):
        yield what, code, f'a: R.Tensor({shape}, "float32")', f"nn.pixel_shuffle(a, upscale_factor={factor})"
    for what, given in (("one-index", "lambda i: (i, 0)"), ("three-indices", "lambda i, j, k: (i, j)")):
        yield what, "RM105", ROW, f"layout_transform(a, index_map={given})"


BOXES = [("(2, 7, 6)", "float32"), ("(2,)", "int32"), ("(2, 7)", "int32")]
CLASSES = [("(2, 5, 4)", "float32"), ("(2, 3, 5)", "float32"), ("()", "int64"), ("()", "float32"), ("()", "float32")]


def boxes():
    for what, code, at, kind in (
        ("int32-boxes", "RM201", 0, ("(2, 7, 6)", "int32")),
        ("int64-counts", "RM201", 1, ("(2,)", "int64")),
        ("float32-counts", "RM201", 1, ("(2,)", "float32")),
        ("int64-numbers", "RM201", 2, ("(2, 7)", "int64")),
        ("boxes-of-one-image", "RM105", 0, ("(7, 6)", "float32")),
        ("one-count", "RM105", 1, ("()", "int32")),
        ("square-counts", "RM105", 1, ("(2, 1)", "int32")),
        ("numbers-of-one-image", "RM105", 2, ("(7,)", "int32")),
        ("more-counts", "RM202", 1, ("(3,)", "int32")),
        ("more-images-of-numbers", "RM202", 2, ("(3, 7)", "int32")),
        ("more-numbers", "RM202", 2, ("(2, 8)", "int32")),
    ):
        yield what, code, parameters(*BOXES[:at], kind, *BOXES[at + 1 :]), "vision.non_max_suppression(a, b, c)"
    for attribute, numbers in (("score_index", (-1, 6)), ("coord_start", (-1, 3)), ("id_index", (-2, 6))):
        for number in numbers:
            call = f"vision.non_max_suppression(a, b, c, {attribute}={number})"
            yield (
                f"{attribute.replace('_', '-')}-{'below' if number < 0 else number}",
                "RM105",
                parameters(*BOXES),
                call,
            )
    short = [("(2, 7, 5)", "float32"), *BOXES[1:]]
    yield "five-numbers", "RM105", parameters(*short), "vision.non_max_suppression(a, b, c)"


def classes():
    for what, code, at, kind in (
        ("int32-boxes", "RM201", 0, ("(2, 5, 4)", "int32")),
        ("int32-scores", "RM201", 1, ("(2, 3, 5)", "int32")),
        ("float32-number", "RM201", 2, ("()", "float32")),
        ("int32-overlap", "RM201", 3, ("()", "int32")),
        ("int32-least-score", "RM201", 4, ("()", "int32")),
        ("boxes-of-one-image", "RM105", 0, ("(5, 4)", "float32")),
        ("scores-of-one-class", "RM105", 1, ("(2, 5)", "float32")),
        ("scores-of-more", "RM105", 1, ("(2, 3, 5, 1)", "float32")),
        ("two-numbers", "RM105", 2, ("(2,)", "int64")),
        ("square-number", "RM105", 2, ("(1, 1)", "int64")),
        ("two-overlaps", "RM105", 3, ("(2,)", "float32")),
        ("square-overlap", "RM105", 3, ("(1, 1)", "float32")),
        ("no-least-score", "RM105", 4, ("(0,)", "float32")),
        ("more-images", "RM202", 1, ("(3, 3, 5)", "float32")),
        ("fewer-images", "RM202", 0, ("(1, 5, 4)", "float32")),
        ("more-scores", "RM202", 1, ("(2, 3, 6)", "float32")),
        ("five-numbers-of-a-box", "RM202", 0, ("(2, 5, 5)", "float32")),
        ("three-numbers-of-a-box", "RM202", 0, ("(2, 5, 3)", "float32")),
    ):
        types = parameters(*CLASSES[:at], kind, *CLASSES[at + 1 :])
        yield what, code, types, "vision.all_class_non_max_suppression(a, b, c, d, e)"
    call = 'vision.all_class_non_max_suppression(a, b, c, d, e, output_format="caffe")'
    yield "other-format", "RM105", parameters(*CLASSES), call


def outside(book):
    """Places that a slice takes as they stand."""
    for name, begin, end, step in (
        ("above", 3, 8, 1),
        ("below", -1, 2, 1),
        ("down-below", 2, -3, -1),
        ("down-from-above", 7, 4, -2),
    ):
        text = f'@R.function\ndef main(a: R.Tensor((7,), "int32")):\n    y = R.strided_slice(a, [0], [{begin}], [{end}], [{step}], assume_inbound=True)\n    return y\n'
        ask(
            book,
            f"undefined.strided-slice.inbound-{name}",
            "LIB-910 TIR-006",
            text,
            ([i32(*range(7))], undefined("RM304")),
        )


def declared(book):
    """Results of slices of symbols, declared with an extent that is certainly another."""
    largest = 2**63 - 1
    for what, extent, begin, end, step, inbound in (
        ("all", '"n + 1"', "0", "n", 1, False),
        ("to-the-greatest", '"n + 1"', "0", largest, 1, False),
        ("of-nothing", "1", "0", "0", 1, False),
        ("of-nothing-at-the-end", "1", "n", "n", 1, False),
        ("from-one", '"n"', "1", "n", 1, True),
        ("of-four", "5", "n - 4", "n", 1, True),
        ("of-every-other", "4", "n - 5", "n", 2, True),
        ("down", "4", "n - 1", "n - 4", -1, True),
        ("down-by-two", "3", "n - 1", "n - 4", -2, True),
    ):
        call = f"strided_slice(a, [0], [{begin}], [{end}], [{step}]{', assume_inbound=True' if inbound else ''})"
        head = '@R.function\ndef main(a: R.Tensor(("n",), "int32")):\n    n = T.int64()\n'
        text = f'{head}    y: R.Tensor(({extent},), "int32") = R.{call}\n    return y\n'
        ask(book, f"reject.rm202.strided-slice-declared-{what}", "LIB-910 RLX-905", text, ([], reject("RM202")))
    text = '@R.function\ndef main(a: R.Tensor(("n", 7), "int32")):\n    y = «R.split(a, 2)»\n    return y\n'
    ask(book, "reject.rm105.split-symbolic", "LIB-906", text, ([], reject("RM105")))


def refused(book):
    for rows in (slices, replaced, turned, axes, joined, around, boxes, classes):
        for what, code, params, form in rows():
            operator = form.partition("(")[0].replace(".", "-").replace("_", "-")
            body = "    n = T.int64()\n" if '"n"' in params else ""
            text = f"@R.function\ndef main({params}):\n{body}    y = «R.{form}»\n    return y\n"
            name = f"reject.{code.lower()}.{operator}-{what.replace('.', '-')}"
            ask(book, name, CLAUSES[operator], text, ([], reject(code)))


if __name__ == "__main__":
    for area, part, stem in (
        ("reject", refused, "places"),
        ("reject", declared, "places-declared"),
        ("undefined", outside, "places"),
    ):
        pages = Book(area, "hand", strict=False)
        part(pages)
        sys.stdout.write("".join(f"{line}\n" for line in pages.disagreements))
        sys.stdout.write(f"{area} {pages.write(stem, 'What operators that move elements do not take.')}\n")
