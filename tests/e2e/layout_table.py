"""Layouts drawn at random: what refmlc makes of them, and real TVM judges it.

`python tests/e2e/layout_table.py --tvm PYTHON [--count 10000] [--seed 1]`. Each layout is applied at four indices, of
its own extents and of another shape with as many elements; then canonical form, tile, direct sum and slice.

| count         | meaning                                                            |
|---------------|---------------------------------------------------------------------|
| `right`       | the same coordinates; the same layout, or both have none            |
| `wrong`       | not the same                                                        |
| `unsupported` | only one of both has a layout: refmlc, or TVM, says that it has none |

TVM's `apply` leaves the replica out; so does this comparison of it. Exit status 1: something is wrong.
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from rich.console import Console
from rich.table import Table

from refmlc.lang.layouts import algebra
from refmlc.lang.layouts.forms import AxisStep, Swizzled, Tiling
from refmlc.lang.layouts.placement import places, split

SIDE = Path(__file__).parent / "tvm_side" / "layouts.py"
AXES = (
    ("m",),
    ("m",),
    ("laneid", "warpid", "m"),
    ("tid_in_wg", "wgid", "m"),
    ("tx", "m"),
    ("P", "F"),
    ("TLane", "TCol"),
)
EXTENTS = (1, 2, 2, 2, 3, 4, 4, 5, 6, 8, 16)
CONSOLE = Console(width=120, highlight=False)


def steps(rng, axes, count):
    """Steps on axes: strides that continue each other, or any."""
    result, strides = [], dict.fromkeys(axes, 1)
    for _ in range(count):
        axis, extent = rng.choice(axes), rng.choice(EXTENTS)
        stride = strides[axis] if rng.random() < 0.7 else rng.choice((0, 1, 2, 3, 4, 7, 8, 16, 32))
        strides[axis] = max(strides[axis], stride * extent)
        result.insert(0, AxisStep(extent, stride, axis))
    if rng.random() < 0.3:
        rng.shuffle(result)
    return tuple(result)


def drawn(rng):
    """A layout."""
    axes = rng.choice(AXES)
    shard = steps(rng, axes, rng.randint(1, 5))
    replica = steps(rng, axes, rng.randint(1, 2)) if rng.random() < 0.25 else ()
    offset = {axis: rng.choice((0, 1, 3, 8, 64)) for axis in axes if rng.random() < 0.25}
    tiling = Tiling(shard, replica, offset)
    if axes == ("m",) and rng.random() < 0.5:
        atom = rng.randint(0, 4)
        lengths = (rng.randint(0, 4), rng.randint(0, atom), atom)
        return Swizzled(Tiling(shard, (), offset), *lengths, rng.random() < 0.7)
    return tiling


def shape_of(rng, layout):
    """The extents of the shard, some of them together, or split."""
    tiling = layout.tiling if isinstance(layout, Swizzled) else layout
    shape = []
    for step in tiling.shard:
        if shape and rng.random() < 0.4:
            shape[-1] *= step.extent
        elif step.extent % 2 == 0 and rng.random() < 0.2:
            shape += [step.extent // 2, 2]
        else:
            shape.append(step.extent)
    return shape


def data_of(layout):
    if layout is None:
        return None
    tiling = layout.tiling if isinstance(layout, Swizzled) else layout
    swizzle = None
    if isinstance(layout, Swizzled):
        swizzle = [layout.per_element, layout.swizzle_len, layout.atom_len, layout.inner]
    return {
        "shard": [[step.extent, step.stride, step.axis] for step in tiling.shard],
        "replica": [[step.extent, step.stride, step.axis] for step in tiling.replica],
        "offset": dict(tiling.offset),
        "swizzle": swizzle,
    }


def form_of(data):
    tiling = Tiling(
        tuple(AxisStep(*step) for step in data["shard"]),
        tuple(AxisStep(*step) for step in data["replica"]),
        data["offset"],
    )
    return tiling if data["swizzle"] is None else Swizzled(tiling, *data["swizzle"])


def bare(layout):
    """The layout without its replica."""
    return layout if isinstance(layout, Swizzled) else Tiling(layout.shard, (), layout.offset)


def questions(rng):
    """The questions about one layout, each with what refmlc answers."""
    layout = drawn(rng)
    data, shape = data_of(layout), shape_of(rng, layout)
    tiling = layout.tiling if isinstance(layout, Swizzled) else layout
    for extents in ([step.extent for step in tiling.shard], shape):
        for _ in range(2):
            index = list(split(rng.randrange(layout.size), extents))
            (place,) = places(bare(layout), index, extents)
            yield {"layout": data, "do": "apply", "index": index, "shape": extents}, dict(place)
    yield {"layout": data, "do": "canonical"}, algebra.canonical(layout)
    small = list(shape)
    outer = Tiling(steps(rng, tiling.axes or ("m",), len(small)), (), {})
    outer_shape = [step.extent for step in outer.shard]
    more = {"layout": data, "outer": data_of(outer), "outer_shape": outer_shape, "shape": small}
    yield {**more, "do": "tile"}, algebra.tiled(layout, outer, outer_shape, small)
    if isinstance(layout, Tiling):
        yield {**more, "do": "direct_sum"}, algebra.direct_sum(outer, layout, outer_shape, small)
    region = []
    for extent in shape:
        begin = rng.choice((0, rng.randrange(extent)))
        region.append([begin, rng.randint(begin + 1, extent)])
    yield {"layout": data, "do": "slice", "shape": shape, "region": region}, algebra.sliced(layout, shape, region)


def verdict(own, answer):
    """`right`, `wrong`, `unsupported`."""
    if isinstance(own, dict):
        if "refused" in answer:
            return "unsupported"
        return "right" if all(own.get(axis, 0) == value for axis, value in answer.items()) else "wrong"
    refused = answer is None or "refused" in answer
    if own is None or refused:
        return "right" if own is None and refused else "unsupported"
    return "right" if same(own, form_of(answer)) else "wrong"


def same(a, b):
    """Whether two layouts have the same form after unit steps are gone, the replica in any order."""
    return data_of(algebra.canonical(a)) == data_of(algebra.canonical(b))


def asked(python, batch):
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "questions.json"
        file.write_text(json.dumps(batch), "utf-8")
        done = subprocess.run([python, str(SIDE), str(file)], check=True, capture_output=True, text=True, timeout=1200)
    return json.loads(done.stdout.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tvm", required=True)
    parser.add_argument("--count", type=int, default=10000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rng = random.Random(options.seed)  # noqa: S311 - a seed makes the same layouts again
    pairs = [pair for _ in range(options.count) for pair in questions(rng)]
    answers = asked(options.tvm, [question for question, _ in pairs])
    counts, examples = {}, []
    for (question, own), answer in zip(pairs, answers, strict=True):
        result = verdict(own, answer)
        counts.setdefault(question["do"], Counter())[result] += 1
        if result == "wrong" or (result == "unsupported" and len(examples) < 5):
            examples.append(f"{result}: {json.dumps(question)}\n  refmlc {own}\n  TVM {answer}")
    table = Table(title=f"{options.count} layouts, TVM's verdict")
    for column in ("", "asked", "right", "wrong", "unsupported"):
        table.add_column(column, justify="right")
    for do, row in counts.items():
        table.add_row(do, str(sum(row.values())), *(str(row[key]) for key in ("right", "wrong", "unsupported")))
    CONSOLE.print(table)
    for line in examples[:10]:
        CONSOLE.print(line, markup=False, soft_wrap=True)
    wrong = sum(row["wrong"] for row in counts.values())
    CONSOLE.print(f"{sum(map(sum, (row.values() for row in counts.values())))} questions, {wrong} wrong")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
