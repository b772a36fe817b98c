"""Modules of Relax over TensorIR, with arguments: `main` takes tensors, tuples of them and shapes.

A module from a seed is always the same; `refmlc.strategies.ir_modules` is the strategy of Hypothesis. The simplest
module has no symbol, one parameter and no block: a function that returns its parameter.
"""

from dataclasses import replace

from refmlc.lang.dtypes import INT64
from refmlc.lang.ir import IRModule, relax
from refmlc.strategies.aims import MODULE_AIMS, aimed_case
from refmlc.strategies.arguments import Argument, Array, Number, ShapeOf, TupleOf
from refmlc.strategies.case import Case
from refmlc.strategies.choices import Choices, SeededChoices
from refmlc.strategies.contents import WAYS
from refmlc.strategies.graphs import Functions, Graphs
from refmlc.strategies.kernels import DTYPES, Tensors
from refmlc.strategies.places import place_nodes
from refmlc.strategies.ranges import limits
from refmlc.strategies.scope import Ints, Kind, ScopeValue, Shapes, Tuples, dims_of, type_of

EXTENTS = (2, 1, 3, 4, 0)
BLOCKS = 3


class Modules(Graphs):
    """Makes `main`, the functions that it calls, and recipes of its arguments."""

    kinds: tuple[Kind, ...] = ()

    def main(self) -> relax.Function:
        """The entry function; sets `kinds`."""
        for _ in range(self.choices.pick((0, 1, 2, 1))):
            self.symbols.append(self.symbol("n", self.choices.pick(EXTENTS)))
        known = {dim.name for dim in self.symbols}
        kinds: list[Kind] = [self.parameter()]
        self.choices.repeat(60, 2, lambda: kinds.append(self.parameter()))
        bound_names = {dim.name for kind in kinds for dim in dims_of(kind)}
        kinds += [Tensors(self.choices.pick(DTYPES), (dim,)) for dim in self.symbols if dim.name not in bound_names]
        self.kinds = tuple(kinds)
        params = tuple(relax.Var(self.name("x"), type_of(kind)) for kind in kinds)
        self.values = [ScopeValue(var, kind) for var, kind in zip(params, kinds, strict=True)]
        blocks = self.blocks(BLOCKS)
        result = self.choices.pick(list(reversed(self.values)))
        result_names = {dim.name for dim in dims_of(result.kind) if not dim.is_constant}
        # The declared type of the result cannot have a symbol of match_cast, or a sum.
        ret = type_of(result.kind) if result_names <= known and self.choices.chance(50) else None
        return relax.Function(params, relax.SeqExpr(blocks, result.expr), ret, self.pure)

    def parameter(self) -> Kind:
        """The type of a parameter: mostly a tensor."""
        form = self.choices.below(10)
        if form == 8:
            return Tuples((self.tensor(), self.tensor()))
        return Shapes(self.dims()) if form == 9 else self.tensor()

    def tensor(self) -> Tensors:
        return Tensors(self.choices.pick(DTYPES), self.dims())

    def recipes(self) -> tuple[tuple[Argument, ...], ...]:
        """The arguments of one or two calls."""
        return tuple(tuple(self.argument(kind) for kind in self.kinds) for _ in range(1 + self.choices.chance(30)))

    def argument(self, kind: Kind) -> Argument:
        match kind:
            case Tensors(dtype, dims):
                low, high = limits(dtype)
                shape = tuple(dim.value for dim in dims)
                return Array(dtype, shape, self.choices.pick(WAYS), self.choices.below(1000), low, high)
            case Shapes(dims):
                return ShapeOf(tuple(dim.value for dim in dims))
            case Ints():
                return Number(INT64, self.choices.below(5))
            case Tuples(fields):
                return TupleOf(tuple(self.argument(field) for field in fields))


def module_of(choices: Choices, aim: str = "") -> Case:
    """A module with arguments; with one of `MODULE_AIMS` it is made to show that code."""
    if aim in MODULE_AIMS:
        return aimed_case(choices, aim)
    functions: Functions = {}
    modules = Modules(choices, functions, [0])
    main = modules.main()
    functions["main"] = main
    return Case(place_nodes(IRModule(functions)), "main", modules.recipes())


def rolled_module(seed: int, aim: str | None = "") -> Case:
    """The module of a seed, always the same. `aim` None: one in eight shows a code of `MODULE_AIMS`.

    >>> rolled_module(7).func
    'main'
    """
    if aim is None:
        dice = SeededChoices(f"aim {seed}")
        aim = dice.pick(MODULE_AIMS) if dice.below(8) == 7 else ""
    case = module_of(SeededChoices(f"module {seed}"), aim)
    return replace(case, name=f"module{seed}{f'_{aim}' if aim else ''}")
