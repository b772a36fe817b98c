"""Programs of the kind `imports`: graphs of ONNX, by TVM's importer and by refmlc's.

| file             | holds                                                           |
|------------------|-----------------------------------------------------------------|
| `importers`      | both importers held to ONNX's own evaluator, node by node       |
| `onnx_graphs`    | graphs as data, drawn                                           |
| `onnx_operators` | the table of operators that they have                           |
| `onnx_reduction` | a graph that is wrong, made smaller                             |
| `imported_model` | a finding on an importer, made again                            |
"""
