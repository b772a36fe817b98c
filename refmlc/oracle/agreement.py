"""Compare the result and all arguments of an implementation with those that the program means.

The worst part decides: wrong, then unsupported, then permitted, then equal. Elements that the program left unwritten
are not compared, unless the implementation promises the interpreter's verdicts: then they must be unwritten, too.
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
class PartComparison:
    """One compared part of a result: its label, verdict, both values, and the certificate if one was needed."""

    label: str
    verdict: Verdict
    actual: object = None
    expected: object = None
    certified: CertifiedTensor | None = None


EQUAL = PartComparison("", Verdict(Kind.EQUAL))


def agree(
    program: Program, number: int, reference: Ended, answer: Ended, *, promised: bool, freedom: Freedom = OTHERS
) -> PartComparison:
    """The worst part of an implementation's `answer` to call `number`; `promised`: only equal bits are accepted."""
    expected = parts(program.module, program.func, reference)
    actual = parts(program.module, program.func, answer)
    if len(expected) != len(actual):
        message = f"{len(actual)} values are returned, the program returns {len(expected)}"
        return PartComparison("the result", Verdict(Kind.WRONG, notes=(message,)))
    certificates = Certificates(program, number, expected, freedom)
    worst = EQUAL
    for at, (want, got) in enumerate(zip(expected, actual, strict=True)):
        compared = _part(want, got, certificates, at, promised=promised)
        if ORDER.index(compared.verdict.kind) > ORDER.index(worst.verdict.kind):
            worst = compared
    return worst


def _part(want: Part, got: Part, certificates: Certificates, at: int, *, promised: bool) -> PartComparison:
    if want.value is got.value or bits(want.value) == bits(got.value):
        return EQUAL
    if not isinstance(want.value, Tensor) or not isinstance(got.value, Tensor):
        return _numbers(want, got, certificates, promised=promised)
    if want.value.shape != got.value.shape or want.value.dtype != got.value.dtype:
        note = f"the result is {kind_of(got.value)}, the program gives {kind_of(want.value)}"
        return PartComparison(want.label, Verdict(Kind.WRONG, notes=(note,)), got.value, want.value)
    actual = _masked(got.value, want.value)
    expected = want.value.array
    if np.array_equal(_codes(actual), _codes(expected)):
        if promised:
            note = "other elements were written"
            return PartComparison(want.label, Verdict(Kind.WRONG, notes=(note,)), got.value, want.value)
        return EQUAL
    return _tensors(want, actual, certificates, at, promised=promised)


def _tensors(want: Part, actual: np.ndarray, certificates: Certificates, at: int, *, promised: bool) -> PartComparison:
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
        note = certificates.problem or "no bound: the certificate does not cover this result"
        verdict = Verdict(Kind.UNSUPPORTED, bitwise.difference, notes=("the bits differ", note))
        return PartComparison(want.label, verdict, mine, own)
    verdict = bitwise if isinstance(rule, Exact) else _by_rule(mine, own, rule)
    return PartComparison(want.label, verdict, mine, own, certificates.certified(at))


def _by_rule(mine: Tensor, own: Tensor, rule: Rule) -> Verdict:
    expected = rule.tensor if isinstance(rule, Certified) else own
    try:
        return compare(mine, expected, rule)
    except RefmlcError as failure:
        return Verdict(Kind.UNSUPPORTED, notes=("the bits differ", failure.diagnostic.message))


def _numbers(want: Part, got: Part, certificates: Certificates, *, promised: bool) -> PartComparison:
    """Compare numbers and other scalars: they must be equal; a computed float has no certificate."""
    if not promised and isinstance(want.value, bool) and got.value in (0, 1):  # a bool is 0 or 1 elsewhere
        got = replace(got, value=bool(got.value))
        if got.value == want.value:
            return EQUAL
    note = f"the result is {_shown(got.value)}, the program gives {_shown(want.value)}"
    rounded = isinstance(want.value, float) and isinstance(got.value, float) and not promised
    kind = Kind.UNSUPPORTED if rounded and not certificates.exact else Kind.WRONG
    return PartComparison(want.label, Verdict(kind, notes=(note,)), got.value, want.value)


def _shown(value: object) -> str:
    return repr(value) if isinstance(value, bool | int | float) else kind_of(value)


def _masked(actual: Tensor, reference: Tensor) -> np.ndarray:
    """The elements of `actual`, with those of the reference where it left them unwritten."""
    if reference.initialised:
        return actual.array
    return np.where(reference.written, actual.array, reference.array)


def _codes(array: np.ndarray) -> np.ndarray:
    whole = np.ascontiguousarray(array)
    codes: np.ndarray = whole.view(f"u{whole.dtype.itemsize}")
    return codes
