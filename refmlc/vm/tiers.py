"""Tiers: the ways in which functions of TensorIR can be executed.

| tier     | what                                                                                 |
|----------|--------------------------------------------------------------------------------------|
| `interp` | the interpreter, which is the meaning; nothing of the native tier is loaded          |
| `native` | compiled C, made when the module is built; the interpreter does what C does not take |
| `auto`   | the interpreter, until what it did was worth a compilation; compiled C from then on  |

All give the same bits and the same verdicts. Decision: a function that C does not take is interpreted under `native`
too: the report of the executable says so. Functions of Relax are interpreted; what they call is not.
"""

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE
from refmlc.diag.source import Span
from refmlc.lang.ir import IRModule, relax, tir

if TYPE_CHECKING:
    from refmlc.native.tier.compiled import Compiled
    from refmlc.native.tier.module import NativeModule
    from refmlc.native.unit import Unit


class Tier(Enum):
    """A way to execute a function."""

    INTERP = "interp"
    NATIVE = "native"


AUTO = "auto"
NAMES = (AUTO, *(tier.value for tier in Tier))


@dataclass(frozen=True, slots=True)
class Report:
    """How a function is executed. `reason`: why not in C, and `span` where; `unit`: what is known of it in C."""

    tier: Tier
    reason: str = ""
    span: Span | None = None
    unit: "Unit | None" = None


def check_tier(wanted: str) -> str:
    """`wanted`, which is a tier. Fails: RM112."""
    if wanted not in NAMES:
        raise fail(BAD_USAGE, f"there is no tier `{wanted}`: the tiers are {', '.join(NAMES)}")
    return wanted


def reports(module: IRModule, native: "NativeModule | None", otherwise: str) -> dict[str, Report]:
    """How each function of `module` is executed as things are; `otherwise`: why nothing is in C without `native`."""
    if native is None:
        return {name: Report(Tier.INTERP, otherwise) for name in module.functions}
    made = native.made
    if made is None:
        return {name: Report(Tier.INTERP, "it was not worth a compilation yet") for name in module.functions}
    return {name: _report(name, function, made) for name, function in module.functions.items()}


def _report(name: str, function: "tir.PrimFunc | relax.Function | relax.ExternFunc", made: "Compiled") -> Report:
    match function:
        case relax.Function():
            count = sum(run.function.split(".")[0] == name for run in made.translation.fused)
            fused = f"; {count} runs of its bindings are C functions" if count else ""
            return Report(Tier.INTERP, f"it is a function of Relax{fused}")
        case relax.ExternFunc():
            return Report(Tier.INTERP, "it is an extern function")
        case tir.PrimFunc():
            declined = made.translation.declined.get(name)
            if declined is not None:
                return Report(Tier.INTERP, declined.reason, declined.span)
            unit = made.unit(name)
            return Report(Tier.INTERP, made.problem) if unit is None else Report(Tier.NATIVE, unit=unit)
