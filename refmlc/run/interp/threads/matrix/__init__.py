"""Matrix units, as the threads of a warp, or of a warpgroup, use them (TIM-001 …).

| file              | holds                                                                     |
|-------------------|---------------------------------------------------------------------------|
| `calls`           | where threads meet, what one stands for, what a thread does alone         |
| `work`            | a call, prepared: what a thread brings, computes and gets                 |
| `tiles`           | whole matrices: WMMA, SIMD groups of Metal                                |
| `instructions`    | `mma`, `ldmatrix`, `stmatrix`, `movmatrix` on registers                   |
| `warpgroups`      | `wgmma` and its groups                                                    |
| `tensor_memory/`  | `tcgen05`: tensor memory                                                  |
| `shared_matrices` | descriptors of matrices in shared memory, and what is read by them        |
| `open_products`   | products that are not complete                                            |
| `operands`        | modifiers, and registers as codes                                         |
| `registers`       | elements behind a pointer, as codes                                       |
"""

from refmlc.run.interp.threads.matrix.calls import EXECUTED, prepare_matrix

__all__ = ["EXECUTED", "prepare_matrix"]
