"""One set of hooks that passes every event on to several: to those that override its method, in their order."""

from collections.abc import Callable, Sequence

from refmlc.lang.ir import relax, tir
from refmlc.run.interp.graph import activation
from refmlc.run.interp.hooks import Hooks
from refmlc.run.interp.tensorir.frame import Run
from refmlc.run.interp.tensorir.scope import Scope

Listener = Callable[..., None]
WITH_RESULT = ("around", "around_binding", "is_quiet", "watches")
EVENTS = tuple(name for name in vars(Hooks) if not name.startswith("_") and name not in WITH_RESULT)


class Relay(Hooks):
    """Passes each event on to those of `parts` that watch for it.

    A relay has an attribute for each event, which takes the place of the method: for one listener that listener
    itself, so that the event costs no call of the relay.
    """

    def __init__(self, parts: Sequence[Hooks]) -> None:
        self._parts = parts
        for event in EVENTS:
            listeners: tuple[Listener, ...] = tuple(getattr(part, event) for part in parts if part.watches(event))
            if listeners:
                setattr(self, event, _in_turn(listeners))

    def watches(self, method: str) -> bool:
        """True if one of the parts watches."""
        return any(part.watches(method) for part in self._parts)

    def around(self, scope: Scope, stmt: tir.Stmt, run: Run) -> Run:
        """`run` wrapped by each part, the first innermost."""
        for part in self._parts:
            if part.watches("around"):
                run = part.around(scope, stmt, run)
        return run

    def around_binding(self, binding: relax.Binding, run: activation.Run) -> activation.Run:
        """`run` wrapped by each part, the first innermost."""
        for part in self._parts:
            if part.watches("around_binding"):
                run = part.around_binding(binding, run)
        return run


def _in_turn(listeners: tuple[Listener, ...]) -> Listener:
    if len(listeners) == 1:
        return listeners[0]

    def relay(*event: object) -> None:
        for listener in listeners:
            listener(*event)

    return relay
