"""PTX instructions on scalars, packed scalars and memory, as pure functions on bits.

| part             | is                                                                            |
|------------------|-------------------------------------------------------------------------------|
| `forms`          | the forms: modifiers and operands, as TVM's table has them                    |
| `registry`       | the names of all forms that TVM registers, and which are executed             |
| `rules`          | which modifiers go together                                                   |
| `calls`          | the form that a call fits: modifiers by slots, operands by names              |
| `registers`      | bits and integers, packed registers and lanes                                 |
| `numbers`        | floats as exact numbers, rounded in every mode                                |
| `integers`       | integer arithmetic, fields of bits                                            |
| `logic`          | logic, shifts, movements                                                      |
| `floats`         | floating-point arithmetic                                                     |
| `mixed`          | packed arithmetic whose result is narrower, or of another kind                |
| `approximations` | the nearest number, and what the error stated by PTX permits                  |
| `comparisons`    | `set`, `setp`, `selp`, `slct`                                                 |
| `conversions`    | `cvt`                                                                         |
| `narrow`         | `cvt` with scales and random bits, to fixed point and unsigned floats         |
| `hints`          | hints on ranges and tensors                                                   |
| `meaning`        | the table of them, and why a form has none                                    |
| `clauses`        | the clause of each operator that is executed, here or by the interpreter      |
"""
