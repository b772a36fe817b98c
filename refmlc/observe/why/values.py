"""The parts of a slice: plain data without references to the run, to show, search or write as JSON.

| class      | is                                                                                                |
|------------|---------------------------------------------------------------------------------------------------|
| `Cell`     | a piece of memory: one lane of one element                                                        |
| `Value`    | one node of an expression with the value it had; a load names its cell and when it was read       |
| `Rounding` | what an operator's exact result was, and how far from it the value is                             |
| `Write`    | one store: where, in which instance of a block, with which loop values, and the tree of its value |
| `Origin`   | where a value comes from that no store wrote: an argument, a constant, nowhere                    |
| `Slice`    | the queried element, the stores that it depends on, the origins                                   |

Time is counted in stores: a load at time t sees the stores 1 … t. A `Write` has no reference to another one: the slice
knows which store a load saw (`Slice.source`), so that sharing costs nothing and no tree is too deep to be walked.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from typing import TypeAlias

from refmlc.diag.source import Span
from refmlc.lang.dtypes import DType
from refmlc.lang.ops.contract import Scalar


@dataclass(frozen=True, slots=True, order=True)
class Cell:
    """`size` bytes from byte `start` on in the storage `storage`, numbered in the order in which the run met them."""

    storage: int
    start: int
    size: int


class Kind(Enum):
    """The kinds of a node."""

    CONSTANT = "constant"
    VARIABLE = "variable"
    OPERATOR = "operator"
    CAST = "cast"
    CHOICE = "choice"
    LOAD = "load"
    CALL = "call"


@dataclass(frozen=True, slots=True)
class Rounding:
    """How a value comes from the exact result of its operator on the operands it had.

    `exact` None: not a fraction (infinite, or transcendental). `error` is value - exact in units of the last place of
    the value, None where it is not known. `rule` says what the operator promises.
    """

    rule: str
    exact: Fraction | None = None
    error: Fraction | None = None


@dataclass(frozen=True, slots=True)
class Value:
    """A node: `text` is the operator, variable or element; `parts` are its operands, first to last.

    A load has its cell and `time`, the number of stores before it; its `parts` are the indices that were themselves
    loaded. The parts of a choice are the condition and the arm that was taken. `value` None: unknown.
    """

    kind: Kind
    text: str
    dtype: DType
    value: Scalar | None
    span: Span | None = None
    parts: tuple["Value", ...] = ()
    rounding: Rounding | None = None
    cell: Cell | None = None
    time: int = 0

    def loads(self) -> Iterator["Value"]:
        """The loads below, left to right."""
        stack = [self]
        while stack:
            node = stack.pop()
            if node.kind is Kind.LOAD:
                yield node
            stack.extend(reversed(node.parts))


@dataclass(frozen=True, slots=True)
class Write:
    """Store number `number` of the run.

    `site` is the number of the statement (equal for all its executions), `loops` and `axes` are names with values,
    outermost first, `guards` the conditions around it, `bindings` the Relax variables that were being computed,
    outermost first. `outside`: written by an external function, whose operands are unknown.
    """

    number: int
    cell: Cell
    element: str
    value: Value
    function: str
    site: int
    span: Span | None = None
    block: str = ""
    axes: tuple[tuple[str, int], ...] = ()
    loops: tuple[tuple[str, int], ...] = ()
    guards: tuple[str, ...] = ()
    bindings: tuple[str, ...] = ()
    outside: bool = False


class Source(Enum):
    """The kinds of an origin: a value that no store of the slice wrote."""

    ARGUMENT = "argument"
    CONSTANT = "constant"
    UNINITIALISED = "uninitialised"
    UNWATCHED = "unwatched"
    CUT = "cut"


@dataclass(frozen=True, slots=True)
class Origin:
    """The source of a value that no store wrote. `name`: the element of an argument or constant; else a few words."""

    source: Source
    name: str


From: TypeAlias = Write | Origin
Reading: TypeAlias = tuple[Cell, int]


@dataclass(frozen=True, slots=True)
class Slice:
    """Why `element` of `func` has `value` after the run.

    `sources` maps each cell and time to what a load there reads: the number of a store in `writes`, or an origin.
    `cut` says which limit ended the slice; empty if it is complete. `runs`: how often the program was run.
    """

    func: str
    element: str
    value: Scalar | None
    dtype: DType
    reading: Reading
    writes: Mapping[int, Write] = field(default_factory=dict)
    sources: Mapping[Reading, int | Origin] = field(default_factory=dict)
    cut: str = ""
    runs: int = 0

    def source(self, load: Value | None = None) -> From:
        """The store or origin of the value that `load` read (None: of the queried element)."""
        reading = self.reading if load is None or load.cell is None else (load.cell, load.time)
        origin = self.sources.get(reading)
        if origin is None:
            return Origin(Source.CUT, "not followed")
        return self.writes[origin] if isinstance(origin, int) else origin
