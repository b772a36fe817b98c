"""Refusals and failures of an implementation that are on record for its version: `conformance/known`.

A row explains a refusal where both hold; `explained` says which explain a wrong result:

| what                                            | of the row                                               |
|-------------------------------------------------|----------------------------------------------------------|
| the message, but for numbers and names          | is one of `messages`                                     |
| the operators and dtypes of the program         | are at least those of `parts`, which all its witnesses have |

Decision: a message alone explains nothing: another fault may end in the same check.
"""

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path
from typing import cast

from refmlc.lang.dtypes import DType
from refmlc.lang.ir import IRModule, relax, tir
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.visit import walk
from refmlc.oracle.implementations.implementation import Stopped
from refmlc.oracle.reasons import normalised

DECIDED = "decided here"
"""The kind of a row where TVM's documentation says nothing, or both: nobody is wrong."""


@dataclass(frozen=True)
class KnownRefusal:
    """A row, as far as refusals are concerned."""

    id: str
    messages: frozenset[str]
    parts: frozenset[str]

    def explains(self, message: str, module: IRModule) -> bool:
        """Whether the refusal of `module` with `message` is this one."""
        return normalised(message) in self.messages and self.parts <= parts_of(module)


@dataclass(frozen=True)
class KnownRow:
    """A row, as far as results are concerned. `takes`: each an expression, what it is taken for, and a dtype.

    `operator` with operands that hold `operand`, `nan` or `inf`, has another result. `decided`: it is decided here.
    """

    id: str
    title: str
    decided: bool = False
    takes: tuple[tuple[str, str, str], ...] = ()
    operator: str = ""
    operand: str = ""


def parts_of(module: IRModule) -> frozenset[str]:
    """The operators and dtypes that occur in a module."""
    nodes = [node for function in module.functions.values() for node in walk(function)]
    dtypes = (getattr(node, "dtype", None) for node in nodes)
    names = {str(dtype) for dtype in dtypes if isinstance(dtype, DType)}
    return frozenset({*filter(None, map(operator_of, nodes)), *names})


def operator_of(node: Node) -> str:
    """The operator, intrinsic or operator of a graph that a node is; empty: it is none."""
    match node:
        case tir.Apply(op=name) | tir.Call(callee=str(name)) | relax.Op(name=name):
            return name
        case tir.Cast():
            return "cast"
    return ""


def file_for(name: str, version: str, folder: Path) -> Path | None:
    """The file of recorded deviations in `folder` that fits this implementation best; 0.2 does not match 0.27."""
    base = name.partition(":")[0]
    fitting = [path for path in folder.glob("*.toml") if _fits(path.stem, base, version)]
    return max(fitting, key=lambda path: len(path.stem), default=None)


def _fits(stem: str, base: str, version: str) -> bool:
    required_name, dash, number = stem.partition("-")
    return required_name == base and (not dash or f"{version}.".startswith(f"{number}."))


@cache
def known_refusals(name: str, version: str) -> tuple[KnownRefusal, ...]:
    """The rows of an implementation's file that explain refusals of this version. Fails: RM109."""
    return tuple(
        KnownRefusal(str(row["id"]), _texts(row["messages"]), _texts(row.get("parts", ())))
        for row in _tables(name, version)
        if "messages" in row
    )


@cache
def known_results(name: str, version: str) -> tuple[KnownRow, ...]:
    """The rows of an implementation's file that explain results of this version. Fails: RM109."""
    return tuple(
        KnownRow(
            str(row["id"]),
            str(row["title"]),
            row["kind"] == DECIDED,
            tuple((each["expression"], each["as"], each["of"]) for each in _pairs(row.get("takes", ()))),
            str(row.get("operator", "")),
            str(row.get("operand", "")),
        )
        for row in _tables(name, version)
        if "takes" in row or "operator" in row
    )


def _texts(value: object) -> frozenset[str]:
    return frozenset(cast("Iterable[str]", value))


def _pairs(value: object) -> Iterable[Mapping[str, str]]:
    return cast("Iterable[Mapping[str, str]]", value)


def _tables(name: str, version: str) -> list[dict[str, object]]:
    """The rows of an implementation's file, and of the one that it names with `also`, that hold for this version."""
    with as_file(files("refmlc.oracle.suite") / "data" / "known") as folder:
        path, rows = file_for(name, version, folder), list[dict[str, object]]()
        while path is not None:
            table = tomllib.loads(path.read_text(encoding="utf-8"))
            rows += [row for row in table.get("deviation", []) if version in row.get("versions", [version])]
            path = folder / table["also"] if "also" in table else None
    return rows


def known_row(says: Mapping[str, object], answer: Stopped, module: IRModule) -> str:
    """The id of the row that explains a refusal; empty: none. `says`: how the implementation introduces itself."""
    name, version = _introduced(says)
    rows = known_refusals(name, version) if name and version else ()
    return next((row.id for row in rows if row.explains(answer.message, module)), "")


def known_rows(says: Mapping[str, object]) -> tuple[KnownRow, ...]:
    """The rows that may explain results of an implementation that introduces itself so."""
    name, version = _introduced(says)
    return known_results(name, version) if name and version else ()


def _introduced(says: Mapping[str, object]) -> tuple[str, str]:
    """The name and the version of an implementation; empty where it does not say them."""
    words = str(says.get("name", "")).split()
    version = str(says.get("version", "") or (words[1] if len(words) > 1 else ""))
    return (words[0] if words else "", version)
