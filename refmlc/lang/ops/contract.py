"""What a scalar operator promises: the contract that reader, printer, both tiers, oracle and docs follow.

A contract says *what*, never *how*: the value function stands beside it in the operator's row (`ScalarOp`), where
the code generator cannot see it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from refmlc.diag.catalogue import Code
from refmlc.lang.dtypes import BOOL, SCALARS, DType
from refmlc.lang.ops.notation import PLAIN, Notation

Scalar: TypeAlias = int | float | bool
Value: TypeAlias = Callable[..., Scalar]

BINARY64_PRECISION = 53

INTEGERS = frozenset(("int", "uint"))
FLOATS = frozenset(("float",))
BOOLS = frozenset(("bool",))
NUMBERS = INTEGERS | FLOATS
BITS = INTEGERS | BOOLS
ALL = NUMBERS | BOOLS


class Accuracy(Enum):
    """How exact a result is. `ULP` is read with `Contract.ulps`."""

    EXACT = "exact bits"
    ROUNDED = "the exact result rounded once, to nearest, ties to even"
    ULP = "within a number of units in the last place"
    ONE_OF = "one of a set"


@dataclass(frozen=True, slots=True)
class UndefinedWhen:
    """A predicate over the dtype of the first operand and the operands, with the code reported when it holds."""

    code: Code
    text: str
    holds: Callable[..., bool]


@dataclass(frozen=True, slots=True)
class Example:
    """A hand-worked case: dtype of the first operand, operands, result (never computed by the op).

    `rest` names the dtypes of the further operands where they differ, `declared` the result's where it is declared.
    """

    dtype: str
    args: tuple[Scalar, ...]
    result: Scalar
    rest: tuple[str, ...] = ()
    declared: str = ""

    @property
    def operands(self) -> tuple[DType, ...]:
        """The dtypes of the operands."""
        first = SCALARS[self.dtype]
        return (first, *(SCALARS[name] for name in self.rest)) if self.rest else (first,) * len(self.args)


@dataclass(frozen=True, slots=True)
class Contract:
    """The promises of one operator.

    `accepts` lists the kinds of the first operand's dtype; `dtypes` narrows them to names where that is not enough.
    Further operands have the dtype of the first, or, where `rest` is given, a dtype of one of those kinds.
    `result` is `same` (as the first operand), the name of a dtype, or `declared` (the node says, as `reinterpret`).
    `ulps` bounds the error of `ULP` results in binary64; narrower formats round that value once (`bound`).
    `makes_nan`: a result can be NaN where no operand is NaN or infinite (NUM-004).
    `notation` says how TVMScript, TVM, C and LLVM write it.
    """

    name: str
    arity: int
    meaning: str
    clause: str
    accepts: frozenset[str]
    result: str = "same"
    dtypes: frozenset[str] | None = None
    rest: frozenset[str] | None = None
    accuracy: Accuracy = Accuracy.EXACT
    ulps: float = 0.0
    makes_nan: bool = False
    undefined: tuple[UndefinedWhen, ...] = ()
    laws: tuple[str, ...] = ()
    examples: tuple[Example, ...] = ()
    notation: Notation = PLAIN
    source: str = ""

    @property
    def text(self) -> str:
        """The name of the form that is no symbol, without `T.`."""
        return self.notation.text or self.name

    @property
    def names(self) -> frozenset[str]:
        """Every name that the reader takes for it, without `T.`."""
        notation = self.notation
        return frozenset((self.text, notation.on_floats, notation.node, *notation.also)) - {""}

    def accepts_dtype(self, operand: DType) -> bool:
        """Whether first operands of this dtype (lanes aside) have a meaning."""
        return operand.kind in self.accepts and (self.dtypes is None or operand.element in self.dtypes)

    def accepts_operands(self, operands: Sequence[DType]) -> bool:
        """Whether operands of these dtypes (lanes aside) have a meaning together."""
        if len(operands) != self.arity or not self.accepts_dtype(operands[0]):
            return False
        first, others = operands[0], operands[1:]
        if self.rest is None:
            return all(other.element == first.element for other in others)
        return all(other.kind in self.rest for other in others)

    def result_dtype(self, operands: Sequence[DType], declared: DType | None = None) -> DType:
        """The dtype of one lane of the result; `declared` is what the node says."""
        match self.result:
            case "same":
                return operands[0].scalar
            case "bool":
                return BOOL
            case "declared":
                return (declared or operands[0]).scalar
            case name:
                return SCALARS[name]

    def bound(self, result: DType) -> float:
        """The greatest error of a float result in units in the last place; 0 where the bits are exact."""
        match self.accuracy:
            case Accuracy.ROUNDED if result.is_float:
                return 0.5
            case Accuracy.ULP:
                lost = BINARY64_PRECISION - result.format.precision
                return 0.5 + self.ulps / (1 << lost) if lost else self.ulps
            case _:
                return 0.0


@dataclass(frozen=True, slots=True)
class ScalarOp:
    """A row: the contract, and the value function for given operand dtypes and result dtype (one lane).

    `value(operands, result)` returns a function on Python scalars that raises `UndefinedValue` exactly where the
    contract says `undefined`, or where a NaN has no code in the result's dtype (NUM-004). It may keep a cell of its
    own: not for two threads at once. It trusts that `contract.accepts_operands(operands)`.
    """

    contract: Contract
    value: Callable[[tuple[DType, ...], DType], Value]


class UndefinedValue(Exception):
    """Raised by a value function on operands for which the operator is undefined."""

    def __init__(self, code: Code, detail: str, wrapped: Scalar | None = None) -> None:
        """`detail` is a sentence with the values: `7 // 0 in int32`.

        `wrapped` is the value where a user allows `code`: the result modulo 2**bits. None: there is none.
        """
        super().__init__(detail)
        self.code = code
        self.detail = detail
        self.wrapped = wrapped
