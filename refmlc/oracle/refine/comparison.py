"""Two programs compared call by call, as `assert_equivalent` and `refmlc equiv` do: the first call with a difference.

Decision: a comparison without a defined call is no result. If no call of the program before runs to its end, that
is raised.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from refmlc.diag import Diagnostic, error
from refmlc.lang.ir.relax import ExternFunc
from refmlc.oracle.agreement import EQUAL, agree
from refmlc.oracle.finding import Finding
from refmlc.oracle.implementations.implementation import Ended, Stopped
from refmlc.oracle.implementations.interp import Interp
from refmlc.oracle.implementations.limits import Limits
from refmlc.oracle.outcome import Kind, Verdict
from refmlc.oracle.reference import references
from refmlc.oracle.refine.calls import Call, ProgramCall, ProgramSubject, drawn as draw, told, usual
from refmlc.oracle.refine.refinement import INTERP, Refinement
from refmlc.oracle.refine.smallest import smallest
from refmlc.vm.parameters import parameters_of

Problem = Callable[[Call], Diagnostic | None]


@dataclass(frozen=True)
class ComparisonOptions:
    """Options of a comparison, as in `assert_equivalent`."""

    inputs: Sequence[Call] | None = None
    calls: int | None = None
    seed: int | None = None
    implementations: Sequence[str] = (INTERP,)
    limits: Limits | None = None
    exact: bool = False


@dataclass(frozen=True)
class Counterexample:
    """A call, and what is wrong on it, the arguments among its notes."""

    call: Call
    diagnostic: Diagnostic


@dataclass(frozen=True)
class Comparison:
    """The result. `defined`: the number of calls on which the first program ends, the search included."""

    counterexample: Counterexample | None
    defined: int


def compared(before: ProgramSubject, after: ProgramSubject, asked: ComparisonOptions) -> Comparison:
    """Whether `after` may stand for `before`. Fails: as `assert_equivalent`, but for what it finds."""
    module, func = before.module, before.func
    judge = Refinement(module, after.module, func, asked.implementations, asked.limits, exact=asked.exact)
    try:
        counterexample = first_problem(before, asked.inputs, (asked.calls, asked.seed), judge.problem)
    finally:
        judge.close()
    if counterexample is None and not judge.defined and judge.nothing is not None:
        raise error(judge.nothing.noting("nothing was compared: no call of the first program runs to its end"))
    return Comparison(counterexample, judge.defined)


def first_problem(
    subject: ProgramSubject, inputs: Sequence[Call] | None, drawn: tuple[int | None, int | None], problem: Problem
) -> Counterexample | None:
    """The first call that has a problem; a drawn call is made small."""
    tried = subject.calls if inputs is None and drawn == (None, None) else inputs
    calls, seed = usual("REFMLC_CALLS", drawn[0]), usual("REFMLC_SEED", drawn[1])

    def fails(call: Call) -> bool:
        return problem(call) is not None

    call = next(filter(fails, tried if tried is not None else draw(subject.module, subject.func, calls, seed)), None)
    if call is not None and tried is None:
        call = smallest(subject.module, subject.func, call, fails)
    diagnostic = None if call is None else problem(call)
    if call is None or diagnostic is None:
        return None
    function = subject.module.functions[subject.func]
    names = [] if isinstance(function, ExternFunc) else [parameter.name for parameter in parameters_of(function)]
    return Counterexample(call, replace(diagnostic, notes=(*diagnostic.notes, *told(call, names))))


def finding_of(
    before: ProgramSubject, after: ProgramSubject, counterexample: Counterexample, limits: Limits | None = None
) -> Finding:
    """The counterexample as a finding of the oracle, with both values where the interpreter sees the difference."""
    interp = Interp(limits or Limits())
    program_before, program_after = (
        ProgramCall(each.module, each.func, counterexample.call) for each in (before, after)
    )
    reference = references(program_before, interp, sanitize=True)[0]
    meant, answer = reference.answer, references(program_after, interp, sanitize=True)[0].answer
    part = EQUAL
    if isinstance(meant, Ended) and isinstance(answer, Ended):
        part = agree(program_before, 0, meant, answer, promised=False)
    kind = Kind.UNDEFINED if isinstance(answer, Stopped) else Kind.WRONG
    verdict = part.verdict if part is not EQUAL else Verdict(kind, report=counterexample.diagnostic)
    code = counterexample.diagnostic.code
    values = (part.label, part.actual, part.expected, part.certified)
    return Finding(
        code,
        program_before,
        0,
        "the program after",
        verdict,
        counterexample.diagnostic,
        reference,
        *values,
        program_after,
    )
