"""The value of a term at known arguments: what the interpreter computes there, by another way.

A proof and the interpreter have one meaning if every term of an execution has the value that the interpreter gives;
the tests compare them on drawn programs.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from functools import reduce
from typing import cast

from refmlc.lang.dtypes import DType
from refmlc.lang.dtypes.rounding import round_fraction
from refmlc.lang.ops.contract import Scalar
from refmlc.lang.ops.scalar import SCALAR_OPS
from refmlc.lang.ops.scalar.convert import converter
from refmlc.prove.terms import CAST, ELEMENTS, FMA, READ, SELECT, SymbolicTerm, TermValue

Arguments = Callable[[str, tuple[int, ...]], Scalar]
"""The element of an argument, by its name and indices."""


class Evaluation:
    """Values of terms at one set of arguments. Fails: UndefinedValue where an operator has none."""

    def __init__(self, arguments: Arguments) -> None:
        self._arguments = arguments
        self._values: dict[int, Scalar] = {}

    def value(self, value: TermValue) -> Scalar:
        """The value of a term; a side of a selection that is not selected is not evaluated."""
        if not isinstance(value, SymbolicTerm):
            return value
        stack = [value]
        while stack:
            term = stack[-1]
            if term.number in self._values:
                stack.pop()
                continue
            missing = [
                arg for arg in self._needed(term) if isinstance(arg, SymbolicTerm) and arg.number not in self._values
            ]
            if missing:
                stack.extend(missing)
            else:
                self._values[term.number] = self._compute(term)
                stack.pop()
        return self._values[value.number]

    def _known(self, value: TermValue) -> Scalar:
        return self._values[value.number] if isinstance(value, SymbolicTerm) else value

    def _needed(self, term: SymbolicTerm) -> tuple[TermValue, ...]:
        """The operands that must have a value now."""
        if term.op == ELEMENTS:
            return ()  # only the element that is read needs a value
        if term.op == READ:
            if any(isinstance(arg, SymbolicTerm) and arg.number not in self._values for arg in term.args[1:]):
                return term.args[1:]
            return (self._element(term),)
        if term.op == SELECT:
            condition, yes, no = term.args
            if isinstance(condition, SymbolicTerm) and condition.number not in self._values:
                return (condition,)
            return (yes,) if self._known(condition) else (no,)
        return term.args

    def _compute(self, term: SymbolicTerm) -> Scalar:
        match term.op:
            case "leaf":
                name, indices = cast("tuple[str, tuple[int, ...]]", term.detail)
                return self._arguments(name, indices)
            case "select":
                condition, yes, no = term.args
                return self._known(yes if self._known(condition) else no)
            case "read":
                return self._known(self._element(term))
        args = [self._known(arg) for arg in term.args]
        if term.op == CAST:
            return converter(cast("DType", term.detail), term.dtype)(args[0])
        if term.op == FMA:
            return _fused(term, *args)
        row = SCALAR_OPS[term.op]
        function = row.value(cast("tuple[DType, ...]", term.detail), term.dtype)
        return function(*args) if row.contract.arity == 1 or len(args) == row.contract.arity else reduce(function, args)

    def _element(self, term: SymbolicTerm) -> TermValue:
        """The element that a read reads. Fails: IndexError out of bounds."""
        elements = cast("SymbolicTerm", term.args[0])
        place = 0
        for extent, arg in zip(cast("tuple[int, ...]", elements.detail), term.args[1:], strict=True):
            index = int(self._known(arg))
            if not 0 <= index < extent:
                raise IndexError(index)
            place = place * extent + index
        return elements.args[place]


def _fused(term: SymbolicTerm, x: Scalar, y: Scalar, z: Scalar) -> Scalar:
    """`fma`: one rounding (TIR-309)."""
    if not (math.isfinite(x) and math.isfinite(y) and math.isfinite(z)):
        return x * y + z
    exact = Fraction(x) * Fraction(y) + Fraction(z)
    return round_fraction(exact, term.dtype) if exact else x * y + z
