"""What the lanes of a warp do together, and what each of them gets (TIW-002 … TIW-004, TIW-008).

| call                                                | value in each lane that the mask names                       |
|-----------------------------------------------------|--------------------------------------------------------------|
| `T.cuda.__shfl_sync(m, x, lane, width)`, …          | x of another lane, as CUDA counts them                       |
| `T.tvm_warp_shuffle(m, x, lane, width, 32)`, …      | the same                                                     |
| `T.ptx.shfl_sync.idx.b32(d, [p,] x, lane, c, m)`, … | the same, with the clamp and the segments that `c` holds     |
| `T.cuda.any_sync(m, p)`, `ballot_sync(m, p)`        | whether a lane has p; a bit for each lane that has           |
| `T.ptx.vote_sync.all.pred(d, p, m)`, …              | whether all, any, all or none have p; the bits               |
| `T.ptx.match.any.sync.b32(d, x, m)`                 | the bits of the lanes with the same x                        |
| `T.ptx.match.all.sync.b32(d, [p,] x, m)`            | the mask if all have the same x, else 0; p: whether          |
| `T.cuda.reduce_add_sync_u32(m, x)`, `…min…`         | the sum modulo 2^32, the least                               |
| `T.ptx.redux_sync.add.u32(d, x, m)`, …              | the same; min, max, and, or, xor                             |
| `T.cuda.warp_reduce(x, "sum", width)`               | log2(width) steps, each with the lane whose number differs   |
|                                                     | in one bit, the highest one first                            |
| `T.cuda.elect_sync()`, `T.ptx.elect_sync(d, p, m)`  | 1 in the first lane; d: its number                           |
| `T.cuda.__activemask()`, `T.ptx.activemask.b32(d)`  | the bits of the lanes that come together                     |
| `T.cuda.warp_sync()`, `T.ptx.bar.warp.sync(m)`      | none: the lanes wait for each other                          |
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from math import copysign, isnan, nan
from operator import and_, or_, xor
from typing import TypeAlias, cast

from refmlc.lang.dtypes import DType
from refmlc.lang.dtypes.rounding import rounder
from refmlc.lang.ir import tir
from refmlc.lang.ir.ptx import PtxCall
from refmlc.run.interp.threads.group import WARP

WHOLE = (1 << WARP) - 1
WIDTHS = (1, 2, 4, 8, 16, 32)
Values: TypeAlias = Sequence[tuple[object, ...]]
Lanes: TypeAlias = Sequence[int]
Results: TypeAlias = Sequence[tuple[object, ...]]
Rule: TypeAlias = Callable[[Lanes, Values], Results]


class Beyond(Exception):
    """What a call does that is not executed."""


def check_numbers(operands: Iterable[tir.Expr]) -> None:
    """Fails: an operand is an address or a vector."""
    for operand in operands:
        if operand.dtype.is_vector or operand.dtype.kind in ("handle", "void"):
            raise Beyond(f"with an operand of {operand.dtype} is not executed")


@dataclass(frozen=True, slots=True)
class Together:
    """What threads of a part of a block do together, as one call of it says.

    `key`: what is the same for threads that meet; None: the call. `operands` are evaluated before; `mask` is the number
    of the one that names the lanes, None: all of the part. `destinations` get the results, of which a call with a
    value has one. `barrier`: the numbers of the operands that are a barrier and its count. `gives`: the number of the
    operand that other lanes get, and that may be no value.
    """

    part: str
    operands: tuple[tir.Expr, ...] = ()
    key: object = None
    mask: int | None = None
    rule: Rule | None = None
    destinations: tuple[tir.BufferLoad, ...] = ()
    orders: bool = False
    converges: bool = False
    barrier: "Numbered | None" = None
    gives: int | None = None


@dataclass(frozen=True, slots=True)
class Numbered:
    """A numbered barrier: the operands that say which and for how many, or None; how a thread reaches it."""

    number: int | None = None
    count: int | None = None
    aligned: bool = True
    arrives: bool = False
    folds: bool = False


# ------------------------------------------------------------------------------------------------------- shuffles


@dataclass(frozen=True, slots=True)
class Absent:
    """The value of a lane that has not come."""

    lane: int
    count: int


def _take(lanes: Lanes, lane: int, values: Sequence[object]) -> object:
    """What a lane brings."""
    return values[lanes.index(lane)] if lane in lanes else Absent(lane, len(lanes))


def _present(lanes: Lanes, lane: int, values: Sequence[object]) -> object:
    """The same. Fails where the lane has not come."""
    value = _take(lanes, lane, values)
    if isinstance(value, Absent):
        raise Beyond(f"reads lane {lane}, which is not among the {len(lanes)} that came")
    return value


def _shuffle(source: Callable[[int, int, int], int]) -> Rule:
    """A shuffle whose lane `source` finds, from the own lane, the operand and the width."""

    def results(lanes: Lanes, values: Values) -> Results:
        own = [value[1] for value in values]
        found = []
        for lane, value in zip(lanes, values, strict=True):
            place, size = cast("int", value[2]), cast("int", value[3])
            if size not in WIDTHS:
                raise Beyond(f"of the width {size} is not executed")
            found.append((_take(lanes, source(lane, place, size), own),))
        return found

    return results


def _indexed(lane: int, place: int, width: int) -> int:
    return lane // width * width + place % width


def _up(lane: int, distance: int, width: int) -> int:
    _check_distance(distance)
    return lane if lane % width < distance else lane - distance


def _down(lane: int, distance: int, width: int) -> int:
    _check_distance(distance)
    return lane if lane % width + distance >= width else lane + distance


def _check_distance(distance: int) -> None:
    if not 0 <= distance < WARP:
        raise Beyond(f"over {distance} lanes is not executed")


def _xor(lane: int, bits: int, width: int) -> int:
    _check_distance(bits)
    other = lane ^ bits
    return lane if other // width > lane // width else other


SHUFFLES: Mapping[str, Rule] = {
    f"{before}{way}{after}": _shuffle(rule)
    for before, after in (("tvm_warp_shuffle", ""), ("cuda.__shfl", "_sync"))
    for way, rule in (("", _indexed), ("_up", _up), ("_down", _down), ("_xor", _xor))
}


def _shuffle_of_ptx(mode: str, asks: bool) -> Rule:
    """The shuffle of PTX: operand 2 holds the clamp in bits 0 to 4, what bits of a lane are fixed in 8 to 12."""

    def source(lane: int, b: int, c: int) -> tuple[int, bool]:
        clamp, fixed = c & 31, c >> 8 & 31
        most = lane & fixed | clamp & ~fixed
        step = b & 31
        match mode:
            case "up":
                other, within = lane - step, lane - step >= most
            case "down":
                other, within = lane + step, lane + step <= most
            case "bfly":
                other, within = lane ^ step, lane ^ step <= most
            case _:
                other = lane & fixed | step & ~fixed
                within = other <= most
        return (other if within else lane), within

    def results(lanes: Lanes, values: Values) -> Results:
        own = [value[0] for value in values]
        found = []
        for lane, (_, b, c, _mask) in zip(lanes, values, strict=True):
            other, within = source(lane, cast("int", b), cast("int", c))
            value = _take(lanes, other, own)
            found.append((value, int(within)) if asks else (value,))
        return found

    return results


# ------------------------------------------------------------------------------- votes, matches and reductions


def _all(value: object, values: Values) -> Results:
    return [(value,)] * len(values)


def _bits(lanes: Lanes, holds: Sequence[bool]) -> int:
    return sum(1 << lane for lane, held in zip(lanes, holds, strict=True) if held)


def _voted(place: int, mode: str, lanes: Lanes, values: Values) -> Results:
    votes = [bool(value[place]) for value in values]
    counts = {"all": int(all(votes)), "any": int(any(votes)), "uni": int(len(set(votes)) == 1)}
    return _all(counts.get(mode, _bits(lanes, votes)), values)


def _matched(mode: str, asks: bool, lanes: Lanes, values: Values) -> Results:
    own = [value[0] for value in values]
    if mode == "any":
        return [(_bits(lanes, [_is_same(other, value) for other in own]),) for value in own]
    agree = all(_is_same(value, own[0]) for value in own)
    mask = _bits(lanes, [True] * len(lanes)) if agree else 0
    return _all_of((mask, int(agree)) if asks else (mask,), values)


def _is_same(a: object, b: object) -> bool:
    """Whether two values have the same bits, as far as they are no floats: these are not compared."""
    if isinstance(a, float) or isinstance(b, float):
        raise Beyond("on a float is not executed")
    return a == b


def _all_of(results: tuple[object, ...], values: Values) -> Results:
    return [results] * len(values)


FOLDS: Mapping[str, Callable[[Sequence[int]], int]] = {
    "add": sum,
    "min": min,
    "max": max,
    "and": partial(reduce, and_),
    "or": partial(reduce, or_),
    "xor": partial(reduce, xor),
}


def _folded(place: int, op: str, dtype: DType, _lanes: Lanes, values: Values) -> Results:
    total = FOLDS[op]([cast("int", value[place]) for value in values])
    return _all(_wrapped(total, dtype), values)


def _folded_floats(greatest: bool, sizes: bool, keeps_nan: bool) -> Rule:
    """The least or greatest float: -0 is less than +0, NaN is left out, unless there is nothing else (TIW-003)."""
    choose = max if greatest else min

    def results(_lanes: Lanes, values: Values) -> Results:
        numbers = [abs(cast("float", value[0])) if sizes else cast("float", value[0]) for value in values]
        known = [number for number in numbers if not isnan(number)]
        if not known or (keeps_nan and len(known) < len(numbers)):
            return _all(nan, values)
        return _all(choose(known, key=lambda number: (number, copysign(1.0, number))), values)

    return results


def _wrapped(value: int, dtype: DType) -> int:
    """The value of the integer dtype with the same low bits."""
    value &= (1 << dtype.bits) - 1
    return value - (1 << dtype.bits) if value > dtype.maximum else value


def _reduced(op: str, width: int, dtype: DType) -> Rule:
    """`warp_reduce`: each lane folds its value with that of the lane whose number differs in one bit."""
    if width not in WIDTHS[1:] or op not in ("sum", "max", "min"):
        raise Beyond(f'as "{op[:20]}" over {width} lanes is not executed')
    if not (dtype.is_integer or dtype.is_float) or (op != "sum" and dtype.is_float and dtype.bits < 32):
        raise Beyond(f'as "{op}" of {dtype} is not executed')
    step = _step(op, dtype)

    def results(lanes: Lanes, values: Values) -> Results:
        own: list[object] = [value[0] for value in values]
        bit = width >> 1
        while bit:
            own = [step(value, _present(lanes, lane ^ bit, own)) for lane, value in zip(lanes, own, strict=True)]
            bit >>= 1
        return [(value,) for value in own]

    return results


def _step(op: str, dtype: DType) -> Callable[[object, object], object]:
    if dtype.is_float:
        if op == "sum":
            rounded = rounder(dtype)
            return lambda a, b: rounded(cast("float", a) + cast("float", b))
        return partial(_extreme, 1.0 if op == "max" else -1.0)
    fold = FOLDS["add" if op == "sum" else op]
    return lambda a, b: _wrapped(fold([cast("int", a), cast("int", b)]), dtype)


def _extreme(sign: float, a: object, b: object) -> object:
    """The greater of two floats, or the less: a number before NaN, 0.0 above -0.0."""
    first, second = cast("float", a), cast("float", b)
    if isnan(first) or isnan(second):
        return second if isnan(first) else first
    if first == second == 0.0:
        return max(first, second, key=lambda zero: copysign(1.0, zero) * sign)
    return first if (first > second) == (sign > 0) else second


# ------------------------------------------------------------------------------------------------------ elections


def _elected(_lanes: Lanes, values: Values) -> Results:
    """Decision: the first lane; PTX leaves open which one, and says that it is the same each time."""
    return [(int(place == 0),) for place in range(len(values))]


def _elected_of_ptx(lanes: Lanes, values: Values) -> Results:
    return [(lanes[0], int(place == 0)) for place in range(len(values))]


def _active(lanes: Lanes, values: Values) -> Results:
    return _all(_bits(lanes, [True] * len(lanes)), values)


# ------------------------------------------------------------------------------------------------- calls by name


def of_cuda(call: tir.Call) -> Together:
    """What a call that is no instruction does."""
    name = str(call.callee)
    args = tuple(arg for arg in call.args if isinstance(arg, tir.Expr))
    key = (name, str(call.dtype))
    match name:
        case "cuda.warp_sync":
            return Together("warp", key=key, orders=True)
        case "cuda.elect_sync":
            return Together("warp", key=key, rule=_elected)
        case "cuda.__activemask" | "tvm_warp_activemask":
            return Together("warp", rule=_active, converges=True)
        case "cuda.any_sync":
            return Together("warp", args, key, mask=0, rule=partial(_voted, 1, "any"))
        case "cuda.ballot_sync":
            return Together("warp", args, key, mask=0, rule=partial(_voted, 1, "ballot"))
        case "cuda.reduce_add_sync_u32" | "cuda.reduce_min_sync_u32":
            return Together("warp", args, key, mask=0, rule=partial(_folded, 1, name.split("_")[1], call.dtype))
        case "cuda.warp_reduce":
            op, width = _text(call.args[1]), call.args[2]
            size = width.value if isinstance(width, tir.IntImm) else 0
            return Together("warp", args[:1], (*key, op, size), rule=_reduced(op, size, call.dtype))
        case _ if name in SHUFFLES:
            return Together("warp", args, key, mask=0, rule=SHUFFLES[name], gives=1)
        case _:
            raise Beyond("in this form is not executed")


def _text(arg: object) -> str:
    return arg.value if isinstance(arg, tir.StringImm) else str(arg)


def of_ptx(item: PtxCall) -> Together:
    """What an instruction of a warp does. Fails where it is not executed."""
    family, key = item.family, (item.family, item.modifiers)
    match family, len(item.expressions):
        case "activemask", 1:
            return _written(item, 1, None, _active, converges=True)
        case "elect_sync", 3:
            return _written(item, 2, key, _elected_of_ptx)
        case "shfl_sync", (5 | 6) as count:
            mode = item.one_of("up", "down", "bfly", "idx")
            return _written(item, count - 4, (*key, count), _shuffle_of_ptx(mode, count == 6))
        case "vote_sync", 3:
            return _written(item, 1, key, partial(_voted, 0, item.one_of("all", "any", "uni", "ballot")))
        case "match", (3 | 4) as count if not (count == 4 and "any" in item):
            return _written(item, count - 2, (*key, count), partial(_matched, item.one_of("any", "all"), count == 4))
        case "redux_sync", 3 if "f32" not in item:
            op, dtype = item.one_of(*FOLDS), item.expressions[1].dtype
            if not dtype.is_integer or dtype.bits != 32:
                raise Beyond(f"on {dtype} is not executed")
            return _written(item, 1, key, partial(_folded, 0, op, dtype))
        case "redux_sync", 3:
            if str(item.expressions[1].dtype) != "float32" or item.one_of("min", "max") == "":
                raise Beyond(f"on {item.expressions[1].dtype} is not executed")
            return _written(item, 1, key, _folded_floats("max" in item, "abs" in item, "NaN" in item))
        case "bar", 1 if "warp" in item:
            return Together("warp", item.expressions, key, mask=0, orders=True)
        case _:
            raise Beyond("in this form is not executed")


def _written(item: PtxCall, count: int, key: object, rule: Rule, *, converges: bool = False) -> Together:
    """An instruction whose first `count` operands are written, and whose last one is the mask, if it has others."""
    destinations = tuple(operand for operand in item.expressions[:count] if isinstance(operand, tir.BufferLoad))
    if len(destinations) < count:
        raise Beyond("into what is no element of a buffer is not executed")
    operands = item.expressions[count:]
    mask = len(operands) - 1 if operands else None
    return Together("warp", operands, key, mask, rule, destinations, converges=converges)
