"""A clause: one numbered rule of the specification.

| field       | type            | needed | means                                                               |
|-------------|-----------------|--------|---------------------------------------------------------------------|
| `id`        | `AAA-nnn`       | yes    | an area of `AREAS` and a number; never twice                        |
| `title`     | string          | yes    | the node, operator or topic                                         |
| `text`      | string          | yes    | the meaning, in one to three sentences                              |
| `undefined` | list of strings | no     | `RM3nn: when`, one each                                             |
| `exact`     | string          | no     | how exact the result is                                             |
| `decision`  | string          | no     | what was decided where TVM is silent or contradicts itself, and why |
| `source`    | string          | no     | where it comes from                                                 |

The files lie in conformance/spec; `refmlc/lang/spec/data` is a link to it, which an installed refmlc holds as files.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

from refmlc.diag import RefmlcError, fail
from refmlc.diag.catalogue import BAD_FILE, BAD_USAGE, CODES

AREAS = {
    "NUM": "Numbers",
    "TIR": "TensorIR",
    "RLX": "Relax",
    "LIB": "Operators of Relax",
    "NAT": "Compiled execution",
    "SCR": "Texts around modules",
    "LAY": "Layouts of TIRx",
    "TIP": "Tile primitives of TIRx",
    "TIX": "Kernels of TIRx",
    "TIW": "Threads of a kernel",
    "TIA": "Asynchronous copies",
    "TIM": "Matrix units",
    "TMM": "Tensor memory",
    "PTX": "Instructions of PTX",
}
"""The first letters of the numbers of clauses, and what they are about."""
ID = re.compile(rf"(?:{'|'.join(AREAS)})-[0-9]{{3}}")
NEEDED = ("id", "title", "text")
STRINGS = (*NEEDED, "exact", "decision", "source")


@dataclass(frozen=True, slots=True)
class Clause:
    """One rule; `file` is the name of the file that holds it."""

    id: str
    title: str
    text: str
    file: str
    undefined: tuple[str, ...] = ()
    exact: str = ""
    decision: str = ""
    source: str = ""


@cache
def clauses() -> Mapping[str, Clause]:
    """All clauses by id, in order of the ids. Fails: RM109 when a file breaks the table above."""
    table: dict[str, Clause] = {}
    data = files("refmlc.lang.spec") / "data"
    for file in sorted(data.iterdir(), key=lambda entry: entry.name):
        if not file.name.endswith(".toml"):
            continue
        for row in read_clauses(file):
            if row.id in table:
                raise fail(BAD_FILE, f"clause {row.id} is in {table[row.id].file} and in {row.file}")
            table[row.id] = row
    return dict(sorted(table.items()))


def clause(name: str) -> Clause:
    """The clause called `name`, in upper or lower case. Fails: RM112 when there is none."""
    row = clauses().get(name.upper())
    if row is None:
        raise fail(BAD_USAGE, f"the specification has no clause `{name}`; ids look like TIR-201")
    return row


def read_clauses(file: Traversable) -> tuple[Clause, ...]:
    """The clauses of one file, in its order. Fails: RM109 when it breaks the table above."""
    try:
        tables = tomllib.loads(file.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as problem:
        raise fail(BAD_FILE, f"{file.name} is not TOML: {problem}") from None
    rows = tables.pop("clause", [])
    if tables or not isinstance(rows, list):
        raise fail(BAD_FILE, f"{file.name} may contain only [[clause]] tables")
    return tuple(_clause(row, file.name) for row in rows)


def _clause(row: Mapping[str, object], file: str) -> Clause:
    """One checked row."""
    name = row.get("id", "")
    if not isinstance(name, str) or not ID.fullmatch(name):
        raise fail(BAD_FILE, f"{file} has a clause with id {name!r}; ids look like TIR-201")
    strings: dict[str, str] = {}
    for key, value in row.items():
        if key != "undefined":
            if key not in STRINGS or not isinstance(value, str) or not value.strip():
                raise _bad(file, name, f"`{key}` is unknown, empty or not a string")
            strings[key] = value.strip()
    missing = [key for key in NEEDED if key not in strings]
    if missing:
        raise _bad(file, name, f"`{missing[0]}` is missing")
    undefined = row.get("undefined", [])
    if not isinstance(undefined, list) or not all(_is_undefined_row(entry) for entry in undefined):
        raise _bad(file, name, "`undefined` is a list of `RM3nn: when` with codes of the catalogue")
    return Clause(file=file, undefined=tuple(undefined), **strings)


def _is_undefined_row(entry: object) -> bool:
    """Whether `entry` reads `RM3nn: when` with a known code."""
    return isinstance(entry, str) and entry[:5] in CODES and entry[5:7] == ": "


def _bad(file: str, name: str, problem: str) -> RefmlcError:
    """The failure of one clause."""
    return fail(BAD_FILE, f"{file}, clause {name}: {problem}")
