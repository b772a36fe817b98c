"""Proofs and tests of one pair compared with each other: a function, and a rewrite that must mean the same.

| the verdict of the proof | is an alarm (RM903) where a call                       |
|--------------------------|--------------------------------------------------------|
| proved                   | shows other bits, or a rewrite that is less defined    |
| refuted                  | runs the rewrite to its end                            |
| vacuous                  | runs the function to its end                           |
| any other                | says nothing                                           |

A rewrite that is refuted, and that a call shows to be undefined where the function is defined, is a contradiction
(RM705), which the comparison of results does not see.

The sizes of a proof are those of the first call; other calls say something of it where they have the same. The limit is
one of steps, so that a batch has the same verdicts on every machine.
"""

from collections.abc import Sequence

from refmlc.diag import Diagnostic
from refmlc.diag.catalogue import CONTRADICTION
from refmlc.lang.ir import IRModule
from refmlc.oracle.finding import Finding
from refmlc.oracle.implementations.implementation import Ended, Stop, Stopped
from refmlc.oracle.implementations.interp import Interp
from refmlc.oracle.outcome import Kind, Verdict
from refmlc.oracle.pairs.equivalents import Variant
from refmlc.oracle.reference import Reference, references as meanings
from refmlc.oracle.refine.scope import contradiction, sizes_of
from refmlc.prove import Proof, ProofKind, SymbolicCall, compared
from refmlc.strategies.case import Case
from refmlc.strategies.equivalents import rolled_schedules

PATH = "prove"
STEPS = 200_000


def pair_of(case: Case, seed: int) -> Variant | None:
    """A rewrite of the function that a case calls; None: no step applies."""
    for schedule in rolled_schedules(case.prim_func, seed, 1):
        return Variant(case, IRModule({case.func: schedule.func}), schedule.trace, calls=case.calls)
    return None


def proof_of(pair: Variant) -> Proof:
    """The verdict on a pair, at the sizes of its first call."""
    base = pair.base
    sizes = sizes_of(base.module, base.func, base.arguments())
    return compared(base.module, pair.module, base.func, SymbolicCall(sizes, STEPS))


def findings_of(pair: Variant, proof: Proof, references: Sequence[Reference], interp: Interp) -> list[Finding]:
    """What the first call shows against a proof, or against a rewrite that is refuted.

    `references` are the meanings of the calls of the function.
    """
    base = pair.base
    for number, reference in enumerate(references):
        call = base.arguments(number)
        alarm = contradiction(proof, base.module, pair.module, base.func, call, interp)
        if alarm is None and proof.kind is ProofKind.REFUTED and isinstance(reference.answer, Ended):
            alarm = _less_defined(pair, number, interp)
        if alarm is not None:
            verdict = Verdict(Kind.WRONG, notes=(alarm.message,), report=alarm)
            return [Finding(alarm.code, base, number, PATH, verdict, alarm, reference, other=pair)]
    return []


def _less_defined(pair: Variant, number: int, interp: Interp) -> Diagnostic | None:
    """The contradiction that a rewrite is undefined on a call of a defined function; None: it is not."""
    answer = meanings(pair, interp, sanitize=True)[number].answer
    if not isinstance(answer, Stopped) or answer.why is not Stop.UNDEFINED:
        return None
    message = f"`{pair.func}` is defined, and after `{pair.label}` it is not: {answer.message}"
    return Diagnostic(CONTRADICTION, message, notes=() if answer.diagnostic is None else answer.diagnostic.notes)
