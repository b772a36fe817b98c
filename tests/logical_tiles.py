"""Tiles in plain lists, and calls of tile primitives on them, for tests."""

from itertools import product
from math import prod

from refmlc.lang.dtypes import FLOAT32, INT32, dtype
from refmlc.lang.ir import tir
from refmlc.lang.ir.tirx import TilePrimitiveCall
from refmlc.lang.ops.tile_operators import DEMANDED, SCALED_GEMM_ASYNC, TILE_OPERATORS
from refmlc.run.interp.tirx.primitives import execute


class Tile:
    """A box of a list: element `index` lies at `offset` + index times `strides`."""

    def __init__(self, kind, shape, values=None, *, offset=0, strides=None, memory=None, log=None):
        self.shape, self.dtype = tuple(shape), dtype(kind)
        count = prod(self.shape)
        if memory is None:
            memory = [None] * count if values is None else list(values)
            assert len(memory) == count
        self.memory, self.offset = memory, offset
        self.strides = strides or tuple(prod(self.shape[axis + 1 :]) for axis in range(len(self.shape)))
        self.log = [] if log is None else log

    def place(self, index):
        return id(self.memory), self._at(index)

    def load(self, index):
        self.log.append(("load", index))
        value = self.memory[self._at(index)]
        assert value is not None, f"{index} is uninitialised"
        return value

    def store(self, index, value):
        self.log.append(("store", index))
        self.memory[self._at(index)] = value

    def elements(self):
        return [self.memory[self._at(index)] for index in product(*map(range, self.shape))]

    def _at(self, index):
        assert len(index) == len(self.shape)
        assert all(0 <= i < extent for i, extent in zip(index, self.shape, strict=True))
        return self.offset + sum(i * stride for i, stride in zip(index, self.strides, strict=True))


def node(value):
    """What stands in the program for an operand."""
    if isinstance(value, Tile):
        extents = tuple(tir.IntImm(INT32, extent) for extent in value.shape)
        buffer = tir.Buffer("A", extents, value.dtype)
        return tir.BufferRegion(buffer, tuple(tir.Range(tir.IntImm(INT32, 0), extent) for extent in extents))
    if isinstance(value, float):
        return tir.FloatImm(FLOAT32, value)
    return value.expr if isinstance(value, Number) else value


class Number:
    """A constant of a dtype of its own."""

    def __init__(self, kind, value):
        self.value = value
        make = tir.FloatImm if dtype(kind).is_float else tir.IntImm
        self.expr = make(dtype(kind), value)


def call(op, *args, config=None, allow=(), **named):
    """Execute `op` with operands in order, then by name, the others as a text that leaves them out."""
    rows = SCALED_GEMM_ASYNC if op == "gemm_async" and len(args) == len(SCALED_GEMM_ASYNC) else TILE_OPERATORS[op]
    given = {row.name: value for row, value in zip(rows, args, strict=False)} | named
    values = []
    for row in rows:
        assert row.name in given or row.default is not DEMANDED, row.name
        values.append(given.pop(row.name, row.default))
    assert given == {}
    if len(values) > 1 and values[1] is None and rows[1].kind == "region":
        values[1] = values[0]
    statement = TilePrimitiveCall(op, tuple(map(node, values)), config=config or {})
    evaluated = [value.value if isinstance(value, Number) else value for value in values]
    execute(statement, evaluated, allow=frozenset(allow))
