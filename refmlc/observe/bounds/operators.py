"""Scalar operators on values that may be sets: by the contract's row if all are certain, else by enclosure.

| operands, result              | is                                                                              |
|-------------------------------|---------------------------------------------------------------------------------|
| integers and bools            | the row on every combination of the choices                                     |
| floats to a float             | `arithmetic`, `functions`, max and min of enclosures                            |
| floats to a bool              | which relations occur between members (`relation`)                              |
| reinterpret, other operators  | the row on every combination of members, where they are few; else anything      |
"""

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from itertools import product
from math import prod
from typing import cast

from refmlc.diag import fail
from refmlc.diag.catalogue import UNSUPPORTED_CONSTRUCT
from refmlc.diag.source import Span
from refmlc.lang.dtypes import DType
from refmlc.lang.dtypes.rounding import rounder
from refmlc.lang.ops.contract import Scalar, UndefinedValue
from refmlc.lang.ops.scalar import SCALAR_OPS, converter
from refmlc.observe.bounds import arithmetic, functions
from refmlc.observe.bounds.choice import MOST, UNKNOWN, Choice, Value, Whole, members, on_combinations, one_of, truth
from refmlc.observe.bounds.enclosure import (
    ANYTHING,
    EQ,
    GT,
    LT,
    NAN,
    NINF,
    PINF,
    UN,
    Enclosure,
    absolute,
    between,
    greater,
    join,
    point,
    relation,
    smaller,
)
from refmlc.observe.bounds.freedom import Freedom
from refmlc.observe.bounds.places import as_float, as_whole
from refmlc.observe.bounds.roundoff import Grid

Operator = Callable[..., Value]

RELATIONS: Mapping[str, int] = {
    "eq": EQ,
    "ne": LT | GT | UN,
    "lt": LT,
    "le": LT | EQ,
    "gt": GT,
    "ge": GT | EQ,
}
ARITHMETIC: Mapping[str, Callable[[Enclosure, Enclosure, Grid], Enclosure]] = {
    "add": arithmetic.add,
    "sub": arithmetic.subtract,
    "mul": arithmetic.multiply,
    "div": arithmetic.divide,
}
CLASSES: Mapping[str, int] = {"isnan": NAN, "isinf": PINF | NINF}


def operator(name: str, operands: Sequence[DType], result: DType, freedom: Freedom, span: Span | None) -> Operator:
    """Operator `name` as a function of values. Fails: RM504 where it is not certified."""
    if name in RELATIONS and operands[0].is_float:
        relations = RELATIONS[name]
        return lambda a, b: _compare(relations, a, b)
    if operands[0].is_float and result.is_float:
        return _on_floats(name, operands, Grid(result, freedom), freedom, span)
    if operands[0].is_float and name in ("isnan", "isinf", "isfinite"):
        return lambda a: _classify(name, a)
    row = SCALAR_OPS[name].value(tuple(operands), result)
    if not operands[0].is_float and not result.is_float:
        return lambda *args: on_combinations(cast("Callable[..., int]", row), *(as_whole(arg) for arg in args))
    return lambda *args: on_members(row, args, operands, result)


def _compare(relations: int, a: Value, b: Value) -> Whole:
    occurring = relation(as_float(a), as_float(b))
    return truth(bool(occurring & relations), bool(occurring & ~relations))


def _classify(name: str, a: Value) -> Whole:
    value = as_float(a)
    if name == "isfinite":
        return truth(value.finite, bool(value.specials))
    bits = CLASSES[name]
    return truth(bool(value.specials & bits), value.finite or bool(value.specials & ~bits))


def _on_floats(name: str, operands: Sequence[DType], grid: Grid, freedom: Freedom, span: Span | None) -> Operator:
    match name:
        case "add" | "sub" | "mul" | "div":
            combine = ARITHMETIC[name]
            return lambda a, b: grid.fit(combine(a, b, grid))
        case "max":
            return greater
        case "min":
            return smaller
        case "abs":
            return absolute
        case "likely":
            return lambda a: a
        case "sqrt":
            return lambda a: grid.fit(arithmetic.square_root(a, grid))
        case "reinterpret":
            row = SCALAR_OPS[name].value(tuple(operands), grid.dtype)
            return lambda a: on_members(row, (a,), operands, grid.dtype)
        case "ldexp":
            return lambda a, n: grid.fit(functions.ldexp(a, _number(n, span), grid))
        case _ if len(operands) == 1:
            return lambda a: _require(functions.unary(name, a, grid, freedom), name, grid, span)
        case _:
            return lambda a, b: _require(functions.binary(name, a, b, grid, freedom), name, grid, span)


def _require(result: Enclosure | None, name: str, grid: Grid, span: Span | None) -> Enclosure:
    if result is None:
        raise not_certified(f"operator `{name}`", span)
    return grid.fit(result)


def _number(value: Value, span: Span | None) -> int:
    if isinstance(value, int):
        return value
    raise not_certified("an integer that depends on a rounding", span)


def on_members(row: Callable[..., Scalar], args: Sequence[Value], operands: Sequence[DType], result: DType) -> Value:
    """The row on every combination of members; anything if an operand has too many members."""
    sets = [member_values(arg, kind) for arg, kind in zip(args, operands, strict=True)]
    finite_sets = [numbers for numbers in sets if numbers is not None]
    if len(finite_sets) < len(sets) or prod(len(numbers) for numbers in finite_sets) > MOST:
        return ANYTHING if result.is_float else UNKNOWN
    values: list[Scalar] = []
    for combination in product(*finite_sets):
        with suppress(UndefinedValue):  # it does not occur in a defined program
            values.append(row(*combination))
    if not values:
        return ANYTHING if result.is_float else UNKNOWN
    if not result.is_float:
        return one_of(int(value) for value in values)
    union = point(float(values[0]))
    for value in values[1:]:
        union = join(union, point(float(value)))
    return union


def member_values(value: Value, dtype: DType) -> list[Scalar] | None:
    """The members, zero with both signs; None for more than `MOST`, and for NaN, whose bits are any."""
    if not isinstance(value, Enclosure):
        options = members(value)
        return None if options is None else list(options)
    if value.specials & NAN or value.size == math.inf:
        return None
    numbers: list[Scalar] = [*value.special_members()]
    if not value.finite:
        return numbers
    row = SCALAR_OPS["nextafter"].value((dtype, dtype), dtype)
    zeros = [0.0] if dtype.format.special == "fnuz" else [0.0, -0.0]
    x = rounder(dtype)(float(value.low))
    while x < value.low:
        x = float(row(x, math.inf))
    while x <= value.high and len(numbers) <= MOST:
        numbers += [x] if x else zeros
        x = float(row(x, math.inf))
    return numbers if 0 < len(numbers) <= MOST else None


def not_certified(what: str, span: Span | None) -> Exception:
    """The failure RM504: no bounds are computed for `what`."""
    return fail(UNSUPPORTED_CONSTRUCT, f"{what} is not certified: no bound is computed for it", span)


# --------------------------------------------------------------------------------------------------- conversions


def conversion(source: DType, target: DType, freedom: Freedom, span: Span | None) -> Callable[[Value], Value]:
    """`Cast` as a function of values."""
    if source.is_float and target.is_float:
        grid = Grid(target, freedom)
        return lambda value: grid.image(as_float(value))
    if source.is_float:
        return lambda value: _truncate(as_float(value), target)
    convert = converter(source, target)
    if not target.is_float:
        return lambda value: on_combinations(lambda number: int(convert(number)), as_whole(value))
    grid = Grid(target, freedom)

    def from_whole(value: Value) -> Value:
        if isinstance(value, int):
            return grid.image(Enclosure(Fraction(value)))
        if isinstance(value, Choice) and value.values is not None:
            return grid.image(between(Fraction(min(value.values)), Fraction(max(value.values))))
        raise not_certified("an integer that depends on a rounding", span)

    return from_whole


def _truncate(a: Enclosure, target: DType) -> Whole:
    if target.kind == "bool":
        zero = a.finite and a.low <= 0 <= a.high
        return truth(not (a.exact and not a.centre), zero)
    if not a.finite or abs(a.low) == float("inf"):
        return UNKNOWN
    low, high = int(a.low), int(a.high)
    return one_of(range(max(low, target.minimum), min(high, target.maximum) + 1)) if high - low < 100 else UNKNOWN
