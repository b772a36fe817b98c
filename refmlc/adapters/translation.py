"""Several modules as one translation unit, so that one run of the compiler does for all of them.

Every prim_func of module `n` is emitted as `m<n>_<name>`, and known to the calls of its module by its own name. Runs of
bindings that are fused get the number of the module before their symbols.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from refmlc.codegen.emit import emit_module
from refmlc.codegen.fuse import fuse_module
from refmlc.codegen.options import Options
from refmlc.codegen.unit import Declined, Source, Unit
from refmlc.ir import IRModule, tir
from refmlc.vm.native.compiled import Translation


def translated(modules: Sequence[IRModule], options: Options, *, fused: bool) -> tuple[str, list[Translation]]:
    """The text of all `modules`, and what it holds of each."""
    names = [
        (number, name, f"m{number}_{name}")
        for number, module in enumerate(modules)
        for name, func in module.functions.items()
        if isinstance(func, tir.PrimFunc)
    ]
    source = emit_module(IRModule({new: modules[number].functions[name] for number, name, new in names}), options)
    units: list[dict[str, Unit]] = [{} for _ in modules]
    declined: list[dict[str, Declined]] = [{} for _ in modules]
    for number, name, new in names:
        if new in source.units:
            units[number][name] = replace(source.units[new], name=name)
        else:
            declined[number][name] = source.declined[new]
    made = [Translation("", known, left) for known, left in zip(units, declined, strict=True)]
    texts = [source.text]
    if fused:
        for number, module in enumerate(modules):
            text, made[number] = _fused(number, module, made[number])
            texts.append(text)
    return "\n".join(texts), made


def _fused(number: int, module: IRModule, plain: Translation) -> tuple[str, Translation]:
    """The runs of bindings of a module, with symbols that no other module has."""
    plan = fuse_module(module, Source("", plain.units, plain.declined))
    text = plan.text
    for run in plan.runs:
        text = re.sub(rf"\b{re.escape(run.symbol)}\b", f"m{number}_{run.symbol}", text)
    runs = tuple(replace(run, symbol=f"m{number}_{run.symbol}") for run in plan.runs)
    return text, replace(plain, fused=runs)
