"""Instructions of PTX on values that may be sets: exact on what is certain, approximations as far as PTX bounds them.

| operands          | result                                                                          |
|-------------------|---------------------------------------------------------------------------------|
| all certain       | that of the meaning; of an approximation all that its error permits (PTX-019)   |
| few members       | the same for each combination                                                   |
| others            | anything                                                                        |
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from fractions import Fraction
from itertools import product
from math import copysign, isinf, isnan, prod
from typing import cast

from refmlc.lang.dtypes import FLOAT32, DType
from refmlc.lang.ir import tir
from refmlc.lang.ops.ptx.approximations import is_approximate, permitted
from refmlc.lang.ops.ptx.integers import ByZero
from refmlc.lang.ops.ptx.numbers import Open
from refmlc.lang.ops.ptx.registers import Bits, join
from refmlc.observe.bounds.choice import MOST, UNKNOWN, Value, Whole, either, one_of
from refmlc.observe.bounds.enclosure import ANYTHING, NAN, Enclosure, between, join as united, point, special_of
from refmlc.observe.bounds.operators import member_values
from refmlc.observe.bounds.places import as_float, as_whole
from refmlc.run.interp.ptx.values import RegisterResult

GREATEST = FLOAT32.format.maximum


def is_approximation(node: tir.Call) -> bool:
    """Whether a result is that of an approximation."""
    part = RegisterResult.of(node)
    return is_approximate(part.form, part.modifiers)


def result_of(node: tir.Call) -> Callable[..., Value]:
    """One result of an instruction as a function of its operands."""
    part = RegisterResult.of(node)
    encoders, dtypes = part.encoders(), [operand.dtype for operand in part.operands]
    one = _approximated(part, node.dtype) if is_approximation(node) else _exact(part, node.dtype)
    anything: Value = ANYTHING if node.dtype.is_float else UNKNOWN

    def result(*args: Value) -> Value:
        members = [_members(arg, dtype) for arg, dtype in zip(args, dtypes, strict=True)]
        finite = [each for each in members if each is not None]
        if len(finite) < len(members) or prod(map(len, finite)) > MOST:
            return anything
        values: list[Value] = []
        for combination in product(*finite):
            bits = tuple([encode(value) for encode, value in zip(encoders, combination, strict=True)])
            with suppress(ByZero):  # it does not occur in a defined program
                try:
                    values.append(one(bits))
                except Open:
                    return anything
        return _union(values) if values else anything

    return result


def _members(value: Value, dtype: DType) -> Sequence[float] | None:
    if isinstance(value, Enclosure) and not value.finite and value.specials == NAN:
        return [float("nan")]
    return cast("Sequence[float] | None", member_values(value, dtype))


def _union(values: Sequence[Value]) -> Value:
    first, *rest = values
    for value in rest:
        first = united(first, as_float(value)) if isinstance(first, Enclosure) else either(first, as_whole(value))
    return first


def _exact(part: RegisterResult, dtype: DType) -> Callable[[Bits], Value]:
    meaning, decode = part.meaning(), part.decoder(dtype)

    def one(bits: Bits) -> Value:
        value = decode(meaning(bits)[part.index])
        return point(cast("float", value)) if dtype.is_float else cast("int", value)

    return one


def _approximated(part: RegisterResult, dtype: DType) -> Callable[[Bits], Value]:
    lanes, decode = permitted(part.form, part.modifiers), part.decoder(dtype)

    def one(bits: Bits) -> Value:
        ends = lanes(bits)
        if dtype.is_float:
            (end,) = ends
            return _enclosed(cast("float", decode(end.low)), cast("float", decode(end.high)))
        ranges = [_codes(end.low, end.high, dtype.bits // len(ends)) for end in ends]
        if prod(map(len, ranges)) > MOST:
            return UNKNOWN
        return _packed(ranges, dtype.bits // len(ends))

    return one


def _enclosed(low: float, high: float) -> Enclosure:
    if isnan(low) or low == high:
        return point(low)
    specials = special_of(low) | special_of(high)
    least, most = (copysign(GREATEST, end) if isinf(end) else end for end in (low, high))
    return between(Fraction(least), Fraction(most), specials)


def _codes(low: int, high: int, bits: int) -> Sequence[int]:
    """The codes of the numbers from one to another, both zeros among them."""
    sign = 1 << (bits - 1)
    negative = list(range(sign, low + 1)) if low & sign else []
    if high & sign:
        return range(high, low + 1)
    return [*negative, *range(0 if negative else low, high + 1)]


def _packed(ranges: Sequence[Sequence[int]], bits: int) -> Whole:
    return one_of(join(lanes, bits) for lanes in product(*ranges))
