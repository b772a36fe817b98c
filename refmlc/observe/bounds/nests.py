"""Functions made of plain nests, which are executed on arrays: what operators of Relax become.

| part                | is plain where                                                                          |
|---------------------|-----------------------------------------------------------------------------------------|
| function            | its body is a sequence of nests, perhaps in a block without axes that allocates buffers |
| nest                | loops without threads and steps around one block without predicate and matches          |
| block               | each axis is one loop or a constant, each loop one axis; its body is one store          |
| store               | its indices are the spatial axes, each once, perhaps plus a constant, or constants      |
| without reduce axes | the value does not read the buffer                                                      |
| with them           | it is a sum, or the greatest or least (`terms`), with an init at the same element       |

Iterations of a plain nest touch different elements, so all of them may be executed at once.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from refmlc.lang.ir import tir
from refmlc.lang.ir.equal import structural_equal
from refmlc.lang.ir.kinds import IterKind
from refmlc.lang.ir.visit import walk
from refmlc.observe.bounds.ball_functions import NotPlain
from refmlc.observe.bounds.terms import reduction

FOLDS = ("add", "max", "min")


@dataclass(frozen=True)
class PlainNest:
    """A nest. `loops` from the outermost; `axes` the value of each axis, a loop variable or a constant.

    `reduced`: the loops over which the store folds. `fold` is the operator then, and `terms` what it combines, with
    True for a subtracted one; `init` the first value.
    """

    loops: tuple[tir.For, ...]
    axes: tuple[tuple[tir.Var, tir.Expr], ...]
    store: tir.BufferStore
    reduced: frozenset[tir.Var] = frozenset()
    fold: str = ""
    terms: tuple[tuple[tir.Expr, bool], ...] = ()
    init: tir.Expr | None = None

    @property
    def reads(self) -> Iterator[tir.Buffer]:
        """The buffers whose elements the values take."""
        values = [term for term, _ in self.terms] if self.fold else [self.store.value]
        for value in (*values, *([] if self.init is None else [self.init])):
            yield from (node.buffer for node in walk(value) if isinstance(node, tir.BufferLoad))


@dataclass(frozen=True)
class NestFunction:
    """The nests of a function in their order, and the buffers that it allocates."""

    nests: tuple[PlainNest, ...]
    allocated: tuple[tir.Buffer, ...]


def plain_function(func: tir.PrimFunc) -> NestFunction:
    """The nests of `func`. Fails: `NotPlain`."""
    allocated: list[tir.Buffer] = []
    nests = tuple(_nests(func.body, allocated))
    return NestFunction(nests, tuple(allocated))


def _nests(node: tir.Stmt, allocated: list[tir.Buffer]) -> Iterator[PlainNest]:
    match node:
        case tir.SBlockRealize(block=block) if not block.iter_vars:
            if block.match_buffers or block.init is not None or not _is_true(node.predicate):
                raise NotPlain("a block without axes that does more than allocate")
            if any(buffer.strides or buffer.elem_offset is not None for buffer in block.alloc_buffers):
                raise NotPlain("an allocation with strides or an offset")
            allocated += block.alloc_buffers
            yield from _nests(block.body, allocated)
        case tir.SeqStmt(seq):
            for part in seq:
                yield from _nests(part, allocated)
        case tir.For() | tir.SBlockRealize():
            yield _nest(node)
        case _:
            raise NotPlain(f"a {type(node).__name__} outside of loops")


def _nest(node: tir.Stmt) -> PlainNest:
    loops: list[tir.For] = []
    while isinstance(node, tir.For):
        if node.thread is not None or node.step is not None:
            raise NotPlain("a loop over threads, or with a step")
        loops.append(node)
        node = node.body
    if not isinstance(node, tir.SBlockRealize):
        raise NotPlain(f"loops around a {type(node).__name__}")
    block, store = node.block, node.block.body
    if not _is_true(node.predicate) or block.match_buffers or block.alloc_buffers:
        raise NotPlain("a block with a predicate, or buffers of its own")
    if not isinstance(store, tir.BufferStore) or store.predicate is not None or store.value.dtype.is_vector:
        raise NotPlain(f"a block whose body is a {type(store).__name__}")
    axes = tuple((axis.var, value) for axis, value in zip(block.iter_vars, node.iter_values, strict=True))
    bound = [value for _, value in axes if not isinstance(value, tir.IntImm)]
    if len(bound) != len(loops) or {id(value) for value in bound} != {id(loop.loop_var) for loop in loops}:
        raise NotPlain("a block whose axes are not its loops")
    _require_places(block, store)
    folding = {axis.var for axis in block.iter_vars if axis.kind is IterKind.REDUCE}
    if not folding:
        if block.init is not None:
            raise NotPlain("an init without reduce axes")
        return PlainNest(tuple(loops), axes, store)
    parts, init = reduction(store), block.init
    if parts is None or parts[0] not in FOLDS or not isinstance(init, tir.BufferStore):
        raise NotPlain("a reduction that is none of sums, greatest, least with an init")
    if init.buffer is not store.buffer or not all(map(structural_equal, init.indices, store.indices)):
        raise NotPlain("an init of another element")
    reduced = frozenset(value for var, value in axes if var in folding and isinstance(value, tir.Var))
    return PlainNest(tuple(loops), axes, store, reduced, parts[0], tuple(parts[1]), init.value)


def _require_places(block: tir.SBlock, store: tir.BufferStore) -> None:
    """Fails: `NotPlain` where two iterations over spatial axes may store to one element."""
    spatial = {axis.var for axis in block.iter_vars if axis.kind is IterKind.SPATIAL}
    if any(axis.var not in spatial and axis.kind is not IterKind.REDUCE for axis in block.iter_vars):
        raise NotPlain("an axis that is neither spatial nor reduce")
    counted: list[tir.Var] = []
    for index in store.indices:
        match index:
            case tir.IntImm():
                continue
            case tir.Var() if index in spatial:
                counted.append(index)
            case tir.Apply("add", (tir.Var() as var, tir.IntImm())) if var in spatial:
                counted.append(var)
            case _:
                raise NotPlain("a store at an index that is no axis")
    constant = {axis.var for axis in block.iter_vars if _is_one(axis.dom.extent)}
    missing = [var for var in spatial if var not in counted and var not in constant]
    if missing or len(set(counted)) != len(counted):
        raise NotPlain("a store that does not have each axis as an index")


def _is_true(predicate: tir.Expr) -> bool:
    return isinstance(predicate, tir.IntImm) and bool(predicate.value)


def _is_one(extent: tir.Expr) -> bool:
    return isinstance(extent, tir.IntImm) and extent.value == 1
