"""Models of ONNX as modules.

| file                    | holds                                                                                   |
|-------------------------|-----------------------------------------------------------------------------------------|
| `importer`              | `from_onnx`: a graph, node by node                                                      |
| `node`                  | a node as a rule sees it: what a rule does not take is refused by name                  |
| `rules`                 | the table of rules, which stand by family in the files that follow                      |
| `elementwise`, `shaping`, `indexing`, `reduction` | operators on elements, axes, places, sums                     |
| `windows`, `layers`, `recurrent` | convolutions and pools; linear maps and norms; recurrent nets                  |
| `creation`, `quantization`, `resampling` | tensors out of nothing; small dtypes and back; other extents           |
| `control`               | graphs within nodes: `If`, `Loop`, `Scan`, written out                                  |
| `functions`             | operators that ONNX or the model defines by other operators                             |
| `folding`, `known`      | integers that are known while a graph is imported: shapes, axes                         |
| `arrays`                | tensors and dtypes                                                                      |
"""

from refmlc.frontends.onnx.importer import from_onnx, params_of

__all__ = ["from_onnx", "params_of"]
