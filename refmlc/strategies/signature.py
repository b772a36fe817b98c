"""Parameters of generated functions: shapes, inputs, outputs, numbers; and the recipes of their arguments.

Extents are 1 … 5, in some programs larger and odd, so that vectors have tails; some are symbolic and bound by the
call. A third of the programs is regular: extents are known, indices are axes, loops may mostly be reordered.
"""

from dataclasses import replace
from typing import TypeAlias

from refmlc.lang.dtypes import BOOL, FLOAT32, HANDLE, INT32, INT64, SCALARS, UINT8, DType
from refmlc.lang.ir import tir
from refmlc.strategies.arguments import Argument, Array, Number, Same
from refmlc.strategies.choices import Choices
from refmlc.strategies.contents import WAYS
from refmlc.strategies.mapped import volume
from refmlc.strategies.ranges import KINDS, RangedBuffer, RangedExpr, limits, number
from refmlc.strategies.stages import Stages
from refmlc.strategies.values import PLAIN, WIDE

# The dtypes of programs that aim at a code of arithmetic, whose values have all sizes.
AIMED = {
    "RM306": (INT32, INT64),
    "RM307": (INT32, SCALARS["int8"]),
    "RM308": (INT32, SCALARS["uint16"]),
    "RM309": (INT32, SCALARS["int8"], FLOAT32),
    "RM311": (INT32, INT32, SCALARS["float4_e2m1fn"], FLOAT32),
}
REGULAR = tuple(SCALARS[name] for name in ("float32", "float16", "bfloat16", "float64", "int8", "uint8", "int32"))
TINY, SMALL, LARGE = (2, 1, 3), (2, 1, 3, 4, 5), (17, 33, 16, 7, 8, 32, 1, 3)
TAME = 100
FILLED = ("RM322", "RM326")  # aims that need initialised outputs
TEMPORARIES = "PQRSTUVW"
Extents: TypeAlias = tuple[tuple[int, ...], tuple[tir.Expr, ...]]


class Signature(Stages):
    """Makes parameters, and the recipes of arguments for them."""

    def __init__(self, choices: Choices, aim: str = "", *, small: bool = False) -> None:
        """Decide for the whole program: its index dtype, its dtypes, the depth of expressions, odd indices."""
        super().__init__(choices, aim)
        self.tiny = small
        self.regular = aim not in AIMED and choices.chance(35)
        self.large = not small and choices.chance(30 if self.regular else 12)
        self.word = INT64 if choices.chance(20) else INT32
        self.palette = AIMED.get(aim) or tuple(self._dtype() for _ in range(1 + choices.below(3)))
        deep = ((1, 8), (2, 25), (2, 45), (1, 8), (3, 60)) if not small else ((1, 8), (1, 45), (2, 25))
        self.depth, self.odd_percent = (1, 4) if self.regular else choices.pick(deep)
        self.dims: list[tuple[tir.Var, int]] = []
        self.temporaries: list[tir.Buffer] = []
        self.params: list[tuple[tir.Var, tir.Buffer | None]] = []
        self.recipe: list[Argument] = []
        self.noalias = aim == "RM322" or choices.chance(30)
        self.inputs: list[int] = []  # the numbers of the parameters that are only read

    def _dtype(self) -> DType:
        if self.regular and self.choices.chance(80):
            return self.choices.pick(REGULAR)
        return self.choices.pick(KINDS if self.choices.chance(45) else PLAIN)

    def extent(self) -> int:
        return self.choices.pick(LARGE if self.large else TINY if self.tiny else SMALL)

    def shape(self) -> Extents:
        """A shape: extents in this call, and their expressions."""
        rank = self.choices.pick((1, 2, 1, 2, 2, 3, 4, 0) if not self.tiny else (1, 1, 1, 2, 0))
        extents: list[tuple[int, tir.Expr]] = []
        for _ in range(rank):
            if self.dims and self.choices.chance(60):
                var, value = self.choices.pick(self.dims)
                extents.append((value, var))
            else:
                value = self.extent()
                extents.append((value, number(self.word, value)))
        while volume(value for value, _ in extents) > (900 if self.large else 6 if self.tiny else 150):
            extents.pop()
        return tuple(value for value, _ in extents), tuple(expr for _, expr in extents)

    def buffer(self, name: str, kind: DType, extents: Extents | None = None) -> RangedBuffer:
        """An unwritten buffer of the extents, or of a new shape."""
        shape, sizes = self.shape() if extents is None else extents
        return RangedBuffer(tir.Buffer(name, kind, sizes), shape, ready=False)

    def fresh(self, kind: DType, shape: tuple[int, ...], *, ready: bool = True) -> RangedBuffer:
        buffer = RangedBuffer(
            tir.Buffer(
                TEMPORARIES[len(self.temporaries) % len(TEMPORARIES)],
                kind,
                tuple(number(self.word, extent) for extent in shape),
            ),
            shape,
            ready=ready,
        )
        self.temporaries.append(buffer.buffer)
        return buffer

    def symbolic(self) -> None:
        """Shape variables, each bound by the first dimension of a separate buffer, or by a parameter."""
        if self.regular and self.choices.chance(85):
            return
        for name in ("n", "m")[: self.choices.pick((0, 0, 0, 1, 1, 2) if not self.tiny else (0, 0, 0, 0, 1))]:
            var, value = tir.Var(name, self.word), self.extent()
            self.dims.append((var, value))
            self.numbers.append(RangedExpr(var, value, value))
            if self.choices.chance(20):
                self.params.append((var, None))
                self.recipe.append(Number(self.word, value))
            else:
                self.readable.append(self.input(f"D{name}", ((value,), (var,))))

    def input(self, name: str, extents: Extents | None = None) -> RangedBuffer:
        """A parameter that the caller fills."""
        kind = self.choices.pick(self.palette)
        buffer = self.buffer(name, kind, extents)
        low, high = self._bounds(kind)
        buffer.low, buffer.high, buffer.ready = low, high, True
        form = "compact"
        if volume(buffer.shape[:-1]) > 1 and self.choices.chance(12):
            buffer.buffer, form = self._strided_buffer(buffer), "strided"
        elif not self.regular and self.choices.chance(6):
            buffer.buffer = replace(buffer.buffer, elem_offset=tir.Var(f"o{name}", self.word), offset_factor=1)
            form = "offset"
        if self.aim == "RM305" and form == "compact" and self.choices.chance(20):
            form = self.choices.pick(("fresh", "partial"))
        self.inputs.append(len(self.params))
        self._add_parameter(buffer, Array(kind, buffer.shape, "steps", 0, low, high, form))
        return buffer

    def _bounds(self, kind: DType) -> tuple[int, int]:
        low, high = limits(kind)
        if kind.is_integer and kind.bits >= 32 and self.aim not in AIMED and not self.choices.chance(15):
            return max(low, -TAME), min(high, TAME)
        return low, high

    def _strided_buffer(self, buffer: RangedBuffer) -> tir.Buffer:
        steps = [1]
        for extent in reversed((*buffer.shape[1:-1], buffer.shape[-1] + 3)):
            steps.append(steps[-1] * extent)
        steps.reverse()
        if self.choices.chance(50):
            strides: tuple[tir.Expr, ...] = tuple(tir.Var(f"s{place}", self.word) for place in range(len(steps)))
        else:
            strides = tuple(number(self.word, step) for step in steps)
        return tir.Buffer(buffer.buffer.name, buffer.buffer.dtype, buffer.buffer.shape, strides)

    def _add_parameter(self, buffer: RangedBuffer, array: Array) -> None:
        self.params.append((tir.Var(buffer.buffer.name.lower(), HANDLE), buffer.buffer))
        self.recipe.append(array)

    def scalar(self, name: str) -> None:
        kind = self.choices.pick((INT32, FLOAT32, *self.palette, BOOL, UINT8))
        var = tir.Var(name, kind)
        value = self.literal(kind).value
        if isinstance(value, float):
            self.numbers.append(RangedExpr(var))
        elif kind.bits >= WIDE:
            self.numbers.append(RangedExpr(var, value, value))
        else:
            self.numbers.append(RangedExpr(var, *limits(kind)))
        self.params.append((var, None))
        self.recipe.append(Number(kind, value))

    def output(self, name: str) -> RangedBuffer:
        """A parameter that the program fills, with any contents before."""
        buffer = self.buffer(name, self.choices.pick(self.palette))
        form = self.choices.pick(("fresh", "compact", "partial") if self.aim not in FILLED else ("compact",))
        if self.aim == "RM322" and self.readable:
            like = self.choices.pick(self.readable)
            buffer = RangedBuffer(tir.Buffer(name, like.buffer.dtype, like.buffer.shape), like.shape, ready=False)
        low, high = self._bounds(buffer.buffer.dtype)
        if self.aim == "RM313" and self.choices.chance(60):
            form = "locked"
        if self.aim == "RM305" and self.choices.chance(30):
            self.readable.append(replace(buffer, low=low, high=high))
        self._add_parameter(buffer, Array(buffer.buffer.dtype, buffer.shape, "small", 1, low, high, form))
        return buffer

    def recipes(self) -> tuple[tuple[Argument, ...], ...]:
        """The arguments of one or two calls."""
        calls = self.choices.several("..", (100,) if self.tiny else (100, 40), lambda _: self._call_recipe())
        pairs = self._equal_pairs()
        if pairs and self.choices.chance(90 if self.aim == "RM322" else 5):
            source, copy = self.choices.pick(pairs)
            calls[-1] = (*calls[-1][:copy], Same(source), *calls[-1][copy + 1 :])
        return tuple(calls)

    def _equal_pairs(self) -> list[tuple[int, int]]:
        """The pairs of parameters that may share a tensor: in a defined program only inputs."""
        places = [
            position
            for position, recipe in enumerate(self.recipe)
            if isinstance(recipe, Array) and recipe.form == "compact"
        ]
        if not self.aim:
            places = [position for position in places if position in self.inputs]
        pairs = [(a, b) for position, a in enumerate(places) for b in places[position + 1 :] if self._are_equal(a, b)]
        return [(a, b) for a, b in pairs if b not in self.inputs] if self.aim == "RM322" else pairs

    def _are_equal(self, a: int, b: int) -> bool:
        first, second = self.recipe[a], self.recipe[b]
        if not (isinstance(first, Array) and isinstance(second, Array)):
            return False
        return (first.dtype, first.shape) == (second.dtype, second.shape)

    def _call_recipe(self) -> tuple[Argument, ...]:
        """The recipes of one call, with ways and seeds."""
        recipes: list[Argument] = []
        for recipe in self.recipe:
            if isinstance(recipe, Array):
                way = self.choices.pick((*WAYS, "edges", "edges") if self.aim in AIMED else WAYS)
                recipes.append(replace(recipe, way=way, seed=self.choices.below(1000)))
            else:
                recipes.append(recipe)
        return tuple(recipes)
