"""A model in a file, checked: its module on every way, and against what the file itself says.

| way                         | runs                                                                            |
|-----------------------------|---------------------------------------------------------------------------------|
| as of any module            | the module that refmlc imported; NumPy too where no way is named                |
| the framework               | the file, in PyTorch, ONNX Runtime or ONNX's evaluator (`frameworks`)           |
| TVM's own importer          | the file, imported and compiled by TVM; besides each `tvm:PYTHON` (`real_tvm`)  |

The parameters are arguments of `main` with the values of the file; the inputs are made.

| difference                                                              | the finding                     |
|-------------------------------------------------------------------------|---------------------------------|
| of the framework                                                        | RM706, refmlc's importer        |
| of TVM's importer, or it refuses: TVM compiles refmlc's text right, and | RM706, TVM's importer           |
| the framework does not contradict                                       |                                 |
| of TVM's importer where that is not so                                  | RM701, RM703, with a note       |
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE, REFUSED_PROGRAM, WRONG_IMPORT, WRONG_RESULT
from refmlc.frontends.files import READERS, Imported, import_file
from refmlc.lang.ir import IRModule
from refmlc.lang.wellformed.reader_checks import checked
from refmlc.oracle.agreement import PartComparison
from refmlc.oracle.check.causes import FunctionResult
from refmlc.oracle.check.run import CheckOptions
from refmlc.oracle.examine import Examination
from refmlc.oracle.finding import Finding, make_finding
from refmlc.oracle.implementations.frameworks import Framework, Witness, framework, inputs_of
from refmlc.oracle.implementations.implementation import Implementation, Limits
from refmlc.oracle.implementations.loops.adapter import Loops
from refmlc.oracle.implementations.real_tvm import IMPORTERS, TvmImporter
from refmlc.oracle.outcome import Kind

IMPORTER = "tvm-importer:"
NUMPY_STEPS = 2_000_000
"""How many steps of Python NumPy's loops may take where nobody asks for them: some seconds."""
COMPILES_FROM = 1_000_000
"""After how many iterations the meaning comes through guarded C: the interpreter takes half a second for them."""
MOST_STEPS = 1 << 36
"""How many steps a call of a model may take: its seconds end it."""


def is_model(path: Path) -> bool:
    """Whether a file is a model by its ending."""
    return path.suffix in READERS


@dataclass(frozen=True)
class Model:
    """A model in the file at `path`; `witness` is its framework, None of a module of TVM."""

    path: Path
    imported: Imported
    witness: Witness | None

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
        limits = replace(options.limits, steps=MOST_STEPS) if options.limits.clock else options.limits
        request = replace(request, params={**request.params, **params})
        return replace(options, request=request, limits=limits, compiles_from=COMPILES_FROM)

    def ways(self, options: CheckOptions) -> list[Implementation]:
        """The implementations that a model has besides those that are named."""
        extra: list[Implementation] = []
        if not options.named:
            limits = replace(options.limits, steps=min(options.limits.steps, NUMPY_STEPS))
            extra.append(Loops(limits, most_steps=NUMPY_STEPS))
        if isinstance(self.witness, Framework):
            self.witness.start()  # it says its name; where it does not start, its calls do not either, and say why
        if self.witness is not None:
            extra.append(self.witness)
        return extra

    def importer(self, spec: str, limits: Limits) -> TvmImporter | None:
        """TVM's own importer, where `spec` names TVM and the file is a model of a framework. Fails: RM112."""
        kind, _, python = spec.partition(":")
        if kind != "tvm" or self.path.suffix not in IMPORTERS:
            return None
        return TvmImporter(python, self.path, self.module, inputs_of(self.module), limits)

    def judged(self, row: FunctionResult, notes: Sequence[str] = ()) -> FunctionResult:
        """The result, whose findings on importers say so. `notes`: on ways that were left out."""
        notes = (*row.notes, *self._notes(), *(f"{self.path.name}: {note}" for note in notes))
        if row.examination is None:
            return replace(row, notes=notes)
        of_programs = [finding for finding in row.examination.findings if not _is_of_importer(finding)]
        findings = [self._finding(finding, row.examination) for finding in of_programs]
        findings += self._refusals(row.examination)
        return replace(row, examination=replace(row.examination, findings=tuple(findings)), notes=notes)

    def _notes(self) -> Iterator[str]:
        if self.witness is not None and self.witness.note:
            yield f"{self.path.name}: {self.witness.note}"

    def _finding(self, finding: Finding, examination: Examination) -> Finding:
        if finding.implementation.startswith(IMPORTER):
            return self._of_tvm(finding, examination)
        if self.witness is None or finding.implementation != self.witness.name or finding.code is not WRONG_RESULT:
            return finding
        model, framework = self.path.name, self.witness.name
        message = f"`{framework}` computes something else from `{model}` than the module that refmlc imported"
        return renamed(finding, message, "refmlc's importer is wrong, or the framework")

    def _of_tvm(self, finding: Finding, examination: Examination) -> Finding:
        """A finding on TVM's own importer: whose fault it is."""
        if self._contradicted(examination, finding.call):
            note = "the framework contradicts refmlc's import too: TVM may be right"
        elif not compiled_right(examination, finding.implementation, finding.call):
            note = "TVM does not compile refmlc's text right either: the importer may be innocent"
        else:
            note = "TVM compiles refmlc's text right: its importer is wrong, or its compiler on the importer's module"
            return renamed(finding, f"TVM's importer changes `{self.path.name}`: {finding.diagnostic.message}", note)
        return replace(finding, diagnostic=finding.diagnostic.noting(note))

    def _refusals(self, examination: Examination) -> Iterator[Finding]:
        """The calls that TVM refuses of its own import, and answers right of refmlc's text."""
        for name, verdicts in examination.verdicts.items():
            for call, verdict in enumerate(verdicts):
                refused = verdict.kind is Kind.REFUSED
                if not name.startswith(IMPORTER) or not refused or self._contradicted(examination, call):
                    continue
                if compiled_right(examination, name, call):
                    message = f"TVM's importer makes no program of `{self.path.name}` that runs"
                    reference, compared = examination.reference[call], PartComparison("", verdict)
                    yield make_finding(WRONG_IMPORT, message, examination.case, call, name, compared, reference)

    def _contradicted(self, examination: Examination, call: int) -> bool:
        """Whether the framework has another result than the module."""
        verdicts = examination.verdicts.get(self.witness.name) if self.witness is not None else None
        return verdicts is not None and verdicts[call].kind is Kind.WRONG


def _is_of_importer(finding: Finding) -> bool:
    """Whether TVM's importer does not take the model; `_refusals` says when that is a finding."""
    return finding.implementation.startswith(IMPORTER) and finding.code is REFUSED_PROGRAM


def compiled_right(examination: Examination, importer: str, call: int) -> bool:
    """Whether the TVM of an importer gives a permitted result for refmlc's text."""
    verdicts = examination.verdicts.get(f"tvm:{importer.removeprefix(IMPORTER)}")
    return verdicts is not None and verdicts[call].kind in (Kind.EQUAL, Kind.PERMITTED)


def renamed(finding: Finding, message: str, note: str) -> Finding:
    """The finding as one on an importer."""
    diagnostic = replace(finding.diagnostic, code=WRONG_IMPORT, message=message).noting(note)
    return replace(finding, code=WRONG_IMPORT, diagnostic=diagnostic)


def model_of(path: Path, *, trust: bool = False, limits: Limits | None = None) -> Model:
    """The model in a file. `trust`: as `import_file` has it; `limits`: of its framework. Fails: as that does; RM2xx."""
    imported = import_file(path, keep_params_as_input=True, trust=trust)
    checked(imported.module)
    return Model(path, imported, framework(path, imported, Limits() if limits is None else limits))
