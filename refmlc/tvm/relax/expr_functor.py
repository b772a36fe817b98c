"""`tvm.relax.expr_functor`: visitors and mutators, which need no decorator here, but may have it."""

from typing import TypeVar

from refmlc.lang.builder import PyExprMutator, PyExprVisitor
from refmlc.tvm.missing_names import refusal

C = TypeVar("C", bound=type)
__all__ = ["PyExprMutator", "PyExprVisitor", "mutator", "visitor"]


def visitor(visitor_cls: C) -> C:
    """The class as it is."""
    return visitor_cls


def mutator(mutator_cls: C) -> C:
    """The class as it is."""
    return mutator_cls


__getattr__ = refusal(__name__, __all__)
