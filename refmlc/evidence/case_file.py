"""A case as a TOML file: a program verbatim, its calls, and what each must come to.

| key              | holds                                                                                    |
|------------------|------------------------------------------------------------------------------------------|
| `id`             | a name that follows from the content                                                     |
| `clauses`        | what decides                                                                             |
| `features`       | what an implementation must have to be asked                                             |
| `dialect`        | the generation of TVMScript                                                              |
| `provenance`     | where it comes from: who found it, in which implementation, with which code              |
| `implementation` | what is asked when the case is replayed, as `--impl` takes it                              |
| `module`, `func` | the text; the function that is called                                                    |
| `calls`          | tables: `args` (`literals`), and `assert`                                                 |

| `assert.kind` | and                                                                                             |
|---------------|-------------------------------------------------------------------------------------------------|
| `return`      | `parts`: a table for each result and written argument: `label`, a tensor or number, `rule`: `exact`, |
|               | or `certified` with `low`, `high` and, where they are permitted, `specials`                       |
| `undefined`   | `code` and `place` (`line:column` of the module)                                                 |
| `trap`        | the same                                                                                        |
| `open`        | nothing: recorded, never scored                                                                 |
"""

import hashlib
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import cast

from refmlc.check.reading import read
from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_FILE
from refmlc.evidence.literals import Data, arguments_of
from refmlc.evidence.toml import toml_value
from refmlc.ir import IRModule


@dataclass(frozen=True)
class Call:
    """The arguments of a call, and what it must come to, both as data."""

    args: tuple[Data, ...]
    assertion: Mapping[str, Data] = field(default_factory=lambda: {"kind": "open"})


@dataclass(frozen=True)
class CaseFile:
    """The content of a file. It is a program of the oracle (`refmlc.oracle.program`)."""

    id: str
    clauses: tuple[str, ...]
    features: tuple[str, ...]
    dialect: str
    provenance: str
    implementation: str
    text: str
    func: str
    calls: tuple[Call, ...]

    @cached_property
    def module(self) -> IRModule:
        """The module of the text, not checked: a case may be ill-formed. Fails: RM1xx."""
        return read(self.text, f"{self.id}.py", check=False)

    @property
    def name(self) -> str:
        """The id."""
        return self.id

    def arguments(self, number: int = 0) -> list[object]:
        """Fresh arguments of call `number`. Fails: RM109."""
        return arguments_of(self.calls[number].args)

    def toml(self) -> str:
        """The file."""
        head: dict[str, Data] = {
            "id": self.id,
            "clauses": list(self.clauses),
            "features": list(self.features),
            "dialect": self.dialect,
            "provenance": self.provenance,
            "implementation": self.implementation,
            "func": self.func,
            "module": self.text,
        }
        lines = [f"{key} = {toml_value(value)}" for key, value in head.items()]
        for call in self.calls:
            lines += ["", "[[calls]]", *_listed("args", call.args), "", "[calls.assert]"]
            for key, value in call.assertion.items():
                lines += _listed(key, value) if isinstance(value, list) else [f"{key} = {toml_value(value)}"]
        return "\n".join(lines) + "\n"


def _listed(key: str, items: Sequence[Data]) -> list[str]:
    """A list with one item per line."""
    if not items:
        return [f"{key} = []"]
    return [f"{key} = [", *(f"  {toml_value(item, nested=True)}," for item in items), "]"]


def identified(func: str, text: str, calls: Sequence[Call], prefix: str) -> str:
    """An id that follows from the program and its arguments."""
    digest = hashlib.sha256()
    for part in (func, text, *(toml_value(list(call.args), nested=True) for call in calls)):
        digest.update(part.encode() + b"\0")
    return f"{prefix}-{digest.hexdigest()[:12]}"


def read_case(text: str, name: str = "<case>") -> CaseFile:
    """The case that `text` holds. Fails: RM109 where it is none."""
    try:
        data = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as problem:
        raise fail(BAD_FILE, f"`{name}` is no TOML: {problem}") from None
    match data:
        case {"id": str(identity), "module": str(module), "func": str(func), "calls": [*calls]} if calls:
            return CaseFile(
                identity,
                _names(data, "clauses"),
                _names(data, "features"),
                str(data.get("dialect", "0.27")),
                str(data.get("provenance", "")),
                str(data.get("implementation", "")),
                module,
                func,
                tuple(_call(call, name) for call in calls),
            )
    raise fail(BAD_FILE, f"`{name}` is no case: it has no `id`, `module`, `func` and `calls`")


def _names(data: Mapping[str, object], key: str) -> tuple[str, ...]:
    found = data.get(key, [])
    return tuple(map(str, found)) if isinstance(found, list) else ()


def _call(data: object, name: str) -> Call:
    match data:
        case {"args": list(args), "assert": {"kind": str(), **_rest} as assertion}:
            return Call(tuple(args), cast("dict[str, Data]", assertion))
        case {"args": list(args)}:
            return Call(tuple(args))
    raise fail(BAD_FILE, f"`{name}` is no case: a call has no `args`")
