"""Frames: the variables of one activation.

A frame is, at run time, a plain list; a slot is a plain int, resolved when the function is prepared. To the type
checker a `Slot[T]` is a place that holds a T, so that `frame[slot]` has a type without a conversion.

| slot          | holds                                                                                   |
|---------------|-----------------------------------------------------------------------------------------|
| `ACTIVATION`  | the `Activation`: the function of the frame, and the loops that a failure names         |
| a variable    | its value; a block variable bound to a loop variable shares the slot of the latter      |
| a constant    | its value, from the template                                                            |
| a buffer      | its `View`, and in the next slot the tuple that fast accesses read (see `views`)        |
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeAlias, TypeVar, cast

from refmlc.diag import fail
from refmlc.diag.catalogue import OUT_OF_SCOPE
from refmlc.diag.source import Span
from refmlc.lang.ir import tir

T = TypeVar("T")


class Slot(Generic[T]):
    """The place of a T in a frame. Never instantiated: slots are ints."""


class Frame(Protocol):
    """A list of the values of one activation, typed by its slots."""

    def __getitem__(self, slot: Slot[T], /) -> T:
        """The value in `slot`."""

    def __setitem__(self, slot: Slot[T], value: T, /) -> None:
        """Put `value` into `slot`."""


Run: TypeAlias = Callable[[Frame], None]
Eval: TypeAlias = Callable[[Frame], object]
IntEval: TypeAlias = Callable[[Frame], int]
NumberEval: TypeAlias = Callable[[Frame], float]
LanesEval: TypeAlias = Callable[[Frame], tuple[float, ...]]
Loops: TypeAlias = tuple[tuple[str, Slot[object]], ...]


@dataclass(slots=True)
class Activation:
    """The owner of a frame. `failed_in` are the loops around the statement that failed."""

    function: str
    layout: "Layout"
    failed_in: Loops = ()


ACTIVATION = cast("Slot[Activation]", 0)


@dataclass(slots=True)
class Layout:
    """The slots of one function, assigned while it is prepared. `func` is that function of TensorIR."""

    func: tir.PrimFunc | None = None
    template: list[object] = field(default_factory=lambda: [None])
    named: dict[str, Slot[object]] = field(default_factory=dict)
    _vars: dict[tir.Var, Slot[object]] = field(default_factory=dict)
    _constants: dict[tuple[type, object], Slot[object]] = field(default_factory=dict)

    def new(self, initial: object = None) -> Slot[object]:
        """A fresh slot without a name."""
        self.template.append(initial)
        return cast("Slot[object]", len(self.template) - 1)

    def declare(self, var: tir.Var) -> Slot[object]:
        """The slot of `var`, from here on in scope."""
        return self.alias(var, self.new())

    def alias(self, var: tir.Var, slot: Slot[object]) -> Slot[object]:
        """Let `slot` hold `var`."""
        self._vars[var] = slot
        self.named[var.name] = slot
        return slot

    def constant(self, value: int) -> Slot[object]:
        """The slot that holds the constant `value`."""
        key = (type(value), value)
        if key not in self._constants:
            self._constants[key] = self.new(value)
        return self._constants[key]

    def knows(self, var: tir.Var) -> bool:
        """Whether `var` was declared."""
        return var in self._vars

    @property
    def variables(self) -> Mapping[tir.Var, Slot[object]]:
        """Every variable that was declared, with its slot."""
        return self._vars

    def slot(self, var: tir.Var, span: Span | None = None) -> Slot[object]:
        """The slot of `var`. Fails: RM203 when it was not declared before."""
        if var not in self._vars:
            raise fail(OUT_OF_SCOPE, f"variable `{var.name}` is used where it has no value", span or var.span)
        return self._vars[var]

    def frame(self, function: str) -> Frame:
        """A frame for a new activation."""
        frame = self.template.copy()
        frame[0] = Activation(function, self)
        return cast("Frame", frame)


def names(frame: Frame) -> dict[str, object]:
    """Every named variable of the frame with its value (None: not yet bound). Of equal names the last declared."""
    return {name: frame[slot] for name, slot in frame[ACTIVATION].layout.named.items()}


def in_order(parts: tuple[Run, ...]) -> Run:
    """The parts, one after the other."""
    match parts:
        case (only,):
            return only
        case (first, second):

            def pair(frame: Frame) -> None:
                first(frame)
                second(frame)

            return pair
        case _:

            def sequence(frame: Frame) -> None:
                for part in parts:
                    part(frame)

            return sequence
