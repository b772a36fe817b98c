"""Makes calls of one function: for each purpose sizes, and recipes of arguments.

Every call is the same each time it is made. A seed only adds calls of the purpose `random`.

| integers                                                      | are                                              |
|---------------------------------------------------------------|--------------------------------------------------|
| that may become an index, an extent or a shape                | indices that any dimension has                   |
| that the program divides by, or shifts by                     | within what that needs (`strategies.requirements`) |
| others                                                        | in -100 … 100; a number that is a parameter is 2 |

| parameter of a prim_func                        | argument                       |
|-------------------------------------------------|--------------------------------|
| only loaded, or first loaded in program order   | initialised                    |
| first stored to, or what a reduction folds into | uninitialised: it is an output; but for `held`, the second call |

A size that is also a parameter has the chosen size. A parameter that a Relax function passes to an operator which
requires more than a dtype (`Operator.domains`) gets such values in every call.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import prod
from random import Random

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_INPUT
from refmlc.lang.dtypes import FLOAT32, DType
from refmlc.lang.ir import IRModule, relax, tir
from refmlc.lang.ir.types import PrimType, ShapeType, TensorType, TupleType, Type
from refmlc.lang.ir.visit import walk
from refmlc.lang.ops.evaluate import known
from refmlc.native.analysis.cost import count
from refmlc.oracle.arguments.conditions import Value
from refmlc.oracle.arguments.graph_uses import uses_of
from refmlc.oracle.arguments.purposes import (
    BRANCHES,
    CONTRACTS,
    EXPLICIT,
    HELD,
    ORDINARY,
    OUTSIDE,
    PURPOSES,
    RANDOM,
    SIZES,
    STRIDES,
    WHYS,
    ElementKinds,
    Filling,
    Pool,
    Purpose,
)
from refmlc.oracle.arguments.sizes import affordable, promised, size_plans, usual_sizes
from refmlc.oracle.arguments.uses import ParameterUse, ProgramUses, extents, size_variables
from refmlc.oracle.contracts import ArgumentContract, Contracts, contracts_of
from refmlc.oracle.contracts.recipes import admissible, admissible_sizes
from refmlc.run.dims import Dims
from refmlc.strategies.arguments import Argument, Array, Number, ShapeOf, TupleOf
from refmlc.strategies.contents import ASCENDING, CYCLE, UNIT
from refmlc.vm.parameters import parameters_of

PLAUSIBLE = 100
"""Integers up to this magnitude are what any program takes; where they overflow, that is the program's."""
MOST = 1 << 24  # elements of a tensor that is made
MOST_ITERATIONS = 1 << 17
"""Innermost iterations of a call with the usual sizes, which the interpreter takes a second or two for."""
GAP = 3  # elements after each row of a buffer whose strides are open
UNKNOWN_SIZES = (2, 3, 4, 5)
NOTHING = ShapeOf(())  # in place of an explicit argument
ENDS = ("high", "low", "both")
LARGER = 16  # times the usual size
UNSATISFIED = "no value satisfies the contracts at these sizes"
RANDOM_WAYS = ("tame", "small", "edges")
NUMBERS = (0.5, -1.25, 2.0, 1.0)


@dataclass(frozen=True)
class GeneratedCall:
    """The recipes of one call, the sizes that were chosen for it, its purpose, and why it has these values.

    `wild`: refmlc chose values that the program may not be made for.
    """

    recipes: tuple[Argument, ...]
    sizes: Mapping[str, int]
    purpose: str
    why: str
    wild: bool = False

    @property
    def title(self) -> str:
        """The purpose, for findings; empty where the caller gives all arguments."""
        return "" if self.purpose == EXPLICIT else self.purpose

    @property
    def label(self) -> str:
        """The purpose with the sizes."""
        sizes = ", ".join(f"{name} = {size}" for name, size in self.sizes.items())
        return f"{self.purpose} ({sizes})" if sizes else self.purpose


@dataclass(frozen=True)
class _Filled:
    """How the parameters of one call are filled. `window`: the number of the call within its purpose, of `windows`.

    `ranks`: the number of each parameter among those that the purpose fills, which shifts its pool against the others'.
    """

    purpose: Purpose
    dims: Dims
    seed: int = 0
    window: int = 0
    windows: int = 1
    way: str = "tame"
    chosen: Mapping[str, Value] | None = None
    ranks: dict[int, int] = field(default_factory=dict)
    ends: str = ""

    def rank(self, at: int) -> int:
        """The number of parameter `at` among those that are filled."""
        return self.ranks.setdefault(at, len(self.ranks))

    def turn(self, rank: int) -> int:
        """Which value of its pool a parameter of one element gets: each has the first ones in some call."""
        return (self.window + rank) % self.windows if self.windows > 1 else rank


class CallMaker:
    """Makes calls of one function. `explicit`: parameters that need no recipe; `sizes` fixes dimensions by name.

    `others`: programs that are compared with it, whose constants and conditions count too.
    """

    def __init__(
        self,
        module: IRModule,
        func: str,
        explicit: Collection[str] = (),
        sizes: Mapping[str, int] | None = None,
        others: Sequence[IRModule] = (),
        assume: Collection[ArgumentContract] = (),
    ) -> None:
        """Analyse the function. `assume`: contracts besides those that it asks for. Fails: RM111 (extern)."""
        function = module.functions[func]
        if isinstance(function, relax.ExternFunc):
            raise fail(BAD_INPUT, f"`{func}` is an extern function: it has no body")
        self._module, self._func, self._others = module, func, others
        self._parameters = parameters_of(function)
        self._explicit = frozenset(explicit)
        self.sizes = dict(sizes or {})
        self._assume = tuple(assume)
        self.dims = list(dict.fromkeys(var for each in self._parameters for var in size_variables(each.ty)))
        self._names = list(dict.fromkeys(var.name for var in self.dims))
        self._count = count(function) if isinstance(function, tir.PrimFunc) else None
        self._buffers = {item.name: item for item in getattr(function, "buffer_map", {}).values()}
        self._passed = {var.name: var for var in self.dims if var in function.params}

    @cached_property
    def uses(self) -> ProgramUses:
        """What the program does with its parameters."""
        uses = uses_of(self._module, self._func)
        for other in self._others:
            function = other.functions.get(self._func)
            if isinstance(function, tir.PrimFunc | relax.Function):
                names = [parameter.name for parameter in parameters_of(function)]
                own = [parameter.name for parameter in self._parameters]
                uses.add(uses_of(other, self._func), dict(zip(names, own, strict=False)))
        return uses

    @cached_property
    def contracts(self) -> Contracts:
        """What the arguments must satisfy."""
        return contracts_of(self._module, self._func).with_rows(self._assume)

    @cached_property
    def kinds(self) -> ElementKinds:
        """The kinds of elements of the parameters that get values."""
        rows = [
            (kind, self.uses.use(each.name))
            for each in self._parameters
            if each.name not in self._explicit and each.name not in self._passed
            for kind in _dtypes(each.ty)
        ]
        filled = [(kind, use) for kind, use in rows if not use.output]
        return ElementKinds(
            frozenset(kind for kind, _ in filled if kind.is_float),
            frozenset(kind for kind, use in filled if kind.is_integer and not use.is_index),
            any(kind.kind == "bool" for kind, _ in filled),
            any(_is_limited(kind, use) for kind, use in filled),
            any(self._has_open_strides(name) for name in self._buffers),
            any(use.output for _, use in rows),
        )

    def planned(self) -> Iterator[GeneratedCall]:
        """The calls of all purposes that apply, none twice: `ordinary`, `held`, sizes and those of `PURPOSES` in order.

        Fails: RM111 if an argument cannot be made.
        """
        known: set[tuple[Argument, ...]] = set()
        for at, call in enumerate(self._proposed()):
            if call.recipes not in known and (at == 0 or call.why != UNSATISFIED):
                known.add(call.recipes)
                yield call

    def _proposed(self) -> Iterator[GeneratedCall]:
        yield self.ordinary()
        explicit = all(parameter.name in self._explicit for parameter in self._parameters)
        if not explicit and HELD.applies(self.uses, self.kinds):
            yield from self.of_purpose(HELD)
        yield from self._at_ends()
        if explicit:
            return
        purposes = [purpose for purpose in PURPOSES if purpose.applies(self.uses, self.kinds)]
        plans = size_plans(self._names, self.uses, self.sizes, self._usual())
        yield from (self._sized(plan.sizes, plan.why) for plan in plans[:2])
        for purpose in purposes[:3]:
            yield from self.of_purpose(purpose)
        yield from (self._sized(plan.sizes, plan.why) for plan in plans[2:])
        for purpose in purposes[3:]:
            yield from self.of_purpose(purpose)
        for purpose in (STRIDES, OUTSIDE):
            if purpose.applies(self.uses, self.kinds):
                yield from self.of_purpose(purpose)

    def ordinary(self, sizes: Mapping[str, int] | None = None) -> GeneratedCall:
        """The first call: usual values; `sizes` in place of the usual ones."""
        name = EXPLICIT if all(each.name in self._explicit for each in self._parameters) else ORDINARY.name
        dims = self._dims({**self._roomy, **(sizes or {})})
        return self._call(_Filled(ORDINARY, dims), name, WHYS[name])

    @cached_property
    def _roomy(self) -> dict[str, int]:
        """The usual sizes, larger ones where those leave no value that satisfies the contracts."""
        usual = self._usual()
        free = [name for name in self._names if name not in self.sizes]
        larger = [{**usual, **{each: LARGER * usual[each] for each in each_set}} for each_set in (*zip(free), free)]
        for sizes in (usual, *larger):
            if self._call(_Filled(ORDINARY, self._dims(sizes)), ORDINARY.name, "").why != UNSATISFIED:
                return sizes
        return usual

    def _usual(self, *, many: bool = False) -> dict[str, int]:
        """The usual sizes, smaller where a call would take more than `MOST_ITERATIONS`."""
        sizes = usual_sizes(self._names, self.sizes, many=many)
        return affordable(sizes, self.sizes, self.iterations, MOST_ITERATIONS)

    def iterations(self, sizes: Mapping[str, int]) -> int:
        """The innermost iterations of a call, as far as the extents of loops tell; 0 for a function of Relax."""
        return 0 if self._count is None else self._count({var: sizes[var.name] for var in self.dims})

    def _at_ends(self) -> Iterator[GeneratedCall]:
        """Calls at the ends of what the contracts leave."""
        if self.contracts.rows:
            dims = self._dims(self._roomy)
            for ends in ENDS:
                yield self._call(_Filled(ORDINARY, dims, ends=ends), f"{CONTRACTS} {ends}", WHYS[CONTRACTS])

    def _sized(self, sizes: Mapping[str, int], why: str) -> GeneratedCall:
        return self._call(_Filled(ORDINARY, self._dims(sizes)), SIZES, why)

    def random(self, seed: int, sizes: Mapping[str, int] | None = None, way: str = "") -> GeneratedCall:
        """A call by the seed; `sizes` fixes dimensions besides, `way` the floats (`contents`)."""
        random = Random(seed * 7919 + 17)  # noqa: S311 - reproducible, not secret
        drawn = {name: random.randint(1, 9) for name in self._names}
        dims = self._dims({**drawn, **self.sizes, **(sizes or {})})
        way = way or RANDOM_WAYS[seed % len(RANDOM_WAYS)]
        return self._call(_Filled(ORDINARY, dims, seed * 1009 + 31, way=way), RANDOM, f"{WHYS[RANDOM]} {seed}")

    def of_purpose(self, purpose: Purpose) -> Iterator[GeneratedCall]:
        """The calls of one purpose: as many as its values need, at most `purpose.most`."""
        dims = self._dims(self._usual(many=True))
        calls = 1 if purpose in (STRIDES, HELD) else min(self._windows(purpose, dims), purpose.most)
        for window in range(calls):
            name = purpose.name if calls == 1 else f"{purpose.name} {window + 1}"
            yield self._call(_Filled(purpose, dims, 0, window, calls), name, self._why(purpose))

    def branching(self, values: Mapping[str, Value]) -> GeneratedCall:
        """A call with these values of parameters and dimensions, everywhere in them."""
        sizes = {name: int(value) for name, value in values.items() if name in self._names}
        dims = self._dims({**self._usual(), **sizes, **self.sizes})
        text = ", ".join(f"`{name}` = {value}" for name, value in values.items())
        return self._call(_Filled(ORDINARY, dims, chosen=values), BRANCHES, f"{text}: decides a condition")

    def _windows(self, purpose: Purpose, dims: Dims) -> int:
        """How many calls the pools of a purpose need; 0 if it fills nothing."""
        needed = 0
        for each in self._parameters:
            use = self.uses.use(each.name)
            if each.name in self._explicit or use.output or each.name in self._passed:
                continue
            for kind in _dtypes(each.ty):
                filling = self._filling(_Filled(purpose, dims), each.name, kind)
                if filling is not None:
                    needed = max(needed, -(-len(filling.pool) // max(_count(each.ty, dims), 1)), 1)
        return needed

    def _why(self, purpose: Purpose) -> str:
        """Why there is a call of this purpose; with the values where the program decides them."""
        if purpose.name != "constants":
            return purpose.why
        values: list[Value] = []
        for each in self._parameters:
            values += self.uses.use(each.name).decisive
        values += [*self.uses.integers, *self.uses.floats]
        return f"{', '.join(f'{value:g}' for value in list(dict.fromkeys(values))[:6])}: {purpose.why}"

    def _dims(self, sizes: Mapping[str, int]) -> Dims:
        sizes = promised(self._module.functions[self._func], admissible_sizes(self.contracts, sizes, self.sizes))
        return {var: self.sizes.get(var.name, sizes[var.name]) for var in self.dims}

    def _call(self, filled: _Filled, name: str, why: str) -> GeneratedCall:
        recipes = tuple(
            NOTHING if each.name in self._explicit else self._recipe(each.name, each.ty, filled, at)
            for at, each in enumerate(self._parameters)
        )
        sizes = {var.name: size for var, size in filled.dims.items()}
        wild = filled.purpose.wild or filled.way != "tame"
        if filled.purpose is OUTSIDE:
            return GeneratedCall(recipes, sizes, name, why, wild)
        names = [each.name for each in self._parameters]
        inside = admissible(self.contracts, names, recipes, sizes, filled.ends)
        if inside is None:
            return GeneratedCall(recipes, sizes, name, UNSATISFIED, wild=True)
        return GeneratedCall(inside, sizes, name, why, wild)

    def _recipe(self, name: str, ty: Type | None, filled: _Filled, at: int) -> Argument:
        match ty:
            case TensorType(shape=shape, dtype=kind, ndim=ndim):
                sizes = UNKNOWN_SIZES[: max(ndim, 1)] if shape is None else self._shape(name, shape, filled.dims)
                return self._array(name, FLOAT32 if kind is None else kind, sizes, filled, at)
            case PrimType(dtype=kind, value=value) if kind.kind not in ("handle", "void"):
                return Number(kind, self._number(name, kind, self._passed.get(name, value), filled, at))
            case ShapeType(values=values, ndim=ndim):
                return ShapeOf(
                    UNKNOWN_SIZES[: max(ndim, 0)] if values is None else self._shape(name, values, filled.dims)
                )
            case TupleType(fields=fields):
                return TupleOf(tuple(self._recipe(name, part, filled, at + 7 * k) for k, part in enumerate(fields)))
            case _:
                raise fail(BAD_INPUT, f"no argument can be made for `{name}` of `{self._func}`: give `--input`")

    def _shape(self, name: str, shape: Sequence[tir.Expr], dims: Dims) -> tuple[int, ...]:
        sizes = [known(extent, dims) for extent in shape]
        if any(size is None or size < 0 for size in sizes):
            raise fail(BAD_INPUT, f"`{name}` of `{self._func}` has a size that refmlc cannot choose: give `--input`")
        return tuple(size for size in sizes if size is not None)

    def _array(self, name: str, kind: DType, sizes: tuple[int, ...], filled: _Filled, at: int) -> Array:
        if kind.kind == "handle":
            raise fail(BAD_INPUT, f"no argument can be made for `{name}` of `{self._func}`, which holds handles")
        if prod(sizes) > MOST:
            raise fail(BAD_INPUT, f"`{name}` of `{self._func}` has {prod(sizes)} elements: give `--input` or `--dim`")
        use = self.uses.use(name)
        form = "fresh" if use.output and filled.purpose is not HELD else "compact"
        low, high = self._range(kind, use, filled.dims)
        way = use.domain if use.domain in (UNIT, ASCENDING) else filled.way
        array = Array(kind, sizes, way, filled.seed + at, low, high, form, self._strides(name, sizes, filled))
        filling = None if use.output or use.domain in (UNIT, ASCENDING) else self._filling(filled, name, kind)
        if filling is None:
            return array
        if filling.put is not None:
            rank = filled.rank(at)
            return replace(array, puts=((-1 - rank if filling.last else rank, filling.put),))
        rank, count = filled.rank(at), max(prod(sizes), 1)
        start = (filled.window * count if count > 1 else filled.turn(rank)) % len(filling.pool)
        pool = filling.pool[start:] + filling.pool[:start]
        return replace(array, way=CYCLE, seed=rank if count > 1 else 0, low=0, high=0, pool=pool)

    def _filling(self, filled: _Filled, name: str, kind: DType) -> Filling | None:
        """What fills a parameter, indices and operands of divisions kept where they may be."""
        use = self.uses.use(name)
        if filled.chosen is not None and name in filled.chosen:
            return Filling((filled.chosen[name],))
        filling = filled.purpose.fills(kind, use, self.uses)
        if filling is None or not kind.is_integer or filled.purpose is OUTSIDE:
            return filling
        if not _is_limited(kind, use):
            return filling
        low, high = self._range(kind, use, filled.dims, plausible=False)
        inside = dict.fromkeys([value for value in filling.pool if low <= value <= high] + [low, high])
        return Filling(tuple(inside))

    def _strides(self, name: str, sizes: tuple[int, ...], filled: _Filled) -> tuple[int, ...]:
        """The strides that are declared as numbers, or follow from sizes; nothing where the elements may be dense.

        For the purpose `strides` those that are open leave a gap.
        """
        buffer = self._buffers.get(name)
        steps = [known(step, filled.dims) for step in buffer.strides] if buffer is not None else []
        known_steps = tuple(step for step in steps if step is not None and step >= 0)
        if len(known_steps) == len(sizes):
            return known_steps
        if filled.purpose is not STRIDES or not self._has_open_strides(name):
            return ()
        strides: list[int] = []
        reach = 1
        for step, size in zip(reversed(steps), reversed(sizes), strict=True):
            strides.append(reach + GAP if step is None else step)
            reach = strides[-1] * max(size, 1)
        return tuple(reversed(strides))

    def _has_open_strides(self, name: str) -> bool:
        """Whether the strides of a buffer are symbols that no size decides."""
        buffer = self._buffers[name]
        return len(buffer.strides) == len(buffer.shape) and any(
            isinstance(node, tir.Var) and node not in self.dims for step in buffer.strides for node in walk(step)
        )

    def _range(self, kind: DType, use: ParameterUse, dims: Dims, *, plausible: bool = True) -> tuple[int, int]:
        """The least and the greatest integer of a parameter; `plausible` where the program does not say."""
        if not kind.is_integer:
            return 0, 0
        low, high = kind.minimum, kind.maximum
        if plausible:
            low, high = max(low, -PLAUSIBLE), min(high, PLAUSIBLE)
        if use.is_index:
            axes = [size for size in (known(extent, dims) for extent in use.below) if size is not None]
            low, high = 0, min([*(size - 1 for size in axes), high]) if axes else min(self._smallest(dims) - 1, high)
        low = low if use.low is None else max(low, use.low)
        high = high if use.high is None else min(high, use.high)
        return low, max(low, high)

    def _smallest(self, dims: Dims) -> int:
        """The least size of any dimension of a parameter, 0 and 1 left out."""
        sizes = [known(extent, dims) for parameter in self._parameters for extent in extents(parameter.ty)]
        return min((size for size in sizes if size is not None and size > 1), default=2)

    def _number(self, name: str, kind: DType, value: tir.Expr | None, filled: _Filled, at: int) -> Value:
        fixed = None if value is None else known(value, filled.dims)
        if fixed is not None:
            return fixed
        filling = self._filling(filled, name, kind)
        if filling is not None:
            pool = _scalar_pool((filling.put,) if filling.put is not None else filling.pool, kind)
            chosen = pool[filled.turn(filled.rank(at)) % len(pool)]
            return float(chosen) if kind.is_float else int(chosen)
        if kind.is_float:
            return Random(filled.seed + at).choice(NUMBERS)  # noqa: S311 - reproducible, not secret
        return 1 if kind.kind == "bool" else min(2, self._range(kind, self.uses.use(name), filled.dims)[1])


def within(call: GeneratedCall, reach: int | None, limit: float | None) -> GeneratedCall:
    """The call with integers up to `reach` in magnitude, and floats up to `limit`, NaN 0; None: as they are."""
    return replace(call, recipes=tuple(_within(recipe, reach, limit) for recipe in call.recipes))


def _within(recipe: Argument, reach: int | None, limit: float | None) -> Argument:
    bound = reach if not isinstance(recipe, Array | Number) or not recipe.dtype.is_float else limit
    match recipe:
        case TupleOf(items):
            return TupleOf(tuple(_within(item, reach, limit) for item in items))
        case Array(way="edges") if bound is not None and recipe.dtype.is_float:
            return replace(recipe, way="small")
        case Array() if bound is not None:
            puts = tuple((place, _bounded(value, bound)) for place, value in recipe.puts)
            return replace(recipe, pool=_bounded_pool(recipe.pool, bound), puts=puts)
        case Number(kind, value) if bound is not None and kind.kind != "bool":
            return Number(kind, _bounded(value, bound))
        case _:
            return recipe


def _bounded(value: Value, bound: float) -> Value:
    if isinstance(value, float):
        return min(max(value, -bound), bound) if value == value else 0.0  # noqa: PLR0124 - NaN
    return min(max(value, -int(bound)), int(bound))


def _bounded_pool(pool: Pool, bound: float) -> Pool:
    return tuple(_bounded(value, bound) for value in pool)


def _is_limited(kind: DType, use: ParameterUse) -> bool:
    return kind.is_integer and (use.is_index or use.low is not None or use.high is not None)


def _scalar_pool(pool: Pool, kind: DType) -> Pool:
    """The pool with 0 and 1 first, where a float may be one of special values: what is multiplied by it matters."""
    if not kind.is_float or 0.0 not in pool or 1.0 not in pool:
        return pool
    return (0.0, 1.0, *(value for value in pool if value not in (0.0, 1.0)))


def _dtypes(ty: Type | None) -> Iterator[DType]:
    match ty:
        case TensorType(dtype=kind):
            yield FLOAT32 if kind is None else kind
        case PrimType(dtype=kind):
            yield kind
        case TupleType(fields=fields):
            for part in fields:
                yield from _dtypes(part)
        case _:
            return


def _count(ty: Type | None, dims: Dims) -> int:
    """The number of elements of a parameter."""
    sizes = [known(extent, dims) for extent in extents(ty)]
    return prod(size for size in sizes if size is not None)
