"""A case as a TOML file: a program verbatim, its calls, and the expected result of each.

| key              | holds                                                                       |
|------------------|-----------------------------------------------------------------------------|
| `format`         | the version of this format; of a suite its `VERSION` says it                |
| `id`             | a name that follows from the content                                        |
| `clauses`        | what decides                                                                |
| `features`       | features that an implementation needs for the case                          |
| `dialect`        | the generation of TVMScript                                                 |
| `provenance`     | where it comes from: who found it, in which implementation, with which code |
| `implementation` | the implementation to replay the case with, as in `--impl`                  |
| `module`, `func` | the text; the function that is called                                       |
| `calls`          | tables: `args` (`literals`), and `assert`                                   |
| `as_written`     | true: no barrier is implied (TIR-229). May be left out                      |
| `allow`          | codes after which the program continues. May be left out                    |
| `orders`         | how many orders of threads are tried (TIW-012). May be left out: one        |

| `assert.kind` | and                                                                                                |
|---------------|----------------------------------------------------------------------------------------------------|
| `return`      | `parts`: a table for each result and written argument: `label`, a tensor or number, `rule` (below) |
| `undefined`   | `code` and `place` (`line:column` of the module)                                                   |
| `trap`        | the same                                                                                           |
| `reject`      | the same: the text is malformed, or breaks a static rule                                           |
| `open`        | nothing: recorded, never scored                                                                    |

| `rule`      | a written element must be                                                              |
|-------------|----------------------------------------------------------------------------------------|
| `exact`     | the one in `values`, bit by bit; NaN is one class                                      |
| `one of`    | one of the list that `options` has for it                                              |
| `ulp`       | at most `ulps` representable numbers from the one in `values`                          |
| `certified` | from its `low` to its `high`, both binary64, or one of its `specials` ("inf -inf nan") |
| `kept`      | as it was given: an argument that is only read                                         |
| `hash`      | such that `sha256` is the digest of all elements (`literals.digest`)                   |
| `any`       | anything                                                                               |

`values` stand in every part but those of `one of`, `hash`, `kept` and `any`.

A file of a suite holds several cases, `[[case]]` with `[[case.calls]]`. Those that share a module name it, `uses =
"name"` for `module`, and `[modules]` has the text by the name.
"""

import hashlib
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Final, cast

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_FILE
from refmlc.diag.versions import FileFormat
from refmlc.lang.ir import IRModule
from refmlc.lang.wellformed.reader_checks import read
from refmlc.oracle.evidence.literals import arguments_of
from refmlc.oracle.toml_text import Data, toml_value

FORMAT = FileFormat("case")
LARGEST_CASE: Final = 1 << 29  # bytes of a file, which holds numbers of tensors in base64
KINDS = ("return", "undefined", "trap", "reject", "open")
RULES = ("exact", "one of", "ulp", "certified", "kept", "hash", "any")


@dataclass(frozen=True)
class CaseCall:
    """The arguments and the expected result of a call, as data."""

    args: tuple[Data, ...]
    assertion: Mapping[str, Data] = field(default_factory=lambda: {"kind": "open"})


@dataclass(frozen=True)
class CaseFile:
    """The content of a file. It is a program of the oracle (`refmlc.oracle.reference`)."""

    id: str
    clauses: tuple[str, ...]
    features: tuple[str, ...]
    dialect: str
    provenance: str
    implementation: str
    text: str
    func: str
    calls: tuple[CaseCall, ...]
    file: str = field(default="", compare=False)
    line: int = field(default=0, compare=False)
    as_written: bool = False
    allow: tuple[str, ...] = ()
    orders: int = 1

    @cached_property
    def module(self) -> IRModule:
        """The module of the text, not checked: a case may be ill-formed. Fails: RM1xx."""
        return _module(self.text)

    @property
    def name(self) -> str:
        return self.id

    @property
    def code(self) -> str:
        """The code of the finding that the case records, as its id says; the start of another id."""
        return self.id.partition("-")[0].upper()

    @property
    def place(self) -> str:
        """File, line and id, for messages."""
        return placed(self.file, self.line, self.id) if self.file else f"`{self.id}`"

    def arguments(self, number: int = 0) -> list[object]:
        """Fresh arguments of call `number`. Fails: RM109."""
        return arguments_of(self.calls[number].args)

    def toml(self, *, table: str = "", uses: str = "") -> str:
        """The file; as an element of the array `table`, where one is named, and `uses` a shared module."""
        head: dict[str, Data] = {
            "id": self.id,
            **({} if table else {"format": FORMAT.version}),
            "clauses": list(self.clauses),
            "features": list(self.features),
            "dialect": self.dialect,
            "provenance": self.provenance,
            **({"implementation": self.implementation} if self.implementation or not table else {}),
            "func": self.func,
            **({"as_written": True} if self.as_written else {}),
            **({"allow": list(self.allow)} if self.allow else {}),
            **({"orders": self.orders} if self.orders > 1 else {}),
            **({"uses": uses} if uses else {"module": self.text}),
        }
        prefix = f"{table}." if table else ""
        lines = [f"[[{table}]]"] if table else []
        lines += [f"{key} = {toml_value(value)}" for key, value in head.items()]
        for call in self.calls:
            lines += ["", f"[[{prefix}calls]]", *_listed("args", call.args), "", f"[{prefix}calls.assert]"]
            for key, value in call.assertion.items():
                lines += _listed(key, value) if isinstance(value, list) else [f"{key} = {toml_value(value)}"]
        return "\n".join(lines) + "\n"


@lru_cache(maxsize=8)
def _module(text: str) -> IRModule:
    """The module of a text: cases that share one stand next to each other."""
    return read(text, "case.py", check=False)


def _listed(key: str, items: Sequence[Data]) -> list[str]:
    """A list with one item per line."""
    if not items:
        return [f"{key} = []"]
    return [f"{key} = [", *(f"  {toml_value(item, nested=True)}," for item in items), "]"]


def identified(func: str, text: str, calls: Sequence[CaseCall], prefix: str) -> str:
    """An id that follows from the program and its arguments."""
    digest = hashlib.sha256()
    for part in (func, text, *(toml_value(list(call.args), nested=True) for call in calls)):
        digest.update(part.encode() + b"\0")
    return f"{prefix}-{digest.hexdigest()[:12]}"


def read_case(text: str, name: str = "<case>") -> CaseFile:
    """The case that `text` holds. Fails: RM109 where it is none, or of a format that is not read."""
    table = toml_tables(text, name)
    FORMAT.require(table, name)
    return _case(table, {}, _Places(name, text))


def read_cases(text: str, name: str = "<cases>") -> tuple[CaseFile, ...]:
    """The cases of a file of a suite, in order. Fails: RM109 where it holds anything else, or none."""
    match toml_tables(text, name):
        case {"case": [*cases], **rest} if cases and rest.keys() <= {"modules"}:
            modules = rest.get("modules", {})
            if isinstance(modules, dict) and all(isinstance(each, str) for each in modules.values()):
                places = _Places(name, text)
                return tuple(_case(case, modules, places) for case in cases)
    raise fail(
        BAD_FILE, f"`{name}` has no cases: a case file has tables `[[case]]`, and `[modules]` with texts by name"
    )


def toml_tables(text: str, name: str) -> dict[str, object]:
    """The tables of a TOML text. Fails: RM109 where it is none, or has an integer of too many digits."""
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as problem:
        raise fail(BAD_FILE, f"`{name}` is not TOML: {problem}") from None


class _Places:
    """Where the cases of a file stand."""

    def __init__(self, name: str, text: str) -> None:
        self._name = name
        self._lines: dict[str, int] = {}
        for number, line in enumerate(text.split("\n"), 1):
            if line.startswith("id"):
                self._lines.setdefault(line.partition("=")[2].strip().strip("\"'"), number)

    def __getitem__(self, identity: object) -> tuple[str, int]:
        """The file, and the line of a case by its id; 0: it has none."""
        return self._name, self._lines.get(identity, 0) if isinstance(identity, str) else 0


def placed(file: str, line: int, identity: object) -> str:
    """Where a case stands."""
    return ", ".join([f"`{file}`", *([f"line {line}"] if line else []), *([f"`{identity}`"] if identity else [])])


def _case(data: object, modules: Mapping[str, str], places: _Places) -> CaseFile:
    table = data if isinstance(data, dict) else {}
    file, line = places[table.get("id")]
    place = placed(file, line, table.get("id"))
    if "uses" in table and "module" not in table:
        table = {**table, "module": modules.get(str(table["uses"]))}
    match table:
        case {"id": str(identity), "module": str(module), "func": str(func), "calls": [*calls]} if calls:
            return CaseFile(
                identity,
                _names(table, "clauses", place),
                _names(table, "features", place),
                _word(table, "dialect", place) or "0.27",
                _word(table, "provenance", place),
                _word(table, "implementation", place),
                module,
                func,
                tuple(_call(call, place) for call in calls),
                file,
                line,
                table.get("as_written") is True,
                _names(table, "allow", place),
                _count(table, "orders", place),
            )
    raise fail(BAD_FILE, f"{place} is not a case: it needs `id`, `module`, `func` and `calls`")


def _names(data: Mapping[str, object], key: str, place: str) -> tuple[str, ...]:
    names = data.get(key, [])
    if not isinstance(names, list) or not all(isinstance(each, str) for each in names):
        raise fail(BAD_FILE, f"{place}: `{key}` is not a list of strings")
    return tuple(names)


def _count(data: Mapping[str, object], key: str, place: str) -> int:
    count = data.get(key, 1)
    if not isinstance(count, int) or isinstance(count, bool) or count < 1:
        raise fail(BAD_FILE, f"{place}: `{key}` is not a positive integer")
    return count


def _word(data: Mapping[str, object], key: str, place: str) -> str:
    word = data.get(key, "")
    if not isinstance(word, str):
        raise fail(BAD_FILE, f"{place}: `{key}` is not a string")
    return word


def _parts(data: object) -> list[dict[str, object]]:
    return [part for part in data if isinstance(part, dict)] if isinstance(data, list) else []


def _call(data: object, place: str) -> CaseCall:
    match data:
        case {"args": list(args), "assert": {"kind": str(kind), **rest} as assertion}:
            rules = [part.get("rule", "exact") for part in _parts(rest.get("parts"))]
            strange = next((word for word in rules if word not in RULES), None) if kind in KINDS else kind
            if strange is not None:
                raise fail(BAD_FILE, f"{place} is not a case: `{strange}` is not a kind of assertion")
            return CaseCall(tuple(args), cast("dict[str, Data]", assertion))
        case {"args": list(), "assert": _}:
            raise fail(BAD_FILE, f"{place}: the `assert` of a call has no `kind`")
        case {"args": list(args)}:
            return CaseCall(tuple(args))
    raise fail(BAD_FILE, f"{place} is not a case: a call has no `args`")
