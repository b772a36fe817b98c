"""Programs of the kind `torch-imports`: PyTorch's, by TVM's importer and by refmlc's, each held to PyTorch.

| who differs from PyTorch | the finding is on                                                                  |
|--------------------------|------------------------------------------------------------------------------------|
| TVM                      | `tvm-importer:PYTHON`: `compiled_import` says whether its importer or its compiler |
| refmlc                   | `refmlc-importer`                                                                  |
| both, and they agree     | `pytorch`: it is alone; to be judged                                               |

The first call that is wrong is taken out of its program, and loses options that its fault does not need. A cause is its
function, what is left of these, and how its result is wrong. Results are compared as `imports` compares them. Zeros of
either sign are equal there; where no call alone is wrong, the first one whose zeros have other signs has the cause.
"""

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic

import numpy as np

from refmlc.diag import RefmlcError, fail
from refmlc.diag.catalogue import BAD_USAGE
from refmlc.lang.ir import IRModule
from refmlc.lazy import load
from refmlc.oracle.fuzz.result import BatchResult, FindingRecord, Json, merged, signature
from refmlc.oracle.fuzz.settings import CampaignSettings
from refmlc.oracle.fuzz.subjects.imports.answer_difference import described, how_wrong
from refmlc.oracle.fuzz.subjects.imports.compiled_import import (
    CompiledImport,
    ImportedCall,
    WrongImport,
    compiled_import,
    computed,
    is_right,
)
from refmlc.oracle.fuzz.subjects.imports.importer_process import Answers, arrays_of, compiler, importer
from refmlc.oracle.fuzz.subjects.imports.importers import (
    CRASHED,
    EMPTY,
    IMPORTER,
    OURS,
    REFUSED,
    WRONG,
    has_specials,
    pythons_of,
    refusal_of,
    said_of,
    same,
)
from refmlc.oracle.fuzz.subjects.imports.tensor_reduction import less, reduced
from refmlc.oracle.fuzz.subjects.imports.torch_operators import (
    FUNCTIONS,
    TorchCall,
    TorchProgram,
    drawn_program,
    function_of,
)
from refmlc.oracle.implementations.implementation import Limits, Stopped
from refmlc.oracle.implementations.interp import Interp
from refmlc.oracle.record import SEVERAL

KIND = "torch-imports"
FRAMEWORK = "pytorch"
MODULES = "refmlc.oracle.fuzz.subjects.imports.torch_modules"
ATTEMPTS = 64


@dataclass(frozen=True)
class TorchFinding:
    """A wrong result of an importer. `cause`: function, options that matter, how it is wrong.

    `refusal`: the words of an importer that does not take it.
    """

    program: TorchProgram
    path: str
    code: str
    cause: tuple[str, ...]
    message: str
    refusal: str = ""


class TorchJudge:
    """PyTorch, refmlc's importer and the TVMs of a campaign."""

    def __init__(self, pythons: Sequence[str], seconds: float) -> None:
        self.pythons, self.seconds = tuple(pythons), seconds

    def evaluated(self, program: TorchProgram) -> Answers:
        """What PyTorch computes."""
        try:
            return list(load(f"{MODULES}:evaluated")(program))
        except MemoryError:
            raise
        except Exception as problem:  # noqa: BLE001 - PyTorch raises anything
            return f"refused: {type(problem).__name__}"

    def exports(self, program: TorchProgram) -> bool:
        """Whether PyTorch exports what it computes: an empty `pixel_unshuffle` is exported with other extents."""
        try:
            return bool(load(f"{MODULES}:exports")(program))
        except MemoryError:
            raise
        except Exception:  # noqa: BLE001 - as above
            return False

    def ours(self, program: TorchProgram) -> Answers:
        """The result of refmlc's importer, executed by the interpreter."""
        try:
            module = load(f"{MODULES}:imported")(program)
        except RefmlcError as failure:
            return f"refused: {failure.diagnostic.message}"
        answer = computed(Interp(Limits(seconds=self.seconds)), _call(module, program))
        return f"failed: {answer.message}" if isinstance(answer, Stopped) else arrays_of(answer)

    def theirs(self, python: str, program: TorchProgram) -> Answers:
        """The result of TVM's importer; a refusal where PyTorch does not save the program."""
        with TemporaryDirectory() as folder:
            path = Path(folder) / "model.pt2"
            problem = saved(program, path)
            if problem:
                return f"refused: PyTorch does not save the program: {problem}"
            return importer(python, self.seconds).answers(path, list(program.arguments.values()))

    def shown(self, python: str, program: TorchProgram) -> str:
        """The text of the module that TVM's importer makes; empty: it makes none."""
        with TemporaryDirectory() as folder:
            path = Path(folder) / "model.pt2"
            return "" if saved(program, path) else importer(python, self.seconds).shown(path)

    def of(self, path: str, program: TorchProgram) -> Answers:
        """The answers on a path."""
        return self.ours(program) if path == OURS else self.theirs(path.removeprefix(IMPORTER), program)

    def others(self, path: str) -> tuple[str, ...]:
        """The paths of another maker."""
        return tuple(f"{IMPORTER}{python}" for python in self.pythons) if path == OURS else (OURS,)

    def compiles_ours(self, python: str, program: TorchProgram) -> bool:
        """Whether this TVM gives the right result for the module that refmlc imports."""
        call = imported_call(program)
        return call is not None and is_right(compiler(python, self.seconds), call, self.evaluated(program))

    def compiled(self, python: str, program: TorchProgram, wrong: WrongImport) -> CompiledImport:
        """What this TVM makes of the module that refmlc imports, where its importer is wrong."""
        call = imported_call(program)
        if call is None:
            return CompiledImport()
        tvm, expected = compiler(python, self.seconds), self.evaluated(program)
        return compiled_import(tvm, call, expected, wrong, lambda: self.shown(python, program))


def saved(program: TorchProgram, path: Path) -> str:
    """Write the program to a file. Why PyTorch does not; empty: it is written."""
    try:
        load(f"{MODULES}:written")(program, path)
    except (RuntimeError, ValueError) as problem:
        return str(problem)
    return ""


def imported_call(program: TorchProgram) -> ImportedCall | None:
    """The module that refmlc imports, with its inputs; None: there is none."""
    try:
        return _call(load(f"{MODULES}:imported")(program), program)
    except RefmlcError:
        return None


def _call(module: IRModule, program: TorchProgram) -> ImportedCall:
    return ImportedCall(module, tuple(program.arguments.values()))


def alone_of(program: TorchProgram, call: TorchCall, values: dict[str, np.ndarray]) -> TorchProgram:
    """A program of one call: constants stay constants, all other inputs are arguments."""
    constants = {name: program.constants[name] for name in call.inputs if name in program.constants}
    arguments = {name: values[name] for name in call.inputs if name not in constants}
    return TorchProgram((call,), constants, arguments)


def guilty(judge: TorchJudge, path: str, program: TorchProgram) -> TorchProgram | None:
    """The first call that is wrong on a path, alone, with PyTorch's values as inputs; None: no call alone is."""
    values = load(f"{MODULES}:values_of")(program)
    for call in program.calls:
        alone = alone_of(program, call, values)
        if how_wrong(judge.evaluated(alone), judge.of(path, alone)):
            return alone
    return None


def zeros_differ(expected: Answers, found: Answers) -> bool:
    """Whether two results have zeros of other signs at a place."""
    if isinstance(expected, str) or isinstance(found, str) or len(expected) != len(found):
        return False
    pairs = [(one, other) for one, other in zip(expected, found, strict=True) if one.shape == other.shape]
    return any(
        bool(((one == 0) & (other == 0) & (np.signbit(one) != np.signbit(other))).any())
        for one, other in pairs
        if one.dtype.kind == other.dtype.kind == "f"
    )


def cause_in(judge: TorchJudge, path: str, program: TorchProgram, how: str) -> tuple[str, ...]:
    """The cause of a program that is wrong on a path, as a whole: of the call that begins it, where one does."""
    values = load(f"{MODULES}:values_of")(program) if len(program.calls) > 1 else {}
    for call in program.calls if values else ():
        alone = alone_of(program, call, values)
        if zeros_differ(judge.evaluated(alone), judge.of(path, alone)):
            function, *words = cause_of(alone, how)
            return (function, ZERO, *words)
    return cause_of(program, how)


def simpler(program: TorchProgram) -> Iterator[TorchProgram]:
    """A program of one call with an option less, or with arguments in place of constants."""
    (call,) = program.calls
    for name in call.options:
        rest = {key: value for key, value in call.options.items() if key != name}
        yield replace(program, calls=(replace(call, options=rest),))
    if program.constants:
        values = {**program.arguments, **program.constants}
        yield TorchProgram(program.calls, {}, {name: values[name] for name in call.inputs})


def cause_of(program: TorchProgram, how: str) -> tuple[str, ...]:
    """The function, its options, the dtype of its first input, and how it is wrong; of several calls their names.

    Inputs without elements, and with NaN or infinities, count too.
    """
    inputs = {**program.constants, **program.arguments}
    arrays = inputs.values()
    special = {SPECIAL} if any(map(has_specials, arrays)) else set()
    words = special | ({EMPTY} if any(not array.size for array in arrays) else set())
    if len(program.calls) > 1:
        return (SEVERAL.join(function_of(call.function) for call in program.calls), *sorted(words), how)
    (call,) = program.calls
    first = inputs[call.inputs[0]]
    words |= {*call.options}
    words |= {str(value) for key, value in call.options.items() if isinstance(value, str) and key != "dtype"}
    words |= {word for option, word in DEFAULTS.get(call.function, {}).items() if option not in call.options}
    return (function_of(call.function), *sorted(words), str(first.dtype), how)


def brief(cause: Sequence[str]) -> tuple[str, ...]:
    """The words of a cause that make it another one: not the dtype, nor what the values are."""
    return tuple(word for word in cause if word not in (*DTYPES, EMPTY, SPECIAL))


DEFAULTS: Mapping[str, Mapping[str, str]] = {"F.interpolate": {"mode": "nearest"}}
"""Words of the options that a call leaves out."""
DTYPES = ("float16", "float32", "float64", "int8", "uint8", "int32", "int64", "bool")
SPECIAL = "special"
"""A word of the cause: an input has NaN or an infinity."""
ZERO = "zero"
"""A word of the cause: the call gives a zero of the other sign, of which a later one makes more."""


def finding_of(judge: TorchJudge, path: str, program: TorchProgram) -> TorchFinding | None:
    """What is wrong with a program on a path: one call of it, made small."""
    alone = guilty(judge, path, program) or program
    how = how_wrong(judge.evaluated(alone), judge.of(path, alone))
    if not how:
        return None
    if len(alone.calls) == 1:
        alone = reduced(alone, simpler, lambda candidate: same(judge, path, candidate, how))
    expected, found = judge.evaluated(alone), judge.of(path, alone)
    if any(not isinstance(found, str) and not how_wrong(found, judge.of(other, alone)) for other in judge.others(path)):
        path = FRAMEWORK
    code = CRASHED if how == "crashed" else REFUSED if how in ("refused", "failed") else WRONG
    who = {OURS: "refmlc's importer", FRAMEWORK: "either PyTorch or each importer"}.get(path, "TVM's importer")
    cause = cause_in(judge, path, alone, how)
    message = f"{who} is wrong on {cause[0]}: {how}: {described(expected, found)}"
    return TorchFinding(alone, path, code, cause, message, refusal_of(found))


PLANTED = {
    "calls": [["neg", ["x"], {}], ["cumsum", ["y0"], {"dim": 0, "dtype": "float64"}]],
    "constants": {},
    "arguments": {"x": ["float32", [2, 2], [1.0, 2.0, 3.0, 4.0]]},
}
"""A program on which a planted importer, which takes each axis for the last, is wrong in the second call."""


class PlantedTorchImporter(TorchJudge):
    """An importer with a fault: it ignores `dim`."""

    def of(self, path: str, program: TorchProgram) -> Answers:
        """PyTorch's answer on the program with the last axis."""
        del path
        calls = [
            replace(call, options={**call.options, "dim": -1}) if "dim" in call.options else call
            for call in program.calls
        ]
        return self.evaluated(replace(program, calls=tuple(calls)))


@cache
def prove_power() -> None:
    """Find the planted fault, once in a process. Raises RuntimeError: then no verdict of it is worth anything."""
    finding = finding_of(PlantedTorchImporter((), 1.0), OURS, TorchProgram.from_json(PLANTED))
    if finding is None or brief(finding.cause) != ("cumsum", "dim", "value"):
        raise RuntimeError("the planted importer that ignores an option is not found")


def missing() -> str:
    """The package that programs need and this Python lacks; empty: none."""
    try:
        load("torch")
    except ImportError:
        return "torch"
    return ""


def function_names() -> Collection[str]:
    """The functions of the table, which a campaign may leave out."""
    return tuple(dict.fromkeys(map(function_of, FUNCTIONS)))


def program_of(settings: CampaignSettings, number: int, judge: TorchJudge) -> TorchProgram:
    """The first program of the seeds of a number that PyTorch computes and exports. Raises ValueError for none."""
    for attempt in range(ATTEMPTS):
        program = drawn_program(settings.seed_of(number, attempt), exclude=settings.exclude)
        if not isinstance(judge.evaluated(program), str) and judge.exports(program):
            return program
    raise ValueError("PyTorch takes no program that was drawn")


def run_programs(settings: CampaignSettings, batch: int, numbers: Sequence[int]) -> BatchResult:
    """Verdicts on both importers, findings, the functions that occurred, why results were not compared."""
    if missing():
        reasons = {
            FRAMEWORK: {f"unsupported: `{missing()}` is not installed (pip install 'refmlc[torch]')": len(numbers)}
        }
        return BatchResult(batch, len(numbers), {FRAMEWORK: {"unsupported": len(numbers)}}, reasons=reasons)
    load(f"{MODULES}:quiet")()
    prove_power()
    judge = TorchJudge(pythons_of(settings), settings.program_seconds)
    counts: dict[str, Counter[str]] = {}
    reasons_by_path: dict[str, Counter[str]] = {}
    functions, findings = set[str](), list[FindingRecord]()
    for number in numbers:
        try:
            program = program_of(settings, number, judge)
        except ValueError as none:
            counts.setdefault(FRAMEWORK, Counter())["unsupported"] += 1
            reasons_by_path.setdefault(FRAMEWORK, Counter())[f"unsupported: {none}"] += 1
            continue
        functions |= {function_of(call.function) for call in program.calls}
        for path in (OURS, *(f"{IMPORTER}{python}" for python in judge.pythons)):
            verdict, why, finding = judged(judge, path, program)
            counts.setdefault(path, Counter())[verdict] += 1
            if why:
                reasons_by_path.setdefault(path, Counter())[f"{verdict}: {why}"] += 1
            if finding is not None:
                findings.append(record_of(settings, number, judge, finding))
    return BatchResult(
        batch,
        len(numbers),
        counts,
        {"PyTorch functions": tuple(sorted(functions))},
        merged(findings),
        reasons={path: dict(rows) for path, rows in reasons_by_path.items()},
    )


def judged(judge: TorchJudge, path: str, program: TorchProgram) -> tuple[str, str, TorchFinding | None]:
    """The verdict on a path, why it is none, and the finding."""
    if path != OURS and "torch" in _lacking(judge, path.removeprefix(IMPORTER)):
        return "unsupported", "`torch` is not installed beside this TVM", None
    found = judge.of(path, program)
    how = how_wrong(judge.evaluated(program), found)
    if not how:
        return "equal", "", None
    if how == "refused":
        return "unsupported", str(found).partition(": ")[2], None
    finding = finding_of(judge, path, program)
    return ("wrong", "", finding) if finding else ("unsupported", "the difference does not occur again", None)


def _lacking(judge: TorchJudge, python: str) -> Sequence[str]:
    """The packages that this TVM's importers miss."""
    said = importer(python, judge.seconds).says.get("missing")
    return said if isinstance(said, list) else ()


def record_of(settings: CampaignSettings, number: int, judge: TorchJudge, finding: TorchFinding) -> FindingRecord:
    """The finding as data."""
    lines = [finding.message]
    if finding.path.startswith(IMPORTER):
        python = finding.path.removeprefix(IMPORTER)
        says = importer(python, judge.seconds).says
        lines[0] = f"{str(says.get('name', '')).removesuffix(' importer')}: {finding.message}"
        lines += said_of(judge, finding.path, finding.program, WrongImport(finding.cause, finding.refusal), "torch")
    return FindingRecord(
        signature("", KIND, finding.path, finding.code, *brief(finding.cause)),
        finding.code,
        finding.path,
        finding.cause[-1],
        "\n".join(lines),
        number,
        settings.seed_of(number),
        KIND,
        case_of(finding.program, finding.cause),
    )


def case_of(program: TorchProgram, cause: Sequence[str]) -> dict[str, object]:
    """The program as data, and its calls as people write them."""
    lines = []
    for number, call in enumerate(program.calls):
        options = [f"{name}={value!r}" for name, value in call.options.items()]
        lines.append(f"y{number} = {function_of(call.function)}({', '.join([*call.inputs, *options])})")
    return {"text": "\n".join(lines), "program": program.to_json(), "cause": list(cause)}


def shrink_program(settings: CampaignSettings, finding: FindingRecord, seconds: float) -> Json:
    """The program with shorter axes and plainer numbers that is wrong for the same cause. Fails: RM112."""
    if missing():
        raise fail(BAD_USAGE, f"`{missing()}` is not installed; the program of the finding needs it")
    deadline = monotonic() + seconds
    judge = TorchJudge(pythons_of(settings), settings.program_seconds)
    program = TorchProgram.from_json(json.loads(json.dumps(finding.case))["program"])
    how, path = str(finding.verdict), OURS if finding.path == FRAMEWORK else finding.path
    if not same(judge, path, program, how):
        return {"problem": "the finding does not occur again"}
    small = reduced(program, less, lambda each: monotonic() < deadline and same(judge, path, each, how))
    found, cause = judge.of(path, small), cause_in(judge, path, small, how)
    rows = said_of(judge, path, small, WrongImport(cause, refusal_of(found)), "torch")
    return {
        "case": case_of(small, cause),
        "message": "\n".join([described(judge.evaluated(small), found), *rows]),
        "elements": [sum(array.size for array in each.arguments.values()) for each in (program, small)],
    }
