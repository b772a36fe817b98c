"""The subject of a report: the program, its calls and the implementation that a file records.

| file                                      | read by                      |
|-------------------------------------------|------------------------------|
| of `refmlc check --case`, of the suite    | `oracle.evidence.case_file`  |
| of a campaign of `refmlc fuzz`            | `oracle.fuzz.finding_file`   |
"""

import tomllib
from dataclasses import dataclass

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE
from refmlc.lang.dtypes import INT64
from refmlc.lang.ir import IRModule, relax
from refmlc.lang.ir.types import PrimType
from refmlc.oracle.evidence.case_file import CaseFile, read_case
from refmlc.oracle.fuzz.finding_file import is_finding, read_finding
from refmlc.run.memory.tensor import Tensor
from refmlc.run.memory.values import Shape
from refmlc.strategies.arguments import Argument, Array, Number, ShapeOf
from refmlc.strategies.case import Case
from refmlc.strategies.contents import CYCLE
from refmlc.vm.parameters import parameters_of

REPORTED = {
    "RM701": "wrong-code",
    "RM703": "crash",
    "RM704": "hang",
    "RM705": "wrong-code",
    "RM707": "refused",
    "RM708": "compile-error",
}
"""The codes that a report is about, with the word of the title."""


@dataclass(frozen=True)
class IssueSubject:
    """What is reported. `specs`: the implementations that the file names; `build`: options of TVM that it is about."""

    id: str
    case: Case
    code: str
    specs: tuple[str, ...]
    build: str = ""


def read_subject(text: str, name: str) -> IssueSubject:
    """The subject that `text`, the file `name`, records. Fails: RM109; RM112 for a code that needs another report."""
    if is_finding(text):
        finding, code = read_finding(text, name), str(tomllib.loads(text).get("code", ""))
        return IssueSubject(finding.id, finding.case, known(code, name), finding.specs, finding.build)
    case = read_case(text, name)
    return IssueSubject(case.id, as_recipes(case), known(case.code, name), tuple(filter(None, [case.implementation])))


def known(code: str, name: str) -> str:
    """`code`, which is one of an implementation that is wrong on a program. Fails: RM112."""
    if code not in REPORTED:
        codes = ", ".join(REPORTED)
        raise fail(BAD_USAGE, f"`{name}` records {code or 'no code'}: a report is about {codes}")
    return code


def as_recipes(case: CaseFile) -> Case:
    """The case with recipes of arguments, which can be made small. Fails: RM109; RM112 for arguments without recipe."""
    calls = tuple(
        tuple(_recipe(case.module, case.func, at, value) for at, value in enumerate(case.arguments(number)))
        for number in range(len(case.calls))
    )
    return Case(case.module, case.func, calls, name=case.id)


def _recipe(module: IRModule, func: str, at: int, value: object) -> Argument:
    match value:
        case Tensor() if value.dtype.kind != "handle" and value.dtype.lanes == 1:
            if not value.initialised:
                return Array(value.dtype, tuple(value.shape), form="fresh")
            pool = tuple(value.array.reshape(-1).tolist())
            return Array(value.dtype, tuple(value.shape), CYCLE, pool=tuple(map(_number, pool)))
        case bool() | int() | float():
            function = module.functions[func]
            parameter = None if isinstance(function, relax.ExternFunc) else parameters_of(function)[at]
            ty = getattr(parameter, "ty", None)
            return Number(ty.dtype if isinstance(ty, PrimType) else INT64, value)
        case Shape():
            return ShapeOf(tuple(value))
    raise fail(BAD_USAGE, f"argument {at} of the case has no recipe: it is neither a tensor nor a number nor a shape")


def _number(value: object) -> int | float:
    return value if isinstance(value, float) else int(str(int(value)))  # type: ignore[call-overload]  # NumPy's list
