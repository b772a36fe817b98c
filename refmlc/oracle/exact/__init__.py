"""Implementations held to the mathematical definition of each operator, not to the interpreter.

A graph is judged operator by operator: each call of the graph gets the inputs that it has in the interpreter's run, an
implementation executes this one call on them, and its result is compared with the exact one. So a finding names the
operator, and never the error that others before it have left.

| file          | holds                                                                                     |
|---------------|-------------------------------------------------------------------------------------------|
| `definitions` | what operators mean by NumPy, PyTorch and ONNX, in exact arithmetic; imports nothing of ours |
| `operands`    | the arguments of a call as a definition takes them                                        |
| `comparison`  | a result compared with exact numbers, in ulp                                              |
| `programs`    | the calls of operators in a run, each as a program of its own                             |
| `against`     | verdicts and findings of implementations                                                  |
| `table`       | the table of operators with their definitions, for `docs/reference`                       |
"""
