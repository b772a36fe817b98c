"""TVMScript text to IR. The text is data: it is parsed by Python's parser and read by a table, never executed.

| file                    | what                                                                             |
|-------------------------|----------------------------------------------------------------------------------|
| `syntax`                | text to Python's syntax tree, guarded; places                                     |
| `pieces`                | the tree of a large text, in pieces that are parsed when they are read            |
| `type_parameters`       | variables between the name of a function and its parameters                       |
| `scope`, `values`       | names, and what expressions stand for while they are read                          |
| `table`, `arguments`    | the table of constructs; a call with its arguments                                 |
| `deadline`              | the seconds that reading may take                                                  |
| `evaluate`, `operators` | the one evaluator of expressions                                                   |
| `constants`, `budget`   | comprehensions, f-strings, builtin functions; how much work they may be            |
| `numpy_constants`       | arrays of NumPy that stand in the text                                             |
| `program`, `bindings`, `mutation` | a whole text: its constants, its functions, which names have a value     |
| `specialisation`        | functions that a text specialises                                                 |
| `units`                 | what reading a text gives                                                          |
| `functions`, `macros`   | calls of functions and macros of the text                                          |
| `substitution`          | functions that are called with expressions                                         |
| `problems`, `suggestion` | all problems of a text; names that resemble misspelt ones                         |
| `module`, `imports`, `language` | modules, import lines, what is neither TensorIR nor Relax                  |
| `evidence`              | which generation a text shows itself to be of                                      |
| `types`, `attributes`, `metadata`, `devices` | types, attributes, constants in JSON, devices                 |
| `meshes`                | tensors on meshes of devices                                                      |
| `tir_*`                 | TensorIR: its constructs and the reader of its functions                           |
| `relax_*`, `live`       | Relax: its constructs and the reader of its functions; decorators on live objects   |
| `text`                  | the tables put together; the entry points                                          |
"""
