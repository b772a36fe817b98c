"""Orders of passes, drawn: a pure function of the settings and the number of a program.

The rows of `pass_table` take turns: program n is for one of them, its focus. It is aimed at it, or generated.

| how often all rows had their turn | the program                    | the order                                 |
|-----------------------------------|--------------------------------|-------------------------------------------|
| an even number                    | one that is aimed at the focus | what must stand before, and the focus     |
| 1, 5, 9, …                        | one that is aimed at the focus | one to four others besides, each in place |
| 3, 7, 11, …                       | a generated one                | one to four others besides                |
"""

from collections.abc import Sequence
from dataclasses import dataclass

from refmlc.lang.ir import IRModule
from refmlc.lang.script import show
from refmlc.oracle.fuzz.exclusions import exclusions, is_excluded
from refmlc.oracle.fuzz.settings import CampaignSettings
from refmlc.oracle.fuzz.subjects.passes import programs
from refmlc.oracle.fuzz.subjects.passes.pass_table import FAMILIES, RELAX, Pass, PassFamily
from refmlc.oracle.passes.baseline import lifted
from refmlc.strategies.choices import SeededChoices
from refmlc.strategies.functions import rolled
from refmlc.strategies.modules import rolled_module
from refmlc.strategies.operators.program import rolled_operators

UNREAD = ("narrow-floats", "bfloat16", "packed", "views", "threads", "ret")  # TVM's parser refuses many of them
ATTEMPTS = 32
OTHERS = 4
Steps = tuple[str, ...]


@dataclass(frozen=True)
class DrawnOrder:
    """A program and passes. `focus`: the one that it is for."""

    text: str
    steps: Steps
    focus: str


def name_of(step: str) -> str:
    """The name of the pass that a step spells."""
    return step.partition("(")[0]


def drawn_order(settings: CampaignSettings, number: int, turn: int) -> DrawnOrder:
    """The program and the order of program `number`, which is the campaign's `turn`-th of this kind."""
    rows = [(family, row) for family in FAMILIES for row in drawn_rows(family, settings.exclude)]
    family, focus = rows[turn % len(rows)]
    round_number = turn // len(rows)
    choices = SeededChoices(f"passes {settings.seed_of(number)}")
    alone = round_number % 2 == 0
    steps = order(choices, family, focus, 0 if alone else 1 + choices.below(OTHERS), settings.exclude)
    if round_number % 4 == 3:
        return DrawnOrder(generated(settings, number, family, steps), steps, focus.name)
    return DrawnOrder(aimed(family, focus, round_number - round_number // 4), steps, focus.name)


def drawn_rows(family: PassFamily, exclude: Sequence[str]) -> list[Pass]:
    """The rows of a family that are drawn: none that is excluded, or needs one that is."""
    return [row for row in family.passes if {row.name, *row.after}.isdisjoint(exclude)]


def aimed(family: PassFamily, focus: Pass, turn: int) -> str:
    """A program that is aimed at `focus`: they take turns."""
    head, table = (programs.MODULE, programs.RELAX) if family is RELAX else (programs.FUNCTION, programs.TENSORIR)
    names = [name for name in table if name.startswith(focus.aims)] or list(table)
    return head + table[names[turn % len(names)]].lstrip("\n")


def generated(settings: CampaignSettings, number: int, family: PassFamily, steps: Steps = ()) -> str:
    """A generated program without what TVM does not read.

    Operators on values at the edges are for the passes before they are lowered: how TVM lowers each is known.
    """
    exclude = exclusions((*settings.exclude, *UNREAD), settings.implementations)
    modules = (_generated(settings.seed_of(number, attempt), family, steps) for attempt in range(ATTEMPTS))
    fallback = next(iter(programs.RELAX if family is RELAX else programs.TENSORIR))
    module = next((module for module in modules if not is_excluded(module, exclude)), None)
    if module is None:
        return aimed(family, Pass("", 0, 0, aims=(fallback,)), 0)
    return show(lifted(module)[0], show_meta=True)


def _generated(seed: int, family: PassFamily, steps: Steps) -> IRModule:
    if family is RELAX:
        lowered = any(step.startswith("relax.LegalizeOps") for step in steps)
        return (rolled_module(seed, "") if lowered or seed % 2 else rolled_operators(seed)).module
    return rolled(seed, "", small=seed % 4 > 0).module


def order(choices: SeededChoices, family: PassFamily, focus: Pass, count: int, exclude: Sequence[str] = ()) -> Steps:
    """An order with `focus` and `count` other passes, all where they may stand.

    Alone, the focus is the last; with others, they end at a rung that is drawn.
    """
    others = [row for row in drawn_rows(family, exclude) if row is not focus]
    chosen = [focus]
    last = focus.low + choices.below(focus.high - focus.low + 1)
    if count:
        last += choices.below(len(family.ladder) - last + 1)
        fitting = [row for row in others if row.low <= last]
        chosen += [fitting.pop(choices.below(len(fitting))) for _ in range(min(count, len(fitting)))]
    placed = [(row, last if not count else _rung(choices, row, last)) for row in chosen]
    placed = [*placed, *_required(family, placed)]
    steps: list[str] = []
    for rung in range(last + 1):
        lowering = family.ladder[rung] if rung < len(family.ladder) else ()
        rows = [row for row, at in placed if at == rung]
        steps += [
            step_of(choices, row) for row in _in_order(choices, [row for row in rows if row.name not in lowering])
        ]
        names = lowering if rung < last else [name for name in lowering if any(row.name == name for row in rows)]
        steps += [f"{name}()" for name in names]
    return tuple(dict.fromkeys(steps))


def _rung(choices: SeededChoices, row: Pass, last: int) -> int:
    high = min(row.high, last)
    return row.low + choices.below(high - row.low + 1)


def _required(family: PassFamily, placed: Sequence[tuple[Pass, int]]) -> list[tuple[Pass, int]]:
    """What must stand before those that are placed, and does not yet."""
    names = {row.name for row, _ in placed}
    missing: dict[str, int] = {}
    for row, at in placed:
        for name in row.after:
            if name not in names:
                missing[name] = min(at, missing.get(name, at))
    return [(row, missing[row.name]) for row in family.passes if row.name in missing]


def _in_order(choices: SeededChoices, rows: list[Pass]) -> list[Pass]:
    """The rows in a random order, in which each is behind what it needs."""
    shuffled: list[Pass] = []
    while rows:
        names = {row.name for row in rows}
        free = [row for row in rows if names.isdisjoint(row.after)]
        shuffled.append(free[choices.below(len(free))])
        rows = [row for row in rows if row is not shuffled[-1]]
    return shuffled


def step_of(choices: SeededChoices, row: Pass) -> str:
    """The pass with options that are drawn, as it is spelled."""
    return f"{row.name}({row.options[choices.below(len(row.options))]})"


def is_legal(steps: Sequence[str]) -> bool:
    """Whether each pass stands where it may: used when steps are taken out of an order."""
    family = next((each for each in FAMILIES if any(_row(each, step) for step in steps)), None)
    if family is None:
        return not steps
    done: set[str] = set()
    for step in steps:
        row = _row(family, step)
        rung = next((at for at, names in enumerate(family.ladder) if not done.issuperset(names)), len(family.ladder))
        is_rung = rung < len(family.ladder) and name_of(step) in family.ladder[rung]
        if not is_rung and (row is None or not row.low <= rung <= row.high or not done.issuperset(row.after)):
            return False
        done.add(name_of(step))
    return True


def _row(family: PassFamily, step: str) -> Pass | None:
    return next((row for row in family.passes if row.name == name_of(step)), None)
