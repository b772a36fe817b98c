"""NaN and infinities that a program makes from finite arguments: the element, and the operator that gave the first one.

Such a result is what the program means, so it is no fault of anybody; but few authors want it. The backward slice of
the element (`refmlc.observe.why`) leads to the place, from load to store, up to an operator whose operands are finite.

| the value comes from                                         | then nothing is reported                     |
|--------------------------------------------------------------|----------------------------------------------|
| an argument that is not finite                               | for that call                                |
| a constant of the program, such as the infinity of a mask    | for the element                              |
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from refmlc.diag.catalogue import NOT_FINITE
from refmlc.diag.errors import RefmlcError
from refmlc.diag.source import Span
from refmlc.observe.why import Kind, Slice, SliceLimits, Value, Write, why
from refmlc.oracle.agreement import PartComparison
from refmlc.oracle.examine import Examination
from refmlc.oracle.finding import make_finding
from refmlc.oracle.implementations.implementation import Ended
from refmlc.oracle.outcome import Kind as Outcome, Verdict
from refmlc.oracle.parts import ResultPart, parts
from refmlc.oracle.reference import Program, Reference
from refmlc.run.memory.tensor import Tensor

MOST_STEPS = 100_000
MOST_OPERANDS = 3


@dataclass(frozen=True)
class Birth:
    """An element that is not finite, and where that begins. `operation` is empty where it was not searched."""

    call: int
    element: str
    value: float
    operation: str = ""
    span: Span | None = None

    @property
    def of_call(self) -> str:
        """One line, without the number of the call."""
        place = "" if self.span is None else f" at {self.span.place}"
        born = f": {self.operation}{place}" if self.operation else ""
        return f"call makes {self.value} from finite arguments in {self.element}{born}"

    def __str__(self) -> str:
        """One line."""
        return self.of_call.replace("call", f"call {self.call + 1}", 1)


def birth(program: Program, number: int, reference: Reference) -> Birth | None:
    """The first element of call `number` that is not finite though all arguments are; None: there is none."""
    if not isinstance(reference.answer, Ended) or not all(map(_is_finite, program.arguments(number))):
        return None
    for part in parts(program.module, program.func, reference.answer):
        index = _first(part.value)
        if index is not None and isinstance(part.value, Tensor):
            return _birth(program, number, part, index, reference.steps)
    return None


def first_birth(examination: Examination) -> Birth | None:
    """The birth in the first call that has one."""
    references = enumerate(examination.reference)
    return next(filter(None, (birth(examination.case, *call) for call in references)), None)


def with_birth(examination: Examination) -> Examination:
    """The examination with the first birth as a finding (RM710); as it is where there is none."""
    born = first_birth(examination)
    if born is None:
        return examination
    program = examination.case
    compared = PartComparison(born.element, Verdict(Outcome.EQUAL, notes=(str(born),)))
    message = f"`{program.func}` makes {born.value} from finite arguments"
    finding = make_finding(NOT_FINITE, message, program, born.call, "", compared, examination.reference[born.call])
    if born.span is not None:
        finding = replace(finding, diagnostic=replace(finding.diagnostic, span=born.span))
    return replace(examination, findings=(*examination.findings, finding))


def _is_finite(value: object) -> bool:
    if isinstance(value, tuple):
        return all(map(_is_finite, value))
    return math.isfinite(value) if isinstance(value, float) else _first(value) is None


def _first(value: object) -> tuple[int, ...] | None:
    """The index of the first written element that is not finite."""
    if not isinstance(value, Tensor) or not value.dtype.is_float or value.dtype.is_vector:
        return None
    with np.errstate(all="ignore"):
        finite = np.isfinite(value.array.astype(np.float64))
    places = np.argwhere(~finite & value.written)
    return tuple(places[0].tolist()) if len(places) else None


def _birth(program: Program, number: int, part: ResultPart, index: tuple[int, ...], steps: int) -> Birth | None:
    """The birth of an element of `part`; None: its value is a constant of the program."""
    assert isinstance(part.value, Tensor)  # noqa: S101 - the caller has looked
    name = part.label.strip("`").removeprefix("the ").replace(", field ", ".")
    element = f"`{name}[{', '.join(map(str, index))}]`"
    bare = Birth(number, element, float(part.value.array[index]))
    if steps > MOST_STEPS:
        return bare
    try:
        slice_ = why(program.module, program.func, program.arguments(number), name, index, limits=SliceLimits(depth=12))
    except RefmlcError:
        return bare
    origin = _origin(slice_)
    if origin is None:
        return bare
    value, write = origin
    if value.kind is Kind.CONSTANT:
        return None
    within = f" in `{write.bindings[-1]}`" if value.span is None and write.bindings else ""
    return Birth(number, element, bare.value, f"{_text(value)}{within}", value.span)


def _origin(slice_: Slice) -> tuple[Value, Write] | None:
    """The value that is not finite although its operands are, and its store; None: the slice does not reach it."""
    write = slice_.source()
    visited: set[int] = set()
    while isinstance(write, Write) and write.number not in visited:
        visited.add(write.number)
        value = _innermost(write.value)
        if value.kind is not Kind.LOAD:
            return value, write
        write = slice_.source(value)
    return None


def _innermost(value: Value) -> Value:
    """The first operand that is not finite, and so on downwards."""
    while value.kind is not Kind.LOAD:
        below = next((part for part in value.parts if _broken(part)), None)
        if below is None:
            break
        value = below
    return value


def _broken(value: Value) -> bool:
    return isinstance(value.value, float) and not math.isfinite(value.value)


def _text(value: Value) -> str:
    """The operation with the values of its operands."""
    operands = ", ".join(
        f"{part.value:.6g}" if isinstance(part.value, float) else str(part.value) for part in value.parts
    )
    return f"{value.text}({operands})" if 0 < len(value.parts) <= MOST_OPERANDS else value.text
