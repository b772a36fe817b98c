"""Assignments in a TensorIR function: what a name stands for after `x = …`.

| value                                     | the name stands for     | statement                                  |
|-------------------------------------------|-------------------------|--------------------------------------------|
| `T.alloc_buffer(…)` and its kin            | the buffer              | `AllocBuffer`, or none (block allocation)  |
| `T.decl_buffer(…, data=)`, `A.view(…)`     | the buffer              | `DeclBuffer`                               |
| `T.Buffer(…, data=p)`; without data        | the buffer              | `DeclBuffer`; none                         |
| `T.match_buffer(…)`                        | the buffer              | none: buffer map, or match of the block    |
| `T.axis.spatial(…)` …                      | the block variable      | none                                       |
| `T.int32()`                                | the variable            | none                                       |
| `T.env_thread(…)`, `T.launch_thread(…)`    | the thread variable     | none; `AttrStmt` around the rest           |
| `T.meta_var(v)`, a buffer, a dtype         | the value               | none                                       |
| an expression; `x: T.int32 = e`            | 0.27: element 0 of a local buffer | `AllocBuffer`, `BufferStore`     |
|                                            | before, and handles: a variable | `Bind`                             |
| `x: T.let[T.int32] = e`                    | a variable              | `Bind`                                     |
| an expression, `x` standing for such a buffer | the same             | `BufferStore`                              |
| the name of another buffer of one element  | 0.27: the same          | `BufferStore` of its element               |
| `A[i] = e`, `A[i] += e`                    |                         | `BufferStore`                              |
"""

import ast

from refmlc.diag import Diagnostic, Span, error, fail
from refmlc.diag.catalogue import BAD_ARGUMENTS, BLOCK_RULE, NOT_TVMSCRIPT, TYPE_MISMATCH
from refmlc.lang.dtypes import INT32, DType
from refmlc.lang.ir import tir
from refmlc.lang.ir.kinds import PointerType
from refmlc.lang.ir.tirx import ComposeLayout, TileLayout
from refmlc.lang.ops import promote
from refmlc.lang.script.reader.evaluate import Evaluator
from refmlc.lang.script.reader.operators import BINARY
from refmlc.lang.script.reader.tir_draft import Around, FunctionDraft
from refmlc.lang.script.reader.tir_frames import cell_of, store
from refmlc.lang.script.reader.tir_operands import (
    EXPRESSIONS,
    check_wide,
    dtype_construct,
    element_of,
    expr_of,
    int_of,
    is_single,
    operand_of,
    tuple_of,
)
from refmlc.lang.script.reader.tir_values import (
    AllocSpec,
    AxisSpec,
    BindFrame,
    BufferSpec,
    DeclSpec,
    EnvThread,
    LetSpec,
    MatchSpec,
    MetaVar,
    NamingStatement,
    PreflattenedSpec,
    Region,
    ThreadFrame,
    VarSpec,
    VectorSpec,
)
from refmlc.lang.script.reader.values import Construct, Meta, described

Part = tir.Stmt | Around


class Assignments:
    """Reads assignments into the draft of a function."""

    def __init__(self, ev: Evaluator, draft: FunctionDraft) -> None:
        """Read with `ev` into `draft`."""
        self.ev = ev
        self.draft = draft
        self.suffix = ""  # of the names of blocks, in a macro

    def assignment(self, stmt: ast.Assign | ast.AnnAssign | ast.AugAssign) -> list[Part]:
        """An assignment of any form."""
        match stmt:
            case ast.Assign(targets=[target], value=value):
                return self.assign(target, self.ev.eval(value), stmt)
            case ast.Assign():
                raise fail(NOT_TVMSCRIPT, "`a = b = c` is not TVMScript", self.ev.spans.of(stmt))
            case ast.AnnAssign():
                return self.annotated(stmt)
            case ast.AugAssign(target=target, op=op, value=value):
                load = self.ev.eval(target)
                result = self.ev.binary(BINARY[type(op)], load, self.ev.eval(value), self.ev.spans.of(stmt))
                return self.assign(target, result, stmt)

    def assign(self, target: ast.expr, value: Meta, stmt: ast.stmt) -> list[Part]:
        """`target = value`."""
        span = self.ev.spans.of(stmt)
        if isinstance(value, NamingStatement):
            return list(value.define(self.ev.scope, target, span))
        match target:
            case ast.Name(id=name):
                return self.bound(name, value, stmt)
            case ast.Subscript(value=owner, slice=index):
                return [self.store(self.ev.eval(owner), self.ev.index(index), value, stmt)]
            case ast.Tuple(elts=items) | ast.List(elts=items):
                if isinstance(value, MetaVar):
                    values: list[Meta] = [MetaVar(entry) for entry in tuple_of(value.value)]
                else:
                    values = list(tuple_of(value))
                if not any(isinstance(item, ast.Starred) for item in items) and len(items) != len(values):
                    raise fail(BAD_ARGUMENTS, f"{len(values)} values are unpacked into {len(items)} names", span)
                parts: list[Part] = []
                for item, entry in zip(*_aligned(items, values, span), strict=True):
                    parts.extend(self.assign(item, entry, stmt))
                return parts
            case _:
                raise fail(NOT_TVMSCRIPT, "only names and elements of buffers are assigned", span)

    def define_targets(self, target: ast.expr, value: Meta, stmt: ast.stmt) -> None:
        """Define loop variables by the names in `target`."""
        match target:
            case ast.Name(id=name):
                self.ev.scope.define(name, value)
            case ast.Tuple(elts=items) | ast.List(elts=items):
                for item, inner in zip(*_aligned(items, list(tuple_of(value)), self.ev.spans.of(stmt)), strict=True):
                    self.define_targets(item, inner, stmt)
            case _:
                raise fail(NOT_TVMSCRIPT, "loop variables are names", self.ev.spans.of(stmt))

    def store(self, owner: Meta, index: Meta, value: Meta, stmt: ast.stmt) -> tir.Stmt:
        """`owner[index] = value`."""
        span = self.ev.spans.of(stmt)
        match owner:
            case tir.Buffer():
                buffer = owner
            case tir.BufferData(buffer=buffer) | tir.BufferLoad(buffer=buffer):
                pass
            case _:
                raise fail(NOT_TVMSCRIPT, f"{described(owner)} has no elements to assign", span)
        return store(buffer, tuple_of(index), operand_of(value, span), span)

    # ------------------------------------------------------------------------------------------------- names

    def bound(self, name: str, value: Meta, stmt: ast.stmt) -> list[Part]:
        """`name = value`, by what the value describes."""
        span = self.ev.spans.of(stmt)
        define = self.ev.scope.define
        match value:
            case AllocSpec():
                return self.allocated(name, value, span)
            case DeclSpec(spec, data, scalar):
                return self.declared(name, spec, data, span, scalar=scalar)
            case BufferSpec(data=data):
                if data is not None:
                    return self.declared(name, value, data, span)
                define(name, value.buffer(name, span))
            case MatchSpec():
                define(name, self.matched(name, value))
            case PreflattenedSpec(flat, spec):
                return [self.preflattened(flat, spec, span)]
            case AxisSpec():
                define(name, self.axis(name, value))
            case VarSpec():
                define(name, self.variable(name, value, span))
            case EnvThread(tag, dtype):
                define(name, tir.ThreadVar(tag, tir.Var(name, dtype, span=span), None, span=span))
            case ThreadFrame():
                return [self.launched(name, value, span)]
            case BindFrame(var, node):
                return self.let(name, node, VarSpec(node.dtype, _pointer(node)), span, var)
            case MetaVar(inner):
                define(name, inner)
            case list() | tuple():
                return self.several(name, tuple_of(value), stmt)
            case tir.Buffer() if self.copies(name, value, stmt):
                return self.expression_bound(name, element_of(value, span), span)
            case tir.Buffer() | tir.ThreadVar() | TileLayout() | ComposeLayout():
                define(name, value)
            case str() | None | DType() | Construct() | dict():
                define(name, value)
            case _:
                return self.expression_bound(name, value, span)
        return []

    def copies(self, name: str, value: tir.Buffer, stmt: ast.stmt) -> bool:
        """Whether `name = value` copies the only element of a buffer: `name` stands for one of one element.

        Decision: TVM 0.27 prints a store of `B[0]` into `A[0]` as `A = B` where both have one element. Its reader
        refuses that text, but inside a loop or a branch it takes `A` for another name of `B` there, and the store is
        lost. refmlc reads what was printed. Fails: RM103 where TVM would have printed an index.
        """
        cell = _cell(self.ev.scope.lookup(name))
        plain = isinstance(stmt, ast.Assign) and isinstance(stmt.value, ast.Name)
        if cell is None or not plain or self.ev.generation != "0.27" or _cell(value) is None:
            return False
        if not (is_single(cell) and is_single(value)):
            span = self.ev.spans.of(stmt)
            message = f"`{name}` is a buffer of one element, and so is `{value.name}`: only elements are assigned"
            raise error(Diagnostic(NOT_TVMSCRIPT, message, span, helps=(f"write `{name}[0] = {value.name}[0]`",)))
        return True

    def several(self, name: str, values: tuple[Meta, ...], stmt: ast.stmt) -> list[Part]:
        """A list bound to one name: each item is bound, the name stands for all."""
        parts: list[Part] = []
        items: list[Meta] = []
        for number, value in enumerate(values):
            inner = f"{name}_{number}"
            parts.extend(self.bound(inner, value, stmt))
            items.append(self.ev.scope.lookup(inner))
        self.ev.scope.define(name, tuple(items))
        return parts

    def allocated(self, name: str, value: AllocSpec, span: Span) -> list[Part]:
        """An allocation: of the enclosing block, or a statement."""
        buffer = value.spec.buffer(name, span)
        zero = tir.IntImm(INT32, 0)
        stands: dict[str, Meta] = {
            "buffer": buffer,
            "scalar": tir.BufferLoad(buffer, (zero,), span=span),
            "pointer": tir.BufferData(buffer, span=span),
        }
        self.ev.scope.define(name, stands[value.form])
        if value.where == "block":
            self.draft.block.alloc_buffers.append(buffer)
            return []
        stores = [self.initial(buffer, place, item, span) for place, item in enumerate(value.values)]
        return [tir.AllocBuffer(buffer, value.annotations, span=span), *stores]

    def initial(self, buffer: tir.Buffer, place: int, value: tir.Expr, span: Span) -> tir.Stmt:
        """The store of element `place`, counted row-major, of a constant allocation."""
        indices: list[Meta] = []
        for extent in reversed(buffer.shape):
            place, index = divmod(place, max(1, int_of(extent, span)))
            indices.insert(0, index)
        return store(buffer, tuple(indices), value, span)

    def declared(
        self, name: str, spec: BufferSpec, data: tir.Expr | None, span: Span, *, scalar: bool = False
    ) -> list[Part]:
        """A view: its scope is that of the storage where the text does not say another."""
        buffer = spec.buffer(name, span)
        self.ev.scope.define(name, tir.BufferLoad(buffer, (tir.IntImm(INT32, 0),), span=span) if scalar else buffer)
        return [tir.DeclBuffer(buffer, data, span=span)]

    def matched(self, name: str, match: MatchSpec) -> tir.Buffer:
        """A buffer matched with a parameter, or with a region in a block."""
        buffer = match.spec.buffer(name, match.span)
        if isinstance(match.source, tir.Var):
            if match.source not in self.draft.params:
                message = f"`{match.source.name}` is matched with a buffer and is no parameter"
                raise fail(BLOCK_RULE, message, match.span)
            if match.source in self.draft.buffer_map:
                raise fail(BLOCK_RULE, f"`{match.source.name}` is matched with a second buffer", match.span)
            self.draft.buffer_map[match.source] = buffer
        else:
            self.draft.block.match_buffers.append(tir.MatchBufferRegion(buffer, match.source, span=match.span))
        return buffer

    def preflattened(self, flat: tir.Buffer, spec: BufferSpec, span: Span) -> tir.Stmt:
        """The caller passes the buffer of `spec`; the flat one is a view of it."""
        for param, buffer in self.draft.buffer_map.items():
            if buffer is flat:
                values = spec.buffer(flat.name, span)
                self.draft.buffer_map[param] = values
                return tir.DeclBuffer(flat, tir.BufferData(values, span=span), span=span)
        raise fail(BAD_ARGUMENTS, f"`{flat.name}` is not matched with a parameter", span)

    def axis(self, name: str, spec: AxisSpec) -> tir.Var:
        """A variable of the block, its domain that of the loop where the text gives none."""
        dom = spec.dom
        if len(self.draft.blocks) == 1:
            raise fail(BLOCK_RULE, "an axis stands outside of a block", spec.span)
        if dom is None:
            binding = spec.binding
            dom = self.draft.loops.get(binding) if isinstance(binding, tir.Var) else None
            if dom is None:
                raise fail(BLOCK_RULE, "`T.axis.remap` takes loop variables", spec.span)
        var = tir.Var(name, spec.dtype, span=spec.span)
        self.draft.block.iter_vars.append(tir.IterVar(var, dom, spec.kind, span=spec.span))
        self.draft.block.iter_values.append(spec.binding)
        return var

    def variable(self, name: str, spec: VarSpec, span: Span) -> tir.Var:
        """`n = T.int32()`: the variable that a type above named already, or a fresh one."""
        value = self.ev.scope.lookup(name)
        fresh = spec.var(name, span)
        if isinstance(value, tir.Var) and value.dtype == spec.dtype and value not in self.draft.declared:
            fresh = value
        self.draft.declared.add(fresh)
        return fresh

    def launched(self, name: str, frame: ThreadFrame, span: Span) -> Around:
        """`T.launch_thread(…)`: the thread variable has its extent around the rest."""
        thread, extent = frame.thread, frame.extent
        tag = thread if isinstance(thread, str) else thread.tag
        var = None if isinstance(thread, str) else thread.var
        var = var or tir.Var(name if name != "_" else tag, extent.dtype, span=span)
        dom = tir.Range(promote.constant(0, extent.dtype, span), extent)
        self.ev.scope.define(name, var)
        return Around(((tir.ThreadVar(tag, var, dom, span=span), "thread_extent", extent),), span)

    # ----------------------------------------------------------------------------------------- values in names

    def expression_bound(self, name: str, value: Meta, span: Span) -> list[Part]:
        """`name = expression`."""
        if not isinstance(value, (int, float, Region, *EXPRESSIONS)):
            raise fail(NOT_TVMSCRIPT, f"{described(value)} cannot be bound to a name", span)
        cell = _cell(self.ev.scope.lookup(name))
        if cell is not None:
            return [store(cell, (0,), operand_of(value, span), span)]
        node = expr_of(value, span)
        spec = VarSpec(node.dtype, _pointer(node))
        if self.ev.generation != "0.27" or node.dtype.kind == "handle":
            return self.let(name, node, spec, span)
        return self.cell(name, spec, node, span)

    def annotated(self, stmt: ast.AnnAssign) -> list[Part]:
        """`x: type = value`, `x: type`."""
        span = self.ev.spans.of(stmt)
        if not isinstance(stmt.target, ast.Name):
            raise fail(NOT_TVMSCRIPT, "only names are annotated", span)
        name = stmt.target.id
        value = None if stmt.value is None else self.ev.eval(stmt.value)
        spec = self.annotation(self.ev.eval(stmt.annotation), self.ev.spans.of(stmt.annotation))
        match spec:
            case VectorSpec(dtype, shape):
                return self.allocated(name, AllocSpec(BufferSpec(shape, dtype, scope="local", span=span), "flat"), span)
            case LetSpec(inner):
                node = expr_of(value, span) if inner is None else self.converted(value, inner, span)
                return self.let(name, node, inner or VarSpec(node.dtype, _pointer(node)), span)
            case VarSpec():
                mutable = self.ev.generation == "0.27" and spec.dtype.kind != "handle"
                if value is None:
                    if mutable:
                        return self.cell(name, spec, None, span)
                    self.ev.scope.define(name, self.variable(name, spec, span))
                    return []
                node = self.converted(value, spec, span)
                return self.cell(name, spec, node, span) if mutable else self.let(name, node, spec, span)
            case _:
                if value is None:
                    raise fail(NOT_TVMSCRIPT, "a name with the type of a buffer has a value", span)
                return self.bound(name, value, stmt)

    def annotation(self, value: Meta, span: Span) -> VarSpec | LetSpec | VectorSpec | BufferSpec:
        """An annotation as a type."""
        if isinstance(value, (VarSpec, LetSpec, VectorSpec, BufferSpec)):
            return value
        if isinstance(value, Construct) and value.path == "T.let":
            return LetSpec(None)
        dtype = dtype_construct(value)
        if dtype is None:
            if isinstance(value, Construct):
                check_wide(value.path.removeprefix("T."), span)
            raise fail(BAD_ARGUMENTS, f"{described(value)} is not a type", span)
        return VarSpec(dtype)

    def converted(self, value: Meta, spec: VarSpec, span: Span) -> tir.Expr:
        """`value` as the type that the text says; a node of another dtype is refused, as in TVM."""
        values = operand_of(value, span)
        if not isinstance(values, (int, float)) and values.dtype != spec.dtype:
            raise fail(TYPE_MISMATCH, f"a value of {values.dtype} is bound to a name of {spec.dtype}", span)
        return promote.converted(values, spec.dtype, span)

    def let(self, name: str, value: tir.Expr, spec: VarSpec, span: Span, var: tir.Var | None = None) -> list[Part]:
        """A `Bind`."""
        var = var or spec.var(name, span)
        self.ev.scope.define(var.name if name == "_" else name, var)
        return [tir.Bind(var, value, span=span)]

    def cell(self, name: str, spec: VarSpec, value: tir.Expr | None, span: Span) -> list[Part]:
        """A mutable scalar."""
        parts = self.allocated(name, cell_of(self.ev, spec.dtype, span), span)
        current = self.ev.scope.lookup(name)
        if value is not None and isinstance(current, tir.BufferLoad):
            parts.append(store(current.buffer, (0,), value, span))
        return parts


def _cell(found: object) -> tir.Buffer | None:
    """The buffer of one element that a name stands for, if it does."""
    buffer = found.buffer if isinstance(found, tir.BufferLoad) else found
    if isinstance(buffer, tir.Buffer) and len(buffer.shape) == 1:
        size = buffer.shape[0]
        return buffer if isinstance(size, tir.IntImm) and size.value == 1 else None
    return None


def _pointer(node: tir.Expr) -> PointerType | None:
    match node:
        case tir.Var(pointer=pointer) | tir.Call(pointer=pointer):
            return pointer
        case tir.BufferData(buffer=buffer):
            return PointerType(buffer.dtype, buffer.scope)
        case _:
            return None


def _aligned(items: list[ast.expr], values: list[Meta], span: Span) -> tuple[list[ast.expr], list[Meta]]:
    """Targets and values side by side; a starred target takes a list of what the others leave."""
    stars = [number for number, item in enumerate(items) if isinstance(item, ast.Starred)]
    if len(stars) > 1 or len(values) < len(items) - len(stars) or (not stars and len(values) != len(items)):
        raise fail(BAD_ARGUMENTS, f"{len(values)} values are unpacked into {len(items)} names", span)
    plain = [item.value if isinstance(item, ast.Starred) else item for item in items]
    if not stars:
        return plain, values
    first, after = stars[0], len(items) - stars[0] - 1
    middle = values[first : len(values) - after]
    return plain, [*values[:first], tuple(middle), *values[len(values) - after :]]
