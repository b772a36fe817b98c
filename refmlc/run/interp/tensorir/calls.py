"""Calls (TIR-117): functions of the module, functions from outside, and intrinsics.

| callee                                         | prepared by                                          |
|------------------------------------------------|------------------------------------------------------|
| a function of the module                       | `_module_function`                                   |
| a packed function, a C function, one of LLVM's | `FOREIGN`, in this file                              |
| an intrinsic of values and pointers            | `refmlc.run.interp.tensorir.intrinsics`              |
| an address, computed                           | `refmlc.run.interp.tensorir.addresses`               |
| a structure of lowered calls                   | `refmlc.run.interp.tensorir.c_abi`                   |
| a barrier, a reduction over threads            | `refmlc.run.interp.threads.collectives`              |
| what the threads of a warp do together         | `refmlc.run.interp.threads.parts`                    |
| what a thread finds out, atomic operations     | `refmlc.run.interp.threads.alone`, `….atomics`,      |
|                                                | `….vector_atomics`                                   |
| asynchronous copies, barriers in memory        | `refmlc.run.interp.asynchronous.instructions`        |
| an instruction of PTX on scalars or memory     | `refmlc.run.interp.ptx`                              |
| a matrix unit                                  | `refmlc.run.interp.threads.matrix`                   |

A C name is looked up among the functions of the module, then in the registry, then in `LIBM`.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, cast

from refmlc.diag import Span, fail
from refmlc.diag.catalogue import BAD_POINTER, PACKED_RESULT, UNSUPPORTED_INTRINSIC
from refmlc.lang.dtypes import FLOAT32, FLOAT64, UINT64, DType
from refmlc.lang.dtypes.rounding import rounder
from refmlc.lang.ir import IRModule, relax, tir
from refmlc.lang.ir.asynchronous import is_asynchronous
from refmlc.lang.ops.intrinsics import intrinsic
from refmlc.lang.ops.names import BY_C, BY_LLVM
from refmlc.run.interp.asynchronous import instructions
from refmlc.run.interp.ptx import values as ptx
from refmlc.run.interp.tensorir import addresses, c_abi, intrinsics, operators, tensor_maps
from refmlc.run.interp.tensorir.frame import Eval, Frame
from refmlc.run.interp.tensorir.scope import Scope
from refmlc.run.interp.threads import alone, atomics, collectives, matrix, parts, vector_atomics
from refmlc.run.interp.tirx import cached_loads
from refmlc.run.memory.pointer import Pointer
from refmlc.run.memory.values import kind_of

if TYPE_CHECKING:
    from refmlc.run.interp.machine import Machine

HINTS = ("type_annotation", "prefetch", "start_profile_intrinsic", "end_profile_intrinsic")


def call(scope: Scope, node: tir.Call) -> Eval:
    """The call as a closure, its value of the declared dtype. Fails: RM404, RM313 where it is not."""
    if node.callee in HINTS:
        return scope.unsupported(UNSUPPORTED_INTRINSIC, f"`T.{node.callee}` is used, and has no value", node.span)
    value = _checked(scope, node)
    return _reported(scope, node, value) if scope.machine.hooks.watches("called") else value


def effect(scope: Scope, node: tir.Call) -> Eval:
    """The call as a closure, its value unchecked; an intrinsic that is not executed fails when it is reached."""
    if isinstance(node.callee, tir.GlobalVar):
        return _module_function(scope, node, node.callee)
    if is_asynchronous(node):
        return instructions.prepare(scope, node)
    instruction = ptx.call(scope, node)
    if instruction is not None:
        return instruction
    row = intrinsic(node.callee)
    if row is None:
        return scope.unsupported(UNSUPPORTED_INTRINSIC, f"the intrinsic `{node.callee}` is not known", node.span)
    if row.name not in EXECUTED:
        message = f"the intrinsic `T.{row.name}` is not executed: {row.missing}"
        return scope.unsupported(UNSUPPORTED_INTRINSIC, message, node.span)
    return EXECUTED[row.name](scope, node)


def _module_function(scope: Scope, node: tir.Call, callee: tir.GlobalVar) -> Eval:
    args = tuple(argument(scope, arg) for arg in node.args)
    machine, span = scope.machine, node.span

    def call_function(frame: Frame) -> object:
        return machine.call(callee.name, [arg(frame) for arg in args], span)

    return call_function


def argument(scope: Scope, arg: tir.Attr) -> Eval:
    """An argument as a closure: a buffer is passed as a tensor that shares its storage, plain data unchanged."""
    if isinstance(arg, tir.Buffer):
        view = scope.buffer(arg).view
        return lambda frame: frame[view].tensor()
    return scope.expr(arg) if isinstance(arg, tir.Expr) else (lambda _frame: arg)


# ------------------------------------------------------------------------------ values, reported and checked


def _reported(scope: Scope, node: tir.Call, value: Eval) -> Eval:
    called = scope.machine.hooks.called

    def reported(frame: Frame) -> object:
        result = value(frame)
        called(node, result, frame)
        return result

    return reported


def _checked(scope: Scope, node: tir.Call) -> Eval:
    """The call as a closure; a value from outside is checked against the declared dtype."""
    value = effect(scope, node)
    code = PACKED_RESULT if isinstance(node.callee, tir.GlobalVar) else UNCHECKED.get(node.callee)
    dtype = node.dtype
    if code is None or dtype.kind in ("handle", "void"):
        return value
    failure = scope.failing(code, node.span)
    name = node.callee.name if isinstance(node.callee, tir.GlobalVar) else node.callee

    def checked(frame: Frame) -> object:
        result = value(frame)
        converted = as_declared(result, dtype)
        if converted is None:
            raise failure(frame, f"`{name}` gives {kind_of(result)} where a value of {dtype} is declared")
        return converted

    return checked


def as_declared(value: object, dtype: DType) -> object:
    """A value from outside as one of `dtype`: floats are rounded; None if it is not one."""
    if dtype.is_vector:
        return value if isinstance(value, tuple) and len(value) == dtype.lanes else None
    if not isinstance(value, bool | int | float):
        return None
    if dtype.is_float:
        return rounder(dtype)(float(value)) if isinstance(value, float) or abs(value) <= UINT64.maximum else None
    if isinstance(value, float):
        return None
    if dtype.kind == "bool":
        return bool(value) if value in (0, 1) else None
    return int(value) if dtype.minimum <= value <= dtype.maximum else None


# ------------------------------------------------------------------------------------ functions from outside


def _name(node: tir.Call) -> str:
    """The name of the function, which is the first argument."""
    name = node.args[0]
    return name.value if isinstance(name, tir.StringImm) else str(name)


def _args(scope: Scope, node: tir.Call) -> tuple[Eval, ...]:
    """The arguments of the function, which follow its name."""
    return tuple(argument(scope, arg) for arg in node.args[1:])


def _kernel(scope: Scope, node: tir.Call) -> Eval:  # TIR-333
    """The arguments after those of the kernel are counts of threads, which the kernel has too."""
    name, args = _name(node), _args(scope, node)
    machine, span = scope.machine, node.span
    kernel = machine.module.functions.get(name)
    if not isinstance(kernel, tir.PrimFunc):
        return scope.unsupported(UNSUPPORTED_INTRINSIC, f"the kernel `{name}` is not in the module", span)
    kernel_args = args[: len(kernel.params)]

    def launch(frame: Frame) -> object:
        machine.call(name, [arg(frame) for arg in kernel_args], span)
        return 0

    return launch


def _packed(scope: Scope, node: tir.Call) -> Eval:  # TIR-341
    name, args = _name(node), _args(scope, node)
    machine, span = scope.machine, node.span

    def call_packed(frame: Frame) -> object:
        values = [arg(frame) for arg in args]
        callee = machine.module.functions.get(name)
        if callee is None:
            return _call_registered(machine, name, values, span)
        kernel = c_abi.kernel_args(callee, values)
        if kernel is None:
            return machine.call(name, values, span)
        machine.call(name, kernel, span)
        return 0

    return call_packed


def _call_registered(machine: "Machine", name: str, values: Sequence[object], span: Span | None) -> object:
    """The result of a registered function. Fails: RM605 if it has used up the time, and as the function does."""
    result = machine.registry.get_func(name, span)(values, span)
    machine.budget.look(span)
    return result


def _extern(scope: Scope, node: tir.Call) -> Eval:  # TIR-342
    name, args = _name(node), _args(scope, node)
    machine, span = scope.machine, node.span
    in_libm = _libm(scope, node, name)
    linked = _linked(machine.module, name)

    def call_extern(frame: Frame) -> object:
        if linked is not None:
            return machine.call(linked, [arg(frame) for arg in args], span)
        if name in machine.registry:
            values = [arg(frame) for arg in args]
            result = _call_registered(machine, name, values, span)
            for value in values:
                if isinstance(value, Pointer):
                    value.storage.initialise(value.byte_offset, value.storage.nbytes - value.byte_offset)
            return result
        if in_libm is not None:
            return in_libm(frame)
        message = f"the function `{name}` is not in the module, not registered, and not a C function that is known"
        raise fail(UNSUPPORTED_INTRINSIC, message, span)

    return call_extern


def _linked(module: IRModule, symbol: str) -> str | None:
    """The function of the module that a linker finds by this symbol: its `global_symbol`, or else its name."""
    for name, function in module.functions.items():
        if not isinstance(function, relax.ExternFunc) and function.attrs.get("global_symbol", name) == symbol:
            return name
    return None


def _libm(scope: Scope, node: tir.Call, name: str) -> Eval | None:
    op, dtype = LIBM.get(name, ("", node.dtype))
    args = cast("tuple[tir.Expr, ...]", node.args[1:])
    if not op or node.dtype.scalar != dtype or any(arg.dtype != node.dtype for arg in args):
        return None
    return operators.apply(scope, tir.Apply(op, args, node.dtype, span=node.span), scope.machine.c_functions)


def _llvm(scope: Scope, node: tir.Call) -> Eval:  # TIR-343
    name = _name(node)
    base = name.removeprefix("llvm.").partition(".")[0]
    if base == "prefetch":
        return lambda _frame: 0
    args = cast("tuple[tir.Expr, ...]", node.args[1:])
    if base == "fmuladd" and len(args) == 3:
        product = tir.Apply("mul", args[:2], node.dtype, span=node.span)
        return scope.expr(tir.Apply("add", (product, args[2]), node.dtype, span=node.span))
    if base not in BY_LLVM or any(arg.dtype != node.dtype for arg in args):
        message = f"the LLVM intrinsic `{name}` on {node.dtype} is not executed: it belongs to one kind of hardware"
        return scope.unsupported(UNSUPPORTED_INTRINSIC, message, node.span)
    return operators.apply(scope, tir.Apply(BY_LLVM[base], args, node.dtype, span=node.span), scope.machine.c_functions)


LIBM: Mapping[str, tuple[str, DType]] = {
    **{name: (op, FLOAT64) for name, op in BY_C.items()},
    **{f"{name}f": (op, FLOAT32) for name, op in BY_C.items()},
}
"""C's math functions that a scalar operator means exactly. `round` is not: C rounds half away from zero."""
FOREIGN: Mapping[str, Callable[[Scope, tir.Call], Eval]] = {
    "call_ffi_kernel": _kernel,
    "call_packed": _packed,
    "call_cpacked": _packed,
    "call_extern": _extern,
    "call_pure_extern": _extern,
    "call_llvm_intrin": _llvm,
    "call_llvm_pure_intrin": _llvm,
}
EXECUTED: Mapping[str, Callable[[Scope, tir.Call], Eval]] = {
    **intrinsics.EXECUTED,
    **addresses.EXECUTED,
    **cached_loads.EXECUTED,
    **FOREIGN,
    **c_abi.EXECUTED,
    **tensor_maps.EXECUTED,
    **collectives.EXECUTED,
    **parts.EXECUTED,
    **alone.EXECUTED,
    **atomics.EXECUTED,
    **vector_atomics.EXECUTED,
    **ptx.EXECUTED,
    **matrix.EXECUTED,
}
"""The intrinsics that are executed, by name."""
UNCHECKED = {
    **dict.fromkeys(FOREIGN, PACKED_RESULT),
    **dict.fromkeys(("call_packed_lowered", "call_cpacked_lowered"), PACKED_RESULT),
    "tvm_struct_get": BAD_POINTER,
}
"""The calls whose values need a check, and the code for a value that is not of the declared dtype."""
