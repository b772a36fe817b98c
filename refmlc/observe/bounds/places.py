"""Memory during a certified run: a region per storage, whose elements are values, unfinished reductions, or nothing.

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


@dataclass(slots=True)
class Region:
    """Elements of one dtype; None has no value. `written`: the run has stored into it."""

    dtype: DType
    elements: list[Value | Pending | None]
    written: bool = False


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
        return number if number < len(self.region.elements) else None

    def places(self) -> list[int]:
        """The numbers of all elements, in row-major order."""
        numbers = [self.offset]
        for extent, stride in zip(self.shape, self.strides, strict=True):
            numbers = [number + index * stride for number in numbers for index in range(extent)]
        return numbers

    def read(self, number: int) -> Value | None:
        """Element `number`; an unfinished reduction ends here."""
        value = self.region.elements[number]
        if isinstance(value, Pending):
            value = self.region.elements[number] = value.close()
        return value


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
