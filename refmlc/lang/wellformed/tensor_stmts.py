"""Static rules for the statements, blocks and functions of TensorIR.

| clause  | rule                                                                                   | code  |
|---------|----------------------------------------------------------------------------------------|-------|
| TIR-901 | what `Bind`, `For`, `SBlock`, `AllocBuffer`, `DeclBuffer` define is visible to its end | RM203 |
| TIR-902 | the value of a binding, a store, a return has the declared dtype                       | RM201 |
| TIR-906 | a shape variable is a parameter or a whole dimension of a parameter                    | RM211 |
| TIR-907 | a block has one binding for each axis; axes, bindings and domains are integers         | RM209 |
| TIR-908 | parameters have different names; a variable is not defined again where it is visible   | RM210 |
| TIR-909 | break and continue stand in a loop                                                     | RM213 |
| TIR-207 | a view of a buffer has elements as wide, where either are narrower than a byte        | RM504 |
| TIR-208 | a loop over a thread axis inside of one over the same axis has its start and step      | RM504 |
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import zip_longest

from refmlc.diag import Related, Span
from refmlc.diag.catalogue import (
    BAD_LOOP_CONTROL,
    BLOCK_RULE,
    DUPLICATE,
    RANK_MISMATCH,
    TYPE_MISMATCH,
    UNSUPPORTED_CONSTRUCT,
)
from refmlc.lang.dtypes import DType
from refmlc.lang.ir.equal import structural_equal
from refmlc.lang.ir.scopes import is_thread
from refmlc.lang.ir.threads import tag_of
from refmlc.lang.ir.tir import (
    AllocBuffer,
    AssertStmt,
    AttrStmt,
    Bind,
    Break,
    Buffer,
    BufferData,
    BufferRegion,
    BufferStore,
    Continue,
    DeclBuffer,
    Evaluate,
    Expr,
    For,
    IfThenElse,
    IntImm,
    IterVar,
    MatchBufferRegion,
    PrimFunc,
    Return,
    SBlock,
    SBlockRealize,
    SeqStmt,
    Stmt,
    ThreadVar,
    Var,
    While,
    loaded_dtype,
)
from refmlc.lang.ir.tirx import LambdaExpr, ScopeIdDef, TilePrimitiveCall
from refmlc.lang.wellformed.tensor_exprs import ExprRules, count

BYTE = 8


class FunctionRules(ExprRules):
    """Checks one function."""

    loops = 0
    ret_dtype: DType | None = None
    _axes: "dict[str, tuple[Expr | None, Expr | None]]"

    def function(self, function: PrimFunc) -> None:
        """Check parameters, the buffers they are matched against, and the body."""
        self.ret_dtype = function.ret_dtype
        self._axes = {}
        names: set[str] = set()
        for param in function.params:
            buffer = function.buffer_map.get(param)
            name = param.name if buffer is None else buffer.name
            if name in names:
                self.findings.report(DUPLICATE, f"two parameters are called `{name}`", param.span or function.span)
            names.add(name)
            self.define(param, function.span)
        self.matched(function.buffer_map.values(), function.span)
        self.stmt(function.body, function.span)

    def define(self, node: Var | Buffer, near: Span | None) -> None:
        """Make `node` visible; it must not be so already."""
        if node in self.scope:
            self.findings.report(DUPLICATE, f"`{node.name}` is defined inside its own scope", near, subject=node)
        self.scope.define(node)
        if isinstance(node, Buffer) and node.dtype.kind == "void":
            self.findings.report(TYPE_MISMATCH, f"buffer `{node.name}` has elements of void", node.span or near)
        if isinstance(node, Buffer) and node.strides and len(node.strides) != len(node.shape):
            sides = count(len(node.shape), "dimension"), count(len(node.strides), "stride")
            message = f"buffer `{node.name}` has {sides[0]}, {sides[1]} given"
            self.findings.report(RANK_MISMATCH, message, node.span or near)

    def matched(self, buffers: Iterable[Buffer], near: Span | None) -> None:
        """Define `buffers` and the variables that matching them against storage gives values to."""
        new = list(buffers)
        for buffer in new:
            for dim in (*buffer.shape, *buffer.strides, buffer.elem_offset):
                if isinstance(dim, Var) and dim not in self.scope:
                    self.scope.define(dim)
        for buffer in new:
            self.shape(buffer.shape, buffer.span or near)
            self.define(buffer, near)

    # ------------------------------------------------------------------------------------------- statements

    def stmt(self, stmt: Stmt, outer: Span | None) -> None:
        """Check `stmt`; `outer` is the place of what holds it."""
        near = stmt.span or outer
        match stmt:
            case Bind(var, value):
                self.expr(value, near)
                self.same_dtype(var.dtype, value.dtype, f"`{var.name}` is", "its value", near)
                self.define(var, near)
            case AssertStmt(condition):
                self.condition(condition, "the asserted condition", near)
            case For():
                self._for(stmt, near)
            case While(condition, body):
                self.condition(condition, "the condition of `while`", near)
                self._loop(body, near)
            case BufferStore():
                self._store(stmt, near)
            case AllocBuffer(buffer):
                self._fresh(buffer, near)
            case DeclBuffer(buffer, data):
                self._decl(buffer, data, near)
            case AttrStmt(node, _, value, body):
                with self.scope.inner():
                    self._thread(node)
                    self.attr(value, near)
                    with self._binding(tag_of(stmt), (None, None), near):
                        self.stmt(body, near)
            case SeqStmt(seq):
                with self.scope.inner():
                    for part in seq:
                        self.stmt(part, near)
            case IfThenElse():
                self._if(stmt, near)
            case Evaluate(value):
                self.expr(value, near)
            case Break() | Continue():
                if not self.loops:
                    word = "break" if isinstance(stmt, Break) else "continue"
                    self.findings.report(BAD_LOOP_CONTROL, f"`{word}` is outside a loop", near)
            case Return(value):
                self._return(value, near)
            case SBlockRealize():
                self._realize(stmt, near)
            case ScopeIdDef():
                self._scope_ids(stmt, near)
            case TilePrimitiveCall():
                self._tile(stmt, near)

    def _scope_ids(self, stmt: ScopeIdDef, near: Span | None) -> None:
        for what, values in (("extent", stmt.extents), ("preferred size", stmt.preferred)):
            for value in values or ():
                self.expr(value, near)
                self.integer(value, f"an {what} of `T.{stmt.kind}`" if what == "extent" else f"a {what}", near)
        for var in stmt.ids:
            self.define(var, near)

    def _tile(self, call: TilePrimitiveCall, near: Span | None) -> None:
        for value in (*call.args, *call.workspace.values(), *call.config.values()):
            if isinstance(value, LambdaExpr):
                with self.scope.inner():
                    for var in value.params:
                        self.define(var, near)
                    self.expr(value.body, near)
            elif isinstance(value, BufferRegion):
                self._region(value, near)
            else:
                self.attr(value, near)

    def _for(self, loop: For, near: Span | None) -> None:
        for bound, what in ((loop.min, "start"), (loop.extent, "extent"), (loop.step, "step")):
            if bound is not None:
                self.expr(bound, near)
                self.integer(bound, f"the {what} of the loop over `{loop.loop_var.name}`", near)
        with self.scope.inner():
            self.define(loop.loop_var, near)
            self._thread(loop.thread)
            with self._binding(loop.tag, (loop.min, loop.step), near):
                self._loop(loop.body, near)

    def _loop(self, body: Stmt, near: Span | None) -> None:
        self.loops += 1
        with self.scope.inner():
            self.stmt(body, near)
        self.loops -= 1

    @contextmanager
    def _binding(self, tag: str, domain: tuple[Expr | None, Expr | None], near: Span | None) -> Iterator[None]:
        """Inside of the context the thread axis `tag` is bound, over a start and a step; None: 0, 1."""
        around = self._axes.get(tag)
        if not is_thread(tag):
            yield
        elif around is None:
            self._axes[tag] = domain
            yield
            del self._axes[tag]
        else:
            if not all(map(_equal, around, domain, (0, 1))):
                message = f"a loop over `{tag}` has another start or step than the one around it"
                self.findings.report(UNSUPPORTED_CONSTRUCT, message, near)
            yield

    def _thread(self, node: object) -> None:
        """A thread axis defines its variable where it has one."""
        if isinstance(node, ThreadVar) and node.var is not None and node.var not in self.scope:
            self.scope.define(node.var)

    def _store(self, store: BufferStore, near: Span | None) -> None:
        self.access(store.buffer, store.indices, store.predicate, near)
        self.expr(store.value, near)
        place = loaded_dtype(store.buffer, store.indices)
        if store.value.dtype != place and "void" not in (place.kind, store.value.dtype.kind):
            self.findings.report(
                TYPE_MISMATCH,
                f"a value of {store.value.dtype} is stored to `{store.buffer.name}` of {place}",
                near,
                related=_declared(store.buffer),
            )

    def _decl(self, buffer: Buffer, data: Expr | None, near: Span | None) -> None:
        if data is not None:
            self.expr(data, near)
        if isinstance(data, BufferData) and _packed(buffer.dtype) != _packed(data.buffer.dtype):
            views = f"`{buffer.name}` of {buffer.dtype} is a view of `{data.buffer.name}` of {data.buffer.dtype}"
            message = f"{views}: refmlc does not define how elements narrower than a byte share bytes"
            self.findings.report(UNSUPPORTED_CONSTRUCT, message, near)
        self._fresh(buffer, near)

    def _fresh(self, buffer: Buffer, near: Span | None) -> None:
        """A buffer whose declaration gives no variable a value."""
        for part in (*buffer.strides, *(() if buffer.elem_offset is None else (buffer.elem_offset,))):
            self.expr(part, buffer.span or near)
        for address in buffer.allocated_addr:
            self.expr(address, buffer.span or near)
        self.shape(buffer.shape, buffer.span or near)
        self.define(buffer, near)

    def _if(self, stmt: IfThenElse, near: Span | None) -> None:
        self.condition(stmt.condition, "the condition of `if`", near)
        for case in (stmt.then_case, stmt.else_case):
            if case is not None:
                with self.scope.inner():
                    self.stmt(case, near)

    def _return(self, value: Expr, near: Span | None) -> None:
        self.expr(value, near)
        if self.ret_dtype is not None and value.dtype != self.ret_dtype:
            message = f"the function returns {self.ret_dtype}, the value is {value.dtype}"
            self.findings.report(TYPE_MISMATCH, message, near)

    # ----------------------------------------------------------------------------------------------- blocks

    def _realize(self, realize: SBlockRealize, near: Span | None) -> None:
        block = realize.block
        for value, axis in zip_longest(realize.iter_values, block.iter_vars):
            if value is not None:
                self.expr(value, near)
                self._bound(value, axis, block, near)
        self.condition(realize.predicate, f"the predicate of block `{block.name}`", near)
        axes, bound = len(block.iter_vars), len(realize.iter_values)
        if axes != bound:
            message = f"block `{block.name}` has {count(axes, 'axis')}, {count(bound, 'binding')} given"
            self.findings.report(BLOCK_RULE, message, block.span or near)
        with self.scope.inner():
            self._block(block, block.span or near)

    def _bound(self, value: Expr, axis: IterVar | None, block: SBlock, near: Span | None) -> None:
        if not value.dtype.is_integer:
            message = f"a binding of block `{block.name}` is {value.dtype}, not an integer"
            self.findings.report(BLOCK_RULE, message, value.span or near, subject=axis.var if axis else None)

    def _block(self, block: SBlock, near: Span | None) -> None:
        for axis in block.iter_vars:
            self._axis(axis, block, near)
        for axis in block.iter_vars:
            self.define(axis.var, near)
        for buffer in block.alloc_buffers:
            self._fresh(buffer, near)
        for region in (*(block.reads or ()), *(block.writes or ())):
            self._region(region, near)
        for match in block.match_buffers:
            self._match(match, near)
        for part in (block.init, block.body):
            if part is not None:
                with self.scope.inner():
                    self.stmt(part, near)

    def _axis(self, axis: IterVar, block: SBlock, near: Span | None) -> None:
        for bound in (axis.dom.min, axis.dom.extent):
            self.expr(bound, near)
            self.integer(bound, f"the domain of axis `{axis.var.name}` of block `{block.name}`", near)
        if not axis.var.dtype.is_integer:
            message = f"axis `{axis.var.name}` of block `{block.name}` is {axis.var.dtype}, not an integer"
            self.findings.report(BLOCK_RULE, message, near, subject=axis.var)

    def _region(self, region: BufferRegion, near: Span | None) -> None:
        near = region.span or near
        self.use(region.buffer, near)
        if len(region.region) != len(region.buffer.shape):
            self.rank(region.buffer, len(region.region), near)
        for side in region.region:
            for bound in (side.min, side.extent):
                self.expr(bound, near)
                self.integer(bound, f"the region of `{region.buffer.name}`", near)

    def _match(self, match: MatchBufferRegion, near: Span | None) -> None:
        near = match.span or near
        self._region(match.source, near)
        target, source = match.buffer, match.source.buffer
        self.same_dtype(target.dtype, source.dtype, f"`{target.name}` is", f"`{source.name}`", near)
        self.matched((target,), near)


def _declared(buffer: Buffer) -> list[Related]:
    """The place of the declaration, where there is one."""
    return [Related(f"`{buffer.name}` is declared here", buffer.span)] if buffer.span else []


def _packed(dtype: DType) -> int:
    """The bits of an element that shares its byte with others; 0: it shares none."""
    return dtype.bits if dtype.kind != "bool" and 0 < dtype.bits < BYTE else 0


def _equal(first: Expr | None, second: Expr | None, default: int) -> bool:
    """Whether two bounds of loops are equal; None is the default."""
    numbers = [
        default if each is None else each.value if isinstance(each, IntImm) else None for each in (first, second)
    ]
    return numbers[0] == numbers[1] if None not in numbers else structural_equal(first, second)
