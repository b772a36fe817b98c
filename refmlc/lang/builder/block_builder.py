"""`BlockBuilder`: a module built binding by binding, each with the type that follows for its value.

| state                 | allowed                                                            |
|-----------------------|--------------------------------------------------------------------|
| outside of a function | `function`, `get`, `add_func`, `update_func`                       |
| in a function         | `dataflow`, `emit…`, `match_cast`, `emit_func_output` (once, last) |
| in a dataflow block   | `emit…`, `match_cast`, `emit_output`                               |

Names: `lv`, `lv1` … for what only a dataflow block sees, `gv`, `gv1` … for the rest. Nested calls become bindings of
their own, innermost first. Fails: RM112 for misuse of the state, and as the check does where a value is ill-typed.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE
from refmlc.diag.entry import entry_points
from refmlc.lang.builder.te_call import te_call
from refmlc.lang.ir import IRModule, relax, tir
from refmlc.lang.ir.equal import structural_equal
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.types import AnyType, Type
from refmlc.lang.ir.visit import substitute
from refmlc.lang.library import OPERATORS, type_of as operator_type
from refmlc.lang.wellformed.infer import type_of

AnyFunction = tir.PrimFunc | relax.Function | relax.ExternFunc


@dataclass
class _Draft:
    """A function while it is built. `outputs`: what leaves the open dataflow block; None outside of one."""

    name: str
    params: tuple[relax.Var, ...] | None
    attrs: Mapping[str, tir.Attr]
    private: bool
    pure: bool
    blocks: list[relax.Block] = field(default_factory=list)
    bindings: list[relax.Binding] = field(default_factory=list)
    outputs: set[relax.Var] | None = None
    done: relax.Function | None = None
    counts: dict[str, int] = field(default_factory=dict)

    def close_block(self) -> None:
        """Close the current block of bindings."""
        if self.bindings:
            kind = relax.BindingBlock if self.outputs is None else relax.DataflowBlock
            self.blocks.append(kind(tuple(self.bindings)))
            self.bindings = []

    def fresh(self, hint: str) -> str:
        """`hint`, with a number where it is taken."""
        uses = self.counts.get(hint)
        self.counts[hint] = 0 if uses is None else uses + 1
        return hint if uses is None else f"{hint}{uses + 1}"


@entry_points
class BlockBuilder:
    """Builds one module. Not for concurrent use."""

    def __init__(self, module: IRModule | None = None) -> None:
        """Start from `module`, or from nothing."""
        self._functions: dict[str, AnyFunction] = {} if module is None else dict(module.functions)
        self._attrs = {} if module is None else module.attrs
        self._infos = {} if module is None else module.global_infos
        self._drafts: list[_Draft] = []
        self._types: dict[relax.Var, Type | None] = {}
        self._values: dict[relax.Var, relax.Expr] = {}
        self._bare: dict[Node, Node] = {}

    # ---------------------------------------------------------------------------------------------- scopes

    @contextmanager
    def function(
        self,
        name: str,
        params: Sequence[relax.Var] | None = None,
        attrs: Mapping[str, tir.Attr] | None = None,
        *,
        private: bool = False,
        pure: bool = True,
    ) -> Iterator[None]:
        """A function of the module; `params` may also be given to `emit_func_output`."""
        if name in self._functions:
            raise fail(BAD_USAGE, f"the module has a function `{name}` already")
        draft = _Draft(name, None if params is None else tuple(params), attrs or {}, private, pure)
        self._drafts.append(draft)
        try:
            yield
        finally:
            self._drafts.pop()
        if draft.done is None:
            raise fail(BAD_USAGE, f"`{name}` has no output: call emit_func_output at its end")
        self._functions[name] = draft.done

    @contextmanager
    def dataflow(self) -> Iterator[None]:
        """A dataflow block."""
        draft = self._draft("dataflow")
        if draft.outputs is not None:
            raise fail(BAD_USAGE, "a dataflow block is inside a dataflow block")
        draft.close_block()
        draft.outputs = set()
        yield
        draft.close_block()
        draft.outputs = None

    @contextmanager
    def scope(self, params: Sequence[relax.Var] = ()) -> Iterator[list[relax.Block]]:
        """Bindings of a local function or a branch; yields its blocks, complete when the context ends."""
        draft = _Draft("", tuple(params), {}, private=True, pure=True)
        self._drafts.append(draft)
        try:
            yield draft.blocks
            draft.close_block()
        finally:
            self._drafts.pop()

    def again(self, binding: relax.Binding, value: relax.Expr) -> relax.Var:
        """The binding with another value, its variable new and of the same name; itself where the value is the same."""
        draft = self._draft("a binding")
        if value is binding.value:
            draft.bindings.append(binding)
            ty = binding.ty if isinstance(binding, relax.MatchCast) else self.type_of(value) or binding.var.ty
            self._types[binding.var], self._values[binding.var] = ty, value
            return binding.var
        if isinstance(binding, relax.MatchCast):
            return self.match_cast(value, binding.ty, binding.var.name)
        return self._bound(draft, self.normalize(value), binding.var.name, dataflow=binding.var.dataflow)

    def _draft(self, what: str) -> _Draft:
        if not self._drafts:
            raise fail(BAD_USAGE, f"{what} is outside a function")
        draft = self._drafts[-1]
        if draft.done is not None:
            raise fail(BAD_USAGE, f"{what} comes after the output of `{draft.name}`")
        return draft

    # -------------------------------------------------------------------------------------------- bindings

    def emit(self, expr: object, name_hint: str = "") -> relax.Var:
        """A variable that is `expr`: visible in the dataflow block only, where one is open."""
        draft = self._draft("emit")
        return self._bound(draft, self.normalize(expr), name_hint, dataflow=draft.outputs is not None)

    def emit_output(self, expr: object, name_hint: str = "") -> relax.Var:
        """A variable of the dataflow block that is visible after it."""
        draft = self._draft("emit_output")
        if draft.outputs is None:
            raise fail(BAD_USAGE, "emit_output is outside a dataflow block: it names the outputs of one")
        return self._bound(draft, self.normalize(expr), name_hint, dataflow=False)

    def match_cast(self, value: relax.Expr, ty: Type, name_hint: str = "") -> relax.Var:
        """A variable that is `value`, which must have type `ty` when it runs; new dimensions of `ty` are bound."""
        draft = self._draft("match_cast")
        dataflow = draft.outputs is not None
        var = relax.Var(draft.fresh(name_hint or ("lv" if dataflow else "gv")), ty, dataflow)
        draft.bindings.append(relax.MatchCast(var, self.normalize(value), ty))
        self._types[var] = ty
        return var

    def emit_te(
        self, func: Callable[..., object], *args: object, primfunc_name_hint: str | None = None, **kwargs: object
    ) -> relax.Var:
        """A variable that is a call of what `func` makes of tensor expressions."""
        return self.emit(self.call_te(func, *args, primfunc_name_hint=primfunc_name_hint, **kwargs))

    def call_te(
        self, func: Callable[..., object], *args: object, primfunc_name_hint: str | None = None, **kwargs: object
    ) -> relax.Call:
        """The call alone; the function is added to the module, or an equal one of it is taken."""
        te_function = te_call(func, args, kwargs, self.type_of)
        name = primfunc_name_hint or str(getattr(func, "__name__", "te_func"))
        return te_function.call(self.add_func(te_function.func, "te_func" if name == "<lambda>" else name))

    def emit_func_output(self, output: object, params: Sequence[relax.Var] | None = None) -> tir.GlobalVar:
        """The result of the function; a tuple where several are given. Fails: RM112 without parameters."""
        draft = self._draft("emit_func_output")
        if draft.outputs is not None:
            raise fail(BAD_USAGE, "emit_func_output is inside a dataflow block")
        if params is not None and draft.params is not None:
            raise fail(BAD_USAGE, f"the parameters of `{draft.name}` are given twice")
        parameters = draft.params if params is None else tuple(params)
        if parameters is None:
            raise fail(
                BAD_USAGE, f"`{draft.name}` has no parameters: give `params` (an empty list, where it takes none)"
            )
        body = self.normalize(output)
        draft.close_block()
        ret = self.type_of(body)
        seq = relax.SeqExpr(tuple(draft.blocks), body)
        draft.done = relax.Function(parameters, seq, ret, draft.pure, draft.private, draft.attrs)
        return tir.GlobalVar(draft.name)

    def _bound(self, draft: _Draft, value: relax.Expr, hint: str, *, dataflow: bool) -> relax.Var:
        ty = self.type_of(value)
        var = relax.Var(draft.fresh(hint or ("lv" if dataflow else "gv")), ty or AnyType(), dataflow)
        if isinstance(value, relax.Call) and value.ty_args:
            # A call that says its type leaves nothing to annotate, as in TVM's text: `get` takes it away.
            self._bare[var] = replace(var, ty=None)
        draft.bindings.append(relax.VarBinding(var, value))
        self._types[var] = ty
        self._values[var] = value
        return var

    # ------------------------------------------------------------------------------------- values and types

    def type_of(self, expr: relax.Expr) -> Type | None:
        """The type that follows for `expr` here; None where none does. Fails: as the operator does."""
        if isinstance(expr, relax.Call) and isinstance(expr.op, relax.Op) and expr.op.name in OPERATORS:
            types = [self.type_of(arg) for arg in expr.args]
            return operator_type(OPERATORS[expr.op.name], types, expr.attrs)
        return type_of(expr, IRModule(self._functions), self._types)

    def normalize(self, expr: object) -> relax.Expr:
        """`expr` with every nested call bound to a variable. Tuples and lists of Python are tuples."""
        match expr:
            case tuple() | list():
                return relax.Tuple(tuple(self._leaf(operand) for operand in expr))
            case relax.Tuple(fields):
                return replace(expr, fields=tuple(self._leaf(operand) for operand in fields))
            case relax.Call(args=args):
                return replace(expr, args=tuple(self._leaf(operand) for operand in args))
            case relax.TupleGetItem(value, _):
                return replace(expr, tuple_value=self._leaf(value))
        if isinstance(expr, relax.Expr):
            return expr
        raise fail(BAD_USAGE, f"a Relax expression is needed; this is {type(expr).__name__}")

    def _leaf(self, expr: object) -> relax.Expr:
        """`expr`, or a variable that is bound to it where it is a call or an access."""
        match expr:
            case relax.Call() | relax.TupleGetItem() | relax.If():
                return self.emit(expr)
            case _:
                return self.normalize(expr)

    def lookup_binding(self, var: relax.Var) -> relax.Expr | None:
        """The value that `var` was bound to; None for a parameter."""
        return self._values.get(var)

    # ---------------------------------------------------------------------------------------------- module

    def add_func(self, func: AnyFunction, name: str) -> tir.GlobalVar:
        """Add a function under `name`, with a number where that is taken; an equal one there is is taken instead."""
        number, unique = 0, name
        while unique in self._functions or any(unique == draft.name for draft in self._drafts):
            if unique in self._functions and structural_equal(self._functions[unique], func):
                return tir.GlobalVar(unique)
            number += 1
            unique = f"{name}{number}"
        self._functions[unique] = func
        return tir.GlobalVar(unique)

    def update_func(self, name: str | tir.GlobalVar, func: AnyFunction) -> None:
        """Put `func` in the place of a function, or add it, as TVM does."""
        self._functions[name.name if isinstance(name, tir.GlobalVar) else name] = func

    def get(self) -> IRModule:
        """The module so far. Fails: RM112 while a function is open."""
        if self._drafts:
            raise fail(BAD_USAGE, f"the function `{self._drafts[-1].name}` is not finished")
        functions = {
            name: substitute(func, self._bare) if self._bare and isinstance(func, relax.Function) else func
            for name, func in self._functions.items()
        }
        return IRModule(functions, self._attrs, self._infos)

    finalize = get
