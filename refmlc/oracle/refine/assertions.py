"""Assertions on programs, for tests of passes, schedules, importers and hand-written kernels.

| assertion                          | holds when                                                                |
|------------------------------------|---------------------------------------------------------------------------|
| `assert_equivalent(before, after)` | `after` may stand for `before` on every call that is tried (`refinement`) |
| `assert_defined(module)`           | no call that is tried has undefined behaviour                             |

Decision: an assertion that has tried nothing does not hold. Where `before` is undefined on every call, or where every
call ends in a trap, that is raised.

`Validation` runs a function before and after a step of a schedule, on generated calls, with all detectors on.

A step holds when each call that is defined before is defined after, and leaves the same bits. Where none of the calls
is defined before, nothing is known, and that is raised: give calls (`inputs`).

Calls that are drawn hold special values more often than ordinary ones, whose sums are rounded: some more are tried, all
of whose floats are random in -1 … 1. They tell one order of terms from another.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from refmlc.diag import Diagnostic, Mismatch, Undefined, error
from refmlc.diag.catalogue import BAD_USAGE
from refmlc.diag.entry import entry_point
from refmlc.frontends.programs import Program
from refmlc.lang.ir import IRModule
from refmlc.observe.sanitize.kinds import ALL
from refmlc.oracle.contracts.assumptions import written
from refmlc.oracle.implementations.implementation import Limits, Stop, Stopped
from refmlc.oracle.implementations.interp import Interp
from refmlc.oracle.reference import references
from refmlc.oracle.refine.calls import Call, ProgramCall, ordinary_calls, subject
from refmlc.oracle.refine.comparison import INTERP, ComparisonOptions, compared, first_problem


class Inequivalent(Mismatch, AssertionError):
    """Two programs that should mean the same do not (RM7xx)."""


class NotDefined(Undefined, AssertionError):
    """A program that should be defined has undefined behaviour (RM3xx)."""


@entry_point
def assert_equivalent(  # noqa: PLR0913 - each is an option of its own
    before: Program,
    after: Program,
    *,
    func: str | None = None,
    inputs: Sequence[Call] | None = None,
    calls: int | None = None,
    seed: int | None = None,
    implementations: Sequence[str] = (INTERP,),
    limits: Limits | None = None,
    exact: bool = False,
    assume: str | Collection[str] = (),
) -> None:
    """`after` may stand for `before`: the same bits, or results within the certified bound, and no less defined.

    A program is a module, a function, a drawn case, a module of real TVM, a path or a text (`frontends.programs`).
    `inputs` are the arguments of each call, which a drawn case has itself; without them, or where a number is given,
    `calls` calls are drawn from `seed` (20 and 0, or what REFMLC_CALLS and REFMLC_SEED say), and one that fails is made
    small before it is reported. `after` is run by `implementations`: `interp`, `native`, `tvm:PYTHON`, `cmd:COMMAND`.
    `exact`: the same bits, no bound is a way out. `assume`: contracts that arguments satisfy
    (`oracle.contracts.language`). Fails: `Inequivalent` (RM701, RM703 … RM705); RM115 for `inputs` that violate
    `assume`; RM3xx and RM4xx where no call says anything; RM5xx and RM6xx where
    refmlc cannot tell; RM1xx and RM2xx for programs and arguments that do not fit.
    """
    first = subject(before, "before", func)
    contracts = written(assume, first.module)
    options = ComparisonOptions(inputs, calls, seed, implementations, limits, exact=exact, assume=contracts)
    comparison = compared(first, subject(after, "after", first.func), options)
    if comparison.counterexample is not None:
        raise Inequivalent(comparison.counterexample.diagnostic)


@entry_point
def assert_defined(
    program: Program,
    *,
    func: str | None = None,
    inputs: Sequence[Call] | None = None,
    calls: int | None = None,
    seed: int | None = None,
    kinds: Collection[str] = ALL,
    limits: Limits | None = None,
    assume: str | Collection[str] = (),
) -> None:
    """No undefined behaviour on the calls that are tried, the sanitizer's detectors of `kinds` on.

    Calls are given or drawn as by `assert_equivalent`, within `assume`. A call that traps is defined.
    Fails: `NotDefined` (RM3xx); RM4xx where every call traps; otherwise as `assert_equivalent`.
    """
    checked = subject(program, "program", func)
    interp, ended, trapped = Interp(limits or Limits()), [False], list[Diagnostic]()

    def problem(call: Call) -> Diagnostic | None:
        answer = references(ProgramCall(checked.module, checked.func, call), interp, sanitize=True, kinds=kinds)[
            0
        ].answer
        if not isinstance(answer, Stopped):
            ended[0] = True
            return None
        diagnostic = answer.diagnostic or Diagnostic(BAD_USAGE, answer.message)
        if answer.why is Stop.UNDEFINED:
            return diagnostic
        if answer.why is not Stop.TRAP:
            raise error(diagnostic)
        trapped.append(diagnostic)
        return None

    counterexample = first_problem(checked, inputs, (calls, seed), problem, assume=written(assume, checked.module))
    if counterexample is not None:
        raise NotDefined(counterexample.diagnostic)
    if trapped and not ended[0]:
        raise error(trapped[0].noting("no result: every call that was tried ends in a trap"))


ORDINARY = 12  # a sum of four terms in another order has other bits on one call of four


class InvalidStep(Mismatch):
    """A step that changes what the function means; the diagnostic (RM705) holds the call on which it does."""


@dataclass(frozen=True)
class Validation:
    """The validation of steps: explicit calls, or a number of calls drawn from a seed, within contracts (`assume`)."""

    inputs: Sequence[Call] | None = None
    calls: int | None = None
    seed: int | None = None
    implementations: Sequence[str] = ("interp",)
    limits: Limits | None = None
    assume: str | Collection[str] = ()

    def check(self, before: IRModule, after: IRModule, func: str, step: str) -> None:
        """Refuse a step that changes what `func` means. Fails: `InvalidStep`, and as `assert_equivalent` does."""
        try:
            self._try(before, after, func, self.inputs)
            if self.inputs is None:
                rows = written(self.assume, before)
                count = ORDINARY if self.calls is None else self.calls
                self._try(before, after, func, list(ordinary_calls(before, func, count, self.seed or 0, rows)))
        except Inequivalent as failure:
            diagnostic = failure.diagnostic
            message = f"`{step}` changes what `{func}` means: {diagnostic.message}"
            raise InvalidStep(replace(diagnostic, message=message)) from None

    def _try(self, before: IRModule, after: IRModule, func: str, inputs: Sequence[Call] | None) -> None:
        assert_equivalent(
            before,
            after,
            func=func,
            inputs=inputs,
            calls=self.calls,
            seed=self.seed,
            implementations=self.implementations,
            limits=self.limits,
            exact=True,
            assume=self.assume,
        )
