"""Matrix units, as the threads of a warp use them (TIM-001 … TIM-006).

| file           | holds                                                                     |
|----------------|---------------------------------------------------------------------------|
| `calls`        | where a warp meets, what one stands for, what a thread does alone         |
| `work`         | a call, prepared: what a lane brings, computes and gets                   |
| `tiles`        | whole matrices: WMMA, SIMD groups of Metal                                |
| `instructions` | `mma`, `ldmatrix`, `stmatrix`, `movmatrix` on registers                   |
| `registers`    | elements behind a pointer, as codes                                       |
"""

from refmlc.run.interp.threads.matrix.calls import EXECUTED, prepare_matrix

__all__ = ["EXECUTED", "prepare_matrix"]
