"""A program with tensors made smaller, whatever its calls are: shorter axes, plainer numbers."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import Field, replace
from typing import Any, ClassVar, Protocol, TypeVar

import numpy as np

P = TypeVar("P", bound="TensorProgram")
Q = TypeVar("Q")


class TensorProgram(Protocol):
    """A dataclass that has constants and arguments by name."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    @property
    def constants(self) -> Mapping[str, np.ndarray]: ...

    @property
    def arguments(self) -> Mapping[str, np.ndarray]: ...


class StoredProgram(TensorProgram, Protocol):
    """A program with tensors that is stored as data."""

    def to_json(self) -> dict[str, object]: ...


def reduced(program: Q, ways: Callable[[Q], Iterator[Q]], keeps: Callable[[Q], bool]) -> Q:
    """The program made smaller in some ways, as far as `keeps` lets."""
    while (smaller := next(filter(keeps, ways(program)), None)) is not None:
        program = smaller
    return program


def less(program: P) -> Iterator[P]:
    """The program with an axis of extent n shorter, in all its tensors or in one, and with plainer numbers."""
    arrays = {**program.constants, **program.arguments}
    for extent in sorted({size for array in arrays.values() for size in array.shape if size > 1}, reverse=True):
        yield _mapped(program, lambda array, extent=extent: _cut(array, extent))  # type: ignore[misc]
        for name, array in arrays.items():
            if extent in array.shape:
                yield _mapped(program, lambda each, extent=extent: _cut(each, extent), name)  # type: ignore[misc]
    for name, array in arrays.items():
        if array.dtype.kind == "f" and not np.array_equal(array, np.trunc(array), equal_nan=True):
            yield _mapped(program, np.trunc, name)


def _cut(array: np.ndarray, extent: int) -> np.ndarray:
    return array[tuple(slice(0, size - 1) if size == extent else slice(None) for size in array.shape)]


def _mapped(program: P, change: Callable[[np.ndarray], np.ndarray], only: str = "") -> P:
    constants, arguments = (
        {name: np.asarray(change(array)) if only in ("", name) else array for name, array in arrays.items()}
        for arrays in (program.constants, program.arguments)
    )
    return replace(program, constants=constants, arguments=arguments)
