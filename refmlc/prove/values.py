"""Scalar operators on terms: a row whose value is a term as soon as an operand is one.

The interpreter asks a machine for the rows of operators. It gets these: numbers are computed as always, so loops,
indices, sizes and constants stay numbers.

An operator that may be undefined is an obligation. Where a law of its row gives the value (`a + 0`, `a * 1`, `a - a`),
it is defined; and `a + b` is defined where `b + a` is.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace

from refmlc.diag.source import Span
from refmlc.lang.dtypes import DType
from refmlc.lang.ops.contract import Contract, Scalar, ScalarOp, Value
from refmlc.lang.ops.scalar.convert import contains, converter
from refmlc.prove.memory import TermMemory
from refmlc.prove.terms import CAST, WIDE, SymbolicTerm, TermValue, clipped

WRAPPING = ("add", "sub", "mul")
"""Operators that are undefined where wide integers overflow, and wrap in narrow ones (NUM-101)."""
Convert = Callable[[TermValue, Span | None], TermValue]


def rows(scalar_ops: Mapping[str, ScalarOp], memory: TermMemory) -> dict[str, ScalarOp]:
    """The rows of operators, on terms too."""
    return {name: _row(row, memory) for name, row in scalar_ops.items()}


def _row(row: ScalarOp, memory: TermMemory) -> ScalarOp:
    contract = row.contract

    def value(operands: tuple[DType, ...], result: DType) -> Value:
        of_numbers = row.value(operands, result)
        is_partial = may_be_undefined(contract, operands, result)

        def of_terms(*args: Scalar) -> Scalar:
            if not any(isinstance(arg, SymbolicTerm) for arg in args):
                return of_numbers(*args)
            values: tuple[TermValue, ...] = args
            term = memory.terms.apply(contract.name, operands, result, values)
            if is_partial and isinstance(term, SymbolicTerm) and not any(term is operand for operand in values):
                memory.oblige("defined", term.number, f"`{clipped(term)}` is defined", None)
            return term  # type: ignore[return-value]

        return of_terms

    return replace(row, value=value)


def may_be_undefined(contract: Contract, operands: tuple[DType, ...], result: DType) -> bool:
    """Whether the operator is undefined for some operands of these dtypes; True in doubt.

    Every predicate of a row is one on integers; a float result may lack a code for NaN (NUM-004).
    """
    if result.is_float and not result.format.has_nan:
        return True
    if contract.name in WRAPPING and all(dtype.bits < WIDE for dtype in operands):
        return False
    return bool(contract.undefined) and not all(dtype.is_float for dtype in operands)


def conversion(source: DType, target: DType, memory: TermMemory) -> Convert:
    """The conversion of a value. A term that keeps its value keeps its identity. Fails: RM503, as `converter`."""
    of_numbers = converter(source, target)
    is_kept = keeps(source, target)
    is_partial = not is_kept and (
        (source.is_float and target.is_integer) or (target.is_float and not target.format.has_nan)
    )

    def convert(value: TermValue, span: Span | None) -> TermValue:
        if not isinstance(value, SymbolicTerm):
            return of_numbers(value)
        if is_kept:
            return value
        term = memory.terms.term(CAST, target, source, (value,))
        if is_partial:
            memory.oblige("defined", term.number, f"`{clipped(term)}` has a value of {target}", span)
        return term

    return convert


def keeps(source: DType, target: DType) -> bool:
    """Whether a conversion gives the same number for every value, so that a term stays the term."""
    if source.element == target.element:
        return True
    if source.is_float and target.is_float:
        return contains(target, source)
    return (
        source.is_integer
        and target.is_integer
        and target.minimum <= source.minimum
        and source.maximum <= target.maximum
    )
