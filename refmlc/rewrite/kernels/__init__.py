"""Functions as kernels: what kind of computation a function is, and its loops as threads of a device.

| file      | holds                                                                                    |
|-----------|------------------------------------------------------------------------------------------|
| `blocks`  | the blocks of a function whose axes are its loops, with the kinds of their axes          |
| `kinds`   | whether a function is a matrix product, a reduction, a transposition, …                  |
| `mapping` | elementwise blocks inlined, spatial loops bound to blocks of threads and threads         |
"""

from refmlc.rewrite.kernels.blocks import BlockIter, KernelBlock, kernel_blocks
from refmlc.rewrite.kernels.kinds import (
    is_general_reduction,
    is_matmul,
    is_matrix_vector,
    is_reduction,
    is_root_mean_square,
    is_transposition,
)
from refmlc.rewrite.kernels.mapping import inline, map_to_threads

__all__ = [
    "BlockIter",
    "KernelBlock",
    "inline",
    "is_general_reduction",
    "is_matmul",
    "is_matrix_vector",
    "is_reduction",
    "is_root_mean_square",
    "is_transposition",
    "kernel_blocks",
    "map_to_threads",
]
