"""A loop or a block as a function of its own, which C can execute; its parameters are the names it does not declare.

| used, declared outside           | becomes                                                           |
|----------------------------------|-------------------------------------------------------------------|
| a number                         | a parameter                                                       |
| a buffer                         | a parameter that is matched; the argument is the view as a tensor |
| anything else, memory of threads | not possible: the interpreter executes the loop                   |

Where the loop would fail, C leaves memory unchanged and the interpreter executes the loop again and reports the
failure.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from refmlc.debug.loop_length import LoopLength, counted
from refmlc.debug.places import StmtPlace
from refmlc.debug.reentry import Reentry
from refmlc.diag import RefmlcError
from refmlc.lang.dtypes import HANDLE
from refmlc.lang.ir import IRModule, tir
from refmlc.lang.ir.scopes import is_global
from refmlc.lang.ir.visit import walk
from refmlc.lazy import load
from refmlc.native.tier.native_module import NativeModule
from refmlc.run.interp.substitutes import Prepared
from refmlc.run.interp.tensorir.frame import Frame
from refmlc.run.interp.tensorir.views import View
from refmlc.run.memory.budget import Budget

LONG = 1_000_000  # iterations, which take the interpreter about a second
SAFE = 4  # an iteration takes at most so much fuel
LOOP = "loop"


class InterpreterNeeded(Exception):
    """C cannot execute the loop."""


def _needed(_args: Sequence[object]) -> object:
    raise InterpreterNeeded


@dataclass(frozen=True, slots=True)
class OutlinedLoop:
    """A loop as a function. `run`: the function in C."""

    numbers: tuple[tir.Var, ...]
    buffers: tuple[tir.Buffer, ...]
    run: Prepared


class OutlinedLoops:
    """The loops of a session that C executes. Not for concurrent use."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._outlined: dict[StmtPlace, OutlinedLoop | None] = {}

    def length(self, place: StmtPlace, frame: Frame, reentry: Reentry) -> LoopLength | None:
        """The length of the loop at `place`; None where the text does not give it, or threads take turns in it."""
        scope = reentry.scope
        if frame[scope.group] is not None or frame[scope.memories]:
            return None
        return counted(place.node, {var: frame[slot] for var, slot in scope.layout.variables.items()})

    def execute(self, place: StmtPlace, frame: Frame, reentry: Reentry, length: LoopLength) -> bool:
        """True if C has executed the whole loop at `place`; otherwise nothing has changed.

        The budget is charged as for a call in C. Where it might not reach, the interpreter says where it ends.
        """
        if SAFE * length.iterations > self._budget.fuel():
            return False
        if place not in self._outlined:
            self._outlined[place] = outlined(place, self._budget)
        outlined_loop = self._outlined[place]
        args = None if outlined_loop is None else _arguments(outlined_loop, frame, reentry)
        if outlined_loop is None or args is None:
            return False
        try:
            outlined_loop.run(args)
        except InterpreterNeeded:
            return False
        return True


def outlined(place: StmtPlace, budget: Budget) -> OutlinedLoop | None:
    """The loop at `place` as a function in C; None where it uses something that cannot be a parameter."""
    numbers, buffers = free(place.node)
    if any(not is_global(buffer.scope) or buffer.strides for buffer in buffers):
        return None
    handles = {tir.Var(f"{buffer.name}_{number}", HANDLE): buffer for number, buffer in enumerate(buffers)}
    func = tir.PrimFunc((*handles, *numbers), handles, place.node, check_well_formed=False)
    module = IRModule({LOOP: func})
    try:
        native = NativeModule(module, "cr")
        tier = load("refmlc.native.tier.native_tier:NativeTier")(module, native.compiled(), budget)
        return OutlinedLoop(numbers, buffers, tier.function(LOOP, lambda: _needed))
    except RefmlcError:  # there is no compiler, or the generator does not take it
        return None


def free(loop: tir.Stmt) -> tuple[tuple[tir.Var, ...], tuple[tir.Buffer, ...]]:
    """The variables and buffers that a statement uses but does not declare, in the order of the text."""
    used: dict[tir.Var | tir.Buffer, None] = {}
    declared: set[tir.Var | tir.Buffer] = set()
    for node in walk(loop):
        match node:
            case tir.Var() | tir.Buffer():
                used[node] = None
            case tir.For(loop_var=var) | tir.Bind(var=var) | tir.Let(var=var):
                declared.add(var)
            case tir.AllocBuffer(buffer=buffer) | tir.DeclBuffer(buffer=buffer):
                declared.add(buffer)
            case tir.SBlock():
                declared |= {axis.var for axis in node.iter_vars} | set(node.alloc_buffers)
                declared |= {match.buffer for match in node.match_buffers}
            case _:
                pass
    mine = [node for node in used if node not in declared]
    return (
        tuple(node for node in mine if isinstance(node, tir.Var)),
        tuple(node for node in mine if isinstance(node, tir.Buffer)),
    )


def _arguments(loop: OutlinedLoop, frame: Frame, reentry: Reentry) -> list[object] | None:
    """The arguments of an outlined loop at the current position; None where one cannot be passed."""
    scope = reentry.scope
    numbers = [frame[scope.layout.slot(var)] if scope.layout.knows(var) else None for var in loop.numbers]
    views = [frame[scope.buffers[buffer].view] if buffer in scope.buffers else None for buffer in loop.buffers]
    if not all(isinstance(number, int | float) for number in numbers):
        return None
    try:
        tensors = [view.tensor() for view in views if isinstance(view, View)]
    except RefmlcError:  # it reaches beyond its storage
        return None
    return [*tensors, *numbers] if len(tensors) == len(views) else None
