"""Tiers: the ways to execute functions of TensorIR.

| tier     | executes functions by                                                                |
|----------|--------------------------------------------------------------------------------------|
| `interp` | the interpreter, which is the specification; the native tier is not loaded           |
| `native` | C, compiled when the module is built; the interpreter for functions C does not take  |
| `auto`   | the interpreter, until compilation pays; then C, compiled quickly, and later better  |

All give the same bits and the same verdicts. Decision: a function that C does not take is interpreted under `native`
too: the report of the executable says so. Functions of Relax are interpreted, their callees run on the tier.
"""

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE
from refmlc.diag.source import Span
from refmlc.lang.ir import IRModule, relax, tir

if TYPE_CHECKING:
    from refmlc.native.tier.compiled_module import CompiledModule
    from refmlc.native.tier.native_module import NativeModule
    from refmlc.native.unit import Unit


class Tier(Enum):
    """A way to execute a function."""

    INTERP = "interp"
    NATIVE = "native"


AUTO = "auto"
NAMES = (AUTO, *(tier.value for tier in Tier))


@dataclass(frozen=True, slots=True)
class Report:
    """How a function is executed. `reason`: why not in C, and `span` where; `unit`: the function in C."""

    tier: Tier
    reason: str = ""
    span: Span | None = None
    unit: "Unit | None" = None


def check_tier(name: str) -> str:
    """`name`, the name of a tier. Fails: RM112."""
    if name not in NAMES:
        raise fail(BAD_USAGE, f"there is no tier `{name}`: the tiers are {', '.join(NAMES)}")
    return name


def reports(module: IRModule, native: "NativeModule | None", otherwise: str) -> dict[str, Report]:
    """How each function of `module` is executed now; `otherwise`: the reason where there is no `native`."""
    if native is None:
        return {name: Report(Tier.INTERP, otherwise) for name in module.functions}
    compiled = native.if_compiled
    if compiled is None:
        return {name: Report(Tier.INTERP, "it was not worth a compilation yet") for name in module.functions}
    return {name: _report(name, function, compiled) for name, function in module.functions.items()}


def _report(
    name: str, function: "tir.PrimFunc | relax.Function | relax.ExternFunc", compiled: "CompiledModule"
) -> Report:
    match function:
        case relax.Function():
            count = sum(run.function.split(".")[0] == name for run in compiled.translation.fused)
            fused = f"; {count} runs of its bindings are C functions" if count else ""
            return Report(Tier.INTERP, f"it is a function of Relax{fused}")
        case relax.ExternFunc():
            return Report(Tier.INTERP, "it is an extern function")
        case tir.PrimFunc():
            declined = compiled.translation.declined.get(name)
            if declined is not None:
                return Report(Tier.INTERP, declined.reason, declined.span)
            unit = compiled.unit(name)
            return Report(Tier.INTERP, compiled.problem) if unit is None else Report(Tier.NATIVE, unit=unit)
