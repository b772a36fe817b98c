"""TensorIR functions of tensor expressions as TVM of 2022 made them, where that is the generation (`REFMLC_DIALECT`).

| what                                      | in 2022                                      | else                     |
|-------------------------------------------|----------------------------------------------|--------------------------|
| inputs of a function that `emit_te` makes | `rxplaceholder`                              | as the arguments         |
| loops                                     | `i0`, `i1`, … in each nest                   | as the axes              |
| variables of blocks                       | as the axes; in `topi`'s functions `ax0` …   | `v_` and the axis        |
| sizes that are known                      | 32 bits                                      | as they are given: 64    |
| the function                              | has a `global_symbol`                        | is private               |
| the result of a Relax function            | its rank and dtype, where nobody says more   | its shape too            |

The meaning is the same.
"""

import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import count

from refmlc.lang.dtypes import INT32, INT64
from refmlc.lang.ir import IRModule, relax, tir
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.types import TensorType
from refmlc.lang.ir.visit import rewrite, substitute, walk

PLACEHOLDER = "rxplaceholder"
LAYOUT_FREE: Mapping[str, tuple[int, ...]] = {"nn.dense": (1,)}
"""The inputs whose layout TVM's tuner may choose, by operator; it changes no result."""


def is_2022() -> bool:
    """Whether programs of 2022 are executed."""
    return os.environ.get("REFMLC_DIALECT") == "2022"


def as_2022(func: tir.PrimFunc, symbol: str | None, *, emitted: bool, operator: str = "") -> tir.PrimFunc:
    """`func` as it was made then; `symbol` is its global symbol, `emitted`: by `emit_te`, `operator`: by `topi`."""
    table: dict[Node, Node] = {}
    for depth, loop in _loops(func.body, 0):
        table[loop.loop_var] = replace(loop.loop_var, name=f"i{depth}")
    for node in walk(func.body):
        if isinstance(node, tir.SBlock):
            variables = [axis.var for axis in node.iter_vars]
            table |= {var: replace(var, name=_axis(var.name, library=bool(operator))) for var in variables}
    if emitted:
        outputs = {node.buffer for node in walk(func.body) if isinstance(node, tir.BufferStore)}
        inputs = [param for param in func.buffer_map.values() if param not in outputs]
        names = (f"{PLACEHOLDER}_{number}" if number else PLACEHOLDER for number in count())
        table |= {param: replace(param, name=name) for param, name in zip(inputs, names, strict=False)}
    mapped = {key: table.get(buffer, buffer) for key, buffer in func.buffer_map.items()}
    buffers = {key: buffer for key, buffer in mapped.items() if isinstance(buffer, tir.Buffer)}
    renamed = replace(func, body=substitute(func.body, table), buffer_map=buffers, private=False)
    if operator in LAYOUT_FREE:
        renamed = replace(renamed, attrs={**renamed.attrs, "layout_free_buffers": LAYOUT_FREE[operator]})
    if symbol is not None:
        renamed = replace(renamed, attrs={"global_symbol": symbol, **renamed.attrs})
    return narrowed(renamed)


def _loops(stmt: tir.Stmt, depth: int) -> Iterator[tuple[int, tir.For]]:
    """The loops with their depth in their nest."""
    match stmt:
        case tir.For():
            yield depth, stmt
            yield from _loops(stmt.body, depth + 1)
        case tir.SeqStmt(seq):
            for part in seq:
                yield from _loops(part, depth)
        case tir.SBlockRealize(block=block) if not block.iter_vars:
            yield from _loops(block.body, depth)


def _axis(name: str, *, library: bool) -> str:
    own = name.removeprefix("v_")
    return f"ax{own[1:]}" if library and own[0] == "i" and own[1:].isdigit() else own


def narrowed(func: tir.PrimFunc) -> tir.PrimFunc:
    """`func` with 32 bits for sizes and indices, where all sizes are known."""
    shapes = [extent for buffer in func.buffer_map.values() for extent in buffer.shape]
    return rewrite(func, narrow) if all(isinstance(item, tir.IntImm) for item in shapes) else func


def narrow(node: Node) -> Node:
    """An index expression of 32 bits in the place of one of 64."""
    match node:
        case tir.Var(dtype=dtype) | tir.IntImm(dtype=dtype) if dtype == INT64:
            return replace(node, dtype=INT32)
        case tir.Apply(dtype=dtype) | tir.Cast(dtype=dtype) if dtype == INT64:
            return replace(node, dtype=INT32)
        case _:
            return node


def ranked(module: IRModule, before: IRModule | None = None) -> IRModule:
    """`module` with results of known shape by their rank, but those that a function of `before` says itself."""
    functions = dict(module.functions)
    for name, func in functions.items():
        previous = None if before is None else before.functions.get(name)
        if isinstance(previous, relax.Function) and previous.ret_ty is not None:
            continue
        if isinstance(func, relax.Function) and isinstance(func.ret_ty, TensorType) and func.ret_ty.shape is not None:
            rank = TensorType(None, func.ret_ty.dtype, len(func.ret_ty.shape))
            functions[name] = replace(func, ret_ty=rank)
    return replace(module, functions=functions)
