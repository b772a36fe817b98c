"""The answers of a session as plain data: moments, stops, frames, variables, breakpoints.

| data         | is                                                                                        |
|--------------|-------------------------------------------------------------------------------------------|
| `Moment`     | a point in time; ordered, the same in every run of the same program on the same arguments |
| `Stop`       | where and why the program stopped                                                         |
| `StackFrame`      | one level of where it stands: Relax function, prim_func, loop, block                      |
| `Variable`   | a name of a frame with its value                                                          |
| `Breakpoint` | a condition under which the program stops                                                 |
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
        """The moment as the user types and sees it."""
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
    BEGINNING = "beginning"  # backwards: there is no earlier stop
    ENDED = "ended"  # the program returned, or failed and continued


@dataclass(frozen=True, slots=True)
class Stop:
    """Why, when and where the program stands.

    `text` is a sentence for the user ("" where `reason` says everything). `note`: why a hit is uncertain: its condition
    has no value. `function` is the innermost function, `span` the statement or binding about to be executed (None: it
    has no text). `hits` are the numbers of the breakpoints that were met. `failure`: the failure; its frame is alive.
    `logs`: the texts of log points since the previous stop. `element`: the element about to be stored or read.
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
    """The kind of a frame."""

    GRAPH = "Relax function"
    PRIM_FUNC = "prim_func"
    LOOP = "loop"
    BLOCK = "block"


@dataclass(frozen=True, slots=True)
class StackFrame:
    """A level of the stack. `index` is the argument that methods of the session take, 0 the innermost.

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

    @property
    def title(self) -> str:
        """The frame in one line: `for i (i = 3)`."""
        prefix = {FrameKind.LOOP: "for ", FrameKind.BLOCK: "block "}.get(self.kind, "")
        return f"{prefix}{self.name}{f' ({self.detail})' if self.detail else ''}"


@dataclass(frozen=True, slots=True)
class Variable:
    """A name with its value: a number, a tensor, a tuple, … Not `bound`: it has no value yet.

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
        """The value, if it is a tensor."""
        return self.value if isinstance(self.value, Tensor) else None


class BreakKind(Enum):
    """The event a breakpoint waits for."""

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
    """A breakpoint; the session changes its mutable fields.

    `what`: the line as text, a name, or an element or region `C[3, 0:4]`. `condition`: a TVMScript expression over the
    names visible there. `ignore`: the number of hits to pass first; `exactly`: stop only once after them. `log`: print
    this text in place of stopping, with each `{expression}` replaced. `once`: disabled after its first stop.
    `verified`: it can be met; `line` is then its real line. `count`: the hits before now; going back takes hits back,
    and a jump counts none. `note`: a remark for the user. `threads`: it is met by these threads only (none: by all).
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
    threads: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Statistics:
    """A tensor in numbers. Counts are of elements (lanes); the numbers of initialised, finite elements."""

    count: int
    initialised: int
    nan: int
    inf: int
    least: float | None
    greatest: float | None
    mean: float | None


@dataclass(frozen=True, slots=True)
class TensorPage:
    """Elements from number `start` on, in row-major order; None: not initialised. `indices` are theirs."""

    start: int
    indices: tuple[tuple[int, ...], ...]
    values: tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Edit:
    """A change by the user, repeated whenever the program executes this moment again.

    `level`: of the call in which `name` is a variable, or a tensor whose element at `index` it is.
    """

    moment: Moment
    level: int
    name: str
    index: tuple[int, ...] | None
    value: bool | int | float
