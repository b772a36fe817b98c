"""One set of hooks that passes every event on to several: to those that override its method, in their order.

The methods are written out, so that each has the types of its event.
"""

# ruff: noqa: D102 - each method passes on its event, which `Hooks` describes

from collections.abc import Callable, Sequence

from refmlc.lang.ir import relax, tir
from refmlc.lang.ir.node import Node
from refmlc.run.interp.graph import activation
from refmlc.run.interp.graph.destination import DestinationCall
from refmlc.run.interp.hooks import Hooks
from refmlc.run.interp.tensorir.block_sites import BlockSite
from refmlc.run.interp.tensorir.frame import Frame, Run
from refmlc.run.interp.tensorir.scope import Scope
from refmlc.run.interp.tensorir.views import View

QUESTIONS = ("watches", "is_quiet")
EVENTS = tuple(name for name in vars(Hooks) if not name.startswith("_") and name not in QUESTIONS)


class Relay(Hooks):
    """Passes each event on to those of `parts` that watch for it."""

    def __init__(self, parts: Sequence[Hooks]) -> None:
        self._listeners: dict[str, tuple[Callable[..., None], ...]] = {
            event: tuple(getattr(part, event) for part in parts if part.watches(event)) for event in EVENTS
        }
        self._parts = parts

    def watches(self, method: str) -> bool:
        """Whether one of the parts does."""
        return any(part.watches(method) for part in self._parts)

    def enter_function(self, name: str, args: Sequence[object]) -> None:
        for listener in self._listeners["enter_function"]:
            listener(name, args)

    def leave_function(self, name: str, result: object) -> None:
        for listener in self._listeners["leave_function"]:
            listener(name, result)

    def before_stmt(self, stmt: tir.Stmt, frame: Frame) -> None:
        for listener in self._listeners["before_stmt"]:
            listener(stmt, frame)

    def after_stmt(self, stmt: tir.Stmt, frame: Frame) -> None:
        for listener in self._listeners["after_stmt"]:
            listener(stmt, frame)

    def load(self, access: tir.BufferLoad, indices: tuple[int, ...], value: object, frame: Frame) -> None:
        for listener in self._listeners["load"]:
            listener(access, indices, value, frame)

    def store(self, access: tir.BufferStore, indices: tuple[int, ...], value: object, frame: Frame) -> None:
        for listener in self._listeners["store"]:
            listener(access, indices, value, frame)

    def read_element(self, access: tir.BufferLoad, view: View, offset: int, frame: Frame) -> None:
        for listener in self._listeners["read_element"]:
            listener(access, view, offset, frame)

    def write_element(self, access: tir.BufferStore, view: View, offset: int, frame: Frame) -> None:
        for listener in self._listeners["write_element"]:
            listener(access, view, offset, frame)

    def enter_loop(self, loop: tir.For, frame: Frame) -> None:
        for listener in self._listeners["enter_loop"]:
            listener(loop, frame)

    def leave_loop(self, loop: tir.For, frame: Frame) -> None:
        for listener in self._listeners["leave_loop"]:
            listener(loop, frame)

    def enter_block(self, site: BlockSite, frame: Frame) -> None:
        for listener in self._listeners["enter_block"]:
            listener(site, frame)

    def leave_block(self, site: BlockSite, frame: Frame) -> None:
        for listener in self._listeners["leave_block"]:
            listener(site, frame)

    def init(self, site: BlockSite, frame: Frame) -> None:
        for listener in self._listeners["init"]:
            listener(site, frame)

    def allocated(self, buffer: tir.Buffer, view: View, frame: Frame) -> None:
        for listener in self._listeners["allocated"]:
            listener(buffer, view, frame)

    def called(self, call: tir.Call, value: object, frame: Frame) -> None:
        for listener in self._listeners["called"]:
            listener(call, value, frame)

    def resume_thread(self, loop: tir.For, frame: Frame) -> None:
        for listener in self._listeners["resume_thread"]:
            listener(loop, frame)

    def pause_thread(self, loop: tir.For, frame: Frame) -> None:
        for listener in self._listeners["pause_thread"]:
            listener(loop, frame)

    def meet(self, node: Node, implied: bool) -> None:
        for listener in self._listeners["meet"]:
            listener(node, implied)

    def before_destination(self, call: DestinationCall) -> None:
        for listener in self._listeners["before_destination"]:
            listener(call)

    def after_destination(self, call: DestinationCall) -> None:
        for listener in self._listeners["after_destination"]:
            listener(call)

    def before_binding(self, binding: relax.Binding) -> None:
        for listener in self._listeners["before_binding"]:
            listener(binding)

    def binding(self, binding: relax.Binding, value: object) -> None:
        for listener in self._listeners["binding"]:
            listener(binding, value)

    def around(self, scope: Scope, stmt: tir.Stmt, run: Run) -> Run:
        for part in self._parts:
            if part.watches("around"):
                run = part.around(scope, stmt, run)
        return run

    def around_binding(self, binding: relax.Binding, run: activation.Run) -> activation.Run:
        for part in self._parts:
            if part.watches("around_binding"):
                run = part.around_binding(binding, run)
        return run
