"""The same from within a program that uses TVM: the module `tvm` is given, refmlc itself never imports it.

>>> import tvm
>>> from refmlc.oracle.passes import check_passes, check_schedule
>>> with check_passes(tvm):                      # every pass that runs in here, of relax, s_tir and tirx
...     lowered = tvm.compile(module, "llvm")
>>> check_schedule(tvm, schedule, module)        # each primitive of its trace, on the module that it began with

Both raise `Inequivalent` (RM705), whose text names the pass or the primitive, the element and a small call.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from types import ModuleType
from typing import Protocol

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE, UNSUPPORTED_CONSTRUCT
from refmlc.diag.entry import entry_point
from refmlc.frontends.programs import Program, as_module
from refmlc.lang.script import show
from refmlc.oracle.passes.check import check
from refmlc.oracle.passes.pass_hooks import PassLog, watching
from refmlc.oracle.passes.stages import Stage, Trace
from refmlc.oracle.passes.tvm_texts import Module, texts
from refmlc.oracle.passes.verdicts import StageRow, TraceCheck
from refmlc.oracle.refine.failures import Inequivalent


class Schedule(Protocol):
    """A schedule of TVM."""

    mod: object
    trace: "TraceOf | None"


class TraceOf(Protocol):
    """Its trace."""

    insts: Sequence[object]
    decisions: object


@dataclass(repr=False)
class WatchedPasses:
    """The result of `check_passes`, filled when the block has ended: a row of stages for each compiled module."""

    traces: list[Trace] = field(default_factory=list)
    verdicts: list[TraceCheck] = field(default_factory=list)

    def __repr__(self) -> str:
        """The number of modules and the verdicts on their stages, in one line."""
        return f"<Watched {len(self.traces)} modules: {', '.join(map(repr, self.verdicts)) or 'nothing yet'}>"

    def __str__(self) -> str:
        """The table of each compiled module."""
        return "\n\n".join(map(str, self.verdicts)) or "no pass has run yet"

    @property
    def stages(self) -> list[Stage]:
        """All of them, in order."""
        return [stage for trace in self.traces for stage in trace.stages]

    @property
    def rows(self) -> list[StageRow]:
        """The verdict rows of each module."""
        return [row for checked in self.verdicts for row in checked.rows]


@contextmanager
def check_passes(tvm: ModuleType, *, calls: int = 3, seed: int = 0) -> Iterator[WatchedPasses]:
    """Watch the passes of `tvm` that run in the block, then compare each with the original module.

    Fails: `Inequivalent` naming the first pass that changes the meaning; RM112 where no pass was seen; RM504 where
    passes have changed modules, and nothing could be compared. `Watched.rows` says of every stage what was compared,
    unsupported ones among them.
    """
    watched, seen = WatchedPasses(), PassLog()
    with watching(tvm, seen):
        yield watched
    if not seen.passes:
        raise fail(BAD_USAGE, "no pass ran in the block")
    for trace, constants in seen.rows(tvm):
        watched.traces.append(trace)
        watched.verdicts.append(check(trace, constants=constants, calls=calls, seed=seed))
        _raise(watched.verdicts[-1])
    _compared(watched.verdicts)


@entry_point
def check_schedule(
    tvm: ModuleType, schedule: Schedule, module: Program, *, calls: int = 3, seed: int = 0
) -> TraceCheck:
    """Hold each primitive of the trace of `schedule` to `module`, with which it began.

    `module` is one of TVM, or whatever `refmlc.frontends.programs` takes.
    Fails: `Inequivalent` naming the first that changes the meaning; RM112 for a schedule without a trace, RM504 where
    nothing could be compared.
    """
    if not (hasattr(schedule, "trace") and hasattr(schedule, "mod")):
        raise fail(BAD_USAGE, f"a TVM schedule is needed; this is {type(schedule).__name__}")
    if schedule.trace is None:
        raise fail(BAD_USAGE, "the schedule has no trace", None, "make it with `tvm.s_tir.Schedule(module)`")
    first = _module_of_tvm(tvm, module)
    names, modules = ["input"], [first]
    for count, instruction in enumerate(schedule.trace.insts, 1):
        again = tvm.s_tir.Schedule(first)
        part = tvm.s_tir.schedule.Trace(schedule.trace.insts[:count], schedule.trace.decisions)
        part.apply_to_schedule(again, remove_postproc=False)
        names.append(f"{count}: {getattr(getattr(instruction, 'kind', None), 'name', 'a primitive')}")
        modules.append(again.mod)
    written, constants = texts(tvm, modules)
    stages = [Stage("input", written[0])]
    for name, text in zip(names[1:], written[1:], strict=True):
        if text != stages[-1].text:
            stages.append(Stage(name, text))
    checked = check(Trace(tuple(stages)), constants=constants, calls=calls, seed=seed)
    _raise(checked)
    _compared([checked])
    return checked


def _module_of_tvm(tvm: ModuleType, program: object) -> Module:
    """The module of TVM that `program` is: its own, or read by TVM from the text of ours."""
    if not isinstance(program, tvm.IRModule | tvm.tirx.PrimFunc):
        program = tvm.script.from_source(show(as_module(program), show_meta=True), check_well_formed=False)
    module: Module = tvm.s_tir.Schedule(program).mod
    return module


def _raise(checked: TraceCheck) -> None:
    if checked.broken is not None:
        diagnostic = checked.broken.diagnostic
        raise Inequivalent(
            replace(diagnostic, message=f"{checked.broken.names} changes the meaning: {diagnostic.message}")
        )


def _compared(checks: Sequence[TraceCheck]) -> None:
    """Decision: as with all assertions here, one that has tried nothing does not hold."""
    rows = [row for checked in checks for row in checked.rows]
    if rows and not any(row.calls for row in rows):
        why = next((row.why for row in rows if row.why), "no function is called")
        raise fail(UNSUPPORTED_CONSTRUCT, f"nothing was compared: {why}")
