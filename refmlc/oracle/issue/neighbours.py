"""Neighbours of a program: one size, dtype or option differs, and what the implementation makes of each.

| neighbour        | differs in                                                                                  |
|------------------|---------------------------------------------------------------------------------------------|
| `N = 192`        | a size: an extent of the arguments, wherever the program has the same number                |
| `float64`        | the dtype: floats of one width become floats of another, in the text and in the arguments   |
| `opt=0`          | an option of the implementation                                                             |

A neighbour that the static rules refuse, or that has no meaning, is left out: it shows nothing.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from refmlc.diag import RefmlcError
from refmlc.lang.dtypes import dtype
from refmlc.lang.ir import IRModule, tir
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.visit import rewrite
from refmlc.lang.script import show
from refmlc.lang.wellformed.reader_checks import read
from refmlc.strategies.arguments import Argument, Array, ShapeOf
from refmlc.strategies.case import Case

FLOATS = ("float16", "float32", "float64")
MOST_SIZES = 6
LARGEST = 1 << 12


@dataclass(frozen=True)
class Neighbour:
    """A neighbour by its name. `option` is added to the implementation; the case is the program to run."""

    name: str
    case: Case
    option: str = ""


def neighbours(case: Case, *, options: tuple[str, ...] = ()) -> Iterator[Neighbour]:
    """The neighbours of a case that obey the static rules, the nearest first."""
    yield from _sizes(case)
    yield from _dtypes(case)
    yield from (Neighbour(option, case, option) for option in options)


def _sizes(case: Case) -> Iterator[Neighbour]:
    """The program with other sizes in place of the greatest extent of its arguments."""
    extents = [extent for recipe in case.calls[0] for extent in _extents(recipe)]
    old = max(extents, default=0)
    if old < 2:
        return
    power = 1 << (old - 1).bit_length()
    sizes = [old - 1, old + 1, power // 2, power, 2 * power, 1, 2 * old]
    known = [size for size in dict.fromkeys(sizes) if 0 < size <= LARGEST and size != old]
    for size in sorted(known[:MOST_SIZES]):
        neighbour = _read(show(with_size(case.module, old, size), show_meta=True))
        if neighbour is not None:
            calls = tuple(tuple(_resized(recipe, old, size) for recipe in call) for call in case.calls)
            yield Neighbour(f"{size} for {old}", Case(neighbour, case.func, calls, name=case.name))


def with_size(module: IRModule, old: int, new: int) -> IRModule:
    """The module with another number wherever it has the integer `old`."""

    def changed(node: Node) -> Node:
        match node:
            case tir.IntImm(value=value) if value == old:
                return replace(node, value=new)
            case _:
                return node

    functions = {name: rewrite(function, changed) for name, function in module.functions.items()}
    return replace(module, functions=functions, source=None)


def _extents(recipe: Argument) -> tuple[int, ...]:
    match recipe:
        case Array(shape=shape):
            return shape
        case ShapeOf(values=values):
            return values
    return ()


def _resized(recipe: Argument, old: int, new: int) -> Argument:
    match recipe:
        case Array(shape=shape, pool=pool):
            changed = tuple(new if extent == old else extent for extent in shape)
            return replace(recipe, shape=changed, strides=(), pool=pool)
        case ShapeOf(values=values):
            return ShapeOf(tuple(new if extent == old else extent for extent in values))
    return recipe


def _dtypes(case: Case) -> Iterator[Neighbour]:
    """The program with floats of another width in place of those that its arguments have."""
    kinds = {str(recipe.dtype) for recipe in case.calls[0] if isinstance(recipe, Array)} & {*FLOATS}
    if len(kinds) != 1:
        return
    (old,) = kinds
    text = show(case.module, show_meta=True)
    for new in FLOATS:
        neighbour = None if new == old else _read(re.sub(rf"\b{old}\b", new, text))
        if neighbour is not None:
            calls = tuple(tuple(_cast(recipe, old, new) for recipe in call) for call in case.calls)
            yield Neighbour(new, Case(neighbour, case.func, calls, name=case.name))


def _cast(recipe: Argument, old: str, new: str) -> Argument:
    return replace(recipe, dtype=dtype(new)) if isinstance(recipe, Array) and str(recipe.dtype) == old else recipe


def _read(text: str) -> IRModule | None:
    try:
        return read(text, "neighbour.py")
    except RefmlcError:
        return None
