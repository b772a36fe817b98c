"""Destinations that share memory with what is read for them (TIP-001).

An element may be overwritten by what is computed of it: in place. That an element is read for *another* element of the
destination has no meaning: threads share the work in an order of their own. Nor have two values for elements of the
destination that lie in one place.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Protocol, runtime_checkable

from refmlc.diag.catalogue import RACE
from refmlc.run.interp.tirx.primitives.operands import TileOperands, TileSource
from refmlc.run.interp.tirx.primitives.shapes import Index, indices
from refmlc.run.interp.tirx.tile_view import Scalar, TileView


@runtime_checkable
class PlacedView(Protocol):
    """A view that tells where an element lies: equal places are one element of memory."""

    def place(self, index: tuple[int, ...]) -> Hashable:
        """The place of an element."""


def check_elements(operands: TileOperands, dst: TileView, sources: Sequence[TileSource]) -> None:
    """Each element of the destination is computed of those at its index. Fails: RM321."""
    written = places(dst)
    if not written:
        return
    for source in sources:
        if isinstance(source.tile, PlacedView) and source.pick is not None:
            for index in indices(dst.shape):
                target = written.get(source.tile.place(source.pick(index)), index)
                if target != index:
                    raise _race(operands, target, index)


def check_apart(operands: TileOperands, dst: TileView, tiles: Sequence[TileView]) -> None:
    """No element of the destination is read. Fails: RM321."""
    written = places(dst)
    for tile in tiles:
        if written and isinstance(tile, PlacedView):
            for index in indices(tile.shape):
                target = written.get(tile.place(index))
                if target is not None:
                    raise _race(operands, target, None)


def writes_of(operands: TileOperands, dst: TileView) -> Callable[[Index, Scalar], None]:
    """What takes each value in turn: elements of the destination in one place get one value. Fails: RM321."""
    if not isinstance(dst, PlacedView):
        return lambda _index, _value: None
    written: dict[Hashable, tuple[Index, Scalar]] = {}

    def note(index: Index, value: Scalar) -> None:
        other, first = written.setdefault(dst.place(index), (index, value))
        if other is not index and repr(first) != repr(value):
            message = f"`{operands.name}` writes the elements {other} and {index} of its destination to one place"
            raise operands.refuse(RACE, message, "threads write the elements in any order")

    return note


def places(tile: TileView) -> Mapping[Hashable, Index]:
    """The indices by their places; empty where the view does not tell them."""
    return {tile.place(index): index for index in indices(tile.shape)} if isinstance(tile, PlacedView) else {}


def _race(operands: TileOperands, target: Index, reader: Index | None) -> Exception:
    other = "another element" if reader is None else f"the element {reader}"
    message = f"`{operands.name}` reads the element {target} of its destination for {other}"
    return operands.refuse(RACE, message, "threads compute the elements in any order")
