"""Registers behind a pointer: the codes of elements, side by side, the first one in the lowest bits."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import cast

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_POINTER, UNINITIALISED, UNSUPPORTED_CONSTRUCT, USE_AFTER_KILL
from refmlc.lang.dtypes import UINT8, DType
from refmlc.lang.ir import ptx, tir
from refmlc.lang.ir.kinds import PointerType
from refmlc.run.interp.tensorir import addresses
from refmlc.run.interp.tensorir.addresses import name_of
from refmlc.run.interp.tensorir.frame import Frame
from refmlc.run.interp.tensorir.scope import Scope
from refmlc.run.memory.cells import cell_size
from refmlc.run.memory.pointer import Pointer


@dataclass(frozen=True, slots=True)
class ElementCodes:
    """ElementCodes of `dtype` from `pointer` on."""

    pointer: Pointer
    dtype: DType

    def moved(self, count: int) -> "ElementCodes":
        """The elements `count` elements further on."""
        return ElementCodes(self.pointer.moved(count * cell_size(self.dtype)), self.dtype)

    def codes(self, count: int) -> list[int]:
        """The codes of the first elements. Fails: RM305, RM313, RM316."""
        first, width = self._span(count)
        if not self.pointer.storage.is_initialised(first, width * count):
            where = f"in `{name_of(self.pointer)}`, which {count} of {self.dtype} are read from"
            raise fail(UNINITIALISED, f"one of the elements {where}, was never written")
        data = self.pointer.storage.bytes[first : first + width * count].tobytes()
        mask = (1 << self.dtype.bits) - 1
        return [int.from_bytes(data[start : start + width], "little") & mask for start in range(0, len(data), width)]

    def put(self, codes: Sequence[int]) -> None:
        """Write the first elements. Fails: RM313, RM316."""
        first, width = self._span(len(codes))
        storage = self.pointer.storage
        if not storage.writable:
            raise fail(BAD_POINTER, "the memory of a fragment is read-only")
        storage.bytes[first : first + width * len(codes)] = b"".join([code.to_bytes(width, "little") for code in codes])
        storage.initialise(first, width * len(codes))

    def clear(self, count: int) -> None:
        """Write 0 into the first elements. Fails: RM313, RM316."""
        self._span(count)
        self.put([0] * count)

    def read(self, bits: int) -> int:
        """As many elements as have `bits` bits, as one number."""
        return joined(self.codes(self._count(bits)), self.dtype.bits)

    def write(self, bits: int, number: int) -> None:
        """Write as many elements as have `bits` bits."""
        self.put(split(number, self.dtype.bits, self._count(bits)))

    def _count(self, bits: int) -> int:
        if bits % self.dtype.bits:
            raise fail(UNSUPPORTED_CONSTRUCT, f"{bits} bits are not whole elements of {self.dtype}")
        return bits // self.dtype.bits

    def _span(self, count: int) -> tuple[int, int]:
        """The first byte, and the bytes of an element."""
        width, first, storage = cell_size(self.dtype), self.pointer.byte_offset, self.pointer.storage
        if not storage.alive:
            raise fail(USE_AFTER_KILL, "a matrix lies in storage that was freed")
        if count < 0 or not 0 <= first <= storage.nbytes - width * count:
            what = f"{count} elements of {self.dtype} from byte {first} of `{name_of(self.pointer)}` on"
            message = f"{what} do not lie in {storage.nbytes} bytes"
            raise fail(BAD_POINTER, message)
        return first, width


def joined(codes: Sequence[int], bits: int) -> int:
    """Codes of `bits` bits as one number, the first one lowest."""
    return sum(code << bits * number for number, code in enumerate(codes))


def split(number: int, bits: int, count: int) -> list[int]:
    """A number as codes of `bits` bits."""
    mask = (1 << bits) - 1
    return [number >> bits * place & mask for place in range(count)]


def pointee(node: tir.Attr) -> DType:
    """The dtype of what an expression points to; bytes where its text does not say it."""
    dtype: DType | None = None
    match node:
        case tir.Call(callee=ptx.TO_SHARED, args=(place, *_)):
            return pointee(place)
        case tir.Buffer() | tir.BufferData(buffer=tir.Buffer()):
            dtype = node.dtype if isinstance(node, tir.Buffer) else node.buffer.dtype
        case tir.Var(pointer=PointerType(element=element)):
            dtype = element
        case tir.Call(callee="tvm_access_ptr", args=(tir.Call(dtype=annotated), *_)):
            dtype = annotated
        case tir.Call(callee="address_of", args=(tir.BufferLoad(buffer=buffer), *_)):
            dtype = buffer.dtype
    return UINT8 if dtype is None or dtype.kind == "void" else dtype.scalar


def word_of(node: tir.Attr) -> str:
    """A modifier, as a text or a constant."""
    match node:
        case tir.StringImm(value=word):
            return word
        case _:
            return str(node)


def scope_of(node: tir.Attr) -> str:
    """The scope of the memory that an expression points to; empty where its text does not say it."""
    match node:
        case tir.Buffer(scope=scope) | tir.BufferData(buffer=tir.Buffer(scope=scope)):
            return scope
        case tir.Var(pointer=PointerType(scope=scope)):
            return scope
        case _:
            return ""


def place_of(scope: Scope, node: tir.Attr, offset: "tir.Attr | None" = None) -> Callable[[Frame], ElementCodes]:
    """The elements from a pointer on, and some elements further; `offset` is counted in what it points to."""
    dtype = pointee(node)
    start = addresses.place_of(scope, node)
    if offset is None:
        return lambda frame: ElementCodes(start(frame), dtype)
    count = scope.int(cast("tir.Expr", offset))
    return lambda frame: ElementCodes(start(frame), dtype).moved(count(frame))
