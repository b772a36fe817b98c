"""JSON Schemas (draft 2020-12) of what others read and write. Each file stands alone.

| file             | describes                                                                                      |
|------------------|------------------------------------------------------------------------------------------------|
| `case-file.json` | a file of the suite, once its TOML is read                                                     |
| `case.json`      | a case as `refmlc conform export` writes it, with the module as a tree (`refmlc.lang.ir.tree`) |
| `protocol.json`  | the lines of implementations: `#/$defs/request`, `#/$defs/reply`                               |

They are written by `written()`: the kinds of nodes follow from the declarations in `refmlc/lang/ir` (`nodes`), the rest
is written out in `values`, and `schema_files` puts them together. A test holds the files to it.
"""

import json
from importlib.resources import files

FILES = ("case-file.json", "case.json", "protocol.json")


def load_schema(name: str) -> dict[str, object]:
    """The schema in file `name`."""
    schema: dict[str, object] = json.loads((files("refmlc.oracle.suite.schema") / name).read_text(encoding="utf-8"))
    return schema
