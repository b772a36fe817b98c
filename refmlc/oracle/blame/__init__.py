"""The origin of a wrong result: the first binding, block and element where an implementation deviates.

| file     | holds                                                                                             |
|----------|---------------------------------------------------------------------------------------------------|
| `cuts`   | the beginning of a program as a program: bindings of Relax, root blocks of TensorIR                 |
| `search` | an implementation that gives results only: its answers to such beginnings                         |
| `traces` | two modules that refmlc can watch both: every store compared, in the order of the right one         |
"""

from refmlc.oracle.blame.search import Blame, blame
from refmlc.oracle.blame.traces import Parting, first_difference

__all__ = ["Blame", "Parting", "blame", "first_difference"]
