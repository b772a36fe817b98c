"""Attributes as text: plain data, nodes, and what only attributes hold.

| value                   | text                                                    |
|-------------------------|---------------------------------------------------------|
| `1`, `0.5`, `True`, `"s"` | the same                                              |
| tuple, mapping          | `[1, 2]`, `{"a": 1}`                                    |
| int32 constant          | `T.int32(1)`: a plain number would be read as one       |
| dtype                   | `T.float32`                                             |
| reducer                 | `T.comm_reducer(lambda x, y: x + y, [T.float32(0.0)])`  |
| index map               | `T.index_map(lambda i, j: (j, i))`                      |
| target                  | `T.target({…})`                                         |
| device                  | `I.vdevice({…}, 0, "global")`, `R.device(device_type=1, index=0)` |
| mesh of devices         | `R.device_mesh((2, 2), I.Range(0, 4))`, or its name in the module: `"mesh[0]"` |
| thread axis             | `T.iter_var(v, T.Range(0, 4), "ThreadIndex", "threadIdx.x")` |
| of Relax                | `R.Tensor((2,), dtype="float32")`, `R.const(1.0, "float32")`, `metadata["ffi.Module"][0]` |
"""

import math
from collections.abc import Callable, Mapping, Sequence

from refmlc.diag import fail
from refmlc.diag.catalogue import BUG
from refmlc.lang.dtypes import INT32, DType
from refmlc.lang.ir import relax, tir
from refmlc.lang.ir.attrs import CommReducer, Device, DeviceMesh, IndexMap, Target, VDevice
from refmlc.lang.ir.tirx import ComposeLayout, TileLayout
from refmlc.lang.ir.types import Type
from refmlc.lang.script.printer.literals import string_text
from refmlc.lang.script.printer.meshes import mesh_text
from refmlc.lang.script.printer.page import Page
from refmlc.lang.script.tirx.layout_text import layout_text

ExprText = Callable[[Page, tir.Expr], str]
BufferText = Callable[[Page, tir.Buffer], str]


def attr_text(page: Page, value: object, show: ExprText, name: BufferText) -> str:
    """`value` as text; `show` writes expressions, `name` the names of buffers."""
    with page.speaking("tir"):
        return _Attributes(page, show, name).text(value)


class _Attributes:
    def __init__(self, page: Page, show: ExprText, name: BufferText) -> None:
        self.page = page
        self.show = show
        self.name = name

    def text(self, value: object) -> str:
        match value:
            case None | bool() | int():
                return str(value)
            case float():
                return _float(value)
            case str():
                return string_text(value)
            case tuple() | list():
                return f"[{', '.join(self.text(item) for item in value)}]"
            case Mapping():
                return self.dictionary({str(key): item for key, item in value.items()})
            case DType():
                return f"T.{value}"
        return self.node(value)

    def dictionary(self, value: Mapping[str, object]) -> str:
        return f"{{{', '.join(f'{string_text(key)}: {self.text(item)}' for key, item in value.items())}}}"

    def node(self, value: object) -> str:
        match value:
            case tir.IntImm(dtype=dtype) if dtype == INT32:
                return f"T.int32({value.value})"
            case tir.StringImm(value=text):
                return f"T.StringImm({string_text(text)})"
            case tir.Buffer():
                return self.name(self.page, value)
            case tir.BufferRegion(buffer=buffer, region=region):
                inside = ", ".join(self.slice(item) for item in region) or "()"
                return f"{self.text(buffer)}[{inside}]"
            case tir.Range(min=low, extent=extent):
                return f"T.Range({self.show(self.page, low)}, {self.end(low, extent)})"
            case tir.GlobalVar(name=name):
                return f"cls.{name}"
            case tir.ThreadVar():
                return self.thread(value)
            case Target(config=config):
                return f"T.target({self.dictionary(dict(config))})"
            case Device(device_type=number, index=index):
                return f"R.device(device_type={number}, index={index})"
            case VDevice(target=target, index=index, scope=scope):
                return f"I.vdevice({self.text(target)}, {index}, {string_text(scope)})"
            case DeviceMesh():
                return mesh_text(self.page, value)
            case CommReducer():
                return self.reducer(value)
            case TileLayout() | ComposeLayout():
                return layout_text(value, lambda node: self.show(self.page, node))
            case IndexMap():
                inverse = "" if value.inverse is None else f", inverse_index_map={self.lambda_of(value.inverse)}"
                return f"T.index_map({self.lambda_of(value)}{inverse})"
        if isinstance(value, tir.Expr):
            return self.show(self.page, value)
        if isinstance(value, relax.Expr | Type) and self.page.graph is not None:
            with self.page.speaking("relax"):
                return self.page.graph(self.page, value)
        raise fail(BUG, f"{type(value).__name__} is no attribute that can be shown")

    def end(self, low: tir.Expr, extent: tir.Expr) -> str:
        if isinstance(low, tir.IntImm) and isinstance(extent, tir.IntImm):
            if low.value + extent.value <= low.dtype.maximum:
                return self.show(self.page, tir.IntImm(low.dtype, low.value + extent.value))
            return self.show(self.page, tir.Apply("add", (low, extent), low.dtype))
        if isinstance(low, tir.IntImm) and low.value == 0:
            return self.show(self.page, extent)
        return self.show(self.page, tir.Apply("add", (low, extent), low.dtype))

    def slice(self, one: tir.Range) -> str:
        if isinstance(one.extent, tir.IntImm) and one.extent.value == 1:
            return self.show(self.page, one.min)
        return f"{self.show(self.page, one.min)}:{self.end(one.min, one.extent)}"

    def thread(self, value: tir.ThreadVar) -> str:
        var = value.var or tir.Var(value.tag, INT32)
        known = self.page.names.get(var)
        name = known or string_text(var.name)
        dom = "None" if value.dom is None else self.text(value.dom)
        return f"T.iter_var({name}, {dom}, {string_text(value.iter_type)}, {string_text(value.tag)})"

    def reducer(self, value: CommReducer) -> str:
        identity = ", ".join(self.show(self.page, item) for item in value.identity)
        with self.page.names.frame():
            names = ", ".join(self.page.names.define(var, var.name) for var in (*value.lhs, *value.rhs))
            body = self.several(value.result)
        return f"T.comm_reducer(lambda {names}: {body}, [{identity}])"

    def lambda_of(self, value: IndexMap) -> str:
        with self.page.names.frame():
            names = ", ".join(self.page.names.define(var, var.name) for var in value.initial)
            return f"lambda {names}: {self.pair(value.final)}"

    def pair(self, values: Sequence[tir.Expr]) -> str:
        texts = [self.show(self.page, item) for item in values]
        return f"({texts[0]},)" if len(texts) == 1 else f"({', '.join(texts)})"

    def several(self, values: Sequence[tir.Expr]) -> str:
        texts = [self.show(self.page, item) for item in values]
        return texts[0] if len(texts) == 1 else f"({', '.join(texts)})"


def _float(value: float) -> str:
    """A float; what has no literal is what a literal out of range makes."""
    if math.isnan(value):
        return "1e999 - 1e999"
    return repr(value).replace("inf", "1e999")
