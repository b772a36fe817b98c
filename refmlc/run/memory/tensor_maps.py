"""Tensor maps: what a copy knows of a tensor in global memory, and the host's call that makes one (TIA-040).

Arguments of `runtime.cuTensorMapEncodeTiled` of TVM 0.27, for a tensor of rank r, the axis that is contiguous first:

| argument        | how many | may be                                                                             |
|-----------------|----------|------------------------------------------------------------------------------------|
| the map         | 1        | a place for it, from `T.tvm_stack_alloca("tensormap", 1)`                          |
| dtype           | 1        | `DTYPES`; int8 and float8 are bytes                                                |
| rank            | 1        | 1 … 5                                                                              |
| address         | 1        | a multiple of 16                                                                   |
| extents         | r        | 1 … 2^32                                                                           |
| strides         | r - 1    | bytes, multiples of 16 below 2^40; the first axis has none                         |
| box             | r        | 1 … 256; the first axis takes a multiple of 16 bytes, at most those of the swizzle |
| element strides | r        | 1 … 8; that of the first axis is 1                                                 |
| interleave      | 1        | 0                                                                                  |
| swizzle         | 1        | 0, or 1, 2, 3: 32, 64, 128 bytes                                                   |
| L2 promotion    | 1        | 0 … 3, a hint                                                                      |
| fill            | 1        | 0: zeros; 1: NaN, of floats only                                                   |
| dtype code      | 0, 1     | -1: that of the dtype                                                              |

What the driver's interface or TVM's function refuses is an error that the function raises (RM403). What they take and
has no meaning here is unsupported: interleaved layouts, swizzles of other atoms, float4, tf32, and a box whose first
axis is shorter than its swizzle, of which it is not published how far apart its rows are in shared memory.

Source: CUDA Driver API, Tensor Map Object Management; TVM 0.27, the CUDA runtime's function of this name.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from refmlc.diag import RefmlcError, fail
from refmlc.diag.catalogue import UNSUPPORTED_CONSTRUCT
from refmlc.lang.dtypes import DType, dtype
from refmlc.run.memory.pointer import Pointer
from refmlc.run.memory.tensor import Tensor

ENCODE = "runtime.cuTensorMapEncodeTiled"
DTYPES = frozenset(
    (
        *("int8", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
        *("float16", "bfloat16", "float32", "float64", "float8_e4m3fn", "float8_e5m2"),
    )
)
PACKED = "float4_e2m1fn"
FILLED_BY_NAN = frozenset(("float16", "bfloat16", "float32", "float64"))
RANKS, EXTENTS, BOXES, STEPS = 5, 1 << 32, 256, 8
STRIDES = 1 << 40
UNIT = 16
"""Addresses, strides and rows of boxes are multiples of it. Units: bytes."""
SPANS = (0, 32, 64, 128)
"""The bytes within which a swizzle moves chunks, by its number."""
SWIZZLES, PROMOTIONS, INTERLEAVES = 7, 4, 3
TF32 = 11
LEAST = 11
"""Arguments of a call for the rank 1."""


@dataclass(frozen=True, slots=True)
class TensorMap:
    """A tensor in global memory, and the box of it that one copy takes; the contiguous axis first.

    `strides`: bytes between elements, of each axis. `steps`: 1 where a copy takes each element
    of the box, 2 for each other one.
    `span`: the bytes within which chunks of 16 are moved, 0 for none. `nan`: whether elements outside are NaN, not 0.
    """

    dtype: DType
    start: Pointer
    extents: tuple[int, ...]
    strides: tuple[int, ...]
    box: tuple[int, ...]
    steps: tuple[int, ...]
    span: int = 0
    nan: bool = False

    @property
    def rank(self) -> int:
        """The number of axes."""
        return len(self.extents)

    @property
    def counts(self) -> tuple[int, ...]:
        """How many elements a copy takes along each axis."""
        return tuple(-(-size // step) for size, step in zip(self.box, self.steps, strict=True))

    @property
    def nbytes(self) -> int:
        """The bytes of a box in shared memory."""
        return prod(self.counts) * self.strides[0]


@dataclass(slots=True)
class TensorMapPlace:
    """Memory for one tensor map on the stack of the host. `content` is None until it is encoded."""

    content: TensorMap | None = None


class _Arguments:
    """The arguments of the call, one after the other."""

    def __init__(self, values: Sequence[object]) -> None:
        self._values = list(values)

    def take(self) -> object:
        """The next one."""
        return self._values.pop(0)

    def number(self, name: str, least: int, most: int) -> int:
        """The next one, a number from `least` to `most`. Fails: ValueError."""
        value = self.take()
        if not isinstance(value, int) or not least <= value <= most:
            raise ValueError(f"{name} is {value}: not from {least} to {most}")
        return value

    def numbers(self, name: str, count: int, least: int, most: int) -> tuple[int, ...]:
        """The next ones."""
        return tuple(self.number(f"{name}[{axis}]", least, most) for axis in range(count))


def encode_tiled(*values: object) -> None:  # TIA-040
    """Make a tensor map. Fails: ValueError, which a program meets as RM403; RM504."""
    if len(values) < LEAST:
        raise ValueError(f"it is called with {len(values)} arguments")
    parts = _Arguments(values)
    place, name = parts.take(), parts.take()
    if not isinstance(place, TensorMapPlace):
        raise ValueError("its first argument is no place for a tensor map")  # noqa: TRY004 - as TVM's function does
    rank = parts.number("tensorRank", 1, RANKS)
    start = _address(parts.take())
    if len(values) - (4 * rank + 7) not in (0, 1):
        raise ValueError(f"it is called with {len(values)} arguments for a rank of {rank}")
    extents = parts.numbers("globalDim", rank, 1, EXTENTS)
    strides = parts.numbers("globalStrides", rank - 1, 0, STRIDES - 1)
    box = parts.numbers("boxDim", rank, 1, BOXES)
    steps = parts.numbers("elementStrides", rank, 1, STEPS)
    interleave = parts.number("interleave", 0, INTERLEAVES - 1)
    swizzle = parts.number("swizzle", 0, SWIZZLES - 1)
    parts.number("l2Promotion", 0, PROMOTIONS - 1)
    fill = parts.number("oobFill", 0, 1)
    forced = parts.take() if len(values) > 4 * rank + 7 else -1
    element = _dtype(str(name), forced)
    if interleave:
        raise _unsupported("an interleaved layout")
    if swizzle >= len(SPANS):
        raise _unsupported("a swizzle of other atoms than 16 bytes")
    whole = TensorMap(element, start, extents, (element.bits // 8, *strides), box, steps, SPANS[swizzle], nan=fill == 1)
    _check(whole, str(name))
    place.content = whole


def _address(value: object) -> Pointer:
    if isinstance(value, Tensor):
        value = Pointer(value.storage, value.byte_offset)
    if not isinstance(value, Pointer):
        raise ValueError("globalAddress is no address")  # noqa: TRY004 - as TVM's function does
    if value.byte_offset % UNIT:
        raise ValueError(f"globalAddress is at byte {value.byte_offset} of its memory, no multiple of {UNIT}")
    return value


def _dtype(name: str, forced: object) -> DType:
    if forced not in (-1, TF32) or (forced == TF32 and name != "float32"):
        raise ValueError(f"the data type {forced} does not go with {name}")
    if forced == TF32:
        raise _unsupported("tf32, to which a copy rounds")
    if name == PACKED:
        raise _unsupported(PACKED)
    if name not in DTYPES:
        raise ValueError(f"no data type of tensor maps is {name}")
    return dtype(name)


def _check(whole: TensorMap, name: str) -> None:
    """What holds between arguments. Fails: ValueError, RM504."""
    for axis, stride in enumerate(whole.strides[1:]):
        if stride % UNIT:
            raise ValueError(f"globalStrides[{axis}] is {stride} bytes, no multiple of {UNIT}")
    if whole.steps[0] != 1:
        raise ValueError(f"elementStrides[0] is {whole.steps[0]}, not 1")
    row = whole.box[0] * whole.strides[0]
    if row % UNIT:
        raise ValueError(f"boxDim[0] is {row} bytes, no multiple of {UNIT}")
    if whole.span and row > whole.span:
        raise ValueError(f"boxDim[0] is {row} bytes, more than the {whole.span} of its swizzle")
    if whole.nan and name not in FILLED_BY_NAN:
        raise ValueError(f"a fill of NaN does not go with {name}")
    if whole.span and row < whole.span:
        raise _unsupported(f"a box with rows of {row} bytes and a swizzle of {whole.span}")


def _unsupported(what: str) -> RefmlcError:
    return fail(UNSUPPORTED_CONSTRUCT, f"`{ENCODE}` is not supported with {what}")
