"""Contracts that the accesses of a TensorIR function ask of the values of its parameters.

| file       | holds                                                                                         |
|------------|-----------------------------------------------------------------------------------------------|
| `symbols`  | integers and conditions as polynomials                                                        |
| `walk`     | a walk through the function: what each access asks for, and what is known there               |
| `residues` | what remains of it without loops: sizes and values                                            |
| `pieces`   | the natural form of that: the widest that an index, an end or a length has                    |
| `writer`   | pieces in the language of contracts                                                           |
| `infer`    | all of it for a function                                                                      |

The result is a proposal that calls test: at its ends an access that needs more is undefined, which is a finding.
"""

from refmlc.oracle.contracts.infer.infer import Inference, InferredClause, inferred

__all__ = ["Inference", "InferredClause", "inferred"]
