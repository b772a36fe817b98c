"""Steppers: three clients of the interpreter's hooks, each seeing more than the previous one and costing more.

| client          | sees in addition                         | used when                                          |
|-----------------|------------------------------------------|----------------------------------------------------|
| `Stepper`       | functions, statements, bindings, threads | always                                             |
| `StoreStepper`  | each element that is stored              | writes are watched, NaNs caught, a tensor compared |
| `AccessStepper` | each element that is loaded              | reads are watched                                  |
"""

from collections.abc import Sequence
from typing import Protocol

from refmlc.lang.ir import relax, tir
from refmlc.run.interp.graph import activation
from refmlc.run.interp.hooks import Hooks
from refmlc.run.interp.tensorir.frame import Frame, Run
from refmlc.run.interp.tensorir.scope import Scope
from refmlc.run.interp.tensorir.views import View
from refmlc.run.interp.threads.group import Thread


class Listener(Protocol):
    """The interface of the engine to its steppers."""

    def enter_call(self, name: str, args: Sequence[object]) -> None:
        """A call of `name` begins."""

    def leave_call(self) -> None:
        """The innermost call ends."""

    def begin_threads(self, loop: tir.For, threads: Sequence[Thread]) -> None:
        """The threads of `loop` are about to begin."""

    def arrive(self, token: object) -> None:
        """A thread has arrived at a barrier."""

    def met(self, token: object) -> None:
        """The barrier of this arrival has opened."""

    def wrap_statement(self, scope: Scope, stmt: tir.Stmt, run: Run) -> Run:
        """The run that replaces `run` of a statement."""

    def wrap_binding(self, binding: relax.Binding, run: activation.Run) -> activation.Run:
        """The run that replaces `run` of a binding."""

    def may_run_in_c(self, name: str) -> bool:
        """True if C may execute a call of the prim_func."""

    def before_store(self, access: tir.BufferStore, view: View, offset: int, value: object, frame: Frame) -> None:
        """An element is about to be written."""

    def before_load(self, access: tir.BufferLoad, view: View, offset: int, frame: Frame) -> None:
        """An element is about to be read."""


class Stepper(Hooks):
    """Reports functions, statements and bindings."""

    def __init__(self, listener: Listener) -> None:
        self._listener = listener
        self._place: tuple[View, int] | None = None

    def enter_function(self, name: str, args: Sequence[object]) -> None:
        """Report the beginning of a call."""
        self._listener.enter_call(name, args)

    def leave_function(self, name: str, result: object) -> None:
        """Report the end of a call."""
        del name, result
        self._listener.leave_call()

    def begin_threads(self, loop: tir.For, threads: Sequence[Thread]) -> None:
        """Threads that take turns are about to begin."""
        self._listener.begin_threads(loop, threads)

    def release(self, token: object, frame: Frame) -> None:
        """A thread has arrived at a barrier."""
        del frame
        self._listener.arrive(token)

    def acquire(self, token: object, frame: Frame) -> None:
        """The barrier where a thread arrived has opened."""
        del frame
        self._listener.met(token)

    def around(self, scope: Scope, stmt: tir.Stmt, run: Run) -> Run:
        """Count the statement and stop at it."""
        return self._listener.wrap_statement(scope, stmt, run)

    def around_binding(self, binding: relax.Binding, run: activation.Run) -> activation.Run:
        """Count the binding and stop at it."""
        return self._listener.wrap_binding(binding, run)

    def is_quiet(self, name: str, args: Sequence[object]) -> bool:
        """True if C may execute the call."""
        del args
        return self._listener.may_run_in_c(name)


class StoreStepper(Stepper):
    """Reports also each store."""

    def write_element(self, access: tir.BufferStore, view: View, offset: int, frame: Frame) -> None:
        """Remember the place of the next store."""
        del access, frame
        self._place = (view, offset)

    def store(self, access: tir.BufferStore, indices: tuple[int, ...], value: object, frame: Frame) -> None:
        """Report the store: its value is known and not written yet."""
        del indices
        if self._place is not None:
            self._listener.before_store(access, *self._place, value, frame)


class AccessStepper(StoreStepper):
    """Reports also each load."""

    def read_element(self, access: tir.BufferLoad, view: View, offset: int, frame: Frame) -> None:
        """An element is about to be read."""
        self._listener.before_load(access, view, offset, frame)


STEPPERS: tuple[type[Stepper], ...] = (Stepper, StoreStepper, AccessStepper)
