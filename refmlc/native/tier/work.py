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
MOST_SHAPES = 64


def compilation_cost(module: IRModule) -> int:
    """The iterations that are interpreted in the time in which `module` is compiled."""
    return COMPILATION + EACH_FUNCTION * len(module.functions)


class Work:
    """The iterations that calls of one function execute."""

    def __init__(self, func: tir.PrimFunc) -> None:
        self._buffers = [func.buffer_map.get(param) for param in func.params]
        self._count = count(func)
        self._iterations: dict[tuple[tuple[int, ...] | None, ...], int] = {}

    def iterations(self, args: Sequence[object]) -> int:
        """The iterations of a call on `args`, as far as shapes determine them."""
        key = tuple([arg.shape if isinstance(arg, Tensor) else None for arg in args])
        iterations = self._iterations.get(key)
        if iterations is None:
            dims: Dims = {}
            for buffer, shape in zip(self._buffers, key, strict=False):
                if buffer is not None and shape is not None:
                    bind_dims(buffer.shape, shape, dims)
            iterations = self._count(dims)
            if len(self._iterations) < MOST_SHAPES:
                self._iterations[key] = iterations
        return iterations
