"""How an implementation's result agrees with the program's, part by part.

`Certificates` has the rule of each part; bits are compared first, a certificate is made only if they differ:

| part                                                      | rule                                                    |
|-----------------------------------------------------------|---------------------------------------------------------|
| of an implementation that promises the interpreter's bits | those bits                                              |
| an argument that the program leaves as it was             | its bits: it must not be changed                        |
| of a program without operators that round                 | the bits                                                |
| a number, a shape, a name                                 | the same value                                          |
| a tensor                                                  | the certified bound; none where refmlc cannot prove one |

The worst part decides the verdict: wrong, then unsupported, then permitted, then equal. Elements that the program left
unwritten are not compared, unless the implementation promises the interpreter's verdicts: then they must be unwritten,
too.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from refmlc.diag.errors import RefmlcError
from refmlc.lang.ir import tir
from refmlc.lang.ir.reach import reachable
from refmlc.observe.bounds import certify
from refmlc.observe.bounds.certify import CertifiedTensor
from refmlc.observe.bounds.exactness import only_exact
from refmlc.observe.bounds.freedom import Freedom
from refmlc.oracle.compare import Certified, Exact, Rule, compare, rule_for
from refmlc.oracle.implementations.implementation import Ended
from refmlc.oracle.outcome import Kind, Verdict
from refmlc.oracle.parts import ResultPart, bits, parts
from refmlc.oracle.reference import Program
from refmlc.rewrite.transform import legalize_ops
from refmlc.run.memory.tensor import Tensor
from refmlc.run.memory.values import kind_of

OTHERS = Freedom(ulps=4.0)
"""Additional freedom of other implementations. Decision: an implementation may call the platform's float32 functions,
which are documented to a few ulp (NUM-506, mode `libm`); TVM's default build does."""


class Certificates:
    """The rules for the parts of one call. `parts` are those of the reference."""

    def __init__(
        self,
        program: Program,
        number: int,
        parts: Sequence[ResultPart],
        freedom: Freedom = OTHERS,
        result: object = None,
    ) -> None:
        """The rules. `result` is what the reference returned."""
        self._result = result
        self._freedom = freedom
        self._program = program
        self._number = number
        self._parts = parts
        self._certified: dict[int, CertifiedTensor] | None = None
        self.problem = ""
        """The reason for a missing certificate."""

    @property
    def exact(self) -> bool:
        """Whether no operator of the program rounds, so that its bits are the only result.

        Of Relax its certificate says so, which also looks at what is called from outside.
        """
        module, func = self._program.module, self._program.func
        exact = isinstance(module.functions[func], tir.PrimFunc) and only_exact(reachable(module, func))
        return exact and not self._freedom.ties

    def rule(self, at: int) -> Rule | None:
        """The rule for part `at`; None: refmlc cannot say what is permitted."""
        if self.exact or self._unchanged(self._parts[at]):
            return Exact()
        certified = self._found().get(at)
        return None if certified is None else rule_for(certified)

    def certified(self, at: int) -> CertifiedTensor | None:
        """The certificate of part `at`, if one was made."""
        return None if self._certified is None else self._certified.get(at)

    def _unchanged(self, part: ResultPart) -> bool:
        """Whether the part is an argument that the reference left as it was."""
        if part.argument is None:
            return False
        before = self._program.arguments(self._number)[part.argument]
        return not isinstance(before, Tensor) or (before.initialised and bits(before) == bits(part.value))

    def _found(self) -> dict[int, CertifiedTensor]:
        if self._certified is None:
            self._certified = self._certify()
        return self._certified

    def _certify(self) -> dict[int, CertifiedTensor]:
        program = self._program
        try:
            arguments, module = program.arguments(self._number), legalize_ops(program.module)
            outputs = certify(module, program.func, arguments, freedom=self._freedom, result=self._result).outputs
        except RefmlcError as failure:
            self.problem = f"no bound: {failure.diagnostic.message}"
            return {}
        in_place = isinstance(program.module.functions[program.func], tir.PrimFunc)
        return _matched(self._parts, outputs, in_place=in_place)


def _matched(
    parts: Sequence[ResultPart], outputs: Sequence[CertifiedTensor], *, in_place: bool
) -> dict[int, CertifiedTensor]:
    """Which part each output is: both are in the order of the parameters, or of the result."""
    places = [
        at
        for at, part in enumerate(parts)
        if isinstance(part.value, Tensor) and (part.argument is not None) == in_place
    ]
    certified: dict[int, CertifiedTensor] = {}
    unmatched = list(outputs)
    for at in places:
        part = parts[at]
        if unmatched and _is(part, unmatched[0], in_place=in_place):
            certified[at] = unmatched.pop(0)
    return certified if not unmatched else {}


def _is(part: ResultPart, output: CertifiedTensor, *, in_place: bool) -> bool:
    """Whether `output` is `part`: by its name where it is a parameter, by order where it is returned."""
    tensor = part.value
    if not isinstance(tensor, Tensor) or tensor.shape != output.shape:
        return False
    return not in_place or part.label == f"`{output.name}`"


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
    certificates = Certificates(program, number, expected, freedom, reference.value)
    worst = EQUAL
    for at, (expected_part, actual_part) in enumerate(zip(expected, actual, strict=True)):
        compared = _part(expected_part, actual_part, certificates, at, promised=promised)
        if ORDER.index(compared.verdict.kind) > ORDER.index(worst.verdict.kind):
            worst = compared
    return worst


def _part(
    expected_part: ResultPart, actual_part: ResultPart, certificates: Certificates, number: int, *, promised: bool
) -> PartComparison:
    if expected_part.value is actual_part.value or bits(expected_part.value) == bits(actual_part.value):
        return EQUAL
    if not isinstance(expected_part.value, Tensor) or not isinstance(actual_part.value, Tensor):
        return _numbers(expected_part, actual_part, certificates, promised=promised)
    if expected_part.value.shape != actual_part.value.shape or expected_part.value.dtype != actual_part.value.dtype:
        note = f"the result is {kind_of(actual_part.value)}, the program gives {kind_of(expected_part.value)}"
        return PartComparison(
            expected_part.label, Verdict(Kind.WRONG, notes=(note,)), actual_part.value, expected_part.value
        )
    actual = _masked(actual_part.value, expected_part.value)
    expected = expected_part.value.array
    if np.array_equal(_codes(actual), _codes(expected)):
        if promised:
            note = "other elements were written"
            return PartComparison(
                expected_part.label, Verdict(Kind.WRONG, notes=(note,)), actual_part.value, expected_part.value
            )
        return EQUAL
    return _tensors(expected_part, actual, certificates, number, promised=promised)


def _tensors(
    want: ResultPart, actual: np.ndarray, certificates: Certificates, number: int, *, promised: bool
) -> PartComparison:
    tensor = want.value
    if not isinstance(tensor, Tensor):
        return EQUAL
    element = tensor.dtype.scalar
    actual_tensor = Tensor.from_numpy(np.asarray(actual, order="C"), element)
    expected_tensor = Tensor.from_numpy(np.asarray(tensor.array, order="C"), element)
    bitwise = compare(actual_tensor, expected_tensor, Exact())
    if bitwise.kind is Kind.EQUAL:  # NaN of other bits
        return EQUAL
    rule: Rule | None = Exact() if promised else certificates.rule(number)
    if rule is None:
        note = certificates.problem or "no bound: the certificate does not cover this result"
        verdict = Verdict(Kind.UNSUPPORTED, bitwise.difference, notes=("the bits differ", note))
        return PartComparison(want.label, verdict, actual_tensor, expected_tensor)
    verdict = bitwise if isinstance(rule, Exact) else _by_rule(actual_tensor, expected_tensor, rule)
    return PartComparison(want.label, verdict, actual_tensor, expected_tensor, certificates.certified(number))


def _by_rule(result: Tensor, reference: Tensor, rule: Rule) -> Verdict:
    expected = rule.tensor if isinstance(rule, Certified) else reference
    try:
        return compare(result, expected, rule)
    except RefmlcError as failure:
        return Verdict(Kind.UNSUPPORTED, notes=("the bits differ", failure.diagnostic.message))


def _numbers(
    expected_part: ResultPart, actual_part: ResultPart, certificates: Certificates, *, promised: bool
) -> PartComparison:
    """Compare numbers and other scalars: they must be equal; a computed float has no certificate."""
    if (
        not promised and isinstance(expected_part.value, bool) and actual_part.value in (0, 1)
    ):  # a bool is 0 or 1 elsewhere
        actual_part = replace(actual_part, value=bool(actual_part.value))
        if actual_part.value == expected_part.value:
            return EQUAL
    note = f"the result is {_scalar_text(actual_part.value)}, the program gives {_scalar_text(expected_part.value)}"
    rounded = isinstance(expected_part.value, float) and isinstance(actual_part.value, float) and not promised
    kind = Kind.UNSUPPORTED if rounded and not certificates.exact else Kind.WRONG
    return PartComparison(expected_part.label, Verdict(kind, notes=(note,)), actual_part.value, expected_part.value)


def _scalar_text(value: object) -> str:
    return repr(value) if isinstance(value, bool | int | float) else kind_of(value)


def _masked(actual: Tensor, reference: Tensor) -> np.ndarray:
    """The elements of `actual`, with those of the reference where it left them unwritten."""
    if reference.initialised:
        return actual.array
    return np.where(reference.written, actual.array, reference.array)


def _codes(array: np.ndarray) -> np.ndarray:
    contiguous = np.ascontiguousarray(array)
    codes: np.ndarray = contiguous.view(f"u{contiguous.dtype.itemsize}")
    return codes
