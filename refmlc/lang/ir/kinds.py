"""Small closed sets that nodes of TensorIR are marked with, and what a handle points to."""

from dataclasses import dataclass
from enum import Enum

from refmlc.lang.dtypes import DType


@dataclass(frozen=True, slots=True)
class PointerType:
    """The target of a handle: element dtype (None: void) and storage scope.

    `tensor_map`: a descriptor of tensors for copies of the device, `T.TensorMap()`.
    """

    element: DType | None
    scope: str = "global"
    tensor_map: bool = False


class Layout(Enum):
    """Whether a buffer is laid out: as its function's dialect does, or otherwise. It has no meaning.

    A function of TIRx lays buffers out row-major by default, a schedulable one none.
    """

    DEFAULT = "default"
    NONE = "none"
    ROW_MAJOR = "row_major"


class IterKind(Enum):
    """The kind of a block variable."""

    SPATIAL = "spatial"
    REDUCE = "reduce"
    SCAN = "scan"
    OPAQUE = "opaque"


class ForKind(Enum):
    """How the iterations of a loop may be executed; the meaning is that of serial."""

    SERIAL = "serial"
    PARALLEL = "parallel"
    VECTORIZED = "vectorized"
    UNROLLED = "unroll"
    THREAD_BINDING = "thread_binding"
