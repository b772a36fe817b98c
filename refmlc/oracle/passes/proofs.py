"""The proof of a stage: whether its pass keeps the meaning of the stage before for all arguments.

| word           | means                                                                                            |
|----------------|--------------------------------------------------------------------------------------------------|
| proved         | wherever the stage before is defined, this one is, with the same bits, for all arguments         |
| over the reals | the same values if nothing rounds                                                                |
| tested         | not decided, as `reason` says; on every call that was tried the stage means the same             |
| undecided      | not decided, and no call was compared                                                            |
| refuted        | a call shows that the meaning changes                                                            |

The sizes and scalars are those of the first defined call of a function; others are not proved. A stage is held to the
last one that refmlc reads, and whose functions have parameters with types (not TVM's C interface), so proofs of all
stages in a row are a proof of the whole. A stage of the same structure is proved by that.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import islice

from refmlc.diag import Diagnostic, RefmlcError
from refmlc.lang.ir import IRModule
from refmlc.lang.ir.equal import structural_equal
from refmlc.oracle.implementations.interp import Interp
from refmlc.oracle.refine.calls import Call, fresh
from refmlc.oracle.refine.scope import contradiction, sizes_of
from refmlc.prove import Proof, ProofKind, SymbolicCall, compared

SECONDS = 10.0
"""The usual limit of time for the proof of one stage."""
STEPS = 20_000_000
MOST_CALLS = 8
"""How many calls a verdict that disagrees with the test is held against."""


class ProofWord(Enum):
    """What is known of a stage for all arguments."""

    PROVED = "proved"
    REALS = "over the reals"
    TESTED = "tested"
    UNDECIDED = "undecided"
    REFUTED = "refuted"


WORST = (ProofWord.REFUTED, ProofWord.UNDECIDED, ProofWord.TESTED, ProofWord.REALS, ProofWord.PROVED)


@dataclass(frozen=True)
class StageProof:
    """What is known of a stage; why no more; what it is proved for. `alarm`: a call contradicts the prover (RM903)."""

    word: ProofWord
    reason: str = ""
    assumptions: tuple[str, ...] = ()
    alarm: Diagnostic | None = None

    def __str__(self) -> str:
        """The word, with the reason where there is one."""
        return f"{self.word.value}: {self.reason}" if self.reason else self.word.value


def undecided(reason: str) -> StageProof:
    """No proof, by this reason."""
    return StageProof(ProofWord.UNDECIDED, reason)


@dataclass(frozen=True)
class ProvedFunction:
    """A function that is called: its defined calls, whether the test agrees on them (None: it compared none)."""

    name: str
    calls: Sequence[Call]
    agrees: bool | None


@dataclass(frozen=True)
class StageProver:
    """Proves stages. Units: seconds for each of them. `interp` executes calls that might contradict a proof."""

    interp: Interp
    seconds: float = SECONDS

    def stage(self, before: IRModule, after: IRModule, functions: Sequence[ProvedFunction]) -> StageProof:
        """The worst of the verdicts on the functions, with every assumption; an alarm of any of them."""
        if structural_equal(before, after):
            return StageProof(ProofWord.PROVED)
        proofs = [self._function(before, after, each, self.seconds / len(functions)) for each in functions]
        if not proofs:
            return undecided("no function is called")
        worst = min(proofs, key=lambda proof: WORST.index(proof.word))
        assumptions = tuple(dict.fromkeys(line for proof in proofs for line in proof.assumptions))
        alarm = next((proof.alarm for proof in proofs if proof.alarm is not None), None)
        return StageProof(worst.word, worst.reason, assumptions, alarm)

    def _function(self, before: IRModule, after: IRModule, function: ProvedFunction, seconds: float) -> StageProof:
        sizes = sizes_of(before, function.name, fresh(function.calls[0])) if function.calls else {}
        try:
            proof = compared(before, after, function.name, SymbolicCall(sizes, STEPS, seconds / 2))
        except RefmlcError as failure:
            return undecided(failure.diagnostic.message)
        word, reason = _word(proof, function)
        return StageProof(word, reason, proof.assumptions, self._alarm(proof, before, after, function))

    def _alarm(self, proof: Proof, before: IRModule, after: IRModule, function: ProvedFunction) -> Diagnostic | None:
        """The alarm, where the test disagrees with the verdict and a call confirms it."""
        is_doubted = function.agrees is False if proof.is_proved else function.agrees is True
        calls = function.calls if is_doubted else ()
        alarms = (contradiction(proof, before, after, function.name, call, self.interp) for call in calls)
        return next((alarm for alarm in islice(alarms, MOST_CALLS) if alarm is not None), None)


def _word(proof: Proof, function: ProvedFunction) -> tuple[ProofWord, str]:
    if function.agrees is False:
        return ProofWord.REFUTED, ""
    if proof.is_proved:
        return ProofWord.PROVED, ""
    if proof.kind is ProofKind.REALS and not proof.obligations:
        return ProofWord.REALS, ""
    reason = proof.reason
    if proof.kind is ProofKind.UNDECIDED and proof.difference is not None:
        reason = f"{reason}, the first in `{proof.difference.element}`"
    elif proof.obligations:
        reason = f"not shown: {proof.obligations[0].text}"
    return (ProofWord.TESTED if function.agrees else ProofWord.UNDECIDED), reason or proof.kind.value
