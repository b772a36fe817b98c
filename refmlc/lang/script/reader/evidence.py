"""Which generation of the language a text or a function shows itself to be written in.

| generation | evidence                                                                                         |
|------------|--------------------------------------------------------------------------------------------------|
| 0.27       | `tirx`, `T.sblock…`, `T.let[…]`, `x: T.let`, `TypeVar`, `s_tir=`, `out_ty=`, `ty_args=`, `R.Any` |
| 2023       | `tir as T`, `T.block…`, `T.Buffer[…]`, `T.let(…)`, `T.allocate`, `out_sinfo=`, `R.Object` …      |

The first row wins. What reading needs does not tell 2022 from 2023; a static rule does (`is_of_2022`).
"""

import ast

from refmlc.diag import Source
from refmlc.lang.script.reader.syntax import any_of, every_node, may_name, parsed
from refmlc.lang.script.spellings import Generation

_NEW = frozenset(("sblock", "sblock_attr", "sblock_alloc_buffer", "Any", "tirx"))
_OLD = frozenset(
    ("block", "block_attr", "LetStmt", "Object", "allocate", "realize", "preflattened_buffer", "buffer_decl")
)
_NEW_KEYWORDS = frozenset(("s_tir", "out_ty", "ty_args"))
_OLD_KEYWORDS = frozenset(("out_sinfo", "sinfo_args"))
_NEW_NAMES = any_of({*_NEW, *_NEW_KEYWORDS, "TypeVar", "let"})
_OLD_NAMES = any_of({*_OLD, *_OLD_KEYWORDS, "tir", "Buffer", "let"})


def generation_of(tree: ast.AST, text: str) -> Generation | None:
    """The generation that the names in `tree`, which is of `text`, show; None when they show none."""
    new, old = may_name(text, _NEW_NAMES), False
    if not new and not may_name(text, _OLD_NAMES):
        return None
    for node in every_node(tree):
        if old and not new:
            break
        match node:
            case ast.Attribute(value=ast.Name(id="T" | "R" | "tvm"), attr=attr):
                if attr in _NEW:
                    return "0.27"
                old = old or attr in _OLD
            case ast.keyword(arg=str(arg)):
                if arg in _NEW_KEYWORDS:
                    return "0.27"
                old = old or arg in _OLD_KEYWORDS
            case ast.alias(name=name):
                if name in ("tirx", "tvm.tirx", "tvm.script.tirx", "TypeVar"):
                    return "0.27"
                old = old or name in ("tir", "tvm.script.tir")
            case ast.Subscript(value=ast.Attribute(value=ast.Name(id="T"), attr="Buffer")):
                old = True
            case ast.Call(func=ast.Attribute(value=ast.Name(id="T"), attr="let")):
                old = True
            case ast.Subscript(value=ast.Attribute(value=ast.Name(id="T"), attr="let")):
                return "0.27"
            case ast.AnnAssign(annotation=ast.Attribute(value=ast.Name(id="T"), attr="let")):
                return "0.27"
    return "2023" if old else None


def is_of_2022(source: Source | None) -> bool:
    """Whether a text shows what only TVM of 2022 wrote: `@tvm.script.ir_module`, `T.Buffer[…]`, `Tensor((n,), …)`."""
    if source is None:
        return False
    tree = parsed(source)
    if generation_of(tree, source.text) == "0.27":
        return False
    for node in every_node(tree):
        match node:
            case ast.Attribute(value=ast.Attribute(value=ast.Name(id="tvm"), attr="script"), attr="ir_module"):
                return True
            case ast.Subscript(value=ast.Attribute(value=ast.Name(id="T"), attr="Buffer")):
                return True
            case ast.Call(func=ast.Name(id="Tensor")):
                return True
    return False
