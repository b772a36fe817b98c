"""The body of a block as bindings and stores, and what its expressions may hold.

| expression                                             | in a nest that may move   |
|--------------------------------------------------------|---------------------------|
| constants, axes, bound variables, loads of one element | yes                       |
| operators, casts, `and`, `or`, Select, if_then_else    | yes                       |
| calls                                                  | no: they may have effects |
| vectors, pointers, `let` inside of an expression       | no                        |
| a variable from outside of the block                   | no                        |
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import get_args

from refmlc.lang.ir import tir
from refmlc.lang.ir.visit import children
from refmlc.lang.ops.short_text import short_text

ARITHMETIC = (
    tir.Var,
    tir.IntImm,
    tir.FloatImm,
    tir.Apply,
    tir.Cast,
    tir.And,
    tir.Or,
    tir.Select,
    tir.IfThenElseExpr,
    tir.BufferLoad,
)


@dataclass(frozen=True, slots=True)
class Body:
    """What a block does for one instance: `init` (at the first reduction point), then `lets`, then `stores`."""

    block: tir.SBlock
    init: tuple[tir.BufferStore, ...]
    lets: tuple[tir.Bind, ...]
    stores: tuple[tir.BufferStore, ...]

    @property
    def all_stores(self) -> tuple[tir.BufferStore, ...]:
        """Those of init, then those of the body."""
        return (*self.init, *self.stores)


def read_body(block: tir.SBlock) -> Body | str:
    """The body of `block`, if it is of stores and of bindings before them; else why not."""
    if block.alloc_buffers or block.match_buffers:
        return f"block `{block.name}` has buffers of its own"
    init = [] if block.init is None else _flat(block.init)
    parts = _flat(block.body)
    lets = [part for part in parts if isinstance(part, tir.Bind)]
    stores = [part for part in parts if isinstance(part, tir.BufferStore)]
    inits = [part for part in init if isinstance(part, tir.BufferStore)]
    if len(inits) != len(init):
        return f"init of block `{block.name}` is more than stores"
    if parts != [*lets, *stores]:
        obstacle = next((part for part in parts if not isinstance(part, (tir.Bind, tir.BufferStore))), None)
        return f"block `{block.name}` {_holds(obstacle)}"
    body = Body(block, tuple(inits), tuple(lets), tuple(stores))
    if not stores:
        return f"block `{block.name}` stores nothing"
    bound_here = {axis.var for axis in block.iter_vars} | {let.var for let in lets}
    reasons = (_odd(part, bound_here) for store in body.all_stores for part in (store.value, *store.indices))
    of_lets = (_odd(let.value, bound_here) for let in lets)
    return next((reason for reason in (*reasons, *of_lets) if reason), "") or body


def _flat(stmt: tir.Stmt) -> list[tir.Stmt]:
    return [each for part in stmt.seq for each in _flat(part)] if isinstance(stmt, tir.SeqStmt) else [stmt]


def _holds(other: tir.Stmt | None) -> str:
    match other:
        case None:
            return "binds a variable after it stored"
        case tir.SBlockRealize() | tir.For():
            return "holds loops or blocks of its own"
        case tir.IfThenElse() | tir.While():
            return "stores under a condition"
        case tir.Evaluate():
            return "has effects: it evaluates a call"
        case _:
            return "holds more than stores"


def parts_of(expr: tir.Expr) -> Iterator[tir.Expr]:
    """`expr` and all below it, each object once."""
    stack, visited = [expr], set()
    while stack:
        part = stack.pop()
        if part not in visited:
            visited.add(part)
            yield part
            stack.extend(reversed(operands(part)))


def operands(expr: tir.Expr) -> tuple[tir.Expr, ...]:
    """The expressions directly below `expr`."""
    if isinstance(expr, tir.BufferLoad):
        return expr.indices if expr.predicate is None else (*expr.indices, expr.predicate)
    return tuple(part for part in children(expr) if isinstance(part, get_args(tir.Expr)))


def _odd(expr: tir.Expr, bound_here: Iterable[tir.Var]) -> str:
    """What in `expr` a nest cannot hold; empty: nothing."""
    names = set(bound_here)
    for part in parts_of(expr):
        match part:
            case tir.Call():
                name = part.callee.name if isinstance(part.callee, tir.GlobalVar) else part.callee
                return f"it calls `{name}`"
            case tir.Var() if part not in names:
                return f"`{part.name}` is bound outside of the block"
            case tir.BufferLoad() if part.predicate is not None:
                return f"`{short_text(part)}` has a predicate"
            case _ if not isinstance(part, ARITHMETIC):
                return f"`{short_text(part)}` is no arithmetic on elements"
            case _ if part.dtype.is_vector or part.dtype.kind not in ("int", "uint", "bool", "float"):
                return f"`{short_text(part)}` is of {part.dtype}"
            case _:
                continue
    return ""
