"""Build: a module is checked and gets its tier; the result can run any number of times."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Literal

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE, CODES
from refmlc.diag.entry import entry_point
from refmlc.lang.ir import IRModule
from refmlc.lang.wellformed.reader_checks import checked
from refmlc.native.threads import check_threads
from refmlc.native.tier.native_module import NativeModule, StagedModule, compile_in_c, detect_staged
from refmlc.rewrite.transform import legalize_ops
from refmlc.run.memory.budget import Budget
from refmlc.run.memory.registry import DEFAULT, FunctionRegistry
from refmlc.vm.tiers import AUTO, Report, Tier, check_tier, reports

MODES = ("cr", "libm")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Executable:
    """A checked module with all that its runs depend on. For concurrent use, unless it has a budget.

    `budget` None: each virtual machine has one of its own. `native`: the functions in C, compiled or not yet.
    """

    module: IRModule
    tier: str
    registry: FunctionRegistry
    budget: Budget | None
    allow: frozenset[str]
    math: Literal["cr", "libm"] = "cr"
    native: NativeModule | None = None

    def __repr__(self) -> str:
        """Its functions and its tier, in one line."""
        return f"<Executable {', '.join(self.module.functions)}: {self.tier}>"

    def __str__(self) -> str:
        """How each function is executed, a line each; then the module as TVMScript."""
        rows = [
            f"# {name}: {row.tier.value}{f' ({row.reason})' if row.reason else ''}" for name, row in self.report.items()
        ]
        return "\n".join([*rows, str(self.module)])

    @property
    def report(self) -> Mapping[str, Report]:
        """How each function is executed, and why not in C; under `auto` that changes, once."""
        why = "undefined behaviour is allowed" if self.allow else "it is the tier asked for"
        return reports(self.module, self.native, why)

    @property
    def tiers(self) -> Mapping[str, Tier]:
        """The tier of each function now."""
        return {name: report.tier for name, report in self.report.items()}


@entry_point
def build(
    module: IRModule,
    tier: str = AUTO,
    *,
    math: Literal["cr", "libm"] = "cr",
    registry: FunctionRegistry = DEFAULT,
    budget: Budget | None = None,
    allow: frozenset[str] = frozenset(),
    check: bool = True,
    threads: int | None = None,
) -> Executable:
    """Make `module` executable.

    `tier` says how: interpreted (`interp`), compiled to C here (`native`), or compiled when that pays (`auto`); `math`
    which transcendentals: correctly rounded (`cr`), or the platform's (`libm`).
    `registry` is where packed functions are looked up (when they are called). `budget` limits each outermost call
    (None: the default limits). `allow` holds ids of codes of undefined behaviour that continue with the value that
    hardware gives, where the clause names one (`{"RM306"}`: wrapped integers); functions are interpreted then.
    `threads`: on how many threads C runs loops whose iterations may be executed in any order (None: as many as
    REFMLC_THREADS says, else one); all bits are the same.

    Fails: RM2xx (the first finding of the static rules, unless `check` is off), RM112 (an unknown tier, mode or code,
    an impossible number of threads).
    """
    if not isinstance(module, IRModule):
        raise fail(BAD_USAGE, f"a module is built, an object of type {type(module).__qualname__} is given")
    for code in sorted(allow):
        if code not in CODES or not code.startswith("RM3"):
            raise fail(BAD_USAGE, f"`{code}` is no code of undefined behaviour (RM3xx)")
    if math not in MODES:
        raise fail(BAD_USAGE, f"there is no mode `{math}` of the transcendentals: the modes are {', '.join(MODES)}")
    check_tier(tier)
    if threads is not None:
        check_threads(threads, f"`threads` is {threads}")
    executed = checked(module, check=check)
    if tier != Tier.INTERP.value:
        executed = legalize_ops(executed)  # operators become functions, which can be compiled
    native = None if allow or tier == Tier.INTERP.value else _native_module(executed, tier, math, threads)
    if native is not None and tier == Tier.NATIVE.value:
        native.compiled()
    return Executable(executed, tier, registry, budget, frozenset(allow), math, native)


def _native_module(module: IRModule, tier: str, math: Literal["cr", "libm"], threads: int | None) -> NativeModule:
    """`module` as the tier compiles it. Fails: RM112 (REFMLC_STAGED)."""
    if tier == AUTO and detect_staged():
        return StagedModule(module, math, threads)
    return NativeModule(module, math, partial(compile_in_c, threads=threads))
