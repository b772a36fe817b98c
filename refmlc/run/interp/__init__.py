"""The interpreter, which is the specification: `machine` calls functions, `hooks` are what watches them.

| part          | is                                                                           |
|---------------|------------------------------------------------------------------------------|
| `tensorir/`   | TensorIR as closures; two `match`es, in the order of `ir/tir`                |
| `threads/`    | threads of TensorIR that wait for each other                                 |
| `tirx/`       | kernels of TIRx: threads of a launch, tile primitives                        |
| `ptx/`        | instructions of PTX                                                          |
| `asynchronous/` | copies that are complete later, barriers in memory                         |
| `fast/`       | closures of their own for the commonest nodes, to the bit the same           |
| `graph/`      | Relax as closures; one `match`, in the order of `ir/relax`                   |
| `substitutes` | what may execute parts of a program in the interpreter's place               |
| `relay`       | one client of the hooks that passes events on to several                     |
"""
