"""The operands of a call by name: tiles, sources of elements, constants, flags, axes, names of operators.

| kind of operand (`refmlc.lang.ops.tile_operators`) | is evaluated to                                          |
|----------------------------------------------------|----------------------------------------------------------|
| `region`                                           | a `TileView`                                             |
| `value`                                            | a `TileView`, or a number                                |
| `number`                                           | a number                                                 |
| `flag`                                             | a bool or an int                                         |
| `axes`                                             | a tuple of ints                                          |
| `operator`                                         | a string                                                 |
| `lambda`                                           | a function of indices                                    |

What a text leaves out is None, or the default.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias, cast

from refmlc.diag import fail
from refmlc.diag.catalogue import SHAPE_MISMATCH, UNSUPPORTED_CONSTRUCT, UNSUPPORTED_DTYPE, Code
from refmlc.diag.errors import RefmlcError
from refmlc.lang.dtypes import DType
from refmlc.lang.ir import tir
from refmlc.lang.ir.tirx import TilePrimitiveCall
from refmlc.lang.ops import promote
from refmlc.lang.ops.contract import Scalar
from refmlc.lang.ops.tile_operators import SCALED_GEMM_ASYNC, TILE_OPERATORS, TileOperand
from refmlc.run.interp.tirx.primitives.arithmetic import Arithmetic
from refmlc.run.interp.tirx.primitives.shapes import Index, Pick, aligns, broadcast
from refmlc.run.interp.tirx.tile_view import TileView

Predicate: TypeAlias = Callable[..., object]
Element: TypeAlias = Callable[[Index], Scalar]


def operands_of(call: TilePrimitiveCall) -> Sequence[TileOperand]:
    """The operands of a call in order; `gemm_async` has two forms."""
    scaled = call.op == "gemm_async" and len(call.args) == len(SCALED_GEMM_ASYNC)
    return SCALED_GEMM_ASYNC if scaled else TILE_OPERATORS[call.op]


def shown(shape: Sequence[int]) -> str:
    """A shape as messages have it."""
    return str(tuple(shape))


def source_of(tile: TileView, pick: Pick) -> "TileSource":
    """The elements of a tile, picked for each index of the destination."""
    return TileSource(tile.dtype, lambda index: tile.load(pick(index)), tile, pick)


@dataclass(frozen=True, slots=True)
class TileSource:
    """What gives an element for each index of the destination: a tile, or a constant, which has no `tile`."""

    dtype: DType
    element: Element
    tile: TileView | None = None
    pick: Pick | None = None


@dataclass(frozen=True, slots=True)
class TileOperands:
    """The operands of `call`, evaluated, and the arithmetic of the machine that executes it."""

    call: TilePrimitiveCall
    values: tuple[object, ...]
    arithmetic: Arithmetic

    @property
    def name(self) -> str:
        """The operator as messages name it."""
        return f"tirx.tile.{self.call.op}"

    def value(self, name: str) -> object:
        """The operand, whatever it is."""
        return self.values[self._place(name)]

    def given(self, name: str) -> bool:
        """Whether the text gives an operand that may be left out."""
        return self.value(name) is not None

    def tile(self, name: str) -> TileView:
        """An operand that is a region. Fails: RM503 where its elements are vectors."""
        tile = cast("TileView", self.value(name))
        if tile.dtype.is_vector:
            raise self.refuse(UNSUPPORTED_DTYPE, f"`{name}` of `{self.name}` has elements of {tile.dtype}")
        return tile

    def number(self, name: str) -> tuple[DType, Scalar]:
        """An operand that is a number, with its dtype: that of its expression; of a plain int int32, or int64."""
        dtype = self._node(name).dtype
        value = cast("Scalar", self.value(name))
        return dtype, value

    def flag(self, name: str) -> bool:
        """An operand that is true or false."""
        return bool(self.value(name))

    def axes(self, name: str) -> tuple[int, ...]:
        """An operand that is axes."""
        return tuple([int(cast("int", axis)) for axis in cast("Sequence[object]", self.value(name))])

    def operator(self, name: str) -> str:
        """An operand that is the name of an operator."""
        return str(self.value(name))

    def predicate(self, name: str) -> Predicate:
        """An operand that is a function of indices."""
        return cast("Predicate", self.value(name))

    def sources(self, onto: Sequence[int], *names: str) -> tuple[TileSource, ...]:
        """TileOperands that give an element for each one of a shape, by one rule (TIP-002). Fails: RM202."""
        tiles = {name: self.tile(name) for name in names if self._is_tile(name)}
        picks = broadcast([tile.shape for tile in tiles.values()], onto)
        if picks is None:
            odd = next(name for name in tiles if not aligns(tiles[name].shape, onto))
            raise self.misfit(odd, tiles[odd].shape, onto)
        placed = dict(zip(tiles, picks, strict=True))
        return tuple(source_of(tiles[name], placed[name]) if name in tiles else self._constant(name) for name in names)

    def _constant(self, name: str) -> TileSource:
        dtype, value = self.number(name)
        return TileSource(dtype, lambda _index: value)

    def tiles(self) -> Iterator[TileView]:
        """The operands that are regions."""
        for node, value in zip(self.call.args, self.values, strict=True):
            if isinstance(node, tir.BufferRegion):
                yield cast("TileView", value)

    def misfit(self, name: str, shape: Sequence[int], onto: Sequence[int]) -> RefmlcError:
        """The failure of an operand whose shape does not fit that of the destination."""
        message = f"`{name}` of `{self.name}` has the shape {shown(shape)}, which does not fit {shown(onto)}"
        return self.refuse(SHAPE_MISMATCH, message)

    def unsupported(self, what: str) -> RefmlcError:
        """The failure of a call whose meaning is not defined."""
        return self.refuse(UNSUPPORTED_CONSTRUCT, f"`{self.name}` is not executed with {what}")

    def refuse(self, code: Code, message: str, *notes: str) -> RefmlcError:
        """The failure at the place of the call."""
        return fail(code, message, self.call.span, *notes)

    def _place(self, name: str) -> int:
        for place, operand in enumerate(operands_of(self.call)):
            if operand.name == name:
                return place
        raise KeyError(name)

    def _is_tile(self, name: str) -> bool:
        return isinstance(self.call.args[self._place(name)], tir.BufferRegion)

    def _node(self, name: str) -> tir.Expr:
        return promote.literal(cast("promote.Operand", self.call.args[self._place(name)]), self.call.span)
