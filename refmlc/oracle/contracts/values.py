"""Whether values satisfy a clause: the exact meaning of the language, by NumPy's rules of shape.

Integers are exact: sums that could pass 64 bits are computed with Python's. Floats are compared in 64 bits, which hold
every narrower one. NaN satisfies no comparison.
"""

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE
from refmlc.oracle.contracts.language import (
    Chain,
    Combination,
    ContractClause,
    Every,
    Item,
    ItemRange,
    Numeral,
    Property,
    Quantity,
    Some,
    ValueOf,
    Within,
    clause_text,
    quantity_text,
)

Elements: TypeAlias = NDArray[Any]
Values: TypeAlias = Mapping[str, Elements]
"""Exact elements by name; a number or size is an array of rank 0."""

COMPARED = {"<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal, "==": np.equal}
COMPARED_ALL = {**COMPARED, "!=": np.not_equal}
COMBINED = {"+": np.add, "-": np.subtract, "*": np.multiply, "min": np.minimum, "max": np.maximum}
SAFE = 1 << 20  # integers up to here cannot pass 64 bits in a line of 2000 characters … products of three at most


def exact(array: Elements) -> Elements:
    """The elements as int64, as Python's integers where they are large, or as float64."""
    if array.dtype.kind == "b":
        return array.astype(np.int64)
    if array.dtype.kind in "iu":
        large = array.size and (int(array.max()) > SAFE or int(array.min()) < -SAFE)
        return array.astype(object if large else np.int64)
    return array if array.dtype == object else array.astype(np.float64)


def picked(values: Values, value: ValueOf) -> Elements:
    """The elements that `value` names. Fails: RM112 for a name or index that the call has not."""
    if value.name not in values:
        names = ", ".join(values) or "none"
        raise fail(BAD_USAGE, f"a contract speaks of `{value.name}`, which is no parameter and no size", None, names)
    array = values[value.name]
    try:
        return array[tuple(map(index_of, value.items))] if value.items else array
    except IndexError:
        message = f"a contract speaks of `{quantity_text(value)}`, but `{value.name}` has the shape {array.shape}"
        raise fail(BAD_USAGE, message) from None


def index_of(item: Item) -> int | slice:
    """NumPy's index of an item."""
    return slice(item.start, item.stop) if isinstance(item, ItemRange) else item


def amount(quantity: Quantity, values: Values) -> Elements:
    """The elements of a quantity. Fails: RM112 (a name or index that is not there, a division by 0, shapes)."""
    match quantity:
        case Numeral(value):
            return np.asarray(value)
        case ValueOf():
            return picked(values, quantity)
        case Combination(op, left, right):
            a, b = amount(left, values), amount(right, values)
            try:
                if op in COMBINED:
                    return np.asarray(COMBINED[op](a, b))
                if not np.all(np.asarray(b != 0)):
                    raise fail(BAD_USAGE, f"a contract divides by 0: `{quantity_text(quantity)}`")
                return np.asarray(a // b if op == "//" else a % b)
            except ValueError:
                raise _unlike(quantity_text(quantity), a, b) from None


def holds(clause: ContractClause, values: Values) -> Elements:
    """Bools: where the clause holds, element by element; of rank 0 for a property. Fails: RM112, as `amount`."""
    match clause:
        case Chain(operands, signs):
            parts = [amount(operand, values) for operand in operands]
            pairs = [_compared(sign, a, b, clause) for sign, a, b in zip(signs, parts[:-1], parts[1:], strict=True)]
            return _together(pairs, clause)
        case Within(quantity, low, high, (from_low, to_high)):
            signs = ("<=" if from_low else "<", "<=" if to_high else "<")
            return holds(Chain((low, quantity, high), signs), values)
        case Property(subject, word):
            return np.asarray(_has(picked(values, subject), word))
        case Every(parts):
            return _together([holds(part, values) for part in parts], clause)
        case Some(options):
            return ~_together([~holds(option, values) for option in options], clause)


def _compared(sign: str, a: Elements, b: Elements, clause: ContractClause) -> Elements:
    try:
        return np.asarray(COMPARED_ALL[sign](a, b), dtype=bool)
    except ValueError:
        raise _unlike(clause_text(clause), a, b) from None


def _together(masks: list[Elements], clause: ContractClause) -> Elements:
    result = masks[0]
    for mask in masks[1:]:
        try:
            result = np.asarray(result & mask, dtype=bool)
        except ValueError:
            raise _unlike(clause_text(clause), result, mask) from None
    return result


def _has(elements: Elements, word: str) -> bool:
    """Whether the elements have a property."""
    match word:
        case "ascending" | "strictly ascending" if elements.ndim:
            before, after = elements[..., :-1], elements[..., 1:]
            return bool(np.all(np.asarray(before < after if word.startswith("strictly") else before <= after)))
        case "distinct":
            flat = elements.reshape(-1).tolist()
            return len(set(flat)) == len(flat)
        case "finite":
            return elements.dtype.kind != "f" or bool(np.all(np.isfinite(elements)))
        case _:
            return True


def _unlike(text: str, a: Elements, b: Elements) -> Exception:
    return fail(BAD_USAGE, f"the contract `{text}` compares shapes that do not fit: {a.shape} and {b.shape}")
