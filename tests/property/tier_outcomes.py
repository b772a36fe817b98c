"""What comes of a call, in a form that is equal where the meaning is; and what the interpreter makes of one."""

import math
import re
from dataclasses import dataclass, field

import numpy as np

from refmlc.diag import RefmlcError
from refmlc.lang.ir import IRModule
from refmlc.run.interp.machine import Machine
from refmlc.run.memory.budget import Budget
from refmlc.run.memory.tensor import Tensor
from refmlc.strategies.arguments import arguments

STEPS = 200_000
NAME = re.compile(r"`\w+`(?=, step)")


@dataclass(frozen=True)
class Outcome:
    """What a call leaves behind: its value or its verdict, and of each tensor the written elements.

    Elements that were never written have no value, so their bytes are left out; NaN is one class.
    """

    value: object = None
    verdict: tuple[object, ...] = ()
    tensors: tuple[tuple[bytes, bytes], ...] = ()
    steps: int = field(default=0, compare=False)

    @property
    def code(self):
        """The code of the verdict; empty: the call ended well."""
        return self.verdict[0] if self.verdict else ""


def call(module, name, args, *, steps=STEPS, budget=None, **options):
    """What the call of `name` on `args` comes to; without substitutes in the interpreter. `options`: of `Machine`."""
    budget = Budget(steps) if budget is None else budget
    machine = Machine(module, budget=budget, output=_nothing, **options)
    try:
        value, verdict = machine.call(name, args), ()
    except RefmlcError as failure:
        value, verdict = None, verdict_of(failure.diagnostic)
    tensors = tuple(left_in(arg) for arg in args if isinstance(arg, Tensor))
    return Outcome(normal(value), verdict, tensors, budget.steps)


def _nothing(_line):
    """Where the output of programs goes."""


def verdict_of(diagnostic):
    """A finding as data; related places with it. Notes name the function, which has another name in another module."""
    notes = tuple(NAME.sub("`p`", note) for note in diagnostic.notes)
    related = tuple((one.message, _place(one.span)) for one in diagnostic.related)
    place = _place(diagnostic.span)
    return (diagnostic.code.id, diagnostic.message, place, diagnostic.label, notes, related)


def _place(span):
    return None if span is None else (span.line, span.column, span.end_line, span.end_column)


def left_in(tensor):
    """The codes of the written elements of a tensor, NaN being one code, and which elements are written."""
    shadow = tensor.shadow
    written = np.array([shadow[number] != 0 for number in range(len(shadow))], bool)
    cells = normal_codes(np.ascontiguousarray(_flat(tensor)))
    cells[~written] = 0
    return cells.tobytes(), written.tobytes()


def _flat(tensor):
    """All cells from the first element to the last, those between rows too."""
    if tensor.strides is None:
        return tensor.array.reshape(-1)
    reach = len(tensor.shadow)
    whole = Tensor(tensor.storage, tensor.dtype.scalar, (reach,), None, tensor.byte_offset)
    return whole.array


def normal_codes(cells):
    """The bits of elements; every NaN has the same ones."""
    codes = cells.view(f"u{cells.dtype.itemsize}").copy()
    if cells.dtype.kind == "b":
        return (codes != 0).astype(np.uint8)
    if cells.dtype.kind not in "iu" and not cells.dtype.name.startswith(("int", "uint")):
        with np.errstate(all="ignore"):
            codes[np.isnan(cells.astype(np.float64))] = (1 << 8 * cells.dtype.itemsize) - 1
    return codes


def normal(value):
    """A returned value such that equal ones are equal bits: -0 is not 0, NaN is NaN."""
    if isinstance(value, bool) or not isinstance(value, float):
        return (type(value).__name__, value) if isinstance(value, bool | int) else value
    return "nan" if math.isnan(value) else (value, math.copysign(1.0, value))


def together(cases):
    """One module that holds the function of each case, and the names of them."""
    functions = {case.name or f"p{number}": case.prim_func for number, case in enumerate(cases)}
    return IRModule(functions), tuple(functions)


def calls(cases, once):
    """For each case the outcome of each of its calls; `once(name, args)` makes a call."""
    _, names = together(cases)
    return [
        tuple(once(name, arguments(recipe)) for recipe in case.calls) for name, case in zip(names, cases, strict=True)
    ]


def interpreted(cases, *, fast=True):
    """The same in the interpreter; not `fast`: without its fast closures."""
    module, _ = together(cases)
    return calls(cases, lambda name, args: call(module, name, args, fast=fast))


def told(found):
    """Differences as text: the first program, and what each tier says."""
    lines = [f"{len(found)} calls differ"]
    for case, way, right, given in found[:1]:
        lines += [str(case), f"interp: {_short(right)}", f"{way}: {_short(given)}"]
        for number, (one, other) in enumerate(zip(right.tensors, given.tensors, strict=True)):
            if one != other:
                lines.append(f"tensor {number}: {one[0].hex()} {one[1].hex()}, in C {other[0].hex()} {other[1].hex()}")
    return "\n".join(lines)


def _short(outcome):
    return f"{outcome.value} {outcome.verdict[:3]}"
