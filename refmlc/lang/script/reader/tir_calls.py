"""Constructs of TensorIR that are calls: intrinsics, functions from outside, functions of the module.

| text                                                       | dtype of the call               |
|------------------------------------------------------------|---------------------------------|
| `T.call_extern("float32", "f", x)`, `T.call_intrin` …      | the first argument              |
| `T.tvm_struct_get(p, i, k, "int32")`                       | the last argument               |
| `T.call_packed("f", x)` …                                  | always the same                 |
| `T.tvm_warp_shuffle(mask, x, …)` …                         | that of an argument             |
| `T.address_of(A[i])`, `T.tvm_access_ptr(…)`                | handle to elements              |
| a member of a family: `T.ptx.ldmatrix(…)`                  | `dtype=` where given, else void |

What holds for an intrinsic is in its row (`Intrinsic.result`).

An argument that is a buffer stands for the pointer to its storage, except in packed calls, which get the tensor.
"""

from collections.abc import Callable
from dataclasses import replace

from refmlc.diag import Diagnostic, RefmlcError, Span, error, fail
from refmlc.diag.catalogue import NOT_TVMSCRIPT
from refmlc.lang.dtypes import HANDLE, INT64, VOID, DType, dtype
from refmlc.lang.ir import tir
from refmlc.lang.ir.attrs import CommReducer
from refmlc.lang.ir.kinds import PointerType
from refmlc.lang.ops import promote
from refmlc.lang.ops.intrinsics import ALIASES, INTRINSICS, Written, intrinsic
from refmlc.lang.script.reader.arguments import REQUIRED, CallSite
from refmlc.lang.script.reader.attributes import DTYPE_NAMES, attr_of
from refmlc.lang.script.reader.evaluate import Evaluator
from refmlc.lang.script.reader.suggestion import suggestion
from refmlc.lang.script.reader.table import CallHandler, Family
from refmlc.lang.script.reader.tir_operands import (
    check_wide,
    dtype_construct,
    dtype_of,
    expr_of,
    operand_of,
    pointer_of,
    region_of,
    str_of,
    tuple_of,
)
from refmlc.lang.script.reader.tir_types import dtype_call
from refmlc.lang.script.reader.tir_values import Done, Region, VarSpec
from refmlc.lang.script.reader.values import Construct, Meta


def _args(site: CallSite, args: tuple[Meta, ...], *, tensors: bool = False) -> tuple["tir.Expr | tir.Attr", ...]:
    return tuple(_arg(arg, site.span, tensors=tensors) for arg in args)


def is_of_tensors(name: str) -> bool:
    """Whether buffers among the arguments of intrinsic `name` are tensors."""
    row = INTRINSICS.get(name)
    return row is not None and row.tensors


def _arg(value: Meta, span: Span, *, tensors: bool) -> "tir.Expr | tir.Attr":
    match value:
        case tir.Buffer():
            return value if tensors else tir.BufferData(value, span=span)
        case Region():
            return region_of(value, span)
        case None | DType() | list() | tuple() | dict() | CommReducer() | tir.BufferRegion():
            return attr_of(value, span)
    return expr_of(value, span)


def call(name: str, site: CallSite, args: tuple[Meta, ...], result: VarSpec, **attrs: Meta) -> tir.Call:
    """The call of intrinsic `name`, its result of type `result`."""
    nodes = _args(site, args, tensors=is_of_tensors(name))
    kept = {key: attr_of(value, site.span) for key, value in attrs.items()}
    return tir.Call(name, nodes, result.dtype, result.pointer, kept, span=site.span)


def intrinsic_call(ev: Evaluator, site: CallSite) -> Meta:
    """Any `T.name(…)` that has no handler of its own: a dtype, an intrinsic of the table, a member of a family."""
    if dtype_construct(Construct(site.name, site.spelled)) is not None:
        return dtype_call(ev, site)
    name = site.name.removeprefix("T.")
    name = ALIASES.get(name, name)
    row = intrinsic(name)
    if row is None:
        check_wide(name, site.span)
        raise _unknown(ev, site)
    kwargs = dict(site.kwargs)
    declared = kwargs.pop("dtype", None)
    args = site.args
    match row.result:
        case Written.FIRST:
            if declared is None and not args:
                raise site.misfit("gets no argument for `dtype`")
            result = result_of(declared if declared is not None else args[0], site.span)
            args = args if declared is not None else args[1:]
        case int(number):
            if len(args) <= number:
                raise site.misfit(f"takes at least {number + 1} arguments and gets {len(args)}")
            result = VarSpec(expr_of(args[number], site.span).dtype)
        case str(always):
            result = VarSpec(dtype(always))
        case _:
            if name == "call_ffi_kernel" and declared is None:
                declared = kwargs.get("ret_ty")
            result = result_of(declared or "void", site.span)
    return call(name, site, args, result, **kwargs)


def _unknown(ev: Evaluator, site: CallSite) -> RefmlcError:
    """The failure of a call of a name that TensorIR does not have, with a name like it."""
    names = {
        name[2:]
        for name in (*ev.table.calls, *ev.table.lazy, *ev.table.subscripts, *DTYPE_NAMES)
        if name.startswith("T.")
    } | {*INTRINSICS}
    prefix = site.spelled.partition(".")[0]
    helps = suggestion(site.name.removeprefix("T."), names, f"{prefix}.")
    message = f"`{site.spelled}` is not a construct of TensorIR that refmlc knows"
    return error(Diagnostic(NOT_TVMSCRIPT, message, site.span, helps=helps))


def result_of(value: Meta, span: Span) -> VarSpec:
    """The type that the text gives a call."""
    return value if isinstance(value, VarSpec) else VarSpec(dtype_of(value, span))


def _dtype_first(site: CallSite) -> CallSite:
    """The call with a `dtype=` put first, as texts until 2023 write it."""
    if "dtype" not in site.kwargs:
        return site
    kwargs = {key: value for key, value in site.kwargs.items() if key != "dtype"}
    return CallSite(site.name, site.spelled, (site.kwargs["dtype"], *site.args), kwargs, site.span)


def _without_dtype(handler: CallHandler) -> CallHandler:
    """`handler` of a call whose dtype follows from its arguments, whatever an old text says."""

    def stripped(ev: Evaluator, site: CallSite) -> Meta:
        kwargs = {key: value for key, value in site.kwargs.items() if key != "dtype"}
        return handler(ev, replace(site, kwargs=kwargs, places=site.places.positional()))

    return stripped


# --------------------------------------------------------------------------------- calls with rules of their own


def _call_intrin(ev: Evaluator, site: CallSite) -> Meta:
    """`T.call_intrin(dtype, "tir.name", …)`: the call of the intrinsic that it names."""
    site = _dtype_first(site)
    if len(site.args) < 2:
        raise site.misfit(f"takes at least 2 arguments and gets {len(site.args)}")
    name = str_of(site.args[1], site.span, "the name of an intrinsic")
    for prefix in ("tirx.", "tir.", "prim."):
        name = name.removeprefix(prefix)
    name = ALIASES.get(name, name)
    if name in _MASKED:
        return _MASKED[name](ev, CallSite(name, name, (site.args[0], *site.args[2:]), {}, site.span))
    if intrinsic(name) is None:
        handler = ev.table.calls.get(f"T.{name}")
        if handler is None:
            raise fail(NOT_TVMSCRIPT, f"`{name[:60]}` is not an intrinsic that refmlc knows", site.span)
        inner = CallSite(f"T.{name}", site.spelled, site.args[2:], {}, site.span, site.places.positional(2))
        return handler(ev, inner)
    return call(name, site, site.args[2:], result_of(site.args[0], site.span))


def _struct_get(_ev: Evaluator, site: CallSite) -> Meta:
    arguments = site.take(arr=REQUIRED, index=REQUIRED, field=REQUIRED, dtype=REQUIRED)
    args = (arguments["arr"], arguments["index"], arguments["field"])
    return call("tvm_struct_get", site, args, result_of(arguments["dtype"], site.span))


def _reinterpret(_ev: Evaluator, site: CallSite) -> Meta:
    arguments = _dtype_first(site).take(dtype=REQUIRED, value=REQUIRED, span=None)
    result = result_of(arguments["dtype"], site.span)
    value = pointer_of(arguments["value"], site.span)
    if result.dtype.kind == "handle" or value.dtype.kind == "handle":
        return tir.Call("reinterpret", (value,), result.dtype, result.pointer, span=site.span)
    return tir.Apply("reinterpret", (value,), result.dtype, span=site.span)


def _type_annotation(_ev: Evaluator, site: CallSite) -> Meta:
    return tir.Call("type_annotation", (), dtype_of(site.take(dtype=VOID)["dtype"], site.span), span=site.span)


def _address_of(_ev: Evaluator, site: CallSite) -> Meta:
    value = site.take(buffer=REQUIRED, span=None)["buffer"]
    if isinstance(value, tir.Buffer):
        zeros = tuple(promote.constant(0, n.dtype, site.span) for n in value.shape)
        value = tir.BufferLoad(value, zeros, span=site.span)
    node = expr_of(value, site.span)
    pointer = PointerType(node.buffer.dtype, node.buffer.scope) if isinstance(node, tir.BufferLoad) else None
    return tir.Call("address_of", (node,), HANDLE, pointer, span=site.span)


def _access_ptr(_ev: Evaluator, site: CallSite) -> Meta:
    arguments = site.take(ptype=REQUIRED, data=REQUIRED, offset=REQUIRED, extent=REQUIRED, rw_mask=REQUIRED)
    args = tuple(pointer_of(value, site.span) for value in arguments.values())
    return tir.Call("tvm_access_ptr", args, HANDLE, PointerType(args[0].dtype), span=site.span)


def _make_shape(_ev: Evaluator, site: CallSite) -> Meta:
    return call("tvm_stack_make_shape", site, site.only_positional(), VarSpec(HANDLE, PointerType(INT64)))


def _storage_sync(_ev: Evaluator, site: CallSite) -> Meta:
    arguments = site.take(storage_scope=REQUIRED, is_load=None, num_blocks=None)
    args = tuple(value for value in arguments.values() if value is not None)
    return call("tvm_storage_sync", site, args, VarSpec(VOID))


def _fixed_point(op: str, count: int) -> CallHandler:
    def handler(_ev: Evaluator, site: CallSite) -> Meta:
        site.only_keywords("dtype")
        if len(site.args) != count:
            raise site.misfit(f"takes {count} arguments and gets {len(site.args)}")
        args = tuple(expr_of(arg, site.span) for arg in site.args)
        declared = site.kwargs.get("dtype")
        if declared is not None and dtype_of(declared, site.span) != args[0].dtype:
            raise site.misfit(f"is of dtype {args[0].dtype}, that of its first argument", site.place("dtype"))
        return tir.Apply(op, args, args[0].dtype, span=site.span)

    return handler


def _likely(_ev: Evaluator, site: CallSite) -> Meta:
    value = promote.condition(operand_of(site.take(cond=REQUIRED, span=None)["cond"], site.span), site.span)
    return tir.Apply("likely", (value,), value.dtype, span=site.span)


def _tuple(_ev: Evaluator, site: CallSite) -> Meta:
    return call("tvm_tuple", site, site.only_positional(), VarSpec(VOID))


def _explicit(ev: Evaluator, site: CallSite) -> Meta:
    """`T.Call(dtype, op, args)`; `T.Call(op, args, ret_ty=dtype)` in 0.27."""
    if "ret_ty" in site.kwargs:
        arguments = site.take(op=REQUIRED, args=(), ret_ty=REQUIRED)
        arguments["dtype"] = arguments["ret_ty"]
    else:
        arguments = site.take(dtype=REQUIRED, op=REQUIRED, args=())
    op, args = arguments["op"], tuple_of(arguments["args"])
    result = result_of(arguments["dtype"], site.span)
    if isinstance(op, tir.GlobalVar):
        return tir.Call(op, _args(site, args, tensors=True), result.dtype, result.pointer, span=site.span)
    return _call_intrin(ev, CallSite(site.name, site.spelled, (result, op, *args), {}, site.span))


def _op_get(_ev: Evaluator, site: CallSite) -> Meta:
    return site.take(name=REQUIRED)["name"]


def _function(ev: Evaluator, callee: Meta, site: CallSite) -> Meta:
    """`cls.f(x)` in TensorIR."""
    if not isinstance(callee, tir.GlobalVar):
        raise site.misfit("cannot be called")
    args = _args(site, site.only_positional(), tensors=True)
    returns = None if ev.module is None else ev.module.results.get(callee.name)
    result = VarSpec(VOID) if returns is None else result_of(ev.eval(returns), site.span)
    return tir.Call(callee, args, result.dtype, result.pointer, span=site.span)


def _vectors(name: str, arity: int) -> Callable[[Evaluator, CallSite], Meta]:
    """`T.vectorlow(dtype, v)`; texts of 2023 have the dtype by keyword only."""

    def handler(_ev: Evaluator, site: CallSite) -> Meta:
        declared = site.kwargs.get("dtype")
        args = site.args
        if declared is None:
            declared, args = (args[0], args[1:]) if args else (None, args)
        if declared is None or len(args) != arity:
            raise site.misfit(f"takes a dtype and {arity} vectors")
        return call(name, site, args, result_of(declared, site.span))

    return handler


def _masked_load(_ev: Evaluator, site: CallSite) -> Meta:
    """`T.masked_load(dtype, A, i, …, mask)`: a load with a predicate."""
    args = _dtype_first(site).only_positional(3)
    return _masked(args[1], args[2:], site)


def _masked_store(_ev: Evaluator, site: CallSite) -> Meta:
    """`T.masked_store(A, value, i, …, mask)`: a store with a predicate."""
    args = site.only_positional(3)
    if isinstance(args[0], (str, VarSpec, DType)):
        args = args[1:]
    load = _masked(args[0], args[2:], site)
    value = promote.converted(operand_of(args[1], site.span), load.dtype, site.span)
    return Done(tir.BufferStore(load.buffer, value, load.indices, load.predicate, span=site.span))


def _masked(buffer: Meta, rest: tuple[Meta, ...], site: CallSite) -> tir.BufferLoad:
    if not isinstance(buffer, tir.Buffer) or not rest:
        raise site.misfit("takes a buffer, indices and a mask")
    *indices, mask = (expr_of(item, site.span) for item in rest)
    return tir.BufferLoad(buffer, tuple(indices), mask, span=site.span)


def _llvm_name(_ev: Evaluator, site: CallSite) -> Meta:
    """`T.llvm_lookup_intrinsic_id(name)`: the intrinsic stays its name."""
    return tir.StringImm(str_of(site.take(name=REQUIRED)["name"], site.span), span=site.span)


_MASKED: dict[str, CallHandler] = {"masked_load": _masked_load, "masked_store": _masked_store}

CALLS: dict[str, CallHandler] = {
    "T.masked_load": _masked_load,
    "T.masked_store": _masked_store,
    "T.llvm_lookup_intrinsic_id": _llvm_name,
    "T.call_intrin": _call_intrin,
    "T.tvm_struct_get": _struct_get,
    "T.reinterpret": _reinterpret,
    "T.type_annotation": _type_annotation,
    "T.address_of": _without_dtype(_address_of),
    "T.tvm_access_ptr": _without_dtype(_access_ptr),
    "T.tvm_stack_make_shape": _without_dtype(_make_shape),
    "T.tvm_storage_sync": _without_dtype(_storage_sync),
    "T.q_multiply_shift": _fixed_point("q_multiply_shift", 4),
    "T.q_multiply_shift_per_axis": _fixed_point("q_multiply_shift_per_axis", 7),
    "T.likely": _without_dtype(_likely),
    "T.tvm_tuple": _without_dtype(_tuple),
    "T.Call": _explicit,
    "tvm.ir.Op.get": _op_get,
    "I.Op.get": _op_get,
    "T.vectorlow": _vectors("vectorlow", 1),
    "T.vectorhigh": _vectors("vectorhigh", 1),
    "T.vectorcombine": _vectors("vectorcombine", 2),
}
PREFIXES: dict[str, CallHandler] = {"T.": intrinsic_call}
FUNCTIONS = Family((tir.GlobalVar,), call=_function)
"""Functions of the module as they are called inside of TensorIR functions; Relax has its own family for them."""
