"""The compilation of a module: translated, compiled, loaded."""

from refmlc.codegen.build import detect_isa
from refmlc.codegen.emit import emit_module
from refmlc.codegen.fuse import fuse_module
from refmlc.codegen.options import Math, Options
from refmlc.ir import IRModule
from refmlc.vm.native.compiled import Compiled, Translation, load

__all__ = ["Translation", "compile_module", "translate"]


def compile_module(module: IRModule, math: Math) -> Compiled:
    """`module` in C for this machine, as far as it can be."""
    isa = detect_isa()
    return load(translate(module, Options(isa=isa, math=math)), isa)


def translate(module: IRModule, options: Options) -> Translation:
    """`module` in C, as far as it can be."""
    source = emit_module(module, options)
    plan = fuse_module(module, source)
    return Translation(source.text + plan.text, source.units, source.declined, tuple(plan.runs))
