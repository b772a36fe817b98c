"""The rules of TVM's simplifier as theorems: each proved, refuted by a point that is executed, or undecided (z3).

| file       | holds                                                                                          |
|------------|------------------------------------------------------------------------------------------------|
| `table`    | the rows: left, right, condition, dtypes, where in TVM                                         |
| `instance` | a rule at a dtype: read, evaluated, executed                                                   |
| `points`   | where it is evaluated before z3 is asked                                                       |
| `encode`   | its sides as expressions of z3                                                                 |
| `lemmas`   | facts of products that z3 is told                                                              |
| `verdict`  | the verdict                                                                                    |

`verdict`, and what it imports, needs z3 (extra `prove`); the rows do not.
"""

from refmlc.prove.rules.table import Rule, rules, rules_of

__all__ = ["Rule", "rules", "rules_of"]
