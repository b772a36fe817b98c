"""The proof of a stage: whether its pass keeps the meaning of the stage before for all arguments.

The words are those of `oracle.refine.proved`. A stage is held to the last one that refmlc reads, and whose functions
have parameters with types (not TVM's C interface), so proofs of all stages in a row are a proof of the whole. The sizes
are those of the first defined call of each function, where a stage is not proved for all sizes. A stage of the same
structure is proved by that.
"""

from collections.abc import Sequence

from refmlc.lang.ir import IRModule
from refmlc.lang.ir.equal import structural_equal
from refmlc.oracle.implementations.interp import Interp
from refmlc.oracle.refine.proved import PairProof, ProgramPair, ProofWord, proved, undecided
from refmlc.oracle.refine.scope import has_sizes

WORST = (ProofWord.REFUTED, ProofWord.UNDECIDED, ProofWord.TESTED, ProofWord.REALS, ProofWord.PROVED)


def stage_proof(
    before: IRModule, after: IRModule, pairs: Sequence[ProgramPair], interp: Interp, seconds: float
) -> PairProof:
    """The worst of what is known of the functions of a stage, with every assumption; an alarm of any of them.

    Units: seconds for all of them.
    """
    is_sized = any(has_sizes(pair.before, pair.func) for pair in pairs)
    if structural_equal(before, after):
        return PairProof(ProofWord.PROVED, is_sized=is_sized)
    proofs = [proved(pair, interp, seconds / len(pairs)) for pair in pairs]
    if not proofs:
        return undecided("no function is called")
    worst = min(proofs, key=lambda proof: WORST.index(proof.word))
    assumptions = tuple(dict.fromkeys(line for proof in proofs for line in proof.assumptions))
    alarm = next((proof.alarm for proof in proofs if proof.alarm is not None), None)
    is_fixed = any(proof.is_fixed for proof in proofs)
    return PairProof(worst.word, worst.reason, assumptions, alarm, is_sized, is_fixed)
