"""What real TVM makes of layouts. Run inside TVM's environment: `python layouts.py QUESTIONS.json` prints the answers.

A question is `{"layout", "do", …}`, its layout `{"shard", "replica", "offset", "swizzle"}` with iters `[extent, stride,
axis]`. An answer is the coordinate by axis, a layout, None where TVM has none, or `{"refused": reason}`.
"""

import json
import sys
from operator import add, and_, lshift, rshift, xor
from pathlib import Path

import tvm
from tvm.tirx.layout import Axis, ComposeLayout, Iter, TileLayout

SIMPLE = tvm.sym.Analyzer()
OPERATORS = {"Add": add, "LShift": lshift, "RShift": rshift, "BitwiseXor": xor, "BitwiseAnd": and_}


def number(value):
    """The number that an expression of numbers is: TVM folds no bit operators."""
    operator = OPERATORS.get(type(value).__name__)
    return int(value) if operator is None else operator(number(value.a), number(value.b))


def layout_of(data):
    shard, replica = ([Iter(*step) for step in data[key]] for key in ("shard", "replica"))
    offset = {Axis.get(axis): value for axis, value in data["offset"].items()}
    tile = TileLayout.from_iters(shard, replica, offset)
    swizzle = data.get("swizzle")
    return tile if swizzle is None else ComposeLayout(*swizzle[:3], tile, swizzle[3])


def data_of(layout):
    if layout is None:
        return None
    swizzle = None
    if isinstance(layout, ComposeLayout):
        lengths = (layout.per_element, layout.swizzle_len, layout.atom_len)
        swizzle, layout = [*map(int, lengths), bool(layout.swizzle_inner)], layout.tile_layout
    return {
        "shard": [[int(item.extent), int(item.stride), item.axis.name] for item in layout.shard],
        "replica": [[int(item.extent), int(item.stride), item.axis.name] for item in layout.replica],
        "offset": {axis.name: int(value) for axis, value in layout.offset.items()},
        "swizzle": swizzle,
    }


def answer(question):
    layout = layout_of(question["layout"])
    match question["do"]:
        case "apply":
            result = layout.apply(*question["index"], shape=question["shape"])
            return {str(axis): number(SIMPLE.simplify(value)) for axis, value in result.items()}
        case "canonical":
            return data_of(layout.canonicalize())
        case "tile":
            return data_of(layout.tile(layout_of(question["outer"]), question["outer_shape"], question["shape"]))
        case "direct_sum":
            return data_of(layout.direct_sum(layout_of(question["outer"]), question["outer_shape"], question["shape"]))
        case "slice":
            return data_of(layout.slice(question["shape"], [tuple(part) for part in question["region"]]))
    raise ValueError(question["do"])


def main():
    answers = []
    for question in json.loads(Path(sys.argv[1]).read_text("utf-8")):
        try:
            answers.append(answer(question))
        except Exception as failure:
            answers.append({"refused": str(failure).strip().splitlines()[-1][:120]})
    sys.stdout.write("\n" + json.dumps(answers) + "\n")


if __name__ == "__main__":
    main()
