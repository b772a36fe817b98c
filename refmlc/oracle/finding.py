"""Findings: an implementation deviates from the meaning of a program; as data and as a diagnostic.

| code  | the implementation                                      |
|-------|---------------------------------------------------------|
| RM701 | gives a result that is not permitted                    |
| RM702 | promises verdicts and gives a wrong one                 |
| RM703 | crashed while it ran a program that is defined          |
| RM704 | gave no answer in its time on a program that is defined |
| RM705 | gives different results for equivalent programs         |
| RM706 | is an importer's: it is another program than the model  |
| RM707 | refuses a program that is defined                       |
| RM708 | fails to compile a program that is defined              |
| RM709 | is not within the bound of an operator's definition     |
| RM710 | none: the program makes a result that is not finite     |
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from refmlc.diag import Diagnostic, Related
from refmlc.diag.catalogue import INACCURATE, Code
from refmlc.diag.source import Span
from refmlc.observe.bounds.certify import CertifiedTensor
from refmlc.oracle.agreement import PartComparison
from refmlc.oracle.difference import Difference
from refmlc.oracle.outcome import Verdict
from refmlc.oracle.reasons import normalised
from refmlc.oracle.reference import Program, Reference
from refmlc.run.memory.tensor import Tensor
from refmlc.run.memory.values import kind_of

MOST_VALUES = 8


@dataclass(frozen=True)
class Finding:
    """A finding; `implementation` is empty if the program itself is undefined.

    `call` is the number of the call of `case`, `part` what differs (`C`, the result, empty). `actual` and
    `expected` are both values of the part; `certified` what it may be, where a bound decided. `other` is the second
    program of a pair (RM705).
    """

    code: Code
    case: Program
    call: int
    implementation: str
    verdict: Verdict
    diagnostic: Diagnostic
    reference: Reference
    part: str = ""
    actual: object = field(default=None, repr=False)
    expected: object = field(default=None, repr=False)
    certified: CertifiedTensor | None = field(default=None, repr=False)
    other: Program | None = None

    @property
    def signature(self) -> tuple[str, str, str]:
        """The key of a cause: code, implementation, and the operator, or what the implementation says of a failure.

        A guess at the cause of a difference is no part of it: other arguments make one fault look like another.
        """
        if self.code is INACCURATE:
            return (self.code.id, self.implementation, self.diagnostic.message)
        words = "" if self.verdict.difference is not None else normalised((self.verdict.notes or ("",))[0])
        return (self.code.id, self.implementation, f"{self.verdict.row} {words}".strip())


def make_finding(  # noqa: PLR0913 - each is a part of the finding
    code: Code,
    message: str,
    case: Program,
    call: int,
    implementation: str,
    compared: PartComparison,
    reference: Reference,
    *,
    related: tuple[Related, ...] = (),
    other: Program | None = None,
    wanted: str = "the program gives",
) -> Finding:
    """Make a finding with its diagnostic; `wanted` introduces the expected value."""
    function = case.module.functions.get(case.func)
    span = None if function is None else head(function.span)
    notes = (
        *difference_notes(compared.label, compared.verdict, wanted),
        f"{call_title(case, call)}: {arguments_text(case, call)}",
    )
    return Finding(
        code,
        case,
        call,
        implementation,
        compared.verdict,
        Diagnostic(code, message, span, notes=notes, related=related),
        reference,
        compared.label,
        compared.actual,
        compared.expected,
        compared.certified,
        other,
    )


def head(span: Span | None) -> Span | None:
    """The first line of a function; None for a program without a text."""
    if span is None or not span.source.line(span.line).strip() or span.end_line == span.line:
        return None if span is None or not span.source.text else span
    return Span(span.source, span.line, span.column, span.line, len(span.source.line(span.line)))


def difference_notes(label: str, verdict: Verdict, source_of_expected: str = "the program gives") -> Iterator[str]:
    """The difference in words: element, both values, distances, counts, likely cause."""
    difference = verdict.difference
    if difference is not None:
        yield f"{_element(label, difference)} is {difference.actual!r}, {source_of_expected} {difference.expected!r}"
        far = "" if difference.ulps is None else f"{difference.ulps} ulp away; "
        allowed = (
            "the bits are compared" if difference.bound is None else f"the certified bound is {difference.bound:.3g}"
        )
        yield far + allowed
        if difference.wrong:
            yield f"{difference.wrong} of {difference.total} elements are wrong"
        yield "distances in ulp: " + ", ".join(f"{name}: {count}" for name, count in difference.histogram.items())
        if difference.guess:
            yield difference.guess
    yield from verdict.notes


def _element(label: str, difference: Difference) -> str:
    place = f"[{', '.join(map(str, difference.index))}]" if difference.index else ""
    return f"{label[:-1]}{place}`" if label.startswith("`") and label.endswith("`") else f"{label}{place}"


def call_title(case: Program, number: int) -> str:
    """The number of a call; with its purpose where it was made for one."""
    calls = case.calls
    title = getattr(calls[number], "title", "") if isinstance(calls, Sequence) and number < len(calls) else ""
    return f"call {number + 1}, {title}" if title else f"call {number + 1}"


def arguments_text(case: Program, number: int) -> str:
    """The arguments of a call in one line."""
    return ", ".join(_argument(arg) for arg in case.arguments(number)) or "no arguments"


def _argument(arg: object) -> str:
    if not isinstance(arg, Tensor):
        return repr(arg) if isinstance(arg, bool | int | float) else kind_of(arg)
    head = f"{arg.dtype}[{', '.join(map(str, arg.shape))}]"
    if not arg.initialised:
        return f"{head} not all initialised"
    if arg.size > MOST_VALUES or arg.dtype.kind == "handle":
        return head
    return f"{head} {_plain(arg.array.tolist())}"


def _plain(value: object) -> str:
    """Nested lists of numbers, floats to six digits."""
    if isinstance(value, list):
        return f"[{', '.join(map(_plain, value))}]"
    return f"{value:.6g}" if isinstance(value, float) else str(value)
