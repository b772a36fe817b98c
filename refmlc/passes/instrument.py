"""The same from within a program that uses TVM: the module `tvm` is given, refmlc itself never imports it.

>>> import tvm
>>> from refmlc.passes import check_passes, check_schedule
>>> with check_passes(tvm):                      # every pass that runs in here, of relax, s_tir and tirx
...     lowered = tvm.compile(module, "llvm")
>>> check_schedule(tvm, schedule)                # each primitive of its trace, on the module that it began with

Both raise `Inequivalent` (RM705), whose text names the pass or the primitive, the element and a small call.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from types import ModuleType
from typing import Protocol

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE
from refmlc.passes.check import check
from refmlc.passes.stages import Stage, Trace
from refmlc.passes.verdicts import Checked
from refmlc.testing.failures import Inequivalent

WRAPPERS = ("sequential", "_pipeline")


class Printed(Protocol):
    """A module of TVM: what prints itself."""

    def script(self) -> str:
        """Its text."""
        ...


class PassInfo(Protocol):
    """What TVM says of a pass."""

    name: str


class Schedule(Protocol):
    """A schedule of TVM."""

    mod: object
    trace: "TraceOf"


class TraceOf(Protocol):
    """Its trace."""

    insts: Sequence[object]
    decisions: object


@dataclass
class Watched:
    """What was seen within `check_passes`: texts of modules in order; the verdict once the block has ended."""

    stages: list[Stage] = field(default_factory=list)
    checked: Checked | None = None

    def see(self, name: str, module: Printed) -> None:
        """Keep the text of a module, where it is new."""
        text = module.script()
        if not self.stages or text != self.stages[-1].text:
            self.stages.append(Stage(name, text))


@contextmanager
def check_passes(tvm: ModuleType, *, calls: int = 3, seed: int = 0) -> Iterator[Watched]:
    """Watch the passes of `tvm` that run in the block, then hold each of them to the module that came in.

    Fails: `Inequivalent` naming the first pass that changes the meaning; RM112 where no pass was seen.
    `Watched.checked` says of every stage what was compared, unsupported ones among them.
    """
    watched = Watched()

    class Watching:
        """Sees the module that goes into the first pass, and what each pass leaves."""

        def run_before_pass(self, mod: Printed, _info: PassInfo) -> None:
            if not watched.stages:
                watched.see("input", mod)

        def run_after_pass(self, mod: Printed, info: PassInfo) -> None:
            if info.name not in WRAPPERS and getattr(mod, "functions", True):
                watched.see(info.name, mod)

    context = tvm.transform.PassContext.current()
    before = list(context.instruments or ())
    context.override_instruments([*before, tvm.instrument.pass_instrument(Watching)()])
    try:
        yield watched
    finally:
        context.override_instruments(before)
    if not watched.stages:
        help_ = "a PassContext that is entered in the block has instruments of its own: enter it before"
        raise fail(BAD_USAGE, "no pass was seen in the block", None, help_)
    watched.checked = check(Trace(tuple(watched.stages)), calls=calls, seed=seed)
    _raise(watched.checked)


def check_schedule(tvm: ModuleType, schedule: Schedule, module: Printed, *, calls: int = 3, seed: int = 0) -> Checked:
    """Hold each primitive of the trace of `schedule` to `module`, with which it began. Fails: `Inequivalent`."""
    stages = [Stage("input", module.script())]
    for count, instruction in enumerate(schedule.trace.insts, 1):
        again = tvm.s_tir.Schedule(module)
        part = tvm.s_tir.schedule.Trace(schedule.trace.insts[:count], schedule.trace.decisions)
        part.apply_to_schedule(again, remove_postproc=False)
        text = again.mod.script()
        if text != stages[-1].text:
            kind = getattr(instruction, "kind", None)
            stages.append(Stage(f"{count}: {getattr(kind, 'name', 'a primitive')}", text))
    found = check(Trace(tuple(stages)), calls=calls, seed=seed)
    _raise(found)
    return found


def _raise(found: Checked) -> None:
    if found.broken is not None:
        said = found.broken.diagnostic
        raise Inequivalent(replace(said, message=f"{found.broken.names} changes the meaning: {said.message}"))
