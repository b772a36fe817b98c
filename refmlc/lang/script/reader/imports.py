"""Import lines of a text: they name namespaces of the language, and load nothing.

| line                                          | what its names stand for                                |
|-----------------------------------------------|---------------------------------------------------------|
| `import tvm`, `import tvm.script`             | the construct `tvm`                                     |
| `from tvm.script import tir as T, relax as R` | the namespaces `T` and `R`                              |
| `from tvm import relax`                       | the namespace `R`                                       |
| `from typing import TypeVar`                  | the construct `I.TypeVar`                               |
| `from math import sqrt`                       | a function of constants                                 |
| `from tvm… import *`                          | nothing: `T`, `R` and `I` are known                     |
| any other `*`                                 | any name: none that is bound before has a value         |
| any other                                     | a name that has no meaning in TVMScript when it is used |

TVM prints the same lines as comments at the head of a module; they are comments here too, `PRELUDE` does their work.
"""

import ast
from collections.abc import Iterator

from refmlc.lang.script.reader.values import Construct
from refmlc.lang.script.spellings import PRELUDE, canonical


def prelude() -> dict[str, object]:
    """What a text may name without importing it."""
    return {name: Construct(path, name) for name, path in PRELUDE.items()}


def imported(stmt: ast.Import | ast.ImportFrom) -> Iterator[Construct]:
    """What an import line names: `spelled` is the name in the text, `path` what it stands for."""
    if isinstance(stmt, ast.Import):
        for alias in stmt.names:
            first = alias.name.partition(".")[0]
            yield Construct(canonical(alias.name if alias.asname else first), alias.asname or first)
    elif stmt.module != "__future__":
        for alias in stmt.names:
            if alias.name != "*":
                path = f"{'.' * stmt.level}{stmt.module or ''}.{alias.name}"
                yield Construct(canonical(path), alias.asname or alias.name)


def imports_any_name(stmt: ast.Import | ast.ImportFrom) -> bool:
    """Whether a line imports all names of a module that is not of TVM."""
    names = {alias.name for alias in stmt.names}
    return isinstance(stmt, ast.ImportFrom) and "*" in names and (stmt.module or "").partition(".")[0] != "tvm"
