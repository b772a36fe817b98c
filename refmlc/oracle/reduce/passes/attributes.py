"""Attributes of functions, and what else is written at their heads, dropped: all, then one by one; symbolic sizes.

| what                                | becomes                                     |
|-------------------------------------|---------------------------------------------|
| attributes                          | none                                        |
| `private`, a declared return        | not                                         |
| `pure=False`                        | pure                                        |
| a symbolic dimension                | a constant: a size of an argument, 1, 2, 3  |
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from refmlc.lang.ir import relax, tir
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.visit import rewrite, walk
from refmlc.lang.ops.evaluate import known
from refmlc.oracle.reduce.passes.extents import sizes_of
from refmlc.oracle.reduce.passes.literals import number
from refmlc.oracle.reduce.subject import Edit, Function, Subject, graphs, prim_funcs

SIZES = (1, 2, 3, 4)


def plain_functions(subject: Subject) -> Iterator[Edit]:
    """Functions without attributes, private marks, declared returns."""
    for name, function in subject.module.functions.items():
        for plain in _plainer(function):
            yield partial(subject.with_function, name, plain)
        if not isinstance(function, relax.ExternFunc):
            for key in function.attrs:
                less = {other: value for other, value in function.attrs.items() if other != key}
                yield partial(subject.with_function, name, replace(function, attrs=less))


def _plainer(function: Function) -> Iterator[Function]:
    match function:
        case tir.PrimFunc(attrs=attrs, private=private):
            if attrs:
                yield replace(function, attrs={})
            if private:
                yield replace(function, private=False)
            if function.ret_dtype is not None:
                yield replace(function, ret_dtype=None)
        case relax.Function(attrs=attrs, private=private):
            if attrs:
                yield replace(function, attrs={})
            if private:
                yield replace(function, private=False)
            if not function.pure:
                yield replace(function, pure=True)
            if function.ret_ty is not None:
                yield replace(function, ret_ty=None)
        case _:
            pass


def constant_dimensions(subject: Subject) -> Iterator[Edit]:
    """A variable of shapes is a constant; what is computed of constants in a graph is one."""
    sizes = dict.fromkeys((*sizes_of(subject.calls), *SIZES))
    functions: list[tuple[str, tir.PrimFunc | relax.Function]] = [*prim_funcs(subject), *graphs(subject)]
    for name, function in functions:
        for var in _dimensions(function):
            for size in sizes:
                yield partial(subject.with_nodes, name, {var: number(var.dtype, size)})
    for name, graph in graphs(subject):
        yield partial(subject.with_function, name, rewrite(graph, _folded))


def _folded(node: Node) -> Node:
    """An operator on integer constants as its value."""
    match node:
        case tir.Apply(args=args, dtype=dtype) if dtype.is_integer and all(isinstance(arg, tir.IntImm) for arg in args):
            value = known(node)
            return node if value is None else number(dtype, value)
        case _:
            return node


def _dimensions(function: tir.PrimFunc | relax.Function) -> list[tir.Var]:
    """The variables that nothing in the function defines but a shape."""
    defined: set[Node] = set(function.params)
    variables: dict[tir.Var, None] = {}
    for node in walk(function):
        match node:
            case tir.For(loop_var):
                defined.add(loop_var)
            case tir.IterVar(var) | tir.Bind(var) | tir.Let(var):
                defined.add(var)
            case tir.Var() if node.dtype.is_integer:
                variables[node] = None
            case _:
                pass
    return [var for var in variables if var not in defined]
