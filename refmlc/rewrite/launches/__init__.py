"""Launches of kernels as loops over thread axes, and what is defined by the threads of a launch as statements.

| file               | holds                                                             |
|--------------------|-------------------------------------------------------------------|
| `entries`          | `T.device_entry()` and chains of launches as loops                |
| `block_reductions` | reductions over a block as statements (TIX-020)                   |
| `clusters`         | kernels whose blocks of a cluster wait for each other (TIX-022)   |
| `filters`          | filters of threads in conditions (TIX-021)                        |
"""
