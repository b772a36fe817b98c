"""Records the trace of a program: in one run, or in two where there are too many events to keep them all.

Both runs execute functions from outside; only the first one prints the program's output.
"""

from collections.abc import Callable, Collection

from refmlc.debug.program import Program
from refmlc.debug.trace.events import MAX_EVENTS, Trace
from refmlc.debug.trace.full_recorder import FullRecorder
from refmlc.debug.trace.recorder import TraceRecorder
from refmlc.debug.trace.sampled_recorder import SampledRecorder, Sampling
from refmlc.diag import Diagnostic, RefmlcError, fail
from refmlc.diag.catalogue import BAD_USAGE
from refmlc.lang.drawing import graph_of, svg_of
from refmlc.lang.ir import relax
from refmlc.lang.ir.visit import walk
from refmlc.native.tier.native_module import NativeModule
from refmlc.native.tier.tier_switch import TierSwitch
from refmlc.observe.copies import copies
from refmlc.run.interp.machine import Machine
from refmlc.run.interp.substitutes import Prepared
from refmlc.run.memory.budget import Budget


class UnwatchedCalls:
    """Executes calls outside of `only`: in C, or by an interpreter without hooks."""

    def __init__(self, program: Program, budget: Budget, output: Callable[[str], object]) -> None:
        self._native = TierSwitch(NativeModule(program.module, "cr"), budget, waits=True)
        self._plain = Machine(program.module, budget=budget, registry=program.registry, output=output)

    def function(self, name: str, interpreted: Callable[[], Prepared]) -> Prepared:
        """The prim_func `name`, unwatched."""
        del interpreted
        return self._native.function(name, lambda: self._plain.function(name))

    def block(self, function: str, block: relax.Block) -> None:
        """Bindings are executed one by one."""
        del function, block


def record(program: Program, *, max_events: int = MAX_EVENTS, only: Collection[str] = ()) -> Trace:
    """The trace of a run; a failure is part of it. Order: that of execution.

    `only`: functions and Relax variables; other calls are executed in C where possible, unwatched. Fails: RM112 (`only`
    has an unknown name).
    """
    names = frozenset(only)
    _check(program, names)
    recorder = FullRecorder(program.module, program.func, max_events, names)
    trace = _run(program, recorder, program.output, names)
    trace.counts = recorder.counts
    if recorder.over:
        trace = _sampled(program, max_events, recorder, names)
    for name, function in program.module.functions.items():
        if isinstance(function, relax.Function):
            graph = graph_of(function, name)
            trace.graphs[name] = svg_of(graph)
            trace.boxes[name] = [_variable(box.kind, box.title, box.lines) for box in graph.boxes]
    trace.sources = {name: source.text for name, source in program.sources.items()}
    return trace


def _check(program: Program, only: frozenset[str]) -> None:
    functions = program.module.functions
    variables = {
        node.var.name
        for function in functions.values()
        if isinstance(function, relax.Function)
        for node in walk(function)
        if isinstance(node, relax.VarBinding | relax.MatchCast)
    }
    for name in only - variables - set(functions):
        raise fail(BAD_USAGE, f"no function and no variable is named `{name}`", None, ", ".join(sorted(functions)))


def _variable(kind: str, title: str, lines: tuple[str, ...]) -> str:
    return title if kind == "param" else lines[0] if kind == "call" and lines else ""


def _sampled(program: Program, most: int, full_recorder: FullRecorder, only: frozenset[str]) -> Trace:
    """Keep one unit in `stride`, so that the trace fits; repeat the run while too many loops are around the units."""
    first = full_recorder.trace
    units = frozenset((full_recorder.nan_unit, full_recorder.inf_unit, full_recorder.unit))
    stride = max(2, -(-3 * first.total // (2 * most)))  # a kept unit brings loops that others would have shared
    while True:
        recorder = SampledRecorder(program.module, program.func, most, Sampling(stride, units), only)
        trace = _run(program, recorder, _silent, only)
        if recorder.cut is None or stride > full_recorder.unit:
            break
        stride = max(stride + 1, -(-stride * first.total // max(1, recorder.cut)))
    trace.cut = recorder.cut
    if (trace.total, _code(trace)) != (first.total, _code(first)):
        trace.notes.append("the program behaved differently in its second run: steps and counts are those of the first")
    trace.counts, trace.total = first.counts, first.total
    trace.first_nan, trace.first_inf = first.first_nan, first.first_inf
    return trace


def _code(trace: Trace) -> str:
    return "" if trace.failure is None else trace.failure.code.id


def _run(program: Program, recorder: TraceRecorder, output: Callable[[str], object], only: frozenset[str]) -> Trace:
    budget = Budget(max_steps=program.max_steps) if program.max_steps else Budget()
    machine = Machine(
        program.module, hooks=recorder, budget=budget, registry=program.registry, output=output,
        substitutes=UnwatchedCalls(program, budget, output) if only else None,
    )  # fmt: skip
    recorder.trace.failure = _failure(machine, program)
    return recorder.finish()


def _failure(machine: Machine, program: Program) -> Diagnostic | None:
    try:
        machine.call(program.func, copies(program.args))
    except RefmlcError as failure:
        return failure.diagnostic
    return None


def _silent(text: str) -> None:
    """Drop the output: the first run has printed it."""
