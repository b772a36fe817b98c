"""`relax.call_tir`, `relax.call_dps_packed`, `relax.call_pure_packed`: calls of functions, for a builder to emit."""

from collections.abc import Sequence

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_ARGUMENTS
from refmlc.ir import relax, tir
from refmlc.ir.types import TupleType, Type
from refmlc.tvm.nodes import extents
from refmlc.tvm.script.types import as_type


def _types(out_sinfo: object) -> tuple[Type, ...]:
    """The type of the results; several are a tuple."""
    several = isinstance(out_sinfo, list | tuple)
    found = [as_type(one) for one in (out_sinfo if isinstance(out_sinfo, list | tuple) else (out_sinfo,))]
    types = tuple(one for one in found if isinstance(one, Type))
    if len(types) != len(found):
        raise fail(BAD_ARGUMENTS, "a call of a function is told the type of its result")
    return (TupleType(types),) if several else types


def _tuple(args: "relax.Expr | Sequence[relax.Expr]") -> relax.Expr:
    if isinstance(args, relax.Expr):
        return args if isinstance(args, relax.Tuple) else relax.Tuple((args,))
    return relax.Tuple(tuple(args))


def call_tir(
    gvar: tir.GlobalVar,
    args: "relax.Expr | Sequence[relax.Expr]",
    out_sinfo: object,
    tir_vars: Sequence[object] | None = None,
) -> relax.Call:
    """The call of a TensorIR function of the module, which writes into fresh tensors."""
    sizes = (relax.ShapeExpr(extents(tir_vars)),) if tir_vars else ()
    return relax.Call(relax.Op("call_tir"), (gvar, _tuple(args), *sizes), {}, _types(out_sinfo))


def call_dps_packed(
    func: "str | relax.Expr", args: "relax.Expr | Sequence[relax.Expr]", out_sinfo: object
) -> relax.Call:
    """The call of a packed function, which writes into fresh tensors."""
    callee = relax.ExternFunc(func) if isinstance(func, str) else func
    return relax.Call(relax.Op("call_dps_packed"), (callee, _tuple(args)), {}, _types(out_sinfo))


def call_pure_packed(func: "str | relax.Expr", *args: relax.Expr, sinfo_args: object) -> relax.Call:
    """The call of a packed function without effects, which returns its result."""
    callee = relax.ExternFunc(func) if isinstance(func, str) else func
    return relax.Call(relax.Op("call_pure_packed"), (callee, *args), {}, _types(sinfo_args))
