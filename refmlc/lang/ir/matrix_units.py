"""Calls of matrix units, by name: what the threads of a warp compute or move together.

| names                                     | operands                                                               |
|-------------------------------------------|------------------------------------------------------------------------|
| `FRAGMENTS`                               | whole matrices of a warp, in memory that only these calls read         |
| `LEGACY`                                  | the registers of each thread, as elements behind a pointer             |
| `INSTRUCTIONS`, with or without modifiers | the registers of each thread, as elements of buffers                   |
| `WARPGROUP`, with or without modifiers    | the registers of 128 threads, and matrices in shared memory            |
| `TENSOR_MEMORY`, with or without modifiers | tensor memory of a block: registers of a warp, or what one thread says |
| `OF_THREAD`                               | the registers of one thread, which executes it alone                   |
"""

from refmlc.lang.ir.ptx import operator_of

FRAGMENTS = (
    "tvm_fill_fragment",
    "tvm_load_matrix_sync",
    "tvm_store_matrix_sync",
    "tvm_mma_sync",
    "tvm_bmma_sync",
    "metal.make_filled_simdgroup_matrix",
    "metal.simdgroup_load",
    "metal.simdgroup_store",
    "metal.simdgroup_multiply_accumulate",
)
LEGACY = ("ptx_legacy.mma", "ptx_legacy.ldmatrix")
INSTRUCTIONS = ("ptx.mma", "ptx.ldmatrix", "ptx.stmatrix", "ptx.movmatrix")
OF_THREAD = ("cuda.mma_fill", "cuda.mma_fill_legacy", "cuda.mma_store", "cuda.mma_store_legacy")
WARPGROUP = ("ptx.wgmma",)
TENSOR_MEMORY = ("ptx.tcgen05",)
OF_PART = frozenset((*FRAGMENTS, *LEGACY, *INSTRUCTIONS, *WARPGROUP, *TENSOR_MEMORY))


def is_of_matrix_unit(callee: object) -> bool:
    """Whether the threads of a warp, or of a warpgroup, execute a call by this name together, in a matrix unit."""
    return operator_of(callee) in OF_PART
