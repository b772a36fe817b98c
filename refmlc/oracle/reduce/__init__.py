"""Programs made smaller while a predicate holds: valid stays valid, the verdict stays the same.

>>> found = refmlc.oracle.reduce.reduce(module, lambda candidate: still_wrong(candidate))
>>> print(found.text)

| file              | holds                                                               |
|-------------------|---------------------------------------------------------------------|
| `reduction`       | `reduce`, `reduce_case`: modules; modules with recipes of arguments |
| `search`          | which edits are made                                                |
| `passes/`         | the edits, one matter in each file                                  |
| `size`            | what smaller means                                                  |
| `subject`, `tidy` | what is edited; what an edit leaves behind                          |
| `lines`           | texts that are not modules: by lines                                |
| `command`         | a shell command as the predicate                                    |
"""

from refmlc.oracle.reduce.lines import TextReduction, reduce_text
from refmlc.oracle.reduce.reduction import Reduction, reduce, reduce_case

__all__ = ["Reduction", "TextReduction", "reduce", "reduce_case", "reduce_text"]
