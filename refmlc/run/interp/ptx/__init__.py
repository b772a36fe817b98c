"""PTX instructions as the interpreter executes them: registers and memory; their meanings are in `lang/ops/ptx`.

| file      | holds                                                                               |
|-----------|-------------------------------------------------------------------------------------|
| `stores`  | an instruction as stores of values: what is executed in place of the call           |
| `spaces`  | addresses that are computed, in registers                                           |
| `values`  | the value of a destination, the address of an access, and what is not executed      |
"""
