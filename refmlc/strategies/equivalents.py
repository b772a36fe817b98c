"""Functions that must mean the same as a given one: a few steps of `refmlc.rewrite.schedule` and of `rewrites`.

A step is drawn with a target (a loop, a block); one that is refused is left out, so that what remains is legal. The
trace says which steps were taken: `split i0 by 3; reorder i1, i0_0`.

`rolled_schedules(func, seed)` gives some from a seed, `schedules(func)` is the strategy of Hypothesis.
"""

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from refmlc.diag.errors import Malformed, Unsupported
from refmlc.lang.ir import tir
from refmlc.lang.ir.node import Printer
from refmlc.lang.script import show
from refmlc.rewrite import schedule
from refmlc.rewrite.schedule.places import places
from refmlc.strategies.choices import Choices, Rolled
from refmlc.strategies.rewrites import REWRITES
from refmlc.strategies.tiles import intrinsic_of


class Equivalent(NamedTuple):
    """A function that must mean the same as another one, and the steps that lead from that to it."""

    trace: str
    func: tir.PrimFunc

    def __repr__(self) -> str:
        return f"<Equivalent {self.trace or 'no step'}: {self.func!r}>"

    def __str__(self) -> str:
        """The steps, and the function as TVMScript."""
        return f"{self.trace or 'no step'}\n{show(self.func)}"

    def _repr_pretty_(self, printer: Printer, _cycle: bool) -> None:
        """The text, where Hypothesis prints what it has drawn."""
        printer.text(str(self))


Step: TypeAlias = "Callable[[tir.PrimFunc, Choices], tuple[str, tir.PrimFunc] | None]"
ATTEMPTS = 12  # at a step, before it is given up: most targets do not suit most steps


def _loops(func: tir.PrimFunc) -> list[tir.For]:
    return [place.stmt for place in places(func.body) if isinstance(place.stmt, tir.For)]


def _blocks(func: tir.PrimFunc) -> list[str]:
    names = [place.stmt.block.name for place in places(func.body) if isinstance(place.stmt, tir.SBlockRealize)]
    return [name for name in names if name != "root" and names.count(name) == 1]


def _split(func: tir.PrimFunc, choices: Choices) -> tuple[str, tir.PrimFunc] | None:
    loop = choices.pick(_loops(func)).loop_var
    factors = choices.pick(((2,), (3,), (4,), (8,), (2, 2), (1,)))
    return f"split {loop.name} by {', '.join(map(str, factors))}", schedule.split(func, loop, (None, *factors))[0]


def _fuse(func: tir.PrimFunc, choices: Choices) -> tuple[str, tir.PrimFunc] | None:
    pairs = [(one.loop_var, one.body.loop_var) for one in _loops(func) if isinstance(one.body, tir.For)]
    if not pairs:
        return None
    outer, inner = choices.pick(pairs)
    return f"fuse {outer.name}, {inner.name}", schedule.fuse(func, outer, inner)[0]


def _reorder(func: tir.PrimFunc, choices: Choices) -> tuple[str, tir.PrimFunc] | None:
    loop: tir.Stmt = choices.pick(_loops(func))
    chain: list[tir.Var] = []
    while isinstance(loop, tir.For):
        chain.append(loop.loop_var)
        loop = loop.body
    order = choices.permutation(chain)
    if len(chain) < 2 or order == chain:
        return None
    return f"reorder {', '.join(one.name for one in order)}", schedule.reorder(func, order)


def _of_kind(name: str, step: Callable[[tir.PrimFunc, tir.Var], tir.PrimFunc]) -> Step:
    def apply(func: tir.PrimFunc, choices: Choices) -> tuple[str, tir.PrimFunc] | None:
        loop = choices.pick(_loops(func)).loop_var
        return f"{name} {loop.name}", step(func, loop)

    return apply


def _of_block(name: str, step: Callable[[tir.PrimFunc, str], tir.PrimFunc]) -> Step:
    def apply(func: tir.PrimFunc, choices: Choices) -> tuple[str, tir.PrimFunc] | None:
        block = choices.pick(_blocks(func))
        return f"{name} {block}", step(func, block)

    return apply


def _cache_read(func: tir.PrimFunc, choices: Choices) -> tuple[str, tir.PrimFunc] | None:
    block, buffer = choices.pick(_blocks(func)), choices.pick([*func.buffer_map.values()])
    return f"cache_read {block}, {buffer.name}", schedule.cache_read(func, block, buffer)


def _decompose(func: tir.PrimFunc, choices: Choices) -> tuple[str, tir.PrimFunc] | None:
    block = choices.pick(_blocks(func))
    loop = choices.pick(schedule.get_loops(func, block))
    return f"decompose_reduction {block} at {loop.name}", schedule.decompose_reduction(func, block, loop)


def _blockize(func: tir.PrimFunc, choices: Choices) -> tuple[str, tir.PrimFunc] | None:
    loop = choices.pick(_loops(func)).loop_var
    return f"blockize {loop.name}", schedule.blockize(func, loop)[0]


def _tensorize(func: tir.PrimFunc, choices: Choices) -> tuple[str, tir.PrimFunc] | None:
    loop, unrolled = choices.pick(_loops(func)).loop_var, choices.chance(50)
    intrin = intrinsic_of(func, loop, unrolled=unrolled)
    if intrin is None:
        return None
    return f"tensorize {loop.name}{' unrolled' * unrolled}", schedule.tensorize(func, loop, intrin)[0]


def _moved(name: str, step: Callable[..., tir.PrimFunc]) -> Step:
    def apply(func: tir.PrimFunc, choices: Choices) -> tuple[str, tir.PrimFunc] | None:
        block, unit = choices.pick(_blocks(func)), choices.chance(50)
        loop = choices.pick(_loops(func)).loop_var
        kept = " preserve_unit_loops" * unit
        return f"{name} {block} at {loop.name}{kept}", step(func, block, loop, preserve_unit_loops=unit)

    return apply


def _rfactor(func: tir.PrimFunc, choices: Choices) -> tuple[str, tir.PrimFunc] | None:
    block = choices.pick(_blocks(func))
    loop = choices.pick(schedule.get_loops(func, block))
    return f"rfactor {block} by {loop.name}", schedule.rfactor(func, block, loop)[0]


STEPS: tuple[tuple[str, Step], ...] = (
    ("split", _split),
    ("fuse", _fuse),
    ("reorder", _reorder),
    ("unroll", _of_kind("unroll", schedule.unroll)),
    ("vectorize", _of_kind("vectorize", schedule.vectorize)),
    ("parallel", _of_kind("parallel", schedule.parallel)),
    ("drop_unit_loop", _of_kind("drop_unit_loop", schedule.drop_unit_loop)),
    ("add_unit_loop", _of_block("add_unit_loop", lambda func, block: schedule.add_unit_loop(func, block)[0])),
    ("compute_inline", _of_block("compute_inline", schedule.compute_inline)),
    ("cache_write", _of_block("cache_write", schedule.cache_write)),
    ("cache_read", _cache_read),
    ("decompose_reduction", _decompose),
    ("reverse_compute_inline", _of_block("reverse_compute_inline", schedule.reverse_compute_inline)),
    ("compute_at", _moved("compute_at", schedule.compute_at)),
    ("reverse_compute_at", _moved("reverse_compute_at", schedule.reverse_compute_at)),
    ("rfactor", _rfactor),
    ("blockize", _blockize),
    ("tensorize", _tensorize),
)


def _stepped(func: tir.PrimFunc, choices: Choices) -> tuple[str, tir.PrimFunc] | None:
    """One step, or None where what was drawn is not to be had."""
    number = choices.below(len(STEPS) + len(REWRITES))
    try:
        if number < len(STEPS):
            return STEPS[number][1](func, choices)
        name, rewrite = REWRITES[number - len(STEPS)]
        changed = rewrite(func, choices)
    except (Unsupported, Malformed, IndexError):
        return None  # refused, no such target, or nothing to choose from
    return None if changed is None else (name, changed)


def scheduled(func: tir.PrimFunc, choices: Choices, steps: int = 3) -> Equivalent:
    """The function after up to `steps` steps, and their trace; the trace is empty where none could be taken."""
    trace: list[str] = []
    for _ in range(1 + choices.below(steps)):
        for _attempt in range(ATTEMPTS):
            found = _stepped(func, choices)
            if found is not None:
                trace.append(found[0])
                func = found[1]
                break
    return Equivalent("; ".join(trace), func)


def rolled_schedules(func: tir.PrimFunc, seed: int, count: int = 4, steps: int = 3) -> list[Equivalent]:
    """Up to `count` functions that must mean the same, each with the trace of its steps. Order: the same for a seed."""
    found = [scheduled(func, Rolled(f"{seed}/{number}"), steps) for number in range(count)]
    return [one for one in found if one.trace]
