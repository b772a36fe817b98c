"""Models of ONNX as modules.

| file                                                  | holds                                                     |
|-------------------------------------------------------|-----------------------------------------------------------|
| `importer`                                            | `from_onnx`: a graph, node by node                        |
| `node`                                                | a node for the rules, which refuse unknown parts by name  |
| `rules`                                               | the table of rules, which the next files define by family |
| `elementwise`, `shape_rules`, `indexing`, `reduction` | operators on elements, axes, places, sums                 |
| `casting`, `selection`, `creation`                    | other dtypes; elements that are chosen; new tensors       |
| `windows`, `layers`, `recurrent`                      | convolutions, pools; linear maps, norms; recurrent nets   |
| `quantization`, `integers`, `resampling`              | small dtypes and back; their products; other extents      |
| `vision`, `signals`, `training`                       | boxes, samples of images; Fourier; steps of optimizers    |
| `ngrams`                                              | n-grams of a pool, counted                                |
| `sequences`                                           | sequences and optionals                                   |
| `control`                                             | graphs within nodes: `If`, `Loop`, `Scan`, written out    |
| `functions`                                           | operators that ONNX or the model defines by others        |
| `folding`, `constant_values`                          | numbers known while a graph is imported: shapes, axes     |
| `inputs`                                              | the parameters of `main`                                  |
| `arrays`, `value_types`, `limits`                     | tensors; types of values in ONNX's words; sizes of tables |
"""

from refmlc.frontends.onnx.importer import from_onnx, params_of

__all__ = ["from_onnx", "params_of"]
