"""TensorIR as closures: a function is prepared once, then called with values. Clauses: tir-*.toml.

| file            | holds                                                                            |
|-----------------|----------------------------------------------------------------------------------|
| `functions`     | arguments, parameters, the body (TIR-001 … TIR-003)                              |
| `statements`    | the `match` of statements (TIR-201 … TIR-216)                                    |
| `loops`         | loops of every kind                                                              |
| `jumps`         | `break`, `continue`, `return`                                                    |
| `blocks`        | blocks: predicate, axes, init, body                                              |
| `expressions`   | the `match` of expressions (TIR-101 … TIR-117)                                   |
| `operators`     | scalar operators, by their rows                                                  |
| `elements`      | loads and stores of single elements, and what is wrong with an access            |
| `vectors`       | values of several lanes                                                          |
| `calls`         | calls: functions of the module, functions from outside                           |
| `intrinsics`    | intrinsics of values, pointers and workspaces                                    |
| `addresses`     | addresses that a kernel computes, and the memory that they point to (TIX-009)    |
| `opaque_values` | registers that hold a value without a number (TIA-024, PTX-024)                  |
| `tensor_maps`   | tensor maps on the stack of a host (TIA-040)                                     |
| `tensor_memory` | buffers in tensor memory                                                         |
| `c_abi`         | structures of lowered calls                                                      |
| `buffers`       | allocation, views of pointers and regions, declarations matched (TIR-004)        |
| `views`         | buffers at run time                                                              |
| `placed`        | buffers with a layout: where their elements lie                                  |
| `frame`         | the variables of one activation, by slot                                         |
| `scope`         | the state of preparing a function                                                |
| `domains`       | what a condition says of the domains of variables                                |
| `loop_sums`     | sums over variables, computed at each entry of a loop                            |
| `events`        | closures that report to hooks                                                    |
| `block_sites`   | an instance of a block, as hooks see it                                          |

The cases of the two `match`es and what they call are the specification. `refmlc.run.interp.fast` has closures of their
own for the commonest nodes, `refmlc.run.interp.threads` executes threads that wait for each other.
"""
