"""What is known of a pair of programs for all arguments, beside a test of it on calls.

| word           | means                                                                                       |
|----------------|---------------------------------------------------------------------------------------------|
| proved         | wherever the first is defined, the second is, with the same bits, for all arguments         |
| over the reals | the same values if nothing rounds                                                           |
| tested         | not decided, as `reason` says; on every call that was tried they mean the same              |
| undecided      | not decided, and no call was compared                                                       |
| refuted        | a call shows that they differ                                                               |

The sizes and scalars are those of the first call, unless the proof is for all of them (`PairProof.is_fixed`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import islice

from refmlc.diag import Diagnostic, RefmlcError
from refmlc.lang.ir import IRModule
from refmlc.oracle.implementations.interp import Interp
from refmlc.oracle.refine.calls import Call, fresh
from refmlc.oracle.refine.scope import contradiction, has_sizes, sizes_of
from refmlc.prove import Proof, ProofKind, SymbolicCall, decided, proved_for_all_sizes

SECONDS = 10.0
"""The usual limit of time of a proof."""
STEPS = 20_000_000
ALL_SIZES = "all sizes"
MOST_CALLS = 8
"""How many calls a verdict that disagrees with the test is compared with."""


class ProofWord(Enum):
    """What is known for all arguments."""

    PROVED = "proved"
    REALS = "over the reals"
    TESTED = "tested"
    UNDECIDED = "undecided"
    REFUTED = "refuted"


@dataclass(frozen=True)
class PairProof:
    """What is known; why no more; what it is proved for. `alarm`: a call contradicts the prover (RM903).

    `is_sized`: some size of the function is not a number. `is_fixed`: sizes or scalars are those of the first call.
    """

    word: ProofWord
    reason: str = ""
    assumptions: tuple[str, ...] = ()
    alarm: Diagnostic | None = None
    is_sized: bool = False
    is_fixed: bool = False

    @property
    def extent(self) -> str:
        """What is proved: `all sizes`, `all arguments` where sizes are numbers, `these sizes`; empty: nothing is."""
        if self.word is not ProofWord.PROVED:
            return ""
        return "these sizes" if self.is_fixed else ALL_SIZES if self.is_sized else "all arguments"

    @property
    def label(self) -> str:
        """The word, and whether it is said of all sizes."""
        return f"{self.word.value}, {ALL_SIZES}" if self.extent == ALL_SIZES else self.word.value

    def __str__(self) -> str:
        """The label, with the reason where there is one."""
        return f"{self.label}: {self.reason}" if self.reason else self.label


def undecided(reason: str) -> PairProof:
    """No proof, by this reason."""
    return PairProof(ProofWord.UNDECIDED, reason)


@dataclass(frozen=True)
class ProgramPair:
    """Two modules, the function, its defined calls, whether the test agrees on them (None: it compared none)."""

    before: IRModule
    after: IRModule
    func: str
    calls: Sequence[Call]
    agrees: bool | None


def proved(pair: ProgramPair, interp: Interp, seconds: float = SECONDS, steps: int = STEPS) -> PairProof:
    """What is known of a pair: for all sizes where that is shown, else for those of the first call.

    `interp` executes calls that might contradict the proof. Units: seconds; `steps` of each program on terms.
    """
    sizes = sizes_of(pair.before, pair.func, fresh(pair.calls[0])) if pair.calls else {}
    is_sized = has_sizes(pair.before, pair.func)
    try:
        proof = _proof(pair, SymbolicCall(sizes, steps, seconds / 2), is_sized=is_sized)
    except RefmlcError as failure:
        return undecided(failure.diagnostic.message)
    word, reason = _word(proof, agrees=pair.agrees)
    return PairProof(word, reason, proof.assumptions, _alarm(proof, pair, interp), is_sized, proof.is_fixed)


def _proof(pair: ProgramPair, call: SymbolicCall, *, is_sized: bool) -> Proof:
    if is_sized:
        proof = proved_for_all_sizes(pair.before, pair.after, pair.func, seconds=call.seconds)
        if proof.is_proved:
            return proof
    return decided(pair.before, pair.after, pair.func, call)


def _alarm(proof: Proof, pair: ProgramPair, interp: Interp) -> Diagnostic | None:
    """The alarm, where the test disagrees with the verdict and a call confirms it."""
    is_doubted = pair.agrees is False if proof.is_proved else pair.agrees is True
    calls = pair.calls if is_doubted else ()
    alarms = (contradiction(proof, pair.before, pair.after, pair.func, call, interp) for call in calls)
    return next((alarm for alarm in islice(alarms, MOST_CALLS) if alarm is not None), None)


def _word(proof: Proof, *, agrees: bool | None) -> tuple[ProofWord, str]:
    if agrees is False:
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
    return (ProofWord.TESTED if agrees else ProofWord.UNDECIDED), reason or proof.kind.value
