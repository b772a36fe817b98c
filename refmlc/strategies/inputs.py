"""Recipes of arguments for any module: made from the declarations of its parameters and from their uses.

| parameter              | argument                                                                       |
|------------------------|--------------------------------------------------------------------------------|
| a symbolic dimension   | 2, 3, 1, 0, 5, 4, 7: one value for all its uses; or the value of the caller    |
| a buffer, first loaded | filled: floats of any way, integers in the limits of `requirements` or ±100    |
| a buffer, first stored | an output: fresh memory, nothing in it initialised                             |
| a number               | the value of the dimension if it is one, else small                            |
| a tensor of Relax      | filled; an unknown dimension is 2                                              |
| a shape, a tuple       | made of the same                                                               |

Decision: this is not the source of calls of checks, which is `refmlc.oracle.arguments` and covers purposes. It stands
above: the oracle imports the strategies, so these cannot import it. A strategy draws many calls of one program, at
random, and Hypothesis makes them smaller; a check makes few calls that each have a reason.
"""

from collections.abc import Iterator, Mapping

from refmlc.diag import Undefined, fail
from refmlc.diag.catalogue import BAD_USAGE, UNSUPPORTED_CONSTRUCT
from refmlc.lang.dtypes import FLOAT32, DType
from refmlc.lang.ir import IRModule, relax, tir, types
from refmlc.lang.ir.visit import walk
from refmlc.lang.ops.evaluate import evaluate
from refmlc.strategies.arguments import Argument, Array, Number, ShapeOf, TupleOf
from refmlc.strategies.choices import Choices, SeededChoices
from refmlc.strategies.ranges import limits
from refmlc.strategies.requirements import Need, needs_of

SIZES = (2, 3, 1, 0, 5, 4, 7)
TAME = 100
WAYS = ("tame", "small", "steps", "edges", "any")
UNKNOWN = 2
LOOKING_UP = ("take", "gather", "scatter", "index", "one_hot", "embedding", "dynamic_strided_slice")


def rolled_inputs(
    module: IRModule, func: str, seed: int, *, dims: Mapping[str, int] | None = None
) -> tuple[Argument, ...]:
    """Recipes for one call of `func`, the same for the same seed. `dims`: values of symbolic dimensions by name.

    Seed 0 has floats in -1 … 1 and dimensions of 2 and more; others have all sizes and all values.

    Fails: RM112 (no such function), RM504 (a parameter without a possible argument).
    """
    choices = SeededChoices(seed)
    return Inputs(choices, dims or {}, gentle=seed == 0).of(module, func)


def variables(extent: tir.Expr) -> Iterator[tir.Var]:
    """The variables in an extent."""
    return (node for node in walk(extent) if isinstance(node, tir.Var))


class Inputs:
    """Makes arguments. `gentle`: only usual values and sizes; `indices`: integers are indices, and all 0."""

    def __init__(self, choices: Choices, dims: Mapping[str, int], *, gentle: bool = False) -> None:
        self.choices = choices
        self.dims = dims
        self.gentle = gentle
        self.sizes: dict[tir.Var, int] = {}
        self.indices = False

    def of(self, module: IRModule, func: str) -> tuple[Argument, ...]:
        """Arguments for one call of `func`. Fails: RM112, RM504."""
        function = module.functions.get(func)
        match function:
            case tir.PrimFunc():
                return self.of_prim_func(function)
            case relax.Function():
                self.indices = _looks_up(module, function)
                return tuple(self.of_type(param.ty, param.name) for param in function.params)
            case _:
                known = ", ".join(module.functions)
                raise fail(BAD_USAGE, f"the module has no function `{func}` to call", None, f"its functions: {known}")

    def size(self, var: tir.Var) -> int:
        """The value of a symbolic dimension."""
        if var not in self.sizes:
            value = self.choices.pick(SIZES[:2] if self.gentle else SIZES)
            self.sizes[var] = self.dims.get(var.name, value)
        return self.sizes[var]

    def extent(self, expr: tir.Expr) -> int:
        """The value of an extent; 0 if it would be negative or is undefined: a call then reports the cause.

        Fails: RM501, RM503, RM504 for expressions that are not arithmetic on extents.
        """
        values = {var: self.size(var) for var in variables(expr)}
        try:
            return max(int(evaluate(expr, values)), 0)
        except Undefined:
            return 0

    def of_prim_func(self, func: tir.PrimFunc) -> tuple[Argument, ...]:
        """Arguments of a TensorIR function."""
        needs = needs_of(func)
        shapes = {var for buffer in func.buffer_map.values() for size in buffer.shape for var in variables(size)}
        recipes: list[Argument] = []
        for param in func.params:
            buffer = func.buffer_map.get(param)
            if buffer is not None:
                recipes.append(self.of_buffer(buffer, needs[buffer]))
            elif param in shapes:
                recipes.append(Number(param.dtype, self.size(param)))
            else:
                recipes.append(self.number(param.dtype, param.name))
        return tuple(recipes)

    def of_buffer(self, buffer: tir.Buffer, need: Need) -> Array:
        """A tensor for a buffer."""
        shape = tuple(self.extent(size) for size in buffer.shape)
        if need.stored and not need.filled:
            return Array(buffer.dtype, shape, "steps", 0, 0, 0, "fresh")
        high = min([self.extent(extent) - 1 for extent in need.below], default=None)
        low = 0 if need.low is None and high is not None else need.low
        need.within(-TAME if low is None else low, high)
        return self.array(buffer.dtype, shape, need.low, need.high)

    def array(self, kind: DType, shape: tuple[int, ...], low: int | None = None, high: int | None = None) -> Array:
        """A filled tensor; `low` and `high` bound integers."""
        lower, upper = limits(kind)
        lower, upper = max(lower, -TAME), min(upper, TAME)
        if kind.is_integer:
            lower, upper = (
                max(lower, low if low is not None else lower),
                min(upper, high if high is not None else upper),
            )
            upper = max(lower, upper)
        way = self.choices.pick(WAYS[:1] if self.gentle else WAYS)
        return Array(kind, shape, way, self.choices.below(1000), lower, upper)

    def number(self, kind: DType, name: str) -> Number:
        """An argument of a parameter that is a number. Fails: RM504 for a pointer."""
        if kind.kind == "handle":
            raise fail(UNSUPPORTED_CONSTRUCT, f"no argument can be made for the pointer `{name}`", None)
        value = self.dims.get(name, self.choices.pick((2, 1, 3, 0, 5)))
        return Number(kind, float(value)) if kind.is_float else Number(kind, min(value, limits(kind)[1]))

    def of_type(self, ty: types.Type | None, name: str) -> Argument:
        """A value of a Relax type."""
        match ty:
            case types.TensorType(shape=shape, dtype=kind, ndim=ndim):
                unknown = (UNKNOWN,) * max(ndim, 0)
                extents = unknown if shape is None else tuple(self.extent(size) for size in shape)
                return self.array(kind or FLOAT32, extents, *((0, 0) if self.indices else (None, None)))
            case types.ShapeType(values=None, ndim=ndim):
                return ShapeOf((UNKNOWN,) * max(ndim, 0))
            case types.ShapeType(values=tuple() as values):
                return ShapeOf(tuple(self.extent(value) for value in values))
            case types.PrimType(dtype=kind, value=tir.Var() as var) if kind.is_integer:
                return Number(kind, self.size(var))
            case types.PrimType(dtype=kind):
                return self.number(kind, name)
            case types.TupleType(fields=fields):
                return TupleOf(tuple(self.of_type(field, name) for field in fields))
            case _:
                raise fail(UNSUPPORTED_CONSTRUCT, f"no argument can be made for `{name}`: its type is unknown", None)


def _looks_up(module: IRModule, function: relax.Function) -> bool:
    """True if a graph uses integers as indices: then they are all 0, which is an index of every tensor."""
    for node in walk(function):
        if isinstance(node, relax.Op) and any(part in node.name for part in LOOKING_UP):
            return True
        callee = module.functions.get(node.name) if isinstance(node, tir.GlobalVar) else None
        if isinstance(callee, tir.PrimFunc) and any(need.below or need.high == 0 for need in needs_of(callee).values()):
            return True
    return False
