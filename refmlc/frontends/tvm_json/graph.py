"""The JSON graph: `nodes`, each with a `type` and `data`; `root_index` is the one that was saved.

| in `data`                | is                                                                             |
|--------------------------|--------------------------------------------------------------------------------|
| of an object             | its fields: the number of a node, or the value itself where the field is plain |
| of `ffi.Array`           | numbers of nodes                                                               |
| of `ffi.Map`             | numbers of nodes, keys and values in turn                                      |
| of `int`, `ffi.String` … | the value                                                                      |
| of `ffi.Tensor`          | the array in base64, as in the metadata of a text                              |
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from refmlc.diag import RefmlcError, fail
from refmlc.diag.catalogue import BAD_FILE, UNSUPPORTED_CONSTRUCT
from refmlc.lang.dtypes import VOID, DType, dtype

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"


@dataclass(frozen=True)
class Item:
    """A node of the graph. Fields are read by name: `item.node("body")`, `item.integer("kind")`."""

    number: int
    kind: str
    data: Json
    graph: "Graph" = field(repr=False)

    def node(self, name: str) -> "Item":
        """The node that a field refers to. Fails: RM109 where there is none."""
        return self.graph.at(self.integer(name))

    def optional(self, name: str) -> "Item | None":
        """The same; None for TVM's None, and for a field that this version has not."""
        if name not in self.fields:
            return None
        result = self.node(name)
        return None if result.kind == "None" else result

    def items(self, name: str = "") -> "list[Item]":
        """The nodes of an array, of a field or of the node itself; none for None."""
        result = self.node(name) if name else self
        if result.kind == "None":
            return []
        if result.kind != "ffi.Array" or not isinstance(result.data, list):
            raise result.broken("a list")
        return [self.graph.at(item) for item in result.data]

    def pairs(self) -> "list[tuple[Item, Item]]":
        """The entries of a map."""
        if self.kind != "ffi.Map" or not isinstance(self.data, list) or len(self.data) % 2:
            raise self.broken("a map")
        return [(self.graph.at(a), self.graph.at(b)) for a, b in zip(self.data[::2], self.data[1::2], strict=True)]

    @property
    def fields(self) -> "Mapping[str, Json]":
        """The fields. Fails: RM109 if it is not an object."""
        if not isinstance(self.data, dict):
            raise self.broken("an object")
        return self.data

    def integer(self, name: str) -> int:
        """A plain number. Fails: RM109."""
        result = self.fields.get(name)
        if not isinstance(result, int):
            raise self.broken(f"a number `{name}`")
        return result

    def flag(self, name: str) -> bool:
        """A plain truth value. Fails: RM109."""
        return bool(self.integer(name))

    def dtype(self, name: str = "") -> DType:
        """A dtype by its name; none is void. Fails: RM109."""
        text = self.text(name)
        try:
            return VOID if text in ("", "void") else dtype(text)
        except KeyError:
            raise self.broken("a dtype") from None

    def held(self, name: str) -> int:
        """A number in a separate node, as of a constant. Fails: RM109."""
        result = self.node(name)
        if result.kind not in ("int", "bool") or not isinstance(result.data, int):
            raise result.broken("a whole number")
        return int(result.data)

    def number_of(self, name: str) -> float:
        """A plain number, with a fraction perhaps; infinities and NaN are strings."""
        result = self.fields.get(name)
        return float(result) if isinstance(result, int | float | str) else self.integer(name)

    def text(self, name: str = "") -> str:
        """A string: a plain field, or the node that it refers to, or the node itself."""
        if name and isinstance(self.fields.get(name), str):
            return str(self.fields[name])
        result = self.node(name) if name else self
        if result.kind == "None":
            return ""
        if not isinstance(result.data, str):
            raise result.broken("a string")
        return result.data

    def broken(self, target: str) -> RefmlcError:
        """The message that the graph is not as TVM writes it."""
        return fail(BAD_FILE, f"node {self.number} (`{self.kind}`) of the JSON graph: {target} is needed")

    def unknown(self, what: str = "") -> RefmlcError:
        """The message that refmlc has no word for it."""
        return fail(UNSUPPORTED_CONSTRUCT, f"`{self.kind}`{what} of TVM's JSON is not supported (node {self.number})")


class Graph:
    """The nodes."""

    def __init__(self, nodes: "list[Json]") -> None:
        self._nodes = nodes
        self._reached: Item | None = None

    def at(self, number: "Json") -> Item:
        """A node by its number. Fails: RM109."""
        if not isinstance(number, int) or not 0 <= number < len(self._nodes):
            raise fail(BAD_FILE, f"the JSON graph has no node {number!r}")
        item = self._nodes[number]
        if not isinstance(item, dict) or not isinstance(item.get("type"), str):
            raise fail(BAD_FILE, f"node {number} of the JSON graph has no type")
        self._reached = Item(number, str(item["type"]), item.get("data"), self)
        return self._reached

    def place(self) -> str:
        """The node that reading got to."""
        at = self._reached
        return "the JSON graph" if at is None else f"node {at.number} (`{at.kind}`) of the JSON graph"


def read_graph(text: str) -> tuple[Item, str]:
    """The root of a graph, and the version of TVM that wrote it. Fails: RM109 for a text that is none."""
    try:
        result = json.loads(text)
    except (ValueError, RecursionError) as bad:
        raise fail(BAD_FILE, f"this is not JSON: {bad}") from None
    if not isinstance(result, dict) or not isinstance(result.get("nodes"), list) or "root_index" not in result:
        raise fail(BAD_FILE, "this is not a graph of `tvm.ir.save_json` of TVM 0.20 or later")
    meta = result.get("metadata")
    version = meta.get("tvm_version", "") if isinstance(meta, dict) else ""
    return Graph(result["nodes"]).at(result["root_index"]), str(version)
