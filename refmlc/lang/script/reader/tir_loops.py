"""Constructs of TensorIR for loops and blocks: ranges, grids, blocks, axes, facts about a block or function.

Each gives a description (`tir_values`); the reader of statements puts it into the tree.
"""

from refmlc.diag import Span, fail
from refmlc.diag.catalogue import BAD_ARGUMENTS
from refmlc.lang.ir import tir
from refmlc.lang.ir.kinds import ForKind, IterKind
from refmlc.lang.ops import promote
from refmlc.lang.script.reader.arguments import REQUIRED, CallSite
from refmlc.lang.script.reader.attributes import attr_of
from refmlc.lang.script.reader.evaluate import Evaluator
from refmlc.lang.script.reader.table import CallHandler
from refmlc.lang.script.reader.tir_operands import (
    dtype_of,
    expr_of,
    int_of,
    operand_of,
    range_of,
    region_of,
    str_of,
    tuple_of,
)
from refmlc.lang.script.reader.tir_types import annotations_of
from refmlc.lang.script.reader.tir_values import (
    AxisSpec,
    BlockFrame,
    Fact,
    InitFrame,
    LoopSpec,
)
from refmlc.lang.script.reader.values import Meta, Slice

# ------------------------------------------------------------------------------------------------------ loops


def _loop(kind: ForKind) -> CallHandler:
    def handler(_ev: Evaluator, site: CallSite) -> Meta:
        more: dict[str, Meta] = {"unroll": None} if kind is ForKind.SERIAL else {}
        more |= {} if kind is ForKind.THREAD_BINDING else {"dtype": None}
        values = site.take(start=REQUIRED, stop=None, thread=None, annotations=None, step=None, **more)
        start, stop, thread = values["start"], values["stop"], values["thread"]
        if kind is ForKind.THREAD_BINDING and isinstance(stop, str) and thread is None:
            stop, thread = None, stop
        if kind is not ForKind.THREAD_BINDING and isinstance(thread, (int, tir.IntImm)) and values["step"] is None:
            values["step"], thread = thread, None
        tag = None if thread is None else tir.ThreadVar(str_of(thread, site.span))
        if kind is ForKind.THREAD_BINDING and tag is None:
            raise site.misfit("gets no thread")
        bounds = _bounds(start, stop, site.span)
        if values.get("dtype") is not None:
            dtype = dtype_of(values["dtype"], site.span)
            bounds = (promote.converted(bounds[0], dtype, site.span), promote.converted(bounds[1], dtype, site.span))
        step = _step(values["step"], bounds, site.span)
        annotations = {**annotations_of(values, site.span), **_unrolling(values.get("unroll"), site)}
        return LoopSpec((bounds,), kind, step, tag, annotations)

    return handler


def _unrolling(value: Meta, site: CallSite) -> dict[str, tir.Attr]:
    """`unroll=` of a serial loop as an annotation: none, all, or the number of iterations."""
    match value:
        case None:
            return {}
        case False:
            return {"disable_unroll": True}
        case True:
            return {"pragma_unroll": True}
        case int() | tir.IntImm():
            if int_of(value, site.span) > 0:
                return {"pragma_unroll": int_of(value, site.span)}
    raise site.wrong("unroll", value, "`True`, `False` or a positive integer")


def _range(_ev: Evaluator, site: CallSite) -> Meta:
    args = site.only_positional(1, 3) if not site.kwargs else site.args
    start, stop = (args[0], None) if len(args) == 1 else args[:2]
    bounds = _bounds(start, stop, site.span)
    step = _step(args[2] if len(args) == 3 else site.kwargs.get("step"), bounds, site.span)
    return LoopSpec((bounds,), ForKind.SERIAL, step, None, annotations_of(site.kwargs, site.span), _host(site))


def _host(site: CallSite) -> range | None:
    """The Python `range` of a call with constants; None for any other."""
    if site.kwargs or not all(isinstance(arg, int) for arg in site.args):
        return None
    numbers = [arg for arg in site.args if isinstance(arg, int)]
    return None if len(numbers) == 3 and numbers[2] == 0 else range(*numbers)


def _bounds(start: Meta, stop: Meta, span: Span) -> tuple[tir.Expr, tir.Expr]:
    """(min, extent) of `range(stop)` or `range(start, stop)`."""
    if stop is None:
        extent = expr_of(start, span)
        return promote.constant(0, extent.dtype, span), _integer(extent, span)
    between = range_of((operand_of(start, span), operand_of(stop, span)), span)
    return _integer(between.min, span), between.extent


def _integer(value: tir.Expr, span: Span) -> tir.Expr:
    if not value.dtype.is_integer or value.dtype.is_vector:
        raise fail(BAD_ARGUMENTS, f"a loop counts integers; its bound is {value.dtype}", span)
    return value


def _step(step: Meta, bounds: tuple[tir.Expr, tir.Expr], span: Span) -> tir.Expr | None:
    """The step; None where it is 1, as it is without one."""
    if step is None:
        return None
    node = promote.converted(operand_of(step, span), bounds[0].dtype, span)
    return None if isinstance(node, tir.IntImm) and node.value == 1 else node


def _grid(_ev: Evaluator, site: CallSite) -> Meta:
    option = site.kwargs.get("dtype")
    ranges: list[tuple[tir.Expr, tir.Expr]] = []
    for arg in site.args:
        low, extent = arg if isinstance(arg, tuple) and len(arg) == 2 else (0, arg)
        count = operand_of(extent, site.span)
        if option is not None:
            count = promote.converted(count, dtype_of(option, site.span), site.span)
        node = promote.literal(count, site.span)
        ranges.append((promote.converted(operand_of(low, site.span), node.dtype, site.span), _integer(node, site.span)))
    if not ranges:
        raise site.misfit("takes at least 1 argument and gets 0")
    return LoopSpec(tuple(ranges))


# ------------------------------------------------------------------------------------------------------ blocks


def _block(_ev: Evaluator, site: CallSite) -> Meta:
    values = site.take(name="", no_realize=False, exec_scope="")
    return BlockFrame(str_of(values["name"], site.span), not values["no_realize"])


def _init(_ev: Evaluator, site: CallSite) -> Meta:
    site.only_positional(0, 0)
    return InitFrame()


def _regions(key: str) -> CallHandler:
    def handler(_ev: Evaluator, site: CallSite) -> Meta:
        regions: list[tir.BufferRegion] = []
        for arg in site.only_positional():
            regions.extend(region_of(item, site.span) for item in tuple_of(arg))
        return Fact("reads" if key == "reads" else "writes", tuple(regions), site.span)

    return handler


def _where(_ev: Evaluator, site: CallSite) -> Meta:
    value = promote.condition(operand_of(site.take(predicate=REQUIRED)["predicate"], site.span), site.span)
    return Fact("where", value, site.span)


def _sblock_attr(_ev: Evaluator, site: CallSite) -> Meta:
    return Fact("sblock_attr", _dictionary(site), site.span)


def _func_attr(_ev: Evaluator, site: CallSite) -> Meta:
    return Fact("func_attr", _dictionary(site), site.span)


def _func_name(_ev: Evaluator, site: CallSite) -> Meta:
    return Fact("func_name", str_of(site.take(name=REQUIRED)["name"], site.span), site.span)


def _dictionary(site: CallSite) -> dict[str, tir.Attr]:
    value = site.take(attrs=REQUIRED)["attrs"]
    if not isinstance(value, dict):
        raise site.wrong("attrs", value, "a dictionary")
    return {str(key): attr_of(item, site.span) for key, item in value.items()}


def _axis(kind: IterKind) -> CallHandler:
    def handler(_ev: Evaluator, site: CallSite) -> Meta:
        values = site.take(dom=REQUIRED, binding=REQUIRED, dtype="int32")
        binding = expr_of(values["binding"], site.span)
        dom = _domain(values["dom"], site.span)
        return AxisSpec(kind, dom, binding, dom.extent.dtype, site.span)

    return handler


def _domain(value: Meta, span: Span) -> tir.Range:
    match value:
        case tir.Range():
            return value
        case (list() | tuple()) as pair if len(pair) == 2:
            return range_of((operand_of(pair[0], span), operand_of(pair[1], span)), span)
        case Slice(start, stop, None):
            return range_of((operand_of(start or 0, span), operand_of(stop, span)), span)
    extent = expr_of(value, span)
    return tir.Range(promote.constant(0, extent.dtype, span), extent, span=span)


_KINDS = {"S": IterKind.SPATIAL, "R": IterKind.REDUCE, "C": IterKind.SCAN, "O": IterKind.OPAQUE}


def _remap(_ev: Evaluator, site: CallSite) -> Meta:
    values = site.take(kinds=REQUIRED, bindings=REQUIRED, dtype="int32")
    kinds, bindings = str_of(values["kinds"], site.span), tuple_of(values["bindings"])
    if len(kinds) != len(bindings) or not set(kinds) <= set(_KINDS):
        raise site.misfit(f"gets the kinds {kinds[:40]!r} for {len(bindings)} bindings")
    specs: list[AxisSpec] = []
    for letter, binding in zip(kinds, bindings, strict=True):
        node = expr_of(binding, site.span)
        specs.append(AxisSpec(_KINDS[letter], None, node, node.dtype, site.span))
    return tuple(specs) if len(specs) != 1 else specs[0]


CALLS: dict[str, CallHandler] = {
    "builtin.range": _range,
    "T.grid": _grid,
    "T.serial": _loop(ForKind.SERIAL),
    "T.parallel": _loop(ForKind.PARALLEL),
    "T.vectorized": _loop(ForKind.VECTORIZED),
    "T.unroll": _loop(ForKind.UNROLLED),
    "T.thread_binding": _loop(ForKind.THREAD_BINDING),
    "T.sblock": _block,
    "T.init": _init,
    "T.reads": _regions("reads"),
    "T.writes": _regions("writes"),
    "T.where": _where,
    "T.sblock_attr": _sblock_attr,
    "T.func_attr": _func_attr,
    "T.func_name": _func_name,
    "T.axis.spatial": _axis(IterKind.SPATIAL),
    "T.axis.reduce": _axis(IterKind.REDUCE),
    "T.axis.scan": _axis(IterKind.SCAN),
    "T.axis.opaque": _axis(IterKind.OPAQUE),
    "T.axis.remap": _remap,
}
