"""What TVM's compiler makes of the module that refmlc imports, where TVM's importer has a wrong result.

| TVM's result of refmlc's module | what TVM's importer makes, executed by refmlc | is wrong                  |
|---------------------------------|-----------------------------------------------|---------------------------|
| right                           | wrong, undefined, or nothing                  | the importer              |
| right                           | right                                         | the compiler, on that one |
| right                           | refmlc does not read or execute it            | one of both               |
| wrong in the same way           | not asked                                     | the compiler              |
| wrong in another way            | not asked                                     | not known                 |

Where the compiler is wrong the recorded deviations that it may be are those of programs: the finding is made on the
module that it compiles. Else they are those of importers. The same way is the same difference (`how_wrong`), of no
result the same message: what memory held is another value each time.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Protocol

import numpy as np

from refmlc.diag import RefmlcError
from refmlc.lang.ir import IRModule
from refmlc.lang.script import read
from refmlc.oracle.examine import examine
from refmlc.oracle.finding import Finding
from refmlc.oracle.fuzz.finding_pattern import failure_words, pattern_of
from refmlc.oracle.fuzz.likeness import row_like
from refmlc.oracle.fuzz.subjects.imports.answer_difference import how_wrong
from refmlc.oracle.fuzz.subjects.imports.importer_process import Answers, P_contra, arrays_of, refusal
from refmlc.oracle.implementations.implementation import Answer, Implementation, Limits, Stop, Stopped
from refmlc.oracle.implementations.interp import Interp
from refmlc.run.memory.tensor import Tensor


@dataclass(frozen=True)
class ImportedCall:
    """The module that refmlc imports, called with the inputs of the model: a program as others are."""

    module: IRModule
    arrays: tuple[np.ndarray, ...]
    name: str = "model"
    func: str = "main"
    calls: Sequence[int] = (0,)

    def arguments(self, number: int = 0) -> list[object]:
        """The inputs, fresh ones each time."""
        del number
        return [Tensor.from_numpy(np.array(array, order="C")) for array in self.arrays]


class AtFault(Enum):
    """What is wrong in TVM, as a line of a message."""

    IMPORTER = "TVM compiles refmlc's text of it right, so its importer is wrong"
    COMPILER = "TVM is wrong in the same way on refmlc's text of it, so its compiler is wrong"
    COMPILER_ON_IMPORT = "the module of TVM's importer means the right thing, so TVM's compiler is wrong on it"
    EITHER = "TVM compiles refmlc's text right: its importer is wrong, or its compiler on the importer's module"
    UNKNOWN = ""


@dataclass(frozen=True)
class CompiledImport:
    """What is wrong in TVM. `rows`: lines of a message, which name the recorded deviation of the compiler."""

    fault: AtFault = AtFault.UNKNOWN
    rows: tuple[str, ...] = ()

    @property
    def lines(self) -> list[str]:
        """What is wrong in TVM, as lines of a message."""
        return [self.fault.value] if self.fault.value else []


@dataclass(frozen=True)
class WrongImport:
    """The cause of a wrong result of TVM's importer, which ends with how it is wrong.

    `refusal`: its words where it has no result.
    """

    cause: Sequence[str]
    refusal: str = ""

    @property
    def how(self) -> str:
        """How the result is wrong."""
        return self.cause[-1] if self.cause else ""


class CompilingJudge(Protocol[P_contra]):
    """What knows the module that refmlc imports. `seconds`: how long TVM has for it."""

    seconds: float

    def compiled(self, python: str, program: P_contra, wrong: WrongImport, /) -> CompiledImport:
        """What the TVM of a Python makes of the module, where its importer is wrong."""
        ...


def computed(implementation: Implementation, call: ImportedCall) -> Answer:
    """What an implementation answers to the call."""
    prepared = implementation.prepare(call.module)
    if isinstance(prepared, Stopped):
        return prepared
    answer = prepared.run(call.func, call.arguments())
    prepared.close()
    return answer


def answers_of(implementation: Implementation, call: ImportedCall) -> Answers:
    """The results of the call; where there are none, a refusal, as an importer has it."""
    answer = computed(implementation, call)
    return refusal(answer) if isinstance(answer, Stopped) else arrays_of(answer)


def is_right(tvm: Implementation, call: ImportedCall, expected: Answers) -> bool:
    """Whether an implementation has the results that the framework has."""
    return not how_wrong(expected, answers_of(tvm, call))


def compiled_import(
    tvm: Implementation, call: ImportedCall, expected: Answers, wrong: WrongImport, shown: Callable[[], str]
) -> CompiledImport:
    """What is wrong in TVM where its importer is, held to the results that the framework has.

    `shown`: the text of the module that TVM's importer makes; empty: it makes none.
    """
    found = answers_of(tvm, call)
    how = how_wrong(expected, found)
    if not how:
        return _on_import(tvm, call, expected, shown())
    words = found.partition(": ")[2] if isinstance(found, str) else ""
    if how != wrong.how or failure_words(words) != failure_words(wrong.refusal):
        return CompiledImport()
    return CompiledImport(AtFault.COMPILER, _rows(tvm, call))


def _on_import(tvm: Implementation, call: ImportedCall, expected: Answers, text: str) -> CompiledImport:
    """What is wrong where TVM compiles refmlc's module right, by what its importer's module means."""
    if not text:
        return CompiledImport(AtFault.IMPORTER)
    try:
        imported = replace(call, module=read(text))
    except RefmlcError:
        return CompiledImport(AtFault.EITHER)
    answer = computed(Interp(LIMITS), imported)
    if isinstance(answer, Stopped):
        is_wrong = answer.why in (Stop.UNDEFINED, Stop.TRAP)
        return CompiledImport(AtFault.IMPORTER if is_wrong else AtFault.EITHER)
    if how_wrong(expected, arrays_of(answer)):
        return CompiledImport(AtFault.IMPORTER)
    return CompiledImport(AtFault.COMPILER_ON_IMPORT, _rows(tvm, imported))


def _rows(tvm: Implementation, call: ImportedCall) -> tuple[str, ...]:
    finding = _finding(tvm, call)
    if finding is None:
        return ()
    pattern = pattern_of(finding, tvm, Interp(LIMITS))
    like = row_like(getattr(tvm, "says", {}), finding, pattern)
    row = [f"as the known row {pattern.row}"] if pattern.row else []
    return (*row, *([f"it is like the known row {like}"] if like else []))


LIMITS = Limits(steps=2_000_000)


def _finding(tvm: Implementation, call: ImportedCall) -> Finding | None:
    """The finding on TVM, held to what refmlc's module means; None: there is none."""
    (examination,) = examine([call], [tvm], sanitize=False, limits=LIMITS)
    return next((each for each in examination.findings if each.implementation == tvm.name), None)
