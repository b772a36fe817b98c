"""Blocks that failed, and why that is no failure: they depend on what the document leaves to the reader, or quote.

| a block that failed                                                          | and is                          |
|------------------------------------------------------------------------------|---------------------------------|
| uses a name that an excerpt before it defines, and no block since then       | a step after an exercise        |
| repeats lines of a block before it: of its inside, or names are missing here | a quotation                     |
| names what no block before it defines, nor may have imported by a star       | a piece of a program            |
| calls `T.block`, `T.axis` … outside of a function                            | the body of a function          |

The last three apply only to blocks that a document leaves unmarked where it marks others as executed. Nothing here
looks at a block that ran, and the error stays in the reason.
"""

import ast
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from refmlc.tools.course.document import Block
from refmlc.tvm.session import Cell

_NAME_ERROR = re.compile(r"NameError: name '(\w+)' is not defined")
_INSIDE = frozenset(("block", "sblock", "axis", "init", "grid", "serial", "reads", "writes"))


@dataclass(frozen=True)
class UnfinishedBlock:
    """Why a block that failed is an excerpt. `leaves`: what it would define is not there for the blocks after it."""

    reason: str
    leaves: bool = False


def piece(block: Block, why: str, before: Sequence[Block], left: Collection[int]) -> UnfinishedBlock | None:
    """Why a block that failed is an excerpt, or None. `left`: the numbers of blocks that define nothing."""
    tree = _tree(block)
    if tree is None:
        return None
    for name in sorted(_loaded(tree)):
        owner = next((one for one in reversed(before) if name in defined(one)), None)
        if owner is not None and owner.number in left:
            return UnfinishedBlock(
                f"uses `{name}`, which the excerpt at line {owner.line} leaves out; as it stands: {why}", True
            )
    if block.marked or not any(one.marked for one in before):
        return None
    missing = _NAME_ERROR.search(why)
    source = _source(block, before, inside=missing is None)
    if source is not None:
        return UnfinishedBlock(f"repeats lines of the block at line {source.line}; as it stands: {why}")
    if (
        missing is not None
        and missing[1] in _loaded(tree)
        and not any(missing[1] in defined(one) or _has_star(one) for one in before)
    ):
        return UnfinishedBlock(f"names `{missing[1]}`, which no block defines")
    return UnfinishedBlock(f"the body of a function; as it stands: {why}") if _is_body(tree) else None


def defined(block: Block) -> set[str]:
    """The names that a block defines at its top; those that it seems to define, where it is no Python."""
    tree = _tree(block)
    if tree is None:
        return set(re.findall(r"^(?:def |class )?(\w+)\s*(?:=[^=]|\()", block.text, re.MULTILINE))
    names: set[str] = set()
    for node in _outside(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                names.add(name)
            case ast.Import(names=imported) | ast.ImportFrom(names=imported):
                names |= {(one.asname or one.name).partition(".")[0] for one in imported}
    return names


def _outside(tree: ast.AST) -> list[ast.AST]:
    """The nodes that are in no definition, and the definitions."""
    nodes: list[ast.AST] = []
    waiting = list(ast.iter_child_nodes(tree))
    while waiting:
        node = waiting.pop()
        nodes.append(node)
        if not isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Lambda):
            waiting.extend(ast.iter_child_nodes(node))
    return nodes


def _tree(block: Block) -> ast.Module | None:
    try:
        return Cell(block.text).parsed()
    except SyntaxError:
        return None


def _loaded(tree: ast.Module) -> set[str]:
    """The names that a block uses and binds nowhere itself, not even in a function."""
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    bound = {node.id for node in names if not isinstance(node.ctx, ast.Load)}
    bound |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    bound |= {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    return {node.id for node in names} - bound


def _source(block: Block, before: Sequence[Block], *, inside: bool) -> Block | None:
    """The block whose lines all of these are, indented ones where `inside`."""
    lines = _lines(block)
    return next((one for one in before if lines and lines <= _lines(one, inside=inside)), None)


def _lines(block: Block, *, inside: bool = False) -> set[str]:
    texts = [line.partition("#")[0] for line in block.text.splitlines()]
    return {text.strip() for text in texts if text.strip() and (text[0] == " " or not inside)}


def _has_star(block: Block) -> bool:
    """Whether the block imports names that its text does not show."""
    tree = _tree(block)
    nodes = [] if tree is None else [*ast.walk(tree)]
    return any(isinstance(node, ast.ImportFrom) and any(one.name == "*" for one in node.names) for node in nodes)


def _is_body(tree: ast.Module) -> bool:
    return any(
        isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "T"
        and node.attr in _INSIDE
        for node in _outside(tree)
    )
