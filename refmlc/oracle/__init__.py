"""The oracle: whether a result is one that the program permits, by exact bits, sets, ulps or a certified bound.

>>> certificate = refmlc.observe.bounds.certify(module, "main", [a, b, out])
>>> verdict = compare(result, certificate.outputs[0])
>>> str(verdict)
'wrong: [3, 7] is 1.5, expected 1.25, 2097152 ulp away, bound 2.4e-07; 12 of 64 wrong; transposed: axes 0 and 1 …'

| file                                         | holds                                                             |
|----------------------------------------------|-------------------------------------------------------------------|
| `compare`                                    | comparison, by the rule that a clause chooses                     |
| `difference`                                 | the difference of two results, and its likely cause               |
| `outcome`, `reasons`                         | the verdict; reasons for its absence, grouped                     |
| `reference`                                  | a program and what its calls mean                                 |
| `arguments`                                  | the calls that a function is tried with, each for a purpose       |
| `contracts`                                  | what arguments must satisfy for a program to be defined           |
| `parts`                                      | what a call leaves behind, as bits                                |
| `orders`                                     | a call in many orders of its threads                              |
| `agreement`, `verdict_rules`                 | the comparison of all parts; the verdict on an answer             |
| `finding`, `examine`                         | findings with their codes; programs examined in implementations   |
| `explained`                                  | wrong results that a recorded deviation gives, shown by execution |
| `non_finite`                                 | NaN and infinities that a program makes, and where                |
| `record`                                     | refusals of an implementation that are on record                  |
| `pairs`                                      | programs that must agree with a program, without a rule           |
| `check`                                      | `refmlc.check`: every function of a module examined               |
| `reduction_predicates`                       | predicates for reduction that keep a verdict                      |
| `blame`                                      | where a wrong result was born                                     |
| `refine`                                     | two programs compared: the assertions of `refmlc.testing`         |
| `passes`                                     | the passes of a compiler, each judged by the program before it    |
| `implementations`                            | the tiers, NumPy, PyTorch, TVM, programs that speak JSON lines    |
| `exact`                                      | implementations held to the definition of each operator           |
| `reduce`                                     | a program that fails, made small                                  |
| `evidence`                                   | a finding as a file and as a page, and its replay                 |
| `findings`                                   | findings of files for other tools: SARIF, JUnit, annotations      |
| `toml_text`                                  | values as text of TOML                                            |
| `issue`                                      | the report of a finding for the maintainers of an implementation  |
| `fuzz`                                       | campaigns                                                         |
| `suite`                                      | the conformance suite                                             |
"""

from refmlc.oracle.compare import Certified, Exact, OneOf, Rule, Ulps, compare, judge
from refmlc.oracle.difference import Difference
from refmlc.oracle.outcome import Kind, Verdict, crashed, of_failure, timed_out

__all__ = [
    "Certified",
    "Difference",
    "Exact",
    "Kind",
    "OneOf",
    "Rule",
    "Ulps",
    "Verdict",
    "compare",
    "crashed",
    "judge",
    "of_failure",
    "timed_out",
]
