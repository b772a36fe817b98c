"""Execute stages and compare them with their original module.

The module is the given text, or else the first stage. The result of a compiler's reader is compared with the text
like that of a pass: TVM folds operators while it reads. If it is the same, it is not reported. Each stage is read by
refmlc and run in the interpreter under the sanitizer, on the same calls. A stage that has the structure of the last one
that was run, means what that means: it is not run again.
"""

from collections.abc import Sequence
from dataclasses import replace

from refmlc.diag import Diagnostic, RefmlcError
from refmlc.diag.entry import entry_point
from refmlc.lang.ir import IRModule, relax
from refmlc.lang.ir.equal import structural_equal
from refmlc.lang.wellformed.reader_checks import read
from refmlc.oracle.implementations.implementation import Answer, Ended
from refmlc.oracle.implementations.interp import Interp
from refmlc.oracle.implementations.limits import Limits
from refmlc.oracle.outcome import Kind
from refmlc.oracle.passes.baseline import (
    Baseline,
    BaselineFunction,
    CallMeaning,
    DrawOptions,
    Tries,
    beyond,
    called,
    known_of,
    lacks,
    line_of,
)
from refmlc.oracle.passes.constant_parameters import Constants
from refmlc.oracle.passes.host_modules import Linker
from refmlc.oracle.passes.stages import Stage, Trace
from refmlc.oracle.passes.verdicts import WITHIN, BrokenStage, StageRow, StageVerdict, TraceCheck, worst
from refmlc.oracle.refine.calls import Call, ProgramCall, told
from refmlc.oracle.refine.refinement import INTERP, verdict_on
from refmlc.oracle.refine.smallest import smallest
from refmlc.vm.parameters import parameters_of

READER = "the reader"


@entry_point
def check(
    trace: Trace,
    *,
    constants: Constants | None = None,
    calls: int = 3,
    seed: int = 0,
    limits: Limits | None = None,
    small: bool = True,
    given: str | None = None,
) -> TraceCheck:
    """The verdict on each stage of `trace` after the first, up to the first that breaks the meaning.

    `given` is the text of which the first stage is what the compiler has read.

    `calls` are drawn from `seed` for each function; `constants` (of `lifted`) are arguments at their end. `small`: the
    call that shows a difference is made small. Fails: RM1xx, RM2xx if the first text is not a module.
    """
    interp = Interp(limits or Limits(), check=False)
    draw = DrawOptions(calls, seed)
    first = trace.stages[0] if given is None else Stage("the module", given)
    module = read(first.text, first.name)
    checker = Checker(Baseline(module, called(module), constants or {}, draw, interp), first, draw, interp, small=small)
    rows: list[StageRow] = []
    if given is not None:
        row = checker.row(replace(trace.stages[0], name=READER))
        rows += [row] if row.said in (StageVerdict.BROKEN, StageVerdict.UNSUPPORTED) else []
    for stage in trace.stages[1:] if checker.broken is None else ():
        rows.append(checker.row(stage))
        if checker.broken is not None:
            break
    return TraceCheck(tuple(rows), checker.broken, trace.stopped)


class Checker:
    """Holds stages against a baseline, which changes where the functions do."""

    def __init__(self, baseline: Baseline, first: Stage, draw: DrawOptions, interp: Interp, *, small: bool) -> None:
        self.broken: BrokenStage | None = None
        self._baseline, self._draw, self._interp, self._small = baseline, draw, interp, small
        self._last = first
        self._run: tuple[IRModule, StageRow] | None = None
        self._unread: tuple[str, ...] = ()
        self._linker = Linker(baseline.module)

    def row(self, stage: Stage) -> StageRow:
        """The verdict on `stage`."""
        try:
            module = self._linker.linked(read(stage.text, stage.name))
        except RefmlcError as failure:
            self._unread = (*self._unread, stage.name)
            return StageRow(stage.name, StageVerdict.UNSUPPORTED, why=line_of(failure))
        if not self._baseline.has_all(module):
            self._baseline = Baseline(module, called(module), {}, self._draw, self._interp)
            self._last, self._run, self._unread = stage, None, ()
            return StageRow(stage.name, StageVerdict.NO_CALL, why="the pipeline calls other functions from here on")
        row = self._verdict(module, stage)
        self._run = (module, row)
        if row.said is StageVerdict.SAME:
            self._last, self._unread = stage, ()
        elif row.said is StageVerdict.UNSUPPORTED:
            self._unread = (*self._unread, stage.name)
        return row

    def _verdict(self, module: IRModule, stage: Stage) -> StageRow:
        """That of the stage before, where the structure is the same: names and places have no meaning."""
        if self._run is not None and structural_equal(self._run[0], module):
            return replace(self._run[1], name=stage.name)
        rows = [self._function(function, module, stage) for function in self._baseline.functions]
        return replace(worst(rows), name=stage.name)

    def _function(self, function: BaselineFunction, module: IRModule, stage: Stage) -> StageRow:
        compared, within, problem = 0, 0, function.problem
        defined = [(reference, reference.meant) for reference in function.known if reference.meant is not None]
        try:
            answers = Tries(module, function.name, tuple(reference.call for reference, _ in defined)).meanings(
                self._interp
            )
        except RefmlcError as failure:
            return StageRow(stage.name, StageVerdict.UNSUPPORTED, 0, f"`{function.name}`: {line_of(failure)}")
        for (reference, meant), answer in zip(defined, answers, strict=True):
            try:
                kind, difference = self._verdict_on(function.name, reference, meant, module, answer)
            except RefmlcError as failure:
                problem = line_of(failure)
                continue
            if difference is not None:
                self.broken = self._told(function.name, reference.call, module, stage, difference)
                return StageRow(stage.name, StageVerdict.BROKEN, compared + 1, difference.message)
            compared += 1
            within += kind is Kind.PERMITTED
        if problem:
            return StageRow(stage.name, StageVerdict.UNSUPPORTED, compared, f"`{function.name}`: {problem}")
        if compared:
            return StageRow(stage.name, StageVerdict.SAME, compared, WITHIN if within else "")
        why = next((reference.why for reference in function.known), "no call was made")
        return StageRow(stage.name, StageVerdict.NO_CALL, 0, f"`{function.name}` itself: {why}")

    def _problem(self, func: str, reference: CallMeaning, module: IRModule, answer: Answer) -> Diagnostic | None:
        """Why the stage, which answers that, may not stand for the module; None: it may, or nothing is promised."""
        return (
            None if reference.meant is None else self._verdict_on(func, reference, reference.meant, module, answer)[1]
        )

    def _verdict_on(
        self, func: str, reference: CallMeaning, meant: Ended, module: IRModule, answer: Answer
    ) -> tuple[Kind, Diagnostic | None]:
        """Whether the stage has the bits of the module, or others within its certified bound; else why it may not."""
        if lacks(answer):
            raise beyond(answer)
        before = ProgramCall(self._baseline.module, func, reference.call)
        return verdict_on(INTERP, answer, before, meant, ProgramCall(module, func, reference.call))

    def _told(self, func: str, call: Call, module: IRModule, stage: Stage, problem: Diagnostic) -> BrokenStage:
        """The broken stage with a small call; `problem` is the difference on `call`."""

        def difference(tried: Call) -> Diagnostic | None:
            meant = Tries(self._baseline.module, func, (tried,)).meanings(self._interp)[0]
            answer = Tries(module, func, (tried,)).meanings(self._interp)[0]
            return self._problem(func, known_of(tried, meant), module, answer)

        def fails(tried: Call) -> bool:
            try:
                return self._baseline.keeps(func, tried) and difference(tried) is not None
            except RefmlcError:
                return False

        least = smallest(self._baseline.module, func, call, fails) if self._small else call
        smallest_problem = difference(least) or problem
        notes = (*smallest_problem.notes, *told(least, _names(self._baseline.module, func)))
        return BrokenStage(
            stage.name, func, self._last, stage, least, replace(smallest_problem, notes=notes), self._unread
        )


def _names(module: IRModule, func: str) -> Sequence[str]:
    function = module.functions[func]
    return [] if isinstance(function, relax.ExternFunc) else [parameter.name for parameter in parameters_of(function)]
