"""Functions and runs once more, for dimensions that are known: translated and compiled when much was done with them.

What C does with variables for extents is checked at every step; with numbers it can be proved, put into another order,
and made of vectors. Decision: a compilation is worth the time it takes, so one is made for dimensions with which as
many iterations were executed, or are about to be, as take that time, in a program with few such dimensions.
"""

from collections.abc import Callable, Hashable, Mapping
from threading import Lock
from typing import Final, Generic, TypeAlias, TypeVar

from refmlc.lang.ir import IRModule, tir
from refmlc.lang.ops.evaluate import known
from refmlc.native.emit import emit_module
from refmlc.native.fuse import Fused, fuse_static, with_dims
from refmlc.native.options import Options
from refmlc.native.tier.compiled import Compiled, Translation, load, with_entries
from refmlc.native.unit import Source
from refmlc.run.dims import Dims

WORTH: Final = 1 << 25
"""Iterations of compiled code that take as long as a compilation."""
FOREVER: Final = 1 << 62
MOST: Final = 64
"""Compilations for known dimensions of one module."""

MOST_SHAPES: Final = 256  # bindings of dimensions that are counted
Make: TypeAlias = Callable[[], Translation | None]
Dimensions: TypeAlias = tuple[int, ...]
T = TypeVar("T")


class Spending(Generic[T]):
    """The iterations executed with each binding of dimensions, and what is made for one with which they are many."""

    def __init__(self, make: Callable[[Dimensions], T | None]) -> None:
        """`make` is asked once for each such binding; None: there is nothing better."""
        self._make = make
        self._spent: dict[Dimensions, int] = {}
        self._made: dict[Dimensions, T | None] = {}

    def spend(self, dims: Dimensions, iterations: int) -> None:
        """So many iterations were executed, or are about to be."""
        if dims not in self._spent and len(self._spent) >= MOST_SHAPES:
            self._spent.clear()
        self._spent[dims] = self._spent.get(dims, 0) + iterations

    def left(self, dims: Dimensions) -> int:
        """The iterations after which something is made; a great number where it was."""
        return FOREVER if dims in self._made else WORTH - self._spent.get(dims, 0)

    def better(self, dims: Dimensions) -> T | None:
        """What is made for these dimensions, if it is; this makes it where they were spent on enough."""
        if dims in self._made:
            return self._made[dims]
        if self._spent.get(dims, 0) < WORTH:
            return None
        found = self._made[dims] = self._make(dims)
        return found


class Specials:
    """What of a module is compiled for known dimensions. For concurrent use."""

    def __init__(self, module: IRModule, translation: Translation, options: Options) -> None:
        self._module = module
        self._source = Source(translation.text, translation.units, translation.declined)
        self._options = options
        self._lock = Lock()
        self._made: dict[Hashable, Compiled | None] = {}

    def function(self, name: str, dims: tuple[int, ...]) -> Compiled | None:
        """The prim_func `name` where the variables of its shapes are `dims`; None: there is nothing better."""
        return self._once((name, dims), lambda: self._function(name, dims))

    def run(self, run: Fused, dims: Mapping[tir.Var, int]) -> Compiled | None:
        """A run of bindings where the symbolic dimensions are `dims`; None: there is nothing better."""
        return self._once((run.symbol, *dims.items()), lambda: self._run(run, dict(dims)))

    def _once(self, key: Hashable, make: Make) -> Compiled | None:
        with self._lock:
            if key not in self._made:
                translation = make() if len(self._made) < MOST else None
                compiled = None if translation is None else load(translation, self._options.isa)
                self._made[key] = compiled if compiled is not None and compiled.library is not None else None
            return self._made[key]

    def _function(self, name: str, dims: tuple[int, ...]) -> Translation | None:
        func = self._module.functions[name]
        if not isinstance(func, tir.PrimFunc):
            return None
        values = dict(zip(self._source.units[name].dims, dims, strict=True))
        module = IRModule({name: with_dims(func, values)})
        made = emit_module(module, self._options)
        return with_entries(Translation(made.text, made.units), module) if name in made.units else None

    def _run(self, run: Fused, dims: Dims) -> Translation | None:
        plan = fuse_static(self._module, self._source, run, lambda expr: known(expr, dims), self._options)
        if plan is None:
            return None
        return with_entries(Translation(plan.text, {}, {}, tuple(plan.runs)), self._module)
