"""How Python's syntax acts on Relax values, and the table of Relax put together.

| Python           | meaning                                                                    |
|------------------|----------------------------------------------------------------------------|
| `x[i]`           | `TupleGetItem`                                                             |
| `x.ty`           | the type that the text gives `x`                                            |
| `f(x)`           | a call of a function of the module, a variable, a packed function          |
| `x + y`, `-x` …  | on tensors the operator (`R.add`); on primitive values TensorIR arithmetic |
| `x == y`, `!=`   | on primitive values only                                                   |
| `metadata[k][i]` | the constant, where the text holds its metadata; else `MetadataRef`        |
"""

from dataclasses import dataclass

from refmlc.diag import Span, fail
from refmlc.diag.catalogue import BAD_METADATA, NOT_TVMSCRIPT
from refmlc.lang.ir import relax, tir
from refmlc.lang.ir.types import TupleType, Type
from refmlc.lang.script.reader.arguments import CallSite
from refmlc.lang.script.reader.evaluate import Evaluator
from refmlc.lang.script.reader.relax_calls import RELAX_CALLS
from refmlc.lang.script.reader.relax_values import RELAX_NODES, expr_of, prim_of
from refmlc.lang.script.reader.table import Family, Table, merged
from refmlc.lang.script.reader.types import TYPE_CONSTRUCTS
from refmlc.lang.script.reader.values import Construct, Meta, described

_BINARY = {
    "+": "add",
    "-": "subtract",
    "*": "multiply",
    "/": "divide",
    "//": "floor_divide",
    "%": "mod",
    "**": "power",
    "<": "less",
    "<=": "less_equal",
    ">": "greater",
    ">=": "greater_equal",
}


@dataclass(frozen=True, slots=True)
class MetadataKey:
    """`metadata["relax.expr.Constant"]`."""

    key: str


def _item(_ev: Evaluator, owner: Meta, index: Meta, span: Span) -> Meta:
    result = prim_of(index)
    number = result.value if isinstance(result, tir.IntImm) else index
    if isinstance(number, bool) or not isinstance(number, int) or number < 0:
        raise fail(NOT_TVMSCRIPT, f"a tuple has no field {described(index)}", span)
    return relax.TupleGetItem(expr_of(owner, span), number, span=span)


def _attribute(ev: Evaluator, value: Meta, name: str, span: Span) -> Meta:
    """`x.ty` of what the text gives a type."""
    declared = _declared(value) if name in ("ty", "struct_info") else None
    if declared is None:
        raise ev.refuse(f"{described(value)} has no attribute `{name}` that the text gives", span)
    return declared


def _declared(value: Meta) -> Type | None:
    """The type that the text gives a variable, or a field of one."""
    match value:
        case relax.Var(ty=ty):
            return ty
        case relax.TupleGetItem(tuple_value=owner, index=index):
            whole = _declared(owner)
            return whole.fields[index] if isinstance(whole, TupleType) and index < len(whole.fields) else None
    return None


def _call(_ev: Evaluator, callee: Meta, site: CallSite) -> Meta:
    args = tuple(expr_of(value, site.place(i)) for i, value in enumerate(site.only_positional()))
    return relax.Call(expr_of(callee, site.span), args, span=site.span)


def _is_prim(value: Meta) -> bool:
    return prim_of(value) is not None or isinstance(value, (int, float))


def _binary(ev: Evaluator, symbol: str, a: Meta, b: Meta, span: Span) -> Meta:
    if _is_prim(a) and _is_prim(b):
        x, y = prim_of(a), prim_of(b)
        return ev.binary(symbol, a if x is None else x, b if y is None else y, span)
    name = _BINARY.get(symbol)
    if name is None:
        raise fail(NOT_TVMSCRIPT, f"`{symbol}` has no meaning on {described(a)} and {described(b)}", span)
    return relax.Call(relax.Op(name, span=span), (expr_of(a, span), expr_of(b, span)), span=span)


def _unary(ev: Evaluator, symbol: str, a: Meta, span: Span) -> Meta:
    inner = prim_of(a)
    if inner is not None:
        return ev.unary(symbol, inner, span)
    if symbol != "-":
        raise fail(NOT_TVMSCRIPT, f"`{symbol}` has no meaning on {described(a)}", span)
    return relax.Call(relax.Op("negative", span=span), (expr_of(a, span),), span=span)


def _metadata(_ev: Evaluator, _owner: Construct, index: Meta, span: Span) -> Meta:
    key = index.path if isinstance(index, Construct) else index
    if not isinstance(key, str):
        raise fail(NOT_TVMSCRIPT, f"the metadata has no key {described(index)}", span)
    return MetadataKey(key)


def _metadata_item(ev: Evaluator, owner: Meta, index: Meta, span: Span) -> Meta:
    if not isinstance(owner, MetadataKey):
        raise TypeError(owner)
    if isinstance(index, bool) or not isinstance(index, int) or index < 0:
        raise fail(NOT_TVMSCRIPT, f"the metadata has no entry {described(index)}", span)
    if ev.metadata is None:
        return relax.MetadataRef(owner.key, index, span=span)
    entries = ev.metadata.get(owner.key)
    if entries is None or index >= len(entries):
        raise fail(BAD_METADATA, f"the metadata has no entry {index} of `{owner.key}`", span)
    result = entries[index]
    return relax.MetadataRef(owner.key, index, span=span) if result is None else result


_CODES = {
    "MatchShapeCode": ("ASSERT_EQUAL_TO_IMM", "STORE_TO_HEAP", "NO_OP", "ASSERT_EQUAL_TO_LOAD"),
    "MakeShapeCode": ("USE_IMM", "LOAD_SHAPE"),
}
"""Names of the codes that builtin functions of the virtual machine take, in their order."""
CODES: dict[str, Meta] = {
    f"tvm.relax.testing.runtime_builtin.{family}.{name}": code
    for family, names in _CODES.items()
    for code, name in enumerate(names)
}
RELAX = merged(
    RELAX_CALLS,
    TYPE_CONSTRUCTS,
    Table(
        names=CODES,
        subscripts={"metadata": _metadata},
        families=(
            Family(RELAX_NODES, attribute=_attribute, item=_item, call=_call, binary=_binary, unary=_unary),
            Family((MetadataKey,), item=_metadata_item),
        ),
    ),
)
"""Relax alone. Inside a Relax function it comes before TensorIR, whose expressions are its dimensions."""
