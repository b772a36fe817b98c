"""For all sizes and all arguments: definedness, and equality of two functions, decided by z3 (extra `prove`).

| file       | holds                                                                                          |
|------------|------------------------------------------------------------------------------------------------|
| `integers` | integer expressions of a program as expressions of z3                                          |
| `walk`     | the obligations of a function; loops are not unrolled                                          |
| `accesses` | every access with the loops around it, and the order of accesses                                |
| `coverage` | what the structure of a function shows: initialisation, order of parallel iterations           |
| `ranges`   | what memory and floats that are computed from integers lie between                             |
| `reach`    | the same as conditions on integers, where the structure alone does not show it                  |
| `inverse`  | the iteration that writes a place: a guess, which z3 then decides                               |
| `hypotheses` | what a proof may assume of the arguments                                                     |
| `verdict`  | each obligation proved, refuted by sizes that are executed, or undecided                       |
| `result`   | the verdicts as data                                                                           |
| `definitions` | what a function writes: mapped buffers and folds                                            |
| `matching` | values of two programs, by structure and by z3                                                 |
| `blocks`   | what blocks promise                                                                            |
| `equality` | whether two functions leave the same values                                                    |
"""

from collections.abc import Sequence

from refmlc.diag import RefmlcError, fail
from refmlc.diag.catalogue import BAD_USAGE
from refmlc.lang.ir import IRModule
from refmlc.prove.proof import Proof
from refmlc.prove.sizes.hypotheses import Assumption
from refmlc.prove.sizes.result import Definedness

LIMIT = 1 << 15
"""The greatest size of a symbolic dimension: two of them index a tensor of 2^30 elements."""
MILLISECONDS = 5000


def defined_for_all_sizes(
    module: IRModule,
    func: str,
    *,
    limit: int = LIMIT,
    milliseconds: int = MILLISECONDS,
    hypotheses: Sequence[Assumption] = (),
) -> Definedness:
    """Whether each call of a prim_func is defined: for all arguments and for all sizes up to `limit`.

    The caller's part: tensors do not overlap, what the function reads first is initialised, and the arguments satisfy
    the `hypotheses`. Units: milliseconds for each obligation. Fails: RM112 for a function that is not
    one of TensorIR, and without z3.
    """
    try:
        from refmlc.prove.sizes.verdict import decide  # noqa: PLC0415 - needs an extra, which other proofs do not
    except ModuleNotFoundError as missing:
        raise _missing(missing) from None
    return decide(module, func, limit, milliseconds, hypotheses)


def equal_for_all_sizes(
    before: IRModule, after: IRModule, func: str, *, limit: int = LIMIT, seconds: float | None = None
) -> Proof:
    """Whether `func` of `after` may stand for that of `before` for all sizes up to `limit`: proved or undecided.

    Tensors of the arguments do not overlap. Units: seconds (None: the usual limit). Fails: RM112 without z3.
    """
    try:
        from refmlc.prove.sizes.equality import SECONDS, compared_for_all_sizes  # noqa: PLC0415 - as above
    except ModuleNotFoundError as missing:
        raise _missing(missing) from None
    return compared_for_all_sizes(before, after, func, limit, seconds=SECONDS if seconds is None else seconds)


def _missing(missing: ModuleNotFoundError) -> RefmlcError:
    message = f"a proof for all sizes needs `{missing.name}`"
    return fail(BAD_USAGE, message, None, "pip install 'refmlc[prove]'")
