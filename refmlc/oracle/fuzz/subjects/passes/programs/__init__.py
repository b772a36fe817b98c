"""Small programs aimed at what passes of TVM assume: each has something that a hasty pass would lose.

| file         | the programs                                                                                      |
|--------------|---------------------------------------------------------------------------------------------------|
| `conditions` | a condition that the body changes, or on a part of the loop; stores that hide others              |
| `arithmetic` | lanes, loops to unroll; extreme constants, products beyond 32 bits, casts that wrap               |
| `memory`     | a buffer that lives through a loop, two that might share memory, a part of one under another name |
| `aliases`    | aliases, views, calls in place, branches                                                          |
| `fusion`     | tensors that might share memory, tuples in tuples, symbols, equal bindings                        |
| `functions`  | private functions, closures, recursion, definitions by `match_cast`, constants                    |
| `operators`  | operators that passes rewrite, of another precision, layout or order                              |

`TENSORIR` and `RELAX` have the texts by name; `pass_table` says which pass each is for.
"""

from collections.abc import Mapping

from refmlc.oracle.fuzz.subjects.passes.programs.aliases import ALIASES
from refmlc.oracle.fuzz.subjects.passes.programs.arithmetic import ARITHMETIC
from refmlc.oracle.fuzz.subjects.passes.programs.conditions import CONDITIONS
from refmlc.oracle.fuzz.subjects.passes.programs.functions import FUNCTIONS
from refmlc.oracle.fuzz.subjects.passes.programs.fusion import FUSION
from refmlc.oracle.fuzz.subjects.passes.programs.memory import MEMORY
from refmlc.oracle.fuzz.subjects.passes.programs.operators import OPERATORS

FUNCTION = "# from tvm.script import tirx as T\n\n@T.prim_func(s_tir=True)\n"
MODULE = "# from tvm.script import ir as I, relax as R, tirx as T\n\n@I.ir_module\nclass Module:\n"
TENSORIR: Mapping[str, str] = {**CONDITIONS, **ARITHMETIC, **MEMORY}
RELAX: Mapping[str, str] = {**ALIASES, **FUSION, **FUNCTIONS, **OPERATORS}
