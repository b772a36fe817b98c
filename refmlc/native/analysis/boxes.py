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
    """The box of one element."""
    return tuple(Span(index, ONE) for index in indices)


def names(box: Box, var: tir.Var) -> bool:
    """Whether `var` is in the box."""
    return any(mentions(span.low, var) or mentions(span.extent, var) for span in box)


def covers(facts: Facts, box: Box, target: Box) -> bool:
    """Whether `box` certainly holds `target`."""
    return all(
        facts.not_negative(part.low - span.low) and facts.not_negative(span.low + span.extent - part.low - part.extent)
        for span, part in zip(box, target, strict=True)
    )


def entire(facts: Facts, shape: tuple[tir.Expr, ...]) -> Box | None:
    """The box of all elements; None: an extent has no canonical form."""
    forms = [facts.form(extent) for extent in shape]
    return tuple(Span(NONE, form) for form in forms if form is not None) if None not in forms else None


def is_beyond(facts: Facts, box: Box, domain: Box, part: Poly) -> bool:
    """Whether `box` is certainly outside of `domain` where `part` is negative."""
    for span, buffer in zip(box, domain, strict=True):
        beyond_end = span.low - buffer.low - buffer.extent
        before_start = buffer.low - span.low - span.extent
        for times in {1, *_ratios(span.low, part)}:
            bound = part.plus(1).scaled(times)  # 0 at most, where `part` is negative
            if facts.not_negative(beyond_end + bound) or facts.not_negative(before_start + bound):
                return True
    return False


def _ratios(low: Poly, part: Poly) -> Iterator[int]:
    """How many times larger the coefficients of `low` are than those of `part`."""
    for key, factor in part.terms.items():
        if key:
            yield max(abs(low.terms.get(key, 0)) // abs(factor), 1)


def after_loop(body_facts: Facts, box: Box, loop: Loop) -> Box | None:
    """What all iterations write together, each at least `box`; None: nothing that is known.

    `body_facts` are the facts of the body.
    """
    axes = [axis for axis, span in enumerate(box) if mentions(span.low, loop.var)]
    if any(mentions(span.extent, loop.var) for span in box):
        return None
    if not axes:
        return box if loop.runs else None
    spans = _swept(body_facts, box[axes[0]], loop) if len(axes) == 1 else None
    if spans is not None:
        return (*box[: axes[0]], spans, *box[axes[0] + 1 :])
    return _digits(body_facts, box, axes, loop)


def _swept(body_facts: Facts, span: Span, loop: Loop) -> Span | None:
    """The union of spans whose low is a * v + c."""
    step, start = span.low.split(loop.var)
    if mentions(step, loop.var) or mentions(start, loop.var):
        return None
    last_value = (loop.low + loop.extent).plus(-1)
    first_value = loop.low
    if not body_facts.not_negative(step):
        if not body_facts.not_negative(-step):
            return None
        step, first_value = -step, last_value
        low = start - step * first_value
    else:
        low = step * first_value + start
    if not body_facts.not_negative(span.extent - step):
        return None
    overlap = span.extent - step
    if overlap.only != 0 and not loop.runs:
        return None  # without an iteration nothing is written, and the formula would say otherwise
    return Span(low, step * loop.extent + overlap)


def _digits(body_facts: Facts, box: Box, axes: list[int], loop: Loop) -> Box | None:
    """Axes that are the digits of v in a mixed base: v goes through all numbers, so they go through all digits."""
    total = loop.extent.only
    if loop.low.only != 0 or total is None:
        return None
    weight, remaining, spans = 1, list(axes), list(box)
    while remaining:
        digit = next(_digit(body_facts, box, remaining, loop.var, weight), None)
        if digit is None:
            return None
        axis, base, size = digit
        spans[axis] = Span(NONE, constant(base * size))
        remaining.remove(axis)
        weight *= base
    return tuple(spans) if weight == total else None


def _digit(body_facts: Facts, box: Box, axes: list[int], var: tir.Var, weight: int) -> Iterator[tuple[int, int, int]]:
    """The axes that are the digit of `weight` of the variable, times the size of a span: axis, base, size."""
    for axis in axes:
        low, size = box[axis].low, box[axis].extent.only
        greatest = body_facts.interval(low).high
        if size is None or size < 1 or greatest is None or greatest % size:
            continue
        base = greatest // size + 1
        if base > 0:
            higher = body_facts.quotient(single(var), weight)
            if (higher - body_facts.quotient(higher, base).scaled(base)).scaled(size) == low:
                yield axis, base, size
