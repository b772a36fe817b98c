"""The one source of calls: which arguments a program is tried with, and why.

| file         | holds                                                                                              |
|--------------|----------------------------------------------------------------------------------------------------|
| `purposes`   | the list of purposes: what each fills floats and integers with, to which programs it applies, why  |
| `uses`, `kernel_uses`, `graph_uses` | what the program does with each parameter: output, index, compared with … |
| `conditions` | values at which a condition changes                                                                |
| `sizes`      | sizes of symbolic dimensions                                                                       |
| `maker`      | makes the calls: recipes (`refmlc.strategies.arguments`) with a purpose and a reason               |
| `trial`      | runs each planned call once: the budget, what is defined, branches and blocks that are reached     |

`check`, `passes`, `check_passes`, `check_schedule`, `assert_equivalent`, `assert_defined`, `equiv` and `reduce` take
their calls from here.
"""

from refmlc.oracle.arguments.maker import CallMaker, GeneratedCall
from refmlc.oracle.arguments.trial import CallLimits, Trial, tried

__all__ = ["CallLimits", "CallMaker", "GeneratedCall", "Trial", "tried"]
