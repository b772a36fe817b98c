"""A proof that one program may stand for another, and where there is none, a search for a call that tells them apart.

`refmlc.prove` decides for all arguments of the given sizes. It never refutes by terms alone: two terms that differ may
still have equal values. So a call is looked for, as `assert_equivalent` does, and executed; it may have other sizes.
"""

from collections.abc import Collection, Mapping
from dataclasses import replace

from refmlc.diag import Diagnostic, RefmlcError
from refmlc.diag.entry import entry_point
from refmlc.frontends.programs import Program
from refmlc.lang.ir import IRModule, tir
from refmlc.oracle.contracts import ArgumentContract, contracts_of
from refmlc.oracle.contracts.assumptions import applicable
from refmlc.oracle.contracts.hypotheses import hypotheses
from refmlc.oracle.implementations.implementation import Limits
from refmlc.oracle.refine.calls import ProgramSubject, subject
from refmlc.oracle.refine.comparison import ComparisonOptions, compared
from refmlc.oracle.refine.scope import has_sizes
from refmlc.prove import Proof, ProofKind, SymbolicCall, decided, proved_for_all_sizes
from refmlc.prove.sizes import LIMIT, MILLISECONDS, defined_for_all_sizes
from refmlc.prove.sizes.result import Definedness

SEARCHED = (ProofKind.UNDECIDED, ProofKind.BOTH_DEFINED, ProofKind.REFUTED)
"""The verdicts for which a call that tells the programs apart is looked for."""


@entry_point
def prove(
    before: Program,
    after: Program,
    *,
    func: str | None = None,
    dims: Mapping[str, int] | None = None,
    calls: int = 20,
    seed: int = 0,
    limits: Limits | None = None,
    limit: int = 0,
) -> Proof:
    """Whether `after` may stand for `before`, for all arguments: the same bits, and no less defined.

    Where `limit` is not 0, sizes are symbolic and `dims` has none, it is shown for all sizes up to `limit` if possible,
    and else for the sizes that the proof says. `dims` has values of symbolic dimensions and of scalar arguments, which
    are fixed in the proof. Without a proof, `calls` calls are tried (0: none), in search of one that tells the programs
    apart.
    Fails: RM112 for a name that is not there; RM1xx and RM2xx for programs that are not well-formed.
    """
    first = subject(before, "before", func)
    second = subject(after, "after", first.func)
    limits = limits or Limits()
    sized_reason = ""
    if limit and not dims and has_sizes(first.module, first.func):
        proof = proved_for_all_sizes(first.module, second.module, first.func, limit)
        if proof.is_proved:
            return proof
        sized_reason = f"not for all sizes: {proof.reason}"
    proof = _proved_at_sizes(first, second, dims or {}, (calls, seed), limits)
    return replace(proof, assumptions=(*proof.assumptions, sized_reason)) if sized_reason else proof


def _proved_at_sizes(
    first: ProgramSubject, second: ProgramSubject, dims: Mapping[str, int], drawn: tuple[int, int], limits: Limits
) -> Proof:
    calls, seed = drawn
    proof = decided(first.module, second.module, first.func, SymbolicCall(dims, limits.steps))
    if proof.kind not in SEARCHED or not calls:
        return proof
    counterexample = _counterexample(first, second, ComparisonOptions(None, calls, seed, limits=limits, exact=True))
    if counterexample is not None:
        return proof.refuted_by(counterexample)
    return proof.unconfirmed() if proof.kind is ProofKind.REFUTED else proof


@entry_point
def prove_defined(
    module: IRModule,
    func: str,
    *,
    assume: Collection[ArgumentContract] = (),
    limit: int = LIMIT,
    milliseconds: int = MILLISECONDS,
) -> Definedness:
    """Whether each call of a prim_func that satisfies its contracts is defined: for all arguments and all sizes.

    What the program asserts and what `assume` says is given; what is inferred is used only where a proof needs it, and
    then the verdict says so. Units: milliseconds for each obligation. Fails: RM112, as `defined_for_all_sizes`.
    """
    function = module.functions.get(func)
    rows = (*applicable(module, func, assume), *contracts_of(module, func).rows) if function is not None else ()
    known = tuple(hypotheses(function, rows)) if isinstance(function, tir.PrimFunc) else ()
    return defined_for_all_sizes(module, func, limit=limit, milliseconds=milliseconds, hypotheses=known)


def _counterexample(first: ProgramSubject, second: ProgramSubject, options: ComparisonOptions) -> Diagnostic | None:
    """What a call that tells the programs apart shows; None: no call was found."""
    try:
        counterexample = compared(first, second, options).counterexample
    except RefmlcError:
        return None
    return None if counterexample is None else counterexample.diagnostic
