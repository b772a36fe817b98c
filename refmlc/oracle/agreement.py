"""Whether what an implementation left behind is what the program means: all that is returned, and all arguments.

The worst part decides: wrong, then not known, then permitted, then equal. Elements that the program left unwritten are
not compared, unless the implementation promises the interpreter's verdicts: then they are unwritten there too.
"""

from dataclasses import dataclass, replace

import numpy as np

from refmlc.diag.errors import RefmlcError
from refmlc.observe.bounds.certify import CertifiedTensor
from refmlc.observe.bounds.freedom import Freedom
from refmlc.oracle.certificates import OTHERS, Certificates
from refmlc.oracle.compare import compare
from refmlc.oracle.implementations.implementation import Ended
from refmlc.oracle.outcome import Kind, Verdict
from refmlc.oracle.parts import Part, parts
from refmlc.oracle.program import Program
from refmlc.oracle.rule import Certified, Exact, Rule
from refmlc.oracle.values import bits
from refmlc.run.memory.tensor import Tensor
from refmlc.run.memory.values import kind_of

ORDER = (Kind.EQUAL, Kind.PERMITTED, Kind.UNSUPPORTED, Kind.WRONG)


@dataclass(frozen=True)
class Compared:
    """One part compared: what it is called, its verdict, both values, the certificate where one was needed."""

    label: str
    verdict: Verdict
    actual: object = None
    expected: object = None
    certified: CertifiedTensor | None = None


EQUAL = Compared("", Verdict(Kind.EQUAL))


def agree(
    program: Program, number: int, reference: Ended, given: Ended, *, promised: bool, freedom: Freedom = OTHERS
) -> Compared:
    """The worst part of `given`, which an implementation left of call `number`; `promised`: the bits, nothing else."""
    wanted = parts(program.module, program.func, reference)
    found = parts(program.module, program.func, given)
    if len(wanted) != len(found):
        message = f"{len(found)} values come back, the program gives {len(wanted)}"
        return Compared("the result", Verdict(Kind.WRONG, notes=(message,)))
    certificates = Certificates(program, number, wanted, freedom)
    worst = EQUAL
    for at, (want, got) in enumerate(zip(wanted, found, strict=True)):
        one = _part(want, got, certificates, at, promised=promised)
        if ORDER.index(one.verdict.kind) > ORDER.index(worst.verdict.kind):
            worst = one
    return worst


def _part(want: Part, got: Part, certificates: Certificates, at: int, *, promised: bool) -> Compared:
    if want.value is got.value or bits(want.value) == bits(got.value):
        return EQUAL
    if not isinstance(want.value, Tensor) or not isinstance(got.value, Tensor):
        return _numbers(want, got, certificates, promised=promised)
    if want.value.shape != got.value.shape or want.value.dtype != got.value.dtype:
        note = f"it is {kind_of(got.value)}, the program gives {kind_of(want.value)}"
        return Compared(want.label, Verdict(Kind.WRONG, notes=(note,)), got.value, want.value)
    actual = _masked(got.value, want.value)
    expected = want.value.array
    if np.array_equal(_codes(actual), _codes(expected)):
        if promised:
            note = "other elements were written"
            return Compared(want.label, Verdict(Kind.WRONG, notes=(note,)), got.value, want.value)
        return EQUAL
    return _tensors(want, actual, certificates, at, promised=promised)


def _tensors(want: Part, actual: np.ndarray, certificates: Certificates, at: int, *, promised: bool) -> Compared:
    tensor = want.value
    if not isinstance(tensor, Tensor):
        return EQUAL
    element = tensor.dtype.scalar
    mine = Tensor.from_numpy(np.asarray(actual, order="C"), element)
    own = Tensor.from_numpy(np.asarray(tensor.array, order="C"), element)
    bitwise = compare(mine, own, Exact())
    if bitwise.kind is Kind.EQUAL:  # NaN of other bits
        return EQUAL
    rule: Rule | None = Exact() if promised else certificates.rule(at)
    if rule is None:
        note = certificates.problem or "no bound: the certificate does not reach it"
        verdict = Verdict(Kind.UNSUPPORTED, bitwise.difference, notes=("the bits differ", note))
        return Compared(want.label, verdict, mine, own)
    verdict = bitwise if isinstance(rule, Exact) else _by_rule(mine, own, rule)
    return Compared(want.label, verdict, mine, own, certificates.certified(at))


def _by_rule(mine: Tensor, own: Tensor, rule: Rule) -> Verdict:
    expected = rule.tensor if isinstance(rule, Certified) else own
    try:
        return compare(mine, expected, rule)
    except RefmlcError as failure:
        return Verdict(Kind.UNSUPPORTED, notes=("the bits differ", failure.diagnostic.message))


def _numbers(want: Part, got: Part, certificates: Certificates, *, promised: bool) -> Compared:
    """Numbers and the like: the same, but a float that is computed, for which there is no certificate."""
    if not promised and isinstance(want.value, bool) and got.value in (0, 1):  # a bool is 0 or 1 elsewhere
        got = replace(got, value=bool(got.value))
        if got.value == want.value:
            return EQUAL
    note = f"it is {_shown(got.value)}, the program gives {_shown(want.value)}"
    rounded = isinstance(want.value, float) and isinstance(got.value, float) and not promised
    kind = Kind.UNSUPPORTED if rounded and not certificates.exact else Kind.WRONG
    return Compared(want.label, Verdict(kind, notes=(note,)), got.value, want.value)


def _shown(value: object) -> str:
    return repr(value) if isinstance(value, bool | int | float) else kind_of(value)


def _masked(actual: Tensor, reference: Tensor) -> np.ndarray:
    """The elements of `actual`; where the reference left them unwritten, those of the reference."""
    if reference.initialised:
        return actual.array
    return np.where(reference.written, actual.array, reference.array)


def _codes(array: np.ndarray) -> np.ndarray:
    whole = np.ascontiguousarray(array)
    codes: np.ndarray = whole.view(f"u{whole.dtype.itemsize}")
    return codes
