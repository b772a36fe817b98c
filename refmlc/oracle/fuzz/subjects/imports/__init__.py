"""Programs of the kinds `imports` and `torch-imports`: ONNX and PyTorch, by TVM's importer and by refmlc's.

| file             | holds                                                           |
|------------------|-----------------------------------------------------------------|
| `importers`      | both importers held to ONNX's own evaluator, node by node       |
| `importer_process` | TVM's importers in a process, which a worker keeps            |
| `answer_difference` | how results differ                                           |
| `compiled_import` | whether TVM's importer is wrong or its compiler, and the row of that |
| `evaluator_faults` | where ONNX's own evaluator is wrong                           |
| `array_data`     | arrays as data                                                  |
| `onnx_graphs`    | graphs as data, drawn                                           |
| `onnx_operators` | the table of operators that they have                           |
| `onnx_domains`   | where ONNX defines the result of an operator                    |
| `onnx_reduction` | a node that is wrong, with less                                 |
| `tensor_reduction` | shorter axes and plainer numbers                              |
| `imported_model` | a finding on an importer, made again                            |
| `import_kinds`   | what a replay of each of the two kinds needs                    |
| `caged_judge`    | importers and frameworks, asked in a worker with limits         |
| `torch_imports`  | both importers of PyTorch held to PyTorch, call by call         |
| `torch_modules`  | programs as modules of PyTorch, exported                        |
| `torch_operators` | programs as data, drawn; the table of functions that they have |
"""
