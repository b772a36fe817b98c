"""A finding of `refmlc check` on the import of a model, made again from its case and the model, which the user names.

| from the case                                 | from the model                                                       |
|-----------------------------------------------|----------------------------------------------------------------------|
| the inputs, and what the import of then means | the module that refmlc imports now, and the values of its parameters |

| the import now            | then                                                                         |
|---------------------------|------------------------------------------------------------------------------|
| is the module of the case | its parameters have the values of the case, else it is another model (RM112) |
| is another module         | a note: another refmlc wrote the case, or it is another model                |

The framework of the model runs it, and TVM's importer where the finding is on that one: what the case names starts only
where the caller trusts it.
"""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace

import numpy as np

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE, WRONG_IMPORT
from refmlc.lang.ir import IRModule, relax
from refmlc.lang.ir.equal import structural_equal
from refmlc.oracle.check.causes import FunctionResult
from refmlc.oracle.check.model import IMPORTER, Model
from refmlc.oracle.check.run import CheckOptions
from refmlc.oracle.evidence.case_file import CaseCall, CaseFile
from refmlc.oracle.evidence.replay import ReplayResult, holds
from refmlc.oracle.examine import examine
from refmlc.oracle.implementations.frameworks import inputs_of
from refmlc.oracle.implementations.implementation import Implementation, Limits
from refmlc.run.memory.tensor import Tensor
from refmlc.vm.parameters import parameters_of

FRAMEWORKS = ("onnx", "onnxruntime", "pytorch")
OTHER_MODULE = "refmlc imports another module from `{path}` than the case has: it is another version, or another model"


def needs_model(case: CaseFile) -> bool:
    """Whether the finding of a case is made again with the model alone."""
    of_import = case.implementation in FRAMEWORKS or case.implementation.startswith(IMPORTER)
    return case.code == WRONG_IMPORT.id or of_import


def tvm_of(case: CaseFile) -> tuple[str, ...]:
    """The TVM whose importer the finding is on, as `--impl` takes it."""
    python = case.implementation.removeprefix(IMPORTER)
    return (f"tvm:{python}",) if python != case.implementation else ()


@dataclass(frozen=True)
class RecordedModelCall:
    """What refmlc imports from the model, on the inputs of a case. It is a program of the oracle."""

    case: CaseFile
    model: Model

    @property
    def module(self) -> IRModule:
        return self.model.module

    @property
    def func(self) -> str:
        return self.case.func

    @property
    def calls(self) -> tuple[CaseCall, ...]:
        return self.case.calls

    @property
    def name(self) -> str:
        return self.case.id

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of the parameters of the function, the inputs first."""
        function = self.module.functions[self.func]
        return () if isinstance(function, relax.ExternFunc) else tuple(each.name for each in parameters_of(function))

    def arguments(self, number: int = 0) -> list[object]:
        """The inputs of the case, and the parameters of the model."""
        count, params = inputs_of(self.module), self.model.imported.params
        values = [Tensor.from_numpy(params[name].copy()) for name in self.parameters[count:]]
        return [*self.case.arguments(number)[:count], *values]


def call_of(case: CaseFile, model: Model) -> tuple[RecordedModelCall, bool]:
    """The call of a case on `model`, and whether it imports the module of the case. Fails: RM112 for another model."""
    program = RecordedModelCall(case, model)
    _require_inputs(program)
    same = structural_equal(case.module, model.module)
    if same:
        _require_parameters(program)
    return program, same


def replay_with_model(
    case: CaseFile, model: Model, implementations: Sequence[Implementation], limits: Limits
) -> tuple[ReplayResult, tuple[str, ...]]:
    """The finding made again, and notes. `implementations`: of a TVM among them the importer runs too.

    Fails: RM109, RM112 for another model, or a TVM without what the importer needs; RM1xx for an invalid file.
    """
    program, same = call_of(case, model)
    options = model.options(CheckOptions(limits=replace(limits, clock=True), named=True))
    with ExitStack() as stack:
        ways = [*implementations, *(stack.enter_context(closing(way)) for way in model.ways(options))]
        ways += [stack.enter_context(closing(way)) for way in _importers(model, implementations, options.limits)]
        examination = examine([program], ways, limits=options.limits, compiles_from=options.compiles_from)[0]
    row = model.judged(FunctionResult(case.func, examination=examination))
    examination = row.examination or examination
    answers = enumerate(each.answer for each in examination.reference) if same else ()
    wrong = ((number, holds(case, number, answer)) for number, answer in answers)
    broken = tuple(f"call {number + 1}: {why}" for number, why in wrong if why)
    notes = (*row.notes, *(() if same else (OTHER_MODULE.format(path=model.path),)))
    return ReplayResult(case, examination, broken), notes


def _importers(model: Model, implementations: Sequence[Implementation], limits: Limits) -> Iterator[Implementation]:
    """TVM's importer of each TVM. Fails: RM112 where one lacks a package."""
    for way in implementations:
        importer = model.importer(way.name, limits)
        if importer is None:
            continue
        if importer.missing:
            importer.close()
            raise fail(BAD_USAGE, f"`{importer.missing}` is not installed beside the TVM of `{way.name}`")
        yield importer


def _require_inputs(program: RecordedModelCall) -> None:
    """Fails: RM112 where the model does not take the inputs of the case."""
    case, model = program.case, program.model
    count = inputs_of(model.module) if case.func in model.module.functions else -1
    if count < 0 or any(len(call.args) < count for call in case.calls):
        raise fail(BAD_USAGE, f"`{model.path}` is not the model of {case.place}: it takes other inputs")


def _require_parameters(program: RecordedModelCall) -> None:
    """Fails: RM112 where a parameter of the model has another value than in the case."""
    case, model, count = program.case, program.model, inputs_of(program.module)
    for name, value in zip(program.parameters[count:], case.arguments()[count:], strict=True):
        own = model.imported.params[name]
        if not isinstance(value, Tensor) or np.ascontiguousarray(value.numpy()).tobytes() != own.tobytes():
            raise fail(BAD_USAGE, f"`{model.path}` is not the model of {case.place}: `{name}` has another value")
