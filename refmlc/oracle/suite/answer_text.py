"""An answer in words: the kind of end, the returned values, the differences.

Large tensors are cut; the whole answer is made again by running the case.
"""

import math
from collections.abc import Iterator, Mapping

import numpy as np

from refmlc.diag.errors import RefmlcError
from refmlc.oracle.evidence.case_file import CaseFile
from refmlc.oracle.evidence.literals import tensor_of
from refmlc.oracle.evidence.numbers import Data
from refmlc.oracle.evidence.replay import first_options, permitted
from refmlc.oracle.implementations.implementation import Answer, Ended, Stopped
from refmlc.oracle.implementations.local_calls import answered
from refmlc.oracle.parts import parts
from refmlc.oracle.suite.result import Element
from refmlc.run.memory.tensor import Tensor
from refmlc.run.memory.values import kind_of

MOST_ELEMENTS = 16
MOST_VALUES = 64
MOST_PARTS = 8


def answer_text(case: CaseFile, answer: Answer) -> str:
    """The answer, a line for each value."""
    if not isinstance(answer, Ended):
        code = "" if answer.diagnostic is None else f"{answer.diagnostic.code.id}: "
        return f"{answer.why.value}: {'' if code in answer.message else code}{answer.message}"
    answer_parts = answered(lambda: parts(case.module, case.func, answer))
    if isinstance(answer_parts, Stopped):  # the text is none that refmlc reads
        return "it returns"
    lines = []
    for part in answer_parts[:MOST_PARTS]:
        values = f": {values_text(part.value)}" if isinstance(part.value, Tensor) else f" {part.value!r}"
        lines.append(f"{part.label}: {kind_of(part.value)}{values}")
    return "\n".join(lines) or "it returns nothing"


def values_text(tensor: Tensor) -> str:
    """The first elements; `_` for those that were not written."""
    if tensor.dtype.kind == "handle":
        return "handles"
    flat, there = np.ascontiguousarray(tensor.array).reshape(-1), tensor.written.reshape(-1)
    kept = zip(flat[:MOST_VALUES], there[:MOST_VALUES], strict=True)
    more = ", …" if flat.size > MOST_VALUES else ""
    return ", ".join(str(value) if is_written else "_" for value, is_written in kept) + more


def differing(case: CaseFile, number: int, answer: Answer) -> tuple[Element, ...]:
    """The first elements that are not the recorded ones: of a wrong answer those that nothing permits come first."""
    recorded = case.calls[number].assertion.get("parts")
    if not isinstance(answer, Ended) or not isinstance(recorded, list):
        return ()
    answer_parts = parts(case.module, case.func, answer)
    pairs = [(part, data) for part, data in zip(answer_parts, recorded, strict=False) if isinstance(data, dict)]
    elements: list[tuple[bool, Element]] = []
    for part, data in pairs:
        if isinstance(part.value, Tensor) and data.get("rule") not in ("any", "hash") and "dtype" in data:
            elements += _elements(part.label, part.value, data)
    elements.sort(key=lambda each: each[0])
    return tuple(element for _, element in elements[:MOST_ELEMENTS])


def _elements(label: str, tensor: Tensor, data: Mapping[str, Data]) -> Iterator[tuple[bool, Element]]:
    """Each element that differs, and whether it is permitted."""
    try:
        own = tensor_of(first_options(data))
    except RefmlcError:
        return
    if (own.shape, own.dtype) != (tensor.shape, tensor.dtype) or own.dtype.kind == "handle":
        return
    kind, shape = tensor.dtype.scalar, tensor.array.shape
    mine, theirs = (np.ascontiguousarray(each.array).reshape(-1) for each in (tensor, own))
    count = 0
    for at in np.flatnonzero(own.written.reshape(-1)).tolist():
        got, recorded = mine[at].item(), theirs[at].item()
        if permitted(got, recorded, at, {"rule": "exact"}, kind):
            continue
        allowed = permitted(got, recorded, at, data, kind)
        count += not allowed
        index = ", ".join(str(int(place)) for place in np.unravel_index(at, shape)) if shape else ""
        yield allowed, Element(label, f"[{index}]", _shown(mine[at]), _shown(theirs[at]), _range(data, at))
        if count > MOST_ELEMENTS:
            return


def _shown(value: np.generic) -> str:
    """In decimals, and of a float that is a number in hexadecimal, which is exact."""
    number = float(value) if isinstance(value.item(), float) else None
    if number is None or not math.isfinite(number):
        return str(value)
    digits, _, power = number.hex().partition("p")
    return f"{value!s} ({digits.rstrip('0').rstrip('.') if '.' in digits else digits}p{power})"


def _range(data: Mapping[str, Data], at: int) -> str:
    """What an element may be besides the recorded value."""
    match data:
        case {"rule": "certified", "low": list(low), "high": list(high), **rest}:
            specials = rest.get("specials")
            also = f" {specials[at]}" if isinstance(specials, list) and specials[at] else ""
            return f"{low[at]} … {high[at]}{also}"
        case {"rule": "ulp", "ulps": int(most)}:
            return f"± {most} ulp"
        case {"rule": "one of", "options": list(options)}:
            each = options[at]
            return f"one of {', '.join(map(str, each))}" if isinstance(each, list) else ""
        case _:
            return ""
