"""Contracts: what the values of arguments must satisfy for a program to be defined.

| file       | holds                                                                                         |
|------------|-----------------------------------------------------------------------------------------------|
| `language` | the language, one line each: clauses and quantities, as text                                  |
| `parse`    | a line as its clauses                                                                         |
| `values`   | whether values satisfy a clause                                                               |
| `project`  | values moved into clauses                                                                     |
| `contract` | the contracts of a function; which one arguments violate                                      |
| `infer/`   | what the accesses of a TensorIR function ask for                                              |
| `recipes`  | recipes of arguments moved into contracts                                                     |
| `assumptions`, `schema.json` | contracts that the caller writes; the file of them beside a module           |
| `hypotheses` | contracts as conditions of a proof for all sizes                                            |
| `program`  | what a function of a module asks for, a graph too                                             |
| `compare`  | what the second of two programs asks for beyond the first                                     |

**A contract excuses no bug.** What is inferred restricts values of integer parameters and of floats that are cast to
integers, never sizes, and only in the natural forms of `infer.pieces`: an index is of its whole axis, an end may be the
extent, a length may be all there is. An access that needs less than that (`idx[i] + 1`, a missing guard of the tail) is
undefined at the ends of the range, and calls reach these ends on purpose: that is a finding.
"""

from refmlc.oracle.contracts.contract import ArgumentContract, Contracts, ContractViolation
from refmlc.oracle.contracts.parse import parse
from refmlc.oracle.contracts.program import contracts_of

__all__ = ["ArgumentContract", "ContractViolation", "Contracts", "contracts_of", "parse"]
