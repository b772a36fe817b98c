"""Calls of intrinsics as C: the few that are plain. What calls out of the function is left to the interpreter.

| intrinsic                                             | C                                  |
|-------------------------------------------------------|------------------------------------|
| `tvm_thread_invariant`, `ignore_loop_partition`       | the argument                       |
| `vscale`                                              | 1                                  |
| `fma` of float32, float64                             | `fmaf`, `fma`: rounded once        |
| `assume`                                              | a check                            |
| `ret`                                                 | the end of the function            |
| `type_annotation`, `prefetch`, profiling              | nothing, as statements             |
"""

from collections.abc import Callable
from typing import cast, get_args

from refmlc.lang.ir import tir
from refmlc.native.emit.state import State, Unsuited

Value = Callable[[State, tir.Expr], str]
HINTS = ("type_annotation", "prefetch", "start_profile_intrinsic", "end_profile_intrinsic")
FUSED = {"float32": "fmaf", "float64": "fma"}


def call(state: State, node: tir.Call, value: Value) -> str:
    """A call that has a value."""
    args = operands(node)
    match node.callee:
        case "tvm_thread_invariant" | "ignore_loop_partition":
            return value(state, args[0])
        case "vscale":
            return "1"
        case "fma" if node.dtype.element in FUSED and not node.dtype.is_vector:
            a, b, c = (value(state, arg) for arg in args)
            return f"{FUSED[node.dtype.element]}({a}, {b}, {c})"
        case "assume":
            return _assume(state, node, value)
        case _:
            raise unsuited(node)


def effect(state: State, node: tir.Call, value: Value) -> None:
    """A call as a statement."""
    match node.callee:
        case str() if node.callee in HINTS:
            return
        case "ret":
            args = operands(node)
            leave(state, value(state, args[0]) if args else "", args[0] if args else None)
        case _:
            call(state, node, value)


def leave(state: State, code: str, result: tir.Expr | None) -> None:
    """End the function with the value `code` of `result`."""
    if result is not None:
        if result.dtype.is_vector or result.dtype.kind in ("handle", "void"):
            raise Unsuited(f"it returns a value of {result.dtype}", result.span)
        field, c_type = ("float", "double") if result.dtype.is_float else ("int", "int64_t")
        state.text.line(f"run->result_{field} = ({c_type}){code};", result.span)
    state.text.line("goto leave;")


def operands(node: tir.Call) -> tuple[tir.Expr, ...]:
    """The arguments, which the plain intrinsics take as expressions."""
    args = tuple(arg for arg in node.args if isinstance(arg, get_args(tir.Expr)))
    if len(args) != len(node.args):
        raise unsuited(node)
    return cast("tuple[tir.Expr, ...]", args)


def unsuited(node: tir.Call) -> Unsuited:
    """What to raise on a call that C does not make."""
    name = node.callee.name if isinstance(node.callee, tir.GlobalVar) else node.callee
    return Unsuited(f"it calls `{name}`", node.span)


def _assume(state: State, node: tir.Call, value: Value) -> str:
    condition = operands(node)[0]
    state.check(value(state, condition), "the condition of `T.assume` holds", node.span)
    state.facts = state.facts.assume(condition)
    return "true"
