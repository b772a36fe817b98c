"""How large a subject is: numbers compared one after the other, so that each edit made comes nearer to an end.

| number     | counts                                                                                    |
|------------|-------------------------------------------------------------------------------------------|
| functions  | functions of the module                                                                   |
| calls      | calls of the case                                                                         |
| statements | statements, bindings, axes, parameters, allocations; arguments                            |
| weight     | nodes of expressions, types, regions; a variable weighs more than a constant, a load more |
| oddities   | whatever is not the default: attributes, kinds of loops, layouts, scopes, rare dtypes     |
| magnitude  | constants and extents, by their values                                                    |
| names      | names that are not the ones `names` would give                                            |
| characters | the length of the text                                                                    |
"""

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from refmlc.lang.dtypes import DType
from refmlc.lang.ir import IRModule, relax, tir, types
from refmlc.lang.ir.kinds import ForKind, IterKind
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.visit import children, walk
from refmlc.oracle.reduce.passes.names import oddly_named
from refmlc.oracle.reduce.subject import Subject
from refmlc.strategies.arguments import Argument, Array, Number
from refmlc.strategies.contents import WAYS


class ModuleSize(NamedTuple):
    """The numbers, in the order in which they are compared."""

    functions: int
    calls: int
    statements: int
    weight: int
    oddities: int
    magnitude: int
    names: int
    characters: int


STATEMENTS = (
    *(tir.Bind, tir.AssertStmt, tir.For, tir.While, tir.BufferStore, tir.AllocBuffer, tir.DeclBuffer, tir.AttrStmt),
    *(tir.IfThenElse, tir.Evaluate, tir.Break, tir.Continue, tir.Return, tir.SBlockRealize, tir.IterVar),
    *(tir.MatchBufferRegion, relax.VarBinding, relax.MatchCast, relax.DataflowBlock, relax.If),
)
WEIGHTS: Mapping[type[Node], int] = {
    tir.IntImm: 1,
    tir.FloatImm: 1,
    tir.Var: 0,
    relax.Var: 0,
    tir.BufferLoad: 4,
    tir.SeqStmt: 0,
    IRModule: 0,
}
RANKS = {"float32": 0, "int32": 0, "bool": 0, "handle": 0, "void": 0, "int64": 1, "float16": 2, "float64": 2, "int8": 2}
USE = 2  # what a use of a variable weighs: the variable itself is one object wherever it is used
VARIABLES = (tir.Var, relax.Var)
IRREGULAR = 2000  # magnitude of a float that is no small integer


def size_of(subject: Subject, text: str) -> ModuleSize:
    """The size of `subject`, whose module is shown as `text`."""
    statements = weight = oddities = magnitude = 0
    for node in walk(subject.module):
        statements += isinstance(node, STATEMENTS) + _extra_statements(node)
        weight += WEIGHTS.get(type(node), 3) + USE * sum(isinstance(part, VARIABLES) for part in children(node))
        oddities += _oddities(node)
        magnitude += _magnitude(node)
    arguments = [argument for call in subject.calls for argument in call]
    return ModuleSize(
        len(subject.module.functions),
        len(subject.calls),
        statements + len(arguments),
        weight,
        oddities + sum(map(_oddity, arguments)) + len(subject.module.attrs) + len(subject.module.global_infos),
        magnitude + sum(map(_extent, arguments)),
        oddly_named(subject.module),
        len(text),
    )


def _extra_statements(node: Node) -> int:
    """The number of a node's parts that count as statements without being nodes."""
    match node:
        case tir.SBlock():
            return len(node.alloc_buffers)
        case tir.PrimFunc() | relax.Function():
            return len(node.params)
        case _:
            return 0


def _oddities(node: Node) -> int:
    """The number of unusual properties of a node."""
    dtype = getattr(node, "dtype", None)
    rare = rank(dtype) if isinstance(dtype, DType) else 0
    match node:
        case tir.For():
            odd = (node.kind is not ForKind.SERIAL) + (node.thread is not None) + (node.step is not None)
            return odd + len(node.annotations)
        case tir.SBlock():
            return len(node.annotations) + (node.reads is not None) + (node.writes is not None)
        case tir.SBlockRealize(predicate=predicate):
            return not (isinstance(predicate, tir.IntImm) and predicate.value)
        case tir.IterVar():
            return {IterKind.SPATIAL: 0, IterKind.REDUCE: 1}.get(node.kind, 2)
        case tir.AllocBuffer():
            return len(node.annotations)
        case tir.Buffer():
            odd = (node.scope != "global") + (node.align != 64) + (node.offset_factor != 1)
            return rare + odd + len(node.axis_separators)
        case tir.PrimFunc():
            return len(node.attrs) + node.private + (node.ret_dtype is not None)
        case relax.Function():
            return len(node.attrs) + node.private + (not node.pure)
        case relax.Var():
            return int(node.dataflow)
        case _:
            return rare


def rank(dtype: DType) -> int:
    """How unusual a dtype is; 0: not at all."""
    return RANKS.get(dtype.element, 3) + dtype.lanes - 1


def _magnitude(node: Node) -> int:
    match node:
        case tir.IntImm(_, value):
            return 2 * abs(value) + (value < 0)
        case tir.FloatImm(_, value):
            return magnitude(value)
        case relax.Constant(data, _):
            return int(data.size + np.count_nonzero(data))
        case types.TensorType():
            return node.vdevice is not None
        case _:
            return 0


def magnitude(value: float) -> int:
    """How far from 0 a number is, in simplicity."""
    if math.isfinite(value) and value == int(value) and abs(value) < IRREGULAR // 2:
        return 2 * abs(int(value)) + (math.copysign(1, value) < 0)
    return IRREGULAR + len(repr(value))


def _oddity(argument: Argument) -> int:
    match argument:
        case Array():
            return (
                (WAYS.index(argument.way) if argument.way in WAYS else len(WAYS))
                + (argument.form != "compact")
                + (argument.seed > 0)
                + rank(argument.dtype)
            )
        case Number():
            return rank(argument.dtype)
        case _:
            return 1


def _extent(argument: Argument) -> int:
    match argument:
        case Array():
            return sum(argument.shape) + len(argument.shape) + argument.seed
        case Number():
            return magnitude(argument.value)
        case _:
            return 0
