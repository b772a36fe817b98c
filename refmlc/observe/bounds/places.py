"""Memory during a certified run: a region per storage, whose elements are values, unfinished reductions, or nothing.

A region is a list of values or, for programs that are executed on arrays, arrays (`cell_arrays`); code that needs the
other form changes it.

A view is a buffer on a region: shape, strides and offset in elements. Views of one region with another dtype, and
vectors, are unsupported.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import prod

from refmlc.diag import fail
from refmlc.diag.catalogue import UNSUPPORTED_CONSTRUCT
from refmlc.diag.source import Span
from refmlc.lang.dtypes import DType
from refmlc.observe.bounds.cell_arrays import CellArrays, cells_of_values
from refmlc.observe.bounds.choice import Value, Whole, either
from refmlc.observe.bounds.enclosure import NAN, Enclosure, greater, join, point, smaller
from refmlc.observe.bounds.roundoff import Grid
from refmlc.observe.bounds.summation import total, total_product
from refmlc.run.memory.array_memory import compact_strides


class Pending(ABC):
    """An unfinished element."""

    @abstractmethod
    def close(self) -> Value:
        """Its value, when it is read."""


@dataclass(slots=True)
class PendingReduction(Pending):
    """An unfinished reduction: the terms so far, combined by `op` in no order."""

    op: str
    grid: Grid
    terms: list[Enclosure]

    def close(self) -> Enclosure:
        """The value of the reduction."""
        match self.op:
            case "add":
                return total(self.terms, self.grid)
            case "mul":
                return total_product(self.terms, self.grid)
            case _:
                return self._extreme()

    def _extreme(self) -> Enclosure:
        """The greatest or least term; if one may be NaN, the result depends on the order (NUM-106)."""
        combine = greater if self.op == "max" else smaller
        if any(term.specials & NAN for term in self.terms):
            combine = join
        extreme = self.terms[0]
        for term in self.terms[1:]:
            extreme = combine(extreme, term)
        return extreme


class Region:
    """Elements of one dtype, as values or as arrays. `written`: the run has stored into it."""

    __slots__ = ("_arrays", "_elements", "dtype", "written")

    def __init__(self, dtype: DType, elements: list[Value | Pending | None] | CellArrays) -> None:
        """The elements; None has no value."""
        self.dtype = dtype
        self.written = False
        self._elements = elements if isinstance(elements, list) else None
        self._arrays = None if isinstance(elements, list) else elements

    @property
    def size(self) -> int:
        """How many elements there are."""
        return self._arrays.known.size if self._arrays is not None else len(self.elements)

    @property
    def elements(self) -> list[Value | Pending | None]:
        """The elements as values, which the caller may change."""
        if self._elements is None:
            assert self._arrays is not None  # noqa: S101 - one of the two is there
            self._elements = [self._arrays.value(number) for number in range(self._arrays.known.size)]
            self._arrays = None
        return self._elements

    def arrays(self) -> CellArrays:
        """The elements as arrays, which nobody changes; unfinished reductions end here. Fails: `NotPlain`."""
        if self._arrays is None:
            values = [each.close() if isinstance(each, Pending) else each for each in self.elements]
            self._arrays, self._elements = cells_of_values(self.dtype, values), None
        return self._arrays

    def put(self, arrays: CellArrays, *, written: bool = False) -> None:
        """Other elements in their place."""
        self._arrays, self._elements = arrays, None
        self.written = self.written or written

    def read(self, number: int) -> Value | None:
        """Element `number`; an unfinished reduction ends here."""
        if self._arrays is not None:
            return self._arrays.value(number)
        value = self.elements[number]
        if isinstance(value, Pending):
            value = self.elements[number] = value.close()
        return value

    def large_arrays(self, least: int) -> bool:
        """Whether the elements are arrays of at least `least`."""
        return self._arrays is not None and self._arrays.known.size >= least


@dataclass(slots=True, frozen=True)
class View:
    """A buffer on a region."""

    region: Region
    shape: tuple[int, ...]
    strides: tuple[int, ...] = field(default=())
    offset: int = 0

    def place(self, indices: Sequence[int]) -> int | None:
        """The number of the element; None for indices out of bounds."""
        number = self.offset
        for index, extent, stride in zip(indices, self.shape, self.strides, strict=True):
            if not 0 <= index < extent:
                return None
            number += index * stride
        return number if number < self.region.size else None

    def places(self) -> list[int]:
        """The numbers of all elements, in row-major order."""
        numbers = [self.offset]
        for extent, stride in zip(self.shape, self.strides, strict=True):
            numbers = [number + index * stride for number in numbers for index in range(extent)]
        return numbers

    def read(self, number: int) -> Value | None:
        """Element `number`; an unfinished reduction ends here."""
        return self.region.read(number)


def fresh(dtype: DType, shape: tuple[int, ...], span: Span | None = None) -> View:
    """New memory. Fails: RM504 for vectors and handles."""
    if dtype.is_vector or dtype.kind in ("handle", "void"):
        raise fail(UNSUPPORTED_CONSTRUCT, f"memory of {dtype} is not certified", span)
    return View(Region(dtype, [None] * prod(shape)), shape, compact_strides(shape))


def first_value(dtype: DType, value: int | float | bool) -> Value:
    """A number in memory as a value."""
    return point(float(value)) if dtype.is_float else int(value)


def unite(old: Value | None, new: Value) -> Value:
    """A value that holds both; None, not written, is never read in a defined program."""
    if old is None:
        return new
    if isinstance(old, Enclosure) and isinstance(new, Enclosure):
        return join(old, new)
    assert not isinstance(old, Enclosure) and not isinstance(new, Enclosure)  # noqa: PT018, S101 - one dtype
    return either(old, new)


def neutral(op: str) -> Enclosure | None:
    """The neutral element of the combination; None if it is not a number."""
    return {"add": Enclosure(Fraction(0)), "mul": Enclosure(Fraction(1))}.get(op)


def as_whole(value: Value) -> Whole:
    """A value whose dtype is an integer or bool."""
    assert not isinstance(value, Enclosure)  # noqa: S101 - the dtype says so
    return value


def as_float(value: Value) -> Enclosure:
    """A value whose dtype is a float."""
    assert isinstance(value, Enclosure)  # noqa: S101 - the dtype says so
    return value
