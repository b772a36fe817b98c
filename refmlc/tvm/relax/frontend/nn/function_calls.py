"""Operators of `nn.op` that call functions: of tensor expressions, of TensorIR, and packed ones by name."""

from collections.abc import Callable, Mapping, Sequence

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_ARGUMENTS, UNSUPPORTED_OP
from refmlc.lang.ir import relax, tir
from refmlc.lang.te import Value
from refmlc.tvm.relax.call_constructors import call_dps_packed, call_tir, call_tir_inplace
from refmlc.tvm.relax.constructors import prim_value
from refmlc.tvm.relax.frontend.nn.tensor import Tensor, emitted
from refmlc.tvm.relax.frontend.nn.tracing import current_builder

Result = Tensor | Sequence[Tensor]


def tensor_expr_op(
    tensor_expr_func: Callable[..., object],
    name_hint: str,
    args: Sequence[object],
    *,
    attrs: Mapping[str, object] | None = None,
) -> Tensor | tuple[Tensor, ...]:
    """The call of what a function of tensor expressions makes. Fails: RM501 with attributes of the function."""
    if attrs:
        raise fail(UNSUPPORTED_OP, "`tensor_expr_op` with `attrs` is not supported")
    values = [argument.expr if isinstance(argument, Tensor) else argument for argument in args]
    return emitted(current_builder().emit_te(tensor_expr_func, *values, primfunc_name_hint=name_hint), name_hint)


def tensor_ir_op(func: tir.PrimFunc, name_hint: str, args: object, out: Result) -> Tensor | tuple[Tensor, ...]:
    """The call of a TensorIR function, which the module gets; `out` says what it writes."""
    callee = current_builder().add_func(func, name_hint)
    tensors, numbers = _arguments(args)
    return emitted(current_builder().emit(_with_numbers(call_tir(callee, tensors, _types(out)), numbers)), name_hint)


def tensor_ir_inplace_op(
    func: tir.PrimFunc, name_hint: str, args: object, inplace_indices: int | Sequence[int], out: Result
) -> Tensor | tuple[Tensor, ...]:
    """As `tensor_ir_op`, where the function changes some of its arguments."""
    callee = current_builder().add_func(func, name_hint)
    tensors, numbers = _arguments(args)
    call = call_tir_inplace(callee, tensors, inplace_indices, _types(out))
    return emitted(current_builder().emit(_with_numbers(call, numbers)), name_hint)


def _arguments(args: object) -> tuple[list[relax.Expr], list[tir.Expr]]:
    """The tensors, and the numbers after them. Fails: RM105 where an argument is neither, or a tensor comes late."""
    tensors: list[relax.Expr] = []
    numbers: list[tir.Expr] = []
    for argument in args if isinstance(args, tuple | list) else [args]:
        match argument:
            case Tensor() if not numbers:
                tensors.append(argument.expr)
            case Tensor():
                raise fail(BAD_ARGUMENTS, "tensors come before numbers in the arguments of a TensorIR function")
            case relax.ShapeExpr(values):
                numbers.extend(values)
            case Value():
                numbers.append(argument.expr)
            case tir.Var() | tir.IntImm() | tir.Apply():
                numbers.append(argument)
            case _:
                raise fail(BAD_ARGUMENTS, f"a tensor or a shape is needed; this is {type(argument).__name__}")
    return tensors, numbers


def _with_numbers(call: relax.Call, numbers: Sequence[tir.Expr]) -> relax.Call:
    """The call with numbers for the parameters of TensorIR that no buffer binds."""
    sizes = (relax.ShapeExpr(tuple(numbers)),) if numbers else ()
    return relax.Call(call.op, (*call.args, *sizes), call.attrs, call.ty_args)


def _types(out: Result) -> object:
    outputs = [out] if isinstance(out, Tensor) else list(out)
    types = [getattr(output.expr, "ty", None) for output in outputs]
    return types[0] if isinstance(out, Tensor) else types


def extern(name: str, args: Sequence[object], out: Result) -> Tensor | tuple[Tensor, ...]:
    """The call of a packed function, which writes what `out` says."""
    return emitted(call_dps_packed(name, [_value(argument) for argument in args], _types(out)), name)


def _value(argument: object) -> relax.Expr:
    match argument:
        case Tensor():
            return argument.expr
        case str():
            return relax.StringImm(argument)
        case tuple() | list():
            return relax.Tuple(tuple(_value(item) for item in argument))
        case bool() | int() | float() | Value():
            return prim_value(argument)
    if isinstance(argument, tir.Expr):
        return prim_value(argument)
    raise fail(BAD_ARGUMENTS, f"a packed function takes tensors, numbers and text, not {type(argument).__name__}")
