"""Threads of TensorIR that wait for each other (TIR-208, TIR-227, TIR-228).

Statements outside of threads, and threads that never meet, are executed by `refmlc.run.interp.tensorir` alone. A loop
over `threadIdx` in which threads meet comes here, through one `if` in its case of the `match`.

| file             | holds                                                                             |
|------------------|-----------------------------------------------------------------------------------|
| `launch`         | the loop over a thread axis: a frame for each thread, rounds, divergence          |
| `deadlocks`      | threads that wait for each other forever, and the cycle (TIA-023)                 |
| `group`          | threads, their meetings, one round after the other                                |
| `schedule`       | who runs next, where orders are explored                                          |
| `statements`     | the statements around a meeting, as generators                                    |
| `collectives`    | the barrier, and the reduction over threads                                       |
| `parts`          | the meetings of the calls in an expression; barriers of blocks                    |
| `cluster_barriers` | the barrier of a cluster of blocks (TIX-022)                                    |
| `cluster_arrivals` | its phase, and the threads that have arrived                                    |
| `cluster_memory` | what the blocks of a cluster have of each other's memory (TIX-030)                |
| `warps`          | what the lanes of a warp give each other: shuffles, votes, reductions, elections  |
| `registers`      | registers whose value nobody needs: what a shuffle leaves without one             |
| `alone`          | what a thread finds out alone                                                     |
| `atomics`        | atomic operations, and sums of floats in any order                                |
| `turns`          | loads with a memory order let others run (PTX-100)                                |
| `vector_atomics` | the same on several elements, and on halves                                       |
| `matrix`         | matrix units: `mma`, `ldmatrix`, WMMA and their kin                               |
| `private_memory` | memory that belongs to one thread or to one block of threads                      |
"""
