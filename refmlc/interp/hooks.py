"""What a client of the interpreter can watch: one class, no-op; override what you want to see.

| method                                        | called                                                          |
|-----------------------------------------------|-----------------------------------------------------------------|
| `enter_function` / `leave_function`           | around every call of a function of the module                   |
| `before_stmt` / `after_stmt`                  | around every statement of TensorIR (after: not when it failed)    |
| `load` / `store`                              | after an element was read, before one is written                |
| `before_binding` / `binding`                  | before a binding of Relax is evaluated, after it has its value  |

Only overridden methods are called: functions are prepared for the hooks that watch them, so a method left as it is
here costs nothing. A hook may raise; the exception ends the run.
"""

from collections.abc import Sequence

from refmlc.interp.tensorir.frame import Frame
from refmlc.ir import relax, tir


class Hooks:
    """Watches nothing."""

    def enter_function(self, name: str, args: Sequence[object]) -> None:
        """Function `name` begins with `args`."""

    def leave_function(self, name: str, result: object) -> None:
        """Function `name` ended with `result`; not called when it failed."""

    def before_stmt(self, stmt: tir.Stmt, frame: Frame) -> None:
        """`stmt` is about to be executed; `refmlc.interp.tensorir.frame.names` reads the frame."""

    def after_stmt(self, stmt: tir.Stmt, frame: Frame) -> None:
        """`stmt` was executed."""

    def load(self, access: tir.BufferLoad, indices: tuple[int, ...], value: object, frame: Frame) -> None:
        """An element (one lane of a vector load) was read."""

    def store(self, access: tir.BufferStore, indices: tuple[int, ...], value: object, frame: Frame) -> None:
        """An element (one lane of a vector store) is about to be written."""

    def before_binding(self, binding: relax.Binding) -> None:
        """The value of a variable of Relax is about to be computed."""

    def binding(self, binding: relax.Binding, value: object) -> None:
        """A variable of Relax was bound to `value`."""

    def watches(self, method: str) -> bool:
        """Whether `method` is overridden."""
        return getattr(type(self), method) is not getattr(Hooks, method)
