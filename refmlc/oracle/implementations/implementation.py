"""The interface of implementations: prepare a module, call its functions, within limits.

The limits of a call are the same for every implementation:

| limit     | in the process of refmlc   | in a separate process                                   |
|-----------|----------------------------|---------------------------------------------------------|
| `steps`   | the budget's steps (RM601) | nothing                                                 |
| `bytes`   | the budget's bytes (RM603) | the address space of the process, on top of `FOOTPRINT` |
| `seconds` | the budget's clock (RM605) | an answer later than that: the process group is killed  |
| `prepare` | the compiler's time        | the same, for making a module ready                     |

| method    | gives                                                                              |
|-----------|------------------------------------------------------------------------------------|
| `prepare` | the module made ready (`Prepared`), or why it is not taken (`Stopped`)             |
| `run`     | the result of a call (`Ended`), or the reason for its absence (`Stopped`)          |

An implementation never raises for what a program does, crashes and silence included: that is an answer. One that takes
batches has `answer_all` besides.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Protocol, TypeAlias, runtime_checkable

from refmlc.diag import Diagnostic
from refmlc.lang.ir import IRModule
from refmlc.run.memory.budget import DEFAULT_DEPTH, Budget

GRACE = 5.0  # seconds that a process has to tell by itself that it is late


@dataclass(frozen=True)
class Limits:
    """What one call may use, and what making a module ready may take. Units: statements, bytes, seconds, seconds.

    `start`: seconds that another process has to start, more of the clock where it waits for a processor; None: as long
    as making a module ready.

    Decision: no limit of seconds in the process of refmlc by default, so that verdicts repeat exactly on
    every machine; `steps` ends a run there. Another process always has one.
    """

    steps: int = 20_000_000
    bytes: int = 1 << 30
    seconds: float = 60.0
    prepare: float = 120.0
    clock: bool = False
    start: float | None = None

    def budget(self) -> Budget:
        """A budget of the interpreter with these limits; its clock runs where `clock` says so."""
        return Budget(self.steps, self.bytes, DEFAULT_DEPTH, self.seconds if self.clock else None)


class Stop(Enum):
    """The reason for a missing result. The kinds are disjoint."""

    UNDEFINED = "undefined"
    TRAP = "trap"
    UNSUPPORTED = "unsupported"
    REJECTED = "rejected"
    EXHAUSTED = "exhausted"
    CRASHED = "crashed"
    TIMED_OUT = "timed out"


@dataclass(frozen=True)
class Ended:
    """A call that returned: its value, and every argument as it is afterwards, in order.

    Tensors are `refmlc.Tensor`s, tuples are tuples, scalars are numbers; None: nothing was returned.
    """

    value: object
    args: tuple[object, ...]


@dataclass(frozen=True)
class Stopped:
    """A call, or a module, without a result. `message` is one line; `diagnostic`: where refmlc has one.

    `fault`: a module is rejected since the implementation failed on it, not for a limit that it knows.
    `refused`: the implementation did not take the call, and says so cleanly; nothing went wrong while it ran.
    `building`: it happened while a module was made ready, not while it ran.
    """

    why: Stop
    message: str
    diagnostic: Diagnostic | None = None
    refused: bool = False
    fault: bool = False
    building: bool = False


Answer: TypeAlias = Ended | Stopped


@runtime_checkable
class Prepared(Protocol):
    """A module that an implementation has made ready."""

    def run(self, func: str, args: Sequence[object]) -> Answer:
        """Call `func` on `args`; tensors among `args` may be written to: give copies where they are needed after."""
        ...

    def close(self) -> None: ...


@runtime_checkable
class Implementation(Protocol):
    """A way to execute modules.

    `promises_verdicts`: undefined behaviour is found, with the code and the place of the interpreter, and the result
    has the interpreter's bits. Both tiers of refmlc promise that, nobody else does.
    """

    @property
    def name(self) -> str:
        """What verdicts call it, such as `native:guarded`."""
        ...

    @property
    def promises_verdicts(self) -> bool:
        """Whether it finds what is undefined, and has the interpreter's bits."""
        ...

    def prepare(self, module: IRModule) -> Prepared | Stopped: ...

    def close(self) -> None:
        """Release processes and files."""
        ...


def short_name(name: str) -> str:
    """The name of an implementation, without the folder that it lies in."""
    kind, _, rest = name.partition(":")
    return kind if kind in ("tvm", "tvm-importer") else f"cmd:{rest.split('/')[-1]}" if kind == "cmd" else name


@runtime_checkable
class Rewriting(Implementation, Protocol):
    """An implementation that executes another program in place of a module, where refmlc sees that program."""

    def executed(self, module: IRModule) -> IRModule:
        """The program that is executed in place of `module`."""
        ...


@dataclass(frozen=True)
class Ask:
    """A module, or the text that its author wrote, and calls: each a function and its arguments."""

    module: IRModule | str
    calls: tuple[tuple[str, Sequence[object]], ...]


Answers: TypeAlias = tuple[Answer, ...] | Stopped
"""Of one `Ask`: an answer for each call, or why the module is not taken."""


@runtime_checkable
class Answering(Implementation, Protocol):
    """An implementation that takes several modules with their calls at once."""

    @property
    def batch(self) -> int:
        """How many it takes together; less than 2: it takes no batches."""
        ...

    def answer_all(self, requests: Sequence[Ask]) -> Iterator[Answers]:
        """The answers to each of `asked`, in order, as they arrive; equal to those of separate requests."""
        ...
