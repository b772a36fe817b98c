"""Sizes of symbolic dimensions.

| plan            | sizes                                                                                        |
|-----------------|----------------------------------------------------------------------------------------------|
| the usual one   | 3, 4, 5, …: each another one; a single dimension is 7 where values matter. Smaller ones for  |
|                 | a program whose loops would take too long (`affordable`)                                     |
| `one`           | all 1; one of them 1 in turn                                                                 |
| `zero`          | one of them 0 in turn, the others 2                                                          |
| `two`, `prime`  | all 2; 37, 19, 7, …: longer than a vector, and no tile divides them                          |
| `divisors`      | one is a constant divisor of it in the program, that plus 1, minus 1, or twice that          |
| `branches`      | one is a value at which a condition of the program changes, or its neighbour                 |

A size is never adapted to the program: one that needs `n % 16 == 0` without saying so is undefined for the others, and
that is a finding. What a program requires of its sizes it declares, asserts, or the caller fixes: a Relax function
declares least and greatest sizes by the attributes `tir_var_lower_bound` and `tir_var_upper_bound`; TVM relies on them.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from refmlc.lang.ir.module import AnyFunction
from refmlc.lang.ir.relax import ExternFunc
from refmlc.oracle.arguments.uses import ProgramUses

FIRST = 3
ALONE = 7
PRIMES = (37, 19, 7, 11)
MOST_ZEROS = 4
LARGEST_SIZE = 2048
MOST_PLANS = 16


@dataclass(frozen=True)
class SizePlan:
    """Sizes by the names of dimensions, and why these."""

    sizes: Mapping[str, int]
    why: str


def usual_sizes(names: Sequence[str], fixed: Mapping[str, int], *, many: bool = False) -> dict[str, int]:
    """Different sizes; `many`: a single dimension gets more elements."""
    first = ALONE if many and len(names) == 1 else FIRST
    return {name: fixed.get(name, first + at) for at, name in enumerate(names)}


def promised(function: AnyFunction, sizes: Mapping[str, int]) -> dict[str, int]:
    """The sizes, those outside of what the function declares moved to its bounds."""
    attrs = {} if isinstance(function, ExternFunc) else function.attrs
    least, most = (attrs.get(f"tir_var_{end}_bound") for end in ("lower", "upper"))
    result = dict(sizes)
    for bounds, nearer in ((least, max), (most, min)):
        for name, bound in bounds.items() if isinstance(bounds, Mapping) else ():
            if name in result and isinstance(bound, int):
                result[name] = nearer(result[name], bound)
    return result


def affordable(
    sizes: Mapping[str, int], fixed: Mapping[str, int], iterations: Callable[[Mapping[str, int]], int], most: int
) -> dict[str, int]:
    """`sizes`, halved where that saves the most iterations until at most `most` are left, or no size saves any.

    A size of `fixed` stays, and none becomes 0.
    """
    current = dict(sizes)
    cost = iterations(current)
    while cost > most:
        smaller = [
            {**current, name: size // 2} for name, size in current.items() if name not in fixed and size // 2 > 0
        ]
        best = min(smaller, key=iterations, default=current)
        if iterations(best) >= cost:
            break
        current, cost = best, iterations(best)
    return current


def size_plans(
    names: Sequence[str], uses: ProgramUses, fixed: Mapping[str, int], usual: Mapping[str, int]
) -> list[SizePlan]:
    """The sizes to try besides the usual ones, the most telling first; none twice."""
    plans: list[SizePlan] = []
    known = [dict(usual)]
    for plan in _proposed([name for name in names if name not in fixed], uses):
        sizes = {**usual, **plan.sizes}
        if sizes not in known and len(plans) < MOST_PLANS:
            known.append(sizes)
            plans.append(SizePlan(sizes, plan.why))
    return plans


def _proposed(names: Sequence[str], uses: ProgramUses) -> Iterator[SizePlan]:
    if not names:
        return
    yield SizePlan(dict.fromkeys(names, 1), "every dimension is 1")
    for name in names[:MOST_ZEROS]:
        yield SizePlan({**dict.fromkeys(names, 2), name: 0}, f"`{name}` is 0: nothing to do, or a sum of nothing")
    for name in names:
        for divisor in uses.divisors.get(name, ())[:2]:
            for size, how in ((divisor, "is"), (divisor + 1, "is more than"), (divisor - 1, "is less than")):
                if 0 < size <= LARGEST_SIZE:
                    yield SizePlan({name: size}, f"`{name}` {how} {divisor}, by which the program divides it")
        for size in uses.decisive_sizes.get(name, ())[:9]:
            if 0 <= size <= LARGEST_SIZE:
                yield SizePlan({name: size}, f"`{name}` = {size} decides a condition, or is next to a value that does")
    for name in names[:MOST_ZEROS] if len(names) > 1 else ():
        yield SizePlan({name: 1}, f"`{name}` is 1, the others are not: is it taken for a broadcast")
    primes = {name: PRIMES[at % len(PRIMES)] for at, name in enumerate(names)}
    yield SizePlan(primes, "primes, the first beyond usual vectors: no tile divides them")
    for name in names:
        for divisor in uses.divisors.get(name, ())[:1]:
            if 2 * divisor <= LARGEST_SIZE:
                yield SizePlan({name: 2 * divisor}, f"`{name}` is twice {divisor}, by which the program divides it")
    yield SizePlan(dict.fromkeys(names, 2), "every dimension is 2")
