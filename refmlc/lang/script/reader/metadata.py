"""The metadata body of a text: `metadata = tvm.ir.load_json("…")`, a graph of objects in JSON.

| generation | the root                | a map's `data`                       | a constant's array                    |
|------------|-------------------------|--------------------------------------|---------------------------------------|
| up to 0.20 | node number `root`      | node numbers; the keys are in `keys` | `attrs.data`: number in `b64ndarrays` |
| from 0.21  | node number `root_index` | node numbers: key, value, key, …    | a tensor node: `data` or `value`      |

What is neither a constant nor a string is kept as None: a text may use such an entry in an attribute, where the
reference to it stays (`MetadataRef`).
"""

import json
from collections.abc import Callable, Mapping
from typing import TypeAlias

from refmlc.diag import RefmlcError, Span, fail
from refmlc.diag.catalogue import BAD_METADATA
from refmlc.lang.ir import relax, tir
from refmlc.lang.script import blob

Entry: TypeAlias = relax.Constant | tir.StringImm | str | None
Entries: TypeAlias = Mapping[str, tuple[Entry, ...]]
Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"

_CONSTANT_FIELDS = ("data", "value")


def read_metadata(text: str, span: Span | None) -> Entries:
    """The entries of a metadata body by key. Fails with RM113, RM503."""
    try:
        graph: Json = json.loads(text)
    except (ValueError, RecursionError) as bad:
        raise fail(BAD_METADATA, f"the metadata is not JSON: {bad}", span) from None
    if not isinstance(graph, dict):
        raise fail(BAD_METADATA, "the metadata is not a JSON object", span)
    reader = _Graph(graph, span)
    return reader.current() if "root_index" in graph else reader.former()


def shown_metadata(constants: Mapping[str, tuple[relax.Constant, ...]]) -> str:
    """A body that holds `constants`, in the form up to 0.20, which every generation's `load_json` wrote."""
    nodes: list[Json] = [{"type_key": ""}, {"type_key": "Map", "keys": list(constants), "data": []}]
    arrays: list[Json] = []
    members: list[Json] = []
    for key, entries in constants.items():
        members.append(len(nodes))
        own = len(nodes)
        nodes.append({"type_key": "Array", "data": [own + 1 + i for i in range(len(entries))]})
        for entry in entries:
            nodes.append({"type_key": key, "attrs": {"data": str(len(arrays)), "span": "0"}})
            arrays.append(blob.encode(entry.data, entry.dtype))
    nodes[1] = {"type_key": "Map", "keys": list(constants), "data": members}
    return json.dumps({"root": 1, "nodes": nodes, "b64ndarrays": arrays, "attrs": {}}, indent=2)


class _Graph:
    """One graph, with checks on everything that is taken from it."""

    def __init__(self, graph: dict[str, Json], span: Span | None) -> None:
        self.span = span
        self.graph = graph
        nodes = graph.get("nodes")
        self.nodes = nodes if isinstance(nodes, list) else []

    def former(self) -> Entries:
        root = self.node(self.graph.get("root"))
        keys, members = self.list_in(root, "keys"), self.list_in(root, "data")
        if len(keys) != len(members):
            raise self.broken(f"a map of {len(keys)} keys has {len(members)} values")
        return {str(key): self.entries(member, self.former_constant) for key, member in zip(keys, members, strict=True)}

    def current(self) -> Entries:
        pairs = self.list_in(self.node(self.graph["root_index"]), "data")
        result: dict[str, tuple[Entry, ...]] = {}
        for key, member in zip(pairs[::2], pairs[1::2], strict=False):
            name = self.node(key).get("data")
            result[str(name)] = self.entries(member, self.current_constant)
        return result

    def entries(self, member: Json, constant: Callable[[dict[str, Json]], Entry]) -> tuple[Entry, ...]:
        return tuple(constant(self.node(entry)) for entry in self.list_in(self.node(member), "data"))

    def former_constant(self, node: dict[str, Json]) -> Entry:
        attrs = node.get("attrs")
        if node.get("type_key") == "tir.StringImm" and isinstance(attrs, dict):
            return self.string(attrs.get("value"))
        if not str(node.get("type_key")).endswith("Constant") or not isinstance(attrs, dict):
            return None
        arrays = self.list_in(self.graph, "b64ndarrays")
        return self.constant(self.item(arrays, attrs.get("data"), "b64ndarrays"))

    def current_constant(self, node: dict[str, Json]) -> Entry:
        fields = node.get("data")
        if node.get("type") == "ffi.String" and isinstance(fields, str):
            return fields
        if node.get("type") == "ir.StringImm" and isinstance(fields, dict):
            return self.string(self.node(fields.get("value")).get("data"))
        if not str(node.get("type")).endswith(("Constant", "GenericConst")) or not isinstance(fields, dict):
            return None
        number = next((fields[name] for name in _CONSTANT_FIELDS if name in fields), None)
        return self.constant(self.node(number).get("data"))

    def string(self, data: Json) -> tir.StringImm:
        if not isinstance(data, str):
            raise self.broken("a string has no text")
        return tir.StringImm(data, span=self.span)

    def constant(self, data: Json) -> relax.Constant:
        if not isinstance(data, str):
            raise self.broken("a constant has no array")
        array, element = blob.decode(data, self.span)
        return relax.Constant(array, element, span=self.span)

    def node(self, number: Json) -> dict[str, Json]:
        node = self.item(self.nodes, number, "nodes")
        if not isinstance(node, dict):
            raise self.broken(f"node {number!r} is not an object")
        return node

    def item(self, items: list[Json], number: Json, where: str) -> Json:
        """Item `number` of a list; older bodies write numbers as strings."""
        text = str(number)
        if not text.isdecimal() or len(text) > 9 or int(text) >= len(items):
            raise self.broken(f"`{where}` has no item {text[:40]}")
        return items[int(text)]

    def list_in(self, node: dict[str, Json], key: str) -> list[Json]:
        result = node.get(key)
        if not isinstance(result, list):
            raise self.broken(f"`{key}` is not a list")
        return result

    def broken(self, what: str) -> RefmlcError:
        return fail(BAD_METADATA, f"in the metadata, {what}", self.span)
