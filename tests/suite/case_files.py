"""Cases as they stand in conformance/cases, read without refmlc: texts by Python's own parser, tensors as arrays."""

import ast
import math
import tomllib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from rounding import stored

CASES = Path(__file__).resolve().parents[2] / "conformance" / "cases"


class NoWitness(Exception):
    """Nothing here computes what the case is about."""


@dataclass(frozen=True)
class Case:
    """One case: its row in the file, and the function that is called."""

    id: str
    row: dict
    function: ast.FunctionDef


def cases(area, *provenances):
    """The cases of an area whose expected values have one of these provenances."""
    for path in sorted((CASES / area).glob("*.toml")):
        data = tomllib.loads(path.read_text("utf-8"))
        for row in data["case"]:
            if row["provenance"] in provenances:
                text = row["module"] if "module" in row else data["modules"][row["uses"]]
                nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)]
                [function] = [node for node in nodes if node.name == row["func"]]
                yield Case(row["id"], row, function)


def elements(tensor):
    """The elements of a tensor, of any dtype, as numbers of Python; None where nothing was written."""
    if "values" not in tensor:
        raise NoWitness("elements that are not listed")
    is_float = "float" in tensor["dtype"]
    return [None if each == "_" else float.fromhex(each) if is_float else int(each) for each in tensor["values"]]


def array_of(tensor):
    """A tensor as an array."""
    if "tuple" in tensor or "strides" in tensor or "dtype" not in tensor:
        raise NoWitness("no dense tensor")
    values = elements(tensor)
    if None in values:
        raise NoWitness("elements that nothing was written to")
    with np.errstate(all="ignore"):
        return (
            np.array(values, np.float64 if "float" in tensor["dtype"] else object)
            .astype(stored(tensor["dtype"]))
            .reshape(tensor["shape"])
        )


def wrong(part, values):
    """Where numbers of a witness are not what a part expects: place, number, what is expected; None: nowhere."""
    if part["rule"] not in ("exact", "certified"):
        raise NoWitness(f"rule {part['rule']}")
    if part["rule"] == "exact":
        expected = elements(part)
        differs = [each is not None and not is_same(each, value) for each, value in zip(expected, values, strict=True)]
    else:
        ends = zip(part["low"], part["high"], part.get("specials") or [""] * len(values), strict=True)
        expected = [(float.fromhex(low), float.fromhex(high), special) for low, high, special in ends]
        differs = [not is_within(value, *each) for each, value in zip(expected, values, strict=True)]
    return next(((at, values[at], expected[at]) for at in range(len(values)) if differs[at]), None)


def is_same(a, b):
    """Equality of bits; all NaN are alike."""
    if isinstance(a, float) and isinstance(b, float):
        return (math.isnan(a) and math.isnan(b)) or (a == b and math.copysign(1, a) == math.copysign(1, b))
    return a == b


def is_within(value, low, high, special):
    """Whether a number is between two ends, or among the special ones."""
    return low <= value <= high or (not math.isfinite(value) and str(value) in special.split())
