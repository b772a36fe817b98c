"""Matrices in the shared memory of a block: their descriptors, and what a product reads of them (TIM-012).

| call of one thread                                                   | meaning                                     |
|----------------------------------------------------------------------|---------------------------------------------|
| `T.cuda.wgmma.encode_matrix_descriptor(p, s, leading, stride, mode)` | writes a descriptor of the matrix at s to p |
| `T.cuda.tcgen05.encode_matrix_descriptor(p, s, …)`                   | the same, as `tcgen05` reads it             |
| `T.cuda.wgmma.noop_barrier(r)`                                       | none: the register stays as it is           |
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias, cast

from refmlc.diag import Span, fail
from refmlc.diag.catalogue import (
    BAD_POINTER,
    OPEN_OPERATION,
    OUT_OF_BOUNDS,
    UNINITIALISED,
    UNSUPPORTED_CONSTRUCT,
    UNSUPPORTED_INTRINSIC,
)
from refmlc.lang.dtypes import DType
from refmlc.lang.ir import tir
from refmlc.lang.ops.matrix.descriptors import (
    TCGEN05,
    UNIT,
    WGMMA,
    Encoding,
    MatrixDescriptor,
    NoSuchDescriptor,
    encoded,
)
from refmlc.lang.ops.matrix.fragments import Matrix
from refmlc.lang.ops.matrix.warpgroups import WARPS
from refmlc.run.interp.tensorir import addresses
from refmlc.run.interp.tensorir.addresses import name_of, space_of, touching
from refmlc.run.interp.tensorir.frame import Eval, Frame
from refmlc.run.interp.tensorir.scope import Scope
from refmlc.run.interp.threads.matrix.registers import split
from refmlc.run.memory.pointer import Pointer
from refmlc.run.memory.space_numbers import SPACE, SpaceNumbers

Chunks: TypeAlias = list[tuple[Pointer, bytes]]
PlaceOf: TypeAlias = Callable[[Pointer], Pointer]
ChunkOf: TypeAlias = Callable[[int], tuple[Pointer, bytes]]
BYTE, DESCRIPTOR_BYTES = 8, 8


@dataclass(frozen=True, slots=True)
class SharedMatrix:
    """The codes of the elements of a matrix by its lines, and the chunks of memory that they are from."""

    lines: Matrix
    chunks: Chunks

    def of_warp(self, warp: int) -> Chunks:
        """The share of the chunks that hooks see one warp read."""
        count = len(self.chunks)
        return self.chunks[count * warp // WARPS : count * (warp + 1) // WARPS]


def described(code: int, encoding: Encoding) -> MatrixDescriptor:
    """Where the matrix of a descriptor is. Fails: RM502."""
    try:
        return MatrixDescriptor.of(code, encoding)
    except NoSuchDescriptor as reason:
        raise fail(UNSUPPORTED_CONSTRUCT, f"{reason}: not executed") from None


def read_matrix(
    descriptor: MatrixDescriptor, sizes: tuple[int, int], dtype: DType, chunk_of: ChunkOf, *, along_k: bool
) -> SharedMatrix:
    """A matrix of as many lines and elements of k as `sizes` says. Fails: RM304, RM305, RM341."""
    width = UNIT * BYTE // dtype.bits
    count, length = sizes if along_k else sizes[::-1]
    chunks = [
        [chunk_of(descriptor.address(line, chunk, along_k=along_k)) for chunk in range(length // width)]
        for line in range(count)
    ]
    codes = [
        [code for _, data in line for code in split(int.from_bytes(data, "little"), dtype.bits, width)]
        for line in chunks
    ]
    lines = codes if along_k else [list(line) for line in zip(*codes, strict=True)]
    return SharedMatrix(lines, [chunk for line in chunks for chunk in line])


def same_place(place: Pointer) -> Pointer:
    """The place itself."""
    return place


def chunk_at(number: int, numbers: SpaceNumbers, place_of: PlaceOf = same_place) -> tuple[Pointer, bytes]:
    """The 16 bytes with a number, or those that `place_of` finds for them. Fails: RM304, RM305, RM341."""
    place = numbers.place(number)
    if place is None or place.byte_offset + UNIT > place.storage.nbytes:
        message = f"a product reads 16 bytes from {number:#x} of shared memory on, where no matrix is"
        raise fail(OUT_OF_BOUNDS, message)
    place = place_of(place)
    storage, start = place.storage, place.byte_offset
    if not storage.is_initialised(start, UNIT):
        if any(item.written for item in storage.reserved_at(start, UNIT)):
            raise fail(
                OPEN_OPERATION,
                f"a product reads `{name_of(place)}` before the asynchronous operation that writes it is complete",
            )
        message = f"a product reads 16 bytes from byte {start} of the memory of `{name_of(place)}` on"
        raise fail(UNINITIALISED, f"{message}, of which some were never written")
    return place, bytes(storage.bytes[start : start + UNIT])


# ---------------------------------------------------------------------------------------------- calls of one thread


def _encode(encoding: Encoding, scope: Scope, node: tir.Call) -> Eval:
    to, source, *numbers = node.args
    into, place = addresses.place_of(scope, to), None if _is_null(source) else addresses.place_of(scope, source)
    leading, stride, mode = (scope.int(cast("tir.Expr", number)) for number in numbers)
    writes, span, group_of = touching(scope, node.span, written=True), node.span, scope.group
    alone = scope.failing(UNSUPPORTED_INTRINSIC, span)

    def encode(frame: Frame) -> None:
        group, start = frame[group_of], None if place is None else place(frame)
        if group is None:
            raise alone(frame, "a descriptor of shared memory is made by the threads of a kernel only")
        target = into(frame)
        if writes is not None:
            writes(frame, target, DESCRIPTOR_BYTES, None)
        try:
            number = 0 if start is None else number_of(start, group.numbers(frame), span)
            code = encoded(number, leading(frame), stride(frame), mode(frame), encoding)
        except NoSuchDescriptor as reason:
            raise fail(UNSUPPORTED_CONSTRUCT, f"{reason}: not executed", span) from None
        _put(target, code.to_bytes(DESCRIPTOR_BYTES, "little"), span)

    return encode


def _is_null(node: tir.Attr) -> bool:
    """Whether an expression is the null pointer, in whose place a text puts an address later."""
    match node:
        case tir.Call(callee="reinterpret", args=(*_, tir.IntImm(value=0))):
            return True
        case tir.Cast(value=tir.IntImm(value=0)):
            return True
        case _:
            return False


def number_of(place: Pointer, numbers: SpaceNumbers, span: Span | None) -> int:
    """The number of a place in shared memory. Fails: RM313."""
    name = name_of(place)
    if space_of(place) != "shared":
        message = f"a descriptor is of shared memory, the address is in `{name}` in {space_of(place)} memory"
        raise fail(BAD_POINTER, message, span)
    if place.byte_offset % UNIT:
        message = f"the address in `{name}` is at byte {place.byte_offset}, no multiple of {UNIT}"
        raise fail(BAD_POINTER, message, span)
    number = numbers.of(place)
    if number is None or not 0 <= number < SPACE:
        raise fail(UNSUPPORTED_CONSTRUCT, f"descriptors beyond {SPACE} bytes of shared memory: not executed", span)
    return number


def _put(place: Pointer, data: bytes, span: Span | None) -> None:
    storage, start = place.storage, place.byte_offset
    if not (storage.alive and storage.writable and 0 <= start <= storage.nbytes - len(data)):
        message = f"a descriptor of {len(data)} bytes is written to byte {start} of the memory of `{name_of(place)}`"
        raise fail(OUT_OF_BOUNDS, message, span)
    storage.bytes[start : start + len(data)] = data
    storage.initialise(start, len(data))


def _nothing(scope: Scope, node: tir.Call) -> Eval:
    """The register is read."""
    return scope.expr(cast("tir.Expr", node.args[0]))


EXECUTED: Mapping[str, Callable[[Scope, tir.Call], Eval]] = {
    "cuda.wgmma.encode_matrix_descriptor": partial(_encode, WGMMA),
    "cuda.tcgen05.encode_matrix_descriptor": partial(_encode, TCGEN05),
    "cuda.wgmma.noop_barrier": _nothing,
}
