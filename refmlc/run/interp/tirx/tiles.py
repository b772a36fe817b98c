"""Regions of buffers as tile primitives see them: in memory that threads share, or of their owners (TIX-006).

An element of an owned tile is at each of its places: in the memory of the thread with these coordinates. All of them
are written. One is read, where all hold the same value; where they differ, what is read is not defined.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from math import copysign
from typing import TypeAlias, cast

from refmlc.diag import Diagnostic, Related, Span, error, fail
from refmlc.diag.catalogue import (
    BAD_POINTER,
    NOT_OWNED,
    OPEN_OPERATION,
    OUT_OF_BOUNDS,
    UNINITIALISED,
    UNSUPPORTED_CONSTRUCT,
)
from refmlc.diag.errors import RefmlcError
from refmlc.lang.dtypes import DType
from refmlc.lang.layouts.forms import MEMORY
from refmlc.lang.layouts.placement import Place
from refmlc.run.interp.tensorir.elements import is_open
from refmlc.run.interp.tensorir.placed import Addresses, address, coordinates, owners
from refmlc.run.interp.tensorir.tensor_memory import TensorPlaces
from refmlc.run.interp.tensorir.views import View
from refmlc.run.interp.tirx.tile_view import Scalar
from refmlc.run.memory.cells import cell_size

Report: TypeAlias = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Corner:
    """A region in one thread: where it begins, its extents, and the buffer there."""

    mins: tuple[int, ...]
    extents: tuple[int, ...]
    view: View


@dataclass(frozen=True, slots=True)
class TileRegion:
    """A region of a buffer, for the primitive `name` at `span`; `watch` is called at each access."""

    corner: Corner
    name: str
    span: Span | None
    watch: Callable[[], None] | None

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents of the region, one for each dimension of the buffer."""
        return self.corner.extents

    @property
    def dtype(self) -> DType:
        """The dtype of the elements."""
        return self.corner.view.buffer.dtype

    def position(self, index: tuple[int, ...], verb: str) -> tuple[int, ...]:
        """The index in the buffer. Fails: RM304 where it is out of bounds."""
        view = self.corner.view
        if self.watch is not None:
            self.watch()
        position = tuple([low + place for low, place in zip(self.corner.mins, index, strict=True)])
        for axis, (place, extent) in enumerate(zip(position, view.shape, strict=True)):
            if not 0 <= place < extent:
                label = f"index {axis} is {place}, extent is {extent}"
                raise self._failure(f"`{self.name}` {verb} `{view.buffer.name}` out of bounds", label)
        return position

    def _failure(self, message: str, label: str) -> RefmlcError:
        buffer = self.corner.view.buffer
        related = (Related(f"`{buffer.name}` is declared here", buffer.span),)
        return error(Diagnostic(OUT_OF_BOUNDS, message, self.span, label, (), related))

    def read(self, view: View, offset: int, position: tuple[int, ...]) -> Scalar:
        """The element at an offset of its memory. Fails: RM304 beyond its storage, RM305."""
        try:
            if view.shadow[offset]:
                return view.cells[offset]
        except IndexError:
            raise self._beyond(offset) from None
        element = self.element(position)
        if is_open(view, offset):
            message = f"`{self.name}` reads `{element}` before the asynchronous operation that writes it is complete"
            raise fail(OPEN_OPERATION, message, self.span)
        raise fail(UNINITIALISED, f"`{self.name}` reads `{element}`, which was never written", self.span)

    def write(self, view: View, offset: int, value: Scalar) -> None:
        """Write it. Fails: RM304 beyond its storage, RM313."""
        try:
            view.cells[offset] = value
            view.shadow[offset] = 1
        except IndexError:
            raise self._beyond(offset) from None
        except TypeError:
            message = f"`{self.name}` writes `{view.buffer.name}`: the memory of the argument is read-only"
            raise fail(BAD_POINTER, message, self.span) from None

    def _beyond(self, offset: int) -> RefmlcError:
        label = f"element {offset} of its memory, its storage ends before"
        return self._failure(f"`{self.name}` accesses `{self.corner.view.buffer.name}` beyond its storage", label)

    def element(self, position: tuple[int, ...]) -> str:
        """An element as a text has it."""
        return f"{self.corner.view.buffer.name}[{', '.join(map(str, position))}]"


@dataclass(frozen=True, slots=True)
class MemoryTile(TileRegion):
    """A region in one memory; `reading` and `writing` report an element by its offset."""

    reading: Report | None = None
    writing: Report | None = None

    def load(self, index: tuple[int, ...]) -> Scalar:
        """The element."""
        position = self.position(index, "reads")
        offset = self._offset(position)
        if self.reading is not None:
            self.reading(offset)
        return self.read(self.corner.view, offset, position)

    def store(self, index: tuple[int, ...], value: Scalar) -> None:
        """Write the element."""
        offset = self._offset(self.position(index, "writes"))
        if self.writing is not None:
            self.writing(offset)
        self.write(self.corner.view, offset, value)

    def place(self, index: tuple[int, ...]) -> Hashable:
        """Where it lies: its storage and byte."""
        return place_of(self.corner.view, self._offset(self.position(index, "accesses")))

    def offset(self, index: tuple[int, ...]) -> int:
        """The offset of an element that is written. Fails: RM304."""
        return self._offset(self.position(index, "writes"))

    def _offset(self, position: tuple[int, ...]) -> int:
        view = self.corner.view
        if isinstance(view.addresses, TensorPlaces):
            return view.addresses.offsets(position)[0]
        if view.addresses is not None:
            return view.addresses.offset(position)
        return sum(place * stride for place, stride in zip(position, view.strides, strict=True))


@dataclass(frozen=True, slots=True)
class OwnedTile(TileRegion):
    """A region whose elements are in the memories of `views`, by the numbers of the threads."""

    views: Mapping[int, View]
    axes: tuple[str, ...]
    by_coordinates: Mapping[tuple[int, ...], Sequence[int]]

    def load(self, index: tuple[int, ...]) -> Scalar:
        """The element. Fails: RM329, RM504 where its places hold different values."""
        position = self.position(index, "reads")
        values = [self.read(view, offset, position) for _, view, offset in self._homes(position)]
        if not all(alike(value, values[0]) for value in values):
            message = f"`{self.name}` reads `{self.element(position)}`, whose copies differ"
            raise fail(UNSUPPORTED_CONSTRUCT, message, self.span)
        return values[0]

    def store(self, index: tuple[int, ...], value: Scalar) -> None:
        """Write the element at each of its places. Fails: RM329."""
        for _, view, offset in self._homes(self.position(index, "writes")):
            self.write(view, offset, value)

    def place(self, index: tuple[int, ...]) -> Hashable:
        """Where it lies first: the storage and byte of an owner."""
        _, view, offset = self.homes(index, "accesses")[0]
        return place_of(view, offset)

    def homes(self, index: tuple[int, ...], verb: str) -> Sequence[tuple[int, View, int]]:
        """The threads that have an element, with its memory and offset there. Fails: RM304, RM330."""
        return self._homes(self.position(index, verb))

    def _homes(self, position: tuple[int, ...]) -> Sequence[tuple[int, View, int]]:
        addresses = cast("Addresses", self.corner.view.addresses)
        homes: list[tuple[int, View, int]] = []
        for place in addresses.places(position):
            threads = self._owners(place)
            if not threads:
                where = ", ".join(f"{axis} = {value}" for axis, value in place if axis != MEMORY)
                message = f"`{self.name}` accesses `{self.element(position)}`, which belongs to another thread: {where}"
                raise fail(NOT_OWNED, message, self.span)
            homes += [(thread, self.views[thread], address(place)) for thread in threads]
        return homes

    def _owners(self, place: Place) -> Sequence[int]:
        """The threads with these coordinates."""
        return self.by_coordinates.get(_coordinates(dict(place), self.axes), ())

    @classmethod
    def of(
        cls, corner: Corner, name: str, span: Span | None, watch: Callable[[], None] | None, views: Mapping[int, View]
    ) -> "OwnedTile":
        """The region in the memories of these threads."""
        axes = owners(cast("Addresses", corner.view.addresses).layout)
        threads: dict[tuple[int, ...], list[int]] = {}
        for thread in views:
            threads.setdefault(_coordinates(coordinates(thread), axes), []).append(thread)
        return cls(corner, name, span, watch, views, axes, threads)


def alike(a: Scalar, b: Scalar) -> bool:
    """Whether two copies are one value; zeros of different signs are not."""
    if a != a or b != b:  # noqa: PLR0124 - NaN
        return a != a and b != b  # noqa: PLR0124 - NaN
    return a == b and copysign(1, a) == copysign(1, b)


def _coordinates(place: Mapping[str, int], axes: Sequence[str]) -> tuple[int, ...]:
    return tuple([place[axis] for axis in axes])


def clear(view: View) -> None:
    """Nothing in the buffer counts as written any more."""
    for offset in range(len(view.shadow)):
        view.shadow[offset] = 0


def place_of(view: View, offset: int) -> Hashable:
    """The storage and the byte of an element."""
    size = cell_size(view.buffer.dtype) * view.buffer.dtype.lanes
    return id(view.data.storage), view.data.byte_offset + (view.offset + offset) * size
