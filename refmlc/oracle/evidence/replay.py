"""A case made again: what the oracle says now, and whether what was written down still holds.

| the finding             | is made again by                                                    |
|-------------------------|---------------------------------------------------------------------|
| RM705                   | the variants of the program too                                     |
| RM709                   | each operator against its definition                                |
| RM710                   | a search for the first result that is not finite                    |
| RM706                   | the model, which the case does not have: `recorded_model`           |
| any other, RM3xx too    | the meaning, and each implementation                                |

`holds` asks an answer of any implementation for what the file asserts, and for nothing else: no reference is run.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isinf, isnan

import numpy as np

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE, CONTRADICTION, INACCURATE, NOT_FINITE, WRONG_IMPORT
from refmlc.lang.dtypes import DType
from refmlc.oracle.compare import distance
from refmlc.oracle.evidence.case_file import CaseFile
from refmlc.oracle.evidence.literals import UNWRITTEN, digest, number_of, tensor_of
from refmlc.oracle.evidence.record import place_of
from refmlc.oracle.exact.against import held
from refmlc.oracle.examine import Examination, examine
from refmlc.oracle.implementations.implementation import Answer, Ended, Implementation, Limits, Stop
from refmlc.oracle.implementations.interp import Interp
from refmlc.oracle.non_finite import with_birth
from refmlc.oracle.parts import ResultPart, bits, parts
from refmlc.oracle.toml_text import Data
from refmlc.run.memory.tensor import Tensor
from refmlc.run.memory.values import Shape, kind_of

PAIRED = frozenset((CONTRADICTION.id,))
STOPS = {"undefined": Stop.UNDEFINED, "trap": Stop.TRAP, "reject": Stop.REJECTED}


@dataclass(frozen=True)
class ReplayResult:
    """What became of a case. `broken`: by call, what the file says and the meaning does not hold any more."""

    case: CaseFile
    examination: Examination
    broken: tuple[str, ...]


def replay(case: CaseFile, implementations: Sequence[Implementation], limits: Limits | None = None) -> ReplayResult:
    """Examine the case again, in the way in which its finding was made (the table above).

    Fails: RM1xx, RM109 for an invalid file; RM112 for a finding on an importer, which needs the model.
    """
    if case.code == WRONG_IMPORT.id:
        message = f"{case.place} is a finding on an importer, of which the case has the module alone"
        raise fail(BAD_USAGE, message, None, "`refmlc replay FILE --model MODEL` makes it again")
    allow = frozenset(case.allow)
    examination = examine(
        [case],
        implementations,
        limits=limits,
        pairs=case.code in PAIRED,
        allow=allow,
        as_written=case.as_written,
        orders=case.orders,
    )[0]
    if case.code == INACCURATE.id:
        examination = held(examination, implementations, Interp(limits or Limits(), allow=allow))
    if case.code == NOT_FINITE.id:
        examination = with_birth(examination)
    broken = []
    for number, reference in enumerate(examination.reference):
        wrong = holds(case, number, reference.answer)
        if wrong:
            broken.append(f"call {number + 1}: {wrong}")
    return ReplayResult(case, examination, tuple(broken))


def holds(case: CaseFile, number: int, answer: Answer) -> str:
    """Why `answer` differs from the expected result of call `number`; empty if it does not."""
    assertion = case.calls[number].assertion
    match assertion:
        case {"kind": "return", "parts": list(recorded)}:
            if not isinstance(answer, Ended):
                return f"it does not return: {answer.message}"
            answer_parts = parts(case.module, case.func, answer)
            if len(answer_parts) != len(recorded):
                return f"{len(answer_parts)} values are returned; {len(recorded)} are recorded"
            originals = _argument_parts(case, number) if any(_is_kept(data) for data in recorded) else []
            reasons = (
                _change_of(part, originals) if _is_kept(data) else _part(part, data)
                for part, data in zip(answer_parts, recorded, strict=True)
                if isinstance(data, dict)
            )
            return next((why for why in reasons if why), "")
        case {"kind": "undefined" | "trap" | "reject" as kind, **rest}:
            return _stops(answer, STOPS[str(kind)], rest)
        case _:
            return ""


def _stops(answer: Answer, why: Stop, assertion: Mapping[str, Data]) -> str:
    kind = why.value
    if isinstance(answer, Ended):
        return f"it returns; {kind} {assertion.get('code')} is recorded"
    code = "" if answer.diagnostic is None else answer.diagnostic.code.id
    place = "" if answer.diagnostic is None else place_of(answer.diagnostic)
    if (answer.why.value, code) != (kind, assertion.get("code")) or (
        assertion.get("place") and place != assertion["place"]
    ):
        recorded = f"{kind} {assertion.get('code')} at {assertion.get('place')}"
        return f"it is {answer.why.value} {code} at {place}; {recorded} is recorded"
    return ""


def _is_kept(data: Data) -> bool:
    return isinstance(data, dict) and data.get("rule") == "kept"


def _argument_parts(case: CaseFile, number: int) -> list[ResultPart]:
    """The tensors that the call was given."""
    return parts(case.module, case.func, Ended(None, tuple(case.arguments(number))))


def _change_of(part: ResultPart, originals: Sequence[ResultPart]) -> str:
    """Why a tensor of an argument was changed by the call."""
    original_bits = [
        bits(original.value)
        for original in originals
        if (original.argument, original.label) == (part.argument, part.label)
    ]
    return "" if original_bits == [bits(part.value)] else f"{part.label} was changed by the call"


def _part(part: ResultPart, data: Mapping[str, Data]) -> str:
    """Why one value is not the one that is recorded."""
    match part.value, data:
        case _, {"rule": "any"}:
            return ""
        case Tensor() as tensor, {"rule": "hash"}:
            return _hashed(part.label, tensor, data)
        case Tensor() as tensor, {"dtype": _}:
            return _tensor(part.label, tensor, data)
        case Shape() as shape, {"extents": list(extents)}:
            is_equal = list(shape) == extents
        case bool() | int() | float() as value, {"value": recorded}:
            kind = DType("float64", "float", 64) if isinstance(value, float) else DType("int64", "int", 64)
            is_equal = (
                bits(value) == bits(number_of(recorded, kind)) if not isinstance(value, bool) else value == recorded
            )
        case _:
            is_equal = False
    return "" if is_equal else f"{part.label} is {kind_of(part.value)}, the case records another value"


def _hashed(label: str, tensor: Tensor, data: Mapping[str, Data]) -> str:
    """Why all elements together are not those whose digest is recorded."""
    if [str(tensor.dtype), *tensor.shape] != [data.get("dtype"), *_items(data.get("shape"))]:
        return f"{label} is {kind_of(tensor)}, recorded is {data.get('dtype')} of shape {data.get('shape')}"
    return "" if digest(tensor) == data.get("sha256") else f"{label} differs from the recorded elements"


def _items(data: Data) -> list[Data]:
    return data if isinstance(data, list) else []


def _tensor(label: str, tensor: Tensor, data: Mapping[str, Data]) -> str:
    recorded = tensor_of(first_options(data))
    if (tensor.shape, tensor.dtype) != (recorded.shape, recorded.dtype):
        return f"{label} is {kind_of(tensor)}, recorded is {kind_of(recorded)}"
    is_written = recorded.written.reshape(-1)
    elements, recorded_elements = (np.ascontiguousarray(operand.array).reshape(-1) for operand in (tensor, recorded))
    kind = tensor.dtype.scalar
    for number in np.flatnonzero(is_written).tolist():
        if not permitted(elements[number].item(), recorded_elements[number].item(), number, data, kind):
            return f"{label}: element {number} is {elements[number]!s}, recorded is {recorded_elements[number]!s}"
    return ""


def first_options(data: Mapping[str, Data]) -> Mapping[str, Data]:
    """A tensor of alternatives with the first of each element as its value."""
    match data:
        case {"rule": "one of", "options": list(options)}:
            return {**data, "values": [_items(option)[0] if _items(option) else UNWRITTEN for option in options]}
        case _:
            return data


def permitted(value: float, recorded: float, number: int, data: Mapping[str, Data], kind: DType) -> bool:
    """Whether the rule of a recorded tensor permits `value` as its element `number`."""
    match data:
        case {"rule": "certified", "low": list(low), "high": list(high), **rest}:
            specials = rest.get("specials")
            allowed = str(specials[number]).split() if isinstance(specials, list) else []
            if isnan(value) or isinf(value):
                return ("nan" if isnan(value) else "inf" if value > 0 else "-inf") in allowed
            wide = DType("float64", "float", 64)
            return number_of(low[number], wide) <= value <= number_of(high[number], wide)
        case {"rule": "one of", "options": list(options)}:
            return any(bits(value) == bits(number_of(option, kind)) for option in _items(options[number]))
        case {"rule": "ulp", "ulps": int(limit)}:
            steps = distance(value, recorded, kind)
            return steps is not None and steps <= limit
        case _:
            return bits(value) == bits(recorded)
