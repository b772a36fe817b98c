"""Two texts of TVMScript, compared by structure; what a generation says in another way is taken away, and told.

| taken away                                  | because                                               |
|---------------------------------------------|-------------------------------------------------------|
| that a function is private, `global_symbol` | 2022 writes it as attributes                          |
| `layout_free_buffers`                       | a hint to TVM's tuner, which changes no result        |
| a shape, where the chapter prints the rank  | TVM of 2022 deduced no more; refmlc deduces the shape |
| 64 bits of sizes in TensorIR functions      | sizes of 2022 had 32 bits                             |
| the name of a separate function    | each generation gives it another                      |
| the key of constants that are not printed   | it was called `relay.Constant`                        |

Nothing is taken away where the texts are equal without it.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace

from refmlc.diag import RefmlcError
from refmlc.lang.ir import IRModule, relax, tir
from refmlc.lang.ir.equal import first_difference
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.types import TensorType
from refmlc.lang.ir.visit import rewrite, walk
from refmlc.lang.script import read
from refmlc.lang.script.spellings import Generation
from refmlc.tvm.former import narrow

HINTS = ("global_symbol", "layout_free_buffers")


def is_script(text: str) -> bool:
    """Whether a text is TVMScript."""
    return any(mark in text for mark in ("ir_module\n", "@T.prim_func", "@R.function"))


def structure_of(chapter: str, here: str, generation: Generation) -> tuple[list[str], str]:
    """The parts removed to make the two equal, and the remaining difference; empty if there is none."""
    del generation  # both texts say it themselves
    try:
        chapter_module, our_module = read(_dedented(chapter), "chapter"), read(_dedented(here), "here")
    except RefmlcError as bad:
        return [], f"one of the texts is not read: {bad.diagnostic.message}"
    reasons: list[str] = []
    if len(chapter_module.functions) == len(our_module.functions) == 1 and [*chapter_module.functions] != [
        *our_module.functions
    ]:
        reasons.append("the name of a separate function")
        chapter_module = replace(
            chapter_module, functions=dict(zip(our_module.functions, chapter_module.functions.values(), strict=True))
        )
    for reason, change in _CHANGES:
        difference = first_difference(chapter_module, our_module)
        if difference is None:
            return _with_names(reasons, chapter_module, our_module)
        changed = change(chapter_module, our_module)
        if (
            first_difference(changed[1], our_module) is not None
            or first_difference(changed[0], chapter_module) is not None
        ):
            reasons.append(reason)
        chapter_module, our_module = changed
    difference = first_difference(chapter_module, our_module)
    return _with_names(reasons, chapter_module, our_module) if difference is None else (reasons, str(difference))


def _with_names(reasons: list[str], chapter_module: IRModule, our_module: IRModule) -> tuple[list[str], str]:
    """The reasons, with that of names, where those of variables, buffers or blocks are others."""
    same = all(_names(func) == _names(our_module.functions[name]) for name, func in chapter_module.functions.items())
    return (reasons if same else [*reasons, "names"]), ""


def _names(func: Node) -> list[str]:
    return [node.name for node in walk(func) if isinstance(node, tir.Var | tir.Buffer | tir.SBlock | relax.Var)]


def _dedented(text: str) -> str:
    """The text without the indentation that all lines but the first have: as a page shows highlighted text."""
    first, *rest = text.strip("\n").split("\n")
    depth = min((len(line) - len(line.lstrip()) for line in rest if line.strip()), default=0)
    return "\n".join([first.lstrip(), *(line[depth:] for line in rest)]) + "\n"


Change = Callable[[IRModule, IRModule], tuple[IRModule, IRModule]]


def _each(change: Callable[[Node], Node]) -> Change:
    """The same change of both."""
    return lambda a, b: (_changed(a, change), _changed(b, change))


def _changed(module: IRModule, change: Callable[[Node], Node]) -> IRModule:
    functions = {name: rewrite(func, change) for name, func in module.functions.items()}
    return replace(module, functions=functions)


def _plain(node: Node) -> Node:
    if isinstance(node, tir.PrimFunc):
        return replace(node, private=False, attrs=_without_hints(node.attrs))
    if isinstance(node, relax.Function):
        return replace(node, private=False, attrs=_without_hints(node.attrs))
    return node


def _without_hints(attrs: Mapping[str, tir.Attr]) -> Mapping[str, tir.Attr]:
    return {key: value for key, value in attrs.items() if key not in HINTS}


def _keyless(node: Node) -> Node:
    return replace(node, key="") if isinstance(node, relax.MetadataRef) else node


def _ranks(chapter_module: IRModule, our_module: IRModule) -> tuple[IRModule, IRModule]:
    """Ours with return types of which the chapter prints the rank alone, or nothing."""
    functions = dict(our_module.functions)
    for name, func in functions.items():
        chapter_func = chapter_module.functions.get(name)
        if isinstance(func, relax.Function) and isinstance(chapter_func, relax.Function):
            functions[name] = replace(func, ret_ty=_no_more(func.ret_ty, chapter_func.ret_ty))
    return chapter_module, replace(our_module, functions=functions)


def _no_more(our_type: object, chapter_type: object) -> "TensorType | None":
    """The type of ours, saying no more than theirs."""
    match our_type, chapter_type:
        case TensorType(shape=shape, dtype=dtype), TensorType(shape=None, ndim=ndim) if shape is not None:
            return TensorType(None, dtype, ndim) if ndim in (-1, len(shape)) else our_type
        case _, None:
            return None
        case TensorType(), _:
            return our_type
        case _:
            return None


def _narrowed(chapter_module: IRModule, our_module: IRModule) -> tuple[IRModule, IRModule]:
    def narrowed(module: IRModule) -> IRModule:
        functions = {
            name: rewrite(func, narrow) if isinstance(func, tir.PrimFunc) else func
            for name, func in module.functions.items()
        }
        return replace(module, functions=functions)

    return narrowed(chapter_module), narrowed(our_module)


_CHANGES: tuple[tuple[str, Change], ...] = (
    ("what a function is, as attributes of 2022", _each(_plain)),
    ("the key of constants", _each(_keyless)),
    ("the rank alone is printed", _ranks),
    ("sizes of 32 bits", _narrowed),
)
