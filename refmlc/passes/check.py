"""Stages executed and held against the module that they come from.

The module is the first stage; what a compiler's reader and printer make of it is the second. Each stage is read by
refmlc and run in the interpreter under the sanitizer, on the same calls.
"""

from collections.abc import Sequence
from dataclasses import replace

from refmlc.adapters.interp import Interp
from refmlc.adapters.limits import Limits
from refmlc.check.reading import read
from refmlc.diag import Diagnostic, RefmlcError
from refmlc.ir import IRModule, relax
from refmlc.oracle.reference import references
from refmlc.passes.baseline import Baseline, Draw, Function, Known, called, known_of
from refmlc.passes.lifting import Constants
from refmlc.passes.stages import Stage, Trace
from refmlc.passes.verdicts import Broken, Checked, Row, Said, worst
from refmlc.testing.calls import Call, Tried, told
from refmlc.testing.refinement import INTERP, judged
from refmlc.testing.smallest import smallest
from refmlc.vm.parameters import parameters_of


def check(
    trace: Trace,
    *,
    constants: Constants | None = None,
    calls: int = 3,
    seed: int = 0,
    limits: Limits | None = None,
    small: bool = True,
) -> Checked:
    """The verdict on each stage of `trace` after the first, up to the first that breaks the meaning.

    `calls` are drawn from `seed` for each function; `constants` (of `lifted`) are arguments at their end. `small`: the
    call that shows a difference is made small. Fails: RM1xx, RM2xx where the first stage is no module.
    """
    interp = Interp(limits or Limits(), check=False)
    draw = Draw(calls, seed)
    first = trace.stages[0]
    module = read(first.text, first.name)
    checker = Checker(Baseline(module, called(module), constants or {}, draw, interp), first, draw, interp, small=small)
    rows: list[Row] = []
    for stage in trace.stages[1:]:
        rows.append(checker.row(stage))
        if checker.broken is not None:
            break
    return Checked(tuple(rows), checker.broken, trace.stopped)


class Checker:
    """Holds stages against a baseline, which changes where the functions do."""

    def __init__(self, baseline: Baseline, first: Stage, draw: Draw, interp: Interp, *, small: bool) -> None:
        """Nothing is broken yet."""
        self.broken: Broken | None = None
        self._baseline, self._draw, self._interp, self._small = baseline, draw, interp, small
        self._last = first
        self._unread: tuple[str, ...] = ()

    def row(self, stage: Stage) -> Row:
        """The verdict on `stage`."""
        try:
            module = read(stage.text, stage.name)
        except RefmlcError as failure:
            self._unread = (*self._unread, stage.name)
            return Row(stage.name, Said.UNSUPPORTED, why=_line(failure))
        if not self._baseline.has_all(module):
            self._baseline = Baseline(module, called(module), {}, self._draw, self._interp)
            self._last, self._unread = stage, ()
            return Row(stage.name, Said.NO_CALL, why="other functions are called from here on")
        row = replace(worst([self._function(one, module, stage) for one in self._baseline.functions]), name=stage.name)
        if row.said is Said.SAME:
            self._last, self._unread = stage, ()
        elif row.said is Said.UNSUPPORTED:
            self._unread = (*self._unread, stage.name)
        return row

    def _function(self, function: Function, module: IRModule, stage: Stage) -> Row:
        compared, problem = 0, function.problem
        for known in function.known:
            if known.meant is None:
                continue
            try:
                found = self._problem(function.name, known, module)
            except RefmlcError as failure:
                problem = _line(failure)
                continue
            if found is not None:
                self.broken = self._told(function.name, known.call, module, stage, found)
                return Row(stage.name, Said.BROKEN, compared + 1, found.message)
            compared += 1
        if problem:
            return Row(stage.name, Said.UNSUPPORTED, compared, f"`{function.name}`: {problem}")
        return Row(stage.name, Said.SAME if compared else Said.NO_CALL, compared)

    def _problem(self, func: str, known: Known, module: IRModule) -> Diagnostic | None:
        """Why the stage may not stand for the module on this call; None: it may, or nothing is promised."""
        if known.meant is None:
            return None
        after = Tried(module, func, known.call)
        answer = references(after, self._interp, sanitize=True)[0].answer
        before = Tried(self._baseline.module, func, known.call)
        return judged(INTERP, answer, before, known.meant, after)

    def _told(self, func: str, call: Call, module: IRModule, stage: Stage, said: Diagnostic) -> Broken:
        """What is broken, shown by a small call; `said` is what `call` shows."""

        def difference(tried: Call) -> Diagnostic | None:
            return self._problem(func, known_of(self._baseline.module, func, tried, self._interp), module)

        def fails(tried: Call) -> bool:
            try:
                return difference(tried) is not None
            except RefmlcError:
                return False

        least = smallest(self._baseline.module, func, call, fails) if self._small else call
        found = difference(least) or said
        notes = (*found.notes, *told(least, _names(self._baseline.module, func)))
        return Broken(stage.name, func, self._last, stage, least, replace(found, notes=notes), self._unread)


def _names(module: IRModule, func: str) -> Sequence[str]:
    function = module.functions[func]
    return [] if isinstance(function, relax.ExternFunc) else [one.name for one in parameters_of(function)]


def _line(failure: RefmlcError) -> str:
    return f"{failure.code.id}: {failure.diagnostic.message}"
