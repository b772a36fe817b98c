"""A search for a fast schedule: draw schedules of a function from a space, measure what each becomes, keep the best.

A space is a function that takes steps on a schedule, with `sample_…` where it leaves something open. `default_space`
has one for any function: producers are inlined, reductions tiled twice with their init taken out, outer loops parallel,
inner ones vectorised and unrolled; what is refused (RM504) is left out.

The first half of the trials draws anew. The second half changes one decision of one of the best traces, as TVM's
evolutionary search does, and draws anew where that is none of the possible ones. A program that was there already is
not measured again. Each is built as `refmlc.build` does, and its outputs on generated inputs are compared with those of
the function as it was, to the bit: one that differs is thrown away and told, as steps keep every bit.

The measure is the least of some runs, on the CPU, whatever the target. Decision: the search ends at the limit of time,
when no new program was drawn in 32 trials, or at the number of trials; a run that takes twice the best is not repeated.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from time import perf_counter

import numpy as np

from refmlc.diag import RefmlcError, fail
from refmlc.diag.catalogue import BAD_USAGE
from refmlc.lang.dtypes.storage import storage_dtype
from refmlc.lang.ir import IRModule, tir
from refmlc.lang.ir.kinds import IterKind
from refmlc.lang.ir.visit import walk
from refmlc.rewrite.schedule import BlockRV, LoopRV, Schedule, get_block
from refmlc.rewrite.schedule.trace import Trace
from refmlc.tvm.arrays import tensor
from refmlc.vm import VirtualMachine, build

MAIN = "main"
RUNS = 3
STALE = 32  # trials without a new program, after which the space is taken as exhausted
Space = Callable[[Schedule], object]


@dataclass(frozen=True)
class Record:
    """A schedule that was measured. Units: seconds."""

    schedule: Schedule
    seconds: float

    @property
    def trace(self) -> Trace:
        """The steps that lead to it, with what was drawn."""
        return self.schedule.trace


@dataclass
class Search:
    """What a search measured, the best first, and how many trials led to no new program or to a wrong one."""

    records: list[Record] = field(default_factory=list)
    repeated: int = 0
    refused: int = 0
    wrong: int = 0


@dataclass(frozen=True)
class Limits:
    """The end of a search."""

    trials: int = 64
    seconds: float = 30.0


def search(module: IRModule, space: Space, limits: Limits, seed: int | None = None) -> Search:
    """Search a space for the fastest schedule of `main`. Fails: RM112 where that has no constant shapes."""
    random = Random(seed)  # noqa: S311 - a search for fast schedules
    args = _inputs(module, random)
    start = perf_counter()
    wanted = _outputs(module, args)
    result, seen, stale = Search(), set[str](), 0
    for trial in range(limits.trials):
        if perf_counter() - start > limits.seconds or stale >= STALE:
            break
        schedule = _candidate(module, space, result.records if trial >= limits.trials // 2 else [], random)
        if schedule is None:
            result.refused += 1
            stale += 1
            continue
        text = schedule.mod.script()
        if text in seen:
            result.repeated += 1
            stale += 1
            continue
        stale = 0
        seen.add(text)
        best = result.records[0].seconds if result.records else float("inf")
        seconds = _measured(schedule.mod, args, wanted, best)
        if seconds is None:
            result.wrong += 1
            continue
        result.records.append(Record(schedule, seconds))
        result.records.sort(key=lambda record: record.seconds)
    return result


def _candidate(module: IRModule, space: Space, best: Sequence[Record], random: Random) -> Schedule | None:
    """A schedule that is drawn, or one of the best with one decision drawn anew; None where its steps are refused."""
    schedule = Schedule(module, seed=random.randrange(1 << 31))
    decisions = best[0].trace.decisions if best else {}
    try:
        if decisions:
            trace = random.choice(best[: max(1, len(best) // 4)]).trace
            changed = random.choice(list(trace.decisions))
            trace.with_decisions({changed: None}).apply_to_schedule(schedule)
            return schedule
    except RefmlcError:
        schedule = Schedule(module, seed=random.randrange(1 << 31))
    try:
        space(schedule)
    except RefmlcError:
        return None
    return schedule


def _inputs(module: IRModule, random: Random) -> list[np.ndarray]:
    func = module.functions.get(MAIN)
    if not isinstance(func, tir.PrimFunc):
        raise fail(BAD_USAGE, f"a search takes a module with a TensorIR function `{MAIN}`")
    generator = np.random.default_rng(random.randrange(1 << 31))
    arrays = []
    for param in func.params:
        buffer = func.buffer_map.get(param)
        shape = [size.value for size in buffer.shape if isinstance(size, tir.IntImm)] if buffer else []
        if buffer is None or len(shape) != len(buffer.shape):
            raise fail(BAD_USAGE, f"a search takes constant shapes; `{param.name}` has none", func.span)
        drawn = generator.random(shape) if buffer.dtype.is_float else generator.integers(0, 8, shape)
        arrays.append(drawn.astype(storage_dtype(buffer.dtype)))
    return arrays


def _call(main: Callable[..., object], args: Sequence[np.ndarray]) -> tuple[float, list[bytes]]:
    tensors = [tensor(array.copy()) for array in args]
    start = perf_counter()
    main(*tensors)
    return perf_counter() - start, [tensor.numpy().tobytes() for tensor in tensors]


def _outputs(module: IRModule, args: Sequence[np.ndarray]) -> list[bytes]:
    return _call(VirtualMachine(build(module))[MAIN], args)[1]


def _measured(module: IRModule, args: Sequence[np.ndarray], wanted: list[bytes], best: float) -> float | None:
    """The least time of some calls; None where the outputs are other ones."""
    main = VirtualMachine(build(module))[MAIN]
    least = float("inf")
    for number in range(RUNS + 1):  # the first call is the one that compiles
        seconds, outputs = _call(main, args)
        if outputs != wanted:
            return None
        least = min(least, seconds)
        if number and seconds > 2 * best:
            break
    return least


# ---------------------------------------------------------------------------------------------------- the default space


def default_space(*, parallel: bool = True) -> Space:
    """The space for a function of which nothing is known; `parallel`: outer loops may be executed at the same time."""

    def draw(schedule: Schedule) -> None:
        for name in _blocks(schedule):
            if _is_reduction(schedule, name):
                _tile(schedule, schedule.get_block(name), parallel=parallel)
            elif not _taken(lambda name=name: schedule.compute_inline(name)):  # type: ignore[misc]
                _vectorize(schedule, schedule.get_block(name))

    return draw


def _main(schedule: Schedule) -> tir.PrimFunc:
    func = schedule.mod.functions[MAIN]
    assert isinstance(func, tir.PrimFunc)  # noqa: S101 - `search` refuses others
    return func


def _blocks(schedule: Schedule) -> list[str]:
    return [node.name for node in walk(_main(schedule)) if isinstance(node, tir.SBlock) and node.iter_vars]


def _is_reduction(schedule: Schedule, name: str) -> bool:
    block = get_block(_main(schedule), name).block
    return block.init is not None and any(axis.kind is IterKind.REDUCE for axis in block.iter_vars)


def _tile(schedule: Schedule, block: BlockRV, *, parallel: bool) -> None:
    """Spatial loops in three, reductions in two; the init before the reduction."""
    loops = schedule.get_loops(block)
    reduced = {loop for loop in loops if _reduces(schedule, block, loop)}
    spatial: list[list[LoopRV]] = []
    reduction: list[list[LoopRV]] = []
    for loop in loops:
        factors = schedule.sample_perfect_tile(loop, 2 if loop in reduced else 3, 64)
        (reduction if loop in reduced else spatial).append(schedule.split(loop, factors))
    order = [part[0] for part in spatial] + [part[1] for part in spatial]
    order += [part[0] for part in reduction] + [part[1] for part in reduction] + [part[2] for part in spatial]
    _taken(lambda: schedule.reorder(*order))
    _taken(lambda: schedule.unroll(reduction[-1][1]))
    if spatial:
        _taken(lambda: schedule.vectorize(spatial[-1][2]))
        if parallel:
            _taken(lambda: schedule.parallel(schedule.fuse(*(part[0] for part in spatial))))
    _taken(lambda: schedule.decompose_reduction(block, reduction[0][0]))


def _reduces(schedule: Schedule, block: BlockRV, loop: LoopRV) -> bool:
    """Whether an axis that is reduced is bound to a loop."""
    realize = get_block(_main(schedule), block.name)
    pairs = zip(realize.block.iter_vars, realize.iter_values, strict=True)
    return any(axis.kind is IterKind.REDUCE and loop.var in set(walk(value)) for axis, value in pairs)


def _vectorize(schedule: Schedule, block: BlockRV) -> None:
    loops = schedule.get_loops(block)
    if loops:
        _, inner = schedule.split(loops[-1], schedule.sample_perfect_tile(loops[-1], 2, 64))
        _taken(lambda: schedule.vectorize(inner))


def _taken(step: Callable[[], object]) -> bool:
    """Take a step where it is legal."""
    try:
        step()
    except RefmlcError:
        return False
    return True
