"""Scalar expressions with Python's operators: what a `te.compute` is written in.

The nodes of the IR are plain data; a `Value` holds one and gives it operators. Operands are brought to one dtype by
the rules of the text (`refmlc.lang.ops.promote`), constants are folded (`fold`). `a == b`, `a < b` … are expressions
too; used as a condition of Python they must be decided: constants, or twice the same expression.
"""

from typing import TypeAlias

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_ARGUMENTS, TYPE_MISMATCH, UNKNOWN_DTYPE
from refmlc.lang.dtypes import DType, dtype as dtype_named
from refmlc.lang.ir import tir
from refmlc.lang.ir.equal import structural_equal
from refmlc.lang.ops import promote
from refmlc.lang.ops.scalar import SCALAR_OPS
from refmlc.lang.te.fold import folded

Number: TypeAlias = bool | int | float


class Value:
    """A scalar expression. Immutable; hashed by identity of its node."""

    __slots__ = ("expr",)

    def __init__(self, expr: tir.Expr) -> None:
        self.expr = expr

    @property
    def dtype(self) -> str:
        """The name of the dtype."""
        return str(self.expr.dtype)

    def astype(self, dtype: str | DType) -> "Value":
        """The value converted."""
        return cast(self, dtype)

    def __repr__(self) -> str:
        """The text of the expression, without declarations of its variables."""
        return self.expr.script().splitlines()[-1]

    def __hash__(self) -> int:
        return hash(self.expr)

    def __bool__(self) -> bool:
        """Decide a comparison. Fails: RM105 where the expression is not constant."""
        match self.expr:
            case tir.IntImm(value=value):
                return bool(value)
            case tir.Apply("eq", (a, b)):
                return structural_equal(a, b)
            case tir.Apply("ne", (a, b)):
                return not structural_equal(a, b)
        raise fail(BAD_ARGUMENTS, f"`{self!r}` is not known here: use te.if_then_else, te.all, te.any")

    def __int__(self) -> int:
        """The value of an integer constant. Fails: RM105 for anything else."""
        if isinstance(self.expr, tir.IntImm):
            return self.expr.value
        raise fail(BAD_ARGUMENTS, f"`{self!r}` is not a constant")

    __index__ = __int__

    def __add__(self, other: "Operand") -> "Value":
        return binary("+", self, other)

    def __radd__(self, other: "Operand") -> "Value":
        return binary("+", other, self)

    def __sub__(self, other: "Operand") -> "Value":
        return binary("-", self, other)

    def __rsub__(self, other: "Operand") -> "Value":
        return binary("-", other, self)

    def __mul__(self, other: "Operand") -> "Value":
        return binary("*", self, other)

    def __rmul__(self, other: "Operand") -> "Value":
        return binary("*", other, self)

    def __truediv__(self, other: "Operand") -> "Value":
        """Self / other, of floats."""
        return binary("/", self, other)

    def __rtruediv__(self, other: "Operand") -> "Value":
        """Other / self, of floats."""
        return binary("/", other, self)

    def __floordiv__(self, other: "Operand") -> "Value":
        return binary("//", self, other)

    def __rfloordiv__(self, other: "Operand") -> "Value":
        return binary("//", other, self)

    def __mod__(self, other: "Operand") -> "Value":
        return binary("%", self, other)

    def __rmod__(self, other: "Operand") -> "Value":
        return binary("%", other, self)

    def __lshift__(self, other: "Operand") -> "Value":
        return binary("<<", self, other)

    def __rshift__(self, other: "Operand") -> "Value":
        return binary(">>", self, other)

    def __and__(self, other: "Operand") -> "Value":
        return binary("&", self, other)

    def __or__(self, other: "Operand") -> "Value":
        return binary("|", self, other)

    def __xor__(self, other: "Operand") -> "Value":
        return binary("^", self, other)

    def __lt__(self, other: "Operand") -> "Value":
        return binary("<", self, other)

    def __le__(self, other: "Operand") -> "Value":
        return binary("<=", self, other)

    def __gt__(self, other: "Operand") -> "Value":
        return binary(">", self, other)

    def __ge__(self, other: "Operand") -> "Value":
        return binary(">=", self, other)

    def __eq__(self, other: object) -> "Value":  # type: ignore[override]
        """The expression self == other."""
        if not isinstance(other, Value | bool | int | float):
            return NotImplemented
        return binary("==", self, other)

    def __ne__(self, other: object) -> "Value":  # type: ignore[override]
        """The expression self != other."""
        if not isinstance(other, Value | bool | int | float):
            return NotImplemented
        return binary("!=", self, other)

    def __neg__(self) -> "Value":
        return Value(folded(defined(promote.unary("-", self.expr, None))))

    def __invert__(self) -> "Value":
        return Value(folded(defined(promote.unary("~", self.expr, None))))


Operand: TypeAlias = Value | Number


def operand(value: object) -> promote.Operand:
    """A value or number as an operand of `promote`. Fails: RM105."""
    match value:
        case Value(expr=expr):
            return expr
        case bool() | int() | float():
            return value
    raise fail(BAD_ARGUMENTS, f"{value!r} is not an expression")


def expr_of(value: object) -> tir.Expr:
    """`value` as an expression; a number alone is int32 or float32."""
    return promote.literal(operand(value), None)


def defined(node: tir.Expr) -> tir.Expr:
    """The expression. Fails: RM201 where its operator has no meaning on operands of these dtypes."""
    if isinstance(node, tir.Apply):
        dtypes = [argument.dtype for argument in node.args]
        if not SCALAR_OPS[node.op].contract.accepts_operands([argument.scalar for argument in dtypes]):
            raise fail(TYPE_MISMATCH, f"`{node.op}` is not defined on {', '.join(map(str, dtypes))}")
    return node


def binary(symbol: str, a: object, b: object) -> Value:
    """`a symbol b`. Fails: RM201 operands that no rule brings together, or for which there is no such operator."""
    x, y = operand(a), operand(b)
    if isinstance(x, bool | int | float) and isinstance(y, bool | int | float):
        x = promote.literal(x, None)
    return Value(folded(defined(promote.binary(symbol, x, y, None))))


def const(value: Number, dtype: str | DType | None = None) -> Value:
    """A constant; without `dtype` bool, int32 or float32."""
    if dtype is None:
        return Value(promote.literal(value, None))
    return Value(promote.constant(value, dtype_of(dtype), None))


def dtype_of(dtype: str | DType) -> DType:
    """The dtype that is called so. Fails: RM106."""
    if isinstance(dtype, DType):
        return dtype
    try:
        return dtype_named(dtype)
    except KeyError:
        raise fail(UNKNOWN_DTYPE, f"`{dtype}` is not a dtype") from None


def var(name: str = "n", dtype: str | DType = "int32") -> Value:
    """A variable that stands for a size, or for a number of the function."""
    return Value(tir.Var(name, dtype_of(dtype)))


def cast(value: object, dtype: str | DType) -> Value:
    """`value` converted to `dtype`; itself where it has it."""
    expr = expr_of(value)
    target = dtype_of(dtype)
    if isinstance(expr, tir.FloatImm | tir.IntImm) and target.is_float and not isinstance(value, Value):
        return const(expr.value, target)
    return Value(expr if expr.dtype == target else folded(promote.converted(expr, target, None)))
