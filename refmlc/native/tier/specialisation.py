"""Functions and runs of bindings compiled again for known dimensions, once much was executed with these.

C with variables for extents checks them at every step; with numbers the bounds can be proved, loops reordered and
vectorised. Decision: a compilation is made for dimensions when as many iterations were executed with them, or are
about to be, as take the time of a compilation, in a program with few such dimensions.
"""

from collections.abc import Callable, Hashable, Mapping
from threading import Lock
from typing import Final

from refmlc.lang.ir import IRModule, tir
from refmlc.lang.ops.evaluate import known
from refmlc.native.emit import emit_module
from refmlc.native.fuse import Fused, fuse_static, with_dims
from refmlc.native.options import Options
from refmlc.native.tier.compiled_module import CompiledModule, Translation, load, with_entries
from refmlc.native.unit import Source
from refmlc.run.dims import Dims

MOST: Final = 64
"""Compilations for known dimensions of one module."""


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
