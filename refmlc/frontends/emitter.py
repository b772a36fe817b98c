"""What rules for operators of another framework are written with: calls of Relax's operators, bound as they come.

| value of a rule              | is                                                        |
|------------------------------|-----------------------------------------------------------|
| `relax.Expr`                 | a tensor (or a tuple of some)                             |
| `te.Value`                   | a size that is not known before it runs                   |
| a number, a string, a list … | itself                                                    |

Every call is bound to a variable with the type that follows for it, so that the next rule can ask for it.
"""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from refmlc.diag import fail
from refmlc.diag.catalogue import TYPE_MISMATCH
from refmlc.frontends.arrays import constant
from refmlc.lang.builder import BlockBuilder
from refmlc.lang.dtypes import BOOL, FLOAT64, INT64, SCALARS
from refmlc.lang.dtypes.storage import storage_dtype
from refmlc.lang.ir import relax, tir
from refmlc.lang.ir.types import TensorType
from refmlc.lang.library.shapes import same
from refmlc.lang.te import Value, const

Size: TypeAlias = int | Value
Operand: TypeAlias = object


class Emitter:
    """Binds calls in the function that `builder` is building."""

    def __init__(self, builder: BlockBuilder) -> None:
        self.builder = builder

    # ------------------------------------------------------------------------------------------------ calls

    def call(self, name: str, *args: Operand, **attrs: tir.Attr) -> relax.Var:
        """A variable that is `R.name(*args, **attrs)`; arguments that are None at the end are left out."""
        values = list(args)
        while values and values[-1] is None:
            values.pop()
        exprs = tuple(self.expr(item) for item in values)
        return self.builder.emit(relax.Call(relax.Op(name), exprs, attrs))

    def expr(self, value: Operand) -> relax.Expr:
        """A value as an expression: numbers as primitive values, lists as tuples."""
        match value:
            case bool():
                return relax.PrimValue(tir.IntImm(BOOL, int(value)))
            case int():
                return relax.PrimValue(tir.IntImm(INT64, value))
            case float():
                return relax.PrimValue(tir.FloatImm(FLOAT64, value))
            case Value():
                return relax.PrimValue(value.expr)
            case list() | tuple():
                return relax.Tuple(tuple(self.expr(item) for item in value))
        if isinstance(value, relax.Expr):
            return value
        raise fail(
            TYPE_MISMATCH, f"an argument of an operator is {type(value).__name__}: a tensor or a number is needed"
        )

    def item(self, whole: relax.Expr, place: int) -> relax.Expr:
        """A field of a tuple."""
        return (
            whole.fields[place]
            if isinstance(whole, relax.Tuple)
            else self.builder.emit(relax.TupleGetItem(whole, place))
        )

    # ---------------------------------------------------------------------------------------------- tensors

    def tensor_type(self, x: Operand) -> TensorType:
        """The type of a tensor. Fails: RM201 where it is none, or none is known."""
        ty = self.builder.type_of(x) if isinstance(x, relax.Expr) else None
        if not isinstance(ty, TensorType) or ty.shape is None or ty.dtype is None:
            raise fail(TYPE_MISMATCH, "a tensor of known shape and dtype is needed here")
        return ty

    def is_tensor(self, x: Operand) -> bool:
        """Whether a value is a tensor."""
        return isinstance(x, relax.Expr) and isinstance(self.builder.type_of(x), TensorType)

    def shape(self, x: Operand) -> tuple[Size, ...]:
        """The extents: numbers where they are known."""
        return tuple(size_of(extent) for extent in self.tensor_type(x).shape or ())

    def rank(self, x: Operand) -> int:
        """The number of dimensions."""
        return len(self.shape(x))

    def dtype(self, x: Operand) -> str:
        """The name of the dtype."""
        return str(self.tensor_type(x).dtype)

    def astype(self, x: relax.Expr, dtype: str) -> relax.Expr:
        """The tensor converted; itself where it has the dtype."""
        return x if self.dtype(x) == dtype else self.call("astype", x, dtype=dtype)

    def scalar(self, value: Operand, dtype: str) -> relax.Expr:
        """A number as a tensor without dimensions. A size that is not known before it runs becomes one too."""
        if isinstance(value, Value):
            vector = self.call("full", self.sizes([]), self.scalar(1, "int64"), dtype="int64")
            return self.astype(self.call("multiply", vector, value), dtype)
        kind = SCALARS[dtype]
        number = value if isinstance(value, bool | int | float) else float(str(value))
        return constant(np.array(number).astype(storage_dtype(kind)), kind)

    def sizes(self, sizes: Sequence[Size]) -> relax.ShapeExpr:
        """A shape."""
        return relax.ShapeExpr(
            tuple(size.expr if isinstance(size, Value) else tir.IntImm(INT64, size) for size in sizes)
        )

    def reshape(self, x: relax.Expr, sizes: Sequence[Size]) -> relax.Expr:
        """The elements in another shape; -1 is what is left over."""
        own = self.shape(x)
        target = list(sizes)
        if any(isinstance(item, int) and item == -1 for item in target):
            place = next(i for i, item in enumerate(target) if isinstance(item, int) and item == -1)
            target[place] = _rest(own, [item for i, item in enumerate(target) if i != place])
        if same_sizes(own, target):
            return x
        extents = [size if isinstance(size, int) else -1 for size in own]
        if any(size == 0 and extents[at : at + 1] != [0] for at, size in enumerate(target) if isinstance(size, int)):
            # An extent of 0 in `R.reshape` is that of the operand at its place: what has no elements is made anew.
            return self.call("full", self.sizes(target), self.scalar(0, self.dtype(x)), dtype=self.dtype(x))
        return self.call("reshape", x, self.sizes(target))


def size_of(expr: tir.Expr) -> Size:
    """An extent: a number where it is one."""
    return expr.value if isinstance(expr, tir.IntImm) else Value(expr)


def same_sizes(a: Sequence[Size], b: Sequence[Size]) -> bool:
    """Whether two shapes are certainly equal."""
    return len(a) == len(b) and all(
        x == y if isinstance(x, int) and isinstance(y, int) else same(_value(x), _value(y))
        for x, y in zip(a, b, strict=True)
    )


def product(sizes: Sequence[Size]) -> Size:
    """The number of elements."""
    number, rest = 1, None
    for item in sizes:
        if isinstance(item, int):
            number *= item
        else:
            rest = item if rest is None else rest * item
    return number if rest is None else rest if number == 1 else rest * number


def _rest(own: Sequence[Size], others: Sequence[Size]) -> Size:
    """What is left of the elements for one dimension. Equal factors, known or not, fall out."""
    over, under = list(own), []
    for item in others:
        place = next((i for i, other in enumerate(over) if same_sizes([item], [other])), None)
        if place is None:
            under.append(item)
        else:
            over.pop(place)
    total, part = product(over), product(under)
    if isinstance(total, int) and isinstance(part, int):
        return total // part if part else 0
    return total if isinstance(part, int) and part == 1 else _value(total) // _value(part)


def _value(size: Size) -> Value:
    return size if isinstance(size, Value) else const(size, "int64")
