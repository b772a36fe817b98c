"""The dialect TIRx: what its texts have beyond TensorIR, beside the reader and the printer of TVMScript.

| file          | what                                                                              |
|---------------|-----------------------------------------------------------------------------------|
| `layouts`     | `T.S[…]`, `T.TileLayout(…)`, axes; layouts of derived buffers                      |
| `derived_layouts` | `L.tile(…)`, `mma_shared_layout(…)`: layouts computed while a text is read       |
| `templates`   | `@T.jit`, `f.specialize(N=8)`                                                     |
| `views`       | `A.view("uint32")`, `A.local()`, `A.permute(1, 0)`                                 |
| `scopes`      | scope ids, `T.device_entry()`, `T.hint(…)`                                         |
| `tiles`       | tile primitives: `T.warp.copy(…)`, `Tx.add(…)`                                     |
| `devices`     | operators of devices: `T.cuda.…`, `T.ptx.…`                                       |
| `refused`     | what a text may name and refmlc does not read, with the reasons                   |
| `layout_text` | layouts as text                                                                    |
| `view_text`   | derived buffers as text                                                           |
| `statements`  | scope ids and tile primitives as text                                              |
| `constructs`  | its constructs as a table of the reader                                            |
"""
