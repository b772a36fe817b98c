"""What a scalar operator promises: the contract that reader, printer, both tiers, oracle and docs follow.

A contract says *what*, never *how*: the value function stands beside it in the operator's row (`ScalarOp`), where
the code generator cannot see it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from refmlc.diag.catalogue import Code
from refmlc.dtypes import DType

Scalar: TypeAlias = int | float | bool
Value: TypeAlias = Callable[..., Scalar]


class Accuracy(Enum):
    """How exact a result is. `ULP` is read with `Contract.ulps`."""

    EXACT = "exact bits"
    ROUNDED = "the exact result rounded once, to nearest, ties to even"
    ULP = "within a number of units in the last place"
    ONE_OF = "one of a set"


@dataclass(frozen=True, slots=True)
class UndefinedWhen:
    """A predicate over the operand dtype and the operands, with the code reported when it holds."""

    code: Code
    text: str
    holds: Callable[..., bool]


@dataclass(frozen=True, slots=True)
class Example:
    """A hand-worked case: dtype name, operands, result (`repr` of Python values; never computed by the op)."""

    dtype: str
    args: tuple[Scalar, ...]
    result: Scalar


@dataclass(frozen=True, slots=True)
class Contract:
    """The promises of one operator.

    `accepts` lists the kinds of operand dtypes; `dtypes` narrows them to names where that is not enough.
    `result` is `same` (as the first operand), `bool`, or `declared` (the node says, as `reinterpret`).
    `symbol` is its Python operator, `text` its TVMScript name without `T.`.
    """

    name: str
    arity: int
    meaning: str
    clause: str
    accepts: frozenset[str]
    result: str = "same"
    dtypes: frozenset[str] | None = None
    accuracy: Accuracy = Accuracy.EXACT
    ulps: float = 0.0
    undefined: tuple[UndefinedWhen, ...] = ()
    laws: tuple[str, ...] = ()
    examples: tuple[Example, ...] = ()
    symbol: str = ""
    text: str = ""
    source: str = ""

    def accepts_dtype(self, operand: DType) -> bool:
        """Whether operands of this dtype (lanes aside) have a meaning."""
        return operand.kind in self.accepts and (self.dtypes is None or operand.element in self.dtypes)


@dataclass(frozen=True, slots=True)
class ScalarOp:
    """A row: the contract, and the value function for given operand dtypes and result dtype (one lane).

    `value(operands, result)` returns a function on Python scalars. It assumes what the contract defines: the
    interpreter asks `contract.undefined` first wherever that is not empty, unless `value` raises it itself.
    """

    contract: Contract
    value: Callable[[tuple[DType, ...], DType], Value]


class UndefinedValue(Exception):
    """Raised by a value function on operands for which the operator is undefined."""

    def __init__(self, code: Code, detail: str) -> None:
        """`detail` is a sentence with the values: `7 // 0 in int32`."""
        super().__init__(detail)
        self.code = code
        self.detail = detail
