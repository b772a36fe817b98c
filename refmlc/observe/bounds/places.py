"""Memory during a certified run: a region per storage, whose elements are values, reductions under way, or nothing.

A view is a buffer on a region: shape, strides and offset in elements. Views of one region with another dtype, and
vectors, are unsupported.
"""

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
from refmlc.observe.bounds.summation import multiplied, total
from refmlc.run.memory.memory import compact_strides


@dataclass(slots=True)
class Pending:
    """A reduction under way: the terms combined so far by `op`, in no order."""

    op: str
    grid: Grid
    terms: list[Enclosure]

    def closed(self) -> Enclosure:
        """The value of the reduction."""
        match self.op:
            case "add":
                return total(self.terms, self.grid)
            case "mul":
                return multiplied(self.terms, self.grid)
            case _:
                return self._extreme()

    def _extreme(self) -> Enclosure:
        """The greatest or least term. Where one may be NaN, which one is left depends on the order (NUM-106)."""
        combine = greater if self.op == "max" else smaller
        if any(term.specials & NAN for term in self.terms):
            combine = join
        found = self.terms[0]
        for term in self.terms[1:]:
            found = combine(found, term)
        return found


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
        """The number of the element; None where there is none."""
        where = self.offset
        for index, extent, stride in zip(indices, self.shape, self.strides, strict=True):
            if not 0 <= index < extent:
                return None
            where += index * stride
        return where if where < len(self.region.elements) else None

    def places(self) -> list[int]:
        """The numbers of all elements, in row-major order."""
        found = [self.offset]
        for extent, stride in zip(self.shape, self.strides, strict=True):
            found = [where + index * stride for where in found for index in range(extent)]
        return found

    def read(self, where: int) -> Value | None:
        """Element `where`; a reduction under way ends here."""
        value = self.region.elements[where]
        if isinstance(value, Pending):
            value = self.region.elements[where] = value.closed()
        return value


def fresh(dtype: DType, shape: tuple[int, ...], span: Span | None = None) -> View:
    """New memory that was never written."""
    if dtype.is_vector or dtype.kind in ("handle", "void"):
        raise fail(UNSUPPORTED_CONSTRUCT, f"memory of {dtype} is not certified", span)
    return View(Region(dtype, [None] * prod(shape)), shape, compact_strides(shape))


def first_value(dtype: DType, value: int | float | bool) -> Value:
    """A number in memory as a value."""
    return point(float(value)) if dtype.is_float else int(value)


def united(old: Value | None, new: Value) -> Value:
    """A value that holds both; what was never written is not read by a defined program."""
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
    """A value that its dtype makes an integer or bool."""
    assert not isinstance(value, Enclosure)  # noqa: S101 - the dtype says so
    return value


def as_float(value: Value) -> Enclosure:
    """A value that its dtype makes a float."""
    assert isinstance(value, Enclosure)  # noqa: S101 - the dtype says so
    return value
