"""TIRx: what its functions have beyond TensorIR: scope ids, tile primitives, layouts.

| node                | text                                                                      |
|---------------------|---------------------------------------------------------------------------|
| `ScopeIdDef`        | `bx, by = T.cta_id([4, 4])`, `lane = T.lane_id()`                         |
| `TilePrimitiveCall` | `T.warp.copy(A[0:4], B, dispatch="tma")`; `T.tile.` where a thread acts   |
| `LambdaExpr`        | `lambda i, j: i < j`, an operand of a tile primitive                      |
| `Iter`              | one extent with its stride: a part of a layout                            |
| `TileLayout`        | `T.TileLayout(T.S[(8, 4):(4 @ Axis.laneid, 1)] + T.R[2:1] + 5 @ Axis.bx)` |
| `ComposeLayout`     | `T.ComposeLayout(3, 3, 3, T.TileLayout(…))`, a swizzle of it              |

Source: the node classes of TVM 0.27 (`tirx.ScopeIdDef`, `tirx.TilePrimitiveCall`, `tirx.TileLayout`, …).
"""

from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING, TypeAlias

from refmlc.lang.ir.node import Node, node

if TYPE_CHECKING:
    from refmlc.lang.ir.tir import Attr, Buffer, Expr, Var

SCOPES = ("thread", "warp", "warpgroup", "cta", "cluster")
"""Who executes a tile primitive together, the fewest threads first."""

SCOPE_IDS: Mapping[str, tuple[str, str]] = {
    "cluster_id": ("kernel", "cluster"),
    "cta_id": ("kernel", "cta"),
    "cta_id_in_cluster": ("cluster", "cta"),
    "cta_id_in_pair": ("cta_pair", "cta"),
    "warpgroup_id": ("cta", "warpgroup"),
    "warp_id": ("cta", "warp"),
    "warp_id_in_wg": ("warpgroup", "warp"),
    "lane_id": ("warp", "thread"),
    "thread_id": ("cta", "thread"),
    "thread_id_in_wg": ("warpgroup", "thread"),
}
"""The scope ids: the scope around, and whose place in it the id says."""

AXES = (
    *("bx", "by", "bz", "cbx", "cby", "cbz", "tx", "warpid", "laneid", "wgid", "tid_in_wg", "wid_in_wg"),
    *("m", "P", "F", "Bank", "TCol", "TLane"),
)
"""The axes that TVM 0.27 registers: of threads, then of memory. A layout may name others."""

DEVICE_ENTRY = "tirx.device_entry"
"""The key of the attribute around what a device executes: `T.device_entry()`."""

KERNEL = "refmlc.kernel"
"""The key of the attribute around what a thread of a kernel executes, where the kernel is written as loops."""

PERSISTENT = "tirx.persistent_kernel"
"""The attribute of a function under `@T.prim_func(persistent=True)`."""

HINT = "tirx_hint"
"""The key of the attribute of `T.hint(message, …)`."""


@node
class ScopeIdDef(Node):
    """`ids` say where the executing thread is (`kind`, a key of `SCOPE_IDS`), in the rest of the enclosing `SeqStmt`.

    `extents` None: they follow from those of other scope ids. `preferred`: the sizes of clusters that are wished for.
    """

    ids: tuple["Var", ...]
    kind: str
    extents: "tuple[Expr, ...] | None" = None
    preferred: "tuple[Expr, ...] | None" = None


@node
class TilePrimitiveCall(Node):
    """The operator `tirx.tile.{op}` on regions of buffers, by all threads of `scope` together."""

    op: str
    args: tuple["Attr", ...]
    workspace: Mapping[str, "Buffer"] = field(default_factory=dict)
    config: Mapping[str, "Attr"] = field(default_factory=dict)
    dispatch: str | None = None
    scope: str = "thread"


@node
class LambdaExpr(Node):
    """An expression over variables of its own."""

    params: tuple["Var", ...]
    body: "Expr"


@node
class Iter(Node):
    """`extent` places, `stride` apart on `axis`; the axis `m` is memory."""

    extent: "Expr"
    stride: "Expr"
    axis: str = "m"


@node
class TileLayout(Node):
    """Where the elements of a buffer lie: every sum of a place in `shard`, one in `replica`, and `offset` by axis."""

    shard: tuple[Iter, ...]
    replica: tuple[Iter, ...] = ()
    offset: "Mapping[str, Expr]" = field(default_factory=dict)


@node
class ComposeLayout(Node):
    """A tile layout whose memory is swizzled. Units: the three lengths are logarithms to the base 2."""

    per_element: int
    swizzle_len: int
    atom_len: int
    tile_layout: TileLayout
    swizzle_inner: bool = True


TirxStmt: TypeAlias = ScopeIdDef | TilePrimitiveCall
"""The statements of TIRx."""

TileOrSwizzle: TypeAlias = TileLayout | ComposeLayout
"""The layouts of TIRx."""
