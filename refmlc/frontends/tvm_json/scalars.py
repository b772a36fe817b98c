"""Expressions of TensorIR from TVM's JSON: a table of node kinds, and operators by their names in TVM."""

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_FILE
from refmlc.frontends.tvm_json.graph import Item
from refmlc.lang.dtypes import HANDLE, DType
from refmlc.lang.ir import tir
from refmlc.lang.ir.kinds import Layout, PointerType
from refmlc.lang.ir.offsets import is_default_offset
from refmlc.lang.ops import promote
from refmlc.lang.ops.intrinsics import ALIASES, intrinsic
from refmlc.lang.ops.names import BY_CALL, BY_NODE, on_dtype
from refmlc.lang.ops.scalar import SCALAR_OPS

POINTERS = frozenset(("address_of", "tvm_access_ptr", "tvm_stack_make_shape"))


class Scalars:
    """Reads expressions; a variable or a buffer that was met is the same object when it is met again."""

    def __init__(self) -> None:
        """Nothing is known yet; `s_tir` is whether the function that is read is schedulable."""
        self.vars: dict[int, tir.Var] = {}
        self.buffers: dict[int, tir.Buffer] = {}
        self._made: dict[int, tir.Expr] = {}
        self.s_tir = False

    # ------------------------------------------------------------------------------------------------- types

    def prim(self, item: Item) -> DType:
        """The dtype of an expression."""
        ty = item.node("ty")
        return ty.dtype("dtype") if ty.kind == "ir.PrimType" else HANDLE

    def var(self, item: Item) -> tir.Var:
        """A variable."""
        if item.number not in self.vars:
            ty = item.node("ty")
            name = item.text("name")
            match ty.kind:
                case "ir.PrimType":
                    result = tir.Var(name, ty.dtype("dtype"))
                case "ir.PointerType":
                    result = tir.Var(name, HANDLE, self.pointer(ty))
                case _:
                    raise ty.unknown(f" as the type of `{name}`")
            self.vars[item.number] = result
        return self.vars[item.number]

    def pointer(self, ty: Item) -> PointerType:
        """The target type of a handle."""
        element = ty.node("element_type")
        scope = ty.text("storage_scope") or "global"
        if element.kind != "ir.PrimType":
            return PointerType(None, scope)
        name = element.text("dtype")
        return PointerType(None if name in ("", "void") else element.dtype("dtype"), scope)

    def buffer(self, item: Item) -> tir.Buffer:
        """A buffer: a variable whose type is one."""
        if item.number in self.buffers:
            return self.buffers[item.number]
        ty = item.node("ty")
        if ty.kind != "tirx.BufferType":
            raise ty.unknown(" in the place of a buffer")
        offset = ty.optional("elem_offset")
        shape = self.extents(ty.items("shape"))
        start = None if offset is None else self.expr(offset)
        self.buffers[item.number] = tir.Buffer(
            item.text("name"),
            ty.node("dtype").dtype("dtype"),
            shape,
            self.extents(ty.items("strides")),
            None if start is None or is_default_offset(start, shape) else start,
            ty.text("storage_scope") or "global",
            ty.integer("data_alignment"),
            ty.integer("offset_factor"),
            layout=self._layout(ty.optional("layout")),
        )
        return self.buffers[item.number]

    def _layout(self, item: Item | None) -> Layout:
        """The layout of a buffer. Fails: RM504, where there is one."""
        if item is not None:
            raise item.unknown(" as a layout")
        return Layout.DEFAULT if self.s_tir else Layout.NONE

    # ------------------------------------------------------------------------------------------- expressions

    def expr(self, item: Item) -> tir.Expr:
        """An expression. Fails: RM504 for a kind that refmlc has no word for."""
        if item.number not in self._made:
            self._made[item.number] = self._expr(item)
        return self._made[item.number]

    def exprs(self, items: "list[Item]") -> tuple[tir.Expr, ...]:
        """Several."""
        return tuple(self.expr(item) for item in items)

    def extents(self, items: "list[Item]") -> tuple[tir.Expr, ...]:
        """Sizes, which are whole numbers. Fails: RM109."""
        sizes = self.exprs(items)
        for item, size in zip(items, sizes, strict=True):
            if not size.dtype.is_integer or size.dtype.is_vector:
                raise item.broken("a size")
        return sizes

    def _expr(self, item: Item) -> tir.Expr:
        family, _, name = item.kind.rpartition(".")
        match item.kind:
            case "ir.Var":
                if item.node("ty").kind == "tirx.BufferType":
                    return tir.BufferData(self.buffer(item))
                return self.var(item)
            case "ir.IntImm":
                return self._integer(item)
            case "ir.FloatImm":
                return promote.constant(item.number_of("value"), self.prim(item), None)
            case "ir.StringImm":
                return tir.StringImm(item.text("value"))
            case "ir.TensorLoad" | "tirx.BufferLoad":
                predicate = item.optional("predicate")
                where = None if predicate is None else self.expr(predicate)
                source = item.node("source" if "source" in item.fields else "buffer")
                return tir.BufferLoad(self.buffer(source), self.exprs(item.items("indices")), where)
            case "ir.Call":
                return self.call(item)
        if family == "prim":
            return self._prim(item, name)
        raise item.unknown()

    def _integer(self, item: Item) -> tir.IntImm:
        """A constant of a whole number, which its dtype holds; a pointer is one too. Fails: RM109."""
        value, dtype = item.held("value"), item.node("ty").dtype("dtype")
        if dtype.is_float or dtype.is_vector or dtype.kind == "void":
            raise item.broken("the dtype of whole numbers")
        most = 1 if dtype.kind == "bool" else dtype.maximum
        if dtype.kind != "handle" and not dtype.minimum <= value <= most:
            raise item.broken(f"a value of {dtype}")
        return tir.IntImm(dtype, value)

    def _prim(self, item: Item, name: str) -> tir.Expr:
        dtype = self.prim(item)
        if name in BY_NODE:
            op = BY_NODE[name]
            fields = ("a", "b")[: SCALAR_OPS[op].contract.arity]
            operands = tuple(self.expr(item.node(field)) for field in fields)
            return tir.Apply(on_dtype(op, operands[0].dtype), operands, dtype)
        match name:
            case "And":
                return tir.And(self.expr(item.node("a")), self.expr(item.node("b")))
            case "Or":
                return tir.Or(self.expr(item.node("a")), self.expr(item.node("b")))
            case "Cast":
                return tir.Cast(dtype, self.expr(item.node("value")))
            case "Select":
                arms = (self.expr(item.node(entry)) for entry in ("condition", "true_value", "false_value"))
                return tir.Select(*arms)
            case "Ramp":
                base, stride, lanes = (self.expr(item.node(entry)) for entry in ("base", "stride", "lanes"))
                return tir.Ramp(base, stride, lanes, dtype)
            case "Broadcast":
                return tir.Broadcast(self.expr(item.node("value")), self.expr(item.node("lanes")), dtype)
            case "Shuffle":
                vectors, indices = self.exprs(item.items("vectors")), self.exprs(item.items("indices"))
                return tir.Shuffle(vectors, indices, dtype)
            case "Let":
                var = self.var(item.node("var"))
                return tir.Let(var, self.expr(item.node("value")), self.expr(item.node("body")))
            case _:
                raise item.unknown()

    def call(self, item: Item) -> tir.Expr:
        """A call: an operator, an intrinsic, a function of the module."""
        op, dtype, values = item.node("op"), self.prim(item), item.items("args")
        ty = item.node("ty")
        pointer = self.pointer(ty) if ty.kind == "ir.PointerType" else None
        if op.kind == "ir.GlobalVar":
            return tir.Call(tir.GlobalVar(op.text("name_hint")), self.exprs(values), dtype, pointer)
        if op.kind != "ir.Op":
            raise op.unknown(" as what is called")
        name = op.text().rpartition(".")[2]
        if name == "if_then_else":
            return tir.IfThenElseExpr(*self.exprs(values))
        if name == "buffer_data":
            return tir.BufferData(self.buffer(values[0]))
        if name in BY_CALL:
            return tir.Apply(BY_CALL[name], self.exprs(values), dtype)
        name = ALIASES.get(name, name)
        row = intrinsic(name)
        if row is None:
            raise op.unknown(f" `{op.text()}`")
        pointer = pointer if name in POINTERS else None
        args = tuple(self._argument(entry, tensors=row.tensors) for entry in values)
        return tir.Call(name, args, dtype, pointer)

    def _argument(self, item: Item, *, tensors: bool) -> "tir.Expr | tir.Attr":
        if item.kind == "ir.Var" and item.node("ty").kind == "tirx.BufferType" and tensors:
            return self.buffer(item)
        return self.expr(item)

    def range(self, item: Item) -> tir.Range:
        """A range."""
        return tir.Range(self.expr(item.node("min")), self.expr(item.node("extent")))

    # -------------------------------------------------------------------------------------------- attributes

    def attr(self, item: Item) -> tir.Attr:
        """A value of an attribute. Fails: RM504."""
        match item.kind:
            case "None":
                return None
            case "int" | "bool" | "float" | "ffi.String":
                if isinstance(item.data, bool | int | float | str):
                    return item.data
                raise item.broken("a plain value")
            case "DataType":
                return None if item.text() in ("", "void") else item.text()
            case "ffi.Array":
                return tuple(self.attr(entry) for entry in item.items())
            case "ffi.Map":
                return {key.text(): self.attr(pair) for key, pair in item.pairs()}
            case "ir.PrimType":
                name = item.text("dtype")
                return None if name in ("", "void") else name
            case "ir.Var" if item.node("ty").kind == "tirx.BufferType":
                return self.buffer(item)
            case "ir.GlobalVar":
                return tir.GlobalVar(item.text("name_hint"))
        return self.expr(item)


def root_of(item: Item, kind: str) -> Item:
    """The node, which has to be of a kind. Fails: RM109."""
    if item.kind != kind:
        raise fail(BAD_FILE, f"a `{kind}` is needed; the JSON graph holds a `{item.kind}`")
    return item
