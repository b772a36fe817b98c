"""The loops as an implementation. It promises no verdicts: what is undefined it does as NumPy does.

| what Python raises                                                       | the answer                         |
|--------------------------------------------------------------------------|------------------------------------|
| `NotTaken`                                                               | `UNSUPPORTED`, by name             |
| `Meaningless`, `IndexError`, a division by 0, a number that does not fit | `UNDEFINED`, without code or place |
| `Trapped`                                                                | `TRAP`                             |
| `Spent`, `MemoryError`, `RecursionError`                                 | `EXHAUSTED`                        |
| a failure of refmlc's, as operators have                                 | its kind                           |
| anything else                                                            | `CRASHED`                          |
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from refmlc.diag import Diagnostic
from refmlc.diag.errors import RefmlcError
from refmlc.lang.dtypes import DType
from refmlc.lang.ir import IRModule
from refmlc.lang.wellformed.reader_checks import checked
from refmlc.oracle.implementations.implementation import Answer, Ended, Limits, Prepared, Stop, Stopped
from refmlc.oracle.implementations.local_calls import answered, stopped
from refmlc.oracle.implementations.loops.graph import Graph
from refmlc.oracle.implementations.loops.graph_calls import Closure
from refmlc.oracle.implementations.loops.memory import (
    Array,
    Meaningless,
    Meter,
    Pointer,
    Spent,
    Trapped,
    of_tensor,
    to_tensor,
)
from refmlc.oracle.implementations.loops.operators import NotTaken
from refmlc.run.memory.tensor import Tensor
from refmlc.run.memory.values import Shape

UNDEFINED = (Meaningless, IndexError, ZeroDivisionError, OverflowError)
EXHAUSTED = (Spent, RecursionError)


@dataclass(frozen=True)
class Loops:
    """NumPy and Python's loops. `check`: modules that break a static rule are rejected.

    `most_steps`: calls whose meaning takes more are not run by those who know the meaning; None: all are.
    """

    limits: Limits = field(default_factory=Limits)
    check: bool = True
    name: str = "numpy"
    promises_verdicts: bool = False
    most_steps: int | None = None

    def prepare(self, module: IRModule) -> Prepared | Stopped:
        """Check `module`; its functions are translated when they are called."""
        try:
            checked(module, check=self.check)
        except RefmlcError as failure:
            return stopped(failure)
        return InLoops(Graph(module), self.limits)

    def close(self) -> None:
        """Nothing is held."""


class InLoops:
    """A module that is walked in this process."""

    def __init__(self, graph: Graph, limits: Limits) -> None:
        self._graph = graph
        self._limits = limits

    def run(self, func: str, args: Sequence[object]) -> Answer:
        """Call `func` on `args`."""
        return answered(lambda: self._run(func, args))

    def close(self) -> None:
        """Nothing is held."""

    def _run(self, func: str, args: Sequence[object]) -> Answer:
        self._graph.meter = Meter(self._limits.steps, self._limits.bytes)
        try:
            arguments = [_to_witness(arg) for arg in args]
            with np.errstate(all="ignore"):
                value = self._graph.call(func, arguments)
            return Ended(_from_witness(value), tuple(_argument_afterwards(arg) for arg in args))
        except NotTaken as problem:
            return Stopped(Stop.UNSUPPORTED, f"the implementation does not take {problem}")
        except UNDEFINED as problem:
            return Stopped(Stop.UNDEFINED, f"{type(problem).__name__}: {problem}")
        except Trapped as problem:
            return Stopped(Stop.TRAP, str(problem), Diagnostic(problem.code, str(problem)))
        except EXHAUSTED as problem:
            return Stopped(Stop.EXHAUSTED, f"{type(problem).__name__}: {problem}")


def _to_witness(arg: object) -> object:
    match arg:
        case Tensor():
            return of_tensor(arg)
        case np.ndarray():
            return of_tensor(Tensor.from_numpy(arg))
        case tuple() if not isinstance(arg, Shape):
            return tuple(_to_witness(item) for item in arg)
        case None | bool() | int() | float() | str() | Shape() | DType():
            return arg
        case _:
            raise NotTaken(f"an argument of type {type(arg).__name__}")


def _from_witness(value: object) -> object:
    match value:
        case Array():
            return to_tensor(value)
        case tuple() if not isinstance(value, Shape):
            return tuple(_from_witness(item) for item in value)
        case np.generic():
            return float(value)
        case Closure() | Pointer():
            raise NotTaken("a result that is a function or a pointer")
        case _:
            return value


def _argument_afterwards(arg: object) -> object:
    """The argument as it is afterwards; who knows what was written counts all of it."""
    match arg:
        case Tensor():
            arg.mark_initialised()
        case tuple() if not isinstance(arg, Shape):
            for item in arg:
                _argument_afterwards(item)
        case _:
            pass
    return arg
