"""Modules of real TVM as it saves them: the JSON graph of `tvm.ir.save_json` (0.27) becomes nodes of `refmlc.lang.ir`.

| file       | reads                                                                     |
|------------|---------------------------------------------------------------------------|
| `graph`    | the list of nodes: objects that refer to each other by number             |
| `scalars`  | expressions of TensorIR                                                   |
| `stmts`    | statements, blocks, functions of TensorIR                                 |
| `graphs`   | types, expressions, bindings, functions of Relax                          |
| `plain_fields` | which fields of attributes are plain data                             |
| `module`   | the module                                                                |

A node that refmlc has no word for is `unsupported` by the name that TVM gives it (RM504), never left out. Variables
that are one object there are one object here.
"""

from refmlc.frontends.tvm_json.module import from_json

__all__ = ["from_json"]
