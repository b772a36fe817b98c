"""What a program is: dtypes, nodes, operators, text, static rules, clauses. Nothing here executes a program.

| part          | holds                                                                                  |
|---------------|----------------------------------------------------------------------------------------|
| `dtypes/`     | the rows of dtypes: widths, formats, rounding                                          |
| `ir/`         | the nodes of TensorIR and Relax, types, visits, equality                               |
| `ops/`        | scalar operators and intrinsics: a contract and a meaning a row; the evaluator         |
| `arith/`      | arithmetic of symbolic integers: polynomials and intervals                             |
| `te/`         | tensor expressions, from which prim_funcs are made                                     |
| `library/`    | the operators of Relax: a type rule and a lowering in tensor expressions each          |
| `script/`     | TVMScript: reader, printer, dialects                                                   |
| `spec/`       | the clauses of the specification, which stand in `conformance/spec`                    |
| `wellformed/` | the static rules (RM2xx)                                                               |
| `builder/`    | modules written by a program: `BlockBuilder`, visitors, Python's operators on nodes    |
| `layouts/`    | layouts of TIRx executed: places of elements, tile, slice, direct sum                  |
| `drawing/`    | graphs of Relax functions as lines, SVG and HTML                                       |
"""
