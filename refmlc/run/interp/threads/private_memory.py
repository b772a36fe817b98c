"""Memory that belongs to one thread or to one block of threads (TIR-208).

A buffer of such a scope that is allocated outside of a thread axis is one buffer per index of the axis. So each index
has a view on storage of its own, which begins as a copy of the values written outside of the axis. Views of such a
buffer that are made outside of the axis are made again for each index. `refmlc.lang.ir.scopes` has the owners of each
scope.

| access outside of the axis, after one of its indices began   | gives                                               |
|--------------------------------------------------------------|-----------------------------------------------------|
| to an element that was written outside before                | the value written there                             |
| to another element, or a write                               | unsupported: the text names no thread (RM504)       |

Blocks of threads run one after the other; the memory of a block ends when the next one begins.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from refmlc.diag import fail
from refmlc.diag.catalogue import UNSUPPORTED_CONSTRUCT
from refmlc.lang.ir import tir
from refmlc.run.interp.tensorir.frame import Frame, Run, Slot
from refmlc.run.interp.tensorir.views import BufferPlace, View
from refmlc.run.memory.cells import Shadow


@dataclass(slots=True)
class Private:
    """A buffer with a view for each index of `axes`: the slots of the axes outside of which it is allocated."""

    place: BufferPlace
    make: Callable[[Frame], View]
    axes: Mapping[str, Slot[int | None]]
    views: dict[tuple[int | None, ...], View] = field(default_factory=dict)
    block: tuple[int | None, ...] = ()

    def enter(self, frame: Frame, outer: Frame, view: View) -> None:
        """Bind the buffer to the view of the current indices; in `outer` it is `view`."""
        block = tuple([frame[slot] for tag, slot in self.axes.items() if tag.startswith("blockIdx")])
        if block != self.block:
            self.block = block
            self.views.clear()
        key = tuple([frame[slot] for slot in self.axes.values()])
        thread_view = self.views.get(key)
        if thread_view is None:
            thread_view = self.views[key] = self._copy(frame, view)
            self.leave(outer, view)
        self.place.put(frame, thread_view)

    def leave(self, frame: Frame, view: View) -> None:
        """Bind the buffer to `view` again, as it is seen outside of the indices."""
        if not isinstance(view.shadow, OutsideShadow):
            view = replace(view, shadow=OutsideShadow(view.shadow, view.buffer))
        self.place.put(frame, view)

    def _copy(self, frame: Frame, view: View) -> View:
        copy = self.make(frame)
        before = view.shadow.before if isinstance(view.shadow, OutsideShadow) else view.shadow
        for index in range(len(before)) if any(view.data.storage.shadow) else ():
            if before[index]:
                copy.cells[index] = view.cells[index]
                copy.shadow[index] = 1
        return copy


@dataclass(slots=True)
class Follower:
    """A view that is made of a private buffer outside of `axes`."""

    place: BufferPlace
    make: Run
    axes: Mapping[str, Slot[int | None]]

    def enter(self, frame: Frame, _outer: Frame, _view: View) -> None:
        """Make the view again, of the present view of its source."""
        self.make(frame)

    def leave(self, frame: Frame, _view: View) -> None:
        """Make the view again."""
        self.make(frame)


Privates: TypeAlias = Mapping[tir.Buffer, Private | Follower]
Outside: TypeAlias = Sequence[tuple[Private | Follower, View]]


def outside(frame: Frame, memories: Slot[Privates | None], tag: str) -> Outside:
    """The memories that are private to the indices of an axis, each with its view outside of them."""
    privates = frame[memories] or {}
    return [(memory, frame[memory.place.view]) for memory in privates.values() if tag in memory.axes]


def add_private(frame: Frame, memories: Slot[Privates | None], private: Private | Follower) -> None:
    """Add a private buffer, or a view of one, that was made outside of its axes."""
    privates = frame[memories]
    frame[memories] = {**(privates or {}), private.place.buffer: private}


def follow(frame: Frame, memories: Slot[Privates | None], source: tir.Buffer, place: BufferPlace, make: Run) -> None:
    """Add the view of `source` in `place` to the private memory, if `source` is private to axes not entered yet."""
    privates = frame[memories] or {}
    private = privates.get(source)
    if private is not None and place.buffer not in privates:
        axes = {tag: slot for tag, slot in private.axes.items() if frame[slot] is None}
        if axes:
            add_private(frame, memories, Follower(place, make, axes))


class OutsideShadow:
    """The shadow of a private buffer outside of its threads, after one of them has begun."""

    __slots__ = ("_buffer", "before")

    def __init__(self, before: Shadow, buffer: tir.Buffer) -> None:
        """`before` is the shadow of the values written outside."""
        self.before = before
        self._buffer = buffer

    def __getitem__(self, index: int) -> int:
        """1 if element `index` was written outside. Fails: RM504 if not."""
        if not self.before[index]:
            raise self._unsupported("read")
        return self.before[index]

    def __setitem__(self, index: int, value: int) -> None:
        raise self._unsupported("written")

    def __len__(self) -> int:
        return len(self.before)

    def _unsupported(self, verb: str) -> Exception:
        scope, name = self._buffer.scope, self._buffer.name
        message = f"`{name}` in scope `{scope}` is one buffer per thread or block; outside of them it is {verb}"
        return fail(UNSUPPORTED_CONSTRUCT, message, self._buffer.span)
