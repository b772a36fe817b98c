"""The constructs of TIRx by name. Only the interpreter executes them; who else executes refuses them by it.

C has loops in the place of a `T.device_entry()` that is a launch of threads (`refmlc.native.analysis.turns`).
"""

from refmlc.lang.ir import tir, tirx
from refmlc.lang.ir.tirx import DEVICE_ENTRY

SPACES = {"thread": "tile", "warpgroup": "wg"}


def unexecuted(node: tir.Stmt | tir.Buffer) -> str:
    """The construct of TIRx that a statement or a buffer itself is; empty: it is none."""
    match node:
        case tirx.ScopeIdDef(kind=kind):
            return f"T.{kind}"
        case tirx.TilePrimitiveCall():
            return name_of(node)
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
    return f"only the interpreter executes `{name}`{owner}, which is of TIRx" if name else ""


def name_of(call: tirx.TilePrimitiveCall) -> str:
    """A tile primitive as a text names it."""
    return f"T.{SPACES.get(call.scope, call.scope)}.{call.op}"
