"""How much interpreting is worth a compilation, in iterations of loops, which extents tell before they run.

An interpreted iteration takes about half a microsecond, a compilation the time of `COMPILATION` iterations, and a
little more for each function.
"""

from collections.abc import Sequence
from typing import Final

from refmlc.lang.ir import IRModule, tir
from refmlc.native.analysis.cost import count
from refmlc.run.dims import Dims, bind_dims
from refmlc.run.memory.tensor import Tensor

COMPILATION: Final = 100_000
EACH_FUNCTION: Final = 10_000


def compilation_cost(module: IRModule) -> int:
    """The iterations that are interpreted in the time in which `module` is compiled."""
    return COMPILATION + EACH_FUNCTION * len(module.functions)


class Work:
    """The iterations that calls of one function execute."""

    def __init__(self, func: tir.PrimFunc) -> None:
        self._buffers = [func.buffer_map.get(param) for param in func.params]
        self._count = count(func)

    def iterations(self, args: Sequence[object]) -> int:
        """The iterations of a call on `args`, as far as shapes determine them."""
        dims: Dims = {}
        for buffer, arg in zip(self._buffers, args, strict=False):
            if buffer is not None and isinstance(arg, Tensor):
                bind_dims(buffer.shape, arg.shape, dims)
        return self.iterations_of(dims)

    def iterations_of(self, dims: Dims) -> int:
        """The iterations of a call where the variables of shapes are `dims`."""
        return self._count(dims)
