"""Numbers for frames, values with parts, and targets. They are valid until the program moves; none is used twice.

A number stands for the path to a value: going back in time makes new tensors, but their paths stay the same. It belongs
to the thread that was shown when it was made.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias, TypeVar

from refmlc.debug.dap.arguments import RequestRefused
from refmlc.debug.session import Session
from refmlc.run.memory.tensor import Tensor

BIGGEST = (1 << 31) - 1
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ValuePath:
    """The name of a value in a frame, or (`argument`) among the arguments of the run, and parts of tuples."""

    name: str
    frame: int
    parts: tuple[int, ...] = ()
    argument: int | None = None

    def value(self, session: Session) -> object:
        """The value at present."""
        value = session.look(self.name, self.frame).value if self.argument is None else session.arguments[self.argument]
        for part in self.parts:
            if not isinstance(value, Sequence) or part >= len(value):
                raise RequestRefused(f"`{self.name}` has no part {part} any more")
            value = value[part]
        return value

    def tensor(self, session: Session) -> Tensor:
        """The tensor at present."""
        value = self.value(session)
        if not isinstance(value, Tensor):
            raise RequestRefused(f"`{self.name}` is no longer a tensor")
        return value

    @property
    def spelled(self) -> str:
        """The path as an expression; empty where it has none."""
        return "" if self.parts or self.argument is not None else self.name


@dataclass(frozen=True, slots=True)
class VariableScope:
    """A scope of a frame: `kind` is here, around or arguments."""

    frame: int
    kind: str


@dataclass(frozen=True, slots=True)
class ValueParts:
    """Elements of a tensor or tuple from `first` on; `mask`: of the mask; `has_statistics`: with statistics."""

    path: ValuePath
    first: int
    last: int
    mask: bool = False
    has_statistics: bool = False


@dataclass(frozen=True, slots=True)
class MotionTarget:
    """A line to go to, or a motion to step into."""

    line: int = 0
    source: str = ""
    back: bool = False
    loop: str = ""
    kind: str = ""


Referent: TypeAlias = VariableScope | ValueParts | MotionTarget | int


@dataclass(slots=True)
class References:
    """See the docstring of the module. `thread`: the one that is shown; None: the one that runs."""

    thread: int | None = None
    _referents: dict[int, tuple[int | None, Referent]] = field(default_factory=dict)
    _numbers: dict[tuple[int | None, Referent], int] = field(default_factory=dict)
    _last: int = 0

    def forget(self) -> None:
        """Forget all numbers: the program has moved."""
        self.thread = None
        self._referents.clear()
        self._numbers.clear()

    def number(self, referent: Referent) -> int:
        """The number of `referent`; a frame is its index in the session."""
        key = (self.thread, referent)
        if key not in self._numbers:
            self._last = self._last % BIGGEST + 1
            self._numbers[key] = self._last
            self._referents[self._last] = key
        return self._numbers[key]

    def thread_of(self, number: int) -> int | None:
        """The thread to which a number belongs; an unknown one to the thread that runs."""
        return self._referents.get(number, (None, 0))[0]

    def frame(self, number: int) -> int:
        """The frame with this number."""
        return self._get(number, int, "frame")

    def parts(self, number: int) -> VariableScope | ValueParts:
        """The scope or the value with this number."""
        if isinstance(self._referents.get(number, (None, 0))[1], VariableScope):
            return self._get(number, VariableScope, "scope")
        return self._get(number, ValueParts, "list of variables")

    def target(self, number: int) -> MotionTarget:
        """The target with this number."""
        return self._get(number, MotionTarget, "target")

    def _get(self, number: int, kind: type[T], noun: str) -> T:
        _, referent = self._referents.get(number, (None, None))
        if not isinstance(referent, kind):
            raise RequestRefused(f"there is no {noun} {number} (any more)")
        return referent
