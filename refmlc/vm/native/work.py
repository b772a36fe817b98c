"""How much interpreting is worth a compilation: iterations of loops, before they are executed where extents say it.

An interpreted iteration takes about half a microsecond, a compilation the time of `COMPILATION` iterations, and a
little more for each function.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from refmlc.ir import tir
from refmlc.ir.node import Node
from refmlc.ir.visit import children
from refmlc.runtime.tensor import Tensor
from refmlc.vm.dims import Dims, bind_dims, known

COMPILATION: Final = 100_000
EACH_FUNCTION: Final = 10_000
UNKNOWN: Final = 16
"""Iterations of a loop whose extent the arguments do not say."""
MOST_SHAPES = 64


class Work:
    """The iterations that calls of one function execute."""

    def __init__(self, func: tir.PrimFunc) -> None:
        """Find the loops."""
        self._buffers = [func.buffer_map.get(param) for param in func.params]
        self._loops = list(_outermost(func.body))
        self._remembered: dict[tuple[tuple[int, ...] | None, ...], int] = {}

    def iterations(self, args: Sequence[object]) -> int:
        """Those of a call on `args`; a guess where they depend on more than shapes."""
        key = tuple([arg.shape if isinstance(arg, Tensor) else None for arg in args])
        found = self._remembered.get(key)
        if found is None:
            dims: Dims = {}
            for buffer, shape in zip(self._buffers, key, strict=False):
                if buffer is not None and shape is not None:
                    bind_dims(buffer.shape, shape, dims)
            found = sum(_count(loop, dims) for loop in self._loops)
            if len(self._remembered) < MOST_SHAPES:
                self._remembered[key] = found
        return found


def _outermost(node: Node) -> Iterator[tir.For]:
    """The loops in `node` that stand in no other."""
    stack = [node]
    while stack:
        here = stack.pop()
        if isinstance(here, tir.For):
            yield here
        elif not isinstance(here, tir.Buffer):
            stack.extend(children(here))


def _count(loop: tir.For, dims: Dims) -> int:
    """The iterations of `loop` and of the loops in it."""
    extent = known(loop.extent, dims)
    inside = sum(_count(each, dims) for each in _outermost(loop.body))
    return max(0, UNKNOWN if extent is None else extent) * max(1, inside)
