"""The metadata body of a text: the tensors that its constants stand for, as TVM's JSON with base64 arrays.

0.27 holds a flat list of nodes: the map from keys to lists, its lists, the constants with their types and tensors
(TVM 0.27.0 reads them and cannot write them: it dies on the dtype of a type). Before, the arrays stood apart
(`refmlc.lang.script.reader.metadata.shown_metadata`).
"""

import json
from collections.abc import Sequence
from typing import TypeAlias

from refmlc.lang.ir import relax
from refmlc.lang.script import blob
from refmlc.lang.script.printer.graph_expressions import CONSTANT_KEYS
from refmlc.lang.script.printer.page import Page
from refmlc.lang.script.reader.metadata import shown_metadata

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"


def metadata_text(page: Page) -> str:
    """The statement that gives the metadata of a page."""
    key = CONSTANT_KEYS[page.dialect]
    body = _body(key, page.constants) if page.modern else shown_metadata({key: tuple(page.constants)})
    escaped = body.replace('"', '\\"')
    return f'metadata = tvm.ir.load_json("""{escaped}""")'


def _body(key: str, constants: Sequence[relax.Constant]) -> str:
    graph = _Graph()
    listed = graph.add("ffi.Array", [graph.constant(key, constant) for constant in constants])
    root = graph.add("ffi.Map", [graph.add("ffi.String", key), listed])
    whole: Json = {"root_index": root, "nodes": graph.nodes, "metadata": {"tvm_version": "0.27.0"}}
    return json.dumps(whole, indent=2)


class _Graph:
    """Nodes that refer to each other by number; node 0 is None."""

    def __init__(self) -> None:
        self.nodes: list[Json] = [{"type": "None"}]
        self.int64 = self.dtype("int64")

    def add(self, kind: str, data: Json) -> int:
        self.nodes.append({"type": kind, "data": data})
        return len(self.nodes) - 1

    def dtype(self, name: str) -> int:
        return self.add("ir.PrimType", {"span": 0, "dtype": name})

    def extent(self, size: int) -> int:
        return self.add("ir.IntImm", {"span": 0, "ty": self.int64, "value": self.add("int", size)})

    def constant(self, key: str, constant: relax.Constant) -> int:
        """A constant: its tensor, and its type with the shape of the tensor."""
        dims = constant.data.shape
        extents: list[Json] = [self.extent(size) for size in dims]
        values = self.add("ffi.Array", extents)
        rank = self.add("relax.ShapeType", {"span": 0, "values": values, "ndim": len(dims)})
        shape = self.add("relax.expr.ShapeExpr", {"span": 0, "ty": rank, "values": values})
        element = self.dtype(str(constant.dtype))
        fields: Json = {"span": 0, "shape": shape, "dtype": element, "vdevice": 0, "ndim": len(dims)}
        tensor = self.add("ffi.Tensor", blob.encode(constant.data, constant.dtype))
        return self.add(key, {"span": 0, "ty": self.add("relax.TensorType", fields), "value": tensor})
