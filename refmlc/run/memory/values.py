"""The arguments and results of functions: every kind of value of a run, on one screen.

| value of Relax / TensorIR | here                          |
|---------------------------|-------------------------------|
| tensor                    | `Tensor`                      |
| shape                     | `Shape`, a tuple of ints      |
| tuple                     | a plain tuple                 |
| primitive value           | bool, int, float              |
| string, dtype             | str, `DType`                  |
| function                  | `Closure`, `PackedFunc`       |
| pointer                   | `Pointer`                     |
| null, void                | None                          |
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from refmlc.diag import Span
from refmlc.lang.dtypes import DType
from refmlc.run.memory.pointer import Pointer
from refmlc.run.memory.tensor import Tensor
from refmlc.run.memory.tensor_maps import TensorMap, TensorMapPlace


class Shape(tuple[int, ...]):
    """A shape: a tuple of ints, but not the tuple value of Relax."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"R.shape([{', '.join(map(str, self))}])"


@dataclass(frozen=True, slots=True, eq=False)
class Closure:
    """A function of the module or inside one, with the variables around it already in `call`."""

    name: str
    call: Callable[[Sequence[object]], object] = field(repr=False)
    captured: tuple[object, ...] = field(default=(), repr=False)

    def __call__(self, args: Sequence[object]) -> object:
        """Call the function with the values of its arguments."""
        return self.call(args)


@dataclass(frozen=True, slots=True, eq=False)
class PackedFunc:
    """A function from outside: `call` maps values to a value; the registry makes it."""

    name: str
    call: Callable[[Sequence[object], Span | None], object] = field(repr=False)

    def __call__(self, args: Sequence[object], span: Span | None = None) -> object:
        """Call it with `args`. Fails: RM403 (it raised), RM404 (the result is not a value)."""
        return self.call(args, span)


Value: TypeAlias = (
    "Tensor | Shape | tuple[Value, ...] | bool | int | float | str | DType | Closure | PackedFunc | Pointer | None"
)


def kind_of(value: object) -> str:
    """A value in a few words, for messages: `a tensor (1, 784) of float32`."""
    match value:
        case None:
            return "null"
        case Tensor():
            return f"a tensor {value.shape} of {value.dtype}"
        case Shape():
            return f"the shape {tuple(value)}"
        case tuple():
            return f"a tuple of {len(value)}"
        case bool() | int() | float():
            return f"the {type(value).__name__} {value}"
        case str():
            return f"the string {value!r}"
        case DType():
            return f"the dtype {value}"
        case Closure() | PackedFunc():
            return f"the function `{value.name}`"
        case Pointer():
            return f"a pointer to {value.storage.origin or 'memory'} + {value.byte_offset} bytes"
        case TensorMapPlace(content=None):
            return "a tensor map that was never encoded"
        case TensorMapPlace(content=TensorMap(extents=extents, dtype=dtype)):
            return f"a tensor map of {' x '.join(map(str, reversed(extents)))} of {dtype}"
        case _:
            return f"an object of type {type(value).__qualname__}"
