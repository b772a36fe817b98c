"""A node in one line, which `repr` shows: `IRModule main, gemm`, `PrimFunc gemm(A, B, C)`, `Apply A[i] + 1`."""

from refmlc.diag import RefmlcError
from refmlc.diag.layout import plain
from refmlc.lang.ir import IRModule, relax, tir
from refmlc.lang.ir.node import Node
from refmlc.lang.script.printer import show

LONGEST = 80
BROKEN = (RefmlcError, AttributeError, LookupError, TypeError, ValueError)
"""What showing a node may raise whose parts are not what they should be: such a node has a `repr` too."""


def line(node: Node) -> str:
    """The kind of `node`, and what it is."""
    try:
        words = plain(_words(node))
    except BROKEN:
        words = ""
    clipped = words if len(words) <= LONGEST else f"{words[: LONGEST - 2]} …"
    return f"{type(node).__name__} {clipped}".rstrip()


def text(node: Node) -> str:
    """The TVMScript of `node`; its line where it has none."""
    try:
        return node.script()
    except BROKEN:
        return f"<{line(node)}>"


def _words(node: Node) -> str:
    match node:
        case IRModule(functions=functions):
            return ", ".join(functions)
        case tir.PrimFunc(params=params, buffer_map=buffers):
            names = [buffers[param].name if param in buffers else param.name for param in params]
            return _signature(node, names)
        case relax.Function(params=params):
            return _signature(node, [param.name for param in params])
        case _ if isinstance(node, tir.Expr | relax.Expr):
            return _lines(node)[-1]
        case _:
            first, *rest = _lines(node)
            return f"{first} …" if rest else first


def _signature(function: "tir.PrimFunc | relax.Function", names: list[str]) -> str:
    symbol = function.attrs.get("global_symbol", "")
    return f"{symbol if isinstance(symbol, str) else ''}({', '.join(names)})"


def _lines(node: Node) -> list[str]:
    """The text of a piece without the declarations that stand before it."""
    lines = [splitline for splitline in show(node).splitlines() if splitline.strip()]
    own = [line for line in lines if not line.endswith(("= T.int32()", "= T.int64()"))]
    return own or lines
