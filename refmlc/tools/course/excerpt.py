"""Blocks that are pieces of programs, not programs: why, and what they read as.

| a block that                                                         | is read as                        |
|----------------------------------------------------------------------|-----------------------------------|
| is no Python: a signature, a body left out                           | nothing                           |
| has `...` as a statement                                             | nothing                           |
| says in a comment that it is not to be run                           | nothing                           |
| calls `R.call_tir`, `R.dataflow` … outside of a function             | the body of a function of its own |
| is a function of Relax that names functions of a module shown before | a function of that module         |

A block that the document marks as executed is none of these. `pieces` has what is seen only when a block fails.
"""

import ast
import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

from refmlc.diag import RefmlcError
from refmlc.lang.script import read
from refmlc.tools.course.document import Block
from refmlc.tvm.session import Cell

_UNWANTED = re.compile(r"^# <!--(.*\bdo not run\b.*)-->", re.MULTILINE | re.IGNORECASE)
_USES = frozenset(("call_tir", "call_dps_packed", "call_packed", "dataflow"))


@dataclass(frozen=True)
class Excerpt:
    """The reason for an excerpt, and its reading; `read` empty: it is not TVMScript."""

    reason: str
    read: str = ""


def excerpt_of(block: Block, before: Sequence[Block]) -> Excerpt | None:
    """The excerpt that a block is; None for a program."""
    if block.marked:
        return None
    try:
        tree = Cell(block.text).parsed()
    except SyntaxError as bad:
        return Excerpt(f"not complete Python: {bad.msg}")
    if any(_is_ellipsis(node) for node in ast.walk(tree)):
        return Excerpt("`...` stands for omitted code")
    unwanted = _UNWANTED.search(block.text)
    if unwanted is not None:
        return Excerpt(f"the document says: {unwanted[1].strip()}")
    if any(_uses_relax(node) for node in _outside(tree)):
        return Excerpt("the body of a function", _read(wrapped(block.text, tree)))
    module = _module_of(tree, before)
    if module is not None:
        return Excerpt("a function of a module shown earlier", _read(inside(block.text, module)))
    return None


def _is_ellipsis(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and node.value.value is Ellipsis


def _outside(tree: ast.AST) -> list[ast.AST]:
    """The nodes that are in no definition."""
    nodes: list[ast.AST] = []
    waiting = list(ast.iter_child_nodes(tree))
    while waiting:
        node = waiting.pop()
        if not isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Lambda):
            nodes.append(node)
            waiting.extend(ast.iter_child_nodes(node))
    return nodes


def _uses_relax(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "R"
        and node.attr in _USES
    )


def _read(text: str) -> str:
    """How the text was read, in words."""
    try:
        read(text, "excerpt")
    except RefmlcError as bad:
        return f"not read: {bad.diagnostic.message}"
    return "read as TVMScript"


def wrapped(text: str, tree: ast.Module) -> str:
    """A function around a piece: its free names are parameters, those in shapes are shape variables."""
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    loaded = {node.id for node in names if isinstance(node.ctx, ast.Load)}
    stored = {node.id for node in names if isinstance(node.ctx, ast.Store)}
    dims = {name for node in ast.walk(tree) for name in _dimensions(node)}
    params = ", ".join(f"{name}: R.Any" for name in sorted(loaded - stored - dims - {"R", "T"}))
    declared = [f"{name} = T.int64()" for name in sorted(dims)]
    if len(tree.body) == 1 and isinstance(tree.body[0], ast.Expr):
        text = f"y = {text}"
    lines = [*declared, *text.split("\n"), "return R.tuple()"]
    return f"@R.function\ndef main({params}):\n" + textwrap.indent("\n".join(lines), "    ") + "\n"


def _dimensions(node: ast.AST) -> set[str]:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "Tensor":
        shape = node.args[0] if node.args else node
        return {inner.id for inner in ast.walk(shape) if isinstance(inner, ast.Name)}
    return set()


def _module_of(tree: ast.Module, before: Sequence[Block]) -> str | None:
    """The text of the module before that holds the functions which the one function of `tree` names."""
    if len(tree.body) != 1 or not isinstance(tree.body[0], ast.FunctionDef):
        return None
    function = tree.body[0]
    if not any(ast.unparse(one).startswith("R.function") for one in function.decorator_list):
        return None
    used = {node.id for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    for block in reversed(before):
        if "ir_module" in block.text and excerpt_of(block, ()) is None:
            for owner in ast.walk(Cell(block.text).parsed()):
                if isinstance(owner, ast.ClassDef) and used & {
                    one.name for one in owner.body if isinstance(one, ast.FunctionDef)
                }:
                    return block.text
    return None


def inside(function: str, module: str) -> str:
    """`module` with its last function replaced by `function`."""
    tree = Cell(module).parsed()
    owner = next(node for node in tree.body if isinstance(node, ast.ClassDef))
    old = [node for node in owner.body if isinstance(node, ast.FunctionDef)][-1]
    first = min(decorator.lineno for decorator in old.decorator_list) - 1
    return "\n".join(module.split("\n")[:first]) + "\n" + textwrap.indent(function, "    ")
