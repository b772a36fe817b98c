"""What comes first: the init of a block before any instance that reads the element it sets.

An instance is a point of the loops around the block. Those that the reduction axes are bound to are R, the others S.
For one point of S the instance with every R loop at its first value is executed before all others, and has an init,
if all of this is proved:

| what                                                        | why                                             |
|-------------------------------------------------------------|-------------------------------------------------|
| reduction axes are at the start of their domain there       | so it does init                                 |
| from the outermost R loop inwards, no extent or start of a loop names an R variable | so that point is visited |
| … each condition names none, or is weaker there              | so nothing skips it                             |
| the buffer is not allocated there                           | so what init sets is still there                |
| the element that init sets names no R variable              | so it is the same element                       |
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias

from refmlc.lang.arith.polynomial import Poly, variables
from refmlc.lang.ir import tir
from refmlc.lang.ir.kinds import IterKind
from refmlc.lang.ir.visit import walk
from refmlc.native.analysis.boxes import Box, Loop
from refmlc.native.analysis.facts import Facts
from refmlc.native.analysis.knowledge import mentions


class Guard(NamedTuple):
    """A condition around the place.

    `names` are the variables that decide it; None: it is not of variables only. `parts` are not negative exactly
    where it holds; None: it is no such condition.
    """

    names: frozenset[tir.Var] | None
    parts: tuple[Poly, ...] | None = None


class Fresh(NamedTuple):
    """An allocation before the place."""

    buffer: tir.Buffer


class Local(NamedTuple):
    """A variable that is bound to a value without canonical form: it may be another one each time."""

    var: tir.Var


Step: TypeAlias = Loop | Guard | Fresh | Local


@dataclass(frozen=True, slots=True)
class Path:
    """A place: what is known there, and what is around and before it, outermost first."""

    facts: Facts
    steps: tuple[Step, ...] = ()

    def with_facts(self, facts: Facts) -> "Path":
        """The same place with other facts."""
        return replace(self, facts=facts)

    def to(self, *steps: Step) -> "Path":
        """The place after these further steps."""
        return replace(self, steps=(*self.steps, *steps))

    def guarded(self, condition: tir.Expr) -> "Path":
        """The place inside of `condition`."""
        return self.to(Guard(names_in(self.facts, condition), self.facts.in_full(condition)))

    def bind(self, var: tir.Var, facts: Facts) -> "Path":
        """Where `var` has a value, known by `facts`."""
        form = facts.form(var)
        is_local = form is None or mentions(form, var)
        return Path(facts, (*self.steps, Local(var)) if is_local else self.steps)


@dataclass(frozen=True, slots=True)
class Start:
    """The init comes first, for elements that do not name `changing` variables, of buffers that are not `fresh`."""

    changing: frozenset[tir.Var]
    fresh: frozenset[tir.Buffer]

    def keeps(self, buffer: tir.Buffer, box: Box) -> bool:
        """Whether what init wrote is there in every instance."""
        names = {var for span in box for form in span for var in variables(form)}
        return buffer not in self.fresh and self.changing.isdisjoint(names)


def find_start(path: Path, block: tir.SBlock) -> Start | None:
    """Whether init comes first in `block`, whose axes are bound at `path`; None: not proved."""
    reductions = [axis for axis in block.iter_vars if axis.kind is IterKind.REDUCE]
    forms = [path.facts.form(axis.var) for axis in reductions]
    names = frozenset(var for form in forms if form is not None for var in variables(form))
    point = None if None in forms else find_first(path, names)
    if point is None:
        return None
    start, first = point
    for axis, form in zip(reductions, forms, strict=True):
        least = path.facts.form(axis.dom.min)
        if form is None or least is None or not start.changing.isdisjoint(variables(least)):
            return None
        if not (start.changing - set(first)).isdisjoint(variables(form)) or path.facts.with_value(form, first) != least:
            return None
    return start


def find_first(path: Path, names: frozenset[tir.Var]) -> tuple[Start, Mapping[tir.Var, Poly]] | None:
    """The first values of the loops over `names` around `path`, if that point is executed before all others; else None.

    It is one point for each of the other loops; `Start` says what is there later of what was written at it.
    """
    loops = [step.var for step in path.steps if isinstance(step, Loop)]
    if len(set(loops)) != len(loops):
        return None
    outermost = next((at for at, step in enumerate(path.steps) if isinstance(step, Loop) and step.var in names), None)
    inner = () if outermost is None else path.steps[outermost:]
    moving = names.intersection(loops)
    changing = moving | {step.var for step in inner if isinstance(step, Local)}
    first = {step.var: step.low for step in inner if isinstance(step, Loop) and step.var in moving}
    if not all(_is_same(step, changing) or _is_weaker(path.facts, step, changing - moving, first) for step in inner):
        return None
    return Start(changing, frozenset(step.buffer for step in inner if isinstance(step, Fresh))), first


def _is_same(step: Step, changing: Iterable[tir.Var]) -> bool:
    """Whether a step lets the first point through, if it lets another one through."""
    match step:
        case Loop():
            bound_names = {*variables(step.low), *variables(step.extent)}
            return bound_names.isdisjoint(changing)
        case Guard(names):
            return names is not None and names.isdisjoint(changing)
        case _:
            return True


def _is_weaker(facts: Facts, step: Step, unknown: Iterable[tir.Var], first: Mapping[tir.Var, Poly]) -> bool:
    """Whether a step is a condition that holds at the first point if it holds at another one."""
    if not isinstance(step, Guard) or step.parts is None:
        return False
    for part in step.parts:
        first_part = facts.with_value(part, first)
        if (
            first_part is None
            or not set(unknown).isdisjoint(variables(part))
            or not facts.not_negative(first_part - part)
        ):
            return False
    return True


def names_in(facts: Facts, expr: tir.Expr) -> frozenset[tir.Var] | None:
    """The variables that decide the value of `expr`; None: not variables alone."""
    names: set[tir.Var] = set()
    for node in walk(expr):
        match node:
            case tir.Var():
                form: Poly | None = facts.form(node)
                if form is None:
                    return None
                names.update(variables(form))
            case tir.BufferLoad() | tir.Call() | tir.BufferData() | tir.Let():
                return None
            case _:
                continue
    return frozenset(names)
