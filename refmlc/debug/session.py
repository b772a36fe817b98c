"""A session: one run of one function that can be stopped, looked at, changed, and moved forwards and backwards in time.

>>> session = Session(Program(module, "main", args))
>>> session.catch("nan")
>>> session.start()             # stands before the first statement
>>> stop = session.resume()     # … at the statement that is about to store the first NaN
>>> session.frames(), session.variables(0), session.evaluate("exp[0, 3]")
>>> session.reverse_resume()    # backwards, to what was met last

Stable: every public name of this class, of `Program` and of `refmlc.debug.values`. All motions are synchronous: they
return the `Stop` at which the program stands, in the thread that called them. Only `pause` may be called from another
thread. A session is not for concurrent use. `close` ends it, in every state, more than once too; so does `with`.

| state           | `session.stop`                    | what works                                            |
|-----------------|-----------------------------------|-------------------------------------------------------|
| not started     | None                              | breakpoints, `start`, `close`                         |
| stopped         | a `Stop`                          | everything                                            |
| ended           | a `Stop` with `Reason.ENDED`      | backwards motions, `goto`, `restart`, looking at results |
| closed          | as it was                         | `close`                                               |
"""

from collections.abc import Sequence
from types import TracebackType

from refmlc.debug.values import Breakpoint, Frame, Moment, Stop, Variable


class Session:
    """See the docstring of the module. Fails everywhere: RM112 for what cannot be done, or names nothing."""

    def __enter__(self) -> "Session":
        """Itself."""
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        """Close it."""
        self.close()

    # -------------------------------------------------------------------------------------------- motions

    def start(self) -> Stop:
        """Begin: stands at the entry, or further where the first statement already meets a breakpoint."""
        raise NotImplementedError

    def step_in(self, count: int = 1) -> Stop:
        """To the next statement or binding, in whatever it calls too."""
        raise NotImplementedError

    def step_over(self, count: int = 1) -> Stop:
        """To the next statement that is not inside this one: calls and whole loops are executed."""
        raise NotImplementedError

    def step_out(self, frame: int = 0) -> Stop:
        """To where `frame` (a loop, a block, a function) is left."""
        raise NotImplementedError

    def next_block(self) -> Stop:
        """To the next instance of any block."""
        raise NotImplementedError

    def next_iteration(self, loop: str = "") -> Stop:
        """To the begin of the next iteration of the loop over `loop` (empty: the innermost), or to where it is left."""
        raise NotImplementedError

    def resume(self) -> Stop:
        """Until a breakpoint is met, or to the end."""
        raise NotImplementedError

    def until(self, line: int = 0) -> Stop:
        """To a line of this function greater than this one (or `line`), or to where the function is left."""
        raise NotImplementedError

    def goto(self, moment: Moment) -> Stop:
        """To `moment`, forwards or backwards, stopping nowhere else; the end where there is no such moment."""
        raise NotImplementedError

    def step_back(self, count: int = 1) -> Stop:
        """To the statement before, wherever it is."""
        raise NotImplementedError

    def step_back_over(self, count: int = 1) -> Stop:
        """To the statement before that is not deeper than this one."""
        raise NotImplementedError

    def reverse_resume(self) -> Stop:
        """Backwards to where a breakpoint was met last, or to the beginning. Counts of hits are not looked at."""
        raise NotImplementedError

    def reverse_to_write(self, element: str, frame: int = 0) -> Stop:
        """Backwards to the last statement before now that wrote to `element` (`C[3, 7]`, `C[0:4]`, `C`)."""
        raise NotImplementedError

    def restart(self) -> Stop:
        """To the entry; edits are forgotten."""
        raise NotImplementedError

    def restart_frame(self, frame: int = 0) -> Stop:
        """Backwards to where `frame` was entered."""
        raise NotImplementedError

    def pause(self) -> None:
        """Let the motion in progress end at the next statement; from another thread. C is not interrupted."""
        raise NotImplementedError

    def close(self) -> None:
        """End the run; nothing is left behind."""
        raise NotImplementedError

    # ---------------------------------------------------------------------------------------- breakpoints

    def break_line(
        self, line: int, source: str = "", *, condition: str = "", ignore: int = 0, log: str = "", once: bool = False
    ) -> Breakpoint:
        """Stop before the first statement or binding on `line` of `source` (empty: the program's own text).

        A line with nothing on it moves to the next one that has something (`Breakpoint.line`); none: not `verified`.
        """
        raise NotImplementedError

    def break_name(
        self, name: str, *, condition: str = "", ignore: int = 0, log: str = "", once: bool = False
    ) -> Breakpoint:
        """Stop at the function, the block, or the binding of Relax of that name (in this order; `f.name` for one of `f`)."""
        raise NotImplementedError

    def watch(self, element: str, mode: str = "write", *, condition: str = "", frame: int = 0) -> Breakpoint:
        """Stop at a statement that is about to write (`write`), alter (`change`) or read (`read`) an element or region."""
        raise NotImplementedError

    def catch(self, what: str, *, condition: str = "") -> Breakpoint:
        """Stop where the first `nan` or `inf` is about to be stored, or at a failure: `undefined`, `trap`, `all`, `RM304`.

        A failure stops the program in any case, with its frame alive; filters are for `reverse_resume` and for front
        ends that let go of failures that are not caught (`Session.uncaught`).
        """
        raise NotImplementedError

    def compare(self, name: str, reference: object) -> Breakpoint:
        """Stop at the first store to a buffer `name` that gives an element another bit pattern than `reference` has."""
        raise NotImplementedError

    def remove(self, number: int) -> None:
        """Forget a breakpoint."""
        raise NotImplementedError

    @property
    def breakpoints(self) -> Sequence[Breakpoint]:
        """All of them, by number."""
        raise NotImplementedError

    # ---------------------------------------------------------------------------------------------- state

    @property
    def stop(self) -> Stop | None:
        """Where the program stands."""
        raise NotImplementedError

    @property
    def result(self) -> object:
        """What the function returned (None before it has)."""
        raise NotImplementedError

    def frames(self) -> Sequence[Frame]:
        """Where the program stands, innermost first."""
        raise NotImplementedError

    def variables(self, frame: int = 0) -> Sequence[Variable]:
        """What `frame` itself brings: a loop its variable, a block its axes and buffers, a function the rest."""
        raise NotImplementedError

    def visible(self, frame: int = 0) -> Sequence[Variable]:
        """Every name that the text sees in `frame`; of equal names the innermost."""
        raise NotImplementedError

    def evaluate(self, text: str, frame: int = 0) -> object:
        """An expression of TVMScript, or a name: a number, a tensor, … Fails: RM1xx to RM3xx as it is."""
        raise NotImplementedError

    def set(self, target: str, text: str, frame: int = 0) -> Variable:
        """Give a variable or an element (`C[3, 7]`) the value of the expression `text`, and go on from there.

        Everything after this moment is executed anew when it is come to; moments after it mean another run.
        """
        raise NotImplementedError
