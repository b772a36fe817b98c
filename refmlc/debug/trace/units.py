"""Units: statements that contain no other. A unit is kept or omitted as a whole, its loads with it.

| unit                                    | while it is omitted                                                   |
|-----------------------------------------|-----------------------------------------------------------------------|
| stores a number, computed by operators  | is executed unwatched; the text gives its number of loads             |
| the same, with loads in a lazy part     | a hook counts the loads                                               |
| any other (vectors, calls, `T.undef()`) | is watched as usual, and counted                                      |
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from refmlc.lang.ir import tir
from refmlc.lang.ir.visit import walk
from refmlc.run.interp.hooks import Hooks
from refmlc.run.interp.tensorir.elements import is_undef
from refmlc.run.interp.tensorir.frame import Frame, NumberEval, Run, Slot
from refmlc.run.interp.tensorir.scope import Scope
from refmlc.run.interp.tensorir.views import View

PLAIN = (
    *(tir.Var, tir.IntImm, tir.FloatImm, tir.Apply, tir.Cast, tir.And, tir.Or, tir.Select, tir.IfThenElseExpr),
    tir.BufferLoad,
)
NUMBERS = ("float", "int", "uint", "bool")


class LoadCounter(Hooks):
    """Counts the loads of a unit."""

    def __init__(self, count: Callable[[], None]) -> None:
        self._count = count

    def load(self, access: tir.BufferLoad, indices: tuple[int, ...], value: object, frame: Frame) -> None:
        """Call `count` at a load."""
        del access, indices, value, frame
        self._count()


@dataclass(frozen=True, slots=True)
class UnwatchedUnit:
    """A unit executed unwatched: its loads (0 where `run` counts them), and the buffer it stores to.

    `back` reads the element that was stored; None where it can be neither NaN nor infinite.
    """

    run: Run
    loads: int
    view: Slot[View]
    back: NumberEval | None


def quick(scope: Scope, stmt: tir.Stmt, count: Callable[[], None]) -> UnwatchedUnit | None:
    """The unwatched execution of `stmt`, or None. `count` is called for each load that the text leaves open."""
    if not isinstance(stmt, tir.BufferStore) or not _is_plain(stmt):
        return None
    loads = _loads((stmt.value, *stmt.indices))
    special = stmt.buffer.dtype.is_float
    if special and _loads(stmt.indices) != 0:  # the indices may not be the same afterwards
        return None
    machine = scope.machine
    before, machine.hooks = machine.hooks, Hooks() if loads is not None else LoadCounter(count)
    try:
        run = scope.stmt(stmt)
        machine.hooks = Hooks()
        back = scope.number(tir.BufferLoad(stmt.buffer, stmt.indices, span=stmt.span)) if special else None
    finally:
        machine.hooks = before
    return UnwatchedUnit(run, loads or 0, scope.buffer(stmt.buffer).view, back)


def _is_plain(stmt: tir.BufferStore) -> bool:
    dtype = stmt.buffer.dtype
    if dtype.lanes != 1 or dtype.kind not in NUMBERS or stmt.predicate is not None or is_undef(stmt.value):
        return False
    return all(_is_plain_expr(part) for root in (stmt.value, *stmt.indices) for part in walk(root))


def _is_plain_expr(part: object) -> bool:
    match part:
        case tir.Buffer() | tir.Range():
            return True
        case tir.BufferLoad(predicate=None, dtype=dtype):
            return dtype.lanes == 1
        case tir.BufferLoad():
            return False
        case _:
            return isinstance(part, PLAIN)


def _loads(parts: Iterable[tir.Expr]) -> int | None:
    """The number of loads in expressions; None where it depends on values."""
    counts = [_loads_of(part) for part in parts]
    return None if None in counts else sum(filter(None, counts))


def _loads_of(node: tir.Expr) -> int | None:
    match node:
        case tir.Apply(args=args):
            return _loads(args)
        case tir.Cast(value=value):
            return _loads_of(value)
        case tir.Select():
            return _loads((node.condition, node.true_value, node.false_value))
        case tir.And() | tir.Or():
            return _loads_of(node.a) if _loads_of(node.b) == 0 else None
        case tir.IfThenElseExpr():
            return _loads_of(node.condition) if _loads((node.true_value, node.false_value)) == 0 else None
        case tir.BufferLoad():
            inner = _loads(node.indices)
            return None if inner is None else inner + 1
        case _:
            return 0
