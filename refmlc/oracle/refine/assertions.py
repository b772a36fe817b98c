"""Assertions on programs, for tests of passes, schedules, importers and hand-written kernels.

| assertion                          | holds when                                                                |
|------------------------------------|---------------------------------------------------------------------------|
| `assert_equivalent(before, after)` | `after` may stand for `before` on every call that is tried (`refinement`) |
| `assert_defined(module)`           | no call that is tried has undefined behaviour                             |

Decision: an assertion that has tried nothing does not hold. Where `before` is undefined on every call, or where every
call ends in a trap, that is raised.
"""

from collections.abc import Collection, Sequence

from refmlc.diag import Diagnostic, error
from refmlc.diag.catalogue import BAD_USAGE
from refmlc.diag.entry import entry_point
from refmlc.frontends.programs import Program
from refmlc.observe.sanitize.kinds import ALL
from refmlc.oracle.implementations.implementation import Stop, Stopped
from refmlc.oracle.implementations.interp import Interp
from refmlc.oracle.implementations.limits import Limits
from refmlc.oracle.reference import references
from refmlc.oracle.refine.calls import Call, ProgramCall, subject
from refmlc.oracle.refine.comparison import ComparisonOptions, compared, first_problem
from refmlc.oracle.refine.failures import Inequivalent, NotDefined
from refmlc.oracle.refine.refinement import INTERP


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
) -> None:
    """`after` may stand for `before`: the same bits, or results within the certified bound, and no less defined.

    A program is a module, a function, a drawn case, a module of real TVM, a path or a text (`frontends.programs`).
    `inputs` are the arguments of each call, which a drawn case has itself; without them, or where a number is given,
    `calls` calls are drawn from `seed` (20 and 0, or what REFMLC_CALLS and REFMLC_SEED say), and one that fails is made
    small before it is reported. `after` is run by `implementations`: `interp`, `native`, `tvm:PYTHON`, `cmd:COMMAND`.
    `exact`: the same bits, no bound is a way out.
    Fails: `Inequivalent` (RM701, RM703 … RM705); RM3xx and RM4xx where no call says anything; RM5xx and RM6xx where
    refmlc cannot tell; RM1xx and RM2xx for programs and arguments that do not fit.
    """
    first = subject(before, "before", func)
    asked = ComparisonOptions(inputs, calls, seed, implementations, limits, exact=exact)
    comparison = compared(first, subject(after, "after", first.func), asked)
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
) -> None:
    """No undefined behaviour on the calls that are tried, the sanitizer's detectors of `kinds` on.

    Calls are given or drawn as by `assert_equivalent`. A call that traps is defined.
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

    counterexample = first_problem(checked, inputs, (calls, seed), problem)
    if counterexample is not None:
        raise NotDefined(counterexample.diagnostic)
    if trapped and not ended[0]:
        raise error(trapped[0].noting("no result: every call that was tried ends in a trap"))
