"""What the headers of `kernels_c` hold, for who generates calls: computed from the contracts and the formats.

| question                                  | asked of                                                                |
|-------------------------------------------|-------------------------------------------------------------------------|
| in which header is the helper of `op`     | the family of its row; of functions with an error in ulps, one header   |
| is there `rm_<op>_<D>_undefined`          | the contract's predicates on D, or NaN in a dtype without NaN (NUM-004) |
| can `rm_cast_<from>_<to>_undefined` be true | the ranges of both dtypes                                             |
"""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from refmlc.lang.dtypes import DType
from refmlc.lang.ops.contract import Accuracy, Scalar, UndefinedWhen
from refmlc.lang.ops.names import INFIX
from refmlc.lang.ops.notation import Precedence
from refmlc.lang.ops.scalar import FAMILIES, SCALAR_OPS

TRANSCENDENTAL_HEADER = "rm_transcendental.h"
_HEADERS: Mapping[str, str] = {row.contract.name: f"rm_{family}.h" for family, rows in FAMILIES.items() for row in rows}

ARITHMETIC: Mapping[str, str] = {
    op: infix.symbol for op, infix in INFIX.items() if infix.symbol in ("+", "-", "*", "/")
}
COMPARISONS: Mapping[str, str] = {
    op: infix.symbol for op, infix in INFIX.items() if infix.precedence is Precedence.COMPARE
}
"""Operators that C has on its own numbers by the same symbol."""


def header_of(op: str) -> str:
    """The header with the helpers of a scalar operator. Fails with KeyError on another name."""
    return TRANSCENDENTAL_HEADER if SCALAR_OPS[op].contract.accuracy is Accuracy.ULP else _HEADERS[op]


@lru_cache(maxsize=4096)
def has_undefined(op: str, dtype: DType) -> bool:
    """Whether the operator can be undefined on first operands of `dtype`: then `rm_<op>_<dtype>_undefined` exists."""
    contract = SCALAR_OPS[op].contract
    if dtype.is_float and not dtype.format.has_nan and contract.makes_nan:
        return True
    return any(_can_hold(case, dtype.scalar, contract.arity) for case in contract.undefined)


@lru_cache(maxsize=4096)
def cast_has_undefined(source: DType, target: DType) -> bool:
    """Whether a conversion can be undefined: then `rm_cast_<source>_<target>_undefined` exists, and can be true."""
    if not source.is_float or source.element == target.element:
        return False
    row = source.format
    if target.is_float:
        return row.has_nan and not target.format.has_nan
    if not target.is_integer:
        return False
    return row.has_nan or row.has_infinity or int(row.maximum) > target.maximum or int(-row.maximum) < target.minimum


def supports(op: str, operands: Sequence[DType]) -> bool:
    """Whether the helper takes operands of these dtypes: further ones that are not of the first's dtype are int64_t."""
    contract = SCALAR_OPS[op].contract
    if not contract.accepts_operands(operands):
        return False
    return contract.rest is None or all(other.element != "uint64" for other in operands[1:])


def _can_hold(case: UndefinedWhen, dtype: DType, arity: int) -> bool:
    return any(case.holds(dtype, *operands) for operands in itertools.product(_probes(dtype), repeat=arity))


def _probes(dtype: DType) -> Iterable[Scalar]:
    """Operands among which every predicate of a contract holds somewhere, if it can in this dtype."""
    if not dtype.is_integer:
        return (0, 1)
    numbers = (0, 1, -1, dtype.minimum, dtype.maximum, dtype.bits)
    return sorted({number for number in numbers if dtype.minimum <= number <= dtype.maximum}, key=abs)
