"""Kernels of TIRx, executed thread by thread on logical tiles, without a target.

| file         | holds                                                                         |
|--------------|-------------------------------------------------------------------------------|
| `kernels`    | kernels as loops over thread axes                                             |
| `tile_calls` | tile primitives as meetings of threads                                        |
| `tile_copies`| asynchronous copies of regions                                                |
| `tensor_gemm` | products into tensor memory                                                  |
| `tensor_copies`| copies of tiles from and to tensor memory                                     |
| `tiles`      | regions of buffers, in shared memory or in that of their owners               |
| `tile_view`  | a region of a buffer as a tile primitive sees it: elements by logical index    |
| `cached_loads` | loads through the cache for memory that nobody writes (TIX-010)            |
| `block_reductions` | reductions over a block as statements (TIX-020)                         |
| `clusters`   | kernels whose blocks of a cluster wait for each other (TIX-022)               |
| `filters`    | filters of threads in conditions (TIX-021)                                    |
| `primitives` | what the tile primitives compute                                              |
"""
