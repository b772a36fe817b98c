"""One module in one way of executing it, and what comes of a call, in a form that is equal where the meaning is.

| way                 | executes                                                                                |
|---------------------|-----------------------------------------------------------------------------------------|
| `interp`            | the interpreter                                                                         |
| `tiny`              | C as written, what is not proved is checked; compiled by tcc where there is one: quickly  |
| `guarded`           | the same by gcc or clang                                                                |
| `unchecked`         | C as written, blocks without checks where everything is proved                          |
| `avx512`, `avx2`, … | the loops reordered that may be, for this instruction set                               |

Every way but the first gives a call back to the interpreter where C declines it or stops: `Counts` says how often.
"""

import math
import platform
from collections import Counter
from dataclasses import dataclass, field

import numpy as np
from program_inputs import arguments

from refmlc.codegen.build import build
from refmlc.codegen.build.isa import CPUINFO, _cpu_flags, usable_isas
from refmlc.codegen.emit import emit_module
from refmlc.codegen.options import ISAS, Grade, Isa, Options
from refmlc.diag import RefmlcError
from refmlc.interp.machine import Machine
from refmlc.ir import IRModule
from refmlc.runtime.budget import Budget
from refmlc.runtime.registry import DEFAULT
from refmlc.runtime.tensor import Tensor
from refmlc.vm.native.compiled import Compiled, Translation
from refmlc.vm.native.tier import NativeTier

STEPS = 200_000


@dataclass(frozen=True)
class Way:
    """How a module is executed; without a grade by the interpreter."""

    name: str
    best: Grade | None = None
    isa: Isa = ISAS["none"]
    tiny: bool = False

    def __str__(self) -> str:
        return self.name


INTERP = Way("interp")
TINY = Way("tiny", Grade.GUARDED, tiny=True)
GUARDED = Way("guarded", Grade.GUARDED)
UNCHECKED = Way("unchecked", Grade.UNCHECKED)


def usable():
    """The instruction sets of this machine, the best one first."""
    return usable_isas(platform.machine().lower(), _cpu_flags(CPUINFO))


def native_ways():
    """Every way of C that this machine has."""
    return (TINY, GUARDED, UNCHECKED, *(Way(name, Grade.REORDERED, ISAS[name]) for name in usable()))


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


class InC:
    """The functions of a module in C, in the interpreter's place; graphs are interpreted."""

    def __init__(self, tier) -> None:
        self.function = tier.function

    def block(self, _function, _block):
        """Nothing of a graph is in C here."""
        return


class Ran:
    """A module in one way, compiled once, with counts over all calls."""

    def __init__(self, module, way, *, math="cr", registry=DEFAULT, steps=STEPS) -> None:
        self.module = module
        self.way = way
        self.compiled = None
        self.counts = Counter()
        self._steps = steps
        self._options = {"math": math, "registry": registry}
        if way.best is not None:
            source = emit_module(module, Options(way.best, way.isa, math))
            library = build(source.text, way.isa, cache=None, tiny=way.tiny) if source.units else None
            self.compiled = Compiled(Translation(source.text, source.units, source.declined), library)

    def call(self, name, args):
        """What the call of `name` on `args` comes to."""
        budget = Budget(self._steps)
        tier = None if self.compiled is None else NativeTier(self.module, self.compiled, budget)
        substitutes = None if tier is None else InC(tier)
        machine = Machine(self.module, budget=budget, substitutes=substitutes, output=_nothing, **self._options)
        try:
            value, verdict = machine.call(name, args), ()
        except RefmlcError as failure:
            value, verdict = None, verdict_of(failure.diagnostic)
        if tier is not None:
            counts = tier.counts
            self.counts.update(
                native=counts.native, declined=counts.declined, stopped=counts.stopped, alarms=counts.false_alarms
            )
        tensors = tuple(left_in(arg) for arg in args if isinstance(arg, Tensor))
        return Outcome(normal(value), verdict, tensors, budget.steps)


def _nothing(_line):
    """Where the output of programs goes."""


def verdict_of(diagnostic):
    """A finding as data; related places with it."""
    related = tuple((one.message, _place(one.span)) for one in diagnostic.related)
    place = _place(diagnostic.span)
    return (diagnostic.code.id, diagnostic.message, place, diagnostic.label, diagnostic.notes, related)


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
        return tensor.numpy().reshape(-1)
    reach = len(tensor.shadow)
    whole = Tensor(tensor.storage, tensor.dtype.scalar, (reach,), None, tensor.byte_offset)
    return whole.numpy()


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
    functions = {f"p{number}": case.func for number, case in enumerate(cases)}
    return IRModule(functions), tuple(functions)


def outcomes(ran, cases):
    """For each case the outcome of each of its calls."""
    return [
        tuple(ran.call(f"p{number}", arguments(recipe)) for recipe in case.recipes) for number, case in enumerate(cases)
    ]


def differences(cases, ways):
    """For each call that does not come to the same in one of the ways: the case, the way, both outcomes."""
    module, _ = together(cases)
    wanted = outcomes(Ran(module, INTERP), cases)
    found, rans = [], []
    for way in ways:
        ran = Ran(module, way)
        rans.append(ran)
        for case, right, given in zip(cases, wanted, outcomes(ran, cases), strict=True):
            found += [(case, way, one, other) for one, other in zip(right, given, strict=True) if one != other]
    return found, rans


def told(found):
    """Differences as text: the first program, and what each tier says."""
    lines = [f"{len(found)} calls differ"]
    for case, way, right, given in found[:1]:
        lines += [repr(case), f"interp: {_short(right)}", f"{way}: {_short(given)}"]
        for number, (one, other) in enumerate(zip(right.tensors, given.tensors, strict=True)):
            if one != other:
                lines.append(f"tensor {number}: {one[0].hex()} {one[1].hex()}, in C {other[0].hex()} {other[1].hex()}")
    return "\n".join(lines)


def _short(outcome):
    return f"{outcome.value} {outcome.verdict[:3]}"
