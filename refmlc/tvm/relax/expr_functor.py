"""`tvm.relax.expr_functor`: visitors and mutators, which need no decorator here, but may have it.

Decision: a call that a method of a subclass gets has an operator whose name equals its name with and without `relax.`:
TVM's is `relax.nn.relu`, and `call.op.name == "relax.nn.relu"` would else be false everywhere, without a word.
"""

from dataclasses import replace
from typing import TypeVar

from refmlc.lang.builder import PyExprMutator as Mutator, PyExprVisitor as Visitor
from refmlc.lang.ir import relax
from refmlc.tvm.missing_names import refusal

C = TypeVar("C", bound=type)
__all__ = ["PyExprMutator", "PyExprVisitor", "mutator", "visitor"]


class OperatorName(str):
    """The name of an operator, equal to itself with `relax.` before it."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str) and str.__eq__(self, other.removeprefix("relax."))

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return str.__hash__(self)


def as_seen(expr: relax.Expr) -> relax.Expr:
    """An expression as methods of visitors see it."""
    if isinstance(expr, relax.Call) and isinstance(expr.op, relax.Op) and not isinstance(expr.op.name, OperatorName):
        return replace(expr, op=replace(expr.op, name=OperatorName(expr.op.name)))
    return expr


def as_kept(expr: relax.Expr, seen: relax.Expr, original: relax.Expr) -> relax.Expr:
    """What a method gave, with the plain name of its operator; the original where it gave what it saw."""
    if expr is seen:
        return original
    if isinstance(expr, relax.Call) and isinstance(expr.op, relax.Op) and isinstance(expr.op.name, OperatorName):
        return replace(expr, op=replace(expr.op, name=str.__str__(expr.op.name)))
    return expr


class PyExprMutator(Mutator):
    """A function of Relax built anew: override `visit_call_` and the like."""

    def visit_expr(self, expr: relax.Expr) -> relax.Expr:
        """The replacement of an expression, by its kind."""
        seen = as_seen(expr)
        return as_kept(super().visit_expr(seen), seen, expr)


class PyExprVisitor(Visitor):
    """A look at the expressions of a function: override `visit_call_` and the like."""

    def visit_expr(self, expr: relax.Expr) -> None:
        """See an expression."""
        super().visit_expr(as_seen(expr))


def visitor(visitor_cls: C) -> C:
    """The class as it is."""
    return visitor_cls


def mutator(mutator_cls: C) -> C:
    """The class as it is."""
    return mutator_cls


__getattr__ = refusal(__name__, __all__)
