"""What a call means: the interpreter, once, under the sanitizer.

| field    | holds                                                                                                   |
|----------|---------------------------------------------------------------------------------------------------------|
| `answer` | how the call ends for the oracle: what a detector finds ends it too                                       |
| `plain`  | how it ends without detectors, which is what both tiers promise                                          |
| `report` | the sanitizer's findings and counts; None: it was not asked                                               |
| `steps`  | the statements that were executed                                                                       |
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from refmlc.adapters.implementation import Answer, Ended, Stop, Stopped
from refmlc.adapters.inside import stopped
from refmlc.adapters.interp import Interp, Interpreted
from refmlc.diag.catalogue import CODES
from refmlc.diag.errors import error
from refmlc.oracle.program import Program
from refmlc.sanitize.kinds import ALL, LINTS
from refmlc.sanitize.report import Finding, Report
from refmlc.sanitize.sanitizer import Sanitizer
from refmlc.transform import legalize_ops

OWN = ALL - LINTS - {"RM305"}
"""What only a detector finds: the plain interpreter goes on."""

VERDICTS = {
    Stop.UNDEFINED: "undefined",
    Stop.TRAP: "trap",
    Stop.UNSUPPORTED: "unsupported",
    Stop.REJECTED: "rejected",
    Stop.EXHAUSTED: "exhausted",
    Stop.CRASHED: "crashed",
    Stop.TIMED_OUT: "timed out",
}


@dataclass(frozen=True)
class Reference:
    """What one call of a program means."""

    answer: Answer
    plain: Answer
    report: Report | None = None
    steps: int = 0

    @property
    def verdict(self) -> str:
        """In a word: `defined`, `undefined`, `trap`, `unsupported`, `rejected`, `exhausted`, `crashed`."""
        return "defined" if isinstance(self.answer, Ended) else VERDICTS[self.answer.why]


def references(program: Program, interp: Interp, *, sanitize: bool, kinds: Collection[str] = ALL) -> list[Reference]:
    """What each call of `program` means. The module is not checked: it was, or is legal as it was made."""
    if sanitize:
        return [_sanitized(program, number, interp, kinds) for number in range(len(program.calls))]
    interpreted = Interpreted(program.module, interp)
    found: list[Reference] = []
    for number in range(len(program.calls)):
        answer = interpreted.run(program.func, program.arguments(number))
        found.append(Reference(answer, answer, steps=interpreted.steps))
    return found


def _sanitized(program: Program, number: int, interp: Interp, kinds: Collection[str]) -> Reference:
    module = legalize_ops(program.module)  # detectors look into the functions that operators are
    hooks = Sanitizer(module, kinds)
    interpreted = Interpreted(module, interp, hooks)
    answer = interpreted.run(program.func, program.arguments(number))
    told = _explained(answer, hooks)
    plain = answer
    if isinstance(answer, Stopped) and answer.diagnostic is not None and answer.diagnostic.code.id in OWN:
        plain = Interpreted(program.module, interp).run(program.func, program.arguments(number))
    return Reference(told, plain, _report(told, hooks, kinds), interpreted.steps)


def _explained(answer: Answer, hooks: Sanitizer) -> Answer:
    """The answer with what detectors know of it."""
    if isinstance(answer, Ended) or answer.diagnostic is None:
        return answer
    return stopped(hooks.explain(error(answer.diagnostic)))


def _report(answer: Answer, hooks: Sanitizer, kinds: Collection[str]) -> Report:
    found = [*_ending(answer), *hooks.lints()]
    counts = {code: 0 for code in CODES if code.startswith("RM3") and code not in ALL} | dict.fromkeys(kinds, 0)
    for finding in found:
        code = finding.diagnostic.code.id
        counts[code] = counts.get(code, 0) + finding.count
    verdict = "defined" if isinstance(answer, Ended) else VERDICTS[answer.why]
    return Report(verdict, tuple(found), dict(sorted(counts.items())))


def _ending(answer: Answer) -> Iterator[Finding]:
    """What ended the run, if something did."""
    if isinstance(answer, Stopped) and answer.diagnostic is not None:
        yield Finding(answer.diagnostic)
