"""The site of a call: arguments checked for their kind, failures with the place, and what hooks see of the call."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from refmlc.diag import fail
from refmlc.diag.catalogue import ARITY, TYPE_MISMATCH, UNINITIALISED, Code
from refmlc.diag.errors import RefmlcError
from refmlc.diag.source import Span
from refmlc.lang.dtypes import DType
from refmlc.lang.ir import relax
from refmlc.lang.ops.graph import GraphOp
from refmlc.run.memory.storage import Storage
from refmlc.run.memory.tensor import Tensor
from refmlc.run.memory.values import Closure, PackedFunc, Shape, kind_of

if TYPE_CHECKING:
    from refmlc.run.interp.machine import Machine


@dataclass(frozen=True, slots=True)
class Site:
    """The place of a call of `name`."""

    machine: "Machine"
    name: str
    span: Span | None

    def failure(self, code: Code, message: str, *notes: str) -> RefmlcError:
        """The failure `code` of this call."""
        return fail(code, message, self.span, *notes)

    def tensor(self, value: object) -> Tensor:
        """`value`, which must be a tensor."""
        if isinstance(value, Tensor):
            return value
        raise self._wrong("a tensor", value)

    def read(self, value: object) -> Tensor:
        """`value`, which must be a tensor whose elements are all initialised. Fails: RM305."""
        tensor = self.tensor(value)
        if not tensor.initialised:
            raise self.failure(UNINITIALISED, f"`{self.name}` reads a tensor that is not all initialised")
        return tensor

    def shape(self, value: object) -> Shape:
        """`value`, which must be a shape, or a tuple of ints."""
        if isinstance(value, Shape):
            return value
        if isinstance(value, tuple) and all(isinstance(extent, int) for extent in value):
            return Shape(value)
        raise self._wrong("a shape", value)

    def integer(self, value: object) -> int:
        """`value`, which must be an int."""
        if isinstance(value, int):
            return value
        raise self._wrong("an int", value)

    def dtype(self, value: object) -> DType:
        """`value`, which must be a dtype."""
        if isinstance(value, DType):
            return value
        raise self._wrong("a dtype", value)

    def text(self, value: object) -> str:
        """`value`, which must be a string."""
        if isinstance(value, str):
            return value
        raise self._wrong("a string", value)

    def storage(self, value: object) -> Storage:
        """`value`, which must be a storage."""
        if isinstance(value, Storage):
            return value
        raise self._wrong("a storage", value)

    def function(self, value: object) -> Closure | PackedFunc:
        """`value`, which must be a function."""
        if isinstance(value, Closure | PackedFunc):
            return value
        raise self._wrong("a function", value)

    def tuple(self, value: object) -> tuple[object, ...]:
        """`value`, which must be a tuple."""
        if isinstance(value, tuple) and not isinstance(value, Shape):
            return value
        raise self._wrong("a tuple", value)

    def flag(self, value: object) -> bool:
        """`value` as a condition."""
        return condition(value, self.span)

    def check_arity(self, row: GraphOp, count: int) -> None:
        """Fails: RM206 if `count` arguments are too few or too many for `row`."""
        if not row.least <= count <= row.most:
            takes = f"{row.least}" if row.least == row.most else f"{row.least} to {row.most}"
            raise self.failure(ARITY, f"`{self.name}` takes {takes} arguments, {count} are given")

    def _wrong(self, expected: str, value: object) -> RefmlcError:
        return self.failure(TYPE_MISMATCH, f"`{self.name}` takes {expected}, given is {kind_of(value)}")


@dataclass(frozen=True, slots=True)
class DestinationCall:
    """A call that names what it writes, as hooks see it: `function` writes `outputs` alone, which are among `args`."""

    call: relax.Call
    function: Callable[[Sequence[object]], object]
    args: Sequence[object]
    outputs: Sequence[object]


def condition(value: object, span: Span | None) -> bool:
    """A scalar tensor of bool, or a bool, as a bool. Fails: RM201 (another kind), RM305.

    0 and 1 are bools: the shape heap stores them so.
    """
    match value:
        case int() if value in (0, 1):
            return bool(value)
        case Tensor(shape=(), dtype=DType(kind="bool", lanes=1)):
            if not value.initialised:
                raise fail(UNINITIALISED, "the condition is not initialised", span)
            return bool(value.cells[0])
        case _:
            raise fail(TYPE_MISMATCH, f"the condition is {kind_of(value)}, not a scalar of bool", span)


def flattened(values: Iterable[object]) -> list[object]:
    """`values` with each shape replaced by its extents."""
    flat: list[object] = []
    for value in values:
        if isinstance(value, Shape):
            flat.extend(value)
        else:
            flat.append(value)
    return flat
