"""Kernels of TIRx, executed thread by thread on logical tiles, without a target.

| file         | holds                                                                         |
|--------------|-------------------------------------------------------------------------------|
| `kernels`    | functions as they are executed; `refmlc.rewrite.launches` makes the loops     |
| `tile_calls` | tile primitives as meetings of threads                                        |
| `tile_copies`| asynchronous copies of regions                                                |
| `tensor_gemm` | products into tensor memory                                                  |
| `tensor_copies`| copies of tiles from and to tensor memory                                     |
| `tiles`      | regions of buffers, in shared memory or in that of their owners               |
| `tile_view`  | a region of a buffer as a tile primitive sees it: elements by logical index    |
| `cached_loads` | loads through the cache for memory that nobody writes (TIX-010)            |
| `primitives` | what the tile primitives compute                                              |
"""
