"""What is read and shown and has no meaning yet: the constructs of TIRx, by name. Who executes refuses them by it."""

from refmlc.lang.ir import tir, tirx
from refmlc.lang.ir.tirx import DEVICE_ENTRY

SPACES = {"thread": "tile", "warpgroup": "wg"}


def unexecuted(node: tir.Stmt | tir.Buffer) -> str:
    """The construct of TIRx that a statement or a buffer itself is; empty: it is none."""
    match node:
        case tirx.ScopeIdDef(kind=kind):
            return f"T.{kind}"
        case tirx.TilePrimitiveCall(op=op, scope=scope):
            return f"T.{SPACES.get(scope, scope)}.{op}"
        case tir.AttrStmt(key=key) if key == DEVICE_ENTRY:
            return "T.device_entry"
        case tir.Buffer(layout=tirx.TileLayout()):
            return "T.TileLayout"
        case tir.Buffer(layout=tirx.ComposeLayout()):
            return "T.ComposeLayout"
        case tir.Buffer(allocated_addr=addresses) if addresses:
            return "allocated_addr"
        case _:
            return ""


def refusal(node: tir.Stmt | tir.Buffer) -> str:
    """The sentence that says so; empty: there is nothing to refuse."""
    name = unexecuted(node)
    owner = f" of `{node.name}`" if isinstance(node, tir.Buffer) else ""
    return f"`{name}`{owner} is not executed: it is of TIRx, whose execution refmlc does not define yet" if name else ""
