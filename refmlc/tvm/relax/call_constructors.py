"""Calls of functions, for a builder to emit: `relax.call_tir`, `relax.op.call_dps_packed`, `relax.op.invoke_closure` ….

The types of results are `out_ty` and `ty_args`, as 0.27 calls them, or `out_sinfo` and `sinfo_args`, as 2023 did.
"""

from collections.abc import Sequence
from typing import TypeAlias

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_ARGUMENTS
from refmlc.lang.ir import relax, tir
from refmlc.lang.ir.types import TupleType, Type
from refmlc.tvm.nodes import extents
from refmlc.tvm.script.types import as_type

Exprs: TypeAlias = "relax.Expr | Sequence[relax.Expr]"


def _list(out: object) -> tuple[Type, ...]:
    """Types, one or several."""
    outputs = tuple(out) if isinstance(out, list | tuple) else () if out is None else (out,)
    converted = [as_type(item) for item in outputs]
    types = tuple(item for item in converted if isinstance(item, Type))
    if len(types) != len(converted):
        raise fail(BAD_ARGUMENTS, "a call of a function needs the type of its result")
    return types


def _types(out_ty: object, out_sinfo: object) -> tuple[Type, ...]:
    """The type of the results, which is required; several are a tuple."""
    out = out_sinfo if out_ty is None else out_ty
    types = _list(out)
    if not types:
        raise fail(BAD_ARGUMENTS, "a call of a function needs the type of its result")
    return (TupleType(types),) if isinstance(out, list | tuple) else types


def _tuple(args: Exprs) -> relax.Expr:
    if isinstance(args, relax.Expr):
        return args if isinstance(args, relax.Tuple) else relax.Tuple((args,))
    return relax.Tuple(tuple(args))


def _packed(func: "str | relax.Expr") -> relax.Expr:
    return relax.ExternFunc(func) if isinstance(func, str) else func


def _places(inplace_indices: "int | Sequence[int]") -> dict[str, tir.Attr]:
    """Which arguments are changed."""
    places = (inplace_indices,) if isinstance(inplace_indices, int) else tuple(inplace_indices)
    return {"inplace_indices": places}


def call_tir(
    gvar: tir.GlobalVar,
    args: Exprs,
    out_ty: object = None,
    tir_vars: Sequence[object] | None = None,
    *,
    out_sinfo: object = None,
) -> relax.Call:
    """The call of a TensorIR function of the module, which writes into fresh tensors."""
    sizes = (relax.ShapeExpr(extents(tir_vars)),) if tir_vars else ()
    return relax.Call(relax.Op("call_tir"), (gvar, _tuple(args), *sizes), {}, _types(out_ty, out_sinfo))


def call_tir_inplace(
    gvar: tir.GlobalVar,
    args: Exprs,
    inplace_indices: "int | Sequence[int]",
    out_ty: object = None,
    *,
    out_sinfo: object = None,
) -> relax.Call:
    """The same, where results are arguments that it changes; -1: a fresh tensor."""
    call = (gvar, _tuple(args))
    return relax.Call(relax.Op("call_tir_inplace"), call, _places(inplace_indices), _types(out_ty, out_sinfo))


def call_dps_packed(
    func: "str | relax.Expr", args: Exprs, out_ty: object = None, *, out_sinfo: object = None
) -> relax.Call:
    """The call of a packed function, which writes into fresh tensors."""
    return relax.Call(relax.Op("call_dps_packed"), (_packed(func), _tuple(args)), {}, _types(out_ty, out_sinfo))


def call_pure_packed(
    func: "str | relax.Expr", *args: relax.Expr, ty_args: object = None, sinfo_args: object = None
) -> relax.Call:
    """The call of a packed function without effects, which returns its result."""
    types = _list(sinfo_args if ty_args is None else ty_args)
    return relax.Call(relax.Op("call_pure_packed"), (_packed(func), *args), {}, types)


def call_inplace_packed(
    func: "str | relax.Expr",
    *args: relax.Expr,
    inplace_indices: "int | Sequence[int]",
    ty_args: object = None,
    sinfo_args: object = None,
) -> relax.Call:
    """The call of a packed function, which changes arguments and returns them."""
    types = _list(sinfo_args if ty_args is None else ty_args)
    return relax.Call(relax.Op("call_inplace_packed"), (_packed(func), *args), _places(inplace_indices), types)


def call_builtin_with_ctx(
    func: "str | relax.Expr", args: Exprs, *, ty_args: object = None, sinfo_args: object = None
) -> relax.Call:
    """The call of a function of the virtual machine."""
    types = _list(sinfo_args if ty_args is None else ty_args)
    return relax.Call(relax.Op("call_builtin_with_ctx"), (_packed(func), _tuple(args)), {}, types)


def make_closure(func: relax.Expr, args: Exprs) -> relax.Call:
    """A function with its last arguments."""
    return relax.Call(relax.Op("make_closure"), (func, _tuple(args)))


def invoke_closure(
    closure: relax.Expr, args: Exprs, ty_args: object = None, *, sinfo_args: object = None
) -> relax.Call:
    """The call of a closure."""
    types = _list(sinfo_args if ty_args is None else ty_args)
    return relax.Call(relax.Op("invoke_closure"), (closure, _tuple(args)), {}, types)


def invoke_pure_closure(
    closure: relax.Expr, args: Exprs, ty_args: object = None, *, sinfo_args: object = None
) -> relax.Call:
    """The call of a closure that has no effect."""
    types = _list(sinfo_args if ty_args is None else ty_args)
    return relax.Call(relax.Op("invoke_pure_closure"), (closure, _tuple(args)), {}, types)
