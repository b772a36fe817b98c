"""The result of the tile generator: C text, and what it uses of the headers.

A vector of `rm_vector.h` is defined in each unit that uses it, after those that it is made of:

| vector            | after                                         |
|-------------------|-----------------------------------------------|
| bool              | uint8, int8                                   |
| float16, bfloat16 | uint16, uint32, int32, float32                |
| exp of float32    | float32, float64 of as many or half the lanes |
"""

from dataclasses import dataclass, field

from refmlc.lang.dtypes import SCALARS, DType
from refmlc.native import kernels
from refmlc.native.text import Line

VECTOR_HEADER = "rm_vector.h"
_PARTS = {
    "bool": ("uint8", "int8"),
    "float16": ("uint16", "uint32", "int32", "float32"),
    "bfloat16": ("uint16", "uint32", "int32", "float32"),
}
VECTOR_DTYPES = frozenset(
    ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64", *_PARTS)
)


@dataclass(slots=True)
class Needs:
    """What was used so far, in order."""

    dtypes: dict[str, None] = field(default_factory=dict)
    headers: dict[str, None] = field(default_factory=lambda: {"rm_dtypes.h": None})
    casts: dict[tuple[str, str], None] = field(default_factory=dict)
    definitions: dict[str, None] = field(default_factory=dict)

    def value(self, element: str) -> str:
        """The type of one value of a dtype."""
        self.dtypes[element] = None
        return f"rm_{element}"

    def helper(self, op: str, element: str) -> str:
        """The scalar helper of an operator."""
        self.headers[kernels.header_of(op)] = None
        return f"rm_{op}_{self.value(element).removeprefix('rm_')}"

    def cast(self, source: DType, target: DType) -> str:
        """The scalar helper of a conversion."""
        self.value(source.element)
        self.value(target.element)
        self.headers["rm_convert.h"] = None
        self.casts[(source.element, target.element)] = None
        return f"rm_cast_{source.element}_{target.element}"

    def lanes(self, element: str, lanes: int) -> str:
        """The `DxW` of a vector of which only the type is used."""
        self.headers[VECTOR_HEADER] = None
        return f"{element}x{lanes}"

    def vector(self, element: str, lanes: int) -> str:
        """The `DxW` of a vector; its functions are defined."""
        self.headers[VECTOR_HEADER] = None
        self.dtypes[element] = None
        for part in _PARTS.get(element, ()):
            self.vector(part, lanes)
        name = f"RM_VECTOR_BOOL({lanes})" if element == "bool" else f"RM_VECTOR({element}, {lanes})"
        self.definitions[name] = None
        return f"{element}x{lanes}"

    def stream(self, element: str, lanes: int) -> str:
        """The store past the caches, of dtypes that memory holds as C does."""
        vector = self.vector(element, lanes)
        size = lanes * SCALARS[element].bits // 8
        self.definitions[f"RM_VECTOR_STREAM({element}, rm_{element}, {lanes}, {size})"] = None
        return f"rm_stream_{vector}"

    def past(self, element: str, lanes: int) -> str:
        """By how many elements an address is past one that `stream` writes to past the caches."""
        return self.stream(element, lanes).replace("rm_stream_", "rm_past_")

    def copy(self, element: str, lanes: int) -> str:
        """The copy of cells that lie apart, of dtypes that memory holds as C does."""
        vector = self.vector(element, lanes)
        self.definitions[f"RM_VECTOR_COPY({element}, rm_{element}, {lanes})"] = None
        return f"rm_copy_{vector}"

    def transpose(self, dtype: DType, lanes: int) -> str:
        """The transpose of a square block of vectors of at least 32 bits a lane."""
        word_bytes = 8 if dtype.bits == 64 else 4
        base = "float32" if word_bytes == 4 and dtype.is_float else dtype.element
        vector = self.vector(base, lanes)
        self.definitions[f"RM_TRANSPOSE({base}, {word_bytes}, {lanes})"] = None
        return f"rm_transpose_{vector}"

    def exp(self, lanes: int, vector_bytes: int) -> str:
        """The correctly rounded exponential of float32 vectors."""
        part = min(lanes, vector_bytes // 8)
        vector = self.vector("float32", lanes)
        self.vector("float64", part)
        is_whole = part == lanes
        self.definitions[f"RM_EXP_WHOLE({lanes})" if is_whole else f"RM_EXP_HALVES({lanes}, {part})"] = None
        return f"rm_exp_{vector}"


class NoForm(Exception):
    """There is no tiled form; the text is a clause that follows "not reordered because"."""


@dataclass(frozen=True, slots=True)
class Tiled:
    """A nest as C: a block in braces that uses `run`, `status` and `goto leave`.

    `dtypes`, `headers`, `casts` are what a unit declares before it includes headers, or defines after; `definitions`
    are lines for after the headers, to be kept in order, each once in a unit. `plan` says in words how the nest is
    executed. `memory`: bytes of scratch memory taken from the heap during the block (0: none).
    """

    lines: tuple[Line, ...]
    dtypes: frozenset[str]
    headers: tuple[str, ...]
    casts: frozenset[tuple[str, str]]
    definitions: tuple[str, ...]
    plan: tuple[str, ...]
    memory: int = 0
