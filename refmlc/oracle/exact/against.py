"""Verdicts and findings of implementations against the exact definition of each operator.

| a call of a function                                             | the verdict                     |
|------------------------------------------------------------------|---------------------------------|
| each operator in it is within its bound                          | equal (the nearest), permitted  |
| one is outside                                                   | wrong, RM709                    |
| one has no reference; is not defined, or too large; is not taken | unsupported, not taken          |
| it has no operator of Relax, or does not end                     | unsupported                     |

The worst operator decides. Each operator is executed alone, on the inputs that it has in the interpreter's run.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE, INACCURATE
from refmlc.observe.bounds.certify import CertifiedTensor
from refmlc.oracle.agreement import PartComparison
from refmlc.oracle.exact.comparison import Distance, as_numbers, distance, enclosure, nearest, unlike
from refmlc.oracle.exact.definitions.definition import ExactDefinition, NoDefinition
from refmlc.oracle.exact.definitions.functions import MissingMpmath
from refmlc.oracle.exact.definitions.numbers import format_of
from refmlc.oracle.exact.definitions.table import DEFINITIONS, WITHOUT
from refmlc.oracle.exact.operands import operands
from refmlc.oracle.exact.programs import OperatorCall, OperatorCalls, OperatorProgram
from refmlc.oracle.examine import Examination, answers_of
from refmlc.oracle.finding import Finding, make_finding
from refmlc.oracle.implementations.implementation import Answer, Ended, Implementation, Stopped
from refmlc.oracle.implementations.interp import Interp, Interpreted
from refmlc.oracle.outcome import Kind, Verdict
from refmlc.oracle.reference import Program, Reference, references
from refmlc.run.memory.tensor import Tensor

REFERENCE = "reference"
MOST_ELEMENTS = 20_000
ORDER = (Kind.EQUAL, Kind.PERMITTED, Kind.UNSUPPORTED, Kind.NOT_TAKEN, Kind.WRONG)
NO_OPERATOR = "no operator of Relax is called: nothing has an exact reference"


@dataclass(frozen=True)
class AgainstReference:
    """The verdicts of each implementation, one for each call of the program, and the findings."""

    verdicts: dict[str, list[Verdict]]
    findings: tuple[Finding, ...]


@dataclass
class _Expected:
    """An operator on its inputs, with the exact result or the reason for its absence."""

    program: OperatorProgram
    reference: Reference
    definition: ExactDefinition | None = None
    results: list[np.ndarray] = field(default_factory=list)
    problem: str = ""


def against_reference(program: Program, implementations: Sequence[Implementation], interp: Interp) -> AgainstReference:
    """Hold the operators of each call of `program` to their definitions. Fails: RM112 where mpmath is needed."""
    runs = [_operators(program, number, interp) for number in range(len(program.calls))]
    expected: dict[object, _Expected] = {}
    for call in (call for calls, _problem in runs for call in calls):
        if call.key not in expected:
            expected[call.key] = _expected(call, interp)
    cases = list(expected.values())
    verdicts: dict[str, list[Verdict]] = {}
    findings: list[Finding] = []
    for implementation in implementations:
        answers = answers_of(implementation, [case.program for case in cases], [[case.reference] for case in cases])
        judged = {
            key: _judged(case, calls[0], implementation.name)
            for (key, case), calls in zip(expected.items(), answers, strict=True)
        }
        findings += [finding for _verdict, finding in judged.values() if finding is not None]
        verdicts[shown_against(implementation.name)] = [
            _worst([judged[call.key][0] for call in calls], problem) for calls, problem in runs
        ]
    return AgainstReference(verdicts, tuple(findings))


def held(examination: Examination, implementations: Sequence[Implementation], interp: Interp) -> Examination:
    """The examination with the verdicts and findings against the definitions. Fails: RM112 where mpmath is needed."""
    result = against_reference(examination.case, implementations, interp)
    findings, verdicts = (*examination.findings, *result.findings), {**examination.verdicts, **result.verdicts}
    return replace(examination, verdicts=verdicts, findings=findings)


def shown_against(name: str) -> str:
    """The line of an implementation in the table of verdicts."""
    return f"{name} against {REFERENCE}"


def shown_path(path: str, shown: Mapping[str, str]) -> str:
    """The name of a line in the table, where `shown` has the short names of implementations."""
    if not is_against(path):
        return shown.get(path, path)
    name = path.removesuffix(shown_against(""))
    return shown_against(shown.get(name, name))


def is_against(name: str) -> bool:
    """Whether a line of the table has the verdicts of an implementation against its definitions."""
    return name.endswith(shown_against(""))


def _operators(program: Program, number: int, interp: Interp) -> tuple[list[OperatorCall], str]:
    """The calls of operators in a run, and why it does not end."""
    hooks = OperatorCalls()
    answer = Interpreted(program.module, interp, hooks).run(program.func, program.arguments(number))
    if isinstance(answer, Stopped):
        return [], f"the call has no result: {answer.message}"
    return hooks.calls, "" if hooks.calls else NO_OPERATOR


def _worst(verdicts: Sequence[Verdict], problem: str) -> Verdict:
    if not verdicts:
        return Verdict(Kind.UNSUPPORTED, notes=(problem,))
    return max(verdicts, key=lambda verdict: ORDER.index(verdict.kind))


def _expected(call: OperatorCall, interp: Interp) -> _Expected:
    """The exact result of a call. Fails: RM112 where mpmath is needed."""
    name = call.op.name
    program = OperatorProgram(call, f"{name} alone")
    expected = _Expected(program, references(program, interp, sanitize=False)[0], DEFINITIONS.get(name))
    if expected.definition is None:
        expected.problem = f"`{name}` has no exact reference: {WITHOUT.get(name, 'it is new')}"
        return expected
    size = sum(argument.size for argument in program.arguments() if isinstance(argument, Tensor))
    if size > MOST_ELEMENTS:
        expected.problem = (
            f"`{name}` on {size:,} elements is too large for exact arithmetic (at most {MOST_ELEMENTS:,})"
        )
        return expected
    try:
        arguments, attributes = operands(call.op, call.node, call.values)
        with np.errstate(all="ignore"):
            expected.results = [
                np.asarray(part) for part in _flat(expected.definition.compute(*arguments, **attributes))
            ]
    except NoDefinition as gap:
        expected.problem = f"the definition of `{name}` does not say: {gap.reason}"
    except MissingMpmath as missing:
        message = f"`mpmath` is not installed; the exact reference of `{name}` needs it"
        raise fail(BAD_USAGE, message, None, str(missing)) from None
    return expected


def _flat(value: object) -> Iterator[object]:
    if isinstance(value, tuple | list):
        for part in value:
            yield from _flat(part)
    else:
        yield value


def _judged(case: _Expected, answer: Answer | None, name: str) -> tuple[Verdict, Finding | None]:
    """The verdict on the answer to one operator, and the finding where it is outside of the bound."""
    if case.problem:
        return Verdict(Kind.UNSUPPORTED, notes=(case.problem,)), None
    operator = case.program.call.op.name
    if not isinstance(answer, Ended):
        why = "not called" if answer is None else getattr(answer, "message", "")
        return Verdict(Kind.NOT_TAKEN, notes=(f"`{operator}`: {why}",)), None
    parts = [part for part in _flat(answer.value) if isinstance(part, Tensor)]
    if len(parts) != len(case.results):
        return Verdict(Kind.UNSUPPORTED, notes=(f"`{operator}`: {len(parts)} results, not {len(case.results)}",)), None
    permitted = False
    for place, (part, exact) in enumerate(zip(parts, case.results, strict=True)):
        label = "the result" if len(parts) == 1 else f"the result, field {place}"
        problem = unlike(part.array, exact)
        if problem:
            return Verdict(Kind.UNSUPPORTED, notes=(f"`{operator}`: {problem}",)), None
        found = distance(part.array, exact)
        if found.wrong and case.definition is not None:
            return _finding(case, part, exact, found, label, name, case.definition)
        permitted = permitted or not found.nearest
    return Verdict(Kind.PERMITTED if permitted else Kind.EQUAL), None


def _finding(
    case: _Expected,
    part: Tensor,
    exact: np.ndarray,
    found: Distance,
    label: str,
    name: str,
    definition: ExactDefinition,
) -> tuple[Verdict, Finding]:
    call = case.program.call
    place = f"[{', '.join(map(str, found.index))}]" if found.index else ""
    notes = (
        f"{label}{place} is {found.actual!r}, the definition gives {found.exact}",
        _far(found, definition, is_float=format_of(part.array.dtype) is not None),
        f"{found.wrong} of {found.total} elements are outside",
        f"definition: {definition.source}",
        f"`{call.op.name}` is executed alone, on the inputs that it has in the program",
    )
    verdict = Verdict(Kind.WRONG, notes=notes)
    message = f"`{name}` is inaccurate: {label} of `{call.op.name}` is not within the bound of its definition"
    expected = Tensor.from_numpy(nearest(exact, part.array.dtype), part.dtype)
    compared = PartComparison(label, verdict, part, expected, _certified(label, part, exact))
    finding = make_finding(INACCURATE, message, case.program, 0, name, compared, case.reference)
    if call.node.span is None:
        return verdict, finding
    return verdict, replace(finding, diagnostic=finding.diagnostic.at(call.node.span))


def _far(found: Distance, definition: ExactDefinition, *, is_float: bool) -> str:
    """The distance, what is permitted, and why."""
    if not is_float and not found.bound:
        return definition.bound if found.ulps is None else "integers are exact"
    unit = " ulp" if is_float else ""
    away = "" if found.ulps is None else f"{found.ulps:.3g}{unit} away; "
    return f"{away}at most {found.bound:.3g}{unit} is permitted: {definition.bound}"


def _certified(label: str, part: Tensor, exact: np.ndarray) -> CertifiedTensor:
    """What the definition permits, element by element."""
    form = format_of(part.array.dtype)
    elements = tuple(enclosure(number, form) for number in as_numbers(exact))
    return CertifiedTensor(label, part.dtype, part.shape, elements, nearest(exact, part.array.dtype))
