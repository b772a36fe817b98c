"""A model in a file, checked: its module on every way, and against what the file itself says.

| way                         | runs                                                                            |
|-----------------------------|---------------------------------------------------------------------------------|
| as of any module            | the module that refmlc imported; NumPy too where no way is named                |
| the framework               | the file, in PyTorch, ONNX Runtime or ONNX's evaluator (`frameworks`)           |

The parameters are arguments of `main` with the values of the file; the inputs are made.

A framework that differs from the module: refmlc's importer is wrong, or the framework (RM706).
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE, WRONG_IMPORT, WRONG_RESULT
from refmlc.frontends.files import READERS, Imported, import_file
from refmlc.lang.ir import IRModule
from refmlc.lang.wellformed.reader_checks import checked
from refmlc.oracle.check.report import FunctionResult
from refmlc.oracle.check.run import CheckOptions
from refmlc.oracle.finding import Finding
from refmlc.oracle.implementations.frameworks import Framework, framework
from refmlc.oracle.implementations.implementation import Implementation
from refmlc.oracle.implementations.loops.adapter import Loops

NUMPY_STEPS = 2_000_000
"""How many steps of Python NumPy's loops may take where nobody asks for them: some seconds."""


def is_model(path: Path) -> bool:
    """Whether a file is a model by its ending."""
    return path.suffix in READERS


@dataclass(frozen=True)
class Model:
    """A model in the file at `path`; `witness` is its framework, None of a module of TVM."""

    path: Path
    imported: Imported
    witness: Framework | None

    @property
    def module(self) -> IRModule:
        """What refmlc imported."""
        return self.imported.module

    def options(self, options: CheckOptions) -> CheckOptions:
        """The options, with the parameters of the file. Fails: RM112 for other values of these."""
        request, params = options.request, self.imported.params
        for name in (*request.inputs, *request.params):
            if name in params:
                raise fail(BAD_USAGE, f"`{name}` is a parameter of the model: its value is in `{self.path}`")
        return replace(options, request=replace(request, params={**request.params, **params}))

    def ways(self, options: CheckOptions) -> list[Implementation]:
        """The implementations that a model has besides those that are named."""
        extra: list[Implementation] = []
        if not options.named:
            extra.append(Loops(replace(options.limits, steps=min(options.limits.steps, NUMPY_STEPS))))
        if self.witness is not None:
            extra.append(self.witness)
        return extra

    def judged(self, row: FunctionResult) -> FunctionResult:
        """The result, whose findings on importers say so."""
        notes = (*row.notes, *self._notes())
        if row.examination is None:
            return replace(row, notes=notes)
        findings = tuple(self._finding(finding) for finding in row.examination.findings)
        return replace(row, examination=replace(row.examination, findings=findings), notes=notes)

    def _notes(self) -> Iterator[str]:
        if self.witness is not None and self.witness.note:
            yield f"{self.path.name}: {self.witness.note}"

    def _finding(self, finding: Finding) -> Finding:
        if self.witness is None or finding.implementation != self.witness.name or finding.code is not WRONG_RESULT:
            return finding
        model, framework = self.path.name, self.witness.name
        message = f"`{framework}` computes something else from `{model}` than the module that refmlc imported"
        return renamed(finding, message, "refmlc's importer is wrong, or the framework")


def renamed(finding: Finding, message: str, note: str) -> Finding:
    """The finding as one on an importer."""
    diagnostic = replace(finding.diagnostic, code=WRONG_IMPORT, message=message).noting(note)
    return replace(finding, code=WRONG_IMPORT, diagnostic=diagnostic)


def model_of(path: Path, *, trust: bool = False) -> Model:
    """The model in a file. `trust`: as `import_file` has it. Fails: as that does; RM2xx."""
    imported = import_file(path, keep_params_as_input=True, trust=trust)
    checked(imported.module)
    return Model(path, imported, framework(imported))
