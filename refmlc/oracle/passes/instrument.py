"""The check of passes from within a program that uses TVM: it gives the module `tvm`, refmlc itself never imports it.

Each pass is seen with the module before it and the one after:

| what is seen                                       | is                                             |
|----------------------------------------------------|------------------------------------------------|
| a pass on a module that no pass seen here has left | the begin of a row: that module is its `input` |
| a pass on a module that is in a row                | a stage of that row                            |
| passes that run within a pass                      | stages too, before that of the outer one       |
| a module that is changed between two passes        | the begin of another row: no pass changed it   |
| a pass that raises, a module without functions     | nothing                                        |

The modules are kept and printed at the end. TVM's objects do not change while somebody holds them.

>>> import tvm
>>> from refmlc.oracle.passes import check_passes, check_schedule
>>> with check_passes(tvm):                      # every pass that runs in here, of relax, s_tir and tirx
...     lowered = tvm.compile(module, "llvm")
>>> check_schedule(tvm, schedule, module)        # each primitive of its trace, on the module that it began with

Both raise `Inequivalent` (RM705), whose text names the pass or the primitive, the element and a small call. What
refmlc asks of TVM itself (to apply the primitives again, to print modules) is tried in a fork first: TVM may die of it
(RM708). What the caller does in the block of `check_passes` runs in the caller's process; `refmlc passes` runs passes
in another one.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from types import ModuleType
from typing import Protocol

from refmlc.diag import Diagnostic, RefmlcError, error, fail
from refmlc.diag.catalogue import BAD_USAGE, COMPILER_ERROR, UNSUPPORTED_CONSTRUCT
from refmlc.diag.entry import entry_point
from refmlc.frontends.programs import Program, as_module
from refmlc.lang.ir import tir
from refmlc.lang.ir.kinds import IterKind
from refmlc.lang.ir.visit import walk
from refmlc.lang.script import show
from refmlc.lang.wellformed.reader_checks import read
from refmlc.oracle.contracts import ArgumentContract
from refmlc.oracle.contracts.assumptions import applicable, assumed
from refmlc.oracle.passes.baseline import Constants
from refmlc.oracle.passes.check import Permissions, check
from refmlc.oracle.passes.stages import PassTrace, Stage, StageRow, TraceCheck
from refmlc.oracle.passes.tvm_texts import Module, texts
from refmlc.oracle.refine.assertions import Inequivalent
from refmlc.oracle.refine.proved import SECONDS
from refmlc.system.fork import death_of


class PassInfo(Protocol):
    """What TVM says of a pass."""

    name: str


class Context(Protocol):
    """A context of passes."""

    instruments: Sequence[object] | None

    def override_instruments(self, instruments: Sequence[object]) -> None: ...


@dataclass
class PassLog:
    """Passes in the order in which they ended: name, number of the module before, number of the one after."""

    modules: list[Module] = field(default_factory=list)
    passes: list[tuple[str, int, int]] = field(default_factory=list)
    _open: list[tuple[str, int]] = field(default_factory=list)

    def before(self, name: str, module: Module) -> None:
        self._open.append((name, self._number(module)))

    def after(self, name: str, module: Module) -> None:
        """It has ended; those within it that have not, raised."""
        while self._open:
            open_pass, number = self._open.pop()
            if open_pass == name:
                self.passes.append((name, number, self._number(module)))
                return

    def rows(self, tvm: ModuleType) -> list[tuple[PassTrace, Constants]]:
        """The rows, with the values of constants."""
        scripts, constants = texts(tvm, self.modules)
        rows: list[list[Stage]] = []
        home: dict[str, list[Stage]] = {}
        for name, input_number, output_number in self.passes:
            if not (self.modules[input_number].functions and self.modules[output_number].functions):
                continue  # TVM takes functions away once they are compiled
            if scripts[input_number] not in home:
                rows.append([Stage("input", scripts[input_number])])
                home[scripts[input_number]] = rows[-1]
            row = home[scripts[input_number]]
            if all(scripts[output_number] != stage.text for stage in row):
                row.append(Stage(name, scripts[output_number]))
            home[scripts[output_number]] = row
        return [(PassTrace(tuple(row)), constants) for row in rows if len(row) > 1]

    def _number(self, module: Module) -> int:
        self.modules.append(module)
        return len(self.modules) - 1


@contextmanager
def watching(tvm: ModuleType, log: PassLog) -> Iterator[None]:
    """Let `seen` see every pass, in the context that there is and in those that are entered in the block.

    Decision: for this, the entering of a context is watched too; all is as it was when the block has ended.
    """

    class Watching:
        """Sees the module that goes into each pass, and what it leaves."""

        def run_before_pass(self, mod: Module, info: PassInfo) -> None:
            log.before(info.name, mod)

        def run_after_pass(self, mod: Module, info: PassInfo) -> None:
            log.after(info.name, mod)

    kind = tvm.transform.PassContext
    instrument = tvm.instrument.pass_instrument(Watching)()
    own_enter, watched = kind.__enter__, list[tuple[Context, list[object]]]()

    def watch(context: Context) -> None:
        before = list(context.instruments or ())
        context.override_instruments([*before, instrument])
        watched.append((context, before))

    def enter(context: Context) -> object:
        entered: object = own_enter(context)
        if all(context is not watched_context for watched_context, _ in watched):
            watch(context)
        return entered

    watch(kind.current())
    kind.__enter__ = enter
    try:
        yield
    finally:
        kind.__enter__ = own_enter
        for context, before in watched:
            context.override_instruments(before)


class Schedule(Protocol):
    """A schedule of TVM."""

    mod: object
    trace: "TraceOf | None"


class TraceOf(Protocol):
    insts: Sequence[object]
    decisions: object


@dataclass(repr=False)
class WatchedPasses:
    """The result of `check_passes`, filled when the block has ended: a row of stages for each compiled module."""

    traces: list[PassTrace] = field(default_factory=list)
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
def check_passes(
    tvm: ModuleType,
    *,
    calls: int | None = None,
    seed: int = 0,
    assume: str | Collection[str] = (),
    prove: bool = False,
) -> Iterator[WatchedPasses]:
    """Watch the passes of `tvm` that run in the block, then compare each with the original module.

    `assume`: contracts that arguments satisfy (`oracle.contracts.language`), each of every module that has its names.
    `prove`: each stage is proved too (`StageRow.proof`), `proved.SECONDS` for each.
    Fails: `Inequivalent` naming the first pass that changes the meaning; RM112 where no pass was seen; RM504 where
    passes have changed modules, and nothing could be compared. `Watched.rows` says of every stage what was compared,
    unsupported ones among them.
    """
    watched, seen = WatchedPasses(), PassLog()
    with watching(tvm, seen):
        yield watched
    if not seen.passes:
        raise fail(BAD_USAGE, "no pass ran in the block")
    _survives(lambda _say: seen.rows(tvm), "the modules that the passes left")
    rows = seen.rows(tvm)
    contracts = _contracts([trace for trace, _constants in rows], assume)
    for (trace, constants), own in zip(rows, contracts, strict=True):
        watched.traces.append(trace)
        seconds = SECONDS if prove else 0.0
        watched.verdicts.append(check(trace, constants=constants, calls=calls, seed=seed, assume=own, prove=seconds))
        _raise(watched.verdicts[-1])
    _compared(watched.verdicts)


@entry_point
def check_schedule(
    tvm: ModuleType,
    schedule: Schedule,
    module: Program,
    *,
    calls: int | None = None,
    seed: int = 0,
    assume: str | Collection[str] = (),
    prove: bool = False,
) -> TraceCheck:
    """Hold each primitive of the trace of `schedule` to `module`, with which it began.

    `module` is one of TVM, or whatever `refmlc.frontends.programs` takes. TVM applies the primitives in a fork first:
    one that kills it is a finding. A step whose change of the meaning TVM documents (an epilogue that is not linear,
    fused into a reduction) is `documented`, and what follows is held to it. `assume`: contracts that arguments satisfy.
    `prove`: each primitive is proved too, at the sizes at hand (`StageRow.proof`), `proved.SECONDS` for each.
    Fails: `Inequivalent` naming the first that changes the meaning (RM705), or kills TVM (RM708); RM112 for a schedule
    without a trace, RM504 where nothing could be compared, RM903 where a call contradicts a proof.
    """
    if not (hasattr(schedule, "trace") and hasattr(schedule, "mod")):
        raise fail(BAD_USAGE, f"a TVM schedule is needed; this is {type(schedule).__name__}")
    if schedule.trace is None:
        raise fail(BAD_USAGE, "the schedule has no trace", None, "make it with `tvm.s_tir.Schedule(module)`")
    first = _module_of_tvm(tvm, module)
    trace = schedule.trace
    _survives(lambda say: _stages_of(tvm, trace, first, say), "")
    stages, constants = _stages_of(tvm, trace, first, lambda _words: None)
    permissions = permissions_of(stages)
    rows = assumed(assume, "assume")
    checked = check(
        PassTrace(stages),
        constants=constants,
        calls=calls,
        seed=seed,
        permissions=permissions,
        assume=rows,
        prove=SECONDS if prove else 0.0,
    )
    _raise(checked)
    _compared([checked])
    return checked


FORKED = 120.0  # seconds
REORDERING = ("Reorder", "ReorderBlockIterVar", "RFactor")
"""Primitives that permit another order of the terms of a reduction."""
EPILOGUE = "TVM documents it: an epilogue that is not linear is applied in every iteration"


def _survives(work: Callable[[Callable[[str], None]], object], where: str) -> None:
    """Try `work`, which is TVM's, in a fork. Fails: `Inequivalent` (RM708) if that dies."""
    death = death_of(work, FORKED)
    if death is not None:
        raise Inequivalent(Diagnostic(COMPILER_ERROR, f"TVM dies at {death.words or where}: {death.ended}"))


def _stages_of(
    tvm: ModuleType, trace: "TraceOf", first: Module, say: Callable[[str], None]
) -> tuple[tuple[Stage, ...], Constants]:
    """The module after each primitive of `trace`, and the values of constants; `say` learns what comes next."""
    names, modules = ["input"], [first]
    for count, instruction in enumerate(trace.insts, 1):
        names.append(f"{count}: {getattr(getattr(instruction, 'kind', None), 'name', 'a primitive')}")
        say(f"`{names[-1]}`")
        again = tvm.s_tir.Schedule(first)
        part = tvm.s_tir.schedule.Trace(trace.insts[:count], trace.decisions)
        part.apply_to_schedule(again, remove_postproc=False)
        modules.append(again.mod)
    say("the texts of the modules")
    scripts, constants = texts(tvm, modules)
    stages = [Stage("input", scripts[0])]
    for name, text in zip(names[1:], scripts[1:], strict=True):
        if text != stages[-1].text:
            stages.append(Stage(name, text))
    return tuple(stages), constants


def permissions_of(stages: Sequence[Stage]) -> Permissions:
    """What TVM's documentation permits of the primitives that these stages are named after."""
    documented = {stage.name: EPILOGUE for stage in stages if clips(stage)}
    return Permissions(documented, [stage.name for stage in stages if _is_reordering(stage.name)])


def _is_reordering(name: str) -> bool:
    """Whether `3: Reorder`, or `reorder('C', (1, 0))`, permits another order of the terms of a reduction."""
    primitive = name.partition("(")[0].rpartition(" ")[2].replace("_", "").lower()
    return primitive in {each.lower() for each in REORDERING}


def clips(stage: Stage) -> bool:
    """Whether the stage is a fused epilogue, and a reduction in it clips its sum in every iteration."""
    if not any(primitive in stage.name for primitive in ("FuseReductionEpilogue", "fuse_reduction_epilogue")):
        return False
    try:
        module = read(stage.text, stage.name)
    except RefmlcError:
        return False
    return any(
        isinstance(block, tir.SBlock)
        and any(axis.kind is IterKind.REDUCE for axis in block.iter_vars)
        and any(isinstance(store, tir.BufferStore) and _replaced_by_extreme(store) for store in walk(block.body))
        for function in module.functions.values()
        for block in walk(function)
    )


def _replaced_by_extreme(store: tir.BufferStore) -> bool:
    """Whether the value is an extreme of a sum with the element that it replaces."""
    if not isinstance(store.value, tir.Apply) or store.value.op not in ("max", "min"):
        return False
    sums = [node for node in walk(store.value) if isinstance(node, tir.Apply) and node.op == "add"]
    return any(isinstance(node, tir.BufferLoad) and node.buffer is store.buffer for each in sums for node in walk(each))


def _module_of_tvm(tvm: ModuleType, program: object) -> Module:
    """The module of TVM that `program` is: its own, or read by TVM from the text of ours."""
    if not isinstance(program, tvm.IRModule | tvm.tirx.PrimFunc):
        program = tvm.script.from_source(show(as_module(program), show_meta=True), check_well_formed=False)
    module: Module = tvm.s_tir.Schedule(program).mod
    return module


def _contracts(traces: Sequence[PassTrace], assume: str | Collection[str]) -> list[tuple[ArgumentContract, ...]]:
    """The contracts of each row of stages: those whose names its module has. Fails: RM112 for one that none has."""
    rows = assumed(assume, "assume")
    own = [tuple(row for row in rows if _is_of(row, trace)) for trace in traces]
    for row in rows:
        if not any(row in each for each in own):
            raise fail(BAD_USAGE, f"the contract `{row.text}` is of no module: no function has all of its names")
    return own


def _is_of(row: ArgumentContract, trace: PassTrace) -> bool:
    try:
        module = read(trace.stages[0].text, trace.stages[0].name)
    except RefmlcError:
        return False
    return any(applicable(module, name, [row]) for name in module.functions)


def _raise(checked: TraceCheck) -> None:
    for alarm in checked.alarms:
        raise error(alarm)
    if checked.broken is not None:
        broken, diagnostic = checked.broken, checked.broken.diagnostic
        does = "changes the meaning" if broken.func else "makes the module ill-formed"
        raise Inequivalent(replace(diagnostic, message=f"{broken.names} {does}: {diagnostic.message}"))


def _compared(checks: Sequence[TraceCheck]) -> None:
    """Decision: as with all assertions here, one that has tried nothing does not hold."""
    rows = [row for checked in checks for row in checked.rows]
    if rows and not any(row.is_known for row in rows):
        why = next((row.why for row in rows if row.why), "no function is called")
        raise fail(UNSUPPORTED_CONSTRUCT, f"nothing was compared: {why}")
