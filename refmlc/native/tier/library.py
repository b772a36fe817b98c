"""The compilation of a module: translated, compiled, loaded."""

from dataclasses import replace

from refmlc.lang.ir import IRModule
from refmlc.native.compile import detect_isa
from refmlc.native.emit import emit_module
from refmlc.native.fuse import fuse_module
from refmlc.native.options import Math, Options
from refmlc.native.tier.compiled import Compiled, Translation, load, with_entries
from refmlc.native.tier.special import Specials

__all__ = ["Translation", "compile_module", "translate"]


def compile_module(module: IRModule, math: Math) -> Compiled:
    """`module` in C for this machine, as far as it can be."""
    options = Options(isa=detect_isa(), math=math)
    made = load(translate(module, options), options.isa)
    return made if made.library is None else replace(made, specials=Specials(module, made.translation, options))


def translate(module: IRModule, options: Options) -> Translation:
    """`module` in C, as far as it can be."""
    source = emit_module(module, options)
    plan = fuse_module(module, source)
    found = Translation(source.text + plan.text, source.units, source.declined, tuple(plan.runs))
    return with_entries(found, module)
