"""What a program means: the interpreter, and the memory it works on.

| part      | holds                                                                                      |
|-----------|--------------------------------------------------------------------------------------------|
| `interp/` | the interpreter, which is the specification                                                |
| `memory/` | tensors, shapes, packed functions, budgets, files of arrays                                |
| `dims`    | symbolic dimensions of arguments, and expressions over them                                |
"""
