"""Import lines of a text: they name namespaces of the language, and load nothing.

| line                                          | what its names stand for                                |
|-----------------------------------------------|---------------------------------------------------------|
| `import tvm`, `import tvm.script`             | the construct `tvm`                                     |
| `from tvm.script import tir as T, relax as R` | the namespaces `T` and `R`                              |
| `from tvm import relax`                       | the namespace `R`                                       |
| `from typing import TypeVar`                  | the construct `I.TypeVar`                               |
| any other                                     | a name that has no meaning in TVMScript when it is used |

TVM prints the same lines as comments at the head of a module; they are comments here too, `PRELUDE` does their work.
"""

import ast

from refmlc.lang.script.reader.scope import Scope
from refmlc.lang.script.reader.values import Construct
from refmlc.lang.script.spellings import PRELUDE, canonical


def prelude() -> dict[str, object]:
    """What a text may name without importing it."""
    return {name: Construct(path, name) for name, path in PRELUDE.items()}


def define_imports(node: ast.Import | ast.ImportFrom, scope: Scope) -> None:
    """Define in `scope` the names that an import line introduces."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            name = alias.asname or alias.name.partition(".")[0]
            path = alias.name if alias.asname else name
            scope.define(name, Construct(canonical(path), name))
        return
    if node.module == "__future__":
        return
    for alias in node.names:
        name = alias.asname or alias.name
        scope.define(name, Construct(canonical(f"{node.module or ''}.{alias.name}"), name))
