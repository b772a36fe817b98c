"""Functions and runs of bindings compiled again for known dimensions, once much was executed with these.

C with variables for extents checks them at every step; with numbers the bounds can be proved, loops reordered and
vectorised. Decision: a compilation is made for dimensions when as many iterations were executed with them, or are
about to be, as take the time of a compilation, in a program with few such dimensions.
"""

from collections.abc import Callable, Hashable, Mapping
from threading import Lock
from typing import Final, Generic, TypeAlias, TypeVar

from refmlc.lang.ir import IRModule, tir
from refmlc.lang.ops.evaluate import known
from refmlc.native.emit import emit_module
from refmlc.native.fuse import Fused, fuse_static, with_dims
from refmlc.native.options import Options
from refmlc.native.tier.compiled_module import CompiledModule, Translation, load, with_entries
from refmlc.native.unit import Source
from refmlc.run.dims import Dims

WORTH: Final = 1 << 25
"""Iterations of compiled code that take as long as a compilation."""
FOREVER: Final = 1 << 62
MOST: Final = 64
"""Compilations for known dimensions of one module."""

MOST_SHAPES: Final = 256  # dimensions whose iterations are counted
Dimensions: TypeAlias = tuple[int, ...]
T = TypeVar("T")


class DimensionProfile(Generic[T]):
    """The iterations of one call for each of its dimensions, and its specialisation for those with many."""

    def __init__(self, specialise: Callable[[Dimensions], T | None]) -> None:
        """`specialise` is called once for such dimensions; None: there is no specialisation."""
        self._specialise = specialise
        self._iterations: dict[Dimensions, int] = {}
        self._specialised: dict[Dimensions, T | None] = {}

    def count(self, dims: Dimensions, iterations: int) -> None:
        """Add iterations that were executed, or are about to be."""
        if dims not in self._iterations and len(self._iterations) >= MOST_SHAPES:
            self._iterations.clear()
        self._iterations[dims] = self._iterations.get(dims, 0) + iterations

    def left(self, dims: Dimensions) -> int:
        """The iterations until `dims` get a specialisation; `FOREVER` once they have it."""
        return FOREVER if dims in self._specialised else WORTH - self._iterations.get(dims, 0)

    def specialised(self, dims: Dimensions) -> T | None:
        """The specialisation for `dims`, which this call compiles where their iterations are enough."""
        if dims in self._specialised:
            return self._specialised[dims]
        if self._iterations.get(dims, 0) < WORTH:
            return None
        specialised = self._specialised[dims] = self._specialise(dims)
        return specialised


class Specialisations:
    """The compilations of one module for known dimensions. For concurrent use."""

    def __init__(self, module: IRModule, translation: Translation, options: Options) -> None:
        self._module = module
        self._source = Source(translation.text, translation.units, translation.declined)
        self._options = options
        self._lock = Lock()
        self._compiled: dict[Hashable, CompiledModule | None] = {}

    def function(self, name: str, dims: tuple[int, ...]) -> CompiledModule | None:
        """The prim_func `name` where the variables of its shapes are `dims`; None: no specialisation."""
        return self._once((name, dims), lambda: self._function(name, dims))

    def run(self, run: Fused, dims: Mapping[tir.Var, int]) -> CompiledModule | None:
        """A run of bindings where the symbolic dimensions are `dims`; None: no specialisation."""
        return self._once((run.symbol, *dims.items()), lambda: self._run(run, dict(dims)))

    def _once(self, key: Hashable, translate: Callable[[], Translation | None]) -> CompiledModule | None:
        with self._lock:
            if key not in self._compiled:
                translation = translate() if len(self._compiled) < MOST else None
                compiled = None if translation is None else load(translation, self._options.isa)
                self._compiled[key] = compiled if compiled is not None and compiled.library is not None else None
            return self._compiled[key]

    def _function(self, name: str, dims: tuple[int, ...]) -> Translation | None:
        func = self._module.functions[name]
        if not isinstance(func, tir.PrimFunc):
            return None
        values = dict(zip(self._source.units[name].dims, dims, strict=True))
        module = IRModule({name: with_dims(func, values)})
        source = emit_module(module, self._options)
        return with_entries(Translation(source.text, source.units), module) if name in source.units else None

    def _run(self, run: Fused, dims: Dims) -> Translation | None:
        plan = fuse_static(self._module, self._source, run, lambda expr: known(expr, dims), self._options)
        if plan is None:
            return None
        return with_entries(Translation(plan.text, {}, {}, tuple(plan.runs)), self._module)
