"""Operators of the library become calls of TensorIR functions of the module, where the types say enough.

| before                    | after                                                                  |
|---------------------------|------------------------------------------------------------------------|
| `R.nn.softmax(x, axis=1)` | `R.call_tir(cls.softmax, (x,), out_ty=…)`, and a function `softmax`    |
| a tuple as an argument    | its fields                                                             |
| a size no tensor binds    | `tir_vars` of the call                                                 |
| a shape of elements       | a call that counts, `R.tensor_to_shape`, `R.match_cast`, then the call |
| types that are not known  | the call as it is: it is lowered when it is executed                   |
| a number without a name   | the same: nothing can say it to the function                           |

Equal functions are shared. The meaning is kept to the bit: a call of the operator executes the same function.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from refmlc.diag import RefmlcError
from refmlc.diag.entry import entry_point
from refmlc.lang.dtypes import INT64
from refmlc.lang.ir import IRModule, relax, tir
from refmlc.lang.ir.equal import structural_equal
from refmlc.lang.ir.types import PrimType, ShapeType, TensorType, TupleType, Type
from refmlc.lang.library import OPERATORS, Lowered, Operator, lowered
from refmlc.lang.wellformed.infer import type_of

Func = TypeVar("Func", tir.PrimFunc, relax.Function)


@entry_point
def legalize_ops(module: IRModule) -> IRModule:
    """`module` with functions in place of operators; itself where it has none of them."""
    work = _Legalizer(module)
    functions = {
        name: work.function(func) if isinstance(func, relax.Function) else func
        for name, func in module.functions.items()
    }
    return replace(module, functions={**functions, **work.added}) if work.added else module


class _Legalizer:
    """Walks functions in the order of execution, knowing the types of what is bound so far."""

    def __init__(self, module: IRModule) -> None:
        self.module = module
        self.added: dict[str, tir.PrimFunc] = {}
        self.types: dict[relax.Var, Type | None] = {}
        self.earlier: dict[str, list[tuple[relax.Call, Lowered | None]]] = {}  # types and attributes, as of a call

    def function(self, func: relax.Function) -> relax.Function:
        return replace(func, body=self.sequence(func.body))

    def sequence(self, seq: relax.SeqExpr) -> relax.SeqExpr:
        blocks = tuple(
            replace(
                block,
                bindings=tuple(
                    lowered_binding for binding in block.bindings for lowered_binding in self.bindings(binding, block)
                ),
            )
            for block in seq.blocks
        )
        return replace(seq, blocks=blocks, body=self.expr(seq.body))

    def binding(self, binding: relax.Binding) -> relax.Binding:
        value = self.expr(binding.value)
        match binding:
            case relax.VarBinding(var=var):
                self.types[var] = type_of(value, self.module, self.types) or var.ty
            case relax.MatchCast(var=var, ty=ty):
                self.types[var] = ty
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
        lowering = self.lowered(OPERATORS[name], call)
        return call if lowering is None else self.called(call, name, lowering)

    def lowered(self, operator: Operator, call: relax.Call, counts: Sequence[tir.Var] | None = None) -> Lowered | None:
        """The function of a call; None where the types do not say it, or what they say is refused."""
        types = [type_of(arg, self.module, self.types) for arg in call.args]
        if any(map(_is_number_without_name, types)):
            return None
        if counts is not None or None in types:
            return _lowered(operator, types, call.attrs, counts)
        earlier = self.earlier.setdefault(operator.name, [])
        shape = relax.Call(call.op, (), call.attrs, tuple(ty for ty in types if ty is not None))
        for other, lowering in earlier:
            if structural_equal(other, shape):
                return lowering
        earlier.append((shape, _lowered(operator, types, call.attrs, None)))
        return earlier[-1][1]

    def called(self, call: relax.Call, name: str, lowering: Lowered) -> relax.Call:
        """The call of the function that was found, in place of a call of the operator."""
        types = [type_of(arg, self.module, self.types) for arg in call.args]
        callee = tir.GlobalVar(
            add_function(self.module, self.added, name.rpartition(".")[2], lowering.func), span=call.span
        )
        tensors = relax.Tuple(_tensors(call.args, types), span=call.span)
        sizes = (relax.ShapeExpr(lowering.sizes, span=call.span),) if lowering.sizes else ()
        op = relax.Op("call_tir", span=call.span)
        return relax.Call(op, (callee, tensors, *sizes), {}, (lowering.result,), span=call.span)

    def bindings(self, binding: relax.Binding, block: relax.Block) -> list[relax.Binding]:
        """The binding; before it those that count what the shape of its value depends on."""
        value = binding.value
        if isinstance(binding, relax.VarBinding) and isinstance(value, relax.Call) and isinstance(value.op, relax.Op):
            operator = OPERATORS.get(value.op.name)
            if operator is not None and operator.counting is not None:
                call = replace(value, args=tuple(map(self.expr, value.args)))
                inside = isinstance(block, relax.DataflowBlock)
                return self.with_counts(binding, call, (operator, operator.counting), inside=inside)
        return [self.binding(binding)]

    def with_counts(
        self, binding: relax.VarBinding, call: relax.Call, operators: tuple[Operator, Operator], *, inside: bool
    ) -> list[relax.Binding]:
        """What is counted, as a tensor and as a shape; each number gets a name; the call, whose shape has them.

        `inside`: of a dataflow block, whose own variables these are then.
        """
        operator, counting = operators
        name, span, counts = operator.name.rpartition(".")[2], call.span, self.lowered(counting, call)
        number = _length(counts)
        sizes = tuple(tir.Var(f"{name}_{place}", INT64) for place in range(number))
        lowering = self.lowered(operator, call, sizes)
        if counts is None or lowering is None:
            return [self.binding(binding)]
        count = relax.Var(f"{name}_count", counts.result, dataflow=inside)
        shape_var = relax.Var(f"{name}_shape", ShapeType(None, number), dataflow=inside)
        sizes_var = relax.Var(f"{name}_sizes", ShapeType(sizes), dataflow=inside)
        shape = relax.Call(relax.Op("tensor_to_shape", span=span), (count,), span=span)
        lowered_call = self.called(call, operator.name, lowering)
        self.types[binding.var] = lowering.result
        return [
            relax.VarBinding(count, self.called(call, f"{name}_count", counts), span=span),
            relax.VarBinding(shape_var, shape, span=span),
            relax.MatchCast(sizes_var, shape_var, ShapeType(sizes), span=span),
            replace(binding, value=lowered_call),
        ]


def _lowered(
    operator: Operator, types: Sequence[Type | None], attrs: Mapping[str, tir.Attr], counts: Sequence[tir.Var] | None
) -> Lowered | None:
    try:
        return lowered(operator, types, attrs, counts)
    except RefmlcError:
        return None  # the check has told it, or the run does


def add_function(module: IRModule, added: dict[str, Func], stem: str, func: Func) -> str:
    """The name of a function in `added` that equals `func`; else `func` is added by a name that `module` has not."""
    name, number = stem, 0
    while name in module.functions or name in added:
        if name in added and structural_equal(added[name], func):
            return name
        number += 1
        name = f"{stem}{number}"
    added[name] = func
    return name


def _length(counts: Lowered | None) -> int:
    """How many numbers are counted."""
    ty = None if counts is None else counts.result
    extent = ty.shape[0] if isinstance(ty, TensorType) and ty.shape else None
    return extent.value if isinstance(extent, tir.IntImm) else 0


def _is_number_without_name(ty: Type | None) -> bool:
    """Whether a type says of a number, or of one in a tuple, no more than its dtype."""
    match ty:
        case PrimType(value=value):
            return value is None
        case TupleType(fields=fields):
            return any(map(_is_number_without_name, fields))
        case _:
            return False


def _tensors(args: Sequence[relax.Expr], types: Sequence[Type | None]) -> tuple[relax.Expr, ...]:
    """The tensors among the arguments; of tuples their fields."""
    tensors: list[relax.Expr] = []
    for arg, ty in zip(args, types, strict=True):
        match arg, ty:
            case _, TensorType():
                tensors.append(arg)
            case relax.Tuple(fields), TupleType(fields=inner):
                tensors += _tensors(fields, inner)
            case _, TupleType(fields=inner):
                items = [relax.TupleGetItem(arg, place, span=arg.span) for place in range(len(inner))]
                tensors += _tensors(items, inner)
    return tuple(tensors)
