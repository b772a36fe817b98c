"""Functions for a caller: their variables are their own, and what no tensor binds is an argument."""

from collections.abc import Sequence
from dataclasses import replace

from refmlc.diag.entry import entry_point
from refmlc.lang.ir import tir
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.visit import substitute, walk
from refmlc.lang.te.prim_func import create_prim_func
from refmlc.lang.te.tensor import Tensor
from refmlc.lang.te.value import Value


@entry_point
def closed_prim_func(tensors: Sequence[Tensor]) -> tuple[tir.PrimFunc, tuple[tir.Var, ...]]:
    """A private function of `tensors`, and the variables of the caller that it takes as arguments after them.

    A variable that is an extent of a tensor is bound by it; others are arguments.
    """
    bound = {extent for tensor in tensors for extent in tensor.buffer.shape if isinstance(extent, tir.Var)}
    probe = create_prim_func(tensors)
    free = [var for var in _used(probe, tensors) if var not in bound]
    func = create_prim_func([*tensors, *(Value(var) for var in free)]) if free else probe
    table: dict[Node, Node] = {var: tir.Var(var.name, var.dtype) for var in (*free, *bound)}
    return replace(substitute(func, table), private=True), tuple(free)


def _used(func: tir.PrimFunc, tensors: Sequence[Tensor]) -> list[tir.Var]:
    """The variables that the function uses and does not define itself, in the order of their first use."""
    defined: set[Node] = set(func.params)
    for node in walk(func.body):
        match node:
            case tir.For(loop_var=var):
                defined.add(var)
            case tir.IterVar(var=var) | tir.Bind(var=var) | tir.Let(var=var):
                defined.add(var)
    roots: list[Node] = [extent for tensor in tensors for extent in tensor.buffer.shape]
    variables = [node for root in (*roots, func.body) for node in walk(root) if isinstance(node, tir.Var)]
    return [var for var in dict.fromkeys(variables) if var not in defined]
