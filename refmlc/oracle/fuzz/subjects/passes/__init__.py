"""Programs of the kind `passes`: orders of TVM's passes.

| file          | holds                                                                   |
|---------------|-------------------------------------------------------------------------|
| `pass_runs`   | orders, each stage held to the program that it began with               |
| `pass_table`  | the passes: where each may stand, options, programs; which are left out |
| `pass_orders` | orders and programs, drawn                                              |
| `programs`    | small programs aimed at what passes assume                              |
"""
