"""The native tier: TensorIR to C, from the IR and the contracts alone; it cannot see how the interpreter computes.

| part        | does                                                                               |
|-------------|------------------------------------------------------------------------------------|
| `options`   | what may be generated: the best grade, the instruction set, the transcendentals    |
| `unit`      | what is generated: a C function with its parameters, and the grade of each block   |
| `text`      | the gate: comments, identifiers, lines of C; text of programs reaches C there only |
| `nest`      | what a loop nest is, between `analysis` and `tile`                                 |
| `kernels`   | which helpers the headers have for an operator and a dtype                         |
| `analysis/` | what is known about a function: bounds of integers, what is written, what may move |
| `emit/`     | IR to C as it is written (grades 1 and 2)                                          |
| `tile/`     | loop nests whose iterations may move, to vectors and register tiles (grade 3)      |
| `fuse/`     | runs of calls of a dataflow block to one C function                                |
| `entries`   | the same functions for callers that hold a tuple of Python's arrays                |
| `compile/`  | C text to a library: the compiler, the cache of libraries, loading                 |
| `tier/`     | which calls go into C, with what, and what happens when C declines                 |
| `threads`   | on how many threads compiled code runs                                             |
| `headers/`  | the hand-written C that generated code includes (the folder `kernels_c`)           |

What it owes the interpreter: the same result and verdict (NAT-001), by checks that end the call (NAT-002), an order
that gives the same bits (NAT-003), budgets (NAT-004); what it may be called with: NAT-005, when not at all: NAT-006.
"""
