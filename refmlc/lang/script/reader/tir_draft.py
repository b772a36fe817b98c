"""What grows while a function of TensorIR is read: the function, the blocks around the place of reading, the loops."""

from dataclasses import dataclass, field

from refmlc.diag import Span
from refmlc.lang.dtypes import BOOL, INT32
from refmlc.lang.ir import tir


@dataclass(slots=True)
class BlockDraft:
    """A block while its body is read; the function's root is one too."""

    name: str
    iter_vars: list[tir.IterVar] = field(default_factory=list)
    iter_values: list[tir.Expr] = field(default_factory=list)
    reads: tuple[tir.BufferRegion, ...] | None = None
    writes: tuple[tir.BufferRegion, ...] | None = None
    predicate: tir.Expr | None = None
    init: tir.Stmt | None = None
    alloc_buffers: list[tir.Buffer] = field(default_factory=list)
    match_buffers: list[tir.MatchBufferRegion] = field(default_factory=list)
    annotations: dict[str, tir.Attr] = field(default_factory=dict)

    @property
    def says_something(self) -> bool:
        """Whether anything was said about the block itself."""
        declared = self.reads is not None or self.writes is not None or self.predicate is not None
        return declared or bool(self.iter_vars or self.alloc_buffers or self.match_buffers or self.annotations)

    def realize(self, body: tir.Stmt, span: Span | None) -> tir.SBlockRealize:
        """The finished block around `body`."""
        block = tir.SBlock(
            self.name,
            tuple(self.iter_vars),
            self.reads,
            self.writes,
            body,
            self.init,
            tuple(self.alloc_buffers),
            tuple(self.match_buffers),
            self.annotations,
            span=span,
        )
        predicate = self.predicate or tir.IntImm(BOOL, 1)
        return tir.SBlockRealize(tuple(self.iter_values), predicate, block, span=span)


@dataclass(slots=True)
class FunctionDraft:
    """A function while it is read. `blocks[0]` is its root; `declared` the variables whose declaration was read."""

    name: str
    params: list[tir.Var] = field(default_factory=list)
    buffer_map: dict[tir.Var, tir.Buffer] = field(default_factory=dict)
    attrs: dict[str, tir.Attr] = field(default_factory=dict)
    blocks: list[BlockDraft] = field(default_factory=lambda: [BlockDraft("root")])
    loops: dict[tir.Var, tir.Range] = field(default_factory=dict)
    declared: set[tir.Var] = field(default_factory=set)

    @property
    def block(self) -> BlockDraft:
        """The innermost block."""
        return self.blocks[-1]


@dataclass(frozen=True, slots=True)
class Around:
    """Attributes around all that follows in the same body: (node, key, value), outermost first."""

    facts: tuple[tuple[tir.Attr, str, tir.Attr], ...]
    span: Span

    def wrap(self, body: tir.Stmt) -> tir.Stmt:
        """`body` with the attributes around it."""
        for node, key, value in reversed(self.facts):
            body = tir.AttrStmt(node, key, value, body, span=self.span)
        return body


def joined(items: list[tir.Stmt], span: Span | None) -> tir.Stmt:
    """One statement of several: itself, a sequence that holds no sequences, or a no-op where there is none."""
    if any(isinstance(item, tir.SeqStmt) for item in items) and len(items) > 1:
        items = [part for item in items for part in (item.seq if isinstance(item, tir.SeqStmt) else (item,))]
    if len(items) == 1:
        return items[0]
    if not items:
        return tir.Evaluate(tir.IntImm(INT32, 0), span=span)
    return tir.SeqStmt(tuple(items), span=span)
