"""Refusals and failures of an implementation that are on record for its version: `conformance/known`.

A row explains a refusal where both hold:

| what                                            | of the row                                               |
|-------------------------------------------------|----------------------------------------------------------|
| the message, but for numbers and names          | is one of `messages`                                     |
| the operators and dtypes of the program         | are at least those of `parts`, which all its witnesses have |

Decision: a message alone explains nothing: another fault may end in the same check.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path

from refmlc.lang.dtypes import DType
from refmlc.lang.ir import IRModule, relax, tir
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.visit import walk
from refmlc.oracle.implementations.implementation import Stopped
from refmlc.oracle.reasons import normalised


@dataclass(frozen=True)
class KnownRefusal:
    """A row, as far as refusals are concerned."""

    id: str
    messages: frozenset[str]
    parts: frozenset[str]

    def explains(self, message: str, module: IRModule) -> bool:
        """Whether the refusal of `module` with `message` is this one."""
        return normalised(message) in self.messages and self.parts <= parts_of(module)


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
    with as_file(files("refmlc.oracle.suite") / "data" / "known") as folder:
        path = file_for(name, version, folder)
        rows = [] if path is None else tomllib.loads(path.read_text(encoding="utf-8")).get("deviation", [])
    return tuple(
        KnownRefusal(str(row["id"]), frozenset(row["messages"]), frozenset(row.get("parts", ())))
        for row in rows
        if "messages" in row and version in row.get("versions", [version])
    )


def known_row(says: Mapping[str, object], answer: Stopped, module: IRModule) -> str:
    """The id of the row that explains a refusal; empty: none. `says`: how the implementation introduces itself."""
    words = str(says.get("name", "")).split()
    version = str(says.get("version", "") or (words[1] if len(words) > 1 else ""))
    if not words or not version:
        return ""
    rows = known_refusals(words[0], version)
    return next((row.id for row in rows if row.explains(answer.message, module)), "")
