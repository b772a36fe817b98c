"""Boxes of elements that are certainly written, and how they grow when a loop ends.

A box has a span per axis: `extent` elements from `low` on, both canonical forms. It may reach beyond the buffer: what
is written is what the buffer has of it. So a box that is written under a condition is one without, if the box is
outside of the buffer where the condition does not hold (`is_beyond`).

A loop over v makes of the boxes of its iterations one box:

| the box names v in                               | after the loop                                         |
|--------------------------------------------------|--------------------------------------------------------|
| no axis                                          | the same box, where the loop runs at least once        |
| the `low` of one axis, as a * v + c, a <= extent | that axis spans all of them: they leave no gap         |
| several axes, of one element each: digits of v   | each axis spans its digits, where v takes every number |
| anything else                                    | nothing is known                                       |
"""

from collections.abc import Iterator
from typing import NamedTuple

from refmlc.lang.arith.polynomial import Poly, constant, single
from refmlc.lang.ir import tir
from refmlc.native.analysis.facts import Facts
from refmlc.native.analysis.knowledge import mentions

ONE = constant(1)
NONE = constant(0)


class Span(NamedTuple):
    """`extent` elements from `low` on."""

    low: Poly
    extent: Poly


Box = tuple[Span, ...]


class Loop(NamedTuple):
    """A loop: the variable takes each of low … low + extent - 1 in this order, at least one of them where it `runs`."""

    var: tir.Var
    low: Poly
    extent: Poly
    runs: bool


def point(indices: tuple[Poly, ...]) -> Box:
    """One element."""
    return tuple(Span(index, ONE) for index in indices)


def names(box: Box, var: tir.Var) -> bool:
    """Whether `var` is in the box."""
    return any(mentions(span.low, var) or mentions(span.extent, var) for span in box)


def covers(facts: Facts, box: Box, whole: Box) -> bool:
    """Whether `box` certainly holds `whole`."""
    return all(
        facts.not_negative(part.low - span.low) and facts.not_negative(span.low + span.extent - part.low - part.extent)
        for span, part in zip(box, whole, strict=True)
    )


def entire(facts: Facts, shape: tuple[tir.Expr, ...]) -> Box | None:
    """The box of all elements; None: an extent has no canonical form."""
    forms = [facts.form(extent) for extent in shape]
    return tuple(Span(NONE, form) for form in forms if form is not None) if None not in forms else None


def is_beyond(facts: Facts, box: Box, whole: Box, part: Poly) -> bool:
    """Whether `box` is certainly outside of `whole` where `part` is negative."""
    for span, buffer in zip(box, whole, strict=True):
        above = span.low - buffer.low - buffer.extent
        below = buffer.low - span.low - span.extent
        for times in {1, *_ratios(span.low, part)}:
            most = part.plus(1).scaled(times)  # 0 at most, where `part` is negative
            if facts.not_negative(above + most) or facts.not_negative(below + most):
                return True
    return False


def _ratios(low: Poly, part: Poly) -> Iterator[int]:
    """How many times larger the coefficients of `low` are than those of `part`."""
    for key, factor in part.terms.items():
        if key:
            yield max(abs(low.terms.get(key, 0)) // abs(factor), 1)


def after_loop(inside: Facts, box: Box, loop: Loop) -> Box | None:
    """What all iterations write together, each at least `box`; None: nothing that is known.

    `inside` are the facts of the body.
    """
    axes = [axis for axis, span in enumerate(box) if mentions(span.low, loop.var)]
    if any(mentions(span.extent, loop.var) for span in box):
        return None
    if not axes:
        return box if loop.runs else None
    spans = _swept(inside, box[axes[0]], loop) if len(axes) == 1 else None
    if spans is not None:
        return (*box[: axes[0]], spans, *box[axes[0] + 1 :])
    return _digits(inside, box, axes, loop)


def _swept(inside: Facts, span: Span, loop: Loop) -> Span | None:
    """The union of spans whose low is a * v + c."""
    step, rest = span.low.split(loop.var)
    if mentions(step, loop.var) or mentions(rest, loop.var):
        return None
    last = (loop.low + loop.extent).plus(-1)
    first = loop.low
    if not inside.not_negative(step):
        if not inside.not_negative(-step):
            return None
        step, first = -step, last
        low = rest - step * first
    else:
        low = step * first + rest
    if not inside.not_negative(span.extent - step):
        return None
    overlap = span.extent - step
    if overlap.only != 0 and not loop.runs:
        return None  # without an iteration nothing is written, and the formula would say otherwise
    return Span(low, step * loop.extent + overlap)


def _digits(inside: Facts, box: Box, axes: list[int], loop: Loop) -> Box | None:
    """Axes that are the digits of v in a mixed base: v goes through all numbers, so they go through all digits."""
    total = loop.extent.only
    if loop.low.only != 0 or total is None:
        return None
    weight, left, grown = 1, list(axes), list(box)
    while left:
        found = next(_digit(inside, box, left, loop.var, weight), None)
        if found is None:
            return None
        axis, base, size = found
        grown[axis] = Span(NONE, constant(base * size))
        left.remove(axis)
        weight *= base
    return tuple(grown) if weight == total else None


def _digit(inside: Facts, box: Box, axes: list[int], var: tir.Var, weight: int) -> Iterator[tuple[int, int, int]]:
    """The axes that are the digit of `weight` of the variable, times the size of a span: axis, base, size."""
    for axis in axes:
        low, size = box[axis].low, box[axis].extent.only
        greatest = inside.interval(low).high
        if size is None or size < 1 or greatest is None or greatest % size:
            continue
        base = greatest // size + 1
        if base > 0:
            higher = inside.quotient(single(var), weight)
            if (higher - inside.quotient(higher, base).scaled(base)).scaled(size) == low:
                yield axis, base, size
