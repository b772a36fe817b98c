"""Blocks: the predicate, the axes, allocations, matched regions, the init where a reduction begins, the body.

An axis bound to a loop variable over the same domain needs no check and no slot of its own: it is that variable.
"""

from refmlc.diag import Related, fail
from refmlc.diag.catalogue import BINDING_RANGE, BLOCK_RULE
from refmlc.lang.ir import tir
from refmlc.lang.ir.kinds import IterKind
from refmlc.run.interp import fast
from refmlc.run.interp.tensorir import events
from refmlc.run.interp.tensorir.block_sites import BlockSite, site_of
from refmlc.run.interp.tensorir.buffers import allocate, match_region
from refmlc.run.interp.tensorir.frame import Frame, Run, in_order
from refmlc.run.interp.tensorir.scope import Scope


def realize(scope: Scope, node: tir.SBlockRealize) -> Run:
    """One instance of the block, if the predicate holds."""
    binds, site = bind_axes(scope, node)
    instance: tuple[Run, ...] = (*allocations(scope, node.block), with_init(scope, node.block, site))
    if site is not None:
        hooks = scope.machine.hooks
        instance = (events.around(hooks.enter_block, hooks.leave_block, site, in_order(instance)),)
    run = in_order((*binds, *instance))
    if isinstance(node.predicate, tir.IntImm) and node.predicate.value:
        return run
    return _guarded(scope, node.predicate, run)


def bind_axes(scope: Scope, node: tir.SBlockRealize) -> tuple[tuple[Run, ...], BlockSite | None]:
    """The bindings of the axes; the site of the block, if a hook watches blocks."""
    if len(node.iter_values) != len(node.block.iter_vars):
        counts = f"{len(node.block.iter_vars)} axes and {len(node.iter_values)} bindings"
        raise fail(BLOCK_RULE, f"block `{node.block.name}` has {counts}", node.span)
    binds = tuple(
        bind
        for axis, value in zip(node.block.iter_vars, node.iter_values, strict=True)
        if (bind := _bind(scope, node, axis, value)) is not None
    )
    hooks = scope.machine.hooks
    watched = hooks.watches("enter_block") or hooks.watches("leave_block") or hooks.watches("init")
    return binds, site_of(scope, node) if watched else None


def _guarded(scope: Scope, predicate: tir.Expr, body: Run) -> Run:
    holds = scope.expr(predicate)

    def guarded(frame: Frame) -> None:
        if holds(frame):
            body(frame)

    return guarded


# TIR-217
def _bind(scope: Scope, node: tir.SBlockRealize, axis: tir.IterVar, value: tir.Expr) -> Run | None:
    """Bind one axis and check its domain; None when the axis is a loop variable and nothing needs to be done."""
    if isinstance(value, tir.Var) and scope.within(value, axis.dom.min, axis.dom.extent):
        scope.layout.alias(axis.var, scope.layout.slot(value, node.span))
        return None
    evaluate = scope.int(value)
    least, extent = scope.int(axis.dom.min), scope.int(axis.dom.extent)
    slot = scope.declare(axis.var)
    span = value.span or axis.span or node.span
    wrong = scope.failing(BINDING_RANGE, span, Related(f"block `{node.block.name}` is here", node.block.span))

    if BINDING_RANGE.id in scope.machine.allow:

        def bind_anything(frame: Frame) -> None:
            frame[slot] = evaluate(frame)

        return bind_anything

    scope.domains[slot] = (axis.dom.min, axis.dom.extent)

    def bind(frame: Frame) -> None:
        frame[slot] = bound = evaluate(frame)
        first = least(frame)
        if not first <= bound < first + extent(frame):
            end = first + extent(frame)
            raise wrong(
                frame, f"axis `{axis.var.name}` is bound to {bound}", label=f"its domain is {first} … {end - 1}"
            )

    return bind


def allocations(scope: Scope, block: tir.SBlock) -> tuple[Run, ...]:
    """Allocations and matched regions of a block."""
    origin = f"of block `{block.name}`"
    buffers = [allocate(scope, buffer, f"buffer `{buffer.name}` {origin}") for buffer in block.alloc_buffers]  # TIR-219
    regions = [match_region(scope, match) for match in block.match_buffers]  # TIR-220
    return (*buffers, *regions)


# TIR-218
def with_init(scope: Scope, block: tir.SBlock, site: BlockSite | None, body: Run | None = None) -> Run:
    """The init where a reduction begins, then `body` (None: that of the block)."""
    if block.init is None:
        return scope.stmt(block.body)
    init = scope.stmt(block.init)
    if site is not None and scope.machine.hooks.watches("init"):
        init = events.before(scope.machine.hooks.init, site, init)
    body = scope.stmt(block.body) if body is None else body
    reductions = [axis for axis in block.iter_vars if axis.kind is IterKind.REDUCE]
    return fast.init(scope, reductions, init, body) or _with_init(scope, reductions, init, body)


def _with_init(scope: Scope, reductions: list[tir.IterVar], init: Run, body: Run) -> Run:
    starts = [(scope.slot(axis.var), scope.int(axis.dom.min)) for axis in reductions]

    def reduce(frame: Frame) -> None:
        if all(frame[slot] == least(frame) for slot, least in starts):
            init(frame)
        body(frame)

    return reduce
