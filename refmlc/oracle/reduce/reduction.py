"""Modules and cases made smaller while a predicate holds.

The predicate is evaluated only on valid candidates: they obey the static rules, and their text reads as themselves. The
result does not depend on anything but the module and the answers; reducing it again changes nothing.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE
from refmlc.lang.ir import IRModule
from refmlc.oracle.reduce.modules import Modules, as_read, as_text
from refmlc.oracle.reduce.search import Candidate, Search, SearchLimits
from refmlc.oracle.reduce.size import ModuleSize, size_of
from refmlc.oracle.reduce.subject import Subject
from refmlc.strategies.case import Case


@dataclass(frozen=True)
class Reduction:
    """The smallest module found and its text. `tries`: judgements; `steps`: edits made; `finished`: no limit was met.

    `before` and `after` are the sizes of the original and of the result.
    """

    module: IRModule
    text: str
    case: Case | None
    before: ModuleSize
    after: ModuleSize
    tries: int
    steps: int
    finished: bool


Progress = Callable[[Reduction], None]


def reduce(
    module: IRModule,
    keep: Callable[[IRModule], bool],
    *,
    func: str = "",
    seconds: float | None = None,
    tries: int | None = None,
    jobs: int = 1,
    on_progress: Progress | None = None,
) -> Reduction:
    """The smallest module found for which `keep` holds, as it holds for `module`.

    Function `func` is never left out. `on_progress` gets what there is after each step. With several `jobs`, `keep` is
    asked from several threads. Units: seconds. Fails: RM112 where `keep` does not hold at first, or the module breaks a
    static rule; whatever `keep` raises.
    """
    limits = SearchLimits(seconds, tries, jobs)
    return _reduced(Subject(module, func), None, lambda one: keep(one.subject.module), limits, on_progress)


def reduce_case(
    case: Case,
    keep: Callable[[Case], bool],
    *,
    seconds: float | None = None,
    tries: int | None = None,
    jobs: int = 1,
    on_progress: Progress | None = None,
) -> Reduction:
    """The smallest case found for which `keep` holds: its module, its calls and their recipes. As `reduce`."""
    subject = Subject(case.module, case.func, case.calls)
    limits = SearchLimits(seconds, tries, jobs)
    return _reduced(subject, case, lambda one: keep(_case(case, one.subject)), limits, on_progress)


def _case(case: Case, subject: Subject) -> Case:
    return replace(case, module=subject.module, calls=subject.calls)


def _reduced(
    subject: Subject,
    case: Case | None,
    holds: Callable[[Candidate[Subject]], bool],
    limits: SearchLimits,
    on_progress: Progress | None,
) -> Reduction:
    first = as_read(as_text(subject))
    if first is None:
        raise fail(BAD_USAGE, "the module breaks a static rule: only valid modules can be reduced")
    if not holds(first):
        raise fail(BAD_USAGE, "the predicate does not hold for the original module")

    before = size_of(first.subject, first.text)

    def state(search: Search[Subject], *, finished: bool = False) -> Reduction:
        best = search.best
        now = None if case is None else _case(case, best.subject)
        sizes = (before, size_of(best.subject, best.text))
        return Reduction(best.subject.module, best.text, now, *sizes, search.tries, search.steps, finished)

    def told(search: Search[Subject]) -> None:
        if on_progress is not None:
            on_progress(state(search))

    with Search(Modules(), first, holds, limits, told) as search:
        return state(search, finished=search.run())
