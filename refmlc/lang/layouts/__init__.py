"""Layouts of TIRx executed: which coordinates on named axes an element has, and layouts that follow from others.

| file        | what                                                                                |
|-------------|-------------------------------------------------------------------------------------|
| `forms`     | `Tiling` and `Swizzled`: layouts of constant numbers, from nodes and to nodes        |
| `placement` | an index to its places, in the four steps of TVM's documentation, and back          |
| `algebra`   | canonical form, grouping by a shape, tile, direct sum, slice                        |
| `hardware`  | layouts that instructions and memories expect                                       |
| `ownership` | every element of a shape with its places                                            |
| `pictures`  | the same as SVG, and as a page                                                      |
"""
