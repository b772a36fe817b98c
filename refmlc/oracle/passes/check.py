"""Execute stages, compare them with their original module, and make the module that a pass breaks smaller.

The module is the given text, or else the first stage. The result of a compiler's reader is compared with the text
like that of a pass: TVM folds operators while it reads. If it is the same, it is not reported. Each stage is read by
refmlc and run in the interpreter under the sanitizer, on the same calls. A stage that has the structure of the last one
that was run, means what that means: it is not run again.

Each try of `shrunk` asks the compiler again, so it has limits.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from refmlc.diag import Diagnostic, RefmlcError
from refmlc.diag.catalogue import INT_OVERFLOW
from refmlc.diag.entry import entry_point
from refmlc.lang.dtypes import DType
from refmlc.lang.ir import IRModule, relax, tir
from refmlc.lang.ir.equal import structural_equal
from refmlc.lang.script import show
from refmlc.lang.wellformed.reader_checks import read
from refmlc.oracle.agreement import OTHERS
from refmlc.oracle.arguments import CallLimits
from refmlc.oracle.arguments.trial import USUAL_BUDGET
from refmlc.oracle.check.program import CallRequest, known_params
from refmlc.oracle.contracts import ArgumentContract
from refmlc.oracle.contracts.assumptions import known_assumptions
from refmlc.oracle.contracts.compare import ContractWatch
from refmlc.oracle.finding import head
from refmlc.oracle.implementations.implementation import Answer, Ended, Limits, Stopped
from refmlc.oracle.implementations.interp import Interp
from refmlc.oracle.outcome import Kind
from refmlc.oracle.passes.baseline import (
    Baseline,
    BaselineFunction,
    CallMeaning,
    Constants,
    Linker,
    Tries,
    beyond,
    called_functions,
    known_of,
    lacks,
    lifted,
    line_of,
)
from refmlc.oracle.passes.proofs import stage_proof
from refmlc.oracle.passes.stages import (
    ORDER,
    WITHIN,
    BrokenStage,
    PassTrace,
    Stage,
    StageRow,
    StageVerdict,
    TraceCheck,
    worst,
)
from refmlc.oracle.reduce import reduce
from refmlc.oracle.refine.calls import Call, ProgramCall, argument_notes, fresh, smallest
from refmlc.oracle.refine.comparison import INTERP, verdict_on
from refmlc.oracle.refine.proved import PairProof, ProgramPair, ProofWord, undecided
from refmlc.oracle.verdict_rules import BREAKS
from refmlc.run.interp.tensorir.c_abi import is_packed_entry
from refmlc.vm.parameters import parameters_of

READER = "the reader"
AGREES = {StageVerdict.SAME: True, StageVerdict.BROKEN: False}
NOTES = {Kind.PERMITTED: WITHIN, Kind.ORDER: ORDER}
CERTAIN = frozenset(("RM201", "RM202", "RM203", "RM204", "RM206", "RM207", "RM208", "RM210", "RM211", "RM213"))
"""Static rules that every stage keeps. Decision: not those on effects (RM205, RM212) and on blocks (RM209): TVM's
half lowered modules break them on purpose, so such a stage is unsupported."""


@dataclass(frozen=True)
class Permissions:
    """What the compiler's documentation permits, by the names of stages.

    `documented`: a change of the meaning that is stated; such a stage takes the place of the module. `reordering`: from
    this stage on the terms of a reduction may have another order, which shows where terms tie, and where a part of a
    sum of integers overflows, whose whole is the same. `narrowing`: from this stage on numbers may be rounded to this
    dtype besides.
    """

    documented: Mapping[str, str] = field(default_factory=dict)
    reordering: Collection[str] = ()
    narrowing: Mapping[str, DType] = field(default_factory=dict)


NO_PERMISSIONS = Permissions()


@entry_point
def check(  # noqa: PLR0913 - each is a choice of its own
    trace: PassTrace,
    *,
    constants: Constants | None = None,
    calls: int | None = None,
    seed: int = 0,
    budget: float = USUAL_BUDGET,
    inputs: Mapping[str, object] | None = None,
    limits: Limits | None = None,
    small: bool = True,
    given: str | None = None,
    permissions: Permissions = NO_PERMISSIONS,
    assume: Collection[ArgumentContract] = (),
    prove: float = 0.0,
    between: int | None = None,
) -> TraceCheck:
    """The verdict on each stage of `trace` after the first, up to the first that breaks the meaning.

    `given` is the text of which the first stage is what the compiler has read.

    Each function has the calls of `oracle.arguments`, at most `calls`; `seed` adds random ones. `inputs` are arguments
    by the names of parameters, which some function has; `constants` (of `lifted`) are arguments at the end. `small`:
    the call that shows a difference is made small. `assume`: contracts that arguments satisfy. `prove`: how long the
    proof of a stage may take (`proofs`), 0: no proof. `between`: how many calls the stages before the last one have;
    None: all, as the last one has. Units: seconds.

    Fails: RM1xx, RM2xx if the first text is not a module; RM111 for inputs that do not fit.
    """
    interp = Interp(limits or Limits(), check=False)
    request = CallRequest({}, inputs or {}, {}, CallLimits(calls, seed, budget), tuple(assume))
    first = trace.stages[0] if given is None else Stage("the module", given)
    module = read(first.text, first.name)
    known_params(module, request)
    known_assumptions(module, request.assume)
    baseline = Baseline(module, called_functions(module), constants or {}, request, interp)
    checker = Checker(baseline, first, request, interp, small=small)
    checker.permissions = permissions
    checker.prove = prove
    rows: list[StageRow] = []
    if given is not None:
        row = checker.row(replace(trace.stages[0], name=READER))
        rows += [row] if row.verdict in (StageVerdict.BROKEN, StageVerdict.UNSUPPORTED) else []
    last = len(trace.stages) - 1
    for number, stage in enumerate(trace.stages[1:] if checker.broken is None else (), 1):
        checker.most = between if number < last else None
        rows.append(checker.row(stage))
        if checker.broken is not None:
            break
    failure = _failure(trace, module) if checker.broken is None and checker.defined else None
    return TraceCheck(tuple(rows), checker.broken, trace.stopped, trace.kind, failure, checker.notes)


def _failure(trace: PassTrace, module: IRModule) -> Diagnostic | None:
    """The finding that the compiler stops on a module that is defined; None: it does not, or says what it lacks."""
    if not trace.stopped or trace.kind not in BREAKS:
        return None
    code, does = BREAKS[trace.kind]
    function = next(iter(module.functions.values()), None)
    return Diagnostic(
        code, f"the compiler {does} the module: {trace.stopped}", None if function is None else head(function.span)
    )


class Checker:
    """Holds stages against a baseline, which changes where the functions do."""

    def __init__(self, baseline: Baseline, first: Stage, request: CallRequest, interp: Interp, *, small: bool) -> None:
        self.broken: BrokenStage | None = None
        self._baseline, self._request, self._interp, self._small = baseline, request, interp, small
        self._first = baseline
        self.permissions = NO_PERMISSIONS
        self.prove = 0.0
        self.most: int | None = None
        self._proved_from = baseline.module
        self._module: IRModule | None = None
        self._reordered = False
        self._narrow: DType | None = None
        self._last_good = first
        self._run: tuple[IRModule, StageRow, int | None] | None = None
        self._unread: tuple[str, ...] = ()
        self._tested: list[tuple[str, list[Call], bool | None]] = []
        self._linker = Linker(baseline.module)

    @property
    def defined(self) -> bool:
        """Whether some call of the module is defined."""
        return any(call.meaning is not None for each in self._first.functions for call in each.meanings)

    @property
    def notes(self) -> tuple[str, ...]:
        """What is noted of the calls of the module, by function."""
        return tuple(f"`{each.name}`: {note}" for each in self._first.functions for note in each.notes)

    def row(self, stage: Stage) -> StageRow:
        """The verdict on `stage`, and its proof."""
        self._module, self._tested = None, []
        row = self._row(stage)
        return replace(row, proof=self._proof(row)) if self.prove else row

    def _proof(self, row: StageRow) -> PairProof:
        """The proof of the stage that was read last, from the last one before whose parameters say what they take."""
        before, module = self._proved_from, self._module
        if module is None:
            broken = row.verdict is StageVerdict.BROKEN
            return PairProof(ProofWord.REFUTED) if broken else undecided("the stage is not read")
        if not any(isinstance(each, tir.PrimFunc) and is_packed_entry(each) for each in module.functions.values()):
            self._proved_from = module
        if not self._baseline.has_all(before):
            return undecided(row.why)
        pairs = [ProgramPair(before, module, *tested) for tested in self._tested]
        return stage_proof(before, module, pairs, self._interp, self.prove)

    def _row(self, stage: Stage) -> StageRow:
        self._reordered = self._reordered or stage.name in self.permissions.reordering
        self._narrow = self.permissions.narrowing.get(stage.name, self._narrow)
        try:
            module = self._linker.linked(read(stage.text, stage.name))
        except RefmlcError as failure:
            if failure.code.id in CERTAIN and not self._unread:
                return self._ill_formed(stage, failure)
            self._unread = (*self._unread, stage.name)
            return StageRow(stage.name, StageVerdict.UNSUPPORTED, why=line_of(failure))
        self._module = module
        if not self._baseline.has_all(module):
            self._baseline = Baseline(module, called_functions(module), {}, self._request, self._interp)
            self._last_good, self._run, self._unread = stage, None, ()
            self._tested = [(each.name, each.defined, None) for each in self._baseline.functions]
            return StageRow(stage.name, StageVerdict.NO_CALL, why="the pipeline calls other functions from here on")
        row = self._verdict(module, stage)
        if row.verdict is StageVerdict.BROKEN and stage.name in self.permissions.documented:
            self.broken = None
            row = replace(row, verdict=StageVerdict.DOCUMENTED, why=self.permissions.documented[stage.name])
            self._baseline = Baseline(
                module, called_functions(module), self._baseline.constants, self._request, self._interp
            )
            self._last_good, self._unread = stage, ()
        self._run = (module, row, self.most)
        if row.verdict is StageVerdict.SAME:
            self._last_good, self._unread = stage, ()
        elif row.verdict is StageVerdict.UNSUPPORTED:
            self._unread = (*self._unread, stage.name)
        return row

    def _ill_formed(self, stage: Stage, failure: RefmlcError) -> StageRow:
        """The verdict on a stage that breaks a static rule right after one that keeps all of them."""
        note = f"the stage before, `{self._last_good.name}`, is well-formed"
        self.broken = BrokenStage(stage.name, "", self._last_good, stage, (), failure.diagnostic.noting(note))
        return StageRow(stage.name, StageVerdict.BROKEN, why=f"ill-formed: {line_of(failure)}")

    def _verdict(self, module: IRModule, stage: Stage) -> StageRow:
        """That of the stage before, where the structure is the same: names and places have no meaning."""
        if self._run is not None and self._run[2] in (None, self.most) and structural_equal(self._run[0], module):
            return replace(self._run[1], name=stage.name)
        rows = [self._function(function, module, stage) for function in self._baseline.functions]
        self._tested = [
            (function.name, function.defined, AGREES.get(row.verdict))
            for function, row in zip(self._baseline.functions, rows, strict=True)
        ]
        return replace(worst(rows), name=stage.name)

    def _function(self, function: BaselineFunction, module: IRModule, stage: Stage) -> StageRow:
        if self.most is None:
            self._baseline.extend(function, module)
        watch = ContractWatch(self._baseline.module, module, function.name)
        within: set[Kind] = set()
        compared, problem = 0, function.problem
        defined = [(reference, reference.meaning) for reference in function.meanings if reference.meaning is not None]
        defined = defined[: self.most]
        try:
            answers = Tries(module, function.name, tuple(reference.call for reference, _ in defined)).meanings(
                self._interp
            )
        except RefmlcError as failure:
            return StageRow(stage.name, StageVerdict.UNSUPPORTED, 0, f"`{function.name}`: {line_of(failure)}")
        for (reference, meaning), answer in zip(defined, answers, strict=True):
            try:
                kind, difference = self._verdict_on(function.name, reference, meaning, module, answer)
            except RefmlcError as failure:
                problem = line_of(failure)
                continue
            if difference is not None:
                self.broken = self._broken_stage(function.name, reference.call, module, stage, difference)
                return StageRow(stage.name, StageVerdict.BROKEN, compared + 1, difference.message)
            compared += 1
            watch.see(fresh(reference.call))
            within |= {kind} - {Kind.EQUAL}
        if problem:
            return StageRow(stage.name, StageVerdict.UNSUPPORTED, compared, f"`{function.name}`: {problem}")
        if compared:
            notes = [*(NOTES[kind] for kind in NOTES if kind in within), *watch.lines]
            return StageRow(stage.name, StageVerdict.SAME, compared, "; ".join(notes))
        why = next((reference.why for reference in function.meanings), "no call was made")
        return StageRow(stage.name, StageVerdict.NO_CALL, 0, f"`{function.name}` itself: {why}")

    def _problem(self, func: str, reference: CallMeaning, module: IRModule, answer: Answer) -> Diagnostic | None:
        """Why the stage, which answers that, may not stand for the module; None: it may, or nothing is promised."""
        return (
            None
            if reference.meaning is None
            else self._verdict_on(func, reference, reference.meaning, module, answer)[1]
        )

    def _verdict_on(
        self, func: str, reference: CallMeaning, meaning: Ended, module: IRModule, answer: Answer
    ) -> tuple[Kind, Diagnostic | None]:
        """Whether the stage has the bits of the module, or others within its certified bound; else why it may not."""
        if lacks(answer):
            raise beyond(answer)
        original, after = (ProgramCall(side, func, reference.call) for side in (self._baseline.module, module))
        freedom = replace(OTHERS, narrow=self._narrow)
        verdict = verdict_on(INTERP, answer, original, meaning, after, freedom=freedom)
        if verdict[1] is None or not self._reordered:
            return verdict
        if isinstance(answer, Stopped) and answer.diagnostic is not None and answer.diagnostic.code is INT_OVERFLOW:
            wrapping = replace(self._interp, allow=frozenset((INT_OVERFLOW.id,)))
            (answer,) = Tries(module, func, (reference.call,)).meanings(wrapping)
            wrapped = verdict_on(INTERP, answer, original, meaning, after, freedom=freedom)
            return (Kind.ORDER, None) if wrapped[1] is None else verdict  # modulo 2**bits every order is one sum
        with suppress(RefmlcError):  # nothing is known of ties: the difference stays
            ties = verdict_on(INTERP, answer, original, meaning, after, freedom=replace(freedom, ties=True))
            if ties[1] is None:
                return Kind.ORDER, None
        return verdict

    def _broken_stage(self, func: str, call: Call, module: IRModule, stage: Stage, problem: Diagnostic) -> BrokenStage:
        """The broken stage with a small call; `problem` is the difference on `call`."""

        def difference(candidate: Call) -> Diagnostic | None:
            meaning = Tries(self._baseline.module, func, (candidate,)).meanings(self._interp)[0]
            answer = Tries(module, func, (candidate,)).meanings(self._interp)[0]
            return self._problem(func, known_of(candidate, meaning), module, answer)

        def fails(candidate: Call) -> bool:
            try:
                return self._baseline.keeps(func, candidate) and difference(candidate) is not None
            except RefmlcError:
                return False

        smallest_call = smallest(self._baseline.module, func, call, fails) if self._small else call
        smallest_problem = difference(smallest_call) or problem
        notes = (*smallest_problem.notes, *argument_notes(smallest_call, _names(self._baseline.module, func)))
        return BrokenStage(
            stage.name,
            func,
            self._last_good,
            stage,
            smallest_call,
            replace(smallest_problem, notes=notes),
            self._unread,
        )


def _names(module: IRModule, func: str) -> Sequence[str]:
    function = module.functions[func]
    return [] if isinstance(function, relax.ExternFunc) else [parameter.name for parameter in parameters_of(function)]


Compiler = Callable[[str], PassTrace]


@dataclass(frozen=True)
class Shrunk:
    """The smallest module found, as text, and what the pass does to it. `finished`: no limit was met."""

    text: str
    broken: BrokenStage
    finished: bool


def shrunk(  # noqa: PLR0913 - as `check`
    module: IRModule,
    broken: BrokenStage,
    compiler: Compiler,
    *,
    seconds: float = 120.0,
    tries: int = 200,
    calls: int | None = None,
    inputs: Mapping[str, object] | None = None,
    assume: Collection[ArgumentContract] = (),
    permissions: Permissions = NO_PERMISSIONS,
) -> Shrunk | None:
    """`module`, which `broken.name` breaks, made smaller; None where it cannot be shown again as it is.

    `compiler` gives the trace of a text, as `snapshots` does; `assume`: contracts that the calls keep; `permissions`:
    as in `check`. Units: seconds.
    """
    best: list[tuple[str, BrokenStage]] = []

    def broken_too(candidate: IRModule) -> bool:
        finding = broken_by(candidate, compiler, calls, inputs, assume, permissions)
        if finding is None or finding.name != broken.name:
            return False
        best.append((show(candidate, show_meta=True), finding))
        return True

    if not broken_too(module):
        return None
    reduction = reduce(
        module, broken_too, func=broken.func if broken.func in module else "", seconds=seconds, tries=tries
    )
    text = show(reduction.module, show_meta=True)
    finding = next((stage for stage_text, stage in reversed(best) if stage_text == text), best[0][1])
    return Shrunk(text, finding, reduction.finished)


def broken_by(
    module: IRModule,
    compiler: Compiler,
    calls: int | None,
    inputs: Mapping[str, object] | None = None,
    assume: Collection[ArgumentContract] = (),
    permissions: Permissions = NO_PERMISSIONS,
) -> BrokenStage | None:
    """The pass that breaks `module`; None: none, or unknown."""
    try:
        bare, constants = lifted(module)
        text = show(bare, show_meta=True)
        return check(
            compiler(text),
            constants=constants,
            calls=calls,
            inputs=inputs,
            given=text,
            permissions=permissions,
            assume=assume,
        ).broken
    except RefmlcError:
        return None
