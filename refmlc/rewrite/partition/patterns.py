"""Patterns of expressions of Relax: each describes one expression, its parts by further patterns.

| pattern                                | describes                                                                  |
|----------------------------------------|----------------------------------------------------------------------------|
| `WildcardPattern()`                    | anything                                                                   |
| `ExprPattern(expr)`                    | an expression that is structurally equal; an operator                      |
| `VarPattern("x")`, `dataflow=True`     | a variable without a known value; of that name, unless it is empty         |
| `GlobalVarPattern`, `ExternFuncPattern` | a function of the module whose name holds the text; a packed function     |
| `ConstantPattern()`                    | a tensor constant                                                          |
| `CallPattern(op, args)`                | a call; with `open_ended` more arguments may follow                        |
| `TuplePattern`, `TupleGetItemPattern`  | a tuple, its fields in any order if `unordered`; a field, of any index     |
| `FunctionPattern(params, body)`        | a function                                                                 |
| `OrPattern`, `AndPattern`, `NotPattern` | one of two, both, anything else                                           |
| `AttrPattern`, `TypePattern`           | the same as another pattern, with attributes; of a type                    |
| `DTypePattern`, `ShapePattern`         | the same as another pattern, a tensor of a dtype; of a shape               |
| `ShapeExprPattern(values)`             | a shape as a value                                                         |

`f(x, y)` is a call, `p | q`, `p & q` and `~p` are what they look like. Two patterns are equal if they are one object:
in a match a pattern is one expression, wherever it stands.

Source: TVM's dataflow pattern language. Its sequences of patterns and their contexts, which describe graphs and not
expressions, are not here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_ARGUMENTS
from refmlc.lang.dtypes import DType, dtype as dtype_named
from refmlc.lang.ir import relax, tir
from refmlc.lang.ir.types import Type


class DFPattern:
    """A pattern. Names of methods are TVM's."""

    def __call__(
        self, *args: "DFPattern", varg_default_wildcard: bool = False, add_constraint: bool = True
    ) -> "CallPattern":
        """A call of what this describes. `add_constraint` says something of sequences only."""
        del add_constraint
        return CallPattern(self, args, varg_default_wildcard)

    def __or__(self, other: "DFPattern") -> "OrPattern":
        return OrPattern(self, other)

    def __and__(self, other: "DFPattern") -> "AndPattern":
        return AndPattern(self, other)

    def __invert__(self) -> "NotPattern":
        return NotPattern(self)

    def has_attr(self, attrs: Mapping[str, tir.Attr]) -> "AttrPattern":
        """The same, with these attributes."""
        return AttrPattern(self, attrs)

    def has_type(self, ty: Type) -> "TypePattern":
        """The same, of a type."""
        return TypePattern(self, ty)

    has_ty = has_struct_info = has_type

    def has_dtype(self, dtype: str | DType) -> "DTypePattern":
        """The same, a tensor of a dtype. Fails: RM106."""
        return DTypePattern(self, dtype_named(str(dtype)))

    def has_shape(self, shape: Sequence[int | tir.Expr]) -> "ShapePattern":
        """The same, a tensor of a shape."""
        return ShapePattern(self, tuple(shape))


@dataclass(frozen=True, eq=False)
class WildcardPattern(DFPattern):
    """Anything."""


@dataclass(frozen=True, eq=False)
class ExprPattern(DFPattern):
    """An expression that equals `expr`."""

    expr: relax.Expr


@dataclass(frozen=True, eq=False)
class VarPattern(DFPattern):
    """A variable whose value is not known; `name` empty: any."""

    name: str = ""
    dataflow: bool = False


@dataclass(frozen=True, eq=False)
class GlobalVarPattern(DFPattern):
    """A function of the module in whose name `name` stands."""

    name: str = ""


@dataclass(frozen=True, eq=False)
class ExternFuncPattern(DFPattern):
    """A packed function; `symbol` empty: any."""

    symbol: str = ""


@dataclass(frozen=True, eq=False)
class ConstantPattern(DFPattern):
    """A tensor constant."""


@dataclass(frozen=True, eq=False)
class CallPattern(DFPattern):
    """A call of `op` on `args`; further arguments may follow if `open_ended`."""

    op: DFPattern
    args: tuple[DFPattern, ...]
    open_ended: bool = False


@dataclass(frozen=True, eq=False)
class FunctionPattern(DFPattern):
    """A function with such parameters and such a body."""

    params: tuple[DFPattern, ...]
    body: DFPattern


@dataclass(frozen=True, eq=False)
class TuplePattern(DFPattern):
    """A tuple of such fields; in any order if `unordered`."""

    fields: tuple[DFPattern, ...]
    unordered: bool = False

    def __len__(self) -> int:
        return len(self.fields)

    def __getitem__(self, index: int | None) -> "TupleGetItemPattern":
        """Field `index`, counted from the end where it is negative; None: any. Fails: IndexError."""
        if index is None:
            return TupleGetItemPattern(self)
        place = index + len(self) if index < 0 else index
        if not 0 <= place < len(self):
            raise IndexError(f"the tuple has {len(self)} fields; this is field {index}")
        return TupleGetItemPattern(self, place)


@dataclass(frozen=True, eq=False)
class TupleGetItemPattern(DFPattern):
    """Field `index` of such a tuple; None: any."""

    tuple_value: DFPattern
    index: int | None = None


@dataclass(frozen=True, eq=False)
class OrPattern(DFPattern):
    """One of two; `left` is tried first."""

    left: DFPattern
    right: DFPattern


@dataclass(frozen=True, eq=False)
class AndPattern(DFPattern):
    """Both."""

    left: DFPattern
    right: DFPattern


@dataclass(frozen=True, eq=False)
class NotPattern(DFPattern):
    """Anything else."""

    rejected: DFPattern


@dataclass(frozen=True, eq=False)
class AttrPattern(DFPattern):
    """A call or a function with these attributes, and perhaps others."""

    pattern: DFPattern
    attrs: Mapping[str, tir.Attr]


@dataclass(frozen=True, eq=False)
class TypePattern(DFPattern):
    """An expression of a type."""

    pattern: DFPattern
    ty: Type


@dataclass(frozen=True, eq=False)
class DTypePattern(DFPattern):
    """A tensor of a dtype."""

    pattern: DFPattern
    dtype: DType


@dataclass(frozen=True, eq=False)
class ShapePattern(DFPattern):
    """A tensor of a shape."""

    pattern: DFPattern
    shape: tuple[int | tir.Expr, ...]


@dataclass(frozen=True, eq=False)
class ShapeExprPattern(DFPattern):
    """A shape as a value."""

    values: tuple[int | tir.Expr, ...]

    def __len__(self) -> int:
        return len(self.values)


def bias_activation(
    op_name: str, *, with_bias: bool = False, activation: str | None = None, allow_reshape: bool = False
) -> DFPattern:
    """A binary operator, perhaps with a bias added and an activation after it."""
    out: DFPattern = operator_pattern(op_name)(WildcardPattern(), WildcardPattern())
    if with_bias and allow_reshape:
        bias = operator_pattern("reshape")(WildcardPattern(), WildcardPattern(), varg_default_wildcard=True)
        out = operator_pattern("add")(out, bias, varg_default_wildcard=True)
    elif with_bias:
        out = operator_pattern("add")(out, WildcardPattern())
    return out if activation is None else operator_pattern(activation)(out)


def operator_pattern(name: str) -> ExprPattern:
    """An operator by its name, with or without `relax.`. Fails: RM105 where it is no text."""
    if not isinstance(name, str):
        raise fail(BAD_ARGUMENTS, f"an operator is named by a string; this is {type(name).__name__}")
    return ExprPattern(relax.Op(name.removeprefix("relax.")))
