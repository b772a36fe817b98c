"""The data of a trace: sites, tables, and four columns of events. The docstring of the package describes them."""

from array import array
from dataclasses import dataclass, field
from enum import StrEnum
from html import escape

from refmlc.debug.trace.threads import TracedThreads
from refmlc.diag import Diagnostic, Span

MAX_EVENTS = 1_000_000
NOWHERE = 0xFFFF_FFFF
"""`at` of a cell without an address: not all memories fit."""


class EventKind(StrEnum):
    """The kind of an event."""

    CALL = "call"
    RETURN = "return"
    BIND = "bind"
    BOUND = "bound"
    ITER = "iter"
    BLOCK = "block"
    ALLOC = "alloc"
    LOAD = "load"
    STORE = "store"
    FORGET = "forget"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class EventSite:
    """A kind of event at a place of the text. `depth` counts within the call; `axes` belong to a block."""

    kind: EventKind
    name: str
    function: str
    depth: int
    span: Span | None = None
    axes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TracedMemory:
    """The addresses `base` … `base + cells - 1`. `dtype` is the dtype of a cell."""

    base: int
    cells: int
    dtype: str


@dataclass(frozen=True, slots=True)
class TracedTensor:
    """A tensor: element i of axis a lies `strides[a]` elements, of `lanes` cells each, from the previous one.

    `first` is the address of the first cell, `NOWHERE` for one that has none.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    lanes: int
    first: int
    memory: int


@dataclass(slots=True)
class TracedCall:
    """A call of a function: the tensors named in it, and other values as text."""

    function: str
    tensors: list[tuple[str, int]] = field(default_factory=list)
    values: list[tuple[str, str]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class TracedBinding:
    """The value of a Relax variable: its tensors or a text, and statistics of the elements."""

    call: int
    name: str
    tensors: tuple[int, ...]
    text: str
    count: int = 0
    known: int = 0
    nan: int = 0
    inf: int = 0
    least: float | None = None
    greatest: float | None = None
    mean: float | None = None


@dataclass(frozen=True, slots=True)
class Contents:
    """A whole memory before kept event `event`; None: unknown. `known` is 0 for uninitialised cells."""

    event: int
    memory: int
    values: "array[float] | None"
    known: bytes = b""


@dataclass(slots=True, repr=False)
class Trace:
    """A run of `total` events, `counts` by kind; all are kept, or one statement in `stride`, up to step `cut`.

    `steps` is empty where all were kept: the step of an event is its number then. `first_nan`, `first_inf` are steps.
    """

    function: str
    sites: list[EventSite] = field(default_factory=list)
    memories: list[TracedMemory] = field(default_factory=list)
    tensors: list[TracedTensor] = field(default_factory=list)
    calls: list[TracedCall] = field(default_factory=list)
    bindings: list[TracedBinding] = field(default_factory=list)
    contents: list[Contents] = field(default_factory=list)
    ints: "array[int]" = field(default_factory=lambda: array("q"))
    steps: "array[int]" = field(default_factory=lambda: array("Q"))
    site: "array[int]" = field(default_factory=lambda: array("I"))
    at: "array[int]" = field(default_factory=lambda: array("I"))
    value: "array[float]" = field(default_factory=lambda: array("d"))
    total: int = 0
    stride: int = 1
    cut: int | None = None
    counts: dict[str, int] = field(default_factory=dict)
    first_nan: int | None = None
    first_inf: int | None = None
    failure: Diagnostic | None = None
    notes: list[str] = field(default_factory=list)
    graphs: dict[str, str] = field(default_factory=dict)
    boxes: dict[str, list[str]] = field(default_factory=dict)
    sources: dict[str, str] = field(default_factory=dict)
    threads: TracedThreads = field(default_factory=TracedThreads)

    def __len__(self) -> int:
        """The number of events that are kept."""
        return len(self.site)

    @property
    def sampled(self) -> bool:
        """Whether events were omitted."""
        return len(self) < self.total

    def step(self, event: int) -> int:
        """The step of a kept event."""
        return self.steps[event] if self.steps else event

    def sampling_note(self) -> str:
        """A sentence on sampling; "" where every event is kept."""
        if not self.sampled:
            return ""
        sample = f"sampled: {len(self):,} of {self.total:,} events are kept, those of one statement in {self.stride:,};"
        if self.cut is not None:
            return f"{sample} the limit is reached: from step {self.cut:,} on only the failure is kept"
        return (
            f"{sample} calls, bindings, the first NaN and infinity, the last statement and the failure are all kept;"
            " within a call tensors lack omitted stores, at its end they are complete"
        )

    def __repr__(self) -> str:
        """One line, which a notebook shows beside the page."""
        sample = f", {len(self):,} kept" if self.sampled else ""
        return f"<trace of {self.function}: {self.total:,} events{sample}>"

    def _repr_html_(self) -> str:
        """The page for a notebook, or a note where a library for it is missing."""
        try:
            from refmlc.debug.trace.page import framed  # noqa: PLC0415 - an extra
        except ImportError as problem:
            return f"<p>The page of a trace needs <code>refmlc[report]</code>: {escape(str(problem))}.</p>"
        return framed(self)
