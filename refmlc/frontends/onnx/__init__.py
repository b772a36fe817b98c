"""Models of ONNX as modules.

| file                                                  | holds                                                     |
|-------------------------------------------------------|-----------------------------------------------------------|
| `importer`                                            | `from_onnx`: a graph, node by node                        |
| `node`                                                | a node for the rules, which refuse unknown parts by name  |
| `rules`                                               | the table of rules, which the next files define by family |
| `elementwise`, `shape_rules`, `indexing`, `reduction` | operators on elements, axes, places, sums                 |
| `windows`, `layers`, `recurrent`                      | convolutions, pools; linear maps, norms; recurrent nets   |
| `creation`, `quantization`, `resampling`              | new tensors; small dtypes and back; other extents         |
| `control`                                             | graphs within nodes: `If`, `Loop`, `Scan`, written out    |
| `functions`                                           | operators that ONNX or the model defines by others        |
| `folding`, `constant_values`                          | integers known while a graph is imported: shapes, axes    |
| `arrays`                                              | tensors and dtypes                                        |
"""

from refmlc.frontends.onnx.importer import from_onnx, params_of

__all__ = ["from_onnx", "params_of"]
