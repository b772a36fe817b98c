"""Statements as lines of Python."""

from collections.abc import Sequence
from typing import assert_never

from refmlc.lang.ir import tir
from refmlc.lang.ir.scopes import is_thread
from refmlc.oracle.implementations.loops import lanes
from refmlc.oracle.implementations.loops.blocks import realize
from refmlc.oracle.implementations.loops.calls import trap
from refmlc.oracle.implementations.loops.expressions import place, source
from refmlc.oracle.implementations.loops.memory import view
from refmlc.oracle.implementations.loops.operators import NotTaken
from refmlc.oracle.implementations.loops.writer import Writer

LAUNCHES = ("thread_extent", "virtual_thread")


def write(writer: Writer, node: tir.Stmt) -> None:
    """Write `node`. Fails: `NotTaken`."""
    match node:
        case tir.Bind(var=var, value=value):
            bound = source(writer, value)
            writer.line(f"{writer.declare(var)} = {bound}")
        case tir.AssertStmt(condition=condition, message=message, kind=kind):
            trap_message = writer.bind("said", f"{kind}: {''.join(message)}")
            writer.line(f"if not {source(writer, condition)}: {writer.bind('trap', trap)}({trap_message})")
        case tir.For():
            tag = node.tag
            alike = [] if node.thread is None or node.thread.var is None else [node.thread.var]
            step = [] if node.step is None else [node.step]
            _loop(writer, tag, (node.loop_var, *alike), [node.min, node.extent, *step], node.body)
        case tir.While(condition=condition, body=body):
            writer.line(f"while {writer.meter}.tick() and {source(writer, condition)}:")
            _inside(writer, body)
        case tir.BufferStore():
            _store(writer, node)
        case tir.AllocBuffer(buffer=buffer):
            allocate(writer, buffer)
        case tir.DeclBuffer(buffer=buffer, data=data):
            _declare(writer, buffer, data)
        case tir.AttrStmt():
            _attribute(writer, node)
        case tir.SeqStmt(seq=parts):
            for part in parts:
                write(writer, part)
        case tir.IfThenElse(condition=condition, then_case=yes, else_case=no):
            writer.line(f"if {source(writer, condition)}:")
            _inside(writer, yes)
            if no is not None:
                writer.line("else:")
                _inside(writer, no)
        case tir.Evaluate(value=value):
            _evaluate(writer, value)
        case tir.Break():
            writer.line("break")
        case tir.Continue():
            writer.line("continue")
        case tir.Return(value=value):
            writer.line(f"return {source(writer, value)}")
        case tir.SBlockRealize():
            realize(writer, node, write, allocate)
        case _:
            assert_never(node)


def _inside(writer: Writer, body: tir.Stmt) -> None:
    with writer.indented():
        write(writer, body)


def _loop(writer: Writer, tag: str, variables: Sequence[tir.Var], bounds: Sequence[tir.Expr], body: tir.Stmt) -> None:
    """A loop; over a thread axis that is bound already there is nothing to go over (TIR-208)."""
    if tag in writer.threads:
        for var in variables:
            writer.vars[var] = writer.threads[tag]
        write(writer, body)
        return
    limits = ", ".join(source(writer, bound) for bound in bounds)
    name = writer.declare(variables[0], "i")
    for var in variables[1:]:
        writer.vars[var] = name
    if is_thread(tag):
        writer.threads[tag] = name
    writer.line(f"for {name} in {writer.meter}.span({limits}):")
    _inside(writer, body)
    writer.threads.pop(tag, None)


def _attribute(writer: Writer, node: tir.AttrStmt) -> None:
    match node:
        case tir.AttrStmt(node=tir.ThreadVar(tag=tag, var=tir.Var() as var), key=key) if key in LAUNCHES:
            if not isinstance(node.value, tir.Expr):
                raise NotTaken(f"the attribute `{key}` of this node")
            _loop(writer, tag, [var], [tir.IntImm(var.dtype, 0), node.value], node.body)
        case tir.AttrStmt(key=key) if key in LAUNCHES:
            raise NotTaken(f"the attribute `{key}` of this node")
        case _:
            write(writer, node.body)


def _store(writer: Writer, node: tir.BufferStore) -> None:
    array = writer.buffer(node.buffer)
    if node.buffer.dtype.kind == "handle":
        raise NotTaken("memory that holds handles")
    if isinstance(node.value, tir.Call) and node.value.callee == "undef":
        return
    value = source(writer, node.value)
    indices = [source(writer, index) for index in node.indices]
    if node.indices and node.indices[-1].dtype.is_vector:
        on = "None" if node.predicate is None else source(writer, node.predicate)
        before = "".join(f"{coordinate}, " for coordinate in indices[:-1])
        writer.line(f"{writer.bind('scatter', lanes.scatter)}({array}, ({before}), {indices[-1]}, {value}, {on})")
    elif node.predicate is not None:
        raise NotTaken("a predicate on a scalar access")
    else:
        writer.line(f"{array}[{place(indices)}] = {value}")


def allocate(writer: Writer, buffer: tir.Buffer) -> None:
    """Fresh memory for `buffer`, and its array."""
    shape, strides, offset = _form(writer, buffer)
    kind = writer.bind(f"put_dtype_{buffer.dtype}", buffer.dtype)
    array, pointer = writer.declare_buffer(buffer)
    writer.line(f"{pointer} = {writer.meter}.fresh({kind}, {shape}, {strides}, {offset})")
    writer.line(f"{array} = {writer.bind('view', view)}({pointer}, {kind}, {shape}, {strides}, {offset})")


def _declare(writer: Writer, buffer: tir.Buffer, data: tir.Expr | None) -> None:
    if data is None:
        allocate(writer, buffer)
        return
    at = source(writer, data)
    shape, strides, offset = _form(writer, buffer)
    kind = writer.bind(f"put_dtype_{buffer.dtype}", buffer.dtype)
    array, pointer = writer.declare_buffer(buffer)
    writer.line(f"{pointer} = {at}")
    writer.line(f"{array} = {writer.bind('view', view)}({pointer}, {kind}, {shape}, {strides}, {offset})")


def _form(writer: Writer, buffer: tir.Buffer) -> tuple[str, str, str]:
    """Shape, strides and offset of a buffer, all of whose variables are bound."""
    shape = "".join(f"{source(writer, extent)}, " for extent in buffer.shape)
    strides = "".join(f"{source(writer, step)}, " for step in buffer.strides)
    return f"({shape})", f"({strides})", "0" if buffer.elem_offset is None else source(writer, buffer.elem_offset)


def _evaluate(writer: Writer, value: tir.Expr) -> None:
    match value:
        case tir.Call(callee="ret", args=args):
            result = args[0] if args else None
            writer.line(f"return {source(writer, result)}" if isinstance(result, tir.Expr) else "return None")
        case _:
            writer.line(source(writer, value))
