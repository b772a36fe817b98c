"""Generated calls of a function: sizes of symbolic dimensions, boundaries included, and recipes of arguments.

| call    | symbolic dimensions          | floats                   | integers                            |
|---------|------------------------------|--------------------------|-------------------------------------|
| 1       | 3, 4, 5, …: each another one | in -1 … 1                | indices that any dimension has      |
| 2       | 1                            | multiples of 1/4, ±0     | the same                            |
| 3       | the first 0, the others 2    | ±inf, NaN, subnormals, … | of ±1000, unless they are indices   |
| 4, 5, … | by the seed, of 1 … 9        | the same three, in turn  | the same                            |
| `wild`  | as of call 1                 | as of call 3             | of ±1000, indices too               |

| parameter of a prim_func                        | argument                       |
|-------------------------------------------------|--------------------------------|
| only loaded, or first loaded in program order   | initialised                    |
| first stored to, or what a reduction folds into | uninitialised: it is an output |

A size that is also a parameter has the chosen size. A parameter that a Relax function passes to an operator
which requires more than a dtype (`Operator.domains`: indices, ascending boundaries, samples from 0 to 1) gets
such values in every call.

Decision: indices are what integers are taken for wherever one may reach an index, since a random one has no meaning.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random

import numpy as np

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_INPUT
from refmlc.lang.dtypes import FLOAT32, DType
from refmlc.lang.ir import IRModule, relax, tir
from refmlc.lang.ir.types import PrimType, ShapeType, TensorType, TupleType, Type
from refmlc.lang.ir.visit import walk
from refmlc.lang.library import OPERATORS
from refmlc.lang.ops.evaluate import known
from refmlc.run.dims import Dims
from refmlc.strategies.arguments import Argument, Array, Number, ShapeOf, TupleOf
from refmlc.strategies.contents import ASCENDING, UNIT
from refmlc.vm.parameters import parameters_of

WAYS = ("tame", "small", "edges")
FIRST = 3
LARGEST = 1000  # of 32 and 64 bits, where a sum that overflows has no meaning: such operands are the user's to give
MOST = 1 << 24  # elements of a tensor that is made
UNKNOWN_SIZES = (2, 3, 4, 5)
SEARCHED = 256
NOTHING = ShapeOf(())  # in place of an explicit argument


@dataclass(frozen=True)
class GeneratedCall:
    """The recipes of one call, and the sizes that were chosen for it."""

    recipes: tuple[Argument, ...]
    sizes: Mapping[str, int]
    way: str


class CallMaker:
    """Makes calls of one function."""

    def __init__(self, module: IRModule, func: str, explicit: Collection[str] = ()) -> None:
        """Analyse the function. `explicit`: parameters that need no recipe. Fails: RM111 (extern)."""
        function = module.functions[func]
        if isinstance(function, relax.ExternFunc):
            raise fail(BAD_INPUT, f"`{func}` is an extern function: it has no body")
        self._parameters = parameters_of(function)
        self._func = func
        self._explicit = frozenset(explicit)
        self._fresh = outputs(function) if isinstance(function, tir.PrimFunc) else frozenset()
        self._indexed = any(_may_index(item) for item in module.functions.values())
        self._domains = domains_of(function) if isinstance(function, relax.Function) else {}
        self.dims = list(dict.fromkeys(self._variables()))
        self._buffers = {item.name: item for item in getattr(function, "buffer_map", {}).values()}
        self._passed = {var.name: var for var in self.dims if var in function.params}

    def call(self, number: int, seed: int, sizes: Mapping[str, int]) -> GeneratedCall:
        """Call `number`; `sizes` fixes dimensions by name. Fails: RM111 if an argument cannot be made."""
        dims = self._sizes(number, seed, sizes)
        way = WAYS[number % len(WAYS)]
        recipes = [
            NOTHING
            if parameter.name in self._explicit
            else self._recipe(parameter.name, parameter.ty, dims, way, seed * 1009 + number * 31 + at)
            for at, parameter in enumerate(self._parameters)
        ]
        return GeneratedCall(tuple(recipes), {var.name: size for var, size in dims.items()}, way)

    def wild(self, seed: int) -> GeneratedCall:
        """A call beside the others, which has a meaning where the function guards itself: it clamps its indices, say.

        Where a near seed has it, floats have a NaN, integers both ends of their range, bools begin with False.
        Fails: RM111 if an argument cannot be made.
        """
        dims = self._sizes(0, seed, {})
        recipes = [
            _searched(self._recipe(parameter.name, parameter.ty, dims, "wild", seed * 1009 + 7 + at))
            for at, parameter in enumerate(self._parameters)
        ]
        return GeneratedCall(tuple(recipes), {var.name: size for var, size in dims.items()}, "wild")

    def _variables(self) -> Iterator[tir.Var]:
        for parameter in self._parameters:
            for extent in _extents(parameter.ty):
                yield from (node for node in walk(extent) if isinstance(node, tir.Var))

    def _sizes(self, number: int, seed: int, sizes: Mapping[str, int]) -> Dims:
        random = Random(seed * 7919 + number)  # noqa: S311 - reproducible, not secret
        dims: Dims = {}
        for at, var in enumerate(self.dims):
            size = (FIRST + at, 1, 2 if at else 0)[number] if number < len(WAYS) else random.randint(1, 9)
            dims[var] = sizes.get(var.name, size)
        return dims

    def _recipe(self, name: str, ty: Type | None, dims: Dims, way: str, seed: int) -> Argument:
        match ty:
            case TensorType(shape=shape, dtype=kind, ndim=ndim):
                sizes = UNKNOWN_SIZES[: max(ndim, 1)] if shape is None else self._shape(name, shape, dims)
                return self._array(name, FLOAT32 if kind is None else kind, sizes, dims, way, seed)
            case PrimType(dtype=kind, value=value) if kind.kind not in ("handle", "void"):
                return Number(kind, self._number(kind, self._passed.get(name, value), dims, way, seed))
            case ShapeType(values=values, ndim=ndim):
                return ShapeOf(UNKNOWN_SIZES[: max(ndim, 0)] if values is None else self._shape(name, values, dims))
            case TupleType(fields=fields):
                return TupleOf(
                    tuple(self._recipe(name, field, dims, way, seed + 7 * at) for at, field in enumerate(fields))
                )
            case _:
                raise fail(BAD_INPUT, f"no argument can be made for `{name}` of `{self._func}`: give `--input`")

    def _shape(self, name: str, shape: Sequence[tir.Expr], dims: Dims) -> tuple[int, ...]:
        sizes = [known(extent, dims) for extent in shape]
        if any(size is None or size < 0 for size in sizes):
            raise fail(BAD_INPUT, f"`{name}` of `{self._func}` has a size that refmlc cannot choose: give `--input`")
        return tuple(size for size in sizes if size is not None)

    def _array(self, name: str, kind: DType, sizes: tuple[int, ...], dims: Dims, way: str, seed: int) -> Array:
        if kind.kind == "handle":
            raise fail(BAD_INPUT, f"no argument can be made for `{name}` of `{self._func}`, which holds handles")
        count = 1
        for size in sizes:
            count *= size
        if count > MOST:
            raise fail(BAD_INPUT, f"`{name}` of `{self._func}` has {count} elements: give `--input` or `--dim`")
        form = "fresh" if name in self._fresh else "compact"
        domain = self._domains.get(name, "")
        low, high = self._range(kind, dims, "tame" if domain == "index" else way)
        strides = self._strides(name, sizes, dims)
        content = domain if domain in (UNIT, ASCENDING) else "edges" if way == "wild" else way
        return Array(kind, sizes, content, seed, low, high, form, strides)

    def _strides(self, name: str, sizes: tuple[int, ...], dims: Dims) -> tuple[int, ...]:
        """The strides that are declared as numbers, or follow from sizes; nothing where the elements may be dense."""
        buffer = self._buffers.get(name)
        steps = [known(step, dims) for step in buffer.strides] if buffer is not None else []
        known_steps = tuple(step for step in steps if step is not None and step >= 0)
        return known_steps if len(known_steps) == len(sizes) else ()

    def _range(self, kind: DType, dims: Dims, way: str) -> tuple[int, int]:
        if not kind.is_integer:
            return 0, 0
        if way == "wild" or (way == "edges" and not self._indexed):
            return max(kind.minimum, -LARGEST), min(kind.maximum, LARGEST)
        return 0, min(max(self._smallest(dims) - 1, 0), kind.maximum)

    def _smallest(self, dims: Dims) -> int:
        """The least size of any dimension of a parameter, 0 and 1 left out."""
        sizes = [known(extent, dims) for parameter in self._parameters for extent in _extents(parameter.ty)]
        return min((size for size in sizes if size is not None and size > 1), default=2)

    def _number(self, kind: DType, value: tir.Expr | None, dims: Dims, way: str, seed: int) -> int | float:
        fixed = None if value is None else known(value, dims)
        if fixed is not None:
            return fixed
        if kind.is_float:
            return Random(seed).choice((0.5, -1.25, 2.0, 1.0))  # noqa: S311 - reproducible, not secret
        return 1 if way == "small" or kind.kind == "bool" else min(2, self._smallest(dims) - 1)


def _searched(recipe: Argument) -> Argument:
    """The recipe with a seed near its own that gives what `wild` looks for; itself where none does."""
    if not isinstance(recipe, Array) or recipe.form == "fresh" or 0 in recipe.shape:
        return recipe
    for candidate in (replace(recipe, seed=recipe.seed + offset) for offset in range(SEARCHED)):
        values = candidate.values()
        match recipe.dtype.kind:
            case "bool":
                suitable = not values.flat[0]
            case "int" | "uint":
                suitable = values.min() == recipe.low and (values.size == 1 or values.max() == recipe.high)
            case _:
                suitable = recipe.dtype.is_float and bool(np.isnan(values.astype("float64")).any())
        if suitable:
            return candidate
    return recipe


def _extents(ty: Type | None) -> Iterator[tir.Expr]:
    match ty:
        case TensorType(shape=shape) if shape is not None:
            yield from shape
        case ShapeType(values=values) if values is not None:
            yield from values
        case PrimType(value=tir.Var() as value):
            yield value
        case TupleType(fields=fields):
            for field in fields:
                yield from _extents(field)
        case _:
            return


def outputs(func: tir.PrimFunc) -> frozenset[str]:
    """The names of the buffers given that are written before they are read, or that a reduction folds into."""
    first: dict[tir.Buffer, bool] = {}
    for store, in_reduction in _stores(func.body, in_reduction=False):
        loads = {node.buffer for node in walk(store) if isinstance(node, tir.BufferLoad)}
        for buffer in loads:
            if not (buffer is store.buffer and in_reduction):
                first.setdefault(buffer, False)
        first.setdefault(store.buffer, True)
    parameters = set(func.buffer_map.values())
    return frozenset(buffer.name for buffer, stored in first.items() if stored and buffer in parameters)


def _stores(stmt: tir.Stmt, *, in_reduction: bool) -> Iterator[tuple[tir.BufferStore, bool]]:
    """Every store in program order, and whether it stands in a block that reduces."""
    match stmt:
        case tir.BufferStore():
            yield stmt, in_reduction
        case tir.For(body=body) | tir.While(body=body) | tir.AttrStmt(body=body):
            yield from _stores(body, in_reduction=in_reduction)
        case tir.SeqStmt(seq):
            for part in seq:
                yield from _stores(part, in_reduction=in_reduction)
        case tir.IfThenElse(_, then_case, else_case):
            yield from _stores(then_case, in_reduction=in_reduction)
            if else_case is not None:
                yield from _stores(else_case, in_reduction=in_reduction)
        case tir.SBlockRealize(block=block):
            reduces = block.init is not None or any(axis.kind.value == "reduce" for axis in block.iter_vars)
            if block.init is not None:
                yield from _stores(block.init, in_reduction=in_reduction)
            yield from _stores(block.body, in_reduction=in_reduction or reduces)
        case _:
            return


def domains_of(function: relax.Function) -> Mapping[str, str]:
    """What operators ask of the values of parameters that they are given as they are, by the parameters' names."""
    names: dict[relax.Var, str] = {param: param.name for param in function.params}
    domains: dict[str, str] = {}
    for node in walk(function):
        match node:
            case (
                relax.VarBinding(var=var, value=relax.Var() as value)
                | relax.MatchCast(var=var, value=relax.Var() as value)
            ):
                if value in names:
                    names[var] = names[value]
            case relax.Call(op=relax.Op(name=name), args=args) if name in OPERATORS:
                operator = OPERATORS[name]
                for parameter, arg in zip(operator.arguments, args, strict=False):
                    parts = arg.fields if isinstance(arg, relax.Tuple) else (arg,)
                    domain = operator.domains.get(parameter)
                    arguments = [part for part in parts if isinstance(part, relax.Var) and part in names]
                    domains |= {names[part]: domain for part in arguments if domain is not None}
            case _:
                pass
    return domains


def _may_index(function: "tir.PrimFunc | relax.Function | relax.ExternFunc") -> bool:
    """Whether an element may become an index: of a buffer, or of an operator that takes some."""
    if isinstance(function, relax.Function):
        operators = (node.name for node in walk(function) if isinstance(node, relax.Op))
        return any("index" in OPERATORS[name].domains.values() for name in operators if name in OPERATORS)
    if not isinstance(function, tir.PrimFunc):
        return False
    for node in walk(function.body):
        match node:
            case tir.BufferLoad(indices=indices) | tir.BufferStore(indices=indices):
                if any(_loads(index) for index in indices):
                    return True
            case tir.Bind(value=value) | tir.Let(value=value):
                if _loads(value):
                    return True
            case _:
                pass
    return False


def _loads(expr: tir.Expr) -> bool:
    return any(isinstance(node, tir.BufferLoad) for node in walk(expr))
