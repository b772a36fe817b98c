"""Pointers: a storage and a byte in it. Null is None."""

from dataclasses import dataclass, field
from typing import ClassVar, NoReturn

from refmlc.diag import fail
from refmlc.diag.catalogue import UNSUPPORTED_CONSTRUCT
from refmlc.run.memory.storage import Storage


@dataclass(frozen=True, slots=True)
class Pointer:
    """A place in memory. Equal pointers have the same storage (identity) and offset; comparing others is undefined.

    `base`: the view of a buffer that it was taken from, by which messages and hooks name what it points to.
    """

    storage: Storage
    byte_offset: int = 0
    base: object = field(default=None, compare=False, repr=False)

    def moved(self, nbytes: int) -> "Pointer":
        """The pointer `nbytes` bytes further on; it need not point into the storage until it is used."""
        return Pointer(self.storage, self.byte_offset + nbytes, self.base)


class Numberless:
    """A value of which a program knows no number; `what` it is, as messages have it."""

    __slots__ = ()
    what: ClassVar[str] = ""

    def _number(self, *_: object) -> NoReturn:
        raise fail(UNSUPPORTED_CONSTRUCT, f"the number of {self.what} is not known", None)

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __floordiv__ = __rfloordiv__ = _number
    __mod__ = __rmod__ = __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = _number
    __lshift__ = __rlshift__ = __rshift__ = __rrshift__ = __truediv__ = __rtruediv__ = _number
    __lt__ = __le__ = __gt__ = __ge__ = __neg__ = __invert__ = __abs__ = _number
    __int__ = __index__ = __float__ = __bool__ = _number


class SpaceAddress(Numberless):
    """An address as a number: where it points to is known, the number is not."""

    __slots__ = ("place",)
    what = "an address"

    def __init__(self, place: Pointer) -> None:
        self.place = place
