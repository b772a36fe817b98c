"""Several modules as one translation unit, so that one run of the compiler does for all of them.

Every prim_func of module `n` is emitted as `m<n>_<name>`, and known to the calls of its module by its own name. Runs of
bindings that are fused get the number of the module before their symbols. Modules whose translation is not `worth`
compiling have no text.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

from refmlc.lang.ir import IRModule, tir
from refmlc.native.emit.module import emit_functions, unit_text
from refmlc.native.fuse import fuse_module
from refmlc.native.options import Options
from refmlc.native.tier.compiled_module import Translation
from refmlc.native.unit import Declined, Source, Unit

Worth: TypeAlias = Callable[[IRModule, Translation], bool]


def translated(
    modules: Sequence[IRModule], options: Options, *, fused: bool, worth: Worth | None = None
) -> tuple[str, list[Translation]]:
    """The C text of all `modules`, and each module's part of it."""
    names = {
        f"m{number}_{name}": (number, name)
        for number, module in enumerate(modules)
        for name, func in module.functions.items()
        if isinstance(func, tir.PrimFunc)
    }
    everything = IRModule({new: modules[number].functions[name] for new, (number, name) in names.items()})
    emitted, left = emit_functions(everything, options)
    units: list[dict[str, Unit]] = [{} for _ in modules]
    declined: list[dict[str, Declined]] = [{} for _ in modules]
    for each in emitted:
        number, name = names[each.unit.name]
        units[number][name] = replace(each.unit, name=name)
    for new, why in left.items():
        number, name = names[new]
        declined[number][name] = why
    translations = [Translation("", functions, others) for functions, others in zip(units, declined, strict=True)]
    taken = [worth is None or worth(module, each) for module, each in zip(modules, translations, strict=True)]
    texts = [unit_text([each for each in emitted if taken[names[each.unit.name][0]]], options)]
    if fused:
        for number, module in enumerate(modules):
            if taken[number]:
                text, translations[number] = _fused(number, module, translations[number])
                texts.append(text)
    return "\n".join(texts), translations


def _fused(number: int, module: IRModule, plain: Translation) -> tuple[str, Translation]:
    """The runs of bindings of a module, with symbols that no other module has."""
    plan = fuse_module(module, Source("", plain.units, plain.declined), f"m{number}_")
    return plan.text, replace(plain, fused=tuple(plan.runs))
