"""The interpreter, which is the specification: `machine` calls functions, `hooks` are what watches them.

| part          | is                                                   |
|---------------|------------------------------------------------------|
| `tensorir/`   | TensorIR as closures, cases in the order of `ir/tir` |
| `graph/`      | Relax as closures, cases in the order of `ir/relax`  |
| `substitutes` | what may execute parts of a program in its place     |
"""
