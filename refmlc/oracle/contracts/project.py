"""Values moved into contracts: clamped, sorted, made distinct; what already satisfies them stays as it is.

| clause                  | what is done to the values that violate it                                         |
|-------------------------|------------------------------------------------------------------------------------|
| `low <= p < high`       | `p` comes into the range, round and round: values that differ stay different        |
| `ascending`             | sorted                                                                             |
| `distinct`              | the next value that is free in the range of `p`, then from its beginning           |
| `finite`                | NaN and infinities become 0                                                        |
| a sum of several values | one value moves by what is missing: the one that breaks least else                 |
| `a or b`                | the elements that satisfy neither are moved into `b`                               |

Values are moved, sizes never: where sizes leave no value (`0 <= p < n` with n = 0), nothing is returned. The result is
checked, so nothing is promised of the ways above: either every clause holds, or nothing is returned.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from refmlc.diag import RefmlcError
from refmlc.oracle.contracts.language import (
    Chain,
    Combination,
    ContractClause,
    Every,
    ItemRange,
    Numeral,
    Property,
    Quantity,
    Some,
    ValueOf,
    Within,
    references,
)
from refmlc.oracle.contracts.values import Elements, Values, amount, holds, index_of, picked

ROUNDS = 8
NEAR = 1 / 8  # of the width of an open interval of floats
OPPOSITE = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}


def projected(
    clauses: Sequence[ContractClause], values: Values, movable: frozenset[str], *, ends: str = ""
) -> dict[str, Elements] | None:
    """The values, those of `movable` moved where a clause asks for it; None: none was found that satisfies all.

    `ends`: of each value in a range, `both` the first and last element stand at its ends; `low`, `high`: all elements.
    """
    result = {name: np.array(array) for name, array in values.items()}
    if ends:
        for name in movable:
            _stretch(clauses, result, name, ends)
    for _ in range(ROUNDS):
        if violated(clauses, result) is None:
            return result
        for clause in sorted(clauses, key=_late):
            if not bool(np.all(holds(clause, result))):
                _repair(clause, clauses, result, movable)
    return result if violated(clauses, result) is None else None


def violated(clauses: Sequence[ContractClause], values: Values) -> ContractClause | None:
    """The first clause that does not hold."""
    return next((clause for clause in clauses if not bool(np.all(holds(clause, values)))), None)


def _late(clause: ContractClause) -> int:
    """Ranges first, then sums, then what moves elements among each other."""
    if isinstance(clause, Property):
        return 2
    return 1 if sum(1 for _ in references(clause)) > 2 else 0


def _repair(
    clause: ContractClause, clauses: Sequence[ContractClause], values: dict[str, Elements], movable: frozenset[str]
) -> None:
    match clause:
        case Property(subject, word) if subject.name in movable:
            _repair_property(subject, word, clauses, values)
        case Within(quantity, low, high, (from_low, to_high)):
            chain = Chain((low, quantity, high), ("<=" if from_low else "<", "<=" if to_high else "<"))
            _repair(chain, clauses, values, movable)
        case Chain((low, ValueOf() as middle, high), (("<" | "<=") as first, ("<" | "<=") as last)) if (
            middle.name in movable and not _names(low) & movable and not _names(high) & movable
        ):
            _wrap(middle, (low, high), (first, last), values)
        case Chain(operands, signs):
            for left, sign, right in zip(operands[:-1], signs, operands[1:], strict=True):
                _repair_pair(left, sign, right, clauses, values, movable)
        case Every(parts):
            for part in parts:
                _repair(part, clauses, values, movable)
        case Some(options):
            _repair_option(clause, options[-1], clauses, values, movable)


def _repair_option(
    clause: Some,
    option: ContractClause,
    clauses: Sequence[ContractClause],
    values: dict[str, Elements],
    movable: frozenset[str],
) -> None:
    """Move the elements that satisfy no option into the last."""
    wrong = ~holds(clause, values)
    moved = {name: np.array(array) for name, array in values.items()}
    _repair(option, clauses, moved, movable)
    for name in {value.name for value in references(option)} & movable:
        same = wrong.shape == values[name].shape
        values[name] = np.where(wrong, moved[name], values[name]) if same else moved[name]


def _wrap(value: ValueOf, ends: tuple[Quantity, Quantity], signs: tuple[str, str], values: dict[str, Elements]) -> None:
    """Bring the elements into their range, round and round."""
    low, high = (amount(end, values) for end in ends)
    elements = picked(values, value)
    if elements.dtype.kind == "f" or low.dtype.kind == "f" or high.dtype.kind == "f":
        finite = np.where(np.isfinite(elements.astype(float)), elements, 0)
        width = np.where(high > low, high - low, 1)
        moved = low + (finite - low) % width
        for sign, end in zip(signs, (low, high), strict=True):
            if sign == "<":  # a narrower float rounds to the end what is near it
                moved = np.where(abs(moved - end) < width * NEAR, low + width / 2, moved)
    else:
        first = low + (signs[0] == "<")
        count = high - first + (signs[1] == "<=")
        moved = np.where(count > 0, first + (elements - first) % np.where(count > 0, count, 1), elements)
    inside = _between(elements, low, high, signs)
    _put(values, value, np.where(inside, elements, moved))


def _between(elements: Elements, low: Elements, high: Elements, signs: tuple[str, str]) -> Elements:
    above = elements > low if signs[0] == "<" else elements >= low
    return np.asarray(above & (elements < high if signs[1] == "<" else elements <= high), dtype=bool)


def _repair_property(
    subject: ValueOf, word: str, clauses: Sequence[ContractClause], values: dict[str, Elements]
) -> None:
    elements = picked(values, subject)
    match word:
        case "finite":
            _put(values, subject, np.where(np.isfinite(elements), elements, 0))
        case "distinct":
            _put(values, subject, _distinct(elements, _range_of(subject, clauses, values)))
        case _:
            moved = np.sort(elements, axis=-1)
            if word.startswith("strictly"):
                moved = _distinct(moved, _range_of(subject, clauses, values))
                moved = np.sort(moved, axis=-1)
            _put(values, subject, moved)


def _distinct(elements: Elements, limits: tuple[int | None, int | None]) -> Elements:
    """The elements, repeated ones replaced by the next free integer."""
    low, high = limits
    taken: set[object] = set()
    result: list[object] = []
    for element in elements.reshape(-1).tolist():
        value = element
        while value in taken:
            value += 1
            if high is not None and value > high:
                value = next((free for free in range(low or 0, high + 1) if free not in taken), element)
                break
        taken.add(value)
        result.append(value)
    return np.array(result, dtype=elements.dtype).reshape(elements.shape)


def _half_inside(
    subject: ValueOf, clauses: Sequence[ContractClause], values: Values
) -> tuple[float | None, float | None]:
    """The ends of the open interval of floats that comparisons with integers leave the subject, moved in by 1/2."""
    low, high = _range_of(subject, clauses, values, signs=("<", ">"))
    return (None if low is None else low - 0.5), (None if high is None else high + 0.5)


def _range_of(
    subject: ValueOf, clauses: Sequence[ContractClause], values: Values, signs: tuple[str, ...] = ("<", "<=", ">", ">=")
) -> tuple[int | None, int | None]:
    """The least and greatest integer that comparisons by these signs leave the whole subject."""
    lows: list[int] = []
    highs: list[int] = []
    for left, sign, right in _pairs(clauses):
        for value, relation, bound in ((left, sign, right), (right, OPPOSITE[sign], left)):
            if relation not in signs or value not in (subject, ValueOf(subject.name)) or subject.name in _names(bound):
                continue
            try:
                limit = amount(bound, values)
            except RefmlcError:
                continue
            if limit.ndim == 0 and limit.dtype.kind != "f" and relation in ("<", "<="):
                highs.append(int(limit) - (relation == "<"))
            elif limit.ndim == 0 and limit.dtype.kind != "f" and relation in (">", ">="):
                lows.append(int(limit) + (relation == ">"))
    return max(lows, default=None), min(highs, default=None)


def _pairs(clauses: Sequence[ContractClause]) -> list[tuple[Quantity, str, Quantity]]:
    """The comparisons of two quantities among the clauses, in the last option of a choice too."""
    result: list[tuple[Quantity, str, Quantity]] = []
    for clause in clauses:
        match clause:
            case Chain(operands, signs):
                result += zip(operands[:-1], signs, operands[1:], strict=True)
            case Within(quantity, low, high, (from_low, to_high)):
                result += [(low, "<=" if from_low else "<", quantity), (quantity, "<=" if to_high else "<", high)]
            case Every(parts):
                result += _pairs(parts)
            case Some(options):
                result += _pairs(options[-1:])
            case _:
                pass
    return result


def _stretch(clauses: Sequence[ContractClause], values: dict[str, Elements], name: str, ends: str) -> None:
    """Put the elements of a value at the ends of its range; of each row that has a range of its own."""
    subjects = {ValueOf(name), *(value for clause in clauses for value in references(clause) if value.name == name)}
    for subject in sorted(subjects, key=lambda value: len(value.items)):
        if any(isinstance(item, ItemRange) and item != ItemRange() for item in subject.items):
            continue
        elements = np.array(picked(values, subject))
        range_of = _half_inside if elements.dtype.kind == "f" else _range_of
        low, high = range_of(subject, clauses, values)
        if elements.size == 0 or low is None or high is None or low > high:
            continue
        flat = elements.reshape(-1)
        match ends:
            case "low" | "high":
                flat[:] = low if ends == "low" else high
            case _:
                flat[-1] = high
                if flat.size > 1:
                    flat[0] = low
        _put(values, subject, flat.reshape(elements.shape))


# ---------------------------------------------------------------------------------- sums of several values


def _repair_pair(
    left: Quantity,
    sign: str,
    right: Quantity,
    clauses: Sequence[ContractClause],
    values: dict[str, Elements],
    movable: frozenset[str],
) -> None:
    """Move one value of `left sign right` so that it holds: the one after which the fewest clauses are violated."""
    clause = Chain((left, right), (sign,))
    if bool(np.all(holds(clause, values))):
        return
    best: tuple[int, dict[str, Elements]] | None = None
    for value in reversed([*references(left), *references(right)]):
        factor = _factor(left, value) - _factor(right, value)
        if value.name not in movable or factor not in (1, -1):
            continue
        candidate = {name: np.array(array) for name, array in values.items()}
        _shift(clause, value, factor, candidate)
        count = sum(not bool(np.all(holds(each, candidate))) for each in clauses)
        if bool(np.all(holds(clause, candidate))) and (best is None or count < best[0]):
            best = count, candidate
    if best is not None:
        values.update(best[1])


def _shift(clause: Chain, value: ValueOf, factor: float, values: dict[str, Elements]) -> None:
    """Move `value` by what `left sign right` lacks."""
    (left, right), (sign,) = clause.operands, clause.signs
    excess = amount(left, values) - amount(right, values)
    target = {"<": -1, "<=": 0, ">": 1, ">=": 0, "==": 0, "!=": 1}[sign]
    moved = np.where(holds(clause, values), 0, target - excess) * factor
    elements = picked(values, value)
    if moved.shape != elements.shape:
        if elements.ndim == 0:
            reach = moved.reshape(-1)[np.argmax(np.abs(moved.astype(float)))] if moved.size else 0
            _put(values, value, elements + reach)
            return
        moved = _reduced(moved, elements.shape)
    _put(values, value, elements + moved)


def _reduced(moved: Elements, shape: tuple[int, ...]) -> Elements:
    """The greatest movements, over the axes that were broadcast."""
    try:
        return np.broadcast_to(moved, shape)
    except ValueError:
        pass
    while moved.ndim > len(shape):
        moved = np.take_along_axis(moved, np.expand_dims(np.argmax(np.abs(moved.astype(float)), axis=0), 0), axis=0)[0]
    return moved if moved.shape == shape else np.zeros(shape, moved.dtype)


def _factor(quantity: Quantity, value: ValueOf) -> float:
    """The factor of `value` in a sum; 0 where it is not in it, or not only in a sum."""
    match quantity:
        case ValueOf():
            return int(quantity == value)
        case Combination("+", left, right):
            return _factor(left, value) + _factor(right, value)
        case Combination("-", left, right):
            return _factor(left, value) - _factor(right, value)
        case Combination("*", Numeral(number), other) | Combination("*", other, Numeral(number)):
            return number * _factor(other, value)
        case _:
            return 0


def _names(quantity: Quantity) -> frozenset[str]:
    return frozenset(value.name for value in references(quantity))


def _put(values: dict[str, Elements], value: ValueOf, elements: Elements) -> None:
    """Put elements where `value` picks them."""
    array = values[value.name]
    if array.ndim == 0:
        values[value.name] = np.asarray(elements).reshape(()).astype(array.dtype)
    elif value.items:
        array[tuple(map(index_of, value.items))] = elements
    else:
        values[value.name] = np.asarray(elements).astype(array.dtype)


def of_numbers(values: Mapping[str, object]) -> dict[str, Elements]:
    """Exact elements of plain numbers and arrays."""
    return {name: np.asarray(value) for name, value in values.items()}
