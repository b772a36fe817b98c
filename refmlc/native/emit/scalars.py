"""Constants, scalar operators and conversions as C.

| operator                                   | dtypes                          | C                                    |
|--------------------------------------------|---------------------------------|--------------------------------------|
| add, sub, mul                              | float32, float64                | `(a + b)`                            |
| add, sub, mul                              | int32, int64, proved in range   | `(a + b)` on int64_t or int32_t      |
| floordiv, floormod, truncdiv, truncmod     | the same, a >= 0 and b > 0 proved | `(a / b)`, `(a % b)`               |
| eq, ne, lt, le, gt, ge                     | native ones                     | `(a == b)`                           |
| every other                                |                                 | `rm_<op>_<dtype>(a, b)`              |
"""

import math
from collections.abc import Sequence

from refmlc.lang.dtypes import DType
from refmlc.lang.ir import tir
from refmlc.lang.ops.scalar import SCALAR_OPS
from refmlc.native import kernels
from refmlc.native.emit.state import State, Unsuited, is_index

_INFIX = {op: kernels.ARITHMETIC[op] for op in ("add", "sub", "mul")}
_DIVIDE = {"floordiv": "/", "truncdiv": "/", "div": "/", "floormod": "%", "truncmod": "%"}
_NATIVE_FLOATS = ("float32", "float64")


def integer(state: State, dtype: DType, number: int) -> str:
    """An integer or bool constant."""
    if dtype.kind == "bool":
        return "true" if number else "false"
    if dtype.element == "int32" or (dtype.element == "int64" and number in (0, 1)):
        return str(number) if number > dtype.minimum else "INT32_MIN"
    if dtype.element in ("int64", "uint64", "uint32"):
        macro = f"{dtype.element.upper()}_C"
        return f"{macro}({number})" if number > dtype.minimum or dtype.minimum == 0 else "INT64_MIN"
    return f"(({state.use(dtype)}){number})"


def floating(state: State, dtype: DType, number: float) -> str:
    """A floating-point constant, exactly."""
    c_type = state.use(dtype)
    if math.isnan(number):
        return f"(({c_type})NAN)"
    if math.isinf(number):
        return f"(({c_type}){'-' if number < 0 else ''}INFINITY)"
    short = repr(number) if len(repr(number)) <= 6 and float(repr(number)) == number else number.hex()
    return short if dtype.element == "float64" else f"{short}f"


def apply(state: State, node: tir.Apply, args: list[str]) -> str:
    """A scalar operator on operands that are C expressions."""
    row = SCALAR_OPS.get(node.op)
    operands = tuple(arg.dtype.scalar for arg in node.args)
    if row is None or not row.contract.accepts_operands(operands):
        raise Unsuited(f"operator `{node.op}` has no meaning on {', '.join(map(str, operands))}", node.span)
    if node.op == "reinterpret":
        return _reinterpret(state, node, args[0])
    if node.op == "likely":
        return args[0]
    if not kernels.supports(node.op, operands):
        raise Unsuited(f"operator `{node.op}` has no helper for {', '.join(map(str, operands))}", node.span)
    first = operands[0]
    infix = _written_out(state, node, first, args)
    if infix is not None:
        return infix
    for dtype in (*operands, node.dtype.scalar):
        state.use(dtype)
    state.needs.headers.add(kernels.header_of(node.op))
    helper = f"rm_{node.op}_{first.element}"
    if kernels.has_undefined(node.op, first):
        if state.proving and state.facts.is_defined(node):
            state.proved(f"`{node.op}` of {first} stays in range")
        else:
            dtypes = [
                dtype if index == 0 or row.contract.rest is None else None for index, dtype in enumerate(operands)
            ]
            args = [
                state.temp("int64_t" if dtype is None else state.use(dtype), arg)
                for dtype, arg in zip(dtypes, args, strict=True)
            ]
            what = f"`{node.op}` of {first} is defined"
            state.check(f"!{helper}_undefined({', '.join(args)})", what, node.span)
    return f"{helper}({', '.join(args)})"


def _written_out(state: State, node: tir.Apply, first: DType, args: Sequence[str]) -> str | None:
    """The operator in C's own notation, for what the table of this module lists."""
    if len(args) != 2:
        return None
    a, b = args
    native = is_index(first) or first.element in _NATIVE_FLOATS or first.kind == "bool"
    if node.op in kernels.COMPARISONS and native:
        return f"({a} {kernels.COMPARISONS[node.op]} {b})"
    if node.op in _INFIX and first.element in _NATIVE_FLOATS:
        return f"({a} {_INFIX[node.op]} {b})"
    if not is_index(first) or node.dtype.is_vector or not (state.proving and state.facts.in_dtype(node)):
        return None
    if node.op in _INFIX:
        return f"({a} {_INFIX[node.op]} {b})"
    if node.op in _DIVIDE:
        low = state.facts.bounds(node.args[0]).low
        divisor_low = state.facts.bounds(node.args[1]).low
        if low is not None and low >= 0 and divisor_low is not None and divisor_low > 0:
            return f"({a} {_DIVIDE[node.op]} {b})"
    return None


def _reinterpret(state: State, node: tir.Apply, arg: str) -> str:
    source, target = node.args[0].dtype, node.dtype
    if source.lanes != target.lanes:
        raise Unsuited(f"{source} is reinterpreted as {target}, other lanes", node.span)
    state.use(source.scalar)
    state.use(target.scalar)
    state.needs.reinterprets.add((source.element, target.element))
    return f"rm_reinterpret_{source.element}_{target.element}({arg})"


def cast(state: State, node: tir.Cast, arg: str) -> str:
    """`arg` converted to the dtype of `node`; a check before it where the value may not fit."""
    source, target = node.value.dtype.scalar, node.dtype.scalar
    if source.element == target.element:
        return arg
    if source.kind in ("handle", "void") or target.kind in ("handle", "void"):
        raise Unsuited(f"{source} is converted to {target}", node.span)
    if is_index(source) and is_index(target) and (target.bits > source.bits or _fits(state, node)):
        return f"((int64_t){arg})"
    state.use(source)
    state.use(target)
    state.needs.casts.add((source.element, target.element))
    helper = f"rm_cast_{source.element}_{target.element}"
    if kernels.cast_has_undefined(source, target):
        arg = state.temp(state.use(source), arg)
        state.check(f"!{helper}_undefined({arg})", f"{source} has a value in {target}", node.span)
    return f"{helper}({arg})"


def _fits(state: State, node: tir.Cast) -> bool:
    """Whether the value certainly is one of the target's dtype."""
    low, high = node.dtype.scalar.minimum, node.dtype.scalar.maximum
    return state.facts.at_least(node.value, low) and state.facts.less(node.value, high + 1)
