"""Kernels as loops over thread axes: what is executed in place of the text.

| text                                      | loops                                                           |
|-------------------------------------------|------------------------------------------------------------------|
| `T.device_entry()`, scope ids below it    | the blocks, x fastest, and one loop over the threads of a block  |
| `T.launch_thread` for several axes, where | the same                                                        |
| threads of a warp meet below              |                                                                 |
| `bx, by = T.cta_id([4, 2])`               | bindings to what follows from the variables of the loops        |

| id                    | value, with t the number of the thread in its block            |
|-----------------------|-----------------------------------------------------------------|
| `thread_id`           | x = t mod ex, y = t div ex mod ey, z = t div (ex * ey)           |
| `warp_id`, `lane_id`  | t div 32, t mod 32                                              |
| `warpgroup_id`        | t div 128                                                       |
| `thread_id_in_wg`     | t mod 128                                                       |
| `warp_id_in_wg`       | t div 32 mod 4                                                  |
| `cta_id`              | the index of the block on each axis                             |
| `cta_id_in_cluster`   | the same modulo the size of the cluster on this axis            |
| `cluster_id`          | the same divided by it                                          |
| `cta_id_in_pair`      | the number of the block in its cluster, x fastest, modulo 2      |

Where blocks of a cluster need each other, one loop is over the threads of all of them (`clusters`).

The attribute `KERNEL` is around the body of a thread; its value says how many threads a block has in such a loop.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import prod

from refmlc.diag import Span, fail
from refmlc.diag.catalogue import UNSUPPORTED_CONSTRUCT
from refmlc.lang.dtypes import INT32, DType
from refmlc.lang.ir import tir
from refmlc.lang.ir.clusters import AXIS, reaches_blocks
from refmlc.lang.ir.kinds import ForKind
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.scope_ids import WARP, WARPGROUP, Launch, as_dtype, count_of, launch_of
from refmlc.lang.ir.subtree import nodes_of
from refmlc.lang.ir.threads import LAUNCHES, meets_in_part
from refmlc.lang.ir.tirx import DEVICE_ENTRY, KERNEL, ScopeIdDef, TilePrimitiveCall
from refmlc.lang.ir.visit import rewrite, walk
from refmlc.rewrite.launches import clusters
from refmlc.rewrite.launches.block_reductions import ThreadPlace, with_reductions
from refmlc.rewrite.launches.filters import without_filters

AXES = "xyz"


def has_entry(func: tir.PrimFunc) -> bool:
    """Whether a function has a `T.device_entry()`."""
    return any(_is_entry(node) for node in nodes_of(func.body, tir.AttrStmt))


def with_loops(func: tir.PrimFunc) -> tir.PrimFunc:
    """The function with its kernels as loops; itself where it has none. Fails: RM214, RM504."""
    entries = has_entry(func)
    chain = [] if entries else _chain(func.body)
    if not entries and not (chain and (meets_in_part(func.body) or _reaches(func.body))):
        clusters.check_launches(func.body)
        return func
    body = rewrite(func.body, _launched if entries else lambda node: _flat(node) if node is chain[0] else node)
    clusters.check_memory(body)
    clusters.check_launches(body)
    return replace(func, body=body)


def _reaches(body: tir.Stmt) -> bool:
    """Whether blocks of a cluster reach each other's memory."""
    return any(reaches_blocks(node) for node in nodes_of(body, tir.Call, TilePrimitiveCall))


def _is_entry(node: Node) -> bool:
    return isinstance(node, tir.AttrStmt) and node.key == DEVICE_ENTRY


class Ids:
    """The variables of the loops, and what follows from them."""

    def __init__(self, launch: Launch, span: Span | None, together: int = 0) -> None:
        """`together`: the number of threads of a block, where those of all blocks of a cluster run together."""
        self._launch = launch
        self._span = span
        self.together = together
        self.loop = tir.Var("thread", INT32, span=span)
        self.grid = tuple(
            tir.Var(f"{'cluster' if together else 'block'}_{axis}", extent.dtype, span=span)
            for axis, extent in zip(AXES, launch.grid, strict=False)
        )
        self.thread: tir.Expr = self._apply("floormod", self.loop, together) if together else self.loop
        self.blocks = [self._block(place) for place in range(len(self.grid))] if together else list(self.grid)

    def _block(self, place: int) -> tir.Expr:
        """The index of the block on an axis, from that of its cluster and its number there."""
        sizes = [int(getattr(size, "value", 1)) for size in self._launch.cluster]
        if place >= len(sizes):
            return self.grid[place]
        rank = self._apply("floordiv", self.loop, self.together * prod(sizes[:place]))
        rank = self._apply("floormod", rank, sizes[place])
        return self._apply("add", self._apply("mul", self.grid[place], sizes[place]), rank)

    @property
    def place(self) -> ThreadPlace:
        """The numbers of the thread in its warp, and of the warp in its block."""
        lane, warp = (self.values(kind, 1)[0] for kind in ("lane_id", "warp_id"))
        return ThreadPlace(lane, warp)

    def _apply(self, op: str, value: tir.Expr, by: tir.Expr | int) -> tir.Expr:
        other = tir.IntImm(value.dtype, by) if isinstance(by, int) else by
        if isinstance(other, tir.IntImm) and other.value == 1 and op == "floordiv":
            return value
        dtype = other.dtype if other.dtype.bits > value.dtype.bits else value.dtype
        return tir.Apply(op, (as_dtype(value, dtype), as_dtype(other, dtype)), dtype, span=self._span)

    def on_axis(self, place: int) -> tir.Expr:
        """The index of the thread on an axis of its block."""
        extents = self._launch.block
        inner = count_of(extents[:place]).expr(self._span)
        value = self._apply("floordiv", self.thread, inner)
        return self._apply("floormod", value, extents[place]) if place < len(extents) - 1 else value

    def on_launched(self, tag: str) -> tir.Expr:
        """The index of the thread on the axis of this tag."""
        axis, place = tag[:-2], AXES.index(tag[-1])
        if axis == "threadIdx":
            return self.on_axis(place)
        return self.blocks[place] if axis == "blockIdx" else self.in_cluster(place)

    def values(self, kind: str, count: int) -> Sequence[tir.Expr]:
        """The ids of a kind."""
        thread, apply = self.thread, self._apply
        match kind:
            case "thread_id":
                return [self.on_axis(place) for place in range(count)]
            case "warp_id":
                return [apply("floordiv", thread, WARP)]
            case "lane_id":
                return [apply("floormod", thread, WARP)]
            case "warpgroup_id":
                return [apply("floordiv", thread, WARPGROUP)]
            case "thread_id_in_wg":
                return [apply("floormod", thread, WARPGROUP)]
            case "warp_id_in_wg":
                return [apply("floormod", apply("floordiv", thread, WARP), WARPGROUP // WARP)]
            case "cta_id":
                return self.blocks[:count]
            case "cta_id_in_cluster":
                return [self.in_cluster(place) for place in range(count)]
            case "cluster_id":
                return [self._cluster(place) for place in range(count)]
            case _:
                return [apply("floormod", self._rank_in_cluster(), 2)]

    def in_cluster(self, place: int) -> tir.Expr:
        """The index of the block on an axis of its cluster."""
        if place >= len(self.blocks):
            return tir.IntImm(INT32, 0)
        return self._apply("floormod", self.blocks[place], self._launch.cluster[place])

    def _cluster(self, place: int) -> tir.Expr:
        if place >= len(self.blocks):
            return tir.IntImm(INT32, 0)
        size = self._launch.cluster[place : place + 1]
        return self._apply("floordiv", self.blocks[place], size[0]) if size else self.blocks[place]

    def _rank_in_cluster(self) -> tir.Expr:
        rank: tir.Expr = self.in_cluster(len(self._launch.cluster) - 1)
        for place in reversed(range(len(self._launch.cluster) - 1)):
            rank = self._apply("mul", rank, self._launch.cluster[place])
            rank = self._apply("add", rank, self.in_cluster(place))
        return rank


def _loops(launch: Launch, ids: Ids, body: tir.Stmt, span: Span | None) -> tir.Stmt:
    """The loops around the body of a thread."""
    threads = count_of(launch.block).expr(span) if launch.block else None
    grid = launch.grid
    if ids.together:
        threads = tir.IntImm(INT32, ids.together * clusters.size(launch))
        grid = clusters.of_grid(launch)
    if threads is not None:
        body = _loop(ids.loop, as_dtype(threads, INT32), "threadIdx.x", body, span)
    for axis, var, extent in zip(AXES, ids.grid, grid, strict=False):
        body = _loop(var, extent, f"blockIdx.{axis}", body, span)
    return body


def _loop(var: tir.Var, extent: tir.Expr, tag: str, body: tir.Stmt, span: Span | None) -> tir.For:
    zero = tir.IntImm(extent.dtype, 0)
    return tir.For(var, zero, extent, ForKind.THREAD_BINDING, body, tir.ThreadVar(tag), span=span)


def _marked(body: tir.Stmt, ids: Ids, span: Span | None) -> tir.Stmt:
    return tir.AttrStmt(None, KERNEL, ids.together or None, body, span=span)


def _of_thread(body: tir.Stmt, ids: Ids) -> tir.Stmt:
    """The body of a thread with statements in place of what is defined by them."""
    body = with_reductions(body, ids.place)
    return clusters.with_ranks(body, ids.thread) if ids.together else body


def _bound(ids: Sequence[tir.Var], values: Sequence[tir.Expr], span: Span | None) -> tir.Stmt:
    binds = [tir.Bind(var, as_dtype(value, var.dtype), span=span) for var, value in zip(ids, values, strict=True)]
    return binds[0] if len(binds) == 1 else tir.SeqStmt(tuple(binds), span=span)


# ------------------------------------------------------------------------------------------- kernels of TIRx


def _launched(node: Node) -> Node:
    """An entry of the device as loops."""
    if not (isinstance(node, tir.AttrStmt) and node.key == DEVICE_ENTRY):
        return node
    _check_returns(node.body)
    defs = [part for part in walk(node.body) if isinstance(part, ScopeIdDef)]
    chain = [] if defs else _chain(node.body)
    if any(_tag(item).startswith(AXIS) for item in chain):
        return rewrite(node.body, lambda part: _flat(part) if part is chain[0] else part)
    launch = launch_of(defs)
    ids = Ids(launch, node.span, clusters.together(launch, node.body))
    table: dict[int, tir.Stmt] = {
        id(part): _bound(part.ids, ids.values(part.kind, len(part.ids)), part.span) for part in defs
    }
    body = without_filters(node.body, [var for part in defs for var in part.ids])
    body = rewrite(body, lambda part: table.get(id(part), part))
    return _loops(launch, ids, _marked(_of_thread(body, ids), ids, node.span), node.span)


def _check_returns(body: tir.Stmt) -> None:
    """Fails: RM504 where one thread would leave, and the function would end for all."""
    for part in walk(body):
        if isinstance(part, tir.Return) or (isinstance(part, tir.Call) and part.callee == "ret"):
            raise fail(UNSUPPORTED_CONSTRUCT, "a return in a kernel is not executed", part.span)


# --------------------------------------------------------------------------------- kernels of launched threads


def _chain(body: tir.Stmt) -> list[tir.AttrStmt | tir.For]:
    """The launches of axes, each directly below the one before, that the function begins with.

    Loops over axes are launches where one of them is over the blocks of a cluster.
    """
    first: tir.Stmt | None = next((node for node in nodes_of(body, tir.AttrStmt, tir.For) if _is_launch(node)), None)
    chain: list[tir.AttrStmt | tir.For] = []
    while isinstance(first, tir.AttrStmt | tir.For) and _is_launch(first):
        chain.append(first)
        first = first.body
    tags = [_tag(node) for node in chain]
    known = all(tag.startswith(("blockIdx.", "threadIdx.", AXIS)) for tag in tags)
    loops = any(isinstance(node, tir.For) for node in chain) and not any(tag.startswith(AXIS) for tag in tags)
    return chain if known and not loops and len(set(tags)) == len(tags) and "threadIdx.x" in tags else []


def _is_launch(node: tir.Stmt) -> bool:
    if isinstance(node, tir.For):
        return bool(node.tag) and isinstance(node.min, tir.IntImm) and node.min.value == 0 and node.step is None
    return isinstance(node, tir.AttrStmt) and node.key in LAUNCHES and isinstance(node.node, tir.ThreadVar)


def _tag(node: tir.AttrStmt | tir.For) -> str:
    if isinstance(node, tir.For):
        return node.tag
    return node.node.tag if isinstance(node.node, tir.ThreadVar) else ""


def _vars(node: tir.AttrStmt | tir.For) -> list[tir.Var]:
    """The variables of an axis."""
    thread = node.thread if isinstance(node, tir.For) else node.node
    named = [thread.var] if isinstance(thread, tir.ThreadVar) and thread.var is not None else []
    return [node.loop_var, *named] if isinstance(node, tir.For) else named


def _flat(node: Node) -> Node:
    """Launches of several axes as the loops of a kernel."""
    chain = _chain(node) if isinstance(node, tir.AttrStmt | tir.For) else []
    _check_returns(chain[-1].body)
    extents = {_tag(item): _extent(item) for item in chain}
    launch = Launch(*(_axes(extents, prefix) for prefix in ("blockIdx.", AXIS, "threadIdx.")))
    ids = Ids(launch, chain[0].span, clusters.together(launch, chain[-1].body))
    binds = [_bound([var], [ids.on_launched(_tag(item))], item.span) for item in chain for var in _vars(item)]
    body = _of_thread(chain[-1].body, ids)
    return _loops(launch, ids, _marked(tir.SeqStmt((*binds, body), span=node.span), ids, node.span), node.span)


def _axes(extents: Mapping[str, tir.Expr], prefix: str) -> tuple[tir.Expr, ...]:
    """The extents of the axes x, y, z with this prefix, as far as there are any."""
    places = [place for place, axis in enumerate(AXES) if prefix + axis in extents]
    last = max(places, default=-1)
    return tuple(extents.get(prefix + axis, tir.IntImm(INT32, 1)) for axis in AXES[: last + 1])


def _extent(node: tir.AttrStmt | tir.For) -> tir.Expr:
    if isinstance(node, tir.For):
        return node.extent
    value = node.value
    return value if isinstance(value, tir.Expr) else tir.IntImm(_dtype(node), int(str(value)))


def _dtype(node: tir.AttrStmt) -> DType:
    var = node.node.var if isinstance(node.node, tir.ThreadVar) else None
    return INT32 if var is None else var.dtype
