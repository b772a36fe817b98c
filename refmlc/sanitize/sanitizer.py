"""Detectors together: one set of hooks for one run, and a function that runs a function under it."""

from collections.abc import Callable, Collection, Sequence

from refmlc.diag.catalogue import CODES
from refmlc.diag.errors import Exhausted, RefmlcError, Trap, Undefined, Unsupported
from refmlc.interp.hooks import Hooks
from refmlc.ir import IRModule
from refmlc.runtime.budget import Budget
from refmlc.runtime.registry import DEFAULT, FunctionRegistry
from refmlc.sanitize.detector import Detector
from refmlc.sanitize.facts import FactTable
from refmlc.sanitize.kinds import ALL, detectors
from refmlc.sanitize.origin import Origin
from refmlc.sanitize.report import Finding, Report, verdict_of
from refmlc.vm import VirtualMachine, build

EVENTS = tuple(name for name, method in vars(Hooks).items() if callable(method) and not name.startswith("_"))


class Sanitizer(Hooks):
    """The hooks of several detectors, for one run of one module. `kinds` are ids of codes (RM3xx)."""

    def __init__(self, module: IRModule, kinds: Collection[str] = ALL) -> None:
        """Make the detectors that report `kinds`. Fails: RM112 for a kind that no detector has."""
        facts = FactTable(module)
        self.detectors: tuple[Detector, ...] = detectors(facts, kinds)
        self._heard = {name for name in EVENTS if any(part.watches(name) for part in self.detectors)} - {"watches"}
        for name in self._heard:
            # The interpreter asks for the methods by name; each is what its listeners need, and nothing more.
            setattr(self, name, _to_all([getattr(part, name) for part in self.detectors if part.watches(name)]))

    def watches(self, method: str) -> bool:
        """Whether a detector does."""
        return method in self._heard

    def explain(self, failure: RefmlcError) -> RefmlcError:
        """The failure, with more on it where a detector knows more."""
        for part in self.detectors:
            if isinstance(part, Origin):
                return part.explain(failure)
        return failure

    def lints(self) -> list[Finding]:
        """The lints, in the order in which they were met by each detector."""
        return [
            Finding(noted.diagnostic, noted.count, is_lint=True)
            for part in self.detectors
            for noted in part.noted.values()
        ]


def _to_all(methods: list[Callable[..., None]]) -> Callable[..., None]:
    if len(methods) == 1:
        return methods[0]

    def to_all(*args: object) -> None:
        for method in methods:
            method(*args)

    return to_all


def sanitize(
    module: IRModule,
    func: str,
    args: Sequence[object],
    *,
    kinds: Collection[str] = ALL,
    allow: Collection[str] = (),
    registry: FunctionRegistry = DEFAULT,
    budget: Budget | None = None,
) -> Report:
    """Run function `func` of `module` on `args` under the detectors that report `kinds`.

    The run ends at the first undefined behaviour; lints are collected. `allow` are codes that the interpreter goes on
    after, as in `refmlc.build`. Fails: RM1xx and RM2xx, for arguments and modules that do not fit; all else that a
    program does is in the report.
    """
    hooks = Sanitizer(module, kinds)
    executable = build(module, "interp", registry=registry, budget=budget, allow=frozenset(allow))
    result: object = None
    failure: RefmlcError | None = None
    try:
        result = VirtualMachine(executable, hooks=hooks)[func](*args)
    except (Undefined, Trap, Unsupported, Exhausted) as found:
        failure = hooks.explain(found)
    findings = [] if failure is None else [Finding(failure.diagnostic)]
    findings += hooks.lints()
    counts = {code: 0 for code in sorted(CODES) if code.startswith("RM3") and code not in ALL} | dict.fromkeys(kinds, 0)
    for finding in findings:
        code = finding.diagnostic.code.id
        counts[code] = counts.get(code, 0) + finding.count
    return Report(verdict_of(failure), tuple(findings), dict(sorted(counts.items())), result)
