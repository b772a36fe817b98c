"""Calls to the outside: packed functions by name, C functions by name.

A C name is looked for among the functions of the module, then of the registry, then of `LIBM`.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, cast

from refmlc.diag import Span, fail
from refmlc.diag.catalogue import UNSUPPORTED_INTRINSIC
from refmlc.lang.dtypes import FLOAT32, FLOAT64, DType
from refmlc.lang.ir import IRModule, relax, tir
from refmlc.run.interp.tensorir import arith
from refmlc.run.interp.tensorir.frame import Eval, Frame
from refmlc.run.interp.tensorir.scope import Scope
from refmlc.run.memory.pointer import Pointer

if TYPE_CHECKING:
    from refmlc.run.interp.machine import Machine

_SAME_NAME = (
    *("exp", "exp2", "exp10", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "sinh", "cosh", "tanh"),
    *("asin", "acos", "atan", "asinh", "acosh", "atanh", "sqrt", "erf", "ceil", "floor", "trunc", "nearbyint"),
    *("pow", "fmod", "atan2", "hypot", "copysign", "nextafter"),
)
LIBM: Mapping[str, tuple[str, DType]] = {
    **{name: (name, FLOAT64) for name in _SAME_NAME},
    **{f"{name}f": (name, FLOAT32) for name in _SAME_NAME},
    "fabs": ("abs", FLOAT64),
    "fabsf": ("abs", FLOAT32),
    "rint": ("nearbyint", FLOAT64),
    "rintf": ("nearbyint", FLOAT32),
}
"""C's math functions that a scalar operator means exactly. `round` is not: C rounds half away from zero."""


def argument(scope: Scope, arg: tir.Attr) -> Eval:
    """An argument: a buffer is passed as a tensor that shares its storage, plain data as it is."""
    if isinstance(arg, tir.Buffer):
        view = scope.buffer(arg).view
        return lambda frame: frame[view].tensor()
    return scope.expr(arg) if isinstance(arg, tir.Expr) else (lambda _frame: arg)


def _name_and_args(scope: Scope, node: tir.Call) -> tuple[str, tuple[Eval, ...]]:
    name, *rest = node.args
    spelled = name.value if isinstance(name, tir.StringImm) else str(name)
    return spelled, tuple(argument(scope, arg) for arg in rest)


def _kernel(scope: Scope, node: tir.Call) -> Eval:  # TIR-333
    """The arguments after those of the kernel say how many threads there are; the kernel says it itself."""
    name, args = _name_and_args(scope, node)
    machine, span = scope.machine, node.span
    kernel = machine.module.functions.get(name)
    if not isinstance(kernel, tir.PrimFunc):
        return scope.unsupported(UNSUPPORTED_INTRINSIC, f"the kernel `{name}` is not in the module", span)
    given = args[: len(kernel.params)]

    def launch(frame: Frame) -> object:
        machine.call(name, [arg(frame) for arg in given], span)
        return 0

    return launch


def _packed(scope: Scope, node: tir.Call) -> Eval:  # TIR-341
    name, args = _name_and_args(scope, node)
    machine, span = scope.machine, node.span

    def call_packed(frame: Frame) -> object:
        values = [arg(frame) for arg in args]
        if name in machine.module.functions:
            return machine.call(name, values, span)
        return _called(machine, name, values, span)

    return call_packed


def _called(machine: "Machine", name: str, values: Sequence[object], span: Span | None) -> object:
    """What a registered function gives, unless it has used up the time."""
    result = machine.registry.get_func(name, span)(values, span)
    machine.budget.look(span)
    return result


def _extern(scope: Scope, node: tir.Call) -> Eval:  # TIR-342
    name, args = _name_and_args(scope, node)
    machine, span = scope.machine, node.span
    in_libm = _libm(scope, node, name)
    linked = _linked(machine.module, name)

    def call_extern(frame: Frame) -> object:
        if linked is not None:
            return machine.call(linked, [arg(frame) for arg in args], span)
        if name in machine.registry:
            values = [arg(frame) for arg in args]
            result = _called(machine, name, values, span)
            for value in values:
                if isinstance(value, Pointer):
                    value.storage.initialise(value.byte_offset, value.storage.nbytes - value.byte_offset)
            return result
        if in_libm is not None:
            return in_libm(frame)
        message = f"the function `{name}` is not in the module, not registered, and not one of C's that are known"
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
    return arith.apply(scope, tir.Apply(op, args, node.dtype, span=node.span), scope.machine.c_functions)


LLVM: Mapping[str, str] = {
    **{name: name for name in ("exp", "exp2", "log", "log2", "log10", "sin", "cos", "sqrt", "pow", "copysign")},
    **{name: name for name in ("ceil", "floor", "trunc", "nearbyint")},
    "exp10": "exp10",
    "fabs": "abs",
    "rint": "nearbyint",
    "roundeven": "nearbyint",
    "ctpop": "popcount",
}
"""LLVM's intrinsics `llvm.<name>` that a scalar operator means exactly."""


def _llvm(scope: Scope, node: tir.Call) -> Eval:  # TIR-343
    name, *rest = node.args
    spelled = name.value if isinstance(name, tir.StringImm) else str(name)
    first = spelled.removeprefix("llvm.").partition(".")[0]
    if first == "prefetch":
        return lambda _frame: 0
    args = cast("tuple[tir.Expr, ...]", tuple(rest))
    if first == "fmuladd" and len(args) == 3:
        product = tir.Apply("mul", args[:2], node.dtype, span=node.span)
        return arith.apply(scope, tir.Apply("add", (product, args[2]), node.dtype, span=node.span))
    if first not in LLVM or any(arg.dtype != node.dtype for arg in args):
        message = f"the LLVM intrinsic `{spelled}` on {node.dtype} is not executed: it belongs to one kind of hardware"
        return scope.unsupported(UNSUPPORTED_INTRINSIC, message, node.span)
    return arith.apply(scope, tir.Apply(LLVM[first], args, node.dtype, span=node.span), scope.machine.c_functions)


EXECUTED: Mapping[str, Callable[[Scope, tir.Call], Eval]] = {
    "call_ffi_kernel": _kernel,
    "call_packed": _packed,
    "call_cpacked": _packed,
    "call_extern": _extern,
    "call_pure_extern": _extern,
    "call_llvm_intrin": _llvm,
    "call_llvm_pure_intrin": _llvm,
}
