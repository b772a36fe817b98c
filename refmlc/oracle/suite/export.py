"""Cases as JSON files: what a case file says, and the module as a tree, so that nobody needs a reader of TVMScript.

| path            | holds                                                                                 |
|-----------------|---------------------------------------------------------------------------------------|
| `index.json`    | `format`, `version`, `suite`, `cases`: the path of each file by the id of its case    |
| `AREA/ID.json`  | a case (`schema/case.json`): the keys of the case file, `text`, and `module`          |
| `schema/*.json` | the schemas                                                                           |

`version` is that of this format; `suite` that of the cases. Places in assertions are places in `text`. If the text must
be rejected, `module` is null.
"""

import json
from collections.abc import Iterator
from pathlib import Path

from refmlc.diag import RefmlcError
from refmlc.lang.ir.tree import Json, tree_of
from refmlc.oracle.evidence.case_file import CaseFile
from refmlc.oracle.suite.schema import FILES, load_schema
from refmlc.oracle.suite.suite import Suite

FORMAT, VERSION = "refmlc-case", 1


def exported(suite: Suite) -> Iterator[tuple[str, dict[str, Json]]]:
    """Each case of the suite: the path of its file, and what is in it."""
    for case in suite.cases:
        yield f"{case.id.partition('.')[0]}/{case.id}.json", case_json(case, suite.version)


def case_json(case: CaseFile, version: str) -> dict[str, Json]:
    """A case as JSON."""
    try:
        module: Json = tree_of(case.module)
    except RefmlcError:
        module = None
    calls: list[Json] = [{"args": list(call.args), "assert": dict(call.assertion)} for call in case.calls]
    return {
        "format": FORMAT,
        "version": VERSION,
        "suite": version,
        "id": case.id,
        "clauses": list(case.clauses),
        "features": list(case.features),
        "dialect": case.dialect,
        "provenance": case.provenance,
        "func": case.func,
        "text": case.text,
        "module": module,
        "calls": calls,
    }


def write_suite(suite: Suite, folder: Path) -> int:
    """Write every case into `folder`; how many there are. Fails: OSError."""
    index: dict[str, Json] = {}
    for path, case in exported(suite):
        _write(folder / path, case)
        index[str(case["id"])] = path
    _write(folder / "index.json", {"format": FORMAT, "version": VERSION, "suite": suite.version, "cases": index})
    for name in FILES:
        _write(folder / "schema" / name, load_schema(name))
    return len(index)


def _write(path: Path, data: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(data, ensure_ascii=False) + "\n", encoding="utf-8")
