"""Static rules for Relax functions.

| clause  | rule                                                                                | code         |
|---------|-------------------------------------------------------------------------------------|--------------|
| RLX-901 | a variable is visible where it is used                                              | RM203        |
| RLX-902 | a dataflow variable is visible in its block only                                    | RM204        |
| RLX-903 | a dataflow block has no effect, nor has a pure function (unless `relax.force_pure`) | RM205, RM212 |
| RLX-904 | a function of the module exists, and takes that many arguments (see `call_rules`)   | RM207, RM206 |
| RLX-906 | a shape variable is bound by a parameter or a match_cast                            | RM211        |
| RLX-907 | declared and deduced types do not contradict each other                             | RM201, RM202 |
| RLX-908 | parameters have different names                                                     | RM210        |

Uncertain problems are not reported.
"""

from refmlc.diag import Related, Span
from refmlc.diag.catalogue import (
    DATAFLOW_ESCAPE,
    DUPLICATE,
    OUT_OF_SCOPE,
    TYPE_MISMATCH,
    UNDEFINED_SYMBOL,
    UNKNOWN_FUNCTION,
)
from refmlc.lang.ir import IRModule, tir
from refmlc.lang.ir.relax import (
    Binding,
    Block,
    Call,
    DataflowBlock,
    Expr,
    Function,
    If,
    MatchCast,
    PrimValue,
    SeqExpr,
    ShapeExpr,
    Tuple,
    TupleGetItem,
    Var,
    VarBinding,
)
from refmlc.lang.ir.types import PrimType, ShapeType, TensorType, TupleType, Type
from refmlc.lang.ir.visit import walk
from refmlc.lang.wellformed.call_rules import CallRules
from refmlc.lang.wellformed.findings import Findings
from refmlc.lang.wellformed.infer import function_type, type_of
from refmlc.lang.wellformed.scope import Scope
from refmlc.lang.wellformed.type_text import type_text


class GraphRules:
    """Checks one function of the module, and the local functions in it."""

    def __init__(self, module: IRModule, findings: Findings) -> None:
        self.module = module
        self.findings = findings
        self.scope: Scope[Var] = Scope()
        self.dims: Scope[tir.Var] = Scope()
        self.known: dict[Var, Type | None] = {}
        self.calls = CallRules(module, findings, self.known)

    def function(self, function: Function, name: str) -> None:
        """Check a function; `name` is what messages call it."""
        calls = self.calls
        outer = calls.pure_function, calls.in_dataflow
        calls.pure_function = name if function.pure and not function.attrs.get("relax.force_pure") else None
        calls.in_dataflow = False
        with self.scope.inner(), self.dims.inner():
            self._params(function)
            self.sequence(function.body, function.span)
            body = function.body.body
            where = body.span if body.span is not None and not isinstance(body, Var) else function.span
            self.agree(function.result_ty, self.type_of(function.body), f"the return type of `{name}` is", where)
            for dim in dims_of(function.ret_ty):
                if dim not in self.dims.known:
                    self._undefined(dim, function.span)
        calls.pure_function, calls.in_dataflow = outer

    def type_of(self, expr: Expr) -> Type | None:
        """The type of `expr` as far as it is known here."""
        return type_of(expr, self.module, self.known)

    def agree(self, declared: Type | None, actual: Type | None, what: str, near: Span | None) -> None:
        """Report a declared type that the deduced one contradicts."""
        conflict = self.calls.here.conflict(declared, actual)
        if conflict is not None:
            code, _ = conflict
            message = f"{what} {type_text(declared)}, the value is {type_text(actual)}"
            self.findings.report(code, message, near)

    # --------------------------------------------------------------------------------- blocks and bindings

    def sequence(self, seq: SeqExpr, near: Span | None) -> None:
        """Check the blocks of `seq`, then its value, in the scope that they leave."""
        near = seq.span or near
        for block in seq.blocks:
            self._block(block, near)
        self.expr(seq.body, near)

    def _block(self, block: Block, near: Span | None) -> None:
        dataflow = isinstance(block, DataflowBlock)
        outer = self.calls.in_dataflow
        self.calls.in_dataflow = outer or dataflow
        for binding in block.bindings:
            self._binding(binding, binding.span or block.span or near)
        self.calls.in_dataflow = outer
        if dataflow:
            for binding in block.bindings:
                if binding.var.dataflow:
                    self.scope.end(binding.var)

    def _binding(self, binding: Binding, near: Span | None) -> None:
        var, before = binding.var, len(self.findings)
        match binding:
            case VarBinding(_, value):
                if isinstance(value, Function):
                    self.scope.define(var)
                    self.known[var] = function_type(value)
                    self.function(value, var.name)
                    return
                self.expr(value, near)
                deduced = self.type_of(value)
                if isinstance(var.ty, PrimType):
                    for dim in dims_of(var.ty, whole=True):
                        self._define_dim(dim)
                self._dims(var.ty, near)
                self.agree(var.ty, deduced, f"`{var.name}` is declared", near)
            case MatchCast(_, value, deduced):
                self.expr(value, near)
                for dim in dims_of(deduced, whole=True):
                    self._define_dim(dim)
                self._dims(deduced, near)
        wrong = len(self.findings) > before  # what follows from a mistake is no mistake of its own
        self.known[var] = None if wrong else var.ty or deduced
        self.scope.define(var)

    def _params(self, function: Function) -> None:
        names: set[str] = set()
        for param in function.params:
            near = param.span or function.span
            if param.name in names:
                self.findings.report(DUPLICATE, f"two parameters are called `{param.name}`", near)
            names.add(param.name)
            self.scope.define(param)
            for dim in dims_of(param.ty, whole=True):
                self._define_dim(dim)
        for param in function.params:
            self._dims(param.ty, param.span or function.span)

    # ----------------------------------------------------------------------------------------- expressions

    def expr(self, expr: Expr, near: Span | None) -> None:
        """Check `expr`; `near` is the place of what holds it."""
        if isinstance(expr, Var):
            self._use(expr, near)
            return
        near = near if isinstance(expr, tir.GlobalVar) else expr.span or near
        match expr:
            case tir.GlobalVar(name):
                if name not in self.module.functions:
                    self.findings.report(UNKNOWN_FUNCTION, f"the module has no function `{name}`", near, subject=name)
            case PrimValue(value):
                self._dims(PrimType(value.dtype, value), near)
            case ShapeExpr(values):
                self._dims(ShapeType(values), near)
            case Tuple(fields):
                for field in fields:
                    self.expr(field, near)
            case TupleGetItem():
                self._field(expr, near)
            case Call():
                self._call(expr, near)
            case If():
                self._if(expr, near)
            case SeqExpr():
                with self.scope.inner():
                    self.sequence(expr, near)
            case Function():
                self.function(expr, "the local function")
            case _:
                pass

    def _use(self, var: Var, near: Span | None) -> None:
        if var in self.scope:
            return
        related = []
        if var not in self.scope.known:
            code, message = OUT_OF_SCOPE, f"variable `{var.name}` is used before it is defined"
        elif var.dataflow:
            code = DATAFLOW_ESCAPE
            message = f"dataflow variable `{var.name}` is used outside its block, and is not in its `R.output`"
        else:
            code, message = OUT_OF_SCOPE, f"variable `{var.name}` is used outside its scope"
        if var in self.scope.known and var.span is not None and var.span != near:
            related = [Related(f"`{var.name}` is defined here", var.span)]
        self.findings.report(code, message, near, related=related, subject=var)

    def _field(self, item: TupleGetItem, near: Span | None) -> None:
        self.expr(item.tuple_value, near)
        ty = self.type_of(item.tuple_value)
        if isinstance(ty, TupleType) and not 0 <= item.index < len(ty.fields):
            message = f"a tuple with {len(ty.fields)} fields has no field {item.index}"
            self.findings.report(TYPE_MISMATCH, message, near)

    def _call(self, call: Call, near: Span | None) -> None:
        self.expr(call.op, near)
        for arg in call.args:
            self.expr(arg, near)
        for ty in call.ty_args:
            self._dims(ty, near)
        self.calls.call(call, near)

    def _if(self, expr: If, near: Span | None) -> None:
        self.expr(expr.condition, near)
        ty = self.type_of(expr.condition)
        if isinstance(ty, TensorType):
            rank = ty.ndim if ty.shape is None else len(ty.shape)
            if rank > 0 or (ty.dtype is not None and ty.dtype.kind not in ("bool", "int", "uint")):
                message = f"the condition is {type_text(ty)}, not a scalar bool"
                self.findings.report(TYPE_MISMATCH, message, near)
        for branch in (expr.true_branch, expr.false_branch):
            with self.scope.inner(), self.dims.inner():
                self.sequence(branch, near)

    # ------------------------------------------------------------------------------------- shape variables

    def _define_dim(self, dim: tir.Var) -> None:
        if dim not in self.dims:
            self.dims.define(dim)

    def _dims(self, ty: Type | None, near: Span | None) -> None:
        """The shape variables in `ty` are bound."""
        for dim in dims_of(ty):
            if dim not in self.dims:
                self._undefined(dim, near)

    def _undefined(self, dim: tir.Var, near: Span | None) -> None:
        message = f"shape variable `{dim.name}` is not bound by a parameter or a match_cast"
        self.findings.report(UNDEFINED_SYMBOL, message, near, subject=dim)


def dims_of(ty: Type | None, *, whole: bool = False) -> list[tir.Var]:
    """The shape variables in `ty`; `whole`: only whole dimensions. Those in function types are bound there."""
    match ty:
        case TensorType(shape=values) | ShapeType(values=values) if values is not None:
            exprs = values
        case PrimType(_, value) if value is not None:
            exprs = (value,)
        case TupleType(fields):
            return [dim for field in fields for dim in dims_of(field, whole=whole)]
        case _:
            return []
    if whole:
        return [dim for dim in exprs if isinstance(dim, tir.Var)]
    inside = [node for expr in exprs for node in walk(expr)]
    bound = {node.var for node in inside if isinstance(node, tir.Let)}
    return [node for node in inside if isinstance(node, tir.Var) and node not in bound]
