"""Detectors together: one set of hooks for one run, and a function that runs a function under it."""

from collections.abc import Collection, Sequence

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE
from refmlc.diag.entry import entry_point
from refmlc.diag.errors import Exhausted, RefmlcError, Trap, Undefined, Unsupported
from refmlc.lang.ir import IRModule, tir
from refmlc.observe.sanitize.aliasing import overlapping, promises
from refmlc.observe.sanitize.detector import Detector, Reach
from refmlc.observe.sanitize.facts import FactTable
from refmlc.observe.sanitize.kinds import ALL, CHECKED, detectors
from refmlc.observe.sanitize.proved import is_plain, outputs_alone
from refmlc.observe.sanitize.report import Finding, Report, verdict_of
from refmlc.run.interp.relay import Relay
from refmlc.run.memory.budget import Budget
from refmlc.run.memory.registry import DEFAULT, FunctionRegistry
from refmlc.vm import VirtualMachine, build


class Sanitizer(Relay):
    """The hooks of several detectors, for one run of one module. `kinds` are ids of codes (RM3xx)."""

    def __init__(self, module: IRModule, kinds: Collection[str] = ALL) -> None:
        """Make the detectors that report `kinds`. Fails: RM112 for a kind that no detector has."""
        self.detectors: tuple[Detector, ...] = detectors(FactTable(module), kinds)
        super().__init__(self.detectors)
        self._module = module
        self._plain: dict[str, bool] = {}
        self._may_be_quiet = all(part.reach is not Reach.EVERYWHERE for part in self.detectors)

    def watches(self, method: str) -> bool:
        """Whether a detector does; `is_quiet` is answered here."""
        return method == "is_quiet" or super().watches(method)

    def is_quiet(self, name: str, args: Sequence[object]) -> bool:
        """Whether it is proved that no detector finds anything within the call."""
        func = self._module.functions.get(name)
        if not self._may_be_quiet or not isinstance(func, tir.PrimFunc):
            return False
        known = self._plain.get(name)
        if known is None:
            known = self._plain[name] = is_plain(func) and outputs_alone(self._module, name, func)
        return known and not (promises(func) and overlapping(func, args))

    def explain(self, failure: RefmlcError) -> RefmlcError:
        """The failure, with more on it where a detector knows more."""
        for part in self.detectors:
            failure = part.explain(failure)
        return failure

    def lints(self) -> list[Finding]:
        """The lints, in the order in which they were met by each detector."""
        return [
            Finding(noted.diagnostic, noted.count, is_lint=True)
            for part in self.detectors
            for noted in part.noted.values()
        ]


def _switched_off(codes: Collection[str]) -> set[str]:
    """Fails: RM112 for what is no code of RM3xx."""
    unknown = sorted(set(codes) - ALL - CHECKED)
    if unknown:
        raise fail(BAD_USAGE, f"no kind is called {', '.join(unknown)}")
    return set(codes)


@entry_point
def sanitize(  # noqa: PLR0913 - each is a switch of its own
    module: IRModule,
    func: str,
    args: Sequence[object],
    *,
    kinds: Collection[str] = ALL,
    without: Collection[str] = (),
    allow: Collection[str] = (),
    tier: str = "interp",
    registry: FunctionRegistry = DEFAULT,
    budget: Budget | None = None,
) -> Report:
    """Run function `func` of `module` on `args` under the detectors that report `kinds`, `without` some of RM3xx.

    The run ends at the first undefined behaviour; lints are collected. `allow` are codes that the interpreter goes on
    after, as in `refmlc.build`. `tier` is as there: other than `interp` executes those functions in guarded C in which
    no detector can find anything (`refmlc.observe.sanitize.proved`) and interprets the others; the report is the same.
    Fails: RM1xx and RM2xx, for arguments and modules that do not fit; all else that a program does is in the report.
    """
    off = _switched_off(without)
    hooks = Sanitizer(module, set(kinds) - off)
    executable = build(module, tier, registry=registry, budget=budget, allow=frozenset(allow))
    result: object = None
    failure: RefmlcError | None = None
    try:
        result = VirtualMachine(executable, hooks=hooks)[func](*args)
    except (Undefined, Trap, Unsupported, Exhausted) as found:
        failure = hooks.explain(found)
    hidden = failure is not None and failure.code.id in off
    findings = [] if failure is None or hidden else [Finding(failure.diagnostic)]
    findings += hooks.lints()
    counts = dict.fromkeys(sorted((CHECKED - ALL | set(kinds)) - off), 0)
    for finding in findings:
        code = finding.diagnostic.code.id
        counts[code] = counts.get(code, 0) + finding.count
    return Report("unknown" if hidden else verdict_of(failure), tuple(findings), dict(sorted(counts.items())), result)
