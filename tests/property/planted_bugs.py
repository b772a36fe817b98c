"""Faults as compilers have them, planted in a program: each takes a module and gives one that does something else.

An implementation that runs the interpreter on the faulty module is a wrong implementation whose fault is known.

| fault               | what it does                                                          |
|---------------------|-----------------------------------------------------------------------|
| `floor_for_trunc`   | truncating division and remainder round down                          |
| `dropped_predicate` | `T.where` is forgotten, and the condition of a predicated store       |
| `short_extent`      | the innermost loops are one iteration short                           |
| `skipped_init`      | reductions go on from what the memory holds                           |
| `transposed_index`  | loads from square buffers have their last two indices swapped         |
| `missing_cast`      | a value that is converted twice is converted to the last dtype only   |
"""

from dataclasses import replace

from refmlc.lang.dtypes import BOOL
from refmlc.lang.ir import tir
from refmlc.lang.ir.visit import rewrite, walk

FLOORED = {"truncdiv": "floordiv", "truncmod": "floormod"}


def floor_for_trunc(module):
    def change(node):
        match node:
            case tir.Apply(op) if op in FLOORED:
                return replace(node, op=FLOORED[op])
            case _:
                return node

    return rewrite(module, change)


def dropped_predicate(module):
    def change(node):
        match node:
            case tir.SBlockRealize():
                return replace(node, predicate=tir.IntImm(BOOL, 1))
            case tir.BufferStore() | tir.BufferLoad():
                return replace(node, predicate=None)
            case _:
                return node

    return rewrite(module, change)


def short_extent(module):
    def change(node):
        match node:
            case tir.For(_, _, tir.IntImm(dtype, extent)) if extent > 1 and not _has_loops(node.body):
                return replace(node, extent=tir.IntImm(dtype, extent - 1))
            case _:
                return node

    return rewrite(module, change)


def _has_loops(body):
    return any(isinstance(node, tir.For) for node in walk(body))


def skipped_init(module):
    def change(node):
        return replace(node, init=None) if isinstance(node, tir.SBlock) else node

    return rewrite(module, change)


def transposed_index(module):
    def change(node):
        match node:
            case tir.BufferLoad(buffer, (*outer, a, b)) if _square(buffer.shape) and not b.dtype.is_vector:
                return replace(node, indices=(*outer, b, a))
            case _:
                return node

    return rewrite(module, change)


def _square(shape):
    match shape[-2:]:
        case (tir.IntImm(_, a), tir.IntImm(_, b)):
            return a == b
        case (a, b):
            return a is b
        case _:
            return False


def missing_cast(module):
    def change(node):
        match node:
            case tir.Cast(dtype, tir.Cast(_, value)):
                return replace(node, value=value) if value.dtype != dtype else value
            case _:
                return node

    return rewrite(module, change)


FAULTS = {
    "floor_for_trunc": floor_for_trunc,
    "dropped_predicate": dropped_predicate,
    "short_extent": short_extent,
    "skipped_init": skipped_init,
    "transposed_index": transposed_index,
    "missing_cast": missing_cast,
}
