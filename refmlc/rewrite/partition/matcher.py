"""Whether an expression is what a pattern describes, and which expression each of its parts is.

Variables are looked through, as far as their values are known: `relu(lv)` with `lv = conv(x, w)` is `relu(conv(x, w))`.
A pattern that stands in several places is one expression in all of them. Of `add` and `multiply` the arguments may be
swapped. What was matched on a way that fails is forgotten.

Source: TVM 0.27, `src/relax/ir/dataflow_matcher.cc`. Decision: its rule that `(a * b) / c` is `a * (b / c)` is left
out; there it holds for calls in calls alone, which a module in normal form does not have.
"""

from collections.abc import Callable, Mapping, Sequence

from refmlc.diag import fail
from refmlc.diag.catalogue import UNSUPPORTED_CONSTRUCT
from refmlc.lang.arith.extents import polynomial
from refmlc.lang.dtypes import INT64
from refmlc.lang.ir import relax, tir
from refmlc.lang.ir.equal import structural_equal
from refmlc.lang.ir.types import TensorType, Type
from refmlc.rewrite.partition.patterns import (
    AndPattern,
    AttrPattern,
    CallPattern,
    ConstantPattern,
    DFPattern,
    DTypePattern,
    ExprPattern,
    ExternFuncPattern,
    FunctionPattern,
    GlobalVarPattern,
    NotPattern,
    OrPattern,
    ShapeExprPattern,
    ShapePattern,
    TupleGetItemPattern,
    TuplePattern,
    TypePattern,
    VarPattern,
    WildcardPattern,
)

Values = Mapping[relax.Var, relax.Expr]
TypeOf = Callable[[relax.Expr], Type | None]
Matches = dict[DFPattern, relax.Expr]
COMMUTATIVE = ("add", "multiply")


def annotated_type(expr: relax.Expr) -> Type | None:
    """The type that an expression says of itself."""
    return expr.ty if isinstance(expr, relax.Var | relax.Constant) else None


def matched_expressions(
    pattern: DFPattern, expr: relax.Expr, values: Values | None = None, type_of: TypeOf = annotated_type
) -> Matches | None:
    """The expression of each part of `pattern`; None where `expr` is not what it describes."""
    matcher = _Matcher(values or {}, type_of)
    return matcher.matches if matcher.match(pattern, expr) else None


class _Matcher:
    """One match: the values of variables, and what patterns are so far."""

    def __init__(self, values: Values, type_of: TypeOf) -> None:
        self.values = values
        self.type_of = type_of
        self.matches: Matches = {}

    def match(self, pattern: DFPattern, expr: relax.Expr) -> bool:
        """Whether an expression is what a pattern describes; what the pattern is already, it stays."""
        expr = self.value(expr)
        if pattern in self.matches:
            return _is_same(self.matches[pattern], expr)
        mark = len(self.matches)
        if self.describes(pattern, expr):
            self.matches[pattern] = expr
            return True
        self.forget(mark)
        return False

    def forget(self, mark: int) -> None:
        """Forget what was matched after the first `mark`."""
        while len(self.matches) > mark:
            self.matches.popitem()

    def value(self, expr: relax.Expr) -> relax.Expr:
        """The value of a variable, as far as it is known."""
        while True:
            match expr:
                case relax.Var() if expr in self.values:
                    expr = self.values[expr]
                case relax.SeqExpr(blocks=(), body=body):
                    expr = body
                case _:
                    return expr

    def describes(self, pattern: DFPattern, expr: relax.Expr) -> bool:
        """The rule of each kind of pattern."""
        match pattern:
            case WildcardPattern():
                return True
            case ExprPattern(wanted):
                return _is_same(wanted, expr) or (type(wanted) is type(expr) and structural_equal(wanted, expr))
            case VarPattern(name, dataflow):
                return isinstance(expr, relax.Var) and name in ("", expr.name) and (expr.dataflow or not dataflow)
            case GlobalVarPattern(name):
                return isinstance(expr, tir.GlobalVar) and name in expr.name
            case ExternFuncPattern(symbol):
                return isinstance(expr, relax.ExternFunc) and symbol in ("", expr.symbol)
            case ConstantPattern():
                return isinstance(expr, relax.Constant)
            case CallPattern():
                return isinstance(expr, relax.Call) and self.call(pattern, expr)
            case FunctionPattern(params, body):
                return isinstance(expr, relax.Function) and self.all((*params, body), (*expr.params, expr.body))
            case TuplePattern(fields, unordered):
                ordered = self.any_order if unordered else self.all
                return isinstance(expr, relax.Tuple) and ordered(fields, expr.fields)
            case TupleGetItemPattern(inner, index):
                return (
                    isinstance(expr, relax.TupleGetItem)
                    and index in (None, expr.index)
                    and self.match(inner, expr.tuple_value)
                )
            case OrPattern(left, right):
                return self.match(left, expr) or self.match(right, expr)
            case AndPattern(left, right):
                return self.match(left, expr) and self.match(right, expr)
            case NotPattern(rejected):
                return not self.match(rejected, expr)
            case ShapeExprPattern(values):
                return isinstance(expr, relax.ShapeExpr) and is_shape(values, expr.values)
            case _:
                return self.has(pattern, expr)

    def has(self, pattern: DFPattern, expr: relax.Expr) -> bool:
        """The rules of patterns that ask for more than another one."""
        match pattern:
            case AttrPattern(inner, attrs):
                if isinstance(expr, relax.Op):
                    raise fail(
                        UNSUPPORTED_CONSTRUCT, "a pattern asks for an attribute of an operator itself", expr.span
                    )
                own = expr.attrs if isinstance(expr, relax.Call | relax.Function) else {}
                return self.match(inner, expr) and all(
                    key in own and _is_equal(value, own[key]) for key, value in attrs.items()
                )
            case TypePattern(inner, wanted):
                ty = self.type_of(expr)
                return self.match(inner, expr) and ty is not None and structural_equal(wanted, ty)
            case DTypePattern(inner, dtype):
                ty = self.type_of(expr)
                return isinstance(ty, TensorType) and ty.dtype == dtype and self.match(inner, expr)
            case ShapePattern(inner, shape):
                ty = self.type_of(expr)
                known = isinstance(ty, TensorType) and ty.shape is not None and is_shape(shape, ty.shape)
                return known and self.match(inner, expr)
            case _:
                return False

    def all(self, patterns: Sequence[DFPattern], exprs: Sequence[relax.Expr]) -> bool:
        """Whether each expression is what the pattern at its place describes."""
        return len(patterns) == len(exprs) and all(map(self.match, patterns, exprs))

    def any_order(self, patterns: Sequence[DFPattern], exprs: Sequence[relax.Expr]) -> bool:
        """Whether the expressions, in some order, are what the patterns describe."""
        if not patterns or len(patterns) != len(exprs):
            return len(patterns) == len(exprs)
        for place, expr in enumerate(exprs):
            mark = len(self.matches)
            if self.match(patterns[0], expr) and self.any_order(patterns[1:], (*exprs[:place], *exprs[place + 1 :])):
                return True
            self.forget(mark)
        return False

    def call(self, pattern: CallPattern, expr: relax.Call) -> bool:
        """The operator and the arguments, also swapped where that is the same."""
        if not self.match(pattern.op, expr.op):
            return False
        count = len(pattern.args)
        if len(expr.args) < count or (len(expr.args) > count and not pattern.open_ended):
            return False
        mark = len(self.matches)
        orders = [expr.args[:count]]
        if isinstance(expr.op, relax.Op) and expr.op.name in COMMUTATIVE:
            orders.append(tuple(reversed(expr.args))[:count])
        for args in orders:
            if self.all(pattern.args, args):
                return True
            self.forget(mark)
        return False


def _is_same(a: relax.Expr, b: relax.Expr) -> bool:
    """Whether two expressions are one: operators and names of functions are what they are called."""
    match a, b:
        case (relax.Op(name), relax.Op(other)) | (tir.GlobalVar(name), tir.GlobalVar(other)):
            return name == other
        case _:
            return a is b


def is_shape(wanted: Sequence[int | tir.Expr], shape: Sequence[tir.Expr]) -> bool:
    """Whether each extent is certainly the one that is wanted."""
    extents = [tir.IntImm(INT64, size) if isinstance(size, int) else size for size in wanted]
    pairs = zip(extents, shape, strict=False)
    return len(extents) == len(shape) and all(polynomial(a, {}) == polynomial(b, {}) for a, b in pairs)


def _is_equal(wanted: object, value: object) -> bool:
    """Whether an attribute has a value: lists are tuples, a truth value is different from a number."""
    if isinstance(wanted, list | tuple) and isinstance(value, list | tuple):
        return len(wanted) == len(value) and all(map(_is_equal, wanted, value))
    match wanted, value:
        case tir.IntImm(_, number), int():
            return number == value
        case int(), tir.IntImm(_, number):
            return number == wanted
        case str(), _:
            return str(value) == wanted and value is not None
    return type(wanted) is type(value) and wanted == value
