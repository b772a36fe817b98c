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

With `prove` an equivalence is proved too, for all arguments at the sizes of the first defined call. What is known goes
to the log `refmlc.proofs`, from which the pytest plugin counts: `proved`, `over the reals`, `tested`.

Calls that are drawn hold special values more often than ordinary ones, whose sums are rounded: some more are tried, all
of whose floats are random in -1 … 1. They tell one order of terms from another.
"""

import logging
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
from refmlc.oracle.refine.proved import ProgramPair, proved


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
    prove: bool = False,
) -> None:
    """`after` may stand for `before`: the same bits, or results within the certified bound, and no less defined.

    A program is a module, a function, a drawn case, a module of real TVM, a path or a text (`frontends.programs`).
    `inputs` are the arguments of each call, which a drawn case has itself; without them, or where a number is given,
    `calls` calls are drawn from `seed` (20 and 0, or what REFMLC_CALLS and REFMLC_SEED say), and one that fails is made
    small before it is reported. `after` is run by `implementations`: `interp`, `native`, `tvm:PYTHON`, `cmd:COMMAND`.
    `exact`: the same bits, no bound is a way out. `assume`: contracts that arguments satisfy
    (`oracle.contracts.language`). `prove`: prove it too (`refine.proved`); without a proof the calls decide. Fails:
    `Inequivalent` (RM701, RM703 … RM705); RM115 for `inputs` that violate `assume`; RM3xx and RM4xx where no call says
    anything; RM5xx and RM6xx where refmlc cannot tell; RM1xx and RM2xx for programs and arguments that do not fit;
    RM903 where a call contradicts the proof.
    """
    first = subject(before, "before", func)
    second = subject(after, "after", first.func)
    contracts = written(assume, first.module)
    options = ComparisonOptions(inputs, calls, seed, implementations, limits, exact=exact, assume=contracts)
    comparison = compared(first, second, options)
    problem = comparison.counterexample
    if prove:
        tried = comparison.calls if problem is None else (problem.call,)
        _prove(ProgramPair(first.module, second.module, first.func, tried, problem is None), limits)
    if problem is not None:
        raise Inequivalent(problem.diagnostic)


PROOFS = logging.getLogger("refmlc.proofs")
"""What is known of each equivalence that is to be proved: a record with `word` and `reason`."""


def _prove(pair: ProgramPair, limits: Limits | None) -> None:
    """Prove a pair, and log what is known. Fails: RM903."""
    proof = proved(pair, Interp(limits or Limits()))
    if proof.alarm is not None:
        raise error(proof.alarm)
    known = {"word": proof.word.value, "reason": proof.reason}
    PROOFS.info("`%s`: %s", pair.func, "; ".join([str(proof), *proof.assumptions]), extra=known)


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
