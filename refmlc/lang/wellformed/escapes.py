"""Variables of dataflow blocks that are used after them: what TVM runs though it is ill-formed (RLX-124, RM204)."""

import warnings
from collections.abc import Mapping
from dataclasses import replace

from refmlc.lang.ir import IRModule, relax
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.visit import substitute, walk


def let_out(module: IRModule, *, stacklevel: int = 3) -> IRModule:
    """`module` with variables of dataflow blocks that are used after them visible there, and one warning each."""
    functions = dict(module.functions)
    for name, func in functions.items():
        if isinstance(func, relax.Function) and (leaving := _leaving(func.body)):
            text = ", ".join(f"`{var.name}`" for var in leaving)
            warnings.warn(
                f"{text} of `{name}` is used after its dataflow block without `R.output`: accepted, as TVM does",
                UserWarning,
                stacklevel=stacklevel,
            )
            table: dict[Node, Node] = {var: replace(var, dataflow=False) for var in leaving}
            functions[name] = substitute(func, table)
    return replace(module, functions=functions)


def _leaving(body: relax.SeqExpr) -> list[relax.Var]:
    """The variables of dataflow blocks that are used after the block, in their order."""
    closed: Mapping[relax.Var, None] = {}
    escaping: dict[relax.Var, None] = {}
    for block in (*body.blocks, body.body):
        escaping |= {node: None for node in walk(block) if isinstance(node, relax.Var) and node in closed}
        if isinstance(block, relax.DataflowBlock):
            closed = {**closed, **{binding.var: None for binding in block.bindings if binding.var.dataflow}}
    return list(escaping)
