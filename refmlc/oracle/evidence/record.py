"""Make a case of a finding: the program text, its calls with arguments, and their results.

The text is read again and the meaning is computed again, so that what the file says of places is true of the file.
"""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from importlib.metadata import version
from math import inf, nextafter

from refmlc.diag import Diagnostic, RefmlcError
from refmlc.diag.catalogue import Code
from refmlc.lang.ir import IRModule, relax, tir
from refmlc.lang.ir.equal import structural_equal
from refmlc.lang.ir.tirx import DEVICE_ENTRY
from refmlc.lang.ir.visit import walk
from refmlc.lang.ops.scalar import SCALAR_OPS
from refmlc.lang.script import show
from refmlc.lang.wellformed.reader_checks import read
from refmlc.observe.bounds.certify import CertifiedTensor
from refmlc.observe.bounds.choice import Value, members
from refmlc.observe.bounds.enclosure import NAN, NINF, PINF, Enclosure
from refmlc.oracle.agreement import Certificates
from refmlc.oracle.compare import Certified
from refmlc.oracle.evidence.case_file import CaseCall, CaseFile, identified
from refmlc.oracle.evidence.literals import arguments_data, number_data, tensor_data
from refmlc.oracle.finding import Finding
from refmlc.oracle.implementations.implementation import Answer, Ended, Stop
from refmlc.oracle.implementations.interp import Interp
from refmlc.oracle.parts import ResultPart, parts
from refmlc.oracle.reference import Program, references
from refmlc.oracle.toml_text import Data
from refmlc.run.memory.tensor import Tensor
from refmlc.run.memory.values import Shape

DIALECT = "0.27"
SPECIALS = ((PINF, "inf"), (NINF, "-inf"), (NAN, "nan"))


def case_text(finding: Finding) -> str:
    """The TOML file of a finding. Fails: RM111 where an argument cannot be recorded."""
    return case_of(finding).toml()


def case_of(finding: Finding) -> CaseFile:
    """The finding as a case, with the one call that shows it."""
    where = f" in {finding.implementation}" if finding.implementation else ""
    provenance = f"refmlc {version('refmlc')}: {finding.code.id}{where}, call {finding.call + 1}"
    if finding.case.name:
        provenance += f" of {finding.case.name}"
    return recorded(finding.case, (finding.call,), provenance, finding.implementation, finding.code)


def recorded(
    program: Program, calls: Sequence[int], provenance: str, implementation: str = "", code: Code | None = None
) -> CaseFile:
    """Some calls of a program as a case. Fails: RM111."""
    text = text_of(program.module)
    draft_calls = [CaseCall(tuple(arguments_data(program.arguments(number)))) for number in calls]
    identity = identified(program.func, text, draft_calls, "found" if code is None else code.id.lower())
    draft = CaseFile(
        identity,
        (),
        features(program.module),
        DIALECT,
        provenance,
        implementation,
        text,
        program.func,
        tuple(draft_calls),
        as_written=getattr(program, "as_written", False),
        allow=tuple(sorted(getattr(program, "allow", ()))),
        orders=getattr(program, "orders", 1),
    )
    interp = Interp(check=False, allow=frozenset(draft.allow), as_written=draft.as_written, orders=draft.orders)
    answers = [reference.answer for reference in references(draft, interp, sanitize=True)]
    calls_made = [
        CaseCall(call.args, assertion(draft, number, answer))
        for number, (call, answer) in enumerate(zip(draft_calls, answers, strict=True))
    ]
    decided = clauses(program.module, code, answers)
    return replace(draft, clauses=decided, calls=tuple(calls_made))


def text_of(module: IRModule) -> str:
    """The text that the module was read from, to the letter, where it still says the module; else as it is shown.

    A module that was made from another (a variant, one with bound parameters) has the source of that one.
    """
    if module.source is not None and _says(module.source.text, module):
        return module.source.text
    return show(module, show_meta=True)


def _says(text: str, module: IRModule) -> bool:
    try:
        return structural_equal(read(text, "case.py", check=False), module)
    except RefmlcError:
        return False


def features(module: IRModule) -> tuple[str, ...]:
    """Features that the module requires: kinds of functions, dtypes, threads, kernels of TIRx, symbolic extents."""
    names: set[str] = set()
    for function in module.functions.values():
        names.add("relax" if isinstance(function, relax.Function) else "tensorir")
        for node in walk(function):
            match node:
                case tir.Buffer(dtype=kind, shape=shape):
                    names.add(kind.scalar.element)
                    names |= {"vectors"} if kind.is_vector else set()
                    names |= {"symbolic"} if any(not isinstance(extent, tir.IntImm) for extent in shape) else set()
                case tir.ThreadVar():
                    names.add("threads")
                case tir.AttrStmt(key=key) if key == DEVICE_ENTRY:
                    names |= {"threads", "tirx"}
    return tuple(sorted(names))


def clauses(module: IRModule, code: Code | None, answers: Sequence[Answer]) -> tuple[str, ...]:
    """What decides: the clause of the undefinedness, or the clauses of the operators of the module."""
    codes = [answer.diagnostic.code for answer in answers if not isinstance(answer, Ended) and answer.diagnostic]
    named = [each.clause for each in (*codes, *([code] if code else [])) if each.clause]
    if named:
        return tuple(dict.fromkeys(named))
    names = {
        node.op for function in module.functions.values() for node in walk(function) if isinstance(node, tir.Apply)
    }
    return tuple(sorted({SCALAR_OPS[name].contract.clause for name in names if name in SCALAR_OPS}))


# -------------------------------------------------------------------------------------------- assertions


def assertion(program: CaseFile, number: int, answer: Answer) -> dict[str, Data]:
    """The expected result of call `number`, for which the interpreter gave `answer`."""
    if isinstance(answer, Ended):
        answer_parts = parts(program.module, program.func, answer)
        certificates = Certificates(program, number, answer_parts)
        return {"kind": "return", "parts": [_part(part, certificates, at) for at, part in enumerate(answer_parts)]}
    if answer.why in (Stop.UNDEFINED, Stop.TRAP) and answer.diagnostic is not None:
        code = answer.diagnostic.code.id
        return {"kind": answer.why.value, "code": code, "place": place_of(answer.diagnostic)}
    return {"kind": "open"}


def place_of(diagnostic: Diagnostic) -> str:
    """Line and column, both from 1; empty without a place."""
    span = diagnostic.span
    return "" if span is None else f"{span.line}:{span.column + 1}"


def _part(part: ResultPart, certificates: Certificates, at: int) -> dict[str, Data]:
    match part.value:
        case Tensor() as tensor:
            data = {"label": part.label, "rule": "exact", **tensor_data(tensor)}
            rule = certificates.rule(at)
            return {**data, **_interval(rule.tensor)} if isinstance(rule, Certified) and "values" in data else data
        case Shape() as shape:
            return {"label": part.label, "rule": "exact", "extents": list(shape)}
        case bool() | int() | float() as value:
            return {"label": part.label, "rule": "exact", "value": number_data(value)}
        case _:
            return {"label": part.label, "rule": "any"}


def _interval(certified: CertifiedTensor) -> dict[str, Data]:
    """Bounds of every element, rounded outwards to binary64; elements that may be anything have infinite ones."""
    ends = [_ends(element) for element in certified.elements]
    if not certified.dtype.is_float and all(low == high for low, high, _ in ends):
        return {"rule": "exact"}
    interval: dict[str, Data] = {
        "rule": "certified",
        "low": [number_data(low) for low, _, _ in ends],
        "high": [number_data(high) for _, high, _ in ends],
    }
    specials: list[Data] = [text for _, _, text in ends]
    return {**interval, "specials": specials} if any(specials) else interval


def _ends(element: Value | None) -> tuple[float, float, str]:
    """The least and the greatest value, and the specials. Of a choice between integers: its hull."""
    if not isinstance(element, Enclosure):
        values = None if element is None else members(element)
        return (min(values), max(values), "") if values else (-inf, inf, "inf -inf nan")
    text = " ".join(name for bit, name in SPECIALS if element.specials & bit)
    if not element.finite:
        return inf, -inf, text
    low, high = element.low, element.high
    return _outward(low, -inf), _outward(high, inf), text


def _outward(exact: object, end: float) -> float:
    """The binary64 number at `exact` or beyond it toward `end`."""
    if not isinstance(exact, Fraction):
        return end
    try:
        near = float(exact)
    except OverflowError:
        return end
    return near if (Fraction(near) <= exact if end < 0 else Fraction(near) >= exact) else nextafter(near, end)
