"""TensorIR statements as text.

| statement                   | text                                                                     |
|-----------------------------|--------------------------------------------------------------------------|
| nest of serial loops from 0 | `for i, j in T.grid(n, 4):`                                              |
| other loops                 | `for i in range(1, 5):`, `T.parallel(4)`, `T.serial(0, 8, step=2)` …     |
| … in 2022                   | `for i in T.serial(1, 5):`                                               |
| block                       | `with T.sblock("name"):`; axes that are loop variables by `T.axis.remap` |
| `Bind`                      | `x: T.let[T.int32] = e`; before 0.27 `x: T.int32 = e`                    |
| thread extent, attribute    | a `with`; alone in a body a plain line                                   |
"""

from collections.abc import Sequence

from refmlc.diag import fail
from refmlc.diag.catalogue import ARITY, BUG
from refmlc.lang.ir import tir, tirx
from refmlc.lang.ir.equal import structural_equal
from refmlc.lang.ir.kinds import ForKind, IterKind
from refmlc.lang.ir.visit import walk
from refmlc.lang.script.printer.buffers import (
    alloc_text,
    block_alloc_text,
    decl_text,
    match_region_text,
    type_of_var,
    variable_text,
)
from refmlc.lang.script.printer.expressions import (
    attribute_text,
    buffer_name,
    end_text,
    expr_text,
    indices_text,
    listed,
    region_text,
)
from refmlc.lang.script.printer.literals import string_text
from refmlc.lang.script.printer.page import Page
from refmlc.lang.script.tirx.statements import hint_text, write_scope_ids, write_tile


def write_body(page: Page, stmt: tir.Stmt) -> None:
    """A statement that is all of a suite."""
    if isinstance(stmt, tir.AttrStmt):
        _flat_attr(page, stmt)
    else:
        write_stmt(page, stmt)


def write_stmt(page: Page, stmt: tir.Stmt) -> None:
    """A statement."""
    match stmt:
        case tir.SeqStmt(seq=seq):
            for item in seq:
                write_stmt(page, item)
        case tir.For():
            _for(page, stmt)
        case tir.While(condition=condition, body=body):
            page.line(f"while {expr_text(page, condition)}:")
            _suite(page, body)
        case tir.IfThenElse():
            _if(page, stmt)
        case tir.AttrStmt():
            _attr(page, stmt)
        case tir.SBlockRealize():
            _block(page, stmt)
        case tirx.ScopeIdDef():
            write_scope_ids(page, stmt)
        case tirx.TilePrimitiveCall():
            write_tile(page, stmt)
        case _:
            _simple(page, stmt)


def _suite(page: Page, body: tir.Stmt) -> None:
    with page.block():
        write_body(page, body)


def _simple(page: Page, stmt: tir.Stmt) -> None:
    """Statements of one line."""
    match stmt:
        case tir.Bind(var=var, value=value):
            text = expr_text(page, value)
            name = page.names.define(var, var.name)
            page.line(f"{name}: {_bind_type(page, var)} = {text}")
        case tir.AssertStmt():
            page.line(f"assert {expr_text(page, stmt.condition)}, {_message(page, stmt)}")
        case tir.BufferStore():
            _store(page, stmt)
        case tir.AllocBuffer(buffer=buffer):
            text = alloc_text(page, stmt)
            page.line(f"{page.names.define(buffer, buffer.name)}{text}")
        case tir.DeclBuffer(buffer=buffer):
            text = decl_text(page, stmt)
            page.line(f"{page.names.define(buffer, buffer.name)} = {text}")
        case tir.Evaluate(value=value):
            text = expr_text(page, value)
            page.line(text if isinstance(value, tir.Call) else f"T.evaluate({text})")
        case tir.Break():
            page.line("T.break_loop()" if page.modern else "break")
        case tir.Continue():
            page.line("T.continue_loop()" if page.modern else "continue")
        case tir.Return(value=value):
            page.line(f"return {expr_text(page, value)}" if page.modern else f"T.ret({expr_text(page, value)})")
        case _:
            raise fail(BUG, f"{type(stmt).__name__} is no statement that can be shown")


def _bind_type(page: Page, var: tir.Var) -> str:
    text = type_of_var(page, var)
    return f"T.let[{text}]" if page.modern else text


def _message(page: Page, stmt: tir.AssertStmt) -> str:
    if not page.modern and len(stmt.message) == 1 and stmt.kind == "RuntimeError":
        return string_text(stmt.message[0])
    parts = ", ".join(part if _is_reference(page, part) else string_text(part) for part in stmt.message)
    return f"({string_text(stmt.kind)}, [{parts}])"


def _is_reference(page: Page, part: str) -> bool:
    """Whether a part of a message is `metadata["ir.StringImm"][0]` of a text that omits its metadata."""
    head, bracket, number = part.partition('"][')
    named = head.removeprefix('metadata["')
    plain = named.replace(".", "").replace("_", "").isalnum() and named.isascii() and number[:-1].isdecimal()
    result = bool(bracket) and head != named and plain and number.endswith("]") and not page.show_meta
    page.omitted = page.omitted or result
    return result


def _store(page: Page, stmt: tir.BufferStore) -> None:
    name = buffer_name(page, stmt.buffer)
    value = expr_text(page, stmt.value)
    if stmt.predicate is not None:
        predicate = expr_text(page, stmt.predicate)
        page.line(f"{name}.vstore([{listed(page, stmt.indices)}], {value}, predicate={predicate})")
    elif id(stmt.buffer) in page.cells:
        page.line(f"{name} = {value}")
    else:
        page.line(f"{name}[{indices_text(page, stmt.indices, slices=True)}] = {value}")


# -------------------------------------------------------------------------------------------------- loops


def _for(page: Page, stmt: tir.For) -> None:
    nest = _grid(stmt)
    if len(nest) > 1:
        extents = [expr_text(page, item.extent) for item in nest]
        with page.names.frame():
            names = [page.names.define(item.loop_var, item.loop_var.name) for item in nest]
            page.line(f"for {', '.join(names)} in T.grid({', '.join(extents)}):")
            _loop_body(page, nest[-1].body, nest)
        return
    head = _loop_head(page, stmt)
    with page.names.frame():
        page.line(f"for {page.names.define(stmt.loop_var, stmt.loop_var.name)} in {head}:")
        _loop_body(page, stmt.body, nest)


def _loop_body(page: Page, body: tir.Stmt, nest: Sequence[tir.For]) -> None:
    page.loops.extend(nest)
    _suite(page, body)
    del page.loops[len(page.loops) - len(nest) :]


def _is_plain(stmt: tir.For) -> bool:
    plain = stmt.kind is ForKind.SERIAL and not stmt.annotations and stmt.step is None and stmt.thread is None
    return plain and isinstance(stmt.min, tir.IntImm) and stmt.min.value == 0 and stmt.min.dtype == stmt.extent.dtype


def _grid(stmt: tir.For) -> list[tir.For]:
    """The nest of plain loops that starts here, no extent depending on a variable of the nest."""
    nest = [stmt]
    if not _is_plain(stmt):
        return nest
    inner, inside = stmt.body, {id(stmt.loop_var)}
    while isinstance(inner, tir.For) and _is_plain(inner):
        if id(inner.loop_var) in inside or any(id(node) in inside for node in walk(inner.extent)):
            break
        nest.append(inner)
        inside.add(id(inner.loop_var))
        inner = inner.body
    return nest


_LOOPS = {
    ForKind.SERIAL: "T.serial",
    ForKind.PARALLEL: "T.parallel",
    ForKind.VECTORIZED: "T.vectorized",
    ForKind.UNROLLED: "T.unroll",
    ForKind.THREAD_BINDING: "T.thread_binding",
}


def _loop_head(page: Page, stmt: tir.For) -> str:
    from_zero = isinstance(stmt.min, tir.IntImm) and stmt.min.value == 0 and stmt.step is None
    stop = end_text(page, stmt.min, stmt.extent)
    parts = [stop] if from_zero else [expr_text(page, stmt.min), stop]
    if stmt.thread is not None:
        parts.append(f"thread={string_text(stmt.thread.tag)}")
    if stmt.annotations:
        parts.append(f"annotations={attribute_text(page, stmt.annotations)}")
    plain = stmt.kind is ForKind.SERIAL and not stmt.annotations
    if page.oldest and stmt.step is None:
        plain = False  # `T.serial(4)`
    if stmt.step is not None:
        parts.append(f"{'' if plain else 'step='}{expr_text(page, stmt.step)}")
    return f"{'range' if plain else _LOOPS[stmt.kind]}({', '.join(parts)})"


# ----------------------------------------------------------------------------------------------- branches


CHAIN = 8
"""Decision: TVM nests an `if` in `else`, at any depth; Python has a limit, so long chains continue by `elif`."""


def _if(page: Page, stmt: tir.IfThenElse) -> None:
    word, here = "if", stmt
    while True:
        page.line(f"{word} {expr_text(page, here.condition)}:")
        _suite(page, here.then_case)
        if here.else_case is None:
            return
        if not isinstance(here.else_case, tir.IfThenElse) or not _is_long(here):
            page.line("else:")
            _suite(page, here.else_case)
            return
        word, here = "elif", here.else_case


def _is_long(stmt: tir.IfThenElse) -> bool:
    here: tir.Stmt | None = stmt
    for _ in range(CHAIN):
        if not isinstance(here, tir.IfThenElse):
            return False
        here = here.else_case
    return True


# ---------------------------------------------------------------------------------------------- attributes


def _is_launch(page: Page, stmt: tir.AttrStmt) -> bool:
    """Whether the attribute is the extent of a thread axis that is named here first, or declared for that."""
    thread = stmt.node
    if stmt.key != "thread_extent" or not isinstance(thread, tir.ThreadVar) or thread.var is None:
        return False
    value, dom = stmt.value, thread.dom
    fits = dom is not None and dom.extent is value and isinstance(dom.min, tir.IntImm) and dom.min.value == 0
    fits = fits and thread.var.dtype == getattr(value, "dtype", None)
    return fits and (id(thread.var) in page.threads or page.names.get(thread.var) is None)


def _declared_threads(page: Page, stmt: tir.AttrStmt) -> None:
    """Declare the variable of a thread axis that is written out."""
    if isinstance(stmt.node, tir.ThreadVar) and stmt.node.var is not None and page.names.get(stmt.node.var) is None:
        var = stmt.node.var
        page.names.define(var, var.name)
        page.line(variable_text(page, var))


def _attr_text(page: Page, stmt: tir.AttrStmt) -> str:
    hint = hint_text(page, stmt)
    if hint:
        return hint
    key, value = string_text(stmt.key), attribute_text(page, stmt.value)
    if stmt.node is None:
        return f"T.attr({{{key}: {value}}})"
    return f"T.attr({attribute_text(page, stmt.node)}, {key}, {value})"


def _launch_text(page: Page, thread: tir.ThreadVar, value: tir.Attr) -> str:
    declared = thread.var is not None and id(thread.var) in page.threads
    axis = expr_text(page, thread.var) if declared and thread.var is not None else string_text(thread.tag)
    return f"T.launch_thread({axis}, {_extent_text(page, value)})"


def _extent_text(page: Page, value: tir.Attr) -> str:
    return expr_text(page, value) if isinstance(value, tir.Expr) else attribute_text(page, value)


def _flat_attr(page: Page, stmt: tir.AttrStmt) -> None:
    """The attribute as a line that speaks for the rest of the suite."""
    if _is_launch(page, stmt) and isinstance(stmt.node, tir.ThreadVar) and stmt.node.var is not None:
        text, var = _launch_text(page, stmt.node, stmt.value), stmt.node.var
        page.line(text if id(var) in page.threads else f"{page.names.define(var, var.name)} = {text}")
    else:
        _declared_threads(page, stmt)
        page.line(_attr_text(page, stmt))
    write_body(page, stmt.body)


def _attr(page: Page, stmt: tir.AttrStmt) -> None:
    if _is_launch(page, stmt) and isinstance(stmt.node, tir.ThreadVar) and stmt.node.var is not None:
        text, var = _launch_text(page, stmt.node, stmt.value), stmt.node.var
        with page.names.frame():
            named = "" if id(var) in page.threads else f" as {page.names.define(var, var.name)}"
            page.line(f"with {text}{named}:")
            _suite(page, stmt.body)
        return
    _declared_threads(page, stmt)
    page.line(f"with {_attr_text(page, stmt)}:")
    _suite(page, stmt.body)


# ------------------------------------------------------------------------------------------------- blocks


def _block(page: Page, stmt: tir.SBlockRealize) -> None:
    page.line(f"with {page.spelled('T.sblock')}({string_text(stmt.block.name)}):")
    with page.block():
        write_block_body(page, stmt)


def write_block_body(page: Page, stmt: tir.SBlockRealize) -> None:
    """What stands inside of a block."""
    block = stmt.block
    _axes(page, stmt)
    if not (isinstance(stmt.predicate, tir.IntImm) and stmt.predicate.value == 1):
        page.line(f"T.where({expr_text(page, stmt.predicate)})")
    for key, regions in (("reads", block.reads), ("writes", block.writes)):
        if regions is not None:
            page.line(f"T.{key}({', '.join(region_text(page, region) for region in regions)})")
    if block.annotations:
        page.line(f"{page.spelled('T.sblock_attr')}({attribute_text(page, block.annotations)})")
    for buffer in block.alloc_buffers:
        text = block_alloc_text(page, buffer)
        page.line(f"{page.names.define(buffer, buffer.name)} = {text}")
    for match in block.match_buffers:
        text = match_region_text(page, match)
        page.line(f"{page.names.define(match.buffer, match.buffer.name)} = {text}")
    if block.init is not None:
        page.line("with T.init():")
        _suite(page, block.init)
    write_body(page, block.body)


_LETTERS = {IterKind.SPATIAL: "S", IterKind.REDUCE: "R", IterKind.SCAN: "C", IterKind.OPAQUE: "O"}


def _axes(page: Page, stmt: tir.SBlockRealize) -> None:
    """The axes; neighbours bound to whole loops are put together. Fails: RM206 where one has no binding."""
    axes, values = len(stmt.block.iter_vars), len(stmt.iter_values)
    if axes != values:
        raise fail(ARITY, f"the block `{stmt.block.name}` has {axes} axes and {values} bindings", stmt.span)
    run: list[tuple[tir.IterVar, tir.Expr]] = []
    for axis, value in zip(stmt.block.iter_vars, stmt.iter_values, strict=True):
        if _is_whole_loop(page, axis, value):
            run.append((axis, value))
            continue
        _axis_run(page, run)
        run = []
        _axis(page, axis, value)
    _axis_run(page, run)


def _axis_run(page: Page, run: list[tuple[tir.IterVar, tir.Expr]]) -> None:
    if len(run) == 1:
        _axis(page, *run[0])
    elif run:
        letters = "".join(_LETTERS[axis.kind] for axis, _ in run)
        values = ", ".join(expr_text(page, value) for _, value in run)
        names = ", ".join(page.names.define(axis.var, axis.var.name) for axis, _ in run)
        page.line(f'{names} = T.axis.remap("{letters}", [{values}])')


def _axis(page: Page, axis: tir.IterVar, value: tir.Expr) -> None:
    low, extent = axis.dom.min, axis.dom.extent
    if isinstance(low, tir.IntImm) and low.value == 0:
        dom = expr_text(page, extent)
    else:
        dom = f"({expr_text(page, low)}, {end_text(page, low, extent)})"
    text = f"T.axis.{axis.kind.value}({dom}, {expr_text(page, value)})"
    page.line(f"{page.names.define(axis.var, axis.var.name)} = {text}")


def _is_whole_loop(page: Page, axis: tir.IterVar, value: tir.Expr) -> bool:
    loop = next((item for item in reversed(page.loops) if item.loop_var is value), None)
    return loop is not None and _same(loop.min, axis.dom.min) and _same(loop.extent, axis.dom.extent)


def _same(a: tir.Expr, b: tir.Expr) -> bool:
    return a is b or structural_equal(a, b)
