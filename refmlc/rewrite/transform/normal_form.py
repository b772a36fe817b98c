"""`normalize`: nothing is nested any more, and every variable has the type that follows for it.

| stands where a value is needed                         | afterwards                                    |
|--------------------------------------------------------|-----------------------------------------------|
| variable, constant, shape, number, string, function    | the same                                      |
| tuple                                                  | the same, its fields being of this table      |
| call, field of a tuple, `if`                           | a variable that is bound to it just before    |

New variables are `lv`, `lv1`, … in dataflow blocks, `gv`, `gv1`, … elsewhere. The order of evaluation stays as it is:
arguments from the left to the right, each before its call.

Source: TVM's `relax.transform.Normalize`, which it also applies to each text that it reads.
"""

from collections.abc import Mapping
from dataclasses import replace

from refmlc.diag.entry import entry_point
from refmlc.lang.ir import IRModule, relax
from refmlc.lang.ir.types import Type
from refmlc.lang.ir.visit import walk
from refmlc.lang.wellformed.infer import type_of
from refmlc.rewrite.transform.deduce import deduced_function


@entry_point
def normalize(module: IRModule) -> IRModule:
    """`module`, its Relax functions in normal form."""
    functions = dict(module.functions)
    for name, func in functions.items():
        if isinstance(func, relax.Function):
            functions[name] = deduced_function(_Normal(func, module).function(func), module)
    return replace(module, functions=functions)


class _Normal:
    """The state of one function: names that are taken, variables that got a type, what is known of them."""

    def __init__(self, func: relax.Function, module: IRModule) -> None:
        self.module = module
        self.taken = {node.name for node in walk(func) if isinstance(node, relax.Var)}
        self.typed: dict[relax.Var, relax.Var] = {}
        self.types: dict[relax.Var, Type | None] = {}
        self.bindings: list[relax.Binding] = []
        self.dataflow = False

    def function(self, func: relax.Function) -> relax.Function:
        """A function, or a local one."""
        return replace(func, body=self.sequence(func.body))

    def sequence(self, seq: relax.SeqExpr) -> relax.SeqExpr:
        """A sequence; what its value needs is bound after its blocks."""
        outer = self.bindings, self.dataflow
        blocks = [self.block(block) for block in seq.blocks]
        self.bindings, self.dataflow = [], False
        body = self.leaf(seq.body)
        last = blocks[-1] if blocks else None
        if self.bindings and isinstance(last, relax.BindingBlock):
            blocks[-1] = replace(last, bindings=(*last.bindings, *self.bindings))
        elif self.bindings:
            blocks.append(relax.BindingBlock(tuple(self.bindings)))
        self.bindings, self.dataflow = outer
        return replace(seq, blocks=tuple(blocks), body=body)

    def block(self, block: relax.Block) -> relax.Block:
        """A block, with the bindings that its own need."""
        self.bindings, self.dataflow = [], isinstance(block, relax.DataflowBlock)
        for binding in block.bindings:
            self.binding(binding)
        return replace(block, bindings=tuple(self.bindings))

    def binding(self, binding: relax.Binding) -> None:
        """Add a binding, after those that it needs."""
        if isinstance(binding, relax.MatchCast):
            value = self.leaf(binding.value)
            self.bindings.append(replace(binding, var=self.variable(binding.var, binding.ty), value=value))
            return
        inner = self.expr(binding.value)
        self.bindings.append(replace(binding, var=self.variable(binding.var, self.type_of(inner)), value=inner))

    def variable(self, var: relax.Var, ty: Type | None) -> relax.Var:
        """The variable, with the type that it is given or that follows."""
        if var.ty is None and ty is not None:
            self.typed[var] = replace(var, ty=ty)
        typed_var = self.typed.get(var, var)
        self.types[typed_var] = ty or typed_var.ty
        return typed_var

    def type_of(self, expr: relax.Expr) -> Type | None:
        """The type of an expression, as far as it follows."""
        return type_of(expr, self.module, self.types)

    def expr(self, expr: relax.Expr) -> relax.Expr:
        """The expression, with nothing nested in it."""
        match expr:
            case relax.Var():
                return self.typed.get(expr, expr)
            case relax.Tuple(fields):
                return _with_parts(expr, {"fields": tuple(self.leaf(field) for field in fields)})
            case relax.TupleGetItem(value):
                return _with_parts(expr, {"tuple_value": self.leaf(value)})
            case relax.Call(op, args):
                return _with_parts(expr, {"op": self.leaf(op), "args": tuple(self.leaf(arg) for arg in args)})
            case relax.If(condition, yes, no):
                first = self.leaf(condition)
                return replace(expr, condition=first, true_branch=self.sequence(yes), false_branch=self.sequence(no))
            case relax.SeqExpr():
                return self.sequence(expr)
            case relax.Function():
                return self.function(expr)
        return expr

    def leaf(self, expr: relax.Expr) -> relax.Expr:
        """The expression, or a new variable that is bound to it."""
        flat = self.expr(expr)
        if not isinstance(flat, (relax.Call, relax.TupleGetItem, relax.If, relax.SeqExpr, relax.Function)):
            return flat
        var = relax.Var(self.name(), self.type_of(flat), dataflow=self.dataflow, span=flat.span)
        self.types[var] = var.ty
        self.bindings.append(relax.VarBinding(var, flat, span=flat.span))
        return var

    def name(self) -> str:
        """A name for a new variable."""
        stem, number = "lv" if self.dataflow else "gv", 0
        while (name := f"{stem}{number or ''}") in self.taken:
            number += 1
        self.taken.add(name)
        return name


def _with_parts(expr: relax.Expr, parts: Mapping[str, object]) -> relax.Expr:
    """The expression with these parts; itself where all of them are as they were."""
    unchanged = all(_is(getattr(expr, name), part) for name, part in parts.items())
    changed: relax.Expr = expr if unchanged else replace(expr, **parts)  # type: ignore[arg-type]  # names of its fields
    return changed


def _is(old: object, new: object) -> bool:
    if isinstance(old, tuple) and isinstance(new, tuple):
        return len(old) == len(new) and all(a is b for a, b in zip(old, new, strict=True))
    return old is new
