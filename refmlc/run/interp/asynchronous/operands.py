"""Addresses that instructions have as operands, and the elements there as hooks see them (TIA-001, TIX-009).

An operand is a pointer when the instruction is executed, wherever it comes from: the buffer, by whose elements messages
and hooks name it, and the state space are those of the memory that it points to.
"""

from collections.abc import Callable
from dataclasses import dataclass

from refmlc.diag import Span, fail
from refmlc.diag.catalogue import BAD_POINTER, OPEN_OPERATION, OUT_OF_BOUNDS, UNINITIALISED
from refmlc.lang.dtypes import INT32
from refmlc.lang.ir import tir
from refmlc.run.interp.tensorir.addresses import elements_at, name_of, place_of, space_of, view_at
from refmlc.run.interp.tensorir.frame import Frame
from refmlc.run.interp.tensorir.scope import Scope
from refmlc.run.memory.pointer import Pointer


class NotExecutedError(Exception):
    """Why an instruction is not executed."""


ZERO = tir.IntImm(INT32, 0)


def element_name(place: Pointer) -> str:
    """The element at a place as a text has it; the buffer where it has one element, or several dimensions."""
    view = view_at(place)
    element = elements_at(view, place, 1).start
    return view.buffer.name if view.shape == (1,) or len(view.shape) != 1 else f"{view.buffer.name}[{element}]"


@dataclass(frozen=True, slots=True)
class Address:
    """An operand that is an address, in whichever memory."""

    at: Callable[[Frame], Pointer]
    span: Span | None

    def bytes_at(self, frame: Frame, nbytes: int, access: str, space: str) -> Pointer:
        """The place of the bytes of an access; `access` is its noun and verb, as "a copy reads".

        Fails: RM304 beyond its memory, RM313 in another state space.
        """
        place = self.at(frame)
        if space_of(place) != space:
            message = f"{access} {space} memory, the address is in `{name_of(place)}` in {space_of(place)} memory"
            raise fail(BAD_POINTER, message, self.span)
        storage, start = place.storage, place.byte_offset
        if not (storage.alive and start >= 0 and start + nbytes <= storage.nbytes):
            message = f"{access} {nbytes} bytes from byte {start} of the memory of `{name_of(place)}` on"
            raise fail(OUT_OF_BOUNDS, f"{message}, which has {storage.nbytes}", self.span)
        return place

    def aligned(self, place: Pointer, nbytes: int) -> None:
        """Fails: RM313 where the place is no multiple of `nbytes` bytes from the start of its memory."""
        if place.byte_offset % nbytes:
            message = f"the address in `{name_of(place)}` is at byte {place.byte_offset}, no multiple of {nbytes}"
            raise fail(BAD_POINTER, message, self.span)

    def content(self, place: Pointer, nbytes: int) -> bytes:
        """The bytes there. Fails: RM305 where one was never written, RM341 where a copy of them is open."""
        storage, start = place.storage, place.byte_offset
        if not storage.is_initialised(start, nbytes):
            if any(item.written for item in storage.reserved_at(start, nbytes)):
                message = (
                    f"a copy reads `{name_of(place)}` before the asynchronous operation that writes it is complete"
                )
                raise fail(OPEN_OPERATION, message, self.span)
            message = f"a copy reads `{name_of(place)}`, of which some bytes were never written"
            raise fail(UNINITIALISED, message, self.span)
        return bytes(storage.bytes[start : start + nbytes])


def address(scope: Scope, node: tir.Attr) -> Address:
    """An operand that is an address. Fails: it is no expression, or no address."""
    if isinstance(node, tir.Buffer):
        return Address(place_of(scope, node), node.span)
    if not isinstance(node, tir.Expr) or node.dtype.kind not in ("handle", "uint") or node.dtype.is_vector:
        raise NotExecutedError("an operand of it is no address")
    return Address(place_of(scope, node), node.span)
