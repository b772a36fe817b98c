"""A slice as JSON's values: every store with its tree, and for every load which store it saw.

Numbers that JSON has not (NaN, infinities) are strings; exact results are fractions `"p/q"`.
"""

from fractions import Fraction
from math import isfinite

from refmlc.lang.ops.contract import Scalar
from refmlc.observe.why.values import Origin, Slice, Value, Write


def as_data(slice_: Slice) -> dict[str, object]:
    """The slice; stores in the order in which they happened."""
    return {
        "func": slice_.func,
        "element": slice_.element,
        "value": _number(slice_.value),
        "dtype": str(slice_.dtype),
        "from": _source(slice_.source()),
        "writes": [_write(slice_, slice_.writes[number]) for number in sorted(slice_.writes)],
        "cut": slice_.cut,
        "runs": slice_.runs,
    }


def _number(value: Scalar | None) -> object:
    return value if value is None or isinstance(value, (bool, int)) or isfinite(value) else str(value)


def _source(origin: Write | Origin) -> dict[str, object]:
    if isinstance(origin, Write):
        return {"write": origin.number}
    return {"source": origin.source.value, "name": origin.name}


def _write(slice_: Slice, write: Write) -> dict[str, object]:
    return {
        "number": write.number,
        "element": write.element,
        "function": write.function,
        "place": "" if write.span is None else write.span.place,
        "block": write.block,
        "axes": dict(write.axes),
        "loops": dict(write.loops),
        "guards": list(write.guards),
        "bindings": list(write.bindings),
        "outside": write.outside,
        "value": _value(slice_, write.value),
    }


def _fraction(exact: Fraction | None) -> str | None:
    return None if exact is None else str(exact)


def _value(slice_: Slice, value: Value) -> dict[str, object]:
    data: dict[str, object] = {
        "kind": value.kind.value,
        "text": value.text,
        "dtype": str(value.dtype),
        "value": _number(value.value),
        "place": "" if value.span is None else value.span.place,
    }
    if value.cell is not None:
        data["from"] = _source(slice_.source(value))
    if value.rounding is not None:
        rounding = value.rounding
        data["rounding"] = {
            "rule": rounding.rule,
            "exact": _fraction(rounding.exact),
            "error_ulps": None if rounding.error is None else float(rounding.error),
        }
    if value.parts:
        data["parts"] = [_value(slice_, part) for part in value.parts]
    return data
