"""The subject of a reduction: a module, alone or with arguments of calls of one function.

A pass looks at a subject and yields edits, the boldest first: each, when called, gives another subject. An edit need
not be valid: the search checks it first.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from refmlc.lang.ir import IRModule, relax, tir
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.visit import substitute
from refmlc.strategies.arguments import Argument

Function: TypeAlias = tir.PrimFunc | relax.Function | relax.ExternFunc
Calls: TypeAlias = tuple[tuple[Argument, ...], ...]


@dataclass(frozen=True)
class Subject:
    """A module; `func` is the function that `calls` call, each with its recipes of arguments."""

    module: IRModule
    func: str = ""
    calls: Calls = field(default=())

    def with_module(self, module: IRModule) -> "Subject":
        """The same calls of another module."""
        return replace(self, module=module)

    def with_function(self, name: str, function: Function) -> "Subject":
        """The same with another function `name`."""
        return replace(self, module=replace(self.module, functions={**self.module.functions, name: function}))

    def with_nodes(self, name: str, table: Mapping[Node, Node]) -> "Subject":
        """The same with nodes of function `name` replaced."""
        return self.with_function(name, substitute(self.module.functions[name], table))


Edit: TypeAlias = Callable[[], Subject]
Pass: TypeAlias = Callable[[Subject], Iterator[Edit]]


def prim_funcs(subject: Subject) -> Iterator[tuple[str, tir.PrimFunc]]:
    """The functions of TensorIR by name. Order: of the module."""
    for name, function in subject.module.functions.items():
        if isinstance(function, tir.PrimFunc):
            yield name, function


def graphs(subject: Subject) -> Iterator[tuple[str, relax.Function]]:
    """The functions of Relax by name. Order: of the module."""
    for name, function in subject.module.functions.items():
        if isinstance(function, relax.Function):
            yield name, function


def spans_of(count: int) -> Iterator[slice]:
    """Pieces of a list of `count` items: all of it, the halves, … single ones; later ones of a size first.

    Later items depend on earlier ones more often than the other way round.
    """
    length = count
    while length:
        for end in range(count, 0, -length):
            yield slice(max(end - length, 0), end)
        length //= 2
