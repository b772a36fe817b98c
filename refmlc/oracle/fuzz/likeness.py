"""The row of `conformance/known` that looks like a finding which no row explains.

| a finding       | is like a row where                                                                     |
|-----------------|-----------------------------------------------------------------------------------------|
| another result  | the row is of a result; its program has the same operators, and floats of that size     |
| a failure       | the row has its message, numbers, dtypes and names aside; not one of a dead process     |

Decision: that is no explanation (`refmlc.oracle.record`): another fault may end in the same check, and an operator may
be wrong twice. It sorts findings: a person reads the row before anything is filed.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import cast

from refmlc.diag import RefmlcError
from refmlc.lang.dtypes import SCALARS
from refmlc.lang.script import read
from refmlc.oracle.fuzz.pattern import DTYPES, PLAIN, Pattern, failure_words, group_of, names_in_program
from refmlc.oracle.reasons import normalised
from refmlc.oracle.record import parts_of, rows_on_record


def like_row(says: Mapping[str, object], pattern: Pattern, message: str = "") -> str:
    """The id of the row; empty: none looks like it. `message` is a failure's: of two rows, the one that has it."""
    rows = _rows(str(says.get("name", "")), str(says.get("version", "")))
    if message.startswith(DEATHS):
        return ""
    if message:
        alike = [row for row in rows if pattern.words in row.messages]
        return next((row.id for row in alike if normalised(message) in row.exactly), alike[0].id if alike else "")
    for row in rows:
        has_operators = pattern.operators == row.operators and bool(pattern.operators)
        has_dtype = not pattern.words.startswith(GROUPS) or pattern.words.startswith(row.groups)
        if has_operators and has_dtype and not row.messages:
            return row.id
    return ""


CODE = re.compile(r"RM\d+")
DEATHS = ("the process", "no answer")  # they name no place
GROUPS = ("float ", "half float ", "narrow float ", "int ", "uint ", "bool ")


@dataclass(frozen=True)
class RowLooks:
    """What a row looks like. `exactly`: its messages with dtypes and names.

    `groups`: of the dtypes of its program; one of float32 is taken to hold of float16 too.
    """

    id: str
    exactly: frozenset[str]
    messages: frozenset[str]
    operators: frozenset[str]
    groups: tuple[str, ...]


@cache
def _rows(name: str, version: str) -> tuple[RowLooks, ...]:
    """What each row about a program that runs looks like."""
    says = {"name": name, "version": version} if version else {"name": name}
    return tuple(_looks(row) for row in rows_on_record(says) if row.get("action", "legalize") == "legalize")


def _looks(row: Mapping[str, object]) -> RowLooks:
    try:
        module = read(str(row.get("module", "")), "row.py")
    except RefmlcError:
        parts, names = frozenset[str](), frozenset[str]()
    else:
        parts, names = parts_of(module), names_in_program(module)
    groups = {group_of(SCALARS[name]) for name in parts if name in SCALARS}
    recorded = [row.get("got"), *cast("Iterable[object]", row.get("messages", ()))]
    messages = frozenset(message for message in recorded if isinstance(message, str) and not CODE.fullmatch(message))
    return RowLooks(
        str(row["id"]),
        messages,
        frozenset(failure_words(message, names) for message in messages),
        frozenset() if "action" in row else frozenset(name for name in parts - PLAIN if not _is_dtype(name)),
        tuple(f"{group} " for group in (*groups, *(["half float"] if "float" in groups else []))),
    )


def _is_dtype(name: str) -> bool:
    return name in SCALARS or DTYPES.fullmatch(name) is not None
