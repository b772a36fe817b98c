"""Contracts of a function as hypotheses of a proof for all sizes: conditions over its buffers and sizes.

| clause                                       | is                                                               |
|----------------------------------------------|------------------------------------------------------------------|
| comparisons, intervals, `and`, `or`          | the condition at each place, shapes aligned as NumPy does        |
| `ascending`, `strictly ascending`            | for two places of a row, in order                                |
| `distinct`                                   | for two places that differ                                       |
| `finite`, intervals with numbers as ends     | of floats: the interval of all elements                          |
| what else speaks of floats                   | nothing: a proof does not use it                                 |
| slices from the end, other shapes, divisors  | the same                                                         |
"""

import math
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import reduce

from refmlc.lang.dtypes import BOOL, SCALARS
from refmlc.lang.dtypes.rounding import round_fraction
from refmlc.lang.ir import tir
from refmlc.lang.ir.equal import structural_equal
from refmlc.lang.ir.visit import walk
from refmlc.oracle.contracts.contract import INFERRED, ArgumentContract
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
from refmlc.prove.sizes.hypotheses import Assumption, FloatBounds, Hypothesis
from refmlc.prove.sizes.ranges import ROUNDED_ONCE

INT64 = SCALARS["int64"]
COMPARED = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge", "==": "eq", "!=": "ne"}
COMBINED = {"+": "add", "-": "sub", "*": "mul", "//": "floordiv", "%": "floormod", "min": "min", "max": "max"}


class _NotExpressedError(Exception):
    """The clause has no form that a proof can use."""


def hypotheses(func: tir.PrimFunc, rows: Iterable[ArgumentContract]) -> Iterator[Assumption]:
    """The contracts as hypotheses, clause by clause; a clause that has no such form is left out."""
    for row in rows:
        for clause in row.clauses:
            bounds = _float_bounds(func, clause)
            if bounds is not None:
                buffer, low, high = bounds
                yield FloatBounds(buffer, low, high, row.text, row.origin == INFERRED)
                continue
            try:
                hypothesis = _ClauseTranslation(func).of(clause)
            except _NotExpressedError:
                continue
            variables, domain, condition = hypothesis
            yield Hypothesis(variables, domain, condition, row.text, row.origin == INFERRED)


def _float_bounds(func: tir.PrimFunc, clause: ContractClause) -> tuple[tir.Buffer, float, float] | None:
    """The tensor of floats that a clause bounds, and its ends; None: the clause is of another form.

    Ends are rounded to the dtype, as a comparison with the elements does: 2147483647 is 2147483648.0 of float32.
    """
    ends: tuple[int | float, ...] = ()
    match clause:
        case Property(ValueOf() as value, "finite"):
            pass
        case Within(ValueOf() as value, Numeral(low), Numeral(high)):
            ends = (low, high)
        case Chain((Numeral(low), ValueOf() as value, Numeral(high)), signs) if {*signs} <= {"<", "<="}:
            ends = (low, high)
        case _:
            return None
    buffer = next((buffer for buffer in func.buffer_map.values() if buffer.name == value.name), None)
    if buffer is None or buffer.dtype.element not in ROUNDED_ONCE or buffer.dtype.is_vector or value.items:
        return None
    if not ends:
        return buffer, -sys.float_info.max, sys.float_info.max
    least, greatest = (
        float(end) if isinstance(end, float) and math.isinf(end) else round_fraction(Fraction(end), buffer.dtype)
        for end in ends
    )
    return buffer, least, greatest


@dataclass
class _ClauseTranslation:
    """The translation of one clause. `places`: the variables of the aligned axes, the last axis first."""

    func: tir.PrimFunc
    places: list[tir.Var] = field(default_factory=list)
    extents: list[tir.Expr] = field(default_factory=list)
    domain: list[tir.Expr] = field(default_factory=list)

    def of(self, clause: ContractClause) -> tuple[tuple[tir.Var, ...], tuple[tir.Expr, ...], tir.Expr]:
        if isinstance(clause, Property):
            condition = self._property(clause)
        else:
            for value in references(clause):
                self._align(value)
            condition = self._clause(clause)
        return tuple(self.places), tuple(self.domain), condition

    # ------------------------------------------------------------------------------------------ names

    def _buffer(self, name: str) -> tir.Buffer | None:
        return next((buffer for buffer in self.func.buffer_map.values() if buffer.name == name), None)

    def _size(self, name: str) -> tir.Expr:
        extents = [extent for buffer in self.func.buffer_map.values() for extent in buffer.shape]
        sizes = [node for extent in extents for node in walk(extent) if isinstance(node, tir.Var)]
        for var in (*self.func.params, *sizes):
            if var.name == name and var.dtype.is_integer:
                return tir.Cast(INT64, var)
        raise _NotExpressedError

    # ------------------------------------------------------------------------------------------ places

    def _axes(self, value: ValueOf) -> tuple[tir.Buffer, list[tuple[int, tir.Expr] | tir.Expr]]:
        """For each axis of the buffer: the item, or where the picked range begins and how many items it has."""
        buffer = self._buffer(value.name)
        if buffer is None or not buffer.dtype.is_integer or len(value.items) > len(buffer.shape):
            raise _NotExpressedError
        if buffer.dtype.is_vector or (buffer.dtype.kind == "uint" and buffer.dtype.bits == INT64.bits):
            raise _NotExpressedError
        axes: list[tuple[int, tir.Expr] | tir.Expr] = []
        for at, extent in enumerate(buffer.shape):
            item = value.items[at] if at < len(value.items) else ItemRange()
            size = tir.Cast(INT64, extent)
            match item:
                case ItemRange(start, stop):
                    first, last = start or 0, stop
                    if first < 0 or (last is not None and last > 0):
                        raise _NotExpressedError
                    axes.append((first, _apply("add", size, _number((last or 0) - first))))
                case _:
                    place = _number(item) if item >= 0 else _apply("add", size, _number(item))
                    self.domain += [_compare("ge", place, _number(0)), _compare("lt", place, size)]
                    axes.append(place)
        return buffer, axes

    def _align(self, value: ValueOf) -> None:
        """Require that the picked axes fit those of the other values: they are equal or 1."""
        if self._buffer(value.name) is None:
            return
        _buffer, axes = self._axes(value)
        picked = [axis[1] for axis in axes if isinstance(axis, tuple)]
        for at, extent in enumerate(reversed(picked)):
            if at == len(self.places):
                self.places.append(tir.Var(f"place{at}", INT64))
                self.extents.append(extent)
                self.domain.append(_compare("ge", self.places[at], _number(0)))
                self.domain.append(_compare("lt", self.places[at], extent))
            elif not structural_equal(self.extents[at], extent):
                raise _NotExpressedError

    def _element(self, value: ValueOf, places: Sequence[tir.Var]) -> tir.Expr:
        """The element at the places of the axes, the last axis first."""
        buffer, axes = self._axes(value)
        left = list(places)[: sum(isinstance(axis, tuple) for axis in axes)]
        indices = [_apply("add", left.pop(), _number(axis[0])) if isinstance(axis, tuple) else axis for axis in axes]
        return tir.Cast(INT64, tir.BufferLoad(buffer, tuple(indices)))

    # ------------------------------------------------------------------------------------------ clauses

    def _clause(self, clause: ContractClause) -> tir.Expr:
        match clause:
            case Chain(operands, signs):
                values = [self._quantity(operand) for operand in operands]
                pairs = zip(signs, values[:-1], values[1:], strict=True)
                return reduce(tir.And, [_compare(COMPARED[sign], a, b) for sign, a, b in pairs])
            case Within(quantity, low, high, (from_low, to_high)):
                signs = ("<=" if from_low else "<", "<=" if to_high else "<")
                return self._clause(Chain((low, quantity, high), signs))
            case Every(parts):
                return reduce(tir.And, map(self._clause, parts))
            case Some(options):
                return reduce(tir.Or, map(self._clause, options))
            case _:
                raise _NotExpressedError

    def _quantity(self, quantity: Quantity) -> tir.Expr:
        match quantity:
            case Numeral(int() as value):
                return _number(value)
            case ValueOf(name):
                return self._size(name) if self._buffer(name) is None else self._element(quantity, self.places)
            case Combination(op, left, right):
                if op in ("//", "%") and not (isinstance(right, Numeral) and right.value > 0):
                    raise _NotExpressedError
                return _apply(COMBINED[op], self._quantity(left), self._quantity(right))
            case _:
                raise _NotExpressedError

    def _property(self, clause: Property) -> tir.Expr:
        self._align(clause.subject)
        if clause.word == "finite" or not self.places:
            raise _NotExpressedError
        first = list(self.places)
        if clause.word == "distinct":
            second = [tir.Var(f"other{at}", INT64) for at in range(len(first))]
            moved = second
        else:
            second = [tir.Var("other0", INT64), *first[1:]]
            moved = second[:1]
        self.places += moved
        for var, extent in zip(moved, self.extents, strict=False):
            self.domain += [_compare("ge", var, _number(0)), _compare("lt", var, extent)]
        before, after = self._element(clause.subject, first), self._element(clause.subject, second)
        if clause.word == "distinct":
            self.domain.append(reduce(tir.Or, [_compare("ne", a, b) for a, b in zip(first, second, strict=True)]))
            return _compare("ne", before, after)
        self.domain.append(_compare("lt", first[0], second[0]))
        return _compare("lt" if clause.word.startswith("strictly") else "le", before, after)


def _number(value: int) -> tir.Expr:
    return tir.IntImm(INT64, value)


def _apply(op: str, a: tir.Expr, b: tir.Expr) -> tir.Expr:
    return tir.Apply(op, (a, b), INT64)


def _compare(op: str, a: tir.Expr, b: tir.Expr) -> tir.Expr:
    return tir.Apply(op, (a, b), BOOL)
