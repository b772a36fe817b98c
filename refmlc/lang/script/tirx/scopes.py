"""Scope ids, the entry of the device, hints.

| text                                            | meaning                                                       |
|-------------------------------------------------|---------------------------------------------------------------|
| `bx, by = T.cta_id([4, n])`                     | where in a scope the thread is, one variable for each extent  |
| `lane = T.lane_id()`                            | the same, the extent left to other scope ids                  |
| `… preferred=[2, 2], dtype="uint32"`            | the sizes of clusters wished for; the dtype of the variables  |
| `T.device_entry()`                              | `T.attr({"tirx.device_entry": True})` around the rest         |
| `T.hint("message", key=value)`                  | the attribute `tirx_hint` of a mapping                        |
"""

import ast
from dataclasses import dataclass

from refmlc.diag import Span, fail
from refmlc.diag.catalogue import BAD_ARGUMENTS, NOT_TVMSCRIPT
from refmlc.lang.dtypes import BOOL, INT32, DType
from refmlc.lang.ir import tir
from refmlc.lang.ir.tirx import DEVICE_ENTRY, HINT, SCOPE_IDS, ScopeIdDef
from refmlc.lang.script.reader.arguments import CallSite
from refmlc.lang.script.reader.attributes import attr_of
from refmlc.lang.script.reader.evaluate import Evaluator
from refmlc.lang.script.reader.scope import Scope
from refmlc.lang.script.reader.table import CallHandler
from refmlc.lang.script.reader.tir_operands import dtype_of, expr_of, region_of, str_of, tuple_of
from refmlc.lang.script.reader.tir_values import AttrFrame, NamingStatement, Region
from refmlc.lang.script.reader.values import Meta

_PREFERRED = ("cta_id", "cta_id_in_cluster")


@dataclass(frozen=True, slots=True)
class ScopeIds(NamingStatement):
    """A scope id without the names of its variables."""

    kind: str
    extents: tuple[tir.Expr, ...] | None
    preferred: tuple[tir.Expr, ...] | None
    dtype: DType

    def define(self, scope: Scope, target: ast.expr | None, span: Span) -> tuple[tir.Stmt, ...]:
        """The statement; its variables have the names of `target`."""
        count = 1 if self.extents is None else len(self.extents)
        ids = tuple(tir.Var(name, self.dtype, span=span) for name in _names(target, count, span))
        match target:
            case ast.Name(id=name):
                scope.define(name, ids[0] if count == 1 else ids)
            case ast.Tuple() | ast.List():
                for var in ids:
                    scope.define(var.name, var)
        return (ScopeIdDef(ids, self.kind, self.extents, self.preferred, span=span),)


def _names(target: ast.expr | None, count: int, span: Span) -> list[str]:
    match target:
        case None:
            return ["v" if count == 1 else f"v_{number}" for number in range(count)]
        case ast.Name(id=name):
            return [name] if count == 1 else [f"{name}_{number}" for number in range(count)]
        case ast.Tuple(elts=items) | ast.List(elts=items):
            names = [item.id for item in items if isinstance(item, ast.Name)]
            if len(names) == len(items) == count:
                return names
            raise fail(BAD_ARGUMENTS, f"{count} scope ids are unpacked into {len(items)} names", span)
    raise fail(NOT_TVMSCRIPT, "scope ids are bound to names", span)


def _scope_id(kind: str) -> CallHandler:
    def handler(_ev: Evaluator, site: CallSite) -> Meta:
        more: dict[str, Meta] = {} if kind == "cta_id_in_pair" else {"extents": None}
        if kind in _PREFERRED:
            more["preferred"] = None
        values = site.take(**more, dtype="int32")
        dtype = dtype_of(values["dtype"], site.span)
        if not dtype.is_integer or dtype.is_vector:
            raise site.wrong("dtype", values["dtype"], "an integer dtype")
        extents, preferred = (_extents(values.get(key), site.span) for key in ("extents", "preferred"))
        if kind == "cta_id_in_pair":
            extents = (tir.IntImm(INT32, 2),)
        if extents == ():
            raise site.misfit("takes at least one extent")
        if extents is None and preferred is not None:
            raise site.misfit("takes `preferred` beside extents only")
        return ScopeIds(kind, extents, preferred, dtype)

    return handler


def _extents(value: Meta, span: Span) -> tuple[tir.Expr, ...] | None:
    return None if value is None else tuple(expr_of(item, span) for item in tuple_of(value))


def _device_entry(_ev: Evaluator, site: CallSite) -> Meta:
    site.only_positional(0, 0)
    return AttrFrame(((None, DEVICE_ENTRY, tir.IntImm(BOOL, 1)),))


def _hint(_ev: Evaluator, site: CallSite) -> Meta:
    if len(site.args) > 1:
        raise site.misfit(f"takes at most 1 positional argument and gets {len(site.args)}")
    attrs = {key: _hinted(value, site.span) for key, value in site.kwargs.items()}
    if site.args and "message" in site.kwargs:
        raise site.misfit("gets `message` twice", site.place("message"))
    message = {} if not site.args or site.args[0] == "" else {"message": str_of(site.args[0], site.span)}
    return AttrFrame((({**message, **attrs}, HINT, None),))


def _hinted(value: Meta, span: Span) -> tir.Attr:
    return region_of(value, span) if isinstance(value, Region) else attr_of(value, span)


CALLS: dict[str, CallHandler] = {
    **{f"T.{kind}": _scope_id(kind) for kind in SCOPE_IDS},
    "T.device_entry": _device_entry,
    "T.hint": _hint,
}
