"""What a client of the interpreter can watch: one class, no-op; override what you want to see.

| method                                     | called                                                         |
|--------------------------------------------|----------------------------------------------------------------|
| `enter_function` / `leave_function`        | around every call of a function of the module                  |
| `before_stmt` / `after_stmt`               | around every statement of TensorIR (after: not when it failed) |
| `load` / `store`                           | after an element was read, before one is written               |
| `read_element` / `write_element`           | an element in bounds is about to be read or written            |
| `enter_loop` / `leave_loop`                | around every `For` that iterates (leave: not when it failed)   |
| `enter_block` / `leave_block`              | around every instance of a block (leave: not when it failed)   |
| `init`                                     | before an instance of a block runs its init                    |
| `allocated`                                | a buffer has got fresh storage                                 |
| `resume_thread` / `pause_thread`           | around every turn of a thread that runs together with others   |
| `meet`                                     | all threads of a block came to one place                       |
| `called`                                   | a call of TensorIR that is an expression has its value         |
| `before_destination` / `after_destination` | around a call of Relax that says what it writes                |
| `before_binding` / `binding`               | before a binding of Relax is evaluated, after it has its value |
| `around` / `around_binding`                | once for each statement or binding, when it is prepared: what  |
|                                            | they give is executed in its place, `run` being what it does   |

Only overridden methods are called: functions are prepared for the hooks that watch them, so a method left as it is
here costs nothing. A hook may raise; the exception ends the run. `relay` makes one client of several.
"""

from collections.abc import Sequence

from refmlc.lang.ir import relax, tir
from refmlc.lang.ir.node import Node
from refmlc.run.interp.graph import activation
from refmlc.run.interp.graph.call_site import DestinationCall
from refmlc.run.interp.tensorir.block_sites import BlockSite
from refmlc.run.interp.tensorir.frame import Frame, Run
from refmlc.run.interp.tensorir.scope import Scope
from refmlc.run.interp.tensorir.views import View


class Hooks:
    """Watches nothing."""

    def enter_function(self, name: str, args: Sequence[object]) -> None:
        """Function `name` begins with `args`."""

    def leave_function(self, name: str, result: object) -> None:
        """Function `name` ended with `result`; not called when it failed."""

    def before_stmt(self, stmt: tir.Stmt, frame: Frame) -> None:
        """`stmt` is about to be executed; `refmlc.run.interp.tensorir.frame.names` reads the frame."""

    def after_stmt(self, stmt: tir.Stmt, frame: Frame) -> None:
        """`stmt` was executed."""

    def load(self, access: tir.BufferLoad, indices: tuple[int, ...], value: object, frame: Frame) -> None:
        """An element (one lane of a vector load) was read."""

    def store(self, access: tir.BufferStore, indices: tuple[int, ...], value: object, frame: Frame) -> None:
        """An element (one lane of a vector store) is about to be written."""

    def read_element(self, access: tir.BufferLoad, view: View, offset: int, frame: Frame) -> None:
        """Element `offset` of `view` is in bounds and about to be read; whether it was written is not looked at yet."""

    def write_element(self, access: tir.BufferStore, view: View, offset: int, frame: Frame) -> None:
        """Element `offset` of `view` is in bounds and about to be written."""

    def enter_loop(self, loop: tir.For, frame: Frame) -> None:
        """The iterations of `loop` begin; the layout of the frame knows the slot of its variable."""

    def leave_loop(self, loop: tir.For, frame: Frame) -> None:
        """The iterations of `loop` ended."""

    def enter_block(self, site: BlockSite, frame: Frame) -> None:
        """An instance of a block begins: its predicate holds, its axes are bound, nothing is allocated yet."""

    def leave_block(self, site: BlockSite, frame: Frame) -> None:
        """The instance that was entered last ended."""

    def init(self, site: BlockSite, frame: Frame) -> None:
        """The instance that was entered last is about to run its init."""

    def allocated(self, buffer: tir.Buffer, view: View, frame: Frame) -> None:
        """`buffer` has fresh storage."""

    def called(self, call: tir.Call, value: object, frame: Frame) -> None:
        """The expression `call` has `value`."""

    def resume_thread(self, loop: tir.For, frame: Frame) -> None:
        """A thread of `loop`, known by its own frame, goes on; `enter_loop` came before, in the frame around."""

    def pause_thread(self, loop: tir.For, frame: Frame) -> None:
        """It waits for the others, or ended (not called when it failed)."""

    def meet(self, node: Node, implied: bool) -> None:
        """All threads of the block wait at `node`, and then go on. `implied`: no barrier stands there in the text."""

    def before_destination(self, call: DestinationCall) -> None:
        """A call that says what it writes begins."""

    def after_destination(self, call: DestinationCall) -> None:
        """The call has returned."""

    def before_binding(self, binding: relax.Binding) -> None:
        """The value of a variable of Relax is about to be computed."""

    def binding(self, binding: relax.Binding, value: object) -> None:
        """A variable of Relax was bound to `value`."""

    def around(self, scope: Scope, stmt: tir.Stmt, run: Run) -> Run:
        """What is executed as `stmt`, prepared in `scope`; not asked for what threads that meet share."""
        del scope, stmt
        return run

    def around_binding(self, binding: relax.Binding, run: activation.Run) -> activation.Run:
        """What is executed as `binding`."""
        del binding
        return run

    def is_quiet(self, name: str, args: Sequence[object]) -> bool:
        """Whether a call of prim_func `name` need not be watched within: a substitute may execute it. No, here."""
        del name, args
        return False

    def watches(self, method: str) -> bool:
        """Whether `method` is overridden."""
        return getattr(type(self), method) is not getattr(Hooks, method)
