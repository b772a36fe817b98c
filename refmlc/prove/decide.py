"""The verdict on two programs, by the way that decides sooner.

| step | way                                                   | its verdict counts                  |
|------|-------------------------------------------------------|-------------------------------------|
| 1    | terms, with few steps                                 | unless it is undecided              |
| 2    | integers (`sizes`): loops are not unrolled            | if it is a proof; it needs z3       |
| 3    | terms, with all steps of the call                     | where the first way had too few     |

Terms take time by the iterations of the programs; integers take it by their text, so a product of large matrices is
proved as soon as one of small matrices.
"""

from dataclasses import replace

from refmlc.diag import RefmlcError
from refmlc.lang.ir import IRModule
from refmlc.prove.execute import SymbolicCall
from refmlc.prove.proof import Proof, ProofKind, compared
from refmlc.prove.sizes import LIMIT, equal_for_all_sizes

FEW_STEPS = 8_000
"""The steps of each program in the first way: together about a second."""


def decided(before: IRModule, after: IRModule, func: str, call: SymbolicCall, *, limit: int = LIMIT) -> Proof:
    """Whether `func` of `after` may stand for that of `before`, for all arguments of `call`, or for all sizes.

    A proof by integers holds for all sizes up to `limit`, and says so. Fails: RM112, RM2xx, as `compared`.
    """
    few = replace(call, steps=min(call.steps, FEW_STEPS))
    proof = compared(before, after, func, few)
    if proof.kind is not ProofKind.UNDECIDED or proof.difference is not None:
        return proof
    sized = proved_for_all_sizes(before, after, func, limit, call.seconds)
    if sized.is_proved or call.steps <= FEW_STEPS or not proof.is_unfinished:
        return sized if sized.is_proved else proof
    return compared(before, after, func, call)


def proved_for_all_sizes(
    before: IRModule, after: IRModule, func: str, limit: int = LIMIT, seconds: float | None = None
) -> Proof:
    """The verdict for all sizes up to `limit`; undecided without z3. Units: seconds (None: the usual limit)."""
    try:
        return equal_for_all_sizes(before, after, func, limit=limit, seconds=seconds)
    except RefmlcError as failure:
        return Proof(ProofKind.UNDECIDED, failure.diagnostic.message, failure.diagnostic.span, limit=limit)
