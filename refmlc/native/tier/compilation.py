"""The compilation of a module: translated, compiled, loaded."""

from dataclasses import replace

from refmlc.lang.ir import IRModule
from refmlc.native.compile import detect_isa
from refmlc.native.emit import emit_module
from refmlc.native.fuse import fuse_module
from refmlc.native.options import Math, Options
from refmlc.native.threads import detect_threads
from refmlc.native.tier.compiled_module import CompiledModule, Translation, load, with_entries
from refmlc.native.tier.specialisation import Specialisations

__all__ = ["Translation", "compile_module", "translate"]


def compile_module(module: IRModule, math: Math, threads: int | None = None) -> CompiledModule:
    """`module` in C for this machine; functions without C stay with the interpreter.

    `threads` None: as many as REFMLC_THREADS says.
    """
    options = Options(isa=detect_isa(), math=math, threads=detect_threads() if threads is None else threads)
    compiled = load(translate(module, options), options.isa)
    if compiled.library is None:
        return compiled
    return replace(compiled, specialisations=Specialisations(module, compiled.translation, options))


def translate(module: IRModule, options: Options) -> Translation:
    """`module` as C text; it names the functions without C, and why."""
    source = emit_module(module, options)
    plan = fuse_module(module, source)
    translation = Translation(source.text + plan.text, source.units, source.declined, tuple(plan.runs))
    return with_entries(translation, module)
