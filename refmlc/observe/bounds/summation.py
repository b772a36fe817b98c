"""The sum of a reduction's terms, in any order and any tree: a bound that holds for all of them.

**Theorem.** Let t_1 … t_n be numbers, and let them be summed along any binary tree, each inner node being rounded to
nearest in the format (perhaps by way of a wider one). Write, with the terms sorted,

    P_k = sum of the k greatest of max(t_i, 0),   N_k = sum of the k greatest of max(-t_i, 0),   F(k) = max(P_k, N_k),

    D(1) = 0,   H(k) = F(k) + D(k - 1),   D(k) = D(k - 1) + h(H(k)),

h(x) being the most that rounding moves a number of size x or less (`Grid.error`). Then a node with k leaves is off
its exact sum by at most D(k), and the number rounded there has at most size H(k).

**Proof.** The sum of any k terms lies in [-N_k, P_k]. A node's error is at most the sum of the errors of its children
and of its own rounding, so at most the sum of the roundings of all inner nodes in its tree. Of the inner nodes of a
tree with k leaves at most k - j + 1 have j leaves or more (induction: children with a + b = k leaves have at most
max(0, a - j + 1) + max(0, b - j + 1), which with the root is at most k - j + 1 for j >= 2). So the node counts,
sorted, are at most 2, 3, …, k, the root being the last. By induction over k the node of i leaves rounds a number of
size at most H(i), which does not decrease with i, nor does h; hence the nodes strictly below the root contribute at
most h(H(2)) + … + h(H(k - 1)) = D(k - 1), the root rounds F(k) + D(k - 1) = H(k) at most, and D(k) follows.

Four refinements, each with its reason:

* the root's exact sum s is known: it rounds |s| + D(n - 1) at most, in place of H(n);
* where every term is an exact multiple of a power of two q, so is every node; of size 2**p * q or less it is not
  rounded at all (p digits, q not below the format's least number);
* terms that are known up to r_i: P and N are taken of t_i + r_i and r_i - t_i, and the sum moves by sum(r_i);
* zeros are no terms: adding 0 rounds nothing.

A product with FMA enters as the unrounded product, which the term's enclosure holds; its own rounding was counted in
the term, so n terms have n - 1 nodes either way. With the format's u, D(n) is at most (n - 1) u (1 + u)**(n - 2) *
max(P, N): at most the textbook bound ((1 + u)**(n - 1) - 1) * sum |t_i|, and less than half of it for mixed signs.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate

from refmlc.observe.bounds.enclosure import NAN, NINF, PINF, Enclosure
from refmlc.observe.bounds.roundoff import Grid
from refmlc.observe.bounds.upward import add_up, magnitude, magnitude_down, mul_up, shorten


def total(terms: Sequence[Enclosure], grid: Grid) -> Enclosure:
    """Every sum of the terms, along every tree."""
    terms = [term for term in terms if term.centre or term.radius or term.specials or not term.finite]
    specials = 0
    for term in terms:
        specials |= term.specials
    centre = exact_sum([term.centre for term in terms])
    spread = 0.0
    for term in terms:
        spread = add_up(spread, term.radius)
    error, top, bottom = tree_error(terms, add_up(magnitude(centre), spread), grid)
    radius = add_up(spread, error)
    overflow = grid.overflow(add_up(top, error), add_up(bottom, error))
    if grid.format.special == "finite" and max(top, bottom) >= grid.threshold:
        radius = math.inf
    specials |= overflow
    if specials & PINF and specials & NINF:
        specials |= NAN
    only_specials = {term.specials for term in terms if not term.finite}
    if NAN in only_specials or {PINF, NINF} <= only_specials:  # where they meet, and from there on, every tree is NaN
        specials = NAN
    return Enclosure(*shorten(centre, radius), specials, finite=all(term.finite for term in terms))


def tree_error(terms: Sequence[Enclosure], root: float, grid: Grid) -> tuple[float, float, float]:
    """D(n), and the greatest and least partial sum without rounding (its size). `root` bounds the exact sum."""
    ups = sorted((up for term in terms if (up := _reach(term, positive=True))), reverse=True)
    downs = sorted((down for term in terms if (down := _reach(term, positive=False))), reverse=True)
    above, below = list(accumulate(ups, add_up)), list(accumulate(downs, add_up))
    top, bottom = above[-1] if above else 0.0, below[-1] if below else 0.0
    count = len(terms)
    unrounded = exact_up_to(terms, grid)
    error = 0.0
    for k in range(2, count + 1):
        size = max(above[k - 1] if k <= len(above) else top, below[k - 1] if k <= len(below) else bottom)
        size = add_up(root if k == count else size, error)
        if size > unrounded:
            error = add_up(error, grid.error(size))
    return error, top, bottom


def _reach(term: Enclosure, *, positive: bool) -> float:
    """At least max(x, 0), or max(-x, 0), for every member x of `term`."""
    size = magnitude(term.centre)
    if (term.centre > 0) == positive:
        return add_up(size, term.radius)
    return 0.0 if size >= term.radius else term.radius


def exact_up_to(terms: Sequence[Enclosure], grid: Grid) -> float:
    """The greatest size of a partial sum that is certainly not rounded; 0 where there is none."""
    if any(term.radius for term in terms):
        return 0.0
    row = grid.format
    quantum = min((_lowest_bit(term.centre) for term in terms if term.centre), default=0)
    if quantum < row.minimum_exponent - row.fraction_bits:
        return 0.0
    exponent = quantum + row.precision
    return min(math.ldexp(1.0, exponent), row.maximum) if exponent < 1000 else row.maximum


def _lowest_bit(x: Fraction) -> int:
    """The exponent of the lowest digit of a dyadic number that is not 0."""
    top = abs(x.numerator)
    return (top & -top).bit_length() - x.denominator.bit_length()


def exact_sum(numbers: Sequence[Fraction]) -> Fraction:
    """The sum of dyadic numbers."""
    digits = max((number.denominator.bit_length() for number in numbers), default=1)
    top = sum(number.numerator << (digits - number.denominator.bit_length()) for number in numbers)
    return Fraction(top, 1 << (digits - 1))


def gamma(count: int, unit: float) -> float:
    """At least (1 + unit) ** count - 1: count * unit / (1 - count * unit)."""
    scaled_unit = mul_up(float(count), unit)
    return (
        math.inf
        if scaled_unit >= 1.0
        else math.nextafter(scaled_unit / math.nextafter(1.0 - scaled_unit, 0.0), math.inf)
    )


def total_product(terms: Sequence[Enclosure], grid: Grid) -> Enclosure:
    """Every product of the terms, along every tree.

    Each of n - 1 nodes multiplies by 1 + d with |d| <= u (of both formats), or, where it is subnormal, adds at most
    the format's absolute term, which the other factors then scale: at most M = product of max(|t_i|, 1). So the
    error is at most gamma(n - 1) * |product| + (n - 1) * least * M * (1 + gamma).
    """
    terms = [term for term in terms if term != Enclosure(Fraction(1))]
    specials = 0
    for term in terms:
        specials |= term.specials
    centre, radius, greatest, least = Fraction(1), 0.0, 1.0, 1.0
    for term in terms:
        size = magnitude(centre)
        across = add_up(mul_up(size, term.radius), mul_up(magnitude(term.centre), radius))
        centre, radius = shorten(centre * term.centre, add_up(across, mul_up(radius, term.radius)))
        greatest = mul_up(greatest, max(term.size, 1.0))
        least = min(least, least * max(magnitude_down(term.centre) - term.radius, 0.0))
    nodes = max(len(terms) - 1, 0)
    row = grid.format
    relative = gamma(nodes, add_up(math.ldexp(1.0, -row.precision), math.ldexp(1.0, -row.precision - 12)))
    error = mul_up(relative, add_up(magnitude(centre), radius))
    if least < math.ldexp(1.0, row.minimum_exponent + 1) and nodes:
        error = add_up(error, mul_up(mul_up(4.0 * nodes * grid.least, greatest), 1.0 + relative))
    if mul_up(greatest, 1.0 + relative) >= grid.threshold and nodes:
        specials |= grid.overflow(math.inf, math.inf) | NAN  # an infinity may meet a zero
        error = math.inf if row.special == "finite" else error
    if specials and len(terms) > 1:
        specials |= PINF | NINF | NAN
    return Enclosure(centre, add_up(radius, error), specials, finite=all(term.finite for term in terms))
