"""Calls in a Relax function: the call forms of the language, and any operator by its name.

The form that each text takes in the IR is the table at the head of `refmlc.lang.ir.relax`.
"""

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from refmlc.diag import Related, Span, fail
from refmlc.diag.catalogue import BAD_ARGUMENTS, UNSUPPORTED_CONSTRUCT
from refmlc.lang.dtypes import INT32, VOID
from refmlc.lang.ir import relax, tir
from refmlc.lang.ir.attrs import IndexMap
from refmlc.lang.ir.types import TensorType, TupleType, Type
from refmlc.lang.library import OPERATORS
from refmlc.lang.ops.graph import GRAPH_OPS
from refmlc.lang.script.reader.arguments import REQUIRED, CallSite
from refmlc.lang.script.reader.attributes import TYPE_NAMES, attr_of
from refmlc.lang.script.reader.devices import NAMED, device, hint_on_device, named_device, to_vdevice
from refmlc.lang.script.reader.evaluate import Evaluator
from refmlc.lang.script.reader.meshes import device_mesh, dist_const, placed
from refmlc.lang.script.reader.relax_constants import constant_of
from refmlc.lang.script.reader.relax_free import FILLED, linear
from refmlc.lang.script.reader.relax_signatures import RENAMED, SIGNATURES
from refmlc.lang.script.reader.relax_values import dimension_of, dtype_of, expr_of, is_expr, shape_of, tuple_of
from refmlc.lang.script.reader.suggestion import similar
from refmlc.lang.script.reader.table import Table
from refmlc.lang.script.reader.types import type_of, types_of
from refmlc.lang.script.reader.values import Construct, Lambda, Meta, described
from refmlc.lang.script.spellings import canonical_attribute, canonical_keyword


@dataclass(frozen=True, slots=True)
class Cast:
    """`R.match_cast(value, ty)`, to be bound."""

    value: relax.Expr
    ty: Type
    span: Span


@dataclass(frozen=True, slots=True)
class FuncAttr:
    """`R.func_attr({…})`."""

    attrs: Mapping[str, tir.Attr]
    span: Span


@dataclass(frozen=True, slots=True)
class Dataflow:
    """`R.dataflow()`."""


_DEFAULT_ATTRS = ("ir.DictAttrs", "DictAttrs")


def _canonical(site: CallSite) -> CallSite:
    """The call with its keywords in today's spelling."""
    kwargs = {canonical_keyword(key): value for key, value in site.kwargs.items()}
    return replace(site, kwargs=kwargs, places=site.places.renamed(canonical_keyword))


def _attr(ev: Evaluator, value: Meta, span: Span) -> tir.Attr:
    match value:
        case relax.PrimValue(inner) | relax.DataTypeImm(inner) | relax.StringImm(inner):
            return inner
        case relax.ShapeExpr(values):
            return values
        case Lambda(params):
            initial = tuple(tir.Var(name, INT32) for name in params)
            final = ev.apply(value, initial, span)
            items = final if isinstance(final, (list, tuple)) else (final,)
            return IndexMap(initial, tuple(dimension_of(item, span) for item in items), span=span)
        case list() | tuple():
            return tuple(_attr(ev, item, span) for item in value)
    return attr_of(value, span)


def _option(ev: Evaluator, value: Meta, span: Span) -> tir.Attr:
    """An attribute of an operator, which a bare name of a type is not. Fails: RM105."""
    if isinstance(value, Construct) and value.path in TYPE_NAMES:
        raise fail(BAD_ARGUMENTS, f"{described(value)} cannot be an attribute of an operator", span)
    return _attr(ev, value, span)


# ------------------------------------------------------------------------------------------------- operators


def operator_call(ev: Evaluator, site: CallSite) -> Meta:
    """`R.name(…)` of any operator."""
    site = _canonical(site)
    name = site.name.partition(".")[2].removeprefix("op.")
    name = RENAMED.get(name, name)
    site = FILLED[name](site) if name in FILLED else site
    kwargs = dict(site.kwargs)
    ty_args = types_of(kwargs.pop("ty_args"), site.place("ty_args")) if "ty_args" in kwargs else ()
    signature = OPERATORS[name].signature if name in OPERATORS else SIGNATURES.get(name)
    if signature is None and name not in GRAPH_OPS:
        _note_misspelling(ev, name, site)
    if signature is not None and len(site.args) <= len(signature):
        args, attrs = _by_signature(ev, site, signature, kwargs)
    else:
        args = [expr_of(value, site.place(i)) for i, value in enumerate(site.args)]
        attrs = {}
    for key, value in kwargs.items():
        if is_expr(value) and not isinstance(value, (relax.ShapeExpr, tir.GlobalVar)):
            args.append(expr_of(value, site.place(key)))
        else:
            attrs[key] = _option(ev, value, site.place(key))
    return relax.Call(relax.Op(name, span=site.span), tuple(args), attrs, ty_args, span=site.span)


def _note_misspelling(ev: Evaluator, name: str, site: CallSite) -> None:
    """Say which operator a name resembles that refmlc does not know; it may be one of TVM."""
    match = similar(name, OPERATORS)
    if match is not None:
        message = f"`{site.spelled}` is not an operator that refmlc knows; a name like it is `R.{match}`"
        ev.notes.append(Related(message, site.span))


def _by_signature(
    ev: Evaluator, site: CallSite, signature: tuple[tuple[str, str], ...], kwargs: dict[str, Meta]
) -> tuple[list[relax.Expr], dict[str, tir.Attr]]:
    """Arguments and attributes by a row of `SIGNATURES`; takes from `kwargs` what the row names."""
    args: list[relax.Expr] = []
    attrs: dict[str, tir.Attr] = {}
    left_out = ""
    for i, (key, kind) in enumerate(signature):
        values = i < len(site.args)
        if values and key in kwargs:
            raise site.misfit(f"gets `{key}` twice", site.place(key))
        if not values and key not in kwargs:
            if kind in _LEFT_OUT:
                args.append(expr_of(_LEFT_OUT[kind], site.span))
            elif kind != "a":
                left_out = left_out or key
            continue
        value = site.args[i] if values else kwargs.pop(key)
        if value is None and kind in ("x", "xs"):  # as if it were left out
            left_out = left_out or key
            continue
        span = site.place(i if values else key)
        if kind == "a":
            attrs[key] = _option(ev, value, span)
        elif left_out:
            raise site.misfit(f"gets `{key}`, and not `{left_out}`, which comes before it", span)
        else:
            args.append(_argument(kind, value, span))
    return args, attrs


_LEFT_OUT: dict[str, Meta] = {"i": 0, "g": "global"}


def _argument(kind: str, value: Meta, span: Span) -> relax.Expr:
    if kind == "s" and isinstance(value, (list, tuple)):
        return relax.ShapeExpr(tuple(dimension_of(item, span) for item in value), span=span)
    if kind == "d" and isinstance(value, str):
        return relax.DataTypeImm(dtype_of(value, span) or VOID, span=span)
    return expr_of(value, span)


# ------------------------------------------------------------------------------------------------ call forms


def _callee(value: Meta, span: Span) -> relax.Expr:
    """What is called: a function of the module, or a packed one by name."""
    match value:
        case str():
            return relax.ExternFunc(value, span=span)
        case relax.StringImm(name):
            return relax.ExternFunc(name, span=span)
        case relax.ExternFunc():
            return value
        case tir.GlobalVar() | relax.Var() | relax.Call():
            return value
    raise fail(BAD_ARGUMENTS, f"{described(value)} cannot be called", span)


def _inline(value: Meta, span: Span) -> relax.Expr:
    """The arguments of a call form: a tuple as it stands, a single expression as a tuple of one."""
    if isinstance(value, (list, tuple)):
        return tuple_of(value, span)
    result = expr_of(value, span)
    known = isinstance(result, relax.Var) and isinstance(result.ty, TupleType)
    return result if known or isinstance(result, relax.Tuple) else relax.Tuple((result,), span=span)


def _outputs(_ev: Evaluator, site: CallSite, value: Meta, dtypes: Meta) -> tuple[Type, ...]:
    """The output types: `out_ty`, a list of them, or, in 2022, shapes with `dtype=`."""
    span = site.place("dtype" if dtypes is not None else "out_ty", 2)
    if dtypes is not None:
        several = isinstance(dtypes, (list, tuple))
        shapes = value if several and isinstance(value, (list, tuple)) else [value]
        names = dtypes if isinstance(dtypes, (list, tuple)) else [dtypes]
        if len(shapes) != len(names):
            raise site.misfit(f"has {len(shapes)} output shapes and {len(names)} dtypes")
        result: tuple[Type, ...] = tuple(
            TensorType(_shape(site, shape), dtype_of(name, span), span=site.span)
            for shape, name in zip(shapes, names, strict=True)
        )
    else:
        result = types_of(value, span)
    return result if len(result) == 1 else (TupleType(result, span=site.span),)


def _shape(site: CallSite, value: Meta) -> tuple[tir.Expr, ...]:
    result = shape_of(value, site.span)
    if result is None:
        raise site.wrong("shape", value, "a list of dimensions")
    return result


def _destination_passing(ev: Evaluator, site: CallSite) -> Meta:
    """`R.call_tir`, `R.call_dps_packed` and their kin."""
    site = _canonical(site)
    name = {"R.dist.call_tir": "call_tir"}.get(site.name, site.name.removeprefix("R."))
    extra: dict[str, Meta] = dict.fromkeys(_EXTRA.get(name, ()), REQUIRED)
    if "te_grad_kwargs" in extra:
        extra["te_grad_kwargs"] = {}
    middle = {"inplace_indices": extra.pop("inplace_indices")} if "inplace_indices" in extra else {}
    values = site.take(func=REQUIRED, args=(), **middle, out_ty=REQUIRED, tir_vars=None, dtype=None, **extra)
    callee = _callee(values["func"], site.place(0))
    if name == "call_tir" and isinstance(callee, relax.ExternFunc):
        name = "call_dps_packed"
    args: list[relax.Expr] = [callee, _inline(values["args"], site.place(1))]
    if values["tir_vars"] is not None:
        args.append(relax.ShapeExpr(_shape(site, values["tir_vars"]), span=site.place("tir_vars")))
    attrs = {key: _attr(ev, values[key], site.place(key)) for key in (*middle, *extra)}
    if "inplace_indices" in attrs and not isinstance(attrs["inplace_indices"], tuple):
        attrs["inplace_indices"] = (attrs["inplace_indices"],)
    outputs = _outputs(ev, site, values["out_ty"], values["dtype"])
    return relax.Call(relax.Op(name, span=site.span), tuple(args), attrs, outputs, span=site.span)


_EXTRA: dict[str, tuple[str, ...]] = {
    "call_tir_inplace": ("inplace_indices",),
    "call_tir_with_grad": ("te_grad_name", "te_grad_kwargs"),
}


def _split(ev: Evaluator, site: CallSite) -> tuple[CallSite, tuple[Type, ...], dict[str, tir.Attr]]:
    """A call with its `ty_args` and other keywords as attributes."""
    site = _canonical(site)
    kwargs = dict(site.kwargs)
    ty_args = types_of(kwargs.pop("ty_args"), site.place("ty_args")) if kwargs.get("ty_args") is not None else ()
    kwargs.pop("ty_args", None)
    if kwargs.get("attrs_type_key") in _DEFAULT_ATTRS:
        del kwargs["attrs_type_key"]
    return site, ty_args, {key: _attr(ev, value, site.place(key)) for key, value in kwargs.items()}


def _call_packed(ev: Evaluator, site: CallSite) -> Meta:
    """`R.call_packed("f", x)`, `R.call_pure_packed`, `R.call_inplace_packed`."""
    site, ty_args, attrs = _split(ev, site)
    if not site.args:
        raise site.misfit("gets no function")
    name = site.name.removeprefix("R.")
    callee = _callee(site.args[0], site.place(0))
    args = tuple(expr_of(value, site.place(i)) for i, value in enumerate(site.args) if i)
    if name == "call_packed":
        return relax.Call(callee, args, attrs, ty_args, span=site.span)
    return relax.Call(relax.Op(name, span=site.span), (callee, *args), attrs, ty_args, span=site.span)


def _with_tuple(ev: Evaluator, site: CallSite) -> Meta:
    """`R.call_builtin_with_ctx("f", (x,))`, `R.make_closure(cls.f, (x,))`, `R.invoke_closure(c, (x,))` and kin."""
    site, ty_args, attrs = _split(ev, site)
    name = site.name.removeprefix("R.")
    func, args = _two(site)
    result = expr_of(func, site.place(0)) if name.startswith("invoke") else _callee(func, site.place(0))
    call = (result, _inline(args, site.place(1)))
    return relax.Call(relax.Op(name, span=site.span), call, attrs, ty_args, span=site.span)


def _two(site: CallSite) -> tuple[Meta, Meta]:
    if len(site.args) not in (1, 2):
        raise site.misfit(f"takes a function and a tuple of arguments and gets {len(site.args)} arguments")
    return site.args[0], site.args[1] if len(site.args) == 2 else ()


def _call_py_func(_ev: Evaluator, site: CallSite) -> Meta:
    """`R.call_py_func("f", (x,), ty_args=…)`; people write `R.call_py_func("f", x, out_ty=…)`."""
    site = _canonical(site)
    if not site.args:
        raise site.misfit("gets no function")
    func, rest = site.args[0], site.args[1:]
    args = rest[0] if len(rest) == 1 and isinstance(rest[0], (tuple, list)) else rest
    outputs = site.kwargs.get("ty_args", site.kwargs.get("out_ty", ()))
    call = (expr_of(func, site.place(0)), _inline(args, site.span))
    return relax.Call(relax.Op("call_py_func"), call, {}, types_of(outputs, site.span), span=site.span)


def _linear(_ev: Evaluator, site: CallSite) -> Meta:
    return linear(_canonical(site))


def _print(_ev: Evaluator, site: CallSite) -> Meta:
    """`R.print(x, format="…")`: the format comes first."""
    values = [expr_of(value, site.place(i)) for i, value in enumerate(site.args)]
    return relax.Call(relax.Op("print"), (_format(site), *values), span=site.span)


def _assert_op(_ev: Evaluator, site: CallSite) -> Meta:
    """`R.assert_op(condition, x, format="…")`: the condition, the format, the rest."""
    if not site.args:
        raise site.misfit("gets no condition")
    values = [expr_of(value, site.place(i)) for i, value in enumerate(site.args)]
    if len(values) == 2 and isinstance(site.args[1], (list, tuple)):
        values = [values[0], *(expr_of(value, site.place(1)) for value in site.args[1])]
    return relax.Call(relax.Op("assert_op"), (values[0], _format(site), *values[1:]), span=site.span)


def _format(site: CallSite) -> relax.StringImm:
    values = site.kwargs.get("format", "")
    if set(site.kwargs) - {"format"}:
        raise site.misfit("has no other keyword than `format`")
    match values:
        case str():
            return relax.StringImm(values, span=site.place("format"))
        case relax.StringImm():
            return values
    raise site.wrong("format", values, "a string")


# ---------------------------------------------------------------------------------------- values and statements


def _const(_ev: Evaluator, site: CallSite) -> Meta:
    values = site.take(value=REQUIRED, dtype=None)
    element = dtype_of(values["dtype"], site.place("dtype", 1))
    return constant_of(values["value"], element, site.span)


def _shape_expr(_ev: Evaluator, site: CallSite) -> Meta:
    values = site.take(values=REQUIRED)["values"]
    return relax.ShapeExpr(_shape(site, values), span=site.span)


def _prim_value(_ev: Evaluator, site: CallSite) -> Meta:
    return expr_of(site.only_positional(1, 1)[0], site.span)


def _plain_call(_ev: Evaluator, site: CallSite) -> Meta:
    """`relax.Call(Op.get("relax.add"), args)`; an operator is known by its name."""
    values = site.take(op=REQUIRED, args=REQUIRED, attrs=None, ty_args=())
    op = values["op"]
    if not isinstance(op, str) or not op.startswith("relax."):
        raise site.wrong("op", op, "an operator of Relax")
    if values["attrs"] is not None or not isinstance(values["args"], (tuple, list)):
        raise site.misfit("takes a list of arguments and no attributes")
    operands = tuple(expr_of(value, site.place("args", 1)) for value in values["args"])
    ty_args = types_of(values["ty_args"] or (), site.place("ty_args"))
    return relax.Call(relax.Op(op.removeprefix("relax."), span=site.span), operands, {}, ty_args, span=site.span)


def _string(_ev: Evaluator, site: CallSite) -> Meta:
    (value,) = site.only_positional(1, 1)
    if not isinstance(value, str):
        raise site.wrong("value", value, "a string")
    return relax.StringImm(value, span=site.span)


def _dtype(_ev: Evaluator, site: CallSite) -> Meta:
    (value,) = site.only_positional(1, 1)
    return relax.DataTypeImm(dtype_of(value, site.span) or VOID, span=site.span)


def _extern(_ev: Evaluator, site: CallSite) -> Meta:
    value = site.take(name=REQUIRED, func_ty=None)["name"]
    if not isinstance(value, str):
        raise site.wrong("name", value, "a string")
    return relax.ExternFunc(value, span=site.span)


def _tuple(_ev: Evaluator, site: CallSite) -> Meta:
    return tuple_of(site.only_positional(), site.span)


def _tuple_item(_ev: Evaluator, site: CallSite) -> Meta:
    owner, index = site.only_positional(2, 2)
    if isinstance(index, bool) or not isinstance(index, int) or index < 0:
        raise site.wrong("index", index, "a field's number")
    return relax.TupleGetItem(expr_of(owner, site.place(0)), index, span=site.span)


def _match_cast(_ev: Evaluator, site: CallSite) -> Meta:
    values = site.take(value=REQUIRED, ty=REQUIRED)
    return Cast(expr_of(values["value"], site.place("value", 0)), type_of(values["ty"], site.place("ty", 1)), site.span)


def _func_attr(ev: Evaluator, site: CallSite) -> Meta:
    (value,) = site.only_positional(1, 1)
    if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
        raise site.wrong("attrs", value, "a dictionary")
    return FuncAttr({canonical_attribute(key): _attr(ev, item, site.span) for key, item in value.items()}, site.span)


def _dataflow(_ev: Evaluator, site: CallSite) -> Meta:
    site.only_positional(0, 0)
    return Dataflow()


def _unsupported(_ev: Evaluator, site: CallSite) -> Meta:
    raise fail(UNSUPPORTED_CONSTRUCT, f"`{site.spelled}` is not supported", site.span)


def _emit_te(ev: Evaluator, node: ast.Call) -> Meta:
    message = "`R.emit_te` is not supported: it executes a function of Python; call what it makes by `R.call_tir`"
    raise fail(UNSUPPORTED_CONSTRUCT, message, ev.spans.of(node))


_Handler = Callable[[Evaluator, CallSite], Meta]
_DPS = ("call_tir", "call_tir_inplace", "call_tir_with_grad", "call_dps_packed")
_PACKED = ("call_packed", "call_pure_packed", "call_inplace_packed")
_TUPLED = (
    *("call_builtin_with_ctx", "make_closure", "invoke_closure", "invoke_pure_closure"),
    *("vm.call_tir_dyn",),
)
_REFUSED = ("macro", "rewriter", "match_shape", "Then", "Else", "If", "SeqExpr")

RELAX_CALLS = Table(
    calls={
        **dict.fromkeys((f"R.{name}" for name in _DPS), _destination_passing),
        **dict.fromkeys((f"R.{name}" for name in _PACKED), _call_packed),
        **dict.fromkeys((f"R.{name}" for name in _TUPLED), _with_tuple),
        **dict.fromkeys((f"R.{name}" for name in _REFUSED), _unsupported),
        **dict.fromkeys(("R.device_mesh", "R.dist.device_mesh"), device_mesh),
        **dict.fromkeys((f"R.dist.{name}" for name in ("annotate_sharding", "redistribute")), placed),
        **dict.fromkeys((f"R.dist.{name}" for name in ("call_tir", "call_tir_local_view")), _destination_passing),
        "R.dist.const": dist_const,
        "R.call_py_func": _call_py_func,
        "R.device": device,
        **dict.fromkeys((f"tvm.{name}" for name in NAMED), named_device),
        "R.to_vdevice": to_vdevice,
        "R.hint_on_device": hint_on_device,
        "R.linear": _linear,
        "R.print": _print,
        "R.assert_op": _assert_op,
        "R.Call": _plain_call,
        "R.const": _const,
        "R.shape": _shape_expr,
        "R.ShapeExpr": _shape_expr,
        "R.prim_value": _prim_value,
        "R.PrimValue": _prim_value,
        "R.str": _string,
        "R.StringImm": _string,
        "R.dtype": _dtype,
        "R.DataTypeImm": _dtype,
        "R.ExternFunc": _extern,
        "R.extern": _extern,
        "R.tuple": _tuple,
        "R.TupleGetItem": _tuple_item,
        "R.match_cast": _match_cast,
        "R.func_attr": _func_attr,
        "R.dataflow": _dataflow,
    },
    prefixes={"R.": operator_call},
    lazy={"R.emit_te": _emit_te},
)
