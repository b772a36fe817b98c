"""What a session says, as plain data: moments, stops, frames, variables, breakpoints. Nothing here runs anything.

| data         | is                                                                                        |
|--------------|-------------------------------------------------------------------------------------------|
| `Moment`     | a place in time; ordered, the same in every run of the same program on the same arguments |
| `Stop`       | why the program stands where it stands                                                    |
| `StackFrame`      | one level of where it stands: Relax function, prim_func, loop, block                      |
| `Variable`   | a name of a frame with its value                                                          |
| `Breakpoint` | what makes the program stop                                                               |
"""

from dataclasses import dataclass
from enum import Enum

from refmlc.diag import Diagnostic, Span
from refmlc.run.memory.tensor import Tensor


@dataclass(frozen=True, slots=True, order=True)
class Moment:
    """Statement number `step` (from 1) of event number `event` is about to be executed; shown `event.step`.

    An event is the begin of a binding of Relax, and the begin and the end of a call that Relax makes. Statements are
    counted within an event, so that moments are the same whether a call before was interpreted or executed in C.
    Step 0: the binding itself, or the end of the program.
    """

    event: int
    step: int

    def __str__(self) -> str:
        """As it is typed and shown."""
        return f"{self.event}.{self.step}"


BEGINNING = Moment(0, 0)


class Reason(Enum):
    """Why the program stopped; the values are DAP's words where DAP has one."""

    ENTRY = "entry"
    STEP = "step"
    BREAKPOINT = "breakpoint"
    FUNCTION = "function breakpoint"
    DATA = "data breakpoint"
    NUMBER = "exception"  # a NaN or an infinity is about to be stored
    FAILURE = "failure"  # undefined behaviour, a trap …: `Stop.failure` says which
    DIFFERENCE = "difference"
    GOTO = "goto"
    PAUSE = "pause"
    BEGINNING = "beginning"  # backwards, nothing was met before
    ENDED = "ended"  # the program returned, or failed and was let go on


@dataclass(frozen=True, slots=True)
class Stop:
    """Why, when and where the program stands.

    `text` is one sentence for people ("" where there is nothing to add to `reason`). `note`: why it is not certain
    that a breakpoint is met: its condition has no value. `function` is the innermost
    function, `span` the statement or binding about to be executed (None: it has no text). `hits` are the numbers of
    the breakpoints that were met. `failure`: what went wrong; the frame in which it did is alive. `logs`: what log
    points said since the stop before. `element`: what is about to be stored or read.
    """

    reason: Reason
    moment: Moment
    function: str = ""
    span: Span | None = None
    text: str = ""
    hits: tuple[int, ...] = ()
    failure: Diagnostic | None = None
    logs: tuple[str, ...] = ()
    element: str = ""
    note: str = ""


class FrameKind(Enum):
    """What a frame is."""

    GRAPH = "Relax function"
    PRIM_FUNC = "prim_func"
    LOOP = "loop"
    BLOCK = "block"


@dataclass(frozen=True, slots=True)
class StackFrame:
    """A level of where the program stands. `index` is what methods of the session take, 0 the innermost.

    `name` is that of the function or block, or the loop variable; `detail` its values in words (`i = 3 of 8`).
    `span` is what is being executed in this frame. `level` counts function calls, the outermost 0: loops and blocks
    have that of the function they stand in.
    """

    index: int
    kind: FrameKind
    name: str
    detail: str
    span: Span | None
    level: int


@dataclass(frozen=True, slots=True)
class Variable:
    """A name with its value: a number, a tensor, a tuple … `value` None and not `bound`: it has none yet.

    `kind`: `parameter`, `loop`, `axis`, `let`, `buffer`, `region`, `variable` (of Relax), `size` (a symbolic extent).
    `extent`: of a loop or an axis, (first, one beyond the last). `edited`: a debugger gave it this value. `axes`: of a
    region, the indices that it takes of each axis of its tensor; one index takes the axis away.
    """

    name: str
    kind: str
    value: object
    dtype: str = ""
    extent: tuple[int, int] | None = None
    edited: bool = False
    bound: bool = True
    axes: "tuple[int | range, ...] | None" = None

    @property
    def tensor(self) -> Tensor | None:
        """The value, where it is a tensor."""
        return self.value if isinstance(self.value, Tensor) else None


class BreakKind(Enum):
    """What a breakpoint waits for."""

    LINE = "line"
    BINDING = "binding"
    BLOCK = "block"
    FUNCTION = "function"
    WRITE = "write"
    READ = "read"
    CHANGE = "change"
    NAN = "nan"
    INF = "inf"
    FAILURE = "failure"  # `what`: undefined, trap, a code such as RM304, or all
    DIFFERENCE = "difference"


EXCEPTIONS = ("nan", "inf", "undefined", "trap", "all")
"""The names `Session.catch` takes, beside the ids of codes."""


@dataclass(slots=True)
class Breakpoint:
    """A breakpoint. What is mutable is the session's to change.

    `what`: the line as text, a name, or an element or region `C[3, 0:4]`. `condition`: an expression of TVMScript
    over what is visible where it stops. `ignore`: how often to pass by first; `exactly`: and always after that one
    time. `log`: say this in place of stopping, with `{expression}` replaced. `once`: disabled when it has stopped.
    `verified`: it can be met; `line` is then where it really is. `count`: how often it was met before now; going back
    takes hits back, what a jump passes over is not counted. `note`: what there is to say about it.
    """

    number: int
    kind: BreakKind
    what: str
    condition: str = ""
    ignore: int = 0
    exactly: bool = False
    log: str = ""
    once: bool = False
    enabled: bool = True
    verified: bool = True
    line: int = 0
    source: str = ""
    count: int = 0
    note: str = ""


@dataclass(frozen=True, slots=True)
class Statistics:
    """A tensor in numbers. Counts are of elements (lanes); the numbers are of the initialised, finite ones."""

    count: int
    initialised: int
    nan: int
    inf: int
    least: float | None
    greatest: float | None
    mean: float | None


@dataclass(frozen=True, slots=True)
class TensorPage:
    """Elements `start` … of a tensor in row-major order; None: not initialised. `indices` are theirs."""

    start: int
    indices: tuple[tuple[int, ...], ...]
    values: tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Edit:
    """A change that a debugger made, made again whenever the program is executed over its moment.

    `level`: of the call in which `name` is a variable, or a tensor whose element at `index` it is.
    """

    moment: Moment
    level: int
    name: str
    index: tuple[int, ...] | None
    value: bool | int | float
