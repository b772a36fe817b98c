"""The guilty pass of a build that is wrong: its pipeline is run pass by pass in a TVM of its own, each stage executed.

| the pipeline                                              | the line                                                |
|-----------------------------------------------------------|---------------------------------------------------------|
| has a stage that changes the meaning, or is ill-formed    | `pass by pass: PASS changes what F computes`            |
| stops in a pass                                           | `pass by pass: TVM stops in PASS`                       |
| has stages that mean what the program does, to the end    | `pass by pass: what follows the passes is wrong`        |
| is not followed to its end: a stage is not executed       | none                                                    |

The program is called as it was where it was wrong. A pass that is named may be two: where refmlc does not execute the
stage between, either is guilty. Rows of results have the guilty pass of their programs (`guilty`), so that findings are
compared by it; a pass that runs compiled code, and the reader, are no such pass.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from refmlc.diag import RefmlcError
from refmlc.lang.ir import IRModule, relax
from refmlc.lang.script import show
from refmlc.oracle.finding import Finding
from refmlc.oracle.fuzz.kept_processes import kept
from refmlc.oracle.fuzz.row_looks import AFTER_PASSES
from refmlc.oracle.fuzz.subjects.primitives.staged import LIMITS
from refmlc.oracle.implementations.real_tvm import PIPELINES, options_of
from refmlc.oracle.outcome import Kind
from refmlc.oracle.passes.baseline import lifted
from refmlc.oracle.passes.check import Compiler, check
from refmlc.oracle.passes.run import TvmPasses
from refmlc.oracle.passes.stages import StageVerdict, TraceCheck
from refmlc.run.memory.tensor import Tensor
from refmlc.strategies.case import Case
from refmlc.vm.parameters import parameters_of

LEVEL = 2  # the level of optimisation that TVM has by itself
CALLS = 2
HEAD = "pass by pass: "
NO_PASS = ("the reader", "FoldConstant")  # one runs code that all passes made


def passes_of(python: str, build: str, seconds: float) -> TvmPasses:
    """The TVM that runs the passes of a build one by one, kept by the worker. Fails: RM112."""
    options = options_of(build.split(",") if build else ())
    named = tuple((key, str(options[key])) for key in PIPELINES if key in options)
    level = int(str(options.get("opt", LEVEL)))
    return kept(_started, python, str(options.get("target", "llvm")), level, named, seconds)


def _started(python: str, target: str, level: int, named: Sequence[tuple[str, str]], seconds: float) -> TvmPasses:
    return TvmPasses(python, target=target, opt=level, pipelines=dict(named), seconds=seconds)


@dataclass(frozen=True)
class BlamedPass:
    """The pass that is guilty of a finding, or `AFTER_PASSES`; empty where it is not known. `line`: for people."""

    name: str = ""
    line: str = ""


UNKNOWN = BlamedPass()


def blamed(compiler: Compiler, finding: Finding) -> BlamedPass:
    """The pass that is guilty of a finding on a case."""
    case = finding.case
    if not isinstance(case, Case):
        return UNKNOWN
    return blamed_on(compiler, case.module, _inputs(case, finding.call), is_result=finding.verdict.kind is Kind.WRONG)


def blamed_on(compiler: Compiler, module: IRModule, inputs: Mapping[str, object], *, is_result: bool) -> BlamedPass:
    """The pass that is guilty of what is wrong on a call of a module. `inputs`: the arguments by their names."""
    module, constants = lifted(module)
    text = show(module, show_meta=True)
    try:
        trace = compiler(text)
        checked = check(trace, given=text, constants=constants, inputs=inputs, calls=CALLS, small=False, limits=LIMITS)
    except RefmlcError:
        return UNKNOWN
    return _blame(checked, is_result=is_result)


def _inputs(case: Case, call: int) -> dict[str, object]:
    """The arguments of a call by the names of the parameters."""
    function = case.module.functions[case.func]
    if isinstance(function, relax.ExternFunc):
        return {}
    pairs = zip(parameters_of(function), case.arguments(call), strict=False)
    tensors = {parameter.name: value for parameter, value in pairs if _is_given(value)}
    return {name: value.numpy() if isinstance(value, Tensor) else value for name, value in tensors.items()}


def _is_given(value: object) -> bool:
    """Whether a value is an input: a number, or a tensor that holds values."""
    return isinstance(value, int | float) or (isinstance(value, Tensor) and value.initialised)


def _blame(checked: TraceCheck, *, is_result: bool) -> BlamedPass:
    if checked.broken is not None:
        name = checked.broken.name
        known = not checked.broken.unread and name not in NO_PASS
        return BlamedPass(name if known else "", f"{HEAD}{checked.broken.headline}")
    if checked.stopped:
        name = checked.stopped.partition("in `")[2].partition("`: ")[0] if checked.stopped.startswith("in `") else ""
        return BlamedPass(name, f"{HEAD}TVM stops in `{name}`") if name else UNKNOWN
    followed = bool(checked.rows) and checked.rows[-1].verdict is StageVerdict.SAME
    return BlamedPass(AFTER_PASSES, f"{HEAD}what follows the passes is wrong") if is_result and followed else UNKNOWN
