"""Statements, blocks and functions of TensorIR from TVM's JSON."""

from collections.abc import Mapping
from dataclasses import replace

from refmlc.frontends.tvm_json.graph import Item
from refmlc.frontends.tvm_json.scalars import Scalars
from refmlc.lang.dtypes import HANDLE, VOID
from refmlc.lang.ir import tir
from refmlc.lang.ir.attrs import Target
from refmlc.lang.ir.kinds import ForKind, IterKind

KINDS = (ForKind.SERIAL, ForKind.PARALLEL, ForKind.VECTORIZED, ForKind.UNROLLED, ForKind.THREAD_BINDING)
ITERS: Mapping[int, IterKind] = {0: IterKind.SPATIAL, 2: IterKind.REDUCE, 3: IterKind.SCAN, 4: IterKind.OPAQUE}


class Statements(Scalars):
    """Reads statements."""

    def stmt(self, item: Item) -> tir.Stmt:
        """A statement. Fails: RM504."""
        match item.kind:
            case "tirx.For":
                return self._for(item)
            case "tirx.SeqStmt":
                return tir.SeqStmt(tuple(self.stmt(entry) for entry in item.items("seq")))
            case "tirx.BufferStore":
                return self._store(item)
            case "s_tir.SBlockRealize":
                return self._realize(item)
            case "tirx.IfThenElse":
                other = item.optional("else_case")
                after = None if other is None else self.stmt(other)
                return tir.IfThenElse(self.expr(item.node("condition")), self.stmt(item.node("then_case")), after)
            case "tirx.While":
                return tir.While(self.expr(item.node("condition")), self.stmt(item.node("body")))
            case "tirx.Evaluate":
                return tir.Evaluate(self.expr(item.node("value")))
            case "tirx.Bind":
                bound = self.expr(item.node("value"))
                return tir.Bind(self.var(item.node("var")), bound)
            case "tirx.AllocBuffer":
                return tir.AllocBuffer(self.buffer(item.node("buffer")), self.attrs(item.optional("annotations")))
            case "tirx.DeclBuffer":
                data = item.optional("data")
                return tir.DeclBuffer(self.buffer(item.node("buffer")), None if data is None else self.expr(data))
            case "tirx.AssertStmt":
                parts = tuple(part.text("value") for part in item.items("message_parts"))
                kind = item.node("error_kind").text("value")
                return tir.AssertStmt(self.expr(item.node("condition")), parts, kind)
            case "tirx.AttrStmt":
                node, key, value = item.node("node"), item.text("attr_key"), item.node("value")
                field = None if node.kind == "int" and not node.data else self.attr(node)  # `T.attr({key: value})`
                label = self.attr(value)
                label = label.value if field is None and isinstance(label, tir.StringImm) else label
                return tir.AttrStmt(field, key, label, self.stmt(item.node("body")))
            case "tirx.Break":
                return tir.Break()
            case "tirx.Continue":
                return tir.Continue()
            case _:
                raise item.unknown()

    def attrs(self, item: Item | None) -> dict[str, tir.Attr]:
        """Attributes by name."""
        if item is None:
            return {}
        field = item.node("__dict__") if item.kind == "ir.DictAttrs" else item
        return {key.text(): self._plain(self.attr(value)) for key, value in field.pairs()}

    def _plain(self, value: tir.Attr) -> tir.Attr:
        """A constant of int32 is a plain number in a text, and so it is here."""
        return value.value if isinstance(value, tir.IntImm) and str(value.dtype) == "int32" else value

    def attr(self, item: Item) -> tir.Attr:
        """A value of an attribute: a target too."""
        return self._target(item) if item.kind == "target.Target" else super().attr(item)

    def _target(self, item: Item) -> Target:
        """A target as its configuration."""
        config: dict[str, tir.Attr] = {key.text(): self.attr(pair) for key, pair in item.node("attrs").pairs()}
        host = item.optional("host")
        more: dict[str, tir.Attr] = {} if host is None else {"host": self._target(host).config}
        keys = self.attr(item.node("keys"))
        return Target({"kind": item.node("kind").text(), "keys": keys, "tag": item.text("tag"), **config, **more})

    def _for(self, item: Item) -> tir.For:
        least, extent = self.expr(item.node("min")), self.expr(item.node("extent"))
        step, bound = item.optional("step"), item.optional("thread_binding")
        thread = None if bound is None else self._thread(bound)
        kind = item.integer("kind")
        if not 0 <= kind < len(KINDS):
            raise item.unknown(f" of kind {kind}")
        return tir.For(
            self.var(item.node("loop_var")),
            least,
            extent,
            KINDS[kind],
            self.stmt(item.node("body")),
            thread,
            self.attrs(item.optional("annotations")),
            None if step is None else self.expr(step),
        )

    def _thread(self, item: Item) -> tir.ThreadVar:
        return tir.ThreadVar(item.text("thread_tag"))

    def _store(self, item: Item) -> tir.BufferStore:
        predicate = item.optional("predicate")
        value, indices = self.expr(item.node("value")), self.exprs(item.items("indices"))
        where = None if predicate is None else self.expr(predicate)
        return tir.BufferStore(self.buffer(item.node("buffer")), value, indices, where)

    # ------------------------------------------------------------------------------------------------ blocks

    def _realize(self, item: Item) -> tir.SBlockRealize:
        values, block = self.exprs(item.items("iter_values")), self._block(item.node("block"))
        if len(values) != len(block.iter_vars):
            raise item.broken(f"a binding for each of {len(block.iter_vars)} axes, not {len(values)},")
        return tir.SBlockRealize(values, self.expr(item.node("predicate")), block)

    def _block(self, item: Item) -> tir.SBlock:
        axes = tuple(self._axis(var) for var in item.items("iter_vars"))
        views = tuple(self._view(buffer) for buffer in item.items("match_buffers"))
        init = item.optional("init")
        return tir.SBlock(
            item.text("name_hint"),
            axes,
            tuple(self.region(read) for read in item.items("reads")),
            tuple(self.region(write) for write in item.items("writes")),
            self.stmt(item.node("body")),
            None if init is None else self.stmt(init),
            tuple(self.buffer(buffer) for buffer in item.items("alloc_buffers")),
            views,
            self.attrs(item.optional("annotations")),
        )

    def _axis(self, item: Item) -> tir.IterVar:
        kind = item.integer("iter_type")
        if kind not in ITERS:
            raise item.unknown(f" of kind {kind}")
        return tir.IterVar(self.var(item.node("var")), self.range(item.node("dom")), ITERS[kind])

    def _view(self, item: Item) -> tir.MatchBufferRegion:
        source = self.region(item.node("source"))
        return tir.MatchBufferRegion(self.buffer(item.node("buffer")), source)

    def region(self, item: Item) -> tir.BufferRegion:
        """A box of a buffer."""
        source = item.node("source" if "source" in item.fields else "buffer")
        return tir.BufferRegion(self.buffer(source), tuple(self.range(entry) for entry in item.items("region")))

    # --------------------------------------------------------------------------------------------- functions

    def prim_func(self, item: Item) -> tir.PrimFunc:
        """A function of TensorIR."""
        params, buffers = [], {}
        attrs = self.attrs(item.optional("attrs"))
        self.s_tir = bool(attrs.get("s_tir", False))
        for entry in item.items("params"):
            if entry.node("ty").kind == "tirx.BufferType":
                result = tir.Var(f"{entry.text('name')}_handle", HANDLE)
                buffers[result] = self.buffer(entry)
            else:
                result = self.var(entry)
            params.append(result)
        private = "global_symbol" not in attrs
        body = self.stmt(item.node("body"))
        ret = item.optional("ret_type")
        dtype = ret.dtype("dtype") if ret is not None and ret.kind == "ir.PrimType" else None
        remaining = {key: value for key, value in attrs.items() if key not in ("global_symbol", "s_tir")}
        void = None if dtype in (None, VOID) else dtype
        return tir.PrimFunc(tuple(params), buffers, _rootless(body), remaining, void, private, self.s_tir)


def _rootless(body: tir.Stmt) -> tir.Stmt:
    """A root block that says nothing is not written: `tir.PrimFunc`."""
    match body:
        case tir.SBlockRealize(iter_values=(), block=tir.SBlock(name="root", iter_vars=()) as root):
            says = root.alloc_buffers or root.match_buffers or root.annotations or root.init
            return replace(body, block=replace(root, reads=None, writes=None)) if says else root.body
        case _:
            return body
