"""The purposes of calls, in the order in which they are tried: what each fills parameters with, and why.

| purpose                | floats                                              | integers                             |
|------------------------|-----------------------------------------------------|--------------------------------------|
| `ordinary`             | random in -1 … 1                                    | random, plausible                    |
| `held`                 | random; outputs hold values before the call         | the same                             |
| `specials`             | NaN, ±inf, ±0, subnormals, the greatest, 1 and next | 0, ±1, ±2, ±3, 7                     |
| `ends`                 | random                                              | the ends of the dtype, 0, ±1         |
| `nan first`            | the first element is NaN                            | random                               |
| `nan last`             | the last element is NaN                             | random                               |
| `constants`            | constants of the program and their neighbours       | the same; what decides a condition   |
| `inexact`              | random                                              | beyond what the floats of casts hold |
| `ties`                 | few values, the extremes several times, both zeros  | the same                             |
| `cancellation`         | large values, their negatives, small ones between   | random                               |
| `offset`               | 100000 and neighbours                               | random                               |
| `rounding`             | halves: 0.5, 1.5, 2.5, …                            | random                               |
| `powers`               | random                                              | ± powers of two, and neighbours      |
| `anywhere`             | random in sign, exponent and digits                 | random over the whole width          |
| `all nan` … `greatest` | every element this one                              | random                               |
| `equal`                | every element 1.5                                   | every element 1                      |
| `outside`              | random                                              | beyond what indices, divisors need   |
| `strides`              | random, in rows with gaps                           | the same                             |
| `random`               | by the seed                                         | by the seed                          |

Besides: `sizes` (`sizes`), `branches` (`trial`) and `explicit`, where the caller gives every argument.

A purpose that is `wild` has values which refmlc chooses without the program having asked for them. Where one makes the
program undefined by overflow, by a cast, or by a divisor, smaller values are tried (`trial`).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from math import inf, isfinite, nan
from random import Random

from refmlc.lang.dtypes import DType
from refmlc.lang.dtypes.rounding import wrap
from refmlc.oracle.arguments.conditions import Value
from refmlc.oracle.arguments.uses import ParameterUse, ProgramUses
from refmlc.strategies.contents import special_values

Pool = tuple[Value, ...]
Facts = tuple[ProgramUses, "ElementKinds"]


@dataclass(frozen=True)
class ElementKinds:
    """The kinds of elements among the parameters that are filled.

    `limited`: some integers are indices, divisors or shift counts; `strided`: a buffer has strides that are open;
    `outputs`: a parameter is an output, which no other purpose fills.
    """

    floats: frozenset[DType] = frozenset()
    integers: frozenset[DType] = frozenset()
    bools: bool = False
    limited: bool = False
    strided: bool = False
    outputs: bool = False


@dataclass(frozen=True)
class Filling:
    """Values of a parameter: those of a pool in turn, or random ones with one value put at a place."""

    pool: Pool = ()
    put: Value | None = None
    last: bool = False


@dataclass(frozen=True)
class Purpose:
    """A purpose. `fills` gives the filling of a parameter, None: random, plausible values.

    `applies`: whether the program has what the purpose is for. `most`: how many calls the pool may be spread over.
    """

    name: str
    why: str
    applies: Callable[[ProgramUses, ElementKinds], bool]
    fills: Callable[[DType, ParameterUse, ProgramUses], Filling | None]
    most: int = 1
    wild: bool = True


def has_floats(_uses: ProgramUses, kinds: ElementKinds) -> bool:
    """True if a parameter has floats."""
    return bool(kinds.floats)


def has_integers(_uses: ProgramUses, kinds: ElementKinds) -> bool:
    """True if a parameter has integers or bools."""
    return bool(kinds.integers) or kinds.bools


def nothing(_kind: DType, _use: ParameterUse, _uses: ProgramUses) -> Filling | None:
    """Random, plausible values everywhere."""
    return None


def of_floats(values: Callable[[DType], Pool]) -> Callable[[DType, ParameterUse, ProgramUses], Filling | None]:
    """A filling of floats only."""
    return lambda kind, _use, _uses: Filling(values(kind)) if kind.is_float else None


def every(value: float) -> Callable[[DType, ParameterUse, ProgramUses], Filling | None]:
    """Floats that are all this value."""
    return of_floats(lambda _kind: (value,))


def single(value: float, *, last: bool) -> Callable[[DType, ParameterUse, ProgramUses], Filling | None]:
    """Floats of which one is this value."""
    return lambda kind, _use, _uses: Filling((), value, last) if kind.is_float else None


NEAR = (0, 1, -1, 2, 3, -2, 7, -3)


def _specials(kind: DType, _use: ParameterUse, _uses: ProgramUses) -> Filling | None:
    if kind.kind == "bool":
        return Filling((False, True, True))
    if not kind.is_float:
        return Filling(NEAR)
    row = kind.format
    tiny = (row.smallest, -row.smallest, 2.0**row.minimum_exponent)
    first = (nan, inf, -inf, -0.0, 0.0, *tiny, row.maximum, -row.maximum, 1.0, -1.0, 0.5)
    return Filling((*first, *(value for value in special_values(kind)[-1:] if isfinite(value))))


def _ends(kind: DType, _use: ParameterUse, _uses: ProgramUses) -> Filling | None:
    if kind.kind == "bool":
        return Filling((True, False))
    if not kind.is_integer:
        return None
    least, most = kind.minimum, kind.maximum
    values = (least, most, least + 1, most - 1, 0, -1, 1) if least else (most, 0, most - 1, 1, most // 2 + 1)
    return Filling(values)


def _outside(kind: DType, use: ParameterUse, uses: ProgramUses) -> Filling | None:
    if not kind.is_integer or not (use.is_index or use.low is not None or use.high is not None):
        return None
    near = (0, -1, kind.bits, kind.bits + 1)
    constants = [other for value in uses.integers for other in (value, value + 1)][:6]
    ends = (kind.minimum, kind.maximum)
    values = dict.fromkeys((*near[:2], *ends, *near[2:], *constants))
    return Filling(tuple(value for value in values if kind.minimum <= value <= kind.maximum))


def _constants(kind: DType, use: ParameterUse, uses: ProgramUses) -> Filling | None:
    if kind.kind == "bool":
        return None
    if kind.is_float:
        finite = [float(value) for value in (*use.decisive, *uses.floats) if isfinite(value)]
        near = [other for value in finite for other in (value, *_neighbours(value, kind))]
        values = list(dict.fromkeys(near))
    else:
        whole = [int(value) for value in use.decisive if value == int(value)]
        near = [other for value in uses.integers for other in (value, value - 1, value + 1)]
        values = [value for value in dict.fromkeys((*whole, *near)) if kind.minimum <= value <= kind.maximum]
    return Filling(tuple(values[:MOST_POOL])) if values else None


def _neighbours(value: float, kind: DType) -> tuple[float, float]:
    """About the next values of the dtype below and above."""
    step = abs(value) * 2.0 ** (1 - kind.format.precision) or kind.format.smallest
    return value - step, value + step


MOST_POOL = 48
SCATTERED = 32  # numbers of the purpose `anywhere`


def _inexact(kind: DType, use: ParameterUse, _uses: ProgramUses) -> Filling | None:
    if not kind.is_integer or not use.casts:
        return None
    edges = sorted({1 << target.format.precision for target in use.casts})
    values = [value for edge in edges for value in (edge + 1, -edge - 1, edge + 3, edge - 1, 2 * edge + 3)]
    values += [kind.maximum, kind.minimum, kind.maximum - 1]
    return Filling(tuple(value for value in values if kind.minimum <= value <= kind.maximum))


def _ties(kind: DType, _use: ParameterUse, _uses: ProgramUses) -> Filling | None:
    if kind.kind == "bool":
        return Filling((True, True, False))
    return Filling((2, 5, 5, 0, -1, -1, 5)) if kind.is_integer else Filling((2.0, 5.0, 5.0, -0.0, 0.0, -1.0, -1.0, 5.0))


def _cancelling(kind: DType) -> Pool:
    large = min(2.0 ** (kind.format.precision + 1), kind.format.maximum / 4)
    return (large, 1.0, -large, 0.5, -1.0)


def _offset(kind: DType) -> Pool:
    """A large value and some neighbours of it, which the dtype can tell apart."""
    large = min(1e5, kind.format.maximum / 4)
    step = max(1.0, large * 2.0 ** (1 - kind.format.precision))
    return tuple(large + step * number for number in (0, 1, 3, 2))


def _rounding(kind: DType) -> Pool:
    below = 0.5 - 2.0 ** -(kind.format.precision + 1)
    return (0.5, 1.5, 2.5, -0.5, -1.5, -2.5, below, -below, 3.75, -3.75, 0.25, 126.5, -127.5)


def _powers(kind: DType, _use: ParameterUse, _uses: ProgramUses) -> Filling | None:
    if not kind.is_integer:
        return None
    powers = [1 << bit for bit in (kind.bits - 2, 7, 15, 31, 4, 8, 16, 24, 32, 48, 62) if 1 < bit < kind.bits]
    values = [other for power in powers for value in (power, -power) for other in (value, value - 1, value + 1)]
    inside = [value for value in dict.fromkeys(values) if kind.minimum <= value <= kind.maximum]
    return Filling(tuple(inside[:MOST_POOL])) if inside else None


def _anywhere(kind: DType, _use: ParameterUse, _uses: ProgramUses) -> Filling | None:
    """Numbers that have nothing in common: bits of every length for integers, every exponent for floats."""
    if kind.kind == "bool":
        return None
    random = Random(str(kind))  # noqa: S311 - reproducible, not secret
    if kind.is_integer:
        lengths = [kind.bits, *(random.randint(2, kind.bits) for _ in range(1, SCATTERED // 2))]
        whole = [random.getrandbits(kind.bits) for _ in range(SCATTERED // 2)]
        pairs = zip(whole, map(random.getrandbits, lengths), strict=True)
        values = [wrap(kind, number) for pair in pairs for number in pair]
        return Filling(tuple(dict.fromkeys(values)))
    row = kind.format
    greatest = math.frexp(row.maximum)[1] - 1
    numbers = [
        random.choice((1, -1)) * random.uniform(1, 2) * 2.0 ** random.randint(row.minimum_exponent, greatest)
        for _ in range(SCATTERED)
    ]
    return Filling(tuple(min(max(number, -row.maximum), row.maximum) for number in numbers))


def _equal(kind: DType, _use: ParameterUse, _uses: ProgramUses) -> Filling | None:
    return Filling((1.5,)) if kind.is_float else Filling((1,))


def _subnormals(kind: DType) -> Pool:
    row = kind.format
    return (row.smallest, -row.smallest, 2.0**row.minimum_exponent - row.smallest, 3 * row.smallest)


def _greatest(kind: DType) -> Pool:
    return (kind.format.maximum, kind.format.maximum, -kind.format.maximum)


ORDINARY = Purpose("ordinary", "random values of usual size", lambda _uses, _kinds: True, nothing, wild=False)
HELD = Purpose(
    "held",
    "outputs hold values before the call: what the program does not write must stay",
    lambda _uses, kinds: kinds.outputs,
    nothing,
    wild=False,
)
PURPOSES = (
    Purpose(
        "specials",
        "NaN, infinities, both zeros, subnormals and the greatest float meet each other; integers around 0",
        lambda _uses, kinds: bool(kinds.floats or kinds.integers) or kinds.bools,
        _specials,
        most=2,
    ),
    Purpose(
        "ends", "the least and the greatest integer, where arithmetic wraps and comparisons err", has_integers, _ends, 3
    ),
    Purpose(
        "nan first", "NaN comes first: what is compared with it later decides", has_floats, single(nan, last=False)
    ),
    Purpose(
        "nan last", "NaN comes last: it must still win or lose as at the front", has_floats, single(nan, last=True)
    ),
    Purpose(
        "constants",
        "constants of the program, their neighbours, and values at which a condition changes",
        lambda _uses, _kinds: True,
        _constants,
        most=3,
    ),
    Purpose(
        "inexact",
        "integers that the float they are cast to cannot hold",
        lambda uses, _kinds: any(use.casts for use in uses.parameters.values()),
        _inexact,
        most=2,
    ),
    Purpose(
        "ties",
        "equal extremes and both zeros: which of them is taken",
        lambda uses, kinds: uses.compares and bool(kinds.floats or kinds.integers),
        _ties,
    ),
    Purpose(
        "cancellation",
        "large values that cancel: a changed order of a sum, or a wider accumulator, shows",
        lambda uses, kinds: (uses.sums or uses.adds) and bool(kinds.floats),
        of_floats(_cancelling),
    ),
    Purpose(
        "offset",
        "a large offset with a small variation: squares and sums lose the variation",
        lambda uses, kinds: (uses.sums or uses.adds) and bool(kinds.floats),
        of_floats(_offset),
    ),
    Purpose(
        "rounding",
        "halves: to even, up, or away from 0",
        lambda uses, kinds: uses.rounds and bool(kinds.floats),
        of_floats(_rounding),
    ),
    Purpose("powers", "powers of two and neighbours: shifts, masks, narrow casts", has_integers, _powers, 2),
    Purpose(
        "anywhere",
        "random over the whole width: what is wrong for few numbers of many, as a division by multiplication",
        lambda _uses, kinds: bool(kinds.floats or kinds.integers),
        _anywhere,
        most=2,
    ),
    Purpose("all nan", "every float is NaN", has_floats, every(nan)),
    Purpose("equal", "all elements are equal", lambda _uses, kinds: bool(kinds.floats or kinds.integers), _equal),
    Purpose("-inf", "every float is -inf: what a maximum starts from", has_floats, every(-inf)),
    Purpose("+inf", "every float is inf: what a minimum starts from", has_floats, every(inf)),
    Purpose("-0", "every float is -0: a sum that starts from 0 loses the sign", has_floats, every(-0.0)),
    Purpose("subnormals", "every float is subnormal: nothing may be flushed to 0", has_floats, of_floats(_subnormals)),
    Purpose("greatest", "every float is as large as it can be: sums overflow", has_floats, of_floats(_greatest)),
)
OUTSIDE = Purpose(
    "outside",
    "indices, divisors and shift counts beyond what they need: the program may guard itself",
    lambda _uses, kinds: kinds.limited,
    _outside,
    most=3,
)
STRIDES = Purpose(
    "strides", "rows with gaps, where the program leaves strides open", lambda _uses, kinds: kinds.strided, nothing
)
SIZES, BRANCHES, RANDOM, EXPLICIT, CONTRACTS = "sizes", "branches", "random", "explicit", "contracts"
WHYS = {
    **{purpose.name: purpose.why for purpose in (ORDINARY, HELD, *PURPOSES, STRIDES, OUTSIDE)},
    SIZES: "sizes at which loops are empty, tiles are not full, or conditions change",
    BRANCHES: "values that reach a branch which no other call reaches",
    RANDOM: "random values and sizes by the seed",
    EXPLICIT: "the arguments of the caller",
    CONTRACTS: "integers at the ends of what the program needs",
}
"""Why there are calls of each purpose, in one line."""
