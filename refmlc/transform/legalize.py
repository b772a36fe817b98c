"""Operators of the library become calls of TensorIR functions of the module, where the types say enough.

| before                     | after                                                                        |
|----------------------------|------------------------------------------------------------------------------|
| `R.nn.softmax(x, axis=1)`  | `R.call_tir(cls.softmax, (x,), out_ty=…)`, and a function `softmax`           |
| a tuple as an argument     | its fields                                                                   |
| a size no tensor binds     | `tir_vars` of the call                                                       |
| types that are not known   | the call as it is: it is lowered when it is executed                         |

Equal functions are shared. The meaning is kept to the bit: a call of the operator executes the same function.
"""

from collections.abc import Sequence
from dataclasses import replace

from refmlc.check.infer import type_of
from refmlc.diag import RefmlcError
from refmlc.ir import IRModule, relax, tir
from refmlc.ir.equal import structural_equal
from refmlc.ir.types import TensorType, TupleType, Type
from refmlc.library import OPERATORS, Lowered, lowered


def legalize_ops(module: IRModule) -> IRModule:
    """`module` with functions in place of operators; itself where it has none of them."""
    work = _Legalizer(module)
    functions = {
        name: work.function(func) if isinstance(func, relax.Function) else func
        for name, func in module.functions.items()
    }
    return replace(module, functions={**functions, **work.made}) if work.made else module


class _Legalizer:
    """Walks functions in the order of execution, knowing the types of what is bound so far."""

    def __init__(self, module: IRModule) -> None:
        self.module = module
        self.made: dict[str, tir.PrimFunc] = {}
        self.known: dict[relax.Var, Type | None] = {}

    def function(self, func: relax.Function) -> relax.Function:
        return replace(func, body=self.sequence(func.body))

    def sequence(self, seq: relax.SeqExpr) -> relax.SeqExpr:
        blocks = tuple(replace(block, bindings=tuple(map(self.binding, block.bindings))) for block in seq.blocks)
        return replace(seq, blocks=blocks, body=self.expr(seq.body))

    def binding(self, binding: relax.Binding) -> relax.Binding:
        value = self.expr(binding.value)
        match binding:
            case relax.VarBinding(var=var):
                self.known[var] = type_of(value, self.module, self.known) or var.ty
            case relax.MatchCast(var=var, ty=ty):
                self.known[var] = ty
        return replace(binding, value=value)

    def expr(self, expr: relax.Expr) -> relax.Expr:
        match expr:
            case relax.Call(op=op, args=args):
                call = replace(expr, args=tuple(map(self.expr, args)))
                return self.operator(call, op.name) if isinstance(op, relax.Op) and op.name in OPERATORS else call
            case relax.If(condition, yes, no):
                return replace(
                    expr, condition=self.expr(condition), true_branch=self.sequence(yes), false_branch=self.sequence(no)
                )
            case relax.Tuple(fields):
                return replace(expr, fields=tuple(map(self.expr, fields)))
            case relax.TupleGetItem(value, _):
                return replace(expr, tuple_value=self.expr(value))
            case relax.SeqExpr():
                return self.sequence(expr)
            case relax.Function():
                return self.function(expr)
            case _:
                return expr

    def operator(self, call: relax.Call, name: str) -> relax.Expr:
        types = [type_of(arg, self.module, self.known) for arg in call.args]
        try:
            found = lowered(OPERATORS[name], types, call.attrs)
        except RefmlcError:
            return call  # the check has told it, or the run does
        if found is None:
            return call
        callee = tir.GlobalVar(self.named(name.rpartition(".")[2], found), span=call.span)
        tensors = relax.Tuple(_tensors(call.args, types), span=call.span)
        sizes = (relax.ShapeExpr(found.sizes, span=call.span),) if found.sizes else ()
        op = relax.Op("call_tir", span=call.span)
        return relax.Call(op, (callee, tensors, *sizes), {}, (found.result,), span=call.span)

    def named(self, stem: str, found: Lowered) -> str:
        """The name of an equal function, else a new one for this."""
        func = found.func
        name, number = stem, 0
        while name in self.module.functions or name in self.made:
            if name in self.made and structural_equal(self.made[name], func):
                return name
            number += 1
            name = f"{stem}{number}"
        self.made[name] = func
        return name


def _tensors(args: Sequence[relax.Expr], types: Sequence[Type | None]) -> tuple[relax.Expr, ...]:
    """The tensors among the arguments; of tuples their fields."""
    found: list[relax.Expr] = []
    for arg, ty in zip(args, types, strict=True):
        match arg, ty:
            case _, TensorType():
                found.append(arg)
            case relax.Tuple(fields), TupleType(fields=inner):
                found += _tensors(fields, inner)
            case _, TupleType(fields=inner):
                items = [relax.TupleGetItem(arg, place, span=arg.span) for place in range(len(inner))]
                found += _tensors(items, inner)
    return tuple(found)
