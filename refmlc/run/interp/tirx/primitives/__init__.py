"""The tile primitives of TIRx on logical tiles, whatever threads, layouts and dispatch do. Clauses: tirx-tiles.toml.

| file          | holds                                                                             |
|---------------|-----------------------------------------------------------------------------------|
| `execution`   | a call with its operands: which rule it is executed by, or why it is not          |
| `operands`    | the operands of a call by name: tiles, sources of elements, constants             |
| `shapes`      | which element of an operand belongs to an element of the destination (TIP-002)    |
| `arithmetic`  | functions of elements, made of the rows of scalar operators (TIP-003)             |
| `settings`    | the keys of `config`: which choose a way, and which a value (TIP-004)             |
| `overlap`     | destinations that share memory with what is read (TIP-001)                        |
| `elementwise` | one element from those at the same place (TIP-011 … TIP-026)                      |
| `reduction`   | sum, max, min over axes (TIP-031 … TIP-033)                                       |
| `composed`    | two operators in one (TIP-041 … TIP-043)                                          |
| `matmul`      | the product of two matrices (TIP-051)                                             |
"""

from refmlc.run.interp.tirx.primitives.execution import execute, operands_of_call, work

__all__ = ["execute", "operands_of_call", "work"]
