"""The IR as JSON: one scheme for every kind of node, so that nobody needs a reader of TVMScript.

| value                         | JSON                                                                               |
|-------------------------------|------------------------------------------------------------------------------------|
| node                          | `{"is": "tir.For", …}`: the kind, then every field by its name, but places in text |
| variable, buffer              | the same with `"id": 3` where it comes first, `{"ref": 3}` where it comes again    |
| tuple of the IR               | list                                                                               |
| mapping                       | `{"map": [[key, value], …]}`, in order                                             |
| none, bool, string            | itself                                                                             |
| integer                       | itself; beyond 2**53 `{"int": "9007199254740993"}`                                 |
| float                         | `{"float": "0x1.8p+1"}`, C99 hexadecimal; `nan`, `inf`, `-inf`                     |
| dtype                         | `{"dtype": "float32x4"}`                                                           |
| member of a closed set        | `{"enum": "ForKind.serial"}`                                                       |
| elements of a tensor constant | `{"array": {"dtype": "float32", "shape": [2], "base64": "…"}}`, row-major,         |
|                               | little-endian                                                                      |

The kinds and their fields are those of `refmlc/lang/ir`: `tir`, `tirx`, `relax`, `types`, `module`, `attrs`, `kinds`.
No field can be called `is`. A variable may come first where it is used: what counts is that it is the same one.
"""

import base64
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from enum import Enum
from types import ModuleType
from typing import TypeAlias, cast

import numpy as np

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_FILE
from refmlc.lang.dtypes import DType, dtype
from refmlc.lang.dtypes.storage import dtype_of, storage_dtype
from refmlc.lang.ir import attrs, kinds, module, relax, tir, tirx, types
from refmlc.lang.ir.kinds import ForKind, IterKind, Layout
from refmlc.lang.ir.module import IRModule

Json: TypeAlias = "dict[str, Json] | list[Json] | str | int | float | bool | None"

MODULES: Mapping[str, ModuleType] = {
    item.__name__.rpartition(".")[2]: item for item in (tir, tirx, relax, types, module, attrs, kinds)
}
KINDS: Mapping[str, type] = {
    f"{stem}.{name}": kind
    for stem, home in MODULES.items()
    for name, kind in vars(home).items()
    if isinstance(kind, type) and is_dataclass(kind) and kind.__module__ == home.__name__
}
NAMES = {kind: name for name, kind in KINDS.items()}
ENUMS: Mapping[str, type[Enum]] = {"ForKind": ForKind, "IterKind": IterKind, "Layout": Layout}
SHARED = (tir.Var, tir.Buffer, relax.Var)
LEFT_OUT: Mapping[type, tuple[str, ...]] = {IRModule: ("span", "source")}
EXACT = 1 << 53


def tree_of(node: IRModule) -> dict[str, Json]:
    """The tree of a module. Fails: RM109 where it is nested too deeply."""
    try:
        return cast("dict[str, Json]", _Writer().value(node))
    except RecursionError:
        raise fail(BAD_FILE, "the module is nested too deeply for a tree") from None


def module_of(tree: Json) -> IRModule:
    """The module of a tree. Fails: RM109 where it is none."""
    try:
        module = _Reader().value(tree)
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as problem:
        raise fail(BAD_FILE, f"this is not the tree of a module: {type(problem).__name__}: {problem}") from None
    if not isinstance(module, IRModule):
        raise fail(BAD_FILE, "this is not the tree of a module")
    return module


def kept_fields(kind: type) -> tuple[str, ...]:
    """The names of the fields of a kind that the tree has, in their order."""
    return tuple(member.name for member in fields(kind) if member.name not in LEFT_OUT.get(kind, ("span",)))


@dataclass
class _Writer:
    """`known`: the numbers of the objects that came before; they are kept alive by the module."""

    known: dict[int, int] = field(default_factory=dict)

    def value(self, value: object) -> Json:
        match value:
            case None | bool() | str():
                return value
            case int():
                return value if abs(value) < EXACT else {"int": str(value)}
            case float():
                return {"float": _hexadecimal(value)}
            case DType():
                return {"dtype": str(value)}
            case Enum():
                return {"enum": f"{type(value).__name__}.{value.value}"}
            case tuple() | list():
                return [self.value(item) for item in value]
            case Mapping():
                return {"map": [[self.value(key), self.value(item)] for key, item in value.items()]}
            case np.ndarray():
                return {"array": _array(value)}
            case _ if type(value) in NAMES:
                return self._node(value)
            case _:
                raise fail(BAD_FILE, f"a module has an object of type {type(value).__name__}, which a tree cannot have")

    def _node(self, node: object) -> Json:
        if id(node) in self.known:
            return {"ref": self.known[id(node)]}
        tree_node: dict[str, Json] = {"is": NAMES[type(node)]}
        if isinstance(node, SHARED):
            tree_node["id"] = self.known[id(node)] = len(self.known)
        for name in kept_fields(type(node)):
            tree_node[name] = self.value(getattr(node, name))
        return tree_node


def _hexadecimal(value: float) -> str:
    if math.isnan(value):
        return "nan"
    return value.hex() if math.isfinite(value) else str(value)


def _array(array: np.ndarray) -> dict[str, Json]:
    raw = np.ascontiguousarray(array)
    little = raw.astype(raw.dtype.newbyteorder("<"), copy=False).tobytes()
    shape: list[Json] = list(array.shape)
    return {"dtype": str(dtype_of(raw.dtype)), "shape": shape, "base64": base64.b64encode(little).decode()}


@dataclass
class _Reader:
    """`known`: the objects by their numbers."""

    known: dict[int, object] = field(default_factory=dict)

    def value(self, tree: Json) -> object:
        match tree:
            case None | bool() | str() | int():
                return tree
            case list():
                return tuple([self.value(item) for item in tree])
            case {"is": str(name)}:
                return self._node(name, cast("dict[str, Json]", tree))
            case {"ref": int(number)}:
                return self.known[number]
            case {"int": str(digits)}:
                return int(digits)
            case {"float": str(text)}:
                return float(text) if text in ("nan", "inf", "-inf") else float.fromhex(text)
            case {"dtype": str(name)}:
                return dtype(name)
            case {"enum": str(name)}:
                kind, _, member = name.partition(".")
                return ENUMS[kind](member)
            case {"map": list(pairs)}:
                return {self.value(key): self.value(item) for key, item in cast("list[list[Json]]", pairs)}
            case {"array": dict(data)}:
                return _elements(data)
            case _:
                raise ValueError(f"{str(tree)[:60]} is not a value")

    def _node(self, name: str, tree: dict[str, Json]) -> object:
        kind = KINDS[name]
        names = kept_fields(kind)
        shared = issubclass(kind, SHARED)
        extra = tree.keys() - {"is", *names, *(["id"] if shared else [])}
        if extra:
            raise ValueError(f"{name} has no field {min(extra)}")
        node = kind(**{member: self.value(tree[member]) for member in names})
        if shared:
            number = tree["id"]
            if not isinstance(number, int) or number in self.known:
                raise ValueError(f"the id {number} occurs twice")
            self.known[number] = node
        return node


def _elements(data: Mapping[str, Json]) -> np.ndarray:
    match data:
        case {"dtype": str(name), "shape": list(shape), "base64": str(text)}:
            stored = storage_dtype(dtype(name))
            raw = np.frombuffer(base64.b64decode(text, validate=True), stored.newbyteorder("<"))
            elements = raw.astype(stored).reshape([int(str(extent)) for extent in shape])
            elements.flags.writeable = False
            return elements
        case _:
            raise ValueError("an array has `dtype`, `shape` and `base64`")
