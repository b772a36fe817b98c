"""What constructs of TensorIR stand for until a statement takes them: descriptions, not nodes.

| text                                          | description                |
|-----------------------------------------------|----------------------------|
| `T.int32`, `T.int32()`, `T.handle("float32")` | `VarSpec`                  |
| `T.let[T.int32]`                              | `LetSpec`                  |
| `T.float32[4]`                                | `VectorSpec`               |
| `T.Buffer((n,), "float32")`                   | `BufferSpec`               |
| `T.alloc_buffer(…)` and its kin               | `AllocSpec`                |
| `T.decl_buffer(…)`, `A.view(…)`               | `DeclSpec`                 |
| `T.match_buffer(…)`                           | `MatchSpec`                |
| `T.grid(…)`, `range(…)`, `T.serial(…)`        | `LoopSpec`                 |
| `T.axis.spatial(…)`, `T.axis.remap(…)`        | `AxisSpec`                 |
| `T.reads(…)`, `T.where(…)`, …                 | `Fact`                     |
| `T.attr(…)`, `T.launch_thread(…)`, …          | `AttrFrame`, `ThreadFrame` |
| `A[0:4, i]`                                   | `Region`                   |
| what a dialect defines names by               | `NamingStatement`          |
"""

import ast
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from refmlc.diag import Span
from refmlc.lang.dtypes import DType
from refmlc.lang.ir import tir
from refmlc.lang.ir.kinds import ForKind, IterKind, Layout, PointerType
from refmlc.lang.ir.tirx import ComposeLayout, TileLayout
from refmlc.lang.script.reader.scope import Scope
from refmlc.lang.script.reader.values import Meta, Slice


@dataclass(frozen=True, slots=True)
class VarSpec:
    """A variable that is not declared yet, or the type that one would have."""

    dtype: DType
    pointer: PointerType | None = None
    name: str = ""

    def var(self, name: str, span: Span | None) -> tir.Var:
        """The variable, called `name`."""
        return tir.Var(name, self.dtype, self.pointer, span=span)


@dataclass(frozen=True, slots=True)
class LetSpec:
    """`T.let` as an annotation: immutable, of the type given or of the value's."""

    spec: VarSpec | None


@dataclass(frozen=True, slots=True)
class VectorSpec:
    """`T.float32[4, 4]` as an annotation: a local buffer."""

    dtype: DType
    shape: tuple[tir.Expr, ...]


@dataclass(frozen=True, slots=True)
class BufferSpec:
    """A buffer without its name."""

    shape: tuple[tir.Expr, ...]
    dtype: DType
    strides: tuple[tir.Expr, ...] = ()
    elem_offset: tir.Expr | None = None
    scope: str = "global"
    align: int = 64
    offset_factor: int = 1
    axis_separators: tuple[int, ...] = ()
    layout: Layout | TileLayout | ComposeLayout = Layout.DEFAULT
    data: tir.Expr | None = None
    span: Span | None = None
    allocated_addr: tuple[tir.Expr, ...] = ()

    def buffer(self, name: str, span: Span | None = None) -> tir.Buffer:
        """The buffer, called `name`."""
        return tir.Buffer(
            name,
            self.dtype,
            self.shape,
            self.strides,
            self.elem_offset,
            self.scope,
            self.align,
            self.offset_factor,
            self.axis_separators,
            self.layout,
            self.allocated_addr,
            span=span or self.span,
        )


@dataclass(frozen=True, slots=True)
class AllocSpec:
    """An allocation: a statement (`flat`), or of the enclosing block.

    `form` says what the text names: the buffer, its element 0 (`scalar`), or a pointer to it (`pointer`, old).
    `values` are what it holds at first (`T.allocate_const`).
    """

    spec: BufferSpec
    where: Literal["flat", "block"]
    annotations: Mapping[str, tir.Attr] = field(default_factory=dict)
    form: Literal["buffer", "scalar", "pointer"] = "buffer"
    values: tuple[tir.Expr, ...] = ()


@dataclass(frozen=True, slots=True)
class DeclSpec:
    """A view of storage; `scalar`: the text names its element 0."""

    spec: BufferSpec
    data: tir.Expr | None
    scalar: bool = False


@dataclass(frozen=True, slots=True)
class MatchSpec:
    """`T.match_buffer(source, …)`: a parameter, or a region inside a block."""

    source: "tir.Var | tir.BufferRegion"
    spec: BufferSpec
    span: Span


@dataclass(frozen=True, slots=True)
class PreflattenedSpec:
    """`T.preflattened_buffer(A, …)`: what the caller passes for the flat buffer `A` (2022)."""

    flat: tir.Buffer
    spec: BufferSpec


@dataclass(frozen=True, slots=True)
class LoopSpec:
    """Loops, outermost first: one (min, extent) each; the rest is of a single loop.

    `host` is the Python `range` that constants give: comprehensions iterate over it.
    """

    ranges: tuple[tuple[tir.Expr, tir.Expr], ...]
    kind: ForKind = ForKind.SERIAL
    step: tir.Expr | None = None
    thread: tir.ThreadVar | None = None
    annotations: Mapping[str, tir.Attr] = field(default_factory=dict)
    host: range | None = None


@dataclass(frozen=True, slots=True)
class AxisSpec:
    """A block variable with its binding."""

    kind: IterKind
    dom: tir.Range | None
    binding: tir.Expr
    dtype: DType
    span: Span


@dataclass(frozen=True, slots=True)
class BlockFrame:
    """`T.sblock(name)`."""

    name: str
    realize: bool = True


@dataclass(frozen=True, slots=True)
class InitFrame:
    """`T.init()`."""


@dataclass(frozen=True, slots=True)
class Fact:
    """What a statement says about the block or function around it: `reads`, `where`, `func_attr` and so on."""

    key: Literal["reads", "writes", "where", "sblock_attr", "func_attr", "func_name", "func_ret"]
    value: Meta
    span: Span


@dataclass(frozen=True, slots=True)
class AttrFrame:
    """`T.attr(…)`: nodes with key and value, outermost first."""

    facts: tuple[tuple[tir.Attr, str, tir.Attr], ...]


@dataclass(frozen=True, slots=True)
class EnvThread:
    """`T.env_thread(tag)`, not yet named."""

    tag: str
    dtype: DType


@dataclass(frozen=True, slots=True)
class ThreadFrame:
    """`T.launch_thread(tag or variable, extent)`."""

    thread: "str | tir.ThreadVar"
    extent: tir.Expr


@dataclass(frozen=True, slots=True)
class BindFrame:
    """`T.let(x, v)` and `T.Bind(v)`: a binding; `var` None takes the name that the statement gives."""

    var: tir.Var | None
    value: tir.Expr
    spec: VarSpec | None = None


@dataclass(frozen=True, slots=True)
class AssertFrame:
    """`T.Assert(condition, message)`."""

    condition: tir.Expr
    message: tuple[str, ...]
    kind: str = "RuntimeError"


@dataclass(frozen=True, slots=True)
class WhileFrame:
    """`T.While(condition)`."""

    condition: tir.Expr


@dataclass(frozen=True, slots=True)
class IfFrame:
    """`T.If(condition)`, `T.Then()`, `T.Else()`: `part` names which."""

    part: Literal["if", "then", "else"]
    condition: tir.Expr | None = None


@dataclass(frozen=True, slots=True)
class Done:
    """A construct that is a whole statement: `T.evaluate(…)`, `T.buffer_store(…)`."""

    stmt: tir.Stmt


class NamingStatement(ABC):
    """A statement of a dialect that defines names, which stand to the left of it."""

    @abstractmethod
    def define(self, scope: Scope, target: ast.expr | None, span: Span) -> tuple[tir.Stmt, ...]:
        """The statements, with the names of `target` defined in `scope`; None: the text names nothing."""


@dataclass(frozen=True, slots=True)
class MetaVar:
    """`T.meta_var(x)`: an assignment names the value and binds nothing."""

    value: Meta


@dataclass(frozen=True, slots=True)
class Region:
    """`A[…]` with slices: a region, or a vector access, by what takes it."""

    buffer: tir.Buffer
    indices: "tuple[tir.Expr | Slice, ...]"
    span: Span
