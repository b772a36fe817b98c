"""When a program may stand for another: it may be more defined than that, never less.

| the program before     | the program after                |                                                |
|------------------------|----------------------------------|------------------------------------------------|
| is undefined, or traps | does anything                    | permitted: nothing was promised                |
| ends                   | ends with the same bits          | equal                                          |
| ends                   | ends with others, in the bound   | permitted (`refmlc.observe.bounds`)            |
| ends                   | ends with others, outside of it  | RM705; of another implementation RM701         |
| ends                   | is undefined, traps, is rejected | RM705                                          |
| ends                   | crashes, or gives no answer      | RM703, RM704                                   |
| is beyond refmlc       | does anything                    | RM5xx or RM6xx is raised: not agreement        |
| ends                   | is beyond the implementation     | the same                                       |

With `exact` only equal bits are accepted. The bound is that of the program before. Where refmlc has
none for it, the one of the program after must hold what the program before gives: then the two differ by less.

Decision: a call on which the program before traps says nothing. A rewrite may drop an assertion that never holds the
caller up, as it may drop a check of what is undefined.

`compared` takes two programs call by call, as `assert_equivalent` and `refmlc equiv` do, to the first difference.

Decision: a comparison without a defined call is no result. If no call of the program before runs to its end, that
is raised.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from refmlc.diag import Diagnostic, RefmlcError, Related, error
from refmlc.diag.catalogue import CONTRADICTION, CRASHED, NO_ANSWER, UNSUPPORTED_CONSTRUCT, WRONG_RESULT
from refmlc.diag.codes.internal import BUG
from refmlc.lang.ir import IRModule
from refmlc.lang.ir.relax import ExternFunc
from refmlc.observe.bounds.freedom import Freedom
from refmlc.oracle.agreement import EQUAL, OTHERS, PartComparison, agree
from refmlc.oracle.contracts import ArgumentContract
from refmlc.oracle.contracts.assumptions import violation_of_call
from refmlc.oracle.contracts.compare import ContractWatch, stronger_contract
from refmlc.oracle.finding import Finding
from refmlc.oracle.implementations.implementation import Answer, Ended, Limits, Prepared, Stop, Stopped
from refmlc.oracle.implementations.interp import Interp
from refmlc.oracle.implementations.lookup import implementation
from refmlc.oracle.outcome import Kind, Verdict
from refmlc.oracle.reference import references
from refmlc.oracle.refine.calls import (
    Call,
    ProgramCall,
    ProgramSubject,
    argument_notes,
    drawn_calls as draw,
    fresh,
    smallest,
    usual,
)
from refmlc.vm.parameters import parameters_of

INTERP = "interp"
BEYOND = {Stop.UNSUPPORTED, Stop.EXHAUSTED}
PERMITTED = (Kind.EQUAL, Kind.PERMITTED)


class Refinement:
    """Compares `after`, run by several implementations, with `before`. Close it after use."""

    def __init__(
        self,
        before: IRModule,
        after: IRModule,
        func: str,
        specs: Sequence[str],
        limits: Limits | None = None,
        *,
        exact: bool = False,
    ) -> None:
        """Make `after` ready everywhere; `exact`: the same bits, no bound is a way out.

        Fails: RM112 for an implementation that is not there.
        """
        limits = limits or Limits()
        self._before, self._after, self._func, self._exact = before, after, func, exact
        self._interp = Interp(limits)
        self._watch = ContractWatch(before, after, func)
        self._implementations = [implementation(spec, limits, kept=True) for spec in specs if spec != INTERP]
        self._prepared = {other.name: other.prepare(after) for other in self._implementations}
        if INTERP in specs:
            self._prepared = {INTERP: Stopped(Stop.UNSUPPORTED, "by `references`"), **self._prepared}
        self.nothing: Diagnostic | None = None
        """Why a call said nothing: the last one that was undefined before."""
        self.defined: list[Call] = []
        """The calls on which the program before is defined, in order."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What the program after asks for that no call tells."""
        return self._watch.lines

    def close(self) -> None:
        """Give back what implementations hold."""
        for prepared in self._prepared.values():
            if not isinstance(prepared, Stopped):
                prepared.close()
        for other in self._implementations:
            other.close()

    def problem(self, call: Call) -> Diagnostic | None:
        """Why `after` may not stand for `before` on this call; None: it may. Fails: RM5xx, RM6xx."""
        before = ProgramCall(self._before, self._func, call)
        meaning = references(before, self._interp, sanitize=True)[0].answer
        if isinstance(meaning, Stopped):
            if meaning.why not in (Stop.UNDEFINED, Stop.TRAP):
                raise _error(meaning)
            self.nothing = meaning.diagnostic
            return None
        self.defined.append(call)
        self._watch.see(before.arguments())
        after = ProgramCall(self._after, self._func, call)
        for name, prepared in self._prepared.items():
            answer = self._answer(name, prepared, after)
            diagnostic = judged(name, answer, before, meaning, after, exact=self._exact)
            if diagnostic is not None:
                return diagnostic
        return None

    def _answer(self, name: str, prepared: Prepared | Stopped, after: ProgramCall) -> Answer:
        if name == INTERP:
            return references(after, self._interp, sanitize=True)[0].answer
        return prepared if isinstance(prepared, Stopped) else prepared.run(self._func, after.arguments())


def judged(
    name: str, answer: Answer, before: ProgramCall, meaning: Ended, after: ProgramCall, *, exact: bool = False
) -> Diagnostic | None:
    """Why `answer`, which `name` gave to `after`, may not stand for `meant`; None: it may. Fails: RM5xx, RM6xx."""
    return verdict_on(name, answer, before, meaning, after, exact=exact)[1]


def verdict_on(
    name: str,
    answer: Answer,
    before: ProgramCall,
    meaning: Ended,
    after: ProgramCall,
    *,
    exact: bool = False,
    freedom: Freedom = OTHERS,
) -> tuple[Kind, Diagnostic | None]:
    """The same with the kind: equal bits, or permitted within a certified bound. Fails: RM5xx, RM6xx."""
    if isinstance(answer, Stopped):
        diagnostic, more = _stopped(name, answer), ""
        if answer.why is Stop.UNDEFINED:
            more = stronger_contract(before.module, after.module, after.func, after.arguments())
        return Kind.WRONG, diagnostic.noting(more) if more else diagnostic
    comparison = agree(before, 0, meaning, answer, promised=exact, freedom=freedom)
    if comparison.verdict.kind is Kind.UNSUPPORTED:
        reverse_comparison = agree(after, 0, answer, meaning, promised=False)
        if reverse_comparison.verdict.kind in PERMITTED:
            return Kind.PERMITTED, None
        raise error(
            Diagnostic(UNSUPPORTED_CONSTRUCT, f"{comparison.label} differs: {'; '.join(comparison.verdict.notes)}")
        )
    kind = comparison.verdict.kind
    return (kind, None) if kind in PERMITTED else (Kind.WRONG, _differs(name, comparison, after))


def _differs(name: str, comparison: PartComparison, after: ProgramCall) -> Diagnostic:
    code = CONTRADICTION if name == INTERP else WRONG_RESULT
    by = "the program after" if name == INTERP else f"`{name}`"
    verdict = comparison.verdict
    how = "; ".join(verdict.notes) if verdict.difference is None else str(verdict.difference)
    notes = () if verdict.difference is None else verdict.notes
    return Diagnostic(
        code,
        f"{by} gives another {comparison.label.removeprefix('the ')}: {how}",
        after.module.functions[after.func].span,
        "",
        notes,
    )


def _stopped(name: str, answer: Stopped) -> Diagnostic:
    """The finding that the program after does not run to its end."""
    if answer.why in BEYOND:
        raise _error(answer)
    by = "the program after" if name == INTERP else f"`{name}`"
    match answer.why:
        case Stop.CRASHED:
            return Diagnostic(CRASHED, f"{by} crashes: {answer.message}")
        case Stop.TIMED_OUT:
            return Diagnostic(NO_ANSWER, f"{by} gives no answer: {answer.message}")
    inner = answer.diagnostic
    message = f"the program before is defined, {by} is not: {answer.message}"
    if inner is None:
        return Diagnostic(CONTRADICTION, message)
    return Diagnostic(CONTRADICTION, message, inner.span, inner.label, inner.notes, _related(inner))


def _related(inner: Diagnostic) -> tuple[Related, ...]:
    return inner.related


def _error(answer: Stopped) -> RefmlcError:
    """The failure that says that nothing can be said."""
    if answer.diagnostic is not None:
        return error(answer.diagnostic)
    return error(Diagnostic(BUG if answer.why is Stop.CRASHED else UNSUPPORTED_CONSTRUCT, answer.message))


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
    assume: tuple[ArgumentContract, ...] = ()


@dataclass(frozen=True)
class Counterexample:
    """A call, and what is wrong on it, the arguments among its notes."""

    call: Call
    diagnostic: Diagnostic


@dataclass(frozen=True)
class RefinementResult:
    """The result. `defined`: the number of calls on which the first program ends, the search included; `calls`: these.

    `notes`: contracts that the second program alone has (`contracts.compare`).
    """

    counterexample: Counterexample | None
    defined: int
    notes: tuple[str, ...] = ()
    calls: tuple[Call, ...] = ()


def compared(before: ProgramSubject, after: ProgramSubject, options: ComparisonOptions) -> RefinementResult:
    """Whether `after` may stand for `before`. Fails: as `assert_equivalent`, but for what it finds."""
    module, func = before.module, before.func
    judge = Refinement(module, after.module, func, options.implementations, options.limits, exact=options.exact)
    try:
        drawn = (options.calls, options.seed)
        counterexample = first_problem(before, options.inputs, drawn, judge.problem, (after.module,), options.assume)
    finally:
        judge.close()
    if counterexample is None and not judge.defined and judge.nothing is not None:
        raise error(judge.nothing.noting("nothing was compared: no call of the first program runs to its end"))
    return RefinementResult(counterexample, len(judge.defined), judge.notes, tuple(judge.defined))


def first_problem(
    subject: ProgramSubject,
    inputs: Sequence[Call] | None,
    drawn: tuple[int | None, int | None],
    problem: Problem,
    others: Sequence[IRModule] = (),
    assume: Sequence[ArgumentContract] = (),
) -> Counterexample | None:
    """The first call that has a problem; a drawn call is made small. `others`: programs compared with the subject.

    `assume`: contracts that arguments satisfy. Fails: RM115 for an explicit call that does not.
    """
    candidate = subject.calls if inputs is None and drawn == (None, None) else inputs
    calls, seed = usual("REFMLC_CALLS", drawn[0]), usual("REFMLC_SEED", drawn[1])

    def violation(call: Call) -> RefmlcError | None:
        return violation_of_call(subject.module, subject.func, assume, fresh(call)) if assume else None

    def fails(call: Call) -> bool:
        return violation(call) is None and problem(call) is not None

    if candidate is None:
        call = next(filter(fails, draw(subject.module, subject.func, calls, seed, others, assume)), None)
    else:
        for failure in filter(None, map(violation, candidate)):
            raise failure
        call = next(filter(fails, candidate), None)
    if call is not None and candidate is None:
        call = smallest(subject.module, subject.func, call, fails)
    diagnostic = None if call is None else problem(call)
    if call is None or diagnostic is None:
        return None
    function = subject.module.functions[subject.func]
    names = [] if isinstance(function, ExternFunc) else [parameter.name for parameter in parameters_of(function)]
    return Counterexample(call, replace(diagnostic, notes=(*diagnostic.notes, *argument_notes(call, names))))


def finding_of(
    before: ProgramSubject, after: ProgramSubject, counterexample: Counterexample, limits: Limits | None = None
) -> Finding:
    """The counterexample as a finding of the oracle, with both values where the interpreter sees the difference."""
    interp = Interp(limits or Limits())
    program_before, program_after = (
        ProgramCall(side.module, side.func, counterexample.call) for side in (before, after)
    )
    reference = references(program_before, interp, sanitize=True)[0]
    meaning, answer = reference.answer, references(program_after, interp, sanitize=True)[0].answer
    part = EQUAL
    if isinstance(meaning, Ended) and isinstance(answer, Ended):
        part = agree(program_before, 0, meaning, answer, promised=False)
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
