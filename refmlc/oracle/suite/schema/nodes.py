"""The kinds of nodes as definitions, from the declarations in `refmlc/lang/ir`.

| a field is declared              | its schema                                                |
|----------------------------------|-----------------------------------------------------------|
| a kind of node                   | the definition of the kind; of a shared one a `ref` too   |
| `Expr`, `Stmt`, `Attr` …         | a definition by the name of the alias, such as `tir.Expr` |
| `Node`                           | any kind                                                  |
| `tuple[X, ...]`, `Mapping[K, V]` | a list; `map` with pairs                                  |
| everything else                  | as the table of `refmlc.lang.ir.tree` says                |
"""

import ast
from collections.abc import Mapping
from dataclasses import fields
from enum import Enum
from types import NoneType, UnionType
from typing import ForwardRef, Union, get_args, get_origin

import numpy as np

from refmlc.lang.dtypes import DType
from refmlc.lang.ir import tir
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.tree import KINDS, MODULES, SHARED, Json, kept_fields
from refmlc.oracle.suite.schema.values import any_of, listed, record, ref

PLAIN: Mapping[object, Json] = {
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: any_of({"type": "integer"}, ref("int")),
    float: ref("float"),
    NoneType: {"type": "null"},
    DType: ref("dtype"),
    np.ndarray: ref("array"),
}
BASE: Mapping[str, Json] = {
    "int": record({"int": {"type": "string", "pattern": "^-?[0-9]+$"}}),
    "float": record({"float": {"type": "string", "pattern": "^(-?0x[01](\\.[0-9a-f]+)?p[+-][0-9]+|nan|inf|-inf)$"}}),
    "dtype": record({"dtype": {"type": "string"}}),
    "ref": record({"ref": {"type": "integer", "minimum": 0}}),
    "array": record(
        {
            "array": record(
                {
                    "dtype": {"type": "string"},
                    "shape": listed({"type": "integer", "minimum": 0}),
                    "base64": {"type": "string", "contentEncoding": "base64"},
                }
            )
        }
    ),
}


def node_definitions() -> dict[str, Json]:
    """Every kind, every alias, and what values are built of."""
    definitions = _Definitions()
    for name, kind in KINDS.items():
        definitions.table[name] = definitions.kind(name, kind)
    return {**BASE, **dict(sorted(definitions.table.items()))}


class _Definitions:
    """Aliases are defined when they are met first."""

    def __init__(self) -> None:
        self.table: dict[str, Json] = {}

    def kind(self, name: str, kind: type) -> Json:
        """A kind: `is`, and its fields; shared ones have an `id`."""
        home = name.partition(".")[0]
        types = {field_name.name: field_name.type for field_name in fields(kind)}
        declared: dict[str, Json] = {"is": {"const": name}}
        if issubclass(kind, SHARED):
            declared["id"] = {"type": "integer", "minimum": 0}
        return record(
            {**declared, **{field_name: self.of(types[field_name], home) for field_name in kept_fields(kind)}}
        )

    def of(self, declared: object, home: str) -> Json:
        """The schema of a declared type, the names in which are those of module `home`."""
        if declared == tir.Attr:  # the only alias that is a text
            return self._named("Attr", "tir")
        if isinstance(declared, str):
            return self._text(ast.parse(declared.strip(), mode="eval").body, home)
        if isinstance(declared, ForwardRef):
            return self.of(declared.__forward_arg__, home)
        if declared is None or (isinstance(declared, type) and get_origin(declared) is None):
            return self._class(NoneType if declared is None else declared)
        origin, inner = get_origin(declared), get_args(declared)
        if origin is tuple:
            return listed(self.of(inner[0], home))
        if origin is Mapping or (isinstance(origin, type) and issubclass(origin, Mapping)):
            return self._map(self.of(inner[0], home), self.of(inner[1], home))
        if origin in (Union, UnionType):
            return any_of(*(self.of(part, home) for part in inner))
        raise TypeError(f"{declared!r} has no schema")

    def _class(self, kind: type) -> Json:
        if kind in PLAIN:
            return PLAIN[kind]
        if issubclass(kind, Enum):
            return record({"enum": {"enum": [f"{kind.__name__}.{member.value}" for member in kind]}})
        if kind is Node:
            self.table["Node"] = any_of(*(ref(name) for name in KINDS), ref("ref"))
            return ref("Node")
        name = next(name for name, candidate in KINDS.items() if candidate is kind)
        return any_of(ref(name), ref("ref")) if issubclass(kind, SHARED) else ref(name)

    def _map(self, key: Json, value: Json) -> Json:
        pair: Json = {"type": "array", "prefixItems": [key, value], "minItems": 2, "maxItems": 2}
        return record({"map": listed(pair)})

    def _text(self, node: ast.expr, home: str) -> Json:
        """The schema of a type that is written as text: names, `X | Y`, `tuple[X, ...]`, `Mapping[K, V]`."""
        match node:
            case ast.BinOp(left=left_operand, right=right):
                return any_of(self._text(left_operand, home), self._text(right, home))
            case ast.Constant(value=None):
                return PLAIN[NoneType]
            case ast.Constant(value=str(text)):
                return self.of(text, home)
            case ast.Attribute(value=ast.Name(id=other), attr=name):
                return self._named(name, other)
            case ast.Name(id=name):
                return self._named(name, home)
            case ast.Subscript(value=ast.Name(id="tuple"), slice=ast.Tuple(elts=[inner, *_])):
                return listed(self._text(inner, home))
            case ast.Subscript(value=ast.Name(id="Mapping"), slice=ast.Tuple(elts=[key, value])):
                return self._map(self._text(key, home), self._text(value, home))
            case _:
                raise TypeError(f"{ast.unparse(node)} has no schema")

    def _named(self, name: str, home: str) -> Json:
        builtin = {"str": str, "int": int, "bool": bool, "float": float}
        namespace = {**vars(tir), **vars(MODULES[home])}  # `attrs` imports names of `tir` for the type checker only
        target: object = builtin[name] if name in builtin else namespace[name]
        if isinstance(target, type) and get_origin(target) is None:
            return self._class(target)
        alias = next(f"{stem}.{name}" for stem in MODULES if vars(MODULES[stem]).get(name) is target)
        if alias not in self.table:
            self.table[alias] = {}  # it may hold itself
            home_of_alias = alias.partition(".")[0]
            text = ast.parse(target, mode="eval").body if isinstance(target, str) else None
            self.table[alias] = self.of(target, home_of_alias) if text is None else self._text(text, home_of_alias)
        return ref(alias)
