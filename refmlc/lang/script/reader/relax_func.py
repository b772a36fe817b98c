"""The reader of a Relax function: its signature and its statements.

| statement                                | meaning                                                            |
|------------------------------------------|--------------------------------------------------------------------|
| `x = e`, `x: T = e`                      | `VarBinding`; `MatchCast` where e is `R.match_cast`                |
| `a, b = e`                               | a binding per field                                                |
| `n = T.int64()`, `m, n = T.int64(), …`   | the function's shape variable of that name                         |
| `cls = Module`, a type, a list, a string | a name for it, no binding                                          |
| `e`                                      | a binding of `_`                                                   |
| `with R.dataflow():` … `R.output(x)`     | `DataflowBlock`; x is visible after it                             |
| `if c:` … `else:` …                      | a binding of the variable that both branches bind last, to an `If` |
| `@R.function def f`                      | a binding of f to a local function                                 |
| `R.func_attr({…})`, docstring, `pass`    | attributes, nothing                                                |
| `return e`                               | the end                                                            |

Decision: a dataflow variable that was not output stays visible to the reader after its block (texts of 2022 return
such variables); that it escapes is for the check to say (RM204).
"""

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

import numpy as np

from refmlc.diag import RefmlcError, Span, fail
from refmlc.diag.catalogue import NOT_TVMSCRIPT, UNKNOWN_NAME
from refmlc.lang.dtypes import INT64
from refmlc.lang.ir import relax, tir
from refmlc.lang.ir.types import PrimType, Type
from refmlc.lang.script.reader.attributes import DTYPE_NAMES, closed
from refmlc.lang.script.reader.evaluate import Evaluator
from refmlc.lang.script.reader.module import Decorator, FunctionReader
from refmlc.lang.script.reader.relax_calls import Cast, Dataflow, FuncAttr
from refmlc.lang.script.reader.relax_constants import constant_of
from refmlc.lang.script.reader.relax_values import RELAX_NODES, expr_of
from refmlc.lang.script.reader.table import Table
from refmlc.lang.script.reader.tir_values import MetaVar
from refmlc.lang.script.reader.types import TYPES, declared_names, type_of
from refmlc.lang.script.reader.values import Construct, Meta, ModuleRef, described

_ALIASES = (ModuleRef, Construct, str, dict, list, *TYPES)
_ADDED = (relax.If, relax.Call, relax.Function, relax.SeqExpr)


@dataclass(slots=True)
class _Sequence:
    """Blocks while they are read; `bindings` are those of the open binding block."""

    blocks: list[relax.Block] = field(default_factory=list)
    bindings: list[relax.Binding] = field(default_factory=list)

    def close(self) -> None:
        """End the open binding block."""
        if self.bindings:
            self.blocks.append(relax.BindingBlock(tuple(self.bindings), span=self.bindings[0].span))
            self.bindings = []

    def ending_in(self, body: relax.Expr, span: Span) -> relax.SeqExpr:
        """The sequence of all that was read, with the value `body`."""
        self.close()
        return relax.SeqExpr(tuple(self.blocks), body, span=span)


@dataclass(slots=True)
class _Outputs:
    """What a dataflow block gives out: the place of the statement that binds each name last, and of the current one."""

    names: frozenset[str]
    last: dict[str, tuple[int, int]]
    statement: tuple[int, int] = (0, 0)

    def keeps(self, name: str) -> bool:
        """Whether a binding of `name` in the current statement is dataflow only."""
        return name not in self.names or self.last.get(name) != self.statement


def read_relax_function(ev: Evaluator, node: ast.FunctionDef, decorator: Decorator) -> relax.Function:
    """The function that `node` is; `ev` knows the constructs of Relax."""
    options = {"pure": True, "private": False, "check_well_formed": True}
    for key, value in decorator.options.items():
        if key not in options or not isinstance(value, bool):
            raise fail(NOT_TVMSCRIPT, f"`@R.function` has no option `{key}` of {described(value)}", decorator.span)
        options[key] = value
    with ev.scope.frame():
        function = _Reader(ev, node).read()
    return replace(function, pure=options["pure"], private=options["private"])


def relax_reader(table: Table) -> FunctionReader:
    """The reader of Relax functions, in which names and operators mean what `table` says."""

    def read(ev: Evaluator, node: ast.FunctionDef, decorator: Decorator) -> relax.Function:
        outer, ev.table = ev.table, table
        try:
            return read_relax_function(ev, node, decorator)
        finally:
            ev.table = outer

    return read


class _Reader:
    """Reads one function."""

    def __init__(self, ev: Evaluator, node: ast.FunctionDef) -> None:
        self.ev = ev
        self.node = node
        self.attrs: dict[str, tir.Attr] = {}
        self.sequence = _Sequence()
        self.outputs: _Outputs | None = None
        self.depth = 0  # of branches, inside the dataflow block where there is one

    def read(self) -> relax.Function:
        span = self.span(self.node)
        params = self.params()
        returns = self.node.returns
        ret_ty = None if returns is None else type_of(self.ev.eval(returns), self.span(returns))
        body = self.node.body
        self.statements(islice(body, len(body) - 1))
        self.ev.problems.check()
        last = body[-1]
        if not isinstance(last, ast.Return):
            raise self.refuse(f"the function `{self.node.name}` does not end in `return`", last)
        value = None if last.value is None else self.ev.eval(last.value)
        closed(self.attrs, params, span)
        result = relax.Tuple((), span=self.span(last)) if value is None else self.value(value, None, self.span(last))
        return relax.Function(
            params, self.sequence.ending_in(result, self.span(last)), ret_ty, attrs=self.attrs, span=span
        )

    def span(self, node: ast.AST) -> Span:
        return self.ev.spans.of(node)

    def refuse(self, what: str, node: ast.AST) -> RefmlcError:
        return fail(NOT_TVMSCRIPT, what, self.span(node))

    # ------------------------------------------------------------------------------------------- the signature

    def params(self) -> tuple[relax.Var, ...]:
        args = self.node.args
        if args.vararg or args.kwarg or args.kwonlyargs or args.posonlyargs or args.defaults:
            raise self.refuse("parameters of a Relax function are plain: no defaults, no `*`", self.node)
        prims = [arg for arg in args.args if arg.annotation is not None and self.is_prim(arg.annotation)]
        annotations = [arg.annotation for arg in args.args if arg.annotation is not None]
        if self.node.returns is not None:
            annotations.append(self.node.returns)
        own = {arg.arg for arg in prims}
        for annotation in annotations:
            for name in declared_names(self.ev, annotation):
                if name not in own and not self.is_symbol(name):
                    self.ev.scope.define(name, tir.Var(name, INT64, span=self.span(annotation)))
        early = {id(arg): self.recovered_param(arg) for arg in prims}
        return tuple(early[id(arg)] if id(arg) in early else self.recovered_param(arg) for arg in args.args)

    def is_prim(self, annotation: ast.expr) -> bool:
        construct = self.ev.construct_of(annotation.func if isinstance(annotation, ast.Call) else annotation)
        return construct is not None and (construct.path == "R.Prim" or construct.path in DTYPE_NAMES)

    def is_symbol(self, name: str) -> bool:
        value = self.ev.scope.lookup(name)
        return isinstance(value, tir.Var) or (isinstance(value, relax.Var) and isinstance(value.ty, PrimType))

    def param(self, arg: ast.arg) -> relax.Var:
        span = self.span(arg)
        ty = None
        if arg.annotation is not None:
            ty = type_of(self.ev.eval(arg.annotation), self.span(arg.annotation))
        var = relax.Var(arg.arg, own_type(ty, arg.arg), span=span)
        self.ev.scope.define(arg.arg, var)
        return var

    def recovered_param(self, arg: ast.arg) -> relax.Var:
        """A parameter; one without type, which nothing can use, where it has a problem."""
        with self.ev.problems.recovering(self.ev.scope, arg):
            return self.param(arg)
        return relax.Var(arg.arg, None)

    # ---------------------------------------------------------------------------------------------- statements

    def statements(self, body: Iterable[ast.stmt]) -> None:
        """Read all; problems are kept."""
        for stmt in body:
            with self.ev.problems.recovering(self.ev.scope, stmt):
                self.statement(stmt)

    def statement(self, stmt: ast.stmt) -> None:
        if self.outputs is not None and self.depth == 0:
            self.outputs.statement = _place(stmt)
        match stmt:
            case ast.Expr(value=ast.Constant(value=str())) | ast.Pass():
                pass
            case ast.Expr(value=value):
                self.expression(value, stmt)
            case ast.Assign(targets=[target], value=value):
                self.assign(target, value, None, stmt)
            case ast.AnnAssign(target=target, value=ast.expr() as value, annotation=annotation):
                self.assign(target, value, annotation, stmt)
            case ast.AnnAssign(target=target):  # so TVM prints a variable that a pass has left unbound
                raise self.refuse(f"`{ast.unparse(target)}` gets a type and no value: it is bound nowhere", stmt)
            case ast.With(items=[ast.withitem(context_expr=context, optional_vars=None)], body=body):
                self.block(context, body, stmt)
            case ast.If():
                self.choice(stmt)
            case ast.FunctionDef():
                self.local(stmt)
            case ast.Return():
                raise self.refuse("`return` stands at the end of the function only", stmt)
            case _:
                raise self.refuse(f"the statement `{_word(stmt)}` has no meaning in Relax", stmt)

    def expression(self, node: ast.expr, stmt: ast.stmt) -> None:
        if _is_output(self.ev, stmt):
            if self.outputs is None:
                raise self.refuse("`R.output` stands in a dataflow block only", stmt)
            return
        value = self.ev.eval(node)
        match value:
            case FuncAttr(attrs):
                self.attrs.update(attrs)
            case Cast():
                self.bind("_", value, None, stmt, stmt)
            case tuple():
                self.bind("_", value, None, stmt, stmt)
            case _ if isinstance(value, RELAX_NODES):
                self.bind("_", value, None, stmt, stmt)
            case _:
                raise self.refuse(f"{described(value)} as a statement has no meaning in Relax", stmt)

    def assign(self, target: ast.expr, node: ast.expr, annotation: ast.expr | None, stmt: ast.stmt) -> None:
        match target, node:
            case ast.Name(id=name), _:
                symbol = self.symbol_of(name, node)
                if symbol is not None:
                    self.ev.scope.define(name, symbol)
                    return
                value = self.ev.eval(node)
                ty = None if annotation is None else self.annotated(annotation)
                self.bind(name, value, ty, target, stmt)
            case ((ast.Tuple(elts=targets) | ast.List(elts=targets)), (ast.Tuple(elts=values) | ast.List(elts=values))):
                if len(targets) != len(values):
                    raise self.refuse(f"{len(targets)} names get {len(values)} values", stmt)
                symbols = [_named(self, item, value) for item, value in zip(targets, values, strict=True)]
                result = [
                    None if symbol else self.ev.eval(value) for symbol, value in zip(symbols, values, strict=True)
                ]
                for item, symbol, value in zip(targets, symbols, result, strict=True):
                    self.assign_value(item, symbol or value, stmt)
            case ((ast.Tuple(elts=targets) | ast.List(elts=targets)), _):
                self.unpack(targets, self.ev.eval(node), stmt)
            case _:
                raise self.refuse("only names are bound", target)

    def assign_value(self, target: ast.expr, value: Meta, stmt: ast.stmt) -> None:
        if not isinstance(target, ast.Name):
            raise self.refuse("only names are bound", target)
        if isinstance(value, tir.Var) and value.name == target.id:
            self.ev.scope.define(target.id, value)
        else:
            self.bind(target.id, value, None, target, stmt)

    def unpack(self, targets: Sequence[ast.expr], value: Meta, stmt: ast.stmt) -> None:
        """`a, b = t`: the fields of a tuple."""
        if isinstance(value, (tuple, list)):
            if len(value) != len(targets):
                raise self.refuse(f"{len(targets)} names get {len(value)} values", stmt)
            fields: Sequence[Meta] = value
        else:
            whole = self.value(value, None, self.span(stmt))
            if not isinstance(whole, relax.Var):
                whole = self.bind("_", whole, None, stmt, stmt)
            fields = [relax.TupleGetItem(whole, i, span=self.span(stmt)) for i in range(len(targets))]
        for target, item in zip(targets, fields, strict=True):
            self.assign_value(target, item, stmt)

    def symbol_of(self, name: str, node: ast.expr) -> tir.Var | None:
        """The shape variable that `name = T.int64()` declares: the one of that name where there is one."""
        match node:
            case ast.Call(func=func, args=[], keywords=[]):
                construct = self.ev.construct_of(func)
                dtype = None if construct is None else DTYPE_NAMES.get(construct.path)
            case ast.Call(func=func, args=[*_, ast.Constant(value=str(word))], keywords=[]):
                construct = self.ev.construct_of(func)
                dtype = DTYPE_NAMES.get(f"T.{word}") if construct and construct.path in ("T.var", "T.Var") else None
                if construct is not None and construct.path == "I.TypeVar":  # TVM prints it before a local function
                    dtype = DTYPE_NAMES["T.int64"]
            case _:
                return None
        if dtype is None:
            return None
        value = self.ev.scope.lookup(name)
        if isinstance(value, tir.Var) and value.dtype == dtype:
            return value
        return tir.Var(name, dtype, span=self.span(node))

    def annotated(self, annotation: ast.expr) -> Type | None:
        construct = self.ev.construct_of(annotation.func) if isinstance(annotation, ast.Call) else None
        if construct is not None and construct.path == "I.StringType":
            return None  # the IR has no type of strings; TVM deduces it again
        return type_of(self.ev.eval(annotation), self.span(annotation))

    # ------------------------------------------------------------------------------------------------ bindings

    def value(self, value: Meta, ty: Type | None, span: Span) -> relax.Expr:
        """What is bound: numbers are tensor constants unless the annotation is of a primitive type."""
        if isinstance(value, (bool, int, float)) and isinstance(ty, PrimType):
            if ty.dtype.is_float:
                return relax.PrimValue(tir.FloatImm(ty.dtype, float(value), span=span), span=span)
            return relax.PrimValue(tir.IntImm(ty.dtype, int(value), span=span), span=span)
        if isinstance(value, (bool, int, float, np.ndarray, np.generic)):
            return constant_of(value, None, span)
        return expr_of(value, span)

    def bind(self, name: str, value: Meta, ty: Type | None, target: ast.AST, stmt: ast.stmt) -> relax.Var:
        span = self.span(stmt)
        if isinstance(value, MetaVar):
            value = value.value
            self.ev.scope.define(name, value)
            return relax.Var(name, None)
        if isinstance(value, _ALIASES):
            self.ev.scope.define(name, value)
            return relax.Var(name, None)
        dataflow = self.outputs is not None and (self.depth > 0 or self.outputs.keeps(name))
        if isinstance(value, Cast):
            var = relax.Var(name, own_type(ty, name), dataflow, span=self.span(target))
            self.add(relax.MatchCast(var, value.value, value.ty, span=span))
        else:
            bound = self.value(value, ty, span)
            if ty is None and isinstance(bound, relax.PrimValue):
                ty = PrimType(bound.value.dtype)
            var = relax.Var(name, own_type(ty, name), dataflow, span=self.span(target))
            self.add(relax.VarBinding(var, bound, span=span))
        if name != "_":
            self.ev.scope.define(name, var)
        return var

    def add(self, binding: relax.Binding) -> None:
        self.sequence.bindings.append(binding)

    def block(self, context: ast.expr, body: list[ast.stmt], stmt: ast.stmt) -> None:
        if not isinstance(self.ev.eval(context), Dataflow):
            raise self.refuse("`with` opens `R.dataflow()` only", context)
        if self.outputs is not None:
            raise self.refuse("a dataflow block stands in no other", stmt)
        self.sequence.close()
        outer, self.sequence = self.sequence, _Sequence()
        self.outputs = self.declared_outputs(body)
        depth, self.depth = self.depth, 0
        self.statements(body)
        self.outputs, self.depth = None, depth
        inner, self.sequence = self.sequence, outer
        outer.blocks.append(relax.DataflowBlock(tuple(inner.bindings), span=self.span(stmt)))

    def declared_outputs(self, body: Sequence[ast.stmt]) -> _Outputs:
        last = {name: _place(stmt) for stmt in body for name in _bound_names(stmt)}
        names: set[str] = set()
        for stmt in body:
            if not (_is_output(self.ev, stmt) and isinstance(stmt, ast.Expr) and isinstance(stmt.value, ast.Call)):
                continue
            for arg in stmt.value.args:
                if not isinstance(arg, ast.Name) or stmt.value.keywords:
                    raise self.refuse("`R.output` takes variables of its block", stmt)
                if arg.id not in last:
                    raise fail(UNKNOWN_NAME, f"`{arg.id}` is not bound in this dataflow block", self.span(arg))
                names.add(arg.id)
        return _Outputs(frozenset(names), last)

    # --------------------------------------------------------------------------------- branches, local functions

    def choice(self, stmt: ast.If) -> None:
        if not stmt.orelse:
            raise self.refuse("an `if` in Relax has an `else`", stmt)
        condition = expr_of(self.ev.eval(stmt.test), self.span(stmt.test))
        first, true_branch = self.branch(stmt.body, stmt)
        second, false_branch = self.branch(stmt.orelse, stmt)
        if first.name != second.name:
            message = f"the branches end with bindings of `{first.name}` and `{second.name}`, not of one variable"
            raise self.refuse(message, stmt)
        ty = first.ty or second.ty
        dataflow = self.outputs is not None and (self.depth > 0 or self.outputs.keeps(first.name))
        var = relax.Var(first.name, own_type(ty, first.name), dataflow, span=first.span)
        value = relax.If(condition, true_branch, false_branch, span=self.span(stmt))
        self.add(relax.VarBinding(var, value, span=self.span(stmt)))
        if var.name != "_":
            self.ev.scope.define(var.name, var)

    def branch(self, body: list[ast.stmt], stmt: ast.If) -> tuple[relax.Var, relax.SeqExpr]:
        """The variable that a branch binds last, and the branch: its value is what that variable is bound to."""
        outer, self.sequence = self.sequence, _Sequence()
        self.depth += 1
        with self.ev.scope.frame():
            self.statements(body)
        self.depth -= 1
        inner, self.sequence = self.sequence, outer
        span = self.span(body[0])
        if not inner.bindings:
            inner_block = inner.blocks[-1] if inner.blocks else None
            values = (
                [binding.var for binding in inner_block.bindings if not binding.var.dataflow] if inner_block else []
            )
            if not values:
                raise self.refuse("a branch of `if` ends with a binding", stmt)
            return values[-1], inner.ending_in(values[-1], span)
        last = inner.bindings[-1]
        if isinstance(last, relax.VarBinding) and not isinstance(last.value, _ADDED):
            inner.bindings.pop()
            return last.var, inner.ending_in(last.value, span)
        return last.var, inner.ending_in(last.var, span)

    def local(self, node: ast.FunctionDef) -> None:
        span = self.span(node)
        if len(node.decorator_list) != 1:
            raise self.refuse(f"the local function `{node.name}` has no decorator `@R.function`", node)
        decorator = node.decorator_list[0]
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        construct = self.ev.construct_of(called)
        if construct is None or construct.path != "R.function":
            raise self.refuse("a local function is a Relax function", node)
        site = self.ev.site(decorator, construct) if isinstance(decorator, ast.Call) else None
        options = {} if site is None else dict(site.kwargs)
        dataflow = self.outputs is not None and (self.depth > 0 or self.outputs.keeps(node.name))
        var = relax.Var(node.name, None, dataflow, span=span)
        self.ev.scope.define(node.name, var)  # before its body: it may call itself
        function = read_relax_function(self.ev, node, Decorator(construct.path, options, self.span(decorator)))
        self.add(relax.VarBinding(var, function, span=span))


def own_type(ty: Type | None, name: str) -> Type | None:
    """The type of a variable: a primitive one without value names a variable of its own."""
    if isinstance(ty, PrimType) and ty.value is None:
        return replace(ty, value=tir.Var(name, ty.dtype))
    return ty


def _named(reader: _Reader, target: ast.expr, value: ast.expr) -> tir.Var | None:
    return reader.symbol_of(target.id, value) if isinstance(target, ast.Name) else None


def _is_output(ev: Evaluator, stmt: ast.stmt) -> bool:
    if not (isinstance(stmt, ast.Expr) and isinstance(stmt.value, ast.Call)):
        return False
    construct = ev.construct_of(stmt.value.func)
    return construct is not None and construct.path == "R.output"


def _place(stmt: ast.stmt) -> tuple[int, int]:
    return stmt.lineno, stmt.col_offset


def _bound_names(stmt: ast.stmt) -> list[str]:
    match stmt:
        case ast.Assign(targets=targets):
            return [node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)]
        case ast.AnnAssign(target=ast.Name(id=name)) | ast.FunctionDef(name=name):
            return [name]
        case ast.If(body=body):
            return _bound_names(body[-1])
        case _:
            return []


def _word(stmt: ast.stmt) -> str:
    return type(stmt).__name__.lower()
