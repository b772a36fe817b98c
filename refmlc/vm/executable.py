"""Build: a module is checked and each function gets its tier; the result can be run any number of times."""

from collections.abc import Mapping
from dataclasses import dataclass

from refmlc.check.reading import checked
from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE, CODES
from refmlc.ir import IRModule
from refmlc.runtime.budget import Budget
from refmlc.runtime.registry import DEFAULT, FunctionRegistry
from refmlc.vm.tiers import Tier, choose_tiers


@dataclass(frozen=True, slots=True, eq=False)
class Executable:
    """A checked module with all that a run of it depends on. `tiers`: the tier of each function."""

    module: IRModule
    tiers: Mapping[str, Tier]
    registry: FunctionRegistry
    budget: Budget
    allow: frozenset[str]


def build(
    module: IRModule,
    tier: str = "auto",
    *,
    registry: FunctionRegistry = DEFAULT,
    budget: Budget | None = None,
    allow: frozenset[str] = frozenset(),
    check: bool = True,
) -> Executable:
    """Make `module` executable.

    `registry` is where packed functions are looked up (when they are called). `budget` limits each outermost call
    (None: the default limits). `allow` holds ids of codes of undefined behaviour that continue with the value that
    hardware gives, where the clause names one (`{"RM306"}`: wrapped integers).

    Fails: RM2xx (the first finding of the static rules, unless `check` is off), RM112 (tier or code unknown), RM504.
    """
    if not isinstance(module, IRModule):
        raise fail(BAD_USAGE, f"a module is built, an object of type {type(module).__qualname__} is given")
    for code in sorted(allow):
        if code not in CODES or not code.startswith("RM3"):
            raise fail(BAD_USAGE, f"`{code}` is no code of undefined behaviour (RM3xx)")
    tiers = choose_tiers(module, tier)
    limits = Budget() if budget is None else budget
    return Executable(checked(module, check=check), tiers, registry, limits, frozenset(allow))
