"""Hooks: the events of a run that a client can watch. Override the methods of the events that you need.

| method                                     | called                                                         |
|--------------------------------------------|----------------------------------------------------------------|
| `enter_function` / `leave_function`        | around every call of a function of the module                  |
| `before_stmt` / `after_stmt`               | around every statement of TensorIR (after: not when it failed) |
| `load` / `store`                           | after an element was read, before one is written               |
| `read_element` / `write_element`           | an element in bounds is about to be read or written            |
| `enter_loop` / `leave_loop`                | around every `For` that iterates (leave: not when it failed)   |
| `enter_block` / `leave_block`              | around every instance of a block (leave: not when it failed)   |
| `init`                                     | before an instance of a block runs its init                    |
| `allocated`                                | a buffer has fresh storage                                     |
| `begin_threads`                            | threads that run together with others are about to begin       |
| `resume_thread` / `pause_thread`           | around every turn of a thread that runs together with others   |
| `meet`                                     | all threads of a block have reached one place                  |
| `meet_in_part`                             | all threads of a part of the block have                        |
| `release` / `acquire`                      | a thread signals a phase of a barrier, has seen it             |
| `landed`                                   | a copy that such a phase completes has written an element      |
| `through_proxy`                            | the async proxy is about to access an element                  |
| `fence`                                    | a thread executes a fence                                      |
| `strong`                                   | an atomic operation accesses a place, and orders others by it  |
| `before_atomic` / `after_atomic`           | around the accesses of an atomic operation                     |
| `touch_tile`                               | a tile primitive or an asynchronous copy is about to access an |
|                                            | element of memory                                              |
| `called`                                   | a call of TensorIR that is an expression has its value         |
| `before_destination` / `after_destination` | around a call of Relax that names its outputs                  |
| `operator`                                 | a call of an operator of Relax's library has its result        |
| `before_binding` / `binding`               | before a binding of Relax is evaluated, after it has its value |
| `around` / `around_binding`                | once for each statement or binding, when it is prepared: the   |
|                                            | result is executed in place of `run`, which executes it        |

Only overridden methods are called: functions are prepared for the hooks that watch them, so a method that is not
overridden costs nothing. But with any hooks, even these, no substitute (compiled code) takes part. A hook may raise,
which ends the run. `relay` makes one client of several.
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
from refmlc.run.interp.threads.group import Thread


class Hooks:
    """Hooks that watch nothing: the base of all hooks."""

    def enter_function(self, name: str, args: Sequence[object]) -> None:
        """Function `name` begins with `args`."""

    def leave_function(self, name: str, result: object) -> None:
        """Function `name` ended with `result`; not called when it failed."""

    def before_stmt(self, stmt: tir.Stmt, frame: Frame) -> None:
        """`stmt` is about to be executed; `refmlc.run.interp.tensorir.frame.names` reads the frame."""

    def after_stmt(self, stmt: tir.Stmt, frame: Frame) -> None:
        """`stmt` was executed; not called when it failed."""

    def load(self, access: tir.BufferLoad, indices: tuple[int, ...], value: object, frame: Frame) -> None:
        """An element (one lane of a vector load) was read."""

    def store(self, access: tir.BufferStore, indices: tuple[int, ...], value: object, frame: Frame) -> None:
        """An element (one lane of a vector store) is about to be written."""

    def read_element(self, access: tir.BufferLoad, view: View, offset: int, frame: Frame) -> None:
        """Element `offset` of `view` is in bounds and about to be read; it may be uninitialised."""

    def write_element(self, access: tir.BufferStore, view: View, offset: int, frame: Frame) -> None:
        """Element `offset` of `view` is in bounds and about to be written."""

    def enter_loop(self, loop: tir.For, frame: Frame) -> None:
        """The iterations of `loop` begin; the layout of the frame has the slot of its variable."""

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

    def begin_threads(self, loop: tir.For, threads: Sequence[Thread]) -> None:
        """The threads of `loop`, which take turns, are about to begin; `steps` of a thread may be wrapped."""

    def resume_thread(self, loop: tir.For, frame: Frame) -> None:
        """A thread of `loop` begins or continues, in its own frame; `enter_loop` was called in the outer frame."""

    def pause_thread(self, loop: tir.For, frame: Frame) -> None:
        """The thread waits for the others, or has ended (not called when it failed)."""

    def meet(self, node: Node, implied: bool) -> None:
        """All threads of the block wait at `node`, then continue. `implied`: the text has no barrier there."""

    def meet_in_part(self, node: Node, threads: Sequence[int]) -> None:
        """Some threads of the block wait at `node`, then continue; `threads` are their numbers."""

    def before_atomic(self, call: tir.Call, scope: str, frame: Frame) -> None:
        """The accesses up to `after_atomic` are one atomic operation among the threads of `scope`, as PTX names it."""

    def after_atomic(self, call: tir.Call, frame: Frame) -> None:
        """The atomic operation is done; not called when it failed."""

    def touch_tile(self, access: tir.BufferLoad | tir.BufferStore, view: View, offset: int, frame: Frame) -> None:
        """A tile primitive, in the frame of the first of its threads, accesses an element in bounds of shared memory.

        Not called where an operand belongs to several threads: which of them accesses the element is not known.
        """

    def before_destination(self, call: DestinationCall) -> None:
        """A call that names its outputs begins."""

    def after_destination(self, call: DestinationCall) -> None:
        """The call has returned."""

    def release(self, token: object, frame: Frame) -> None:
        """A thread arrives: what it did comes before what those do who acquire `token`, a phase of a barrier."""

    def acquire(self, token: object, frame: Frame) -> None:
        """A thread has seen that the phase `token` is complete."""

    def landed(self, token: object, access: tir.BufferStore, view: View, offset: int) -> None:
        """No thread, but a copy that the phase `token` completes, writes an element; called before `acquire`."""

    def through_proxy(self, access: tir.BufferLoad | tir.BufferStore, view: View, offset: int, frame: Frame) -> None:
        """A bulk copy of this thread is about to access an element, or to signal a barrier, through the async proxy."""

    def fence(self, words: tuple[str, ...], frame: Frame) -> None:
        """A thread executes a fence; `words` are those of PTX after `fence`."""

    def strong(self, token: object, order: str, frame: Frame) -> None:
        """An atomic operation on the place `token`; `order`: `relaxed`, `acquire`, `release`, `acq_rel`.

        Of a load it is `ld.relaxed` or `ld.acquire`, of a store `st.relaxed` or `st.release`.
        """

    def operator(self, call: relax.Call, values: Sequence[object], result: object) -> None:
        """A call of an operator of the library has its result; `values` are its arguments."""

    def before_binding(self, binding: relax.Binding) -> None:
        """The value of a variable of Relax is about to be computed."""

    def binding(self, binding: relax.Binding, value: object) -> None:
        """A variable of Relax was bound to `value`."""

    def around(self, scope: Scope, stmt: tir.Stmt, run: Run) -> Run:
        """The closure to execute in place of `run`, which executes `stmt`; not called if threads meet in `stmt`."""
        del scope, stmt
        return run

    def around_binding(self, binding: relax.Binding, run: activation.Run) -> activation.Run:
        """The closure to execute in place of `run`, which evaluates `binding`."""
        del binding
        return run

    def is_quiet(self, name: str, args: Sequence[object]) -> bool:
        """True if a substitute may execute this call of prim_func `name`, unwatched."""
        del name, args
        return False

    def watches(self, method: str) -> bool:
        """True if `method` is overridden."""
        return getattr(type(self), method) is not getattr(Hooks, method)
