"""Kernels of TIRx, executed thread by thread on logical tiles, without a target.

| file         | holds                                                                         |
|--------------|-------------------------------------------------------------------------------|
| `tile_view`  | a region of a buffer as a tile primitive sees it: elements by logical index    |
| `primitives` | what the tile primitives compute                                              |
"""
