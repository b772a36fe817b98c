"""TensorIR: every kind of expression and statement, on one screen.

Nodes are immutable and compared by identity; `structural_equal` compares by meaning, and never the place in the text
(`span`). Nodes that hold the same `Var` or `Buffer` mean the same one. Clauses: conformance/spec/tir-*.toml.
"""

from collections.abc import Mapping
from dataclasses import field
from typing import TypeAlias

from refmlc.lang.dtypes import BOOL, HANDLE, DType
from refmlc.lang.ir.kinds import ForKind, IterKind, Layout, PointerType
from refmlc.lang.ir.node import Node, node
from refmlc.lang.ir.operand import Attributed, Callee, Scalar
from refmlc.lang.ir.tirx import TileOrSwizzle, TirxStmt

# ------------------------------------------------------------------------------------------- expressions


@node
class Var(Scalar, Node):
    """A variable of primitive type; a typed handle says what it points to."""

    name: str
    dtype: DType
    pointer: PointerType | None = None


@node
class IntImm(Node):
    """An integer or bool constant (`value` is 0 or 1 for bool)."""

    dtype: DType
    value: int


@node
class FloatImm(Node):
    """A floating-point constant, already rounded to its dtype."""

    dtype: DType
    value: float


@node
class StringImm(Node):
    """A string constant, an argument of intrinsics and attributes."""

    value: str

    @property
    def dtype(self) -> DType:
        """Strings are handles to TVM."""
        return HANDLE


@node
class Apply(Node):
    """A scalar operator applied to operands, lane by lane: a row of `refmlc.lang.ops.scalar` (add, max, exp …).

    Operands are all evaluated, left to right, before the operator is.
    """

    op: str
    args: tuple["Expr", ...]
    dtype: DType


@node
class Cast(Node):
    """The value converted to `dtype`, lane by lane."""

    dtype: DType
    value: "Expr"


@node
class And(Node):
    """Lazy conjunction of bools."""

    a: "Expr"
    b: "Expr"

    @property
    def dtype(self) -> DType:
        """`bool` with the lanes of an operand: the second, since chains lean to the left."""
        return BOOL.with_lanes(self.b.dtype.lanes)


@node
class Or(Node):
    """Lazy disjunction of bools."""

    a: "Expr"
    b: "Expr"

    @property
    def dtype(self) -> DType:
        """`bool` with the lanes of the operands, as of `And`."""
        return BOOL.with_lanes(self.b.dtype.lanes)


@node
class Select(Node):
    """Eager choice: both arms are evaluated."""

    condition: "Expr"
    true_value: "Expr"
    false_value: "Expr"

    @property
    def dtype(self) -> DType:
        """The dtype of the arms."""
        return self.true_value.dtype


@node
class IfThenElseExpr(Node):
    """`T.if_then_else`: only the chosen arm is evaluated."""

    condition: "Expr"
    true_value: "Expr"
    false_value: "Expr"

    @property
    def dtype(self) -> DType:
        """The dtype of the arms."""
        return self.true_value.dtype


@node
class Let(Node):
    """`body` with `var` bound to `value`."""

    var: Var
    value: "Expr"
    body: "Expr"

    @property
    def dtype(self) -> DType:
        """The dtype of the body."""
        return self.body.dtype


@node
class BufferLoad(Node):
    """The element at `indices`; a last index with lanes loads a vector; lanes off in `predicate` are not read."""

    buffer: "Buffer"
    indices: tuple["Expr", ...]
    predicate: "Expr | None" = None

    @property
    def dtype(self) -> DType:
        """The element dtype with the lanes of the last index times those of the buffer."""
        return loaded_dtype(self.buffer, self.indices)


@node
class BufferData(Node):
    """`A.data`: the pointer to the storage of a buffer."""

    buffer: "Buffer"

    @property
    def dtype(self) -> DType:
        """Always `handle`."""
        return HANDLE


@node
class Ramp(Node):
    """The vector base, base + stride, … of `lanes` values."""

    base: "Expr"
    stride: "Expr"
    lanes: "Expr"
    dtype: DType


@node
class Broadcast(Node):
    """The vector that repeats `value` in `lanes` lanes."""

    value: "Expr"
    lanes: "Expr"
    dtype: DType


@node
class Shuffle(Node):
    """Lanes of the concatenated `vectors`, picked by constant `indices`."""

    vectors: tuple["Expr", ...]
    indices: tuple["Expr", ...]
    dtype: DType


@node
class Call(Node):
    """A call with possible effects: a row of `refmlc.lang.ops.intrinsics` (str) or a function of the module.

    `dtype` is that of the result, or `void`. `pointer` refines a handle result.
    """

    callee: "str | GlobalVar"
    args: tuple["Expr | Attr", ...]
    dtype: DType
    pointer: PointerType | None = None
    attrs: Mapping[str, "Attr"] = field(default_factory=dict)


Expr: TypeAlias = (
    Var
    | IntImm
    | FloatImm
    | StringImm
    | Apply
    | Cast
    | And
    | Or
    | Select
    | IfThenElseExpr
    | Let
    | BufferLoad
    | BufferData
    | Ramp
    | Broadcast
    | Shuffle
    | Call
)

# ------------------------------------------------------------------------------ buffers, ranges, functions


@node
class GlobalVar(Callee, Node):
    """The name of a function of the module (also in Relax)."""

    name: str


@node
class Buffer(Node):
    """A view on storage: row-major, or `strides` in elements, from `elem_offset` elements on.

    Units: `elem_offset` (None: 0), `strides` (none: compact) in elements; `align` in bytes, which means nothing.
    `allocated_addr` is its place in tensor memory.
    """

    name: str
    dtype: DType
    shape: tuple[Expr, ...]
    strides: tuple[Expr, ...] = ()
    elem_offset: Expr | None = None
    scope: str = "global"
    align: int = 64
    offset_factor: int = 1
    axis_separators: tuple[int, ...] = ()
    layout: Layout | TileOrSwizzle = Layout.DEFAULT
    allocated_addr: tuple[Expr, ...] = ()


@node
class Range(Node):
    """min, min + 1, … min + extent - 1."""

    min: Expr
    extent: Expr


@node
class BufferRegion(Node):
    """A box of a buffer."""

    buffer: Buffer
    region: tuple[Range, ...]


@node
class MatchBufferRegion(Node):
    """`buffer` is a view of `source`, shapes and strides being matched."""

    buffer: Buffer
    source: BufferRegion


@node
class IterVar(Node):
    """A block variable with its domain."""

    var: Var
    dom: Range
    kind: IterKind


@node
class ThreadVar(Node):
    """A thread axis: `threadIdx.x` and the like, with the variable and domain where the text gives them."""

    tag: str
    var: Var | None = None
    dom: Range | None = None
    iter_type: str = "ThreadIndex"


# -------------------------------------------------------------------------------------------- statements


@node
class Bind(Node):
    """`var` is `value` in the rest of the enclosing `SeqStmt`."""

    var: Var
    value: Expr


@node
class AssertStmt(Node):
    """Stop with a Trap unless `condition` holds."""

    condition: Expr
    message: tuple[str, ...]
    kind: str = "RuntimeError"


@node
class For(Node):
    """Execute `body` for loop_var = min, min + step, … below min + extent."""

    loop_var: Var
    min: Expr
    extent: Expr
    kind: ForKind
    body: "Stmt"
    thread: ThreadVar | None = None
    annotations: Mapping[str, "Attr"] = field(default_factory=dict)
    step: Expr | None = None

    @property
    def tag(self) -> str:
        """The name of the thread axis; empty: the loop is of none."""
        return "" if self.thread is None else self.thread.tag


@node
class While(Node):
    """Execute `body` as long as `condition` holds."""

    condition: Expr
    body: "Stmt"


@node
class BufferStore(Node):
    """Write `value` at `indices`; a last index with lanes stores a vector."""

    buffer: Buffer
    value: Expr
    indices: tuple[Expr, ...]
    predicate: Expr | None = None


@node
class AllocBuffer(Node):
    """`buffer` has fresh, uninitialised storage in the rest of the enclosing `SeqStmt`."""

    buffer: Buffer
    annotations: Mapping[str, "Attr"] = field(default_factory=dict)


@node
class DeclBuffer(Node):
    """`buffer` is a view of the storage that `data` points to (None: fresh storage)."""

    buffer: Buffer
    data: Expr | None


@node
class AttrStmt(Node):
    """`body` with a fact attached: `key` of `node` is `value`."""

    node: "Attr"
    key: str
    value: "Attr"
    body: "Stmt"


@node
class SeqStmt(Node):
    """Statements in order; the scope of the `Bind`, `AllocBuffer` and `DeclBuffer` among them."""

    seq: tuple["Stmt", ...]


@node
class IfThenElse(Node):
    """Execute one of the two."""

    condition: Expr
    then_case: "Stmt"
    else_case: "Stmt | None" = None


@node
class Evaluate(Node):
    """Evaluate for its effects."""

    value: Expr


@node
class Break(Node):
    """End the innermost loop."""


@node
class Continue(Node):
    """Go to the next iteration of the innermost loop."""


@node
class Return(Node):
    """End the function with `value`."""

    value: Expr


@node
class SBlock(Node):
    """A block: axes, what it reads and writes (None: not declared), an init for its reductions, a body."""

    name: str
    iter_vars: tuple[IterVar, ...]
    reads: tuple[BufferRegion, ...] | None
    writes: tuple[BufferRegion, ...] | None
    body: "Stmt"
    init: "Stmt | None" = None
    alloc_buffers: tuple[Buffer, ...] = ()
    match_buffers: tuple[MatchBufferRegion, ...] = ()
    annotations: Mapping[str, "Attr"] = field(default_factory=dict)


@node
class SBlockRealize(Node):
    """Execute one instance of `block` with its axes bound to `iter_values`, if `predicate` holds."""

    iter_values: tuple[Expr, ...]
    predicate: Expr
    block: SBlock


Stmt: TypeAlias = (
    Bind
    | AssertStmt
    | For
    | While
    | BufferStore
    | AllocBuffer
    | DeclBuffer
    | AttrStmt
    | SeqStmt
    | IfThenElse
    | Evaluate
    | Break
    | Continue
    | Return
    | SBlockRealize
    | TirxStmt
)


@node
class PrimFunc(Attributed, Node):
    """A TensorIR function. `buffer_map` gives the buffer that a handle parameter is matched against.

    `root` blocks are implicit: `body` of a schedulable function (`s_tir`) that allocates at its root is an
    `SBlockRealize` of a block named "root".
    """

    params: tuple[Var, ...]
    buffer_map: Mapping[Var, Buffer]
    body: Stmt
    attrs: Mapping[str, "Attr"] = field(default_factory=dict)
    ret_dtype: DType | None = None
    private: bool = False
    s_tir: bool = True
    check_well_formed: bool = True


Attr: TypeAlias = "bool | int | float | str | tuple[Attr, ...] | Mapping[str, Attr] | DType | Node | None"
"""Nodes are expressions, buffers, regions, ranges, threads, types, expressions of Relax, what `attrs` has."""


def loaded_dtype(buffer: Buffer, indices: tuple[Expr, ...]) -> DType:
    """The dtype of an access: the buffer's, times the lanes of the last index."""
    if not indices or not (last := indices[-1].dtype).is_vector:
        return buffer.dtype
    return buffer.dtype.with_lanes(buffer.dtype.lanes * last.lanes, scalable=last.scalable)
