"""Memory that belongs to one thread or one group of threads, while all threads run one after the other.

A buffer of such a scope that is allocated outside of a thread axis is one buffer per index of the axis on hardware,
and one altogether here. That makes no difference as long as each index reads only what it wrote itself; so writes are
noted with the index, and another index that reads ends the run as unsupported (TIR-208). Whose a scope is:
`refmlc.ir.scopes`.
"""

from collections.abc import Mapping

from refmlc.diag import fail
from refmlc.diag.catalogue import UNSUPPORTED_CONSTRUCT
from refmlc.interp.tensorir.frame import Frame, Slot
from refmlc.ir import tir
from refmlc.runtime.cells import Shadow


class PrivateShadow:
    """The shadow of a buffer, and beside it which indices of the thread axes wrote each element."""

    __slots__ = ("_axes", "_buffer", "_frame", "_shadow", "_writers")

    def __init__(self, shadow: Shadow, buffer: tir.Buffer, frame: Frame, axes: Mapping[str, Slot[int | None]]) -> None:
        """`axes` are the slots of the indices; None stands in a slot outside of its axis."""
        self._shadow = shadow
        self._buffer = buffer
        self._frame = frame
        self._axes = axes
        self._writers: dict[int, tuple[int | None, ...]] = {}

    def __getitem__(self, index: int) -> int:
        """Whether element `index` was written. Fails: RM504 when it was by another thread."""
        found = self._shadow[index]
        writers = self._writers.get(index)
        if found and writers is not None:
            for writer, reader, tag in zip(writers, self._indices(), self._axes, strict=True):
                if writer is not None and writer != reader:
                    scope, name = self._buffer.scope, self._buffer.name
                    message = f"`{name}` in scope `{scope}` is private: {tag} {reader} reads what {tag} {writer} wrote"
                    raise fail(UNSUPPORTED_CONSTRUCT, message, self._buffer.span)
        return found

    def __setitem__(self, index: int, value: int) -> None:
        """Mark element `index` as written by the current thread (1) or not written (0)."""
        self._shadow[index] = value
        self._writers[index] = self._indices()

    def __len__(self) -> int:
        """The number of elements."""
        return len(self._shadow)

    def _indices(self) -> tuple[int | None, ...]:
        return tuple([self._frame[slot] for slot in self._axes.values()])
