"""Quick code first: a module is compiled in two stages.

| stage     | its text                                             | compiled                                       |
|-----------|------------------------------------------------------|------------------------------------------------|
| quick     | prim_funcs as written: no vectors, runs, entries     | while the call waits: by tcc, else with `-O0`  |
| optimised | all that the native tier has (`compilation`)         | beside the process, once quick code has worked |

Optimised code that the cache has is taken at once. A call that announces more work than quick code does in the time of
a compilation waits for optimised code. Code is exchanged between two calls, never in one: a call ends in the code that
it began with, which stays loaded as long. All code gives the same bits (NAT-001), so the moment shows in times only.

Decision: no thread waits for the compiler. Calls look whether it has ended; a program that makes no further call has no
use for its library.
"""

from dataclasses import replace
from typing import Final

from refmlc.lang.ir import IRModule
from refmlc.native.compile import Build, BuildFailed, Effort, build, default_cache, find, find_compiler, warn_once
from refmlc.native.emit import emit_module
from refmlc.native.options import ISAS, Grade, Math
from refmlc.native.tier.compilation import options_here, translate, with_specialisations
from refmlc.native.tier.compiled_module import CompiledModule, Translation
from refmlc.native.tier.work import compilation_cost

QUICK_SPEED: Final = 100
"""Iterations that quick code executes in the time of one that is interpreted."""


class CodeStages:
    """The stages of one module. Not for concurrent use."""

    def __init__(self, module: IRModule, math: Math, threads: int | None) -> None:
        """Translate `module`, and take optimised code from the cache if it is there."""
        self._module = module
        self._options = options_here(math, threads)
        self._translation = translate(module, self._options)
        self._cost = compilation_cost(module)
        self._quick: CompiledModule | None = None
        self._build: Build | None = None
        self._optimised = self._cached()

    def code(self, executed: int, announced: int) -> CompiledModule:
        """The code for a call that announces iterations, of which `executed` were until now, these included."""
        if announced > QUICK_SPEED * self._cost:
            return self.optimised()
        if self._optimised is None:
            if self._quick is None:
                self._quick = self._compile_quick()
            elif executed >= self._cost:
                self._optimised = self._built()
        return self._optimised or self._quick or self.optimised()

    def optimised(self) -> CompiledModule:
        """The optimised code, which the caller waits for."""
        while self._optimised is None:
            self._optimised = self._built(wait=True)
        return self._optimised

    def _cached(self) -> CompiledModule | None:
        """The optimised code as the cache has it; what is known without compiling."""
        if not self._translation.units and not self._translation.fused:
            return CompiledModule(self._translation, None)
        try:
            library = find(self._translation.text, self._options.isa, default_cache(), self._translation.effort)
        except BuildFailed as problem:
            return self._failed(problem)
        return (
            None if library is None else with_specialisations(self._module, self._translation, library, self._options)
        )

    def _compile_quick(self) -> CompiledModule | None:
        """The quick code; None where its compiler does not take it: the other stage says more."""
        options = replace(self._options, best=Grade.UNCHECKED, isa=ISAS["none"], threads=1)
        source = emit_module(self._module, options)
        translation = Translation(source.text, source.units, source.declined)
        try:
            library = build(translation.text, options.isa, cache=default_cache(), tiny=True, effort=Effort.LEAST)
        except BuildFailed:
            return None
        return CompiledModule(translation, library, is_quick=True)

    def _built(self, *, wait: bool = False) -> CompiledModule | None:
        """The optimised code, once it is compiled."""
        on_its_way, self._build = self._build, None  # where an interrupt ends it, another one is begun later
        try:
            if on_its_way is None or not on_its_way.is_ours:
                compiler = find_compiler(effort=self._translation.effort)
                on_its_way = Build(self._translation.text, self._options.isa, default_cache(), compiler)
            library = on_its_way.wait() if wait else on_its_way.library()
        except BuildFailed as problem:
            return self._failed(problem)
        if library is None:
            self._build = on_its_way
            return None
        return with_specialisations(self._module, self._translation, library, self._options)

    def _failed(self, problem: BuildFailed) -> CompiledModule:
        """What is left where there is no optimised code: quick code, if there is that: it stays."""
        if self._quick is None:
            warn_once(problem)
            return CompiledModule(self._translation, None, str(problem))
        warn_once(problem, "code that is optimised less does the work")
        return self._quick
