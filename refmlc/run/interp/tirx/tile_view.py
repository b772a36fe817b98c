"""A region of a buffer as a tile primitive sees it: elements by their logical index, wherever they lie.

The maker of a view checks each access: bounds of the buffer, uninitialised elements, who owns an element.
"""

from typing import Protocol, TypeAlias

from refmlc.lang.dtypes import DType

Scalar: TypeAlias = int | float
"""A value of an element, as the interpreter has it: a bool, an int, or a float."""


class TileView(Protocol):
    """A region: element `(0, …, 0)` is where it begins."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents of the region, one for each dimension of the buffer."""

    @property
    def dtype(self) -> DType:
        """The dtype of the elements."""

    def load(self, index: tuple[int, ...]) -> Scalar:
        """The element. Fails: RM304, RM305, and as the memory of the region does."""

    def store(self, index: tuple[int, ...], value: Scalar) -> None:
        """Write the element. Fails: RM304, and as the memory of the region does."""
