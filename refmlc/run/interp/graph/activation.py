"""Activations: the state of one call of a function of the graph.

| part     | holds                                                                        |
|----------|------------------------------------------------------------------------------|
| `values` | the variables bound so far; a killed one holds `KILLED`                      |
| `dims`   | the symbolic dimensions (and primitive variables) that have a value so far   |
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from refmlc.diag import fail
from refmlc.diag.catalogue import DATAFLOW_ESCAPE, OUT_OF_SCOPE, USE_AFTER_KILL
from refmlc.diag.errors import RefmlcError
from refmlc.diag.source import Span
from refmlc.lang.ir import relax, tir
from refmlc.lang.ops.contract import Scalar
from refmlc.run.memory.tensor import Tensor

if TYPE_CHECKING:
    from refmlc.run.interp.machine import Machine

MOST_NOTES = 8


class Killed:
    """The value of a variable after a kill."""


KILLED = Killed()


def used(value: object, what: str, span: Span | None) -> object:
    """`value`, which is used. Fails: RM316 where the memory of it, or of a tensor that it holds, went to another."""
    if isinstance(value, Tensor):
        if not value.storage.alive:
            raise fail(USE_AFTER_KILL, f"{what} is used after its memory went to another tensor", span)
    elif type(value) is tuple and not _are_alive(value):
        raise fail(USE_AFTER_KILL, f"{what} is used after the memory of a tensor in it went to another", span)
    return value


def _are_alive(values: tuple[object, ...]) -> bool:
    """Whether every tensor in `values` has its memory. A tuple that occurs many times in others is looked at once."""
    pending, seen = [values], {id(values)}
    while pending:
        for value in pending.pop():
            if isinstance(value, Tensor):
                if not value.storage.alive:
                    return False
            elif type(value) is tuple and id(value) not in seen:
                seen.add(id(value))
                pending.append(value)
    return True


@dataclass(slots=True)
class Activation:
    """The state of one call. `noted` is the failure that this call has added its note to."""

    function: str
    values: dict[relax.Var, object] = field(default_factory=dict)
    dims: dict[tir.Var, Scalar] = field(default_factory=dict)
    noted: RefmlcError | None = None

    def value(self, var: relax.Var, span: Span | None) -> object:
        """The value of `var`, which is used. Fails: as `held`, and RM316 where memory of it was reused."""
        return used(self.held(var, span), f"`{var.name}`", span)

    def held(self, var: relax.Var, span: Span | None) -> object:
        """The value of `var`, which is not used. Fails: RM203, RM204 (not or no longer bound), RM316 (killed)."""
        try:
            value = self.values[var]
        except KeyError:
            if var.dataflow:
                message = f"dataflow variable `{var.name}` is used outside its dataflow block"
                raise fail(DATAFLOW_ESCAPE, message, span or var.span) from None
            raise fail(OUT_OF_SCOPE, f"variable `{var.name}` is used where it is not bound", span) from None
        if value is KILLED:
            raise fail(USE_AFTER_KILL, f"`{var.name}` is used after it was killed", span)
        return value

    def note(self, failure: RefmlcError, var: relax.Var, span: Span | None) -> None:
        """Add to `failure` that it happened while `var` was bound; only the innermost binding of a call does."""
        if self.noted is failure:
            return
        self.noted = failure
        diagnostic = failure.diagnostic.at(span)
        if len(diagnostic.notes) < MOST_NOTES:
            diagnostic = diagnostic.noting(f"in `{self.function}`, binding `{var.name}`")
        failure.diagnostic = diagnostic


Eval: TypeAlias = Callable[[Activation], object]
Run: TypeAlias = Callable[[Activation], None]


@dataclass(frozen=True, slots=True)
class Scope:
    """The state of preparing a function: the machine, the function's name, how to prepare an expression."""

    machine: "Machine"
    function: str
    prepare: Callable[["Scope", relax.Expr], Eval]

    def expr(self, node: relax.Expr) -> Eval:
        """`node` as a closure on activations."""
        return self.prepare(self, node)

    def exprs(self, nodes: tuple[relax.Expr, ...]) -> Callable[[Activation], tuple[object, ...]]:
        """`nodes` as one closure: evaluated from left to right."""
        parts = tuple(self.prepare(self, node) for node in nodes)
        return lambda env: tuple([part(env) for part in parts])
