"""The origin of a wrong result: the first binding, block and element where an implementation deviates.

| file     | holds                                                                                       |
|----------|---------------------------------------------------------------------------------------------|
| `search` | prefixes of a program, and an implementation's answers to them                              |
| `traces` | two modules that refmlc can watch both: every store compared, in the order of the right one |
"""

from refmlc.oracle.blame.search import Blame, blame
from refmlc.oracle.blame.traces import Parting, first_difference

__all__ = ["Blame", "Parting", "blame", "first_difference"]
