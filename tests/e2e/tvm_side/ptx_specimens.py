"""A few calls of each operator that TVM registers for PTX, as TVM prints them.

Run inside TVM's environment: `python ptx_specimens.py COUNT`. Prints JSON: the name of each operator with at most COUNT
calls, of modifiers that go together. Operands are elements of the local buffers `r_DTYPE`, addresses of `A` and `S`.
"""

import itertools
import json
import random
import sys

from tvm.backend.cuda.ptx.table import (
    TABLE,
    canonical_dtypes,
    escape_token,
    mods,
    operand_layout,
    operand_space,
    operand_type,
)

DRAWN = 400
PRODUCTS = {
    "kind::f16": 1 << 4,
    "kind::tf32": 1 << 4 | 2 << 7 | 2 << 10,
    "kind::f8f6f4": 1 << 4,
    "kind::i8": 2 << 4,
    "kind::mxf8f6f4": 0,
    **dict.fromkeys(("kind::mxf4", "kind::mxf4nvf4"), 1 << 7 | 1 << 10),
}
"""The dtypes in the descriptor of a product, by its kind; scales are powers of two, but where a row has four."""


def choices(entry, count):
    """At most `count` choices of modifiers that go together."""
    axes = [(*(("",) if slot.optional else ()), *slot.choices) for slot in entry.slots]
    every = itertools.islice(itertools.product(*axes), 200_000)
    fitting = [words for words in every if not (entry.check and entry.check(mods(entry, words)))]
    plain = fitting[:1]
    drawn = random.Random(1).sample(fitting, min(DRAWN, len(fitting)))
    return [*plain, *drawn][:count]


def product_descriptor(modifiers):
    """The descriptor of a product of 128 rows in the form that the modifiers say."""
    columns = 64 if modifiers.get("ws") else 16
    sizes = 128 // 16 << 24 | columns // 8 << 17
    powers = bool(modifiers.get("scale_vec") != "scale_vec::4X" and modifiers.get("block_size") != "block16")
    return sizes | PRODUCTS[modifiers["kind"]] | (powers << 23 if modifiers.get("block_scale") else 0)


def operand(slot, modifiers, dtype, place):
    """The text of one operand."""
    if slot.name == "imm_half_splitoff":
        return "128"  # columns, so that the halves do not overlap
    if slot.name == "idesc" and modifiers.get("kind") in PRODUCTS:
        return f"T.uint32({product_descriptor(modifiers)})"
    if slot.name in ("disable_output_lane", "zero_col_mask"):
        return f"T.{dtype}(0)"
    if slot.kind == "imm":
        return str(slot.choices[0] if slot.choices else 0)
    if slot.kind == "reg":
        return f"r_{dtype}[{place}]"
    space = operand_space(slot, modifiers)
    if space == "tmem":
        return "T.uint32(0)"
    return "T.cuda.cvta_generic_to_shared(S.ptr_to([0]))" if space.startswith("shared") else "A.ptr_to([0])"


def call(entry, words):
    """A call in the printed form."""
    modifiers = mods(entry, words)
    dtypes = dict(zip(entry.typed_operands, canonical_dtypes(entry, words), strict=True))
    layout = operand_layout(entry, modifiers)
    texts = [
        operand(slot, modifiers, dtypes.get(slot), first + lane)
        for slot, first, lanes in layout
        for lane in range(lanes)
    ]
    flags = [
        f"p{first}"
        for slot, first, lanes in layout
        if lanes and slot.kind == "reg" and slot.rw == "r" and operand_type(slot, modifiers) == "pred"
    ]
    return f"T.ptx.{escape_token(entry.family)}({', '.join([*texts, *map(repr, words), repr(','.join(flags))])})"


if __name__ == "__main__":
    calls = {name: [call(entry, words) for words in choices(entry, int(sys.argv[1]))] for name, entry in TABLE.items()}
    sys.stdout.write(json.dumps(calls))
