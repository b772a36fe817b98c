"""The table of PTX instructions of a TVM, as the rows of `refmlc.lang.ops.ptx`.

Run inside TVM's environment: `python ptx_forms.py FORM …`. Prints JSON: `names` are all operators, `forms` maps each
FORM to its slots (name, modifiers, whether they are optional), its operands (name, kind, written, dtypes for each of
some choices of modifiers) and to the choices of modifiers (at most `MOST`, drawn from a seed) with whether TVM refuses
them.
"""

import itertools
import json
import random
import sys

from tvm.backend.cuda.ptx.table import TABLE, lanes_of, mods, operand_dtypes

MOST = 300


def choices(entry):
    """Choices of modifiers: all, or some."""
    axes = [(*slot.choices, *(("",) if slot.optional else ())) for slot in entry.slots]
    every = list(itertools.product(*axes))
    return random.Random(1).sample(every, MOST) if len(every) > MOST else every


def operands(entry, modifiers):
    """The operands under these modifiers: name, kind, written, registers, dtypes."""
    rows = []
    for slot in entry.operands:
        if slot.kind == "imm" and slot.literal is not None:
            continue
        dtypes = list(operand_dtypes(slot, modifiers)) if slot.kind == "reg" else []
        rows.append([slot.name, slot.kind, slot.rw == "w", lanes_of(slot, modifiers), dtypes])
    return rows


def form(entry):
    """A form."""
    rows = []
    for words in choices(entry):
        modifiers = mods(entry, words)
        refused = bool(entry.check and entry.check(modifiers))
        rows.append([list(words), refused, [] if refused else operands(entry, modifiers)])
    slots = [[slot.name, list(slot.choices), slot.optional] for slot in entry.slots]
    return {"family": entry.family, "slots": slots, "choices": rows}


if __name__ == "__main__":
    forms = {name: form(TABLE[name]) for name in sys.argv[1:]}
    names = {name: entry.family for name, entry in TABLE.items()}
    sys.stdout.write(json.dumps({"names": {**names, "addr": "addr"}, "forms": forms}))
