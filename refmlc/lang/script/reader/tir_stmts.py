"""Statements of a TensorIR function.

| Python statement                         | meaning                                                       |
|------------------------------------------|---------------------------------------------------------------|
| `for i, j in T.grid(…)`                  | `For`, nested                                                 |
| `while c`, `break`, `continue`           | `While`, `Break`, `Continue`                                  |
| `if`, `elif`, `else`                     | `IfThenElse`; a host condition chooses while reading          |
| `with T.sblock(…)`, `with T.init()`      | `SBlockRealize`, the block's init                             |
| `with T.attr(…)`, `T.launch_thread(…)`   | `AttrStmt`; as a plain statement, around the rest of the body |
| `with T.let(x, v)`, `with T.allocate(…)` | a sequence that begins with `Bind`, `AllocBuffer`             |
| assignments                              | `tir_assign`                                                  |
| `assert c, message`                      | `AssertStmt`                                                  |
| `return v`                               | `Return`                                                      |
| an expression                            | what its description says; a node is `Evaluate`               |
| anything else                            | refused                                                       |
"""

import ast
from collections.abc import Sequence

from refmlc.diag import RefmlcError, fail
from refmlc.diag.catalogue import BAD_ARGUMENTS, BLOCK_RULE, NOT_TVMSCRIPT, UNSUPPORTED_CONSTRUCT
from refmlc.lang.ir import tir
from refmlc.lang.ops import promote
from refmlc.lang.script.reader.attributes import attr_of
from refmlc.lang.script.reader.macros import NUMBERED, Expansion, macro_of
from refmlc.lang.script.reader.module import decorator_path
from refmlc.lang.script.reader.problems import Followup
from refmlc.lang.script.reader.tir_assign import Assignments
from refmlc.lang.script.reader.tir_draft import Around, BlockDraft, joined
from refmlc.lang.script.reader.tir_frames import message_of
from refmlc.lang.script.reader.tir_operands import EXPRESSIONS, expr_of, mismatch, operand_of, str_of, tuple_of
from refmlc.lang.script.reader.tir_values import (
    AllocSpec,
    AssertFrame,
    AttrFrame,
    BindFrame,
    BlockFrame,
    DeclSpec,
    Done,
    Fact,
    IfFrame,
    InitFrame,
    LoopSpec,
    MatchSpec,
    NamingStatement,
    PreflattenedSpec,
    Region,
    ThreadFrame,
    WhileFrame,
)
from refmlc.lang.script.reader.values import Meta, described
from refmlc.lang.script.spellings import canonical_attribute

Part = tir.Stmt | Around


class Statements(Assignments):
    """Reads the statements of one function into its draft."""

    def body(self, stmts: Sequence[ast.stmt]) -> tir.Stmt:
        """The statements as one, in a scope of their own."""
        with self.ev.scope.frame():
            return self.sequence(stmts)

    def sequence(self, stmts: Sequence[ast.stmt]) -> tir.Stmt:
        """The statements as one, in the scope that is open."""
        outer: list[tuple[Around, list[tir.Stmt]]] = []
        items: list[tir.Stmt] = []
        for stmt in stmts:
            for part in self.recovered(stmt):
                if isinstance(part, Around):
                    outer.append((part, items))
                    items = []
                else:
                    items.append(part)
        span = self.ev.spans.of(stmts[0]) if stmts else None
        node = joined(items, span)
        for around, before in reversed(outer):
            node = joined([*before, around.wrap(node)], span)
        return node

    def recovered(self, stmt: ast.stmt) -> list[Part]:
        """What one statement becomes; nothing where it has a problem, which is kept."""
        with self.ev.problems.recovering(self.ev.scope, stmt):
            return self.statement(stmt)
        return []

    def statement(self, stmt: ast.stmt) -> list[Part]:
        """What one statement becomes."""
        span = self.ev.spans.of(stmt)
        match stmt:
            case ast.For(orelse=[]):
                return [self.for_loop(stmt)]
            case ast.While(orelse=[]):
                condition = promote.branch(operand_of(self.ev.eval(stmt.test), span), span)
                return [tir.While(condition, self.body(stmt.body), span=span)]
            case ast.If():
                return self.if_statement(stmt)
            case ast.With():
                return self.with_statement(stmt)
            case ast.Assign() | ast.AnnAssign() | ast.AugAssign():
                return self.assignment(stmt)
            case ast.Assert():
                return [self.assert_statement(stmt)]
            case ast.Return(value=None):
                raise fail(NOT_TVMSCRIPT, "a return in TensorIR has a value", span)
            case ast.Return(value=ast.expr() as value):
                return [tir.Return(expr_of(self.ev.eval(value), span), span=span)]
            case ast.Break():
                return [tir.Break(span=span)]
            case ast.Continue():
                return [tir.Continue(span=span)]
            case ast.Pass():
                return []
            case ast.Expr(value=value):
                return self.expression(self.ev.eval(value), stmt)
            case ast.FunctionDef() if any(decorator_path(self.ev, part) in NUMBERED for part in stmt.decorator_list):
                self.ev.scope.define(stmt.name, macro_of(self.ev, stmt))
                return []
            case ast.FunctionDef() | ast.ClassDef():
                raise fail(NOT_TVMSCRIPT, f"`{stmt.name}` is defined inside of a TensorIR function", span)
            case _:
                kind = type(stmt).__name__.lower()
                raise fail(NOT_TVMSCRIPT, f"a `{kind}` statement has no meaning in TensorIR", span)

    # -------------------------------------------------------------------------------------------------- loops

    def for_loop(self, stmt: ast.For) -> tir.Stmt:
        """`for targets in loops`."""
        try:
            value = self.ev.eval(stmt.iter)
        except RefmlcError as failure:  # the body is read for its own problems
            self.ev.problems.add(failure)
            with self.ev.scope.frame():
                self.ev.problems.break_names(self.ev.scope, stmt.target)
                self.sequence(stmt.body)
            raise Followup(failure.diagnostic) from None
        if not isinstance(value, LoopSpec):
            raise mismatch(value, "`range`, `T.grid`, `T.serial` or another loop", self.ev.spans.of(stmt.iter))
        with self.ev.scope.frame():
            return self.loops(value, stmt.target, stmt.body, stmt)

    def loops(self, spec: LoopSpec, target: ast.expr | None, body: Sequence[ast.stmt], stmt: ast.stmt) -> tir.Stmt:
        """The loops of `spec` around `body`, their variables called as `target` says."""
        span = self.ev.spans.of(stmt)
        names = self.loop_names(target, len(spec.ranges), stmt)
        loop_vars = [
            tir.Var(name, extent.dtype, span=span) for name, (_, extent) in zip(names, spec.ranges, strict=True)
        ]
        for var, (low, extent) in zip(loop_vars, spec.ranges, strict=True):
            self.draft.loops[var] = tir.Range(low, extent)
        if target is not None:
            self.define_targets(target, loop_vars[0] if len(loop_vars) == 1 else tuple(loop_vars), stmt)
        node = self.sequence(body)
        for var, (low, extent) in zip(reversed(loop_vars), reversed(spec.ranges), strict=True):
            node = tir.For(var, low, extent, spec.kind, node, spec.thread, spec.annotations, spec.step, span=span)
        return node

    def loop_names(self, target: ast.expr | None, count: int, stmt: ast.stmt) -> list[str]:
        """A name for each loop."""
        match target:
            case ast.Name(id=name):
                return [name] if count == 1 else [f"{name}_{number}" for number in range(count)]
            case ast.Tuple(elts=items) | ast.List(elts=items) if not any(isinstance(i, ast.Starred) for i in items):
                if len(items) != count:
                    message = f"{count} loops are unpacked into {len(items)} names"
                    raise fail(BAD_ARGUMENTS, message, self.ev.spans.of(stmt))
                return [item.id if isinstance(item, ast.Name) else "_" for item in items]
            case _:
                return [f"i{number}" for number in range(count)]

    # ----------------------------------------------------------------------------------------------- branches

    def if_statement(self, stmt: ast.If) -> list[Part]:
        """`if`, with its `elif` in a loop: a long chain is not deep."""
        chain: list[tuple[tir.Expr, tir.Stmt, ast.If]] = []
        rest: Sequence[ast.stmt] = [stmt]
        tail: list[Part] | None = None
        while len(rest) == 1 and isinstance(rest[0], ast.If):
            item = rest[0]
            value = self.ev.eval(item.test)
            if isinstance(value, bool):
                rest = item.body if value else item.orelse
                if value or not chain:
                    tail = self.inline(rest) if not chain else [self.body(rest)]
                    break
                continue
            span = self.ev.spans.of(item.test)
            chain.append((promote.branch(operand_of(value, span), span), self.body(item.body), item))
            rest = item.orelse
        if not chain:
            return tail or []
        last = self.body(rest) if tail is None and rest else None
        for part in tail or []:
            last = part if not isinstance(part, Around) else last
        for condition, then, item in reversed(chain):
            last = tir.IfThenElse(condition, then, last, span=self.ev.spans.of(item))
        return [] if last is None else [last]

    def inline(self, stmts: Sequence[ast.stmt]) -> list[Part]:
        """Statements chosen while reading: they stand in the scope around."""
        return [part for stmt in stmts for part in self.statement(stmt)]

    def assert_statement(self, stmt: ast.Assert) -> tir.Stmt:
        """`assert c, "message"`, `assert c, ("ValueError", ["part", …])`."""
        span = self.ev.spans.of(stmt)
        condition = promote.condition(operand_of(self.ev.eval(stmt.test), span), span)
        message: Meta = "" if stmt.msg is None else self.ev.eval(stmt.msg)
        kind = "RuntimeError"
        if isinstance(message, tuple):
            if len(message) != 2:
                raise fail(BAD_ARGUMENTS, f"the message of an assert is (kind, parts), not {described(message)}", span)
            kind, message = str_of(message[0], span), message[1]
        return tir.AssertStmt(condition, message_of(message, span), kind, span=span)

    # --------------------------------------------------------------------------------------------------- with

    def with_statement(self, stmt: ast.With) -> list[Part]:
        """`with a as x, b as y:` is `with a as x:` around `with b as y:`."""
        with self.ev.scope.frame():
            return self.with_items(stmt, list(stmt.items))

    def with_items(self, stmt: ast.With, items: list[ast.withitem]) -> list[Part]:
        """The statement with the first of `items` opened, the others inside of it."""
        if not items:
            return [self.sequence(stmt.body)]
        item, *rest = items
        frame = self.ev.eval(item.context_expr)
        span = self.ev.spans.of(stmt)
        match frame:
            case BlockFrame():
                return [self.block(frame, stmt, rest)]
            case InitFrame():
                self.init(stmt, rest)
                return []
            case LoopSpec():
                if rest:
                    raise fail(UNSUPPORTED_CONSTRUCT, "a loop beside other frames is not supported", span)
                return [self.loops(frame, item.optional_vars, stmt.body, stmt)]
            case WhileFrame(condition):
                return [tir.While(condition, self.inner(stmt, rest), span=span)]
            case IfFrame("if", condition) if condition is not None:
                return [self.if_frame(condition, stmt)]
            case AttrFrame() | ThreadFrame() | AssertFrame() | BindFrame() | AllocSpec() | DeclSpec():
                opened = self.opened(frame, item, stmt)
                return self.enclosed(opened, self.inner(stmt, rest), stmt)
        raise fail(NOT_TVMSCRIPT, f"{described(frame)} does not open a `with` statement", span)

    def inner(self, stmt: ast.With, rest: list[ast.withitem]) -> tir.Stmt:
        """The body of a `with`, other items first."""
        return joined([part for part in self.with_items(stmt, rest) if not isinstance(part, Around)], None)

    def opened(self, frame: Meta, item: ast.withitem, stmt: ast.With) -> list[Part]:
        """What a frame puts before or around the body; its name is defined."""
        if isinstance(item.optional_vars, ast.Name):
            return self.bound(item.optional_vars.id, frame, stmt)
        if item.optional_vars is not None:
            raise fail(NOT_TVMSCRIPT, "the frame of a `with` has one name", self.ev.spans.of(stmt))
        return self.expression(frame, stmt)

    def enclosed(self, opened: list[Part], body: tir.Stmt, stmt: ast.With) -> list[Part]:
        """`body` inside of what a frame opened."""
        span = self.ev.spans.of(stmt)
        for part in reversed(opened):
            body = part.wrap(body) if isinstance(part, Around) else joined([part, body], span)
        return [body]

    def block(self, frame: BlockFrame, stmt: ast.With, rest: list[ast.withitem]) -> tir.Stmt:
        """`with T.sblock(name)`."""
        span = self.ev.spans.of(stmt)
        if not frame.realize:
            raise fail(UNSUPPORTED_CONSTRUCT, "a block that is not realized is not supported", span)
        draft = BlockDraft(f"{frame.name}{self.suffix}")
        self.draft.blocks.append(draft)
        try:
            body = self.inner(stmt, rest)
        finally:
            self.draft.blocks.pop()
        return draft.realize(body, span)

    def init(self, stmt: ast.With, rest: list[ast.withitem]) -> None:
        """`with T.init()`."""
        if self.draft.block.init is not None or len(self.draft.blocks) == 1:
            where = "outside of a block" if len(self.draft.blocks) == 1 else "a second time"
            raise fail(BLOCK_RULE, f"`T.init()` stands here {where}", self.ev.spans.of(stmt))
        self.draft.block.init = self.inner(stmt, rest)

    def if_frame(self, condition: tir.Expr, stmt: ast.With) -> tir.Stmt:
        """`with T.If(c):` around `with T.Then():` and `with T.Else():`."""
        parts: dict[str, tir.Stmt] = {}
        for inner in stmt.body:
            frame = self.ev.eval(inner.items[0].context_expr) if isinstance(inner, ast.With) else None
            if not isinstance(inner, ast.With) or not isinstance(frame, IfFrame) or frame.part in parts:
                raise fail(NOT_TVMSCRIPT, "`T.If` holds `T.Then` and `T.Else`", self.ev.spans.of(inner))
            parts[frame.part] = self.body(inner.body)
        if "then" not in parts:
            raise fail(NOT_TVMSCRIPT, "`T.If` holds no `T.Then`", self.ev.spans.of(stmt))
        return tir.IfThenElse(condition, parts["then"], parts.get("else"), span=self.ev.spans.of(stmt))

    # -------------------------------------------------------------------------------- expressions as statements

    def expression(self, value: Meta, stmt: ast.stmt) -> list[Part]:
        """An expression that stands alone."""
        span = self.ev.spans.of(stmt)
        match value:
            case Expansion():
                return [self.expanded(value)]
            case Done(node):
                return [node]
            case NamingStatement():
                return list(value.define(self.ev.scope, None, span))
            case Fact():
                self.fact(value)
                return []
            case AttrFrame(facts):
                return [Around(facts, span)]
            case AssertFrame(condition, message, kind):
                return [tir.AssertStmt(condition, message, kind, span=span)]
            case ThreadFrame() | BindFrame() | AllocSpec() | DeclSpec() | MatchSpec() | PreflattenedSpec():
                return self.bound("_", value, stmt)
            case str() | None:
                return []
            case int() | float() | Region():
                return [tir.Evaluate(expr_of(value, span), span=span)]
        if isinstance(value, EXPRESSIONS):
            return [tir.Evaluate(value, span=span)]
        raise fail(NOT_TVMSCRIPT, f"{described(value)} is not a statement of TensorIR", span)

    def expanded(self, expansion: Expansion) -> tir.Stmt:
        """The statements of a macro, in the scope of its definition or of the call."""
        macro = expansion.macro
        outer, suffix = self.ev.scope, self.suffix
        self.ev.scope = outer if macro.scope is None else macro.scope.snapshot()
        self.suffix = expansion.suffix if macro.numbered else suffix
        try:
            with self.ev.scope.frame():
                for name, value in expansion.values.items():
                    self.ev.scope.define(name, value)
                return self.body(macro.node.body)
        finally:
            self.ev.scope, self.suffix = outer, suffix

    def fact(self, fact: Fact) -> None:
        """What a statement says about the block or function around it."""
        block, span = self.draft.block, fact.span
        match fact.key, fact.value:
            case "reads", tuple(regions):
                block.reads = (*(block.reads or ()), *regions)
            case "writes", tuple(regions):
                block.writes = (*(block.writes or ()), *regions)
            case "where", predicate:
                node = expr_of(predicate, span)
                block.predicate = node if block.predicate is None else tir.And(block.predicate, node, span=span)
            case "sblock_attr", dict(attrs):
                block.annotations.update({str(key): attr_of(item, span) for key, item in attrs.items()})
            case "func_attr", dict(attrs):
                self.draft.attrs.update(
                    {canonical_attribute(str(key)): attr_of(item, span) for key, item in attrs.items()}
                )
            case _, value:
                self.draft.name = str_of(tuple_of(value)[0], span)
