"""The compilation of a module: translated, compiled, loaded."""

from refmlc.lang.ir import IRModule
from refmlc.native.compile import Library, detect_isa
from refmlc.native.emit import emit_module
from refmlc.native.fuse import fuse_module
from refmlc.native.options import Math, Options
from refmlc.native.threads import detect_threads
from refmlc.native.tier.compiled_module import CompiledModule, Translation, load, with_entries
from refmlc.native.tier.specialisation import Specialisations

__all__ = ["Translation", "compile_module", "options_here", "translate", "with_specialisations"]


def compile_module(module: IRModule, math: Math, threads: int | None = None) -> CompiledModule:
    """`module` in C for this machine; functions without C stay with the interpreter.

    `threads` None: as many as REFMLC_THREADS says.
    """
    options = options_here(math, threads)
    compiled = load(translate(module, options), options.isa)
    if compiled.library is None:
        return compiled
    return with_specialisations(module, compiled.translation, compiled.library, options)


def options_here(math: Math, threads: int | None) -> Options:
    """The options for this machine; `threads` None: as many as REFMLC_THREADS says."""
    return Options(isa=detect_isa(), math=math, threads=detect_threads() if threads is None else threads)


def with_specialisations(
    module: IRModule, translation: Translation, library: Library, options: Options
) -> CompiledModule:
    """`module` as it is in `library`, compiled again for dimensions that are met often."""
    return CompiledModule(translation, library, specialisations=Specialisations(module, translation, options))


def translate(module: IRModule, options: Options) -> Translation:
    """`module` as C text; it names the functions without C, and why."""
    source = emit_module(module, options)
    plan = fuse_module(module, source)
    translation = Translation(source.text + plan.text, source.units, source.declined, tuple(plan.runs))
    return with_entries(translation, module)
