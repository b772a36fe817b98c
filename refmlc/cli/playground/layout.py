"""The layout of a module: buffers and loops of its TensorIR functions, graphs of its Relax functions.

| part      | holds                                                                               |
|-----------|-------------------------------------------------------------------------------------|
| `graph`   | the picture as SVG (`refmlc.lang.drawing`), or empty                                |
| `buffers` | name, dtype, shape, strides, scope, and bytes where all extents are constants       |
| `loops`   | a line for each loop and block, as deep as it is nested                             |
"""

from collections.abc import Iterator, Sequence
from math import prod

from refmlc.diag.layout import plain
from refmlc.lang.drawing import graph_of, svg_of
from refmlc.lang.ir import IRModule, relax, tir
from refmlc.lang.ir.kinds import ForKind
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.visit import children, walk
from refmlc.lang.script import show

MOST_ROWS = 200
INDENT = "  "


def layout(module: IRModule) -> list[dict[str, object]]:
    """The layout of each function with a body."""
    return [
        {"function": plain(name), "graph": _graph(name, function), **_tensor_ir(function)}
        for name, function in module.functions.items()
        if not isinstance(function, relax.ExternFunc)
    ]


def _graph(name: str, function: tir.PrimFunc | relax.Function) -> str:
    """The picture of a Relax function; empty for another one, and for one that has too many boxes."""
    picture = svg_of(graph_of(function, name)) if isinstance(function, relax.Function) else ""
    return picture if picture.startswith("<svg") else ""


def _tensor_ir(function: tir.PrimFunc | relax.Function) -> dict[str, object]:
    if isinstance(function, relax.Function):
        return {"buffers": [], "loops": []}
    buffers = dict.fromkeys([*function.buffer_map.values(), *(node for node in walk(function) if _is_buffer(node))])
    rows = [_buffer(buffer) for buffer in buffers if isinstance(buffer, tir.Buffer)]
    return {"buffers": rows[:MOST_ROWS], "loops": [*_first(_loops(function.body, 0))]}


def _first(lines: Iterator[str]) -> Iterator[str]:
    """The first lines, and a sign for the rest."""
    for number, line in enumerate(lines):
        if number == MOST_ROWS:
            yield "…"
            return
        yield line


def _is_buffer(node: Node) -> bool:
    return isinstance(node, tir.Buffer)


def _buffer(buffer: tir.Buffer) -> list[str]:
    return [
        plain(text)
        for text in (
            buffer.name,
            str(buffer.dtype),
            _extents(buffer.shape),
            _extents(buffer.strides) if buffer.strides else "row-major",
            buffer.scope,
            _bytes(buffer),
        )
    ]


def _extents(extents: Sequence[tir.Expr]) -> str:
    """The extents as in TVMScript."""
    return f"({', '.join(map(_text, extents))}{',' if len(extents) == 1 else ''})"


def _text(value: tir.Expr) -> str:
    return str(value.value) if isinstance(value, tir.IntImm) else show(value)


def _bytes(buffer: tir.Buffer) -> str:
    """The bytes of the elements, packed; empty where an extent is no constant."""
    extents = [extent.value for extent in buffer.shape if isinstance(extent, tir.IntImm)]
    if len(extents) < len(buffer.shape):
        return ""
    return f"{-(-prod(extents) * buffer.dtype.bits * buffer.dtype.lanes // 8):,}"


def _loops(node: Node, depth: int) -> Iterator[str]:
    """Loops, threads and blocks below a node, in the order of the text."""
    line = _line(node)
    if line:
        yield plain(f"{INDENT * depth}{line}")
    for child in children(node):
        yield from _loops(child, depth + bool(line))


def _line(node: Node) -> str:
    """The line of a loop, a range of threads or a block; empty for another node."""
    match node:
        case tir.For(loop_var=var, extent=extent, kind=kind, thread=thread):
            tag = f" {thread.tag}" if kind is ForKind.THREAD_BINDING and thread is not None else ""
            word = "" if kind is ForKind.SERIAL else f", {kind.value.replace('_', ' ')}{tag}"
            return f"{var.name}: {_text(extent)} iterations{word}"
        case tir.While():
            return "while"
        case tir.SBlock(name=name, iter_vars=axes):
            words = ", ".join(f"{axis.var.name} {axis.kind.value} {_text(axis.dom.extent)}" for axis in axes)
            return f"block {name}: {words}" if words else f"block {name}"
        case tir.AttrStmt(key="thread_extent", node=tir.IterVar(var=var) | tir.ThreadVar(var=var), value=value):
            name = var.name if var is not None else "thread"
            return f"{name}: {show(value) if isinstance(value, Node) else value} threads"
    return ""
