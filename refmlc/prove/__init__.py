"""Proofs: two programs compared for all arguments at once, by executing them on terms instead of numbers.

| file          | holds                                                                                  |
|---------------|----------------------------------------------------------------------------------------|
| `terms`       | what an element is: an expression over the arguments, in a canonical form              |
| `values`      | scalar operators and conversions on terms                                              |
| `expressions` | the cases of the interpreter that look at values of expressions                        |
| `statements`  | the same of statements                                                                 |
| `memory`      | the terms of all elements, and branches on data                                        |
| `obligations` | what must hold for the operations to be defined                                        |
| `watch`       | the sanitizer's detectors on terms                                                     |
| `execute`     | a function executed for all arguments of given sizes                                   |
| `field`       | terms evaluated in prime fields: equality over the reals                               |
| `proof`       | the verdict on two programs                                                            |
| `evaluate`    | the value of a term at known arguments                                                 |
| `decide`      | the verdict by terms or by integers, whichever decides sooner                          |
| `sizes/`      | whether a function is defined for all sizes                                            |
| `emitted/`    | whether two forms of generated C compute the same terms                                |
| `rules/`      | whether rewriting rules of TVM's simplifier hold                                       |
"""

from refmlc.prove.decide import decided, proved_for_all_sizes
from refmlc.prove.execute import SymbolicCall
from refmlc.prove.proof import Proof, ProofKind, compared

__all__ = ["Proof", "ProofKind", "SymbolicCall", "compared", "decided", "proved_for_all_sizes"]
