"""How many lanes a nest is executed with: as many of its widest value as a register holds.

Only what differs between lanes counts: numbers may be as wide as they are.
"""

from collections.abc import Mapping

from refmlc.lang.dtypes import DType
from refmlc.lang.ir import tir
from refmlc.lang.ir.node import Node
from refmlc.native.options import Isa
from refmlc.native.tile.dims import Dim, Shape
from refmlc.native.tile.leaves import Leaf, Stride
from refmlc.native.tile.needs import VECTOR_DTYPES
from refmlc.native.tile.terms import lane_bits
from refmlc.native.tile.tiled import NoForm


def lanes_for(shape: Shape, leaves: Mapping[Node, Leaf], vector: Dim, isa: Isa) -> int:
    """The lanes, no more than there are elements; 1 where there are no vectors. Fails: `NoForm`, for dtypes."""
    if not isa.vector_bytes:
        return 1
    widths = _Widths(shape, leaves, vector)
    widest = max([widths.of(value) for value in shape.values] + [_bits(buffer.dtype) for buffer in shape.buffers])
    lanes = isa.vector_bytes * 8 // widest
    while lanes > 1 and lanes // 2 >= vector.extent:
        lanes //= 2
    return lanes


class _Widths:
    """Bits of the widest part of an expression that differs between lanes; 0: none does."""

    def __init__(self, shape: Shape, leaves: Mapping[Node, Leaf], vector: Dim) -> None:
        self._shape = shape
        self._leaves = leaves
        self._vector = vector
        self._bound: dict[tir.Var, int] = {}
        for let in shape.lets:
            self._bound[let.var] = self.of(let.value)

    def of(self, value: tir.Expr) -> int:
        leaf = self._leaves.get(value)
        if leaf is not None:
            uniform = leaf.stride(self._vector) is Stride.UNIFORM
            return 0 if uniform else max(_bits(leaf.source), _bits(leaf.dtype))
        match value:
            case tir.BufferLoad():
                return _bits(value.dtype)
            case tir.Var() if value in self._bound:
                return self._bound[value]
            case tir.Var():
                return _bits(value.dtype) if self._shape.index.get(value) is self._vector else 0
            case tir.Let():
                self._bound[value.var] = self.of(value.value)
                return max(self._bound[value.var], self.of(value.body))
            case _:
                widest = max(map(self.of, _operands(value)), default=0)
                return max(widest, _bits(value.dtype)) if widest and value.dtype.kind != "bool" else widest


def _operands(value: tir.Expr) -> tuple[tir.Expr, ...]:
    match value:
        case tir.Apply():
            return value.args
        case tir.Cast():
            return (value.value,)
        case tir.And() | tir.Or():
            return (value.a, value.b)
        case tir.Select() | tir.IfThenElseExpr():
            return (value.condition, value.true_value, value.false_value)
        case _:
            return ()


def _bits(dtype: DType) -> int:
    if dtype.element not in VECTOR_DTYPES or dtype.is_vector:
        raise NoForm(f"there are no vectors of {dtype}")
    return 8 if dtype.kind == "bool" else lane_bits(dtype)
