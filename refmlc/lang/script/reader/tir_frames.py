"""Constructs of TensorIR that a statement takes: allocations, views, attributes, threads, bindings, stores, jumps.

Each gives a description (`tir_values`); the reader of statements puts it into the tree.
"""

from dataclasses import replace
from typing import Literal

from refmlc.diag import Span, fail
from refmlc.diag.catalogue import UNSUPPORTED_CONSTRUCT
from refmlc.lang.dtypes import INT32, DType
from refmlc.lang.ir import relax, tir
from refmlc.lang.ir.kinds import Layout
from refmlc.lang.ir.node import Node
from refmlc.lang.ops import promote
from refmlc.lang.script.reader.arguments import REQUIRED, CallSite
from refmlc.lang.script.reader.attributes import attr_of
from refmlc.lang.script.reader.evaluate import Evaluator
from refmlc.lang.script.reader.table import CallHandler
from refmlc.lang.script.reader.tir_operands import (
    dtype_of,
    expr_of,
    operand_of,
    region_of,
    str_of,
    tuple_of,
    vector_indices,
    wrong_rank,
)
from refmlc.lang.script.reader.tir_types import (
    BUFFER_OPTIONS,
    LATE_OPTIONS,
    annotations_of,
    buffer_arguments,
    buffer_spec,
)
from refmlc.lang.script.reader.tir_values import (
    AllocSpec,
    AssertFrame,
    AttrFrame,
    BindFrame,
    BufferSpec,
    DeclSpec,
    Done,
    EnvThread,
    IfFrame,
    MatchSpec,
    MetaVar,
    PreflattenedSpec,
    Region,
    ThreadFrame,
    WhileFrame,
)
from refmlc.lang.script.reader.values import Meta, Slice, described

_CONSTANTS = 1 << 14
_ITER_TYPES = ("DataPar", "ThreadIndex", "CommReduce", "Ordered", "Opaque", "Unrolled", "Vectorized", "Parallelized")

# ------------------------------------------------------------------------------------------------- allocations


def _alloc_buffer(ev: Evaluator, site: CallSite) -> Meta:
    """A statement in 0.27, an allocation of the enclosing block before (`spellings`)."""
    values = buffer_arguments(site)
    where: Literal["flat", "block"] = "flat" if ev.generation == "0.27" else "block"
    return AllocSpec(buffer_spec(ev, values, site.span), where, annotations_of(values, site.span))


def _sblock_alloc(ev: Evaluator, site: CallSite) -> Meta:
    return AllocSpec(buffer_spec(ev, buffer_arguments(site), site.span), "block")


def _alloc_in(scope: str) -> CallHandler:
    def handler(ev: Evaluator, site: CallSite) -> Meta:
        values = buffer_arguments(replace(site, kwargs={"scope": scope, **site.kwargs}))
        return AllocSpec(buffer_spec(ev, values, site.span), "flat", annotations_of(values, site.span))

    return handler


def cell_of(ev: Evaluator, dtype: DType, span: Span, scope: str = "local") -> AllocSpec:
    """A mutable scalar: a buffer of one element, laid out in a schedulable function too."""
    layout = Layout.ROW_MAJOR if ev.s_tir else Layout.DEFAULT
    spec = BufferSpec((tir.IntImm(INT32, 1),), dtype, scope=scope, layout=layout, span=span)
    return AllocSpec(spec, "flat", form="scalar")


def _scalar(scope: str) -> CallHandler:
    def handler(ev: Evaluator, site: CallSite) -> Meta:
        values = site.take(dtype="float32", scope=scope)
        return cell_of(ev, dtype_of(values["dtype"], site.span), site.span, str_of(values["scope"], site.span))

    return handler


def _allocate(ev: Evaluator, site: CallSite) -> Meta:
    """`T.allocate(extents, dtype, scope, condition)` (until 2025): names a pointer."""
    values = site.take(extents=REQUIRED, dtype=REQUIRED, scope="global", condition=None, annotations=None)
    spec = buffer_spec(ev, {"shape": values["extents"], "dtype": values["dtype"], "scope": values["scope"]}, site.span)
    condition = None if values["condition"] in (None, True) else expr_of(values["condition"], site.span)
    match condition:
        case None | tir.IntImm(value=1):
            return AllocSpec(spec, "flat", annotations_of(values, site.span), "pointer")
    raise fail(UNSUPPORTED_CONSTRUCT, "an allocation with a condition is not supported", site.span)


def _allocate_const(ev: Evaluator, site: CallSite) -> Meta:
    """`T.allocate_const(values, dtype, shape)` (until 2025): an allocation and its stores."""
    arguments = site.take(data=REQUIRED, dtype=REQUIRED, extents=REQUIRED, annotations=None)
    spec = buffer_spec(ev, {"shape": arguments["extents"], "dtype": arguments["dtype"]}, site.span)
    values = tuple(
        promote.converted(operand_of(v, site.span), spec.dtype, site.span) for v in tuple_of(arguments["data"])
    )
    if len(values) > _CONSTANTS:
        raise fail(UNSUPPORTED_CONSTRUCT, f"a constant allocation of {len(values)} values is not supported", site.span)
    return AllocSpec(spec, "flat", annotations_of(arguments, site.span), "pointer", values)


def _decl_buffer(ev: Evaluator, site: CallSite) -> Meta:
    spec = buffer_spec(ev, buffer_arguments(site), site.span)
    fresh = spec.data is None and not spec.allocated_addr
    return AllocSpec(spec, "flat") if fresh else DeclSpec(spec, spec.data)


def _decl_scalar(ev: Evaluator, site: CallSite) -> Meta:
    """`T.decl_scalar(dtype, data, scope, elem_offset)`: a view of one element, and its name for that."""
    values = site.take(dtype=REQUIRED, data=REQUIRED, scope=REQUIRED, elem_offset=None, byte_offset=None)
    given = {**values, "shape": (1,), "layout": "default"}
    spec = replace(buffer_spec(ev, given, site.span), layout=Layout.ROW_MAJOR if ev.s_tir else Layout.DEFAULT)
    return DeclSpec(spec, spec.data, scalar=True)


def _match_buffer(ev: Evaluator, site: CallSite) -> Meta:
    options = {key: value for key, value in {**BUFFER_OPTIONS, **LATE_OPTIONS}.items() if key != "byte_offset"}
    values = site.take(param=REQUIRED, shape=None, **options)
    param = values["param"]
    source = param if isinstance(param, tir.Var) else region_of(param, site.span)
    if values["shape"] is None:
        if isinstance(source, tir.Var):
            raise site.misfit("gets no argument for `shape`")
        values = {**values, "shape": tuple(part.extent for part in source.region), "dtype": source.buffer.dtype}
    return MatchSpec(source, buffer_spec(ev, values, site.span), site.span)


def _preflattened(ev: Evaluator, site: CallSite) -> Meta:
    values = buffer_arguments(site, ("flat", "shape"))
    flat = values["flat"]
    if not isinstance(flat, tir.Buffer):
        raise site.wrong("flat", flat, "a buffer")
    return PreflattenedSpec(flat, buffer_spec(ev, {**values, "data": None}, site.span))


# ----------------------------------------------------------------------------------- attributes, threads, binds


def _attr(_ev: Evaluator, site: CallSite) -> Meta:
    values = site.take(node=REQUIRED, key=None, value=None)
    node = values["node"]
    if isinstance(node, dict):
        return AttrFrame(tuple((None, str(key), attr_of(value, site.span)) for key, value in node.items()))
    if values["key"] is None:
        raise site.misfit("gets no argument for `key`")
    return AttrFrame(
        ((attr_of(node, site.span), str_of(values["key"], site.span), attr_of(values["value"], site.span)),)
    )


def _launch_thread(_ev: Evaluator, site: CallSite) -> Meta:
    values = site.take(thread=REQUIRED, extent=REQUIRED)
    thread, extent = values["thread"], expr_of(values["extent"], site.span)
    if isinstance(thread, (str, tir.ThreadVar)):
        return ThreadFrame(thread, extent)
    raise site.wrong("thread", thread, "a thread")


def _env_thread(_ev: Evaluator, site: CallSite) -> Meta:
    values = site.take(thread_tag=REQUIRED, dtype="int32")
    return EnvThread(str_of(values["thread_tag"], site.span), dtype_of(values["dtype"], site.span))


def _iter_var(_ev: Evaluator, site: CallSite) -> Meta:
    values = site.take(v=REQUIRED, dom=REQUIRED, iter_type=REQUIRED, thread_tag=REQUIRED)
    var, dom = values["v"], values["dom"]
    if isinstance(var, str):
        var = tir.Var(var, INT32, span=site.span)
    if not isinstance(var, tir.Var) or not (dom is None or isinstance(dom, tir.Range)):
        raise site.misfit(f"takes a variable and a range and gets {described(var)} and {described(dom)}")
    kind = str_of(values["iter_type"], site.span)
    if kind not in _ITER_TYPES:
        raise site.wrong("iter_type", kind, f"one of {', '.join(_ITER_TYPES)}")
    return tir.ThreadVar(str_of(values["thread_tag"], site.span), var, dom, kind, span=site.span)


def _let(ev: Evaluator, site: CallSite) -> Meta:
    """`T.let(x, v)`; `T.LetStmt(v, var=x)` names the value first."""
    if site.spelled.endswith("LetStmt"):
        return _bind(ev, site)
    values = site.take(var=REQUIRED, value=REQUIRED, body=None)
    var = values["var"]
    if not isinstance(var, tir.Var):
        raise site.wrong("var", var, "a variable")
    value = promote.converted(operand_of(values["value"], site.span), var.dtype, site.span)
    if values["body"] is not None:
        return tir.Let(var, value, expr_of(values["body"], site.span), span=site.span)
    return BindFrame(var, value)


def _bind(_ev: Evaluator, site: CallSite) -> Meta:
    values = site.take(value=REQUIRED, type_annotation=None, var=None)
    var = values["var"]
    if not (var is None or isinstance(var, tir.Var)):
        raise site.wrong("var", var, "a variable")
    value = operand_of(values["value"], site.span)
    node = promote.literal(value, site.span) if var is None else promote.converted(value, var.dtype, site.span)
    return BindFrame(var, node)


# ------------------------------------------------------------------------------------------------- statements


def _evaluate(_ev: Evaluator, site: CallSite) -> Meta:
    value = site.take(value=REQUIRED)["value"]
    return value if isinstance(value, Done) else Done(tir.Evaluate(expr_of(value, site.span), span=site.span))


def _buffer_store(_ev: Evaluator, site: CallSite) -> Meta:
    values = site.take(buffer=REQUIRED, value=REQUIRED, indices=REQUIRED, predicate=None)
    buffer, predicate = values["buffer"], values["predicate"]
    if not isinstance(buffer, tir.Buffer):
        raise site.wrong("buffer", buffer, "a buffer")
    mask = None if predicate is None else expr_of(predicate, site.span)
    return Done(store(buffer, tuple_of(values["indices"]), operand_of(values["value"], site.span), site.span, mask))


def _flat(pointer: Meta, site: CallSite) -> tir.Buffer:
    """The buffer behind the pointer of an old flat access."""
    buffer = pointer.buffer if isinstance(pointer, tir.BufferData) else pointer
    if isinstance(buffer, tir.Buffer) and len(buffer.shape) == 1:
        return buffer
    raise site.misfit(f"takes a pointer to a buffer of one dimension and gets {described(pointer)}")


def _load(_ev: Evaluator, site: CallSite) -> Meta:
    """`T.load(dtype, pointer, index)` (2021)."""
    values = site.take(dtype=REQUIRED, var=REQUIRED, index=REQUIRED, predicate=None)
    return tir.BufferLoad(_flat(values["var"], site), (expr_of(values["index"], site.span),), span=site.span)


def _store(_ev: Evaluator, site: CallSite) -> Meta:
    """`T.store(pointer, index, value)` (2021)."""
    values = site.take(var=REQUIRED, index=REQUIRED, value=REQUIRED, predicate=None)
    value = operand_of(values["value"], site.span)
    return Done(store(_flat(values["var"], site), (values["index"],), value, site.span))


def store(
    buffer: tir.Buffer, index: tuple[Meta, ...], value: promote.Operand, span: Span, predicate: tir.Expr | None = None
) -> tir.BufferStore:
    """`buffer[index] = value`: the value converted to the buffer's dtype, broadcast where the index has lanes."""
    if len(index) != len(buffer.shape):
        raise wrong_rank(buffer, len(index), span)
    parts = tuple(item if isinstance(item, Slice) else expr_of(item, span) for item in index)
    indices = vector_indices(Region(buffer, parts, span))
    wanted = tir.loaded_dtype(buffer, indices)
    if not isinstance(value, (int, float)) and value.dtype.kind == wanted.kind == "handle":
        return tir.BufferStore(buffer, value, indices, predicate, span=span)
    return tir.BufferStore(buffer, promote.converted(value, wanted, span), indices, predicate, span=span)


def _assert(_ev: Evaluator, site: CallSite) -> Meta:
    values = site.take(condition=REQUIRED, message=REQUIRED, error_kind="RuntimeError")
    condition = promote.condition(operand_of(values["condition"], site.span), site.span)
    return AssertFrame(condition, message_of(values["message"], site.span), str_of(values["error_kind"], site.span))


def message_of(value: Meta, span: Span) -> tuple[str, ...]:
    """The parts of the message of an assert; a reference to omitted metadata stays as the text has it."""
    return tuple(
        f'metadata["{item.key}"][{item.index}]' if isinstance(item, relax.MetadataRef) else str_of(item, span)
        for item in tuple_of(value)
    )


def _return(_ev: Evaluator, site: CallSite) -> Meta:
    value = site.take(value=0)["value"]
    return Done(tir.Return(expr_of(value, site.span), span=site.span))


def _jump(kind: type[tir.Break] | type[tir.Continue]) -> CallHandler:
    def handler(_ev: Evaluator, site: CallSite) -> Meta:
        site.only_positional(0, 0)
        return Done(kind(span=site.span))

    return handler


def _while(_ev: Evaluator, site: CallSite) -> Meta:
    value = site.take(condition=REQUIRED)["condition"]
    return WhileFrame(promote.branch(operand_of(value, site.span), site.span))


def _if(_ev: Evaluator, site: CallSite) -> Meta:
    value = site.take(condition=REQUIRED)["condition"]
    return IfFrame("if", promote.branch(operand_of(value, site.span), site.span))


def _then(_ev: Evaluator, _site: CallSite) -> Meta:
    return IfFrame("then")


def _else(_ev: Evaluator, _site: CallSite) -> Meta:
    return IfFrame("else")


def _meta_var(ev: Evaluator, site: CallSite) -> Meta:
    value = site.take(value=REQUIRED)["value"]
    if isinstance(value, Node):
        ev.budget.charge_tree(value, site.span)
    return MetaVar(value)


CALLS: dict[str, CallHandler] = {
    "T.alloc_buffer": _alloc_buffer,
    "T.sblock_alloc_buffer": _sblock_alloc,
    "T.alloc_local": _alloc_in("local"),
    **dict.fromkeys(("T.alloc_shared", "T.smem"), _alloc_in("shared")),
    "T.alloc_scalar": _scalar("global"),
    "T.local_scalar": _scalar("local"),
    "T.shared_scalar": _scalar("shared"),
    "T.allocate": _allocate,
    "T.allocate_const": _allocate_const,
    "T.decl_buffer": _decl_buffer,
    "T.decl_scalar": _decl_scalar,
    "T.match_buffer": _match_buffer,
    "T.preflattened_buffer": _preflattened,
    "T.attr": _attr,
    "T.launch_thread": _launch_thread,
    "T.env_thread": _env_thread,
    "T.iter_var": _iter_var,
    "T.let": _let,
    "T.Bind": _bind,
    "T.evaluate": _evaluate,
    "T.buffer_store": _buffer_store,
    "T.load": _load,
    "T.store": _store,
    "T.Assert": _assert,
    "T.Return": _return,
    "T.ret": _return,
    "T.break_loop": _jump(tir.Break),
    "T.Break": _jump(tir.Break),
    "T.continue_loop": _jump(tir.Continue),
    "T.Continue": _jump(tir.Continue),
    "T.While": _while,
    "T.If": _if,
    "T.Then": _then,
    "T.Else": _else,
    "T.meta_var": _meta_var,
    "I.meta_var": _meta_var,
}
