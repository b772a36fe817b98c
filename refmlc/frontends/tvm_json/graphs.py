"""Types, expressions, bindings and functions of Relax from TVM's JSON."""

from refmlc.frontends.tvm_json.graph import Item
from refmlc.frontends.tvm_json.plain_fields import is_plain
from refmlc.frontends.tvm_json.stmts import Statements
from refmlc.lang.ir import relax, tir
from refmlc.lang.ir.types import AnyType, FuncType, PrimType, ShapeType, TensorType, TupleType, Type
from refmlc.lang.script.blob import decode

VARS = ("ir.Var", "relax.expr.DataflowVar")


class Graphs(Statements):
    """Reads functions of Relax."""

    def __init__(self) -> None:
        super().__init__()
        self.values: dict[int, relax.Var] = {}
        self._exprs: dict[int, relax.Expr] = {}

    # ------------------------------------------------------------------------------------------------- types

    def type(self, item: Item) -> Type:
        """A type. Fails: RM504."""
        match item.kind:
            case "relax.AnyType" | "relax.ObjectType" | "ir.AnyType":
                return AnyType()
            case "relax.TensorType":
                return self._tensor(item)
            case "relax.ShapeType":
                values = item.optional("values")
                return ShapeType(None, self.rank(item)) if values is None else ShapeType(self.extents(values.items()))
            case "ir.PrimType":
                return PrimType(item.dtype("dtype"))
            case "ir.TupleType":
                return TupleType(tuple(self.type(field) for field in item.items("fields")))
            case "relax.FuncType":
                params = item.optional("params")
                result = None if params is None else tuple(self.type(param) for param in params.items())
                return FuncType(result, self.type(item.node("ret")), item.flag("purity"))
            case _:
                raise item.unknown()

    def _tensor(self, item: Item) -> TensorType:
        shape, element = item.optional("shape"), item.optional("dtype")
        dtype = None if element is None or element.text("dtype") in ("", "void") else element.dtype("dtype")
        if item.optional("vdevice") is not None:
            raise item.unknown(" with a device")
        if shape is None:
            return TensorType(None, dtype, self.rank(item))
        if shape.kind == "relax.expr.ShapeExpr":
            return TensorType(self.extents(shape.items("values")), dtype)
        inner = shape.node("ty")
        values = inner.optional("values") if inner.kind == "relax.ShapeType" else None
        if values is None:
            raise shape.unknown(" as a shape")
        return TensorType(self.extents(values.items()), dtype, shape_var=shape.text("name"))

    def rank(self, item: Item) -> int:
        """The number of dimensions; -1: not known."""
        return item.integer("ndim")

    # ------------------------------------------------------------------------------------------- expressions

    def value(self, item: Item, *, typed: bool = True) -> relax.Var:
        """A variable; without its type where the text would not say it."""
        if item.number not in self.values:
            ty = self.type(item.node("ty")) if typed else None
            if isinstance(ty, PrimType) and ty.value is None:
                ty = PrimType(ty.dtype, tir.Var(item.text("name"), ty.dtype))
            self.values[item.number] = relax.Var(item.text("name"), ty, item.kind == VARS[1])
        return self.values[item.number]

    def relax_expr(self, item: Item) -> relax.Expr:
        """An expression of Relax. Fails: RM504."""
        if item.number not in self._exprs:
            self._exprs[item.number] = self._relax_expr(item)
        return self._exprs[item.number]

    def _relax_expr(self, item: Item) -> relax.Expr:
        match item.kind:
            case "ir.Var" | "relax.expr.DataflowVar":
                if item.number in self.vars or (item.number not in self.values and _is_prim(item)):
                    return relax.PrimValue(self.var(item))
                return self.value(item)
            case "ir.GlobalVar":
                return tir.GlobalVar(item.text("name_hint"))
            case "ir.GenericConst" | "relax.expr.Constant":
                blob = item.node("value" if "value" in item.fields else "data")
                data, dtype = decode(blob.text(), None)
                return relax.Constant(data, dtype)
            case "ir.StringImm" | "relax.expr.StringImm":
                return relax.StringImm(item.text("value"))
            case "relax.expr.DataTypeImm":
                return relax.DataTypeImm(item.dtype("value"))
            case "relax.expr.ShapeExpr":
                return relax.ShapeExpr(self.extents(item.items("values")))
            case "ir.Tuple":
                return relax.Tuple(tuple(self.relax_expr(field) for field in item.items("fields")))
            case "ir.TupleGetItem":
                return relax.TupleGetItem(self.relax_expr(item.node("tuple_value")), item.integer("index"))
            case "relax.expr.ExternFunc":
                return relax.ExternFunc(item.text("global_symbol"))
            case "ir.Op":
                raise item.unknown(" that is not called")
            case "ir.Call" if not _is_scalar(item):
                return self._relax_call(item)
            case "relax.expr.If":
                condition = self.relax_expr(item.node("cond"))
                arms = (self.sequence(item.node(entry)) for entry in ("true_branch", "false_branch"))
                return relax.If(condition, *arms)
            case "relax.expr.SeqExpr":
                return self.sequence(item)
            case "relax.expr.Function":
                return self.relax_func(item)
            case "relax.expr.PrimValue":
                return relax.PrimValue(self.expr(item.node("value")))
            case _:
                return relax.PrimValue(self.expr(item))

    def _relax_call(self, item: Item) -> relax.Call:
        called = item.node("op")
        op = self._operator(called) if called.kind == "ir.Op" else self.relax_expr(called)
        if not isinstance(
            op, relax.Op | relax.Var | relax.ExternFunc | relax.Call | relax.TupleGetItem | tir.GlobalVar
        ):
            raise called.unknown(" as what is called")
        args = tuple(self.relax_expr(arg) for arg in item.items("args"))
        attrs = item.optional("attrs")
        return relax.Call(op, args, {} if attrs is None else self._own(attrs), self._ty_args(item))

    def _operator(self, item: Item) -> relax.Op:
        """An operator by its name: words between points. Fails: RM109."""
        name = item.text().removeprefix("relax.")
        if not all(word.isidentifier() for word in name.split(".")):
            raise item.broken("the name of an operator")
        return relax.Op(name)

    def _ty_args(self, item: Item) -> tuple[Type, ...]:
        return tuple(self.type(arg) for arg in item.items("ty_args"))

    def _own(self, item: Item) -> dict[str, tir.Attr]:
        """The attributes of an operator: the fields of its object."""
        if item.kind == "ir.DictAttrs":
            return self.attrs(item)
        plain = (key for key in item.fields if key != "span")
        return {key: self._field(item, key) for key in plain}

    def _field(self, item: Item, name: str) -> tir.Attr:
        """A field: the number of a node, but for those of `plain_fields`."""
        result = item.fields[name]
        if isinstance(result, bool | float | str) or result is None:
            return result
        return item.integer(name) if is_plain(item.kind, name) else self.option(item.node(name))

    def option(self, item: Item) -> tir.Attr:
        """A value of an operator's attribute: constants of int64 are plain numbers."""
        if item.kind == "ffi.Array":
            return tuple(self.option(entry) for entry in item.items())
        return item.held("value") if item.kind == "ir.IntImm" and str(self.prim(item)) == "int64" else self.attr(item)

    # ------------------------------------------------------------------------------ bindings and functions

    def sequence(self, item: Item) -> relax.SeqExpr:
        """Blocks, then a value."""
        if item.kind != "relax.expr.SeqExpr":
            return relax.SeqExpr((), self.relax_expr(item))
        blocks = tuple(self._bindings(block) for block in item.items("blocks"))
        return relax.SeqExpr(blocks, self.relax_expr(item.node("body")))

    def _bindings(self, item: Item) -> relax.Block:
        bindings = tuple(self._binding(binding) for binding in item.items("bindings"))
        kind = relax.DataflowBlock if item.kind == "relax.expr.DataflowBlock" else relax.BindingBlock
        return kind(bindings)

    def _binding(self, item: Item) -> relax.Binding:
        value = self.relax_expr(item.node("value"))
        var = item.node("var")
        if item.kind == "relax.expr.MatchCast":
            ty = self.type(item.node("ty"))
            return relax.MatchCast(self.value(var), value, ty)
        stated = isinstance(value, relax.Call) and bool(value.ty_args)
        return relax.VarBinding(self.value(var, typed=not stated), value)

    def relax_func(self, item: Item) -> relax.Function:
        """A function of Relax."""
        params = tuple(self.value(param) for param in item.items("params"))
        attrs = self.attrs(item.optional("attrs"))
        private = "global_symbol" not in attrs
        remaining = {key: value for key, value in attrs.items() if key != "global_symbol"}
        body = self.sequence(item.node("body"))
        pure = item.flag("is_pure")
        return relax.Function(params, body, self.type(item.node("ret_ty")), pure, private, remaining)


def _is_prim(item: Item) -> bool:
    return item.kind == "ir.Var" and item.node("ty").kind == "ir.PrimType"


def _is_scalar(item: Item) -> bool:
    """Whether a call is an expression of TensorIR."""
    op = item.node("op")
    return op.kind == "ir.Op" and op.text().startswith(("tirx.", "prim.", "tir."))
