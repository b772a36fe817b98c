"""Parts of a graph for other compilers: calls that a pattern describes become functions that say so.

| file       | holds                                                                                        |
|------------|----------------------------------------------------------------------------------------------|
| `patterns` | descriptions of expressions: a call of an operator on anything, of a dtype, of a shape, …     |
| `matcher`  | whether an expression is what a pattern describes, and which part of it is which pattern       |
| `groups`   | bindings that belong together become functions, and calls of them                             |
| `fusion`   | the groups that patterns describe: `fuse_ops_by_pattern`                                      |
| `wrapping` | such a function in one for its compiler, which holds it as a local function                   |
| `merging`  | functions for one compiler that follow each other become one: `merge_composite_functions`     |

A module means the same before and after, to the bit: the same calls are executed on the same values.
"""

from refmlc.rewrite.partition.fusion import FusionPattern, PatternCheckContext, fuse_ops_by_pattern
from refmlc.rewrite.partition.matcher import matched_expressions
from refmlc.rewrite.partition.merging import merge_composite_functions

__all__ = [
    "FusionPattern",
    "PatternCheckContext",
    "fuse_ops_by_pattern",
    "matched_expressions",
    "merge_composite_functions",
]
