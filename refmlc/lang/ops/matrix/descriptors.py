"""Matrices in shared memory as `wgmma` and `tcgen05` find them: a descriptor of 64 bits, each chunk (TIM-012, TIM-015).

| bits    | hold                                                                                         |
|---------|----------------------------------------------------------------------------------------------|
| 0 … 13  | the first address, in units of 16 bytes                                                      |
| 16 … 29 | the leading distance, in units of 16 bytes                                                   |
| 32 … 45 | the stride distance, in units of 16 bytes                                                    |
| 46 … 48 | of tcgen05: 1                                                                                |
| 49 … 51 | the offset of the pattern: 0                                                                 |
| 62, 63  | the swizzle of wgmma: 0 none, 1 of 128 bytes, 2 of 64 bytes, 3 of 32 bytes                   |
| 61 … 63 | that of tcgen05: 0 none, 2 of 128 bytes, 4 of 64 bytes, 6 of 32 bytes                        |

A matrix consists of chunks of 16 bytes, along k, or along the other index for the layouts that are the other way round
(`mn`). With S chunks in a row of the pattern (1, 2, 4 or 8), `chunk` c and `line` l of the table:

| layout    | a line is      | byte before the swizzle                                                              |
|-----------|----------------|--------------------------------------------------------------------------------------|
| k, S = 1  | a row or column | 16 (l mod 8) + stride (l div 8) + leading c                                          |
| k, S > 1  | a row or column | 16 S (l mod 8) + stride (l div 8) + 16 c                                             |
| mn, S = 1 | one k          | 16 (l mod 8) + leading (l div 8) + stride c                                          |
| mn, S > 1 | one k          | 16 S (l mod 8) + stride (l div 8) + 16 (c mod S) + leading (c div S)                 |

The swizzle takes the last log2 S of the bits 7, 8 and 9 of the address and changes the bits from 4 on by them (xor).

Source: PTX ISA, wgmma and tcgen05: matrix descriptor, shared memory layouts, canonical layouts; TVM 0.27: the code of
`wgmma_encode_matrix_descriptor` and `tcgen05_encode_matrix_descriptor`, and its tests on devices.
"""

from collections.abc import Mapping
from dataclasses import dataclass

UNIT = 16
"""The bytes of a chunk."""
FIELD = (1 << 14) - 1
GROUP = 8


@dataclass(frozen=True, slots=True)
class Encoding:
    """How a family of instructions writes descriptors. `constant`: the bits that are always there.

    `place`: the first bit of the swizzle, whose `modes` are by the chunks in a row of the pattern.
    """

    constant: int
    place: int
    modes: Mapping[int, int]


WGMMA = Encoding(0, 62, {1: 0, 8: 1, 4: 2, 2: 3})
TCGEN05 = Encoding(1 << 46, 61, {1: 0, 8: 2, 4: 4, 2: 6})


class NoSuchDescriptor(Exception):
    """The bits describe no matrix that is read; says why."""


@dataclass(frozen=True, slots=True)
class MatrixDescriptor:
    """Where a matrix is. Units: bytes; `chunks`: those of a row of the pattern, 1 where there is no swizzle."""

    start: int
    leading: int
    stride: int
    chunks: int

    @classmethod
    def of(cls, code: int, encoding: Encoding) -> "MatrixDescriptor":
        """The descriptor of 64 bits. Fails: NoSuchDescriptor."""
        start, leading, stride = (UNIT * (code >> place & FIELD) for place in (0, 16, 32))
        for chunks, mode in encoding.modes.items():
            found = cls(start, leading, stride, chunks)
            if mode == code >> encoding.place and found.code(encoding) == code:
                return found
        raise NoSuchDescriptor(f"the descriptor {code:#x} has other bits than addresses, distances and a swizzle")

    def code(self, encoding: Encoding) -> int:
        """Its 64 bits."""
        fields = (self.start, self.leading, self.stride)
        bits = sum((field // UNIT & FIELD) << 16 * place for place, field in enumerate(fields))
        return bits | encoding.constant | encoding.modes[self.chunks] << encoding.place

    def address(self, line: int, chunk: int, *, along_k: bool) -> int:
        """The first byte of a chunk of a line (a row of A, a column of B, or with `along_k` false one k)."""
        group, within = divmod(line, GROUP)
        place = self.start + UNIT * self.chunks * within
        if along_k:
            place += self.stride * group + (self.leading if self.chunks == 1 else UNIT) * chunk
        elif self.chunks == 1:
            place += self.leading * group + self.stride * chunk
        else:
            place += self.stride * group + self.leading * (chunk // self.chunks) + UNIT * (chunk % self.chunks)
        return place ^ (place >> 7 & self.chunks - 1) * UNIT


def encoded(start: int, leading: int, stride: int, mode: int, encoding: Encoding) -> int:
    """The bits that `encode_matrix_descriptor` of `T.cuda.wgmma` and `T.cuda.tcgen05` writes. Fails: NoSuchDescriptor.

    Distances are in units of 16 bytes; the modes 1, 2 and 3 are swizzles of 32, 64 and 128 bytes.
    """
    if mode not in range(4) or not (0 <= leading <= FIELD and 0 <= stride <= FIELD):
        raise NoSuchDescriptor(f"no descriptor has the distances {leading} and {stride}, and swizzle {mode}")
    return MatrixDescriptor(start, UNIT * leading, UNIT * stride, 1 << mode).code(encoding)
