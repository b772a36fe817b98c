"""Modules and cases made smaller while a predicate holds.

Passes that take much away at a time come first, those that only simplify the rest come last (`GROUPS`).

A round goes through all groups; each group is repeated until nothing in it helps. After a round in which something
helped there is another one, so the end is a fixpoint of every pass.

A candidate is swept up (`tidy`), checked, shown as text and read back: the module of the text is what the predicate
judges, so the text is the whole result.

Modules and cases made smaller while a predicate holds.

The predicate is evaluated only on valid candidates: they obey the static rules, and their text reads as themselves. The
result does not depend on anything but the module and the answers; reducing it again changes nothing.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from refmlc.diag import RefmlcError, fail
from refmlc.diag.catalogue import BAD_USAGE
from refmlc.lang.ir import IRModule
from refmlc.lang.script import read, show
from refmlc.lang.wellformed.module import check_module
from refmlc.oracle.reduce.passes.buffers import (
    drop_buffers,
    lower_ranks,
    open_views,
    usual_layouts,
)
from refmlc.oracle.reduce.passes.dtypes import simpler_dtypes
from refmlc.oracle.reduce.passes.expressions import (
    constant_values,
    simpler_expressions,
    smaller_extents,
    smaller_places,
)
from refmlc.oracle.reduce.passes.functions import (
    constant_dimensions,
    drop_calls,
    drop_functions,
    drop_parameters,
    plain_functions,
    plain_module,
    simpler_arguments,
)
from refmlc.oracle.reduce.passes.graphs import drop_bindings, end_early, plain_graphs, simpler_bindings
from refmlc.oracle.reduce.passes.names import short_names
from refmlc.oracle.reduce.passes.statements import drop_axes, drop_statements, plain_nests, unwrap_statements
from refmlc.oracle.reduce.search import Candidate, Search, SearchLimits, SubjectText
from refmlc.oracle.reduce.size import ModuleSize, size_of
from refmlc.oracle.reduce.subject import Pass, Subject
from refmlc.oracle.reduce.tidy import tidied
from refmlc.strategies.case import Case

GROUPS: tuple[tuple[Pass, ...], ...] = (
    (drop_functions, drop_calls, end_early, drop_bindings, drop_statements),
    (drop_parameters, drop_buffers, simpler_bindings, unwrap_statements),
    (smaller_extents, plain_nests, constant_values),
    (drop_axes, open_views, lower_ranks, constant_dimensions, simpler_dtypes),
    (simpler_expressions, smaller_places, simpler_arguments),
    (plain_module, plain_functions, plain_graphs, usual_layouts),
    (short_names,),
)


class ModuleMatter:
    """Subjects: modules, and calls of them."""

    groups: Sequence[Sequence[Pass]] = GROUPS

    def shown(self, subject: Subject) -> SubjectText[Subject] | None:
        """The subject, swept up, as text; None where a static rule is broken."""
        swept = subject.with_module(tidied(subject.module))
        try:
            return None if check_module(swept.module) else as_text(swept)
        except RefmlcError:
            return None

    def read(self, shown: SubjectText[Subject]) -> Candidate[Subject] | None:
        """The module of the text; None if it breaks a static rule."""
        try:
            return as_read(shown)
        except RefmlcError:
            return None


def as_text(subject: Subject) -> SubjectText[Subject]:
    """The subject with its text. Fails: as showing does."""
    text = show(subject.module, show_meta=True)
    return SubjectText(subject, text, (text, subject.calls))


def as_read(candidate: SubjectText[Subject]) -> Candidate[Subject] | None:
    """The subject as its text says it; None where a static rule is broken. Fails: as reading does."""
    module = read(candidate.text, "reduced.py")
    if check_module(module):
        return None
    subject = candidate.subject.with_module(module)
    return Candidate(subject, candidate.text, size_of(subject, candidate.text))


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
    return _reduced(Subject(module, func), None, lambda candidate: keep(candidate.subject.module), limits, on_progress)


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
    return _reduced(subject, case, lambda candidate: keep(_case(case, candidate.subject)), limits, on_progress)


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

    def report(search: Search[Subject]) -> None:
        if on_progress is not None:
            on_progress(state(search))

    with Search(ModuleMatter(), first, holds, limits, report) as search:
        return state(search, finished=search.run())
