"""A module as one translation unit: the headers it needs, then a C function for each PrimFunc that C can take."""

from collections.abc import Iterable, Sequence

from refmlc.lang.ir import IRModule, tir
from refmlc.native.emit.function import Emitted, emit_function
from refmlc.native.emit.state import Unsuited
from refmlc.native.options import Options
from refmlc.native.text import Text, identifier
from refmlc.native.unit import Declined, Source

ALWAYS = ("rm_guard.h", "rm_dtypes.h")


def emit_module(module: IRModule, options: Options, names: Iterable[str] | None = None) -> Source:
    """The functions of `module` (those in `names`, or all PrimFuncs) in C. Equal modules give equal text."""
    emitted, declined = emit_functions(module, options, names)
    return Source(unit_text(emitted, options), {function.unit.name: function.unit for function in emitted}, declined)


def emit_functions(
    module: IRModule, options: Options, names: Iterable[str] | None = None
) -> tuple[list[Emitted], dict[str, Declined]]:
    """Each function by itself, and why others are left to the interpreter."""
    selected = module.functions if names is None else names
    emitted: list[Emitted] = []
    declined: dict[str, Declined] = {}
    for number, name in enumerate(selected):
        func = module.functions[name]
        if not isinstance(func, tir.PrimFunc):
            continue
        try:
            emitted.append(emit_function(func, name, f"f{number}_{identifier(name)}", options))
        except Unsuited as reason:
            declined[name] = Declined(reason.reason, reason.span)
        except RecursionError:
            declined[name] = Declined("its expressions nest too deep", func.span)
    return emitted, declined


def unit_text(emitted: Sequence[Emitted], options: Options) -> str:
    """The translation unit of these functions."""
    text = Text()
    _preamble(text, emitted, options)
    for function in emitted:
        text.line("")
        text.add(function.lines)
    text.line("")
    return "\n".join(text.lines)


def _preamble(text: Text, emitted: Sequence[Emitted], options: Options) -> None:
    """What the functions need, each once, in one order."""
    dtypes = {name for function in emitted for name in function.needs.dtypes}
    dtypes |= {
        name for function in emitted for pair in (*function.needs.casts, *function.needs.reinterprets) for name in pair
    }
    headers = {name for function in emitted for name in function.needs.headers}
    casts = {pair for function in emitted for pair in function.needs.casts}
    reinterprets = {pair for function in emitted for pair in function.needs.reinterprets}
    if options.math == "libm":
        text.define("RM_MATH_LIBM")
    for name in sorted(dtypes):
        text.define(f"RM_USE_{name}")
    converting = ("rm_convert.h",) if casts or reinterprets else ()
    for name in (*ALWAYS, *converting, *sorted(headers - {*ALWAYS, "rm_convert.h"})):
        text.include(name)
    for source, target in sorted(casts):
        text.line(f"RM_DEFINE_CAST({source}, {target})")
    for source, target in sorted(reinterprets):
        text.line(f"RM_DEFINE_REINTERPRET({source}, {target})")
    for definition in dict.fromkeys(line for function in emitted for line in function.needs.definitions):
        text.line(definition)
