"""Names: short ones, by the order in which things are met.

| named               | names                 |
|---------------------|-----------------------|
| buffers             | A, B, C …             |
| variables of loops  | i, j, k, l, i1 …      |
| axes of blocks      | vi, vj, vk, vl, vi1 … |
| other numbers       | n, m, p, q, n1 …      |
| values of Relax     | x, y, z, w, x1 …      |
| blocks but the root | b                     |
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from refmlc.lang.ir import IRModule, relax, tir, types
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.visit import substitute, walk
from refmlc.oracle.reduce.subject import Edit, Function, Subject

LETTERS = {"buffer": "ABCDEFGH", "loop": "ijkl", "axis": "ijkl", "number": "nmpq", "value": "xyzw"}


def short_names(subject: Subject) -> Iterator[Edit]:
    """All names of the module at once, then those of one function."""
    yield lambda: subject.with_module(
        replace(subject.module, functions={name: renamed(each) for name, each in subject.module.functions.items()})
    )
    for name, function in subject.module.functions.items():
        yield partial(_with_short_names, subject, name, function)


def _with_short_names(subject: Subject, name: str, function: Function) -> Subject:
    return subject.with_function(name, renamed(function))


def oddly_named(module: IRModule) -> int:
    """How many things have another name than they would be given."""
    return sum(
        getattr(node, "name", name) != name
        for function in module.functions.values()
        for node, name in short_name_table(function).items()
    )


def renamed(function: Function) -> Function:
    """The function with its names replaced: leaves first, since a buffer holds the variables of its shape."""
    for kind in (tir.Var, tir.Buffer, relax.Var, tir.SBlock):
        names = short_name_table(function)
        table: dict[Node, Node] = {}
        for node, name in names.items():
            if isinstance(node, kind) and getattr(node, "name", name) != name:
                table[node] = replace(node, name=name)
        function = substitute(function, table)
    return function


def short_name_table(function: Function) -> dict[Node, str]:
    """The names that things get."""
    names: dict[Node, str] = {}
    counts = dict.fromkeys(LETTERS, 0)
    unchanged: set[Node] = set()

    def give(node: Node, kind: str, prefix: str = "") -> None:
        if node not in names and node not in unchanged:
            letters, number = LETTERS[kind], counts[kind]
            counts[kind] += 1
            names[node] = f"{prefix}{letters[number % len(letters)]}{number // len(letters) or ''}"

    if isinstance(function, tir.PrimFunc):
        for param in function.params:
            buffer = function.buffer_map.get(param)
            if buffer is not None:
                give(buffer, "buffer")
                unchanged.add(param)
    for node in walk(function):
        match node:
            case tir.For(loop_var):
                give(loop_var, "loop")
            case tir.IterVar(var):
                give(var, "axis", "v")
            case tir.Buffer():
                give(node, "buffer")
            case relax.Var(ty=types.PrimType(value=tir.Var() as own)):
                unchanged.update((node, own))
            case relax.Var():
                give(node, "value")
            case tir.Var():
                give(node, "number")
            case tir.SBlock(name) if name != "root":
                names[node] = "b"
    return names
