"""Addresses that instructions have as operands, and the elements there as hooks see them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias, cast

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_POINTER, OPEN_COPY, OUT_OF_BOUNDS, UNINITIALISED
from refmlc.lang.dtypes import INT32
from refmlc.lang.ir import tir
from refmlc.lang.ir.visit import walk
from refmlc.run.interp.tensorir.frame import Frame, Slot
from refmlc.run.interp.tensorir.intrinsics import pointer
from refmlc.run.interp.tensorir.scope import Scope
from refmlc.run.interp.tensorir.views import View
from refmlc.run.memory.cells import cell_size
from refmlc.run.memory.pointer import Pointer


class NotExecutedError(Exception):
    """Why an instruction is not executed."""


ZERO = tir.IntImm(INT32, 0)
Touch: TypeAlias = Callable[[Frame, Pointer, int, object], None]


@dataclass(frozen=True, slots=True)
class Address:
    """An address in the memory of a buffer."""

    node: tir.Expr
    buffer: tir.Buffer
    at: Callable[[Frame], Pointer]
    view: Slot[View]

    @property
    def is_shared(self) -> bool:
        """Whether the buffer is in shared memory."""
        return self.buffer.scope.startswith("shared")

    def name_at(self, frame: Frame, place: Pointer) -> str:
        """The element at a place as a text has it; the buffer where it has one element, or several dimensions."""
        view = frame[self.view]
        size = cell_size(self.buffer.dtype) * self.buffer.dtype.lanes
        element = (place.byte_offset - view.data.byte_offset) // size - view.offset
        return self.buffer.name if view.shape == (1,) or len(view.shape) != 1 else f"{self.buffer.name}[{element}]"

    def bytes_at(self, frame: Frame, nbytes: int, verb: str) -> Pointer:
        """`nbytes` bytes there. Fails: RM304 where they are not in the memory, RM313 where they are misaligned."""
        place = self.at(frame)
        storage, start = place.storage, place.byte_offset
        if not (storage.alive and start >= 0 and start + nbytes <= storage.nbytes):
            message = f"a copy {verb} {nbytes} bytes from byte {start} of the memory of `{self.buffer.name}` on"
            raise fail(OUT_OF_BOUNDS, f"{message}, which has {storage.nbytes}", self.node.span)
        return place

    def aligned(self, place: Pointer, nbytes: int) -> None:
        """Fails: RM313 where the place is no multiple of `nbytes` bytes from the start of its memory."""
        if place.byte_offset % nbytes:
            message = f"the address in `{self.buffer.name}` is at byte {place.byte_offset}, no multiple of {nbytes}"
            raise fail(BAD_POINTER, message, self.node.span)

    def content(self, place: Pointer, nbytes: int) -> bytes:
        """The bytes there. Fails: RM305 where one was never written, RM341 where a copy of them is open."""
        storage, start = place.storage, place.byte_offset
        if not storage.is_initialised(start, nbytes):
            if any(item.written for item in storage.reserved_at(start, nbytes)):
                message = f"a copy reads `{self.buffer.name}` while the copy that writes it is not complete"
                raise fail(OPEN_COPY, message, self.node.span)
            message = f"a copy reads `{self.buffer.name}`, of which some bytes were never written"
            raise fail(UNINITIALISED, message, self.node.span)
        return bytes(storage.bytes[start : start + nbytes])

    def touching(self, scope: Scope, *, written: bool, proxied: bool = False) -> Touch | None:
        """What reports the elements of some bytes to hooks; None where nobody watches.

        The last argument is the phase that completes a copy, None where a thread accesses them. `proxied`: it is a
        bulk copy that does, through the async proxy.
        """
        event = "through_proxy" if proxied else "touch_tile"
        if not scope.machine.hooks.watches(event):
            return None
        touch = getattr(scope.machine.hooks, event)
        indices = tuple(ZERO for _ in self.buffer.shape)
        access: tir.BufferLoad | tir.BufferStore = tir.BufferLoad(self.buffer, indices, span=self.node.span)
        if written:
            access = tir.BufferStore(self.buffer, ZERO, indices, span=self.node.span)
        hooks, slot = scope.machine.hooks, self.view
        size = cell_size(self.buffer.dtype) * self.buffer.dtype.lanes

        def report(frame: Frame, place: Pointer, nbytes: int, phase: object) -> None:
            view = frame[slot]
            start = place.byte_offset - view.data.byte_offset - view.offset * size
            for element in range(start // size, -(-(start + nbytes) // size)):
                if phase is None or isinstance(access, tir.BufferLoad):
                    touch(access, view, element, frame)
                else:
                    hooks.landed(phase, access, view, element)

        return report


def address(scope: Scope, node: tir.Attr) -> Address:
    """An operand that is an address. Fails: it is in no buffer that the text names."""
    if isinstance(node, tir.Buffer):
        node = tir.BufferData(node, span=node.span)
    expr = cast("tir.Expr", node)
    buffer = next((found for part in walk(expr) if (found := _buffer(part)) is not None), None)
    if buffer is None:
        raise NotExecutedError("an address of it names no buffer")
    view = scope.buffer(buffer, expr.span).view
    if isinstance(expr, tir.Call) and expr.callee == "ptx.addr":
        base, offset = cast("tuple[tir.Expr, tir.Expr]", expr.args)
        start, distance = pointer(scope, base), scope.int(offset)
        return Address(expr, buffer, lambda frame: start(frame).moved(distance(frame)), view)
    return Address(expr, buffer, pointer(scope, expr), view)


def _buffer(node: object) -> tir.Buffer | None:
    match node:
        case tir.Call(callee="address_of", args=(tir.BufferLoad(buffer=buffer), *_)) | tir.BufferData(buffer=buffer):
            return buffer
        case _:
            return None
