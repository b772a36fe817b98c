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
    """The hooks of several detectors, for one run of one module at a time. `kinds` are ids of codes (RM3xx)."""

    def __init__(self, module: IRModule, kinds: Collection[str] = ALL) -> None:
        """Make the detectors that report `kinds`. Fails: RM112 for a kind that no detector has."""
        self._facts, self._kinds = FactTable(module), kinds
        self.detectors: tuple[Detector, ...] = detectors(self._facts, kinds)
        super().__init__(self.detectors)
        self._module = module
        self._plain: dict[str, bool] = {}
        self._may_be_quiet = all(part.reach is not Reach.EVERYWHERE for part in self.detectors)

    def renew(self) -> None:
        """Forget the last run: each detector is as a new one, and the same object, which prepared functions know."""
        for part, new in zip(self.detectors, detectors(self._facts, self._kinds), strict=True):
            vars(part).clear()
            vars(part).update(vars(new))

    def watches(self, method: str) -> bool:
        """True if a detector does; `is_quiet` is answered here."""
        return method == "is_quiet" or super().watches(method)

    def is_quiet(self, name: str, args: Sequence[object]) -> bool:
        """True if no detector can find anything within the call (`proved`)."""
        func = self._module.functions.get(name)
        if not self._may_be_quiet or not isinstance(func, tir.PrimFunc):
            return False
        is_proved = self._plain.get(name)
        if is_proved is None:
            is_proved = self._plain[name] = is_plain(func) and outputs_alone(self._module, name, func)
        return is_proved and not (promises(func) and overlapping(func, args))

    def explain(self, failure: RefmlcError) -> RefmlcError:
        """The failure, with the details that the detectors add."""
        for part in self.detectors:
            failure = part.explain(failure)
        return failure

    def lints(self) -> list[Finding]:
        """The lints of each detector, in order of occurrence."""
        return [
            Finding(lint.diagnostic, lint.count, is_lint=True)
            for part in self.detectors
            for lint in part.lint_counts.values()
        ]


def _switched_off(codes: Collection[str]) -> set[str]:
    """`codes` as a set. Fails: RM112 for a name that is not a code of RM3xx."""
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

    The run ends at the first undefined behaviour; lints are collected. `allow` are codes after which the interpreter
    continues, as in `refmlc.build`. `tier` is as there: other than `interp` executes functions in which no detector can
    find anything (`refmlc.observe.sanitize.proved`) in guarded C and interprets the others; the report is the same.
    Fails: RM1xx and RM2xx, for arguments and modules that do not fit; other failures are in the report.
    """
    off = _switched_off(without)
    hooks = Sanitizer(module, set(kinds) - off)
    executable = build(module, tier, registry=registry, budget=budget, allow=frozenset(allow))
    result: object = None
    failure: RefmlcError | None = None
    try:
        result = VirtualMachine(executable, hooks=hooks)[func](*args)
    except (Undefined, Trap, Unsupported, Exhausted) as error:
        failure = hooks.explain(error)
    is_off = failure is not None and failure.code.id in off
    findings = [] if failure is None or is_off else [Finding(failure.diagnostic)]
    findings += hooks.lints()
    counts = dict.fromkeys(sorted((CHECKED - ALL | set(kinds)) - off), 0)
    for finding in findings:
        code = finding.diagnostic.code.id
        counts[code] = counts.get(code, 0) + finding.count
    return Report("unknown" if is_off else verdict_of(failure), tuple(findings), dict(sorted(counts.items())), result)
