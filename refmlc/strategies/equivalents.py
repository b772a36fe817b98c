"""Functions that must mean the same as a given one: a few steps of `refmlc.rewrite.schedule` and of `rewrites`.

A step is drawn with a target (a loop, a block). Refused steps are left out, so that the result is legal. The trace
lists the steps: `split i0 by 3; reorder i1, i0_0`.

`rolled_schedules(func, seed)` gives some from a seed, `schedules(func)` is the strategy of Hypothesis.
"""

from typing import NamedTuple

from refmlc.diag.errors import Malformed, Unsupported
from refmlc.lang.ir import tir
from refmlc.lang.ir.node import Printer
from refmlc.lang.script import show
from refmlc.rewrite.schedule import DRAWS, tensorize
from refmlc.rewrite.schedule.draws import Choices as Source, Draw, loops
from refmlc.strategies.choices import Choices, SeededChoices
from refmlc.strategies.rewrites import REWRITES
from refmlc.strategies.tiles import intrinsic_of


class Equivalent(NamedTuple):
    """A function that must mean the same as another one, and the steps from that one to it."""

    trace: str
    func: tir.PrimFunc

    def __repr__(self) -> str:
        return f"<Equivalent {self.trace or 'no step'}: {self.func!r}>"

    def __str__(self) -> str:
        return f"{self.trace or 'no step'}\n{show(self.func)}"

    def _repr_pretty_(self, printer: Printer, _cycle: bool) -> None:
        """The text that Hypothesis prints for a drawn value."""
        printer.text(str(self))


ATTEMPTS = 12  # at a step: most targets do not suit most steps


def _tensorize(func: tir.PrimFunc, choices: Source) -> tuple[str, tir.PrimFunc] | None:
    loop, unrolled = choices.pick(loops(func)).loop_var, choices.chance(50)
    intrin = intrinsic_of(func, loop, unrolled=unrolled)
    if intrin is None:
        return None
    return f"tensorize {loop.name}{' unrolled' * unrolled}", tensorize(func, loop, intrin)[0]


STEPS: tuple[Draw, ...] = (*DRAWS.values(), _tensorize)
"""The steps of schedules; `tensorize` is here because it needs an intrinsic for the function (`tiles`)."""


def _draw_step(func: tir.PrimFunc, choices: Choices) -> tuple[str, tir.PrimFunc] | None:
    """One step, or None if the drawn step does not apply."""
    number = choices.below(len(STEPS) + len(REWRITES))
    try:
        if number < len(STEPS):
            return STEPS[number](func, choices)
        name, rewrite = REWRITES[number - len(STEPS)]
        rewritten = rewrite(func, choices)
    except (Unsupported, Malformed, IndexError):
        return None  # refused, no such target, or nothing to choose from
    return None if rewritten is None else (name, rewritten)


def draw_equivalent(func: tir.PrimFunc, choices: Choices, steps: int = 3) -> Equivalent:
    """The function after up to `steps` steps, and their trace, which is empty if none applies."""
    trace: list[str] = []
    for _ in range(1 + choices.below(steps)):
        for _attempt in range(ATTEMPTS):
            step = _draw_step(func, choices)
            if step is not None:
                trace.append(step[0])
                func = step[1]
                break
    return Equivalent("; ".join(trace), func)


def rolled_schedules(func: tir.PrimFunc, seed: int, count: int = 4, steps: int = 3) -> list[Equivalent]:
    """Up to `count` functions that must mean the same, each with its trace; the same ones for a seed."""
    equivalents = [draw_equivalent(func, SeededChoices(f"{seed}/{number}"), steps) for number in range(count)]
    return [equivalent for equivalent in equivalents if equivalent.trace]
