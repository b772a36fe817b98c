"""The metadata body of a text: the tensors that its constants stand for, as TVM's JSON with base64 arrays.

0.27 holds a flat list of nodes: the map from keys to lists, its lists, the constants, their tensors. Before, the
arrays stood apart (`refmlc.script.reader.metadata.shown_metadata`).
"""

import json
from collections.abc import Sequence
from typing import TypeAlias

from refmlc.ir import relax
from refmlc.script import blob
from refmlc.script.printer.graph_expressions import CONSTANT_KEYS
from refmlc.script.printer.page import Page
from refmlc.script.reader.metadata import shown_metadata

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"


def metadata_text(page: Page) -> str:
    """The statement that gives the metadata of a page."""
    key = CONSTANT_KEYS[page.dialect]
    body = _body(key, page.constants) if page.modern else shown_metadata({key: tuple(page.constants)})
    return f'metadata = tvm.ir.load_json("""{body}""")'


def _body(key: str, constants: Sequence[relax.Constant]) -> str:
    nodes: list[Json] = []

    def add(node: Json) -> int:
        nodes.append(node)
        return len(nodes) - 1

    members: list[Json] = []
    for constant in constants:
        tensor = add({"type": "ffi.Tensor", "data": blob.encode(constant.data, constant.dtype)})
        members.append(add({"type": key, "data": {"value": tensor}}))
    listed = add({"type": "ffi.Array", "data": members})
    name = add({"type": "ffi.String", "data": key})
    root = add({"type": "ffi.Map", "data": [name, listed]})
    return json.dumps({"root_index": root, "nodes": nodes}, indent=2)
