"""Operands to compare on: every value where there are few, else boundaries and seeded random ones; and comparing."""

import itertools
import math
import random

import numpy as np

from refmlc.lang.dtypes.bits import from_bits
from refmlc.lang.ops.contract import UndefinedValue

ALL_VALUES_BITS, ALL_PAIRS_BITS = 16, 8


def value_type(dtype):
    """The NumPy dtype of the C type that holds values of `dtype`."""
    match dtype.kind:
        case "bool":
            return np.dtype(np.bool_)
        case "float":
            return np.dtype(np.float64 if dtype.element == "float64" else np.float32)
        case kind:
            return np.dtype(f"{kind}{max(dtype.bits, 8)}")


def code_type(dtype):
    """The NumPy dtype of its codes."""
    return np.dtype(f"uint{max(dtype.bits, 8)}")


def distinct(values):
    """The values, one of each: 0 and -0 are two, NaN is one."""
    seen = {}
    for value in values:
        seen.setdefault("nan" if math.isnan(value) else (value, math.copysign(1, value)), value)
    return list(seen.values())


def every(dtype):
    """Every value of a dtype of at most 16 bits."""
    codes = (0, 1) if dtype.kind == "bool" else range(1 << dtype.bits)
    return distinct(from_bits(dtype, code) for code in codes)


def boundary(dtype):
    """Values where something happens."""
    if dtype.bits <= ALL_PAIRS_BITS:
        return every(dtype)
    if dtype.is_integer:
        near = {offset + place for place in (0, dtype.minimum, dtype.maximum) for offset in range(-3, 4)}
        roots = {sign * (1 << dtype.bits // 2) + offset for sign in (-1, 1) for offset in (-1, 0, 1)}
        powers = {sign * 10**power for sign in (-1, 1) for power in (1, 2, 5, 10, 18)} | {dtype.bits - 1, dtype.bits}
        return sorted(n for n in near | roots | powers if dtype.minimum <= n <= dtype.maximum)
    row = dtype.format
    top, least = row.maximum, row.smallest
    normal = math.ldexp(1.0, row.minimum_exponent)
    step = math.ldexp(1.0, -row.fraction_bits)
    sizes = [0.0, least, 2 * least, 3 * least, normal - least, normal, normal + least, top, top * (1 - step / 2)]
    sizes += [
        0.5,
        0.75,
        1.0,
        1 - step / 2,
        1 + step,
        1.5,
        1.5 + step,
        2.0,
        2.5,
        3.0,
        7.0,
        10.0,
        100.0,
        1 / step,
        2 / step,
    ]
    sizes += [top / 2, math.sqrt(normal), math.inf]
    sizes = [rounded_to(dtype, size) for size in sizes]
    return distinct([math.nan, *sizes, *(-size for size in sizes)])


def rounded_to(dtype, number):
    """A nearby value of the dtype: NumPy's narrowing, or without the digits that do not fit."""
    if dtype.element == "float64":
        return float(number)
    with np.errstate(over="ignore"):
        single = float(np.float16(number) if dtype.element == "float16" else np.float32(number))
    if dtype.element != "bfloat16" or not math.isfinite(single):
        return single
    bits = np.float32(single).view(np.uint32) & np.uint32(0xFFFF0000)
    return float(bits.view(np.float32))


def chance(dtype, count, seed):
    """Random values: random codes, and for 32 bits and more numbers of every size."""
    rng = random.Random(f"{dtype.element} {seed}")  # noqa: S311 - reproducible, not secret
    codes = [from_bits(dtype, rng.getrandbits(dtype.bits)) for _ in range(count)]
    if not dtype.is_integer:
        return codes
    small = [from_bits(dtype, rng.getrandbits(dtype.bits) >> rng.randrange(dtype.bits)) for _ in range(count)]
    return [rng.choice(pair) for pair in zip(codes, small, strict=True)]


def unary(dtype, count):
    if dtype.bits <= ALL_VALUES_BITS:
        return [every(dtype)]
    return [[*boundary(dtype), *chance(dtype, count, 0)]]


def binary(dtype, count):
    """Columns of both operands."""
    edges = boundary(dtype)
    pairs = list(itertools.product(edges, edges))
    if dtype.bits > ALL_PAIRS_BITS:
        some = chance(dtype, count, 1)
        pairs += zip(some, chance(dtype, count, 2), strict=True)
        pairs += zip(some, near(dtype, some), strict=True)
    return [list(column) for column in zip(*pairs, strict=True)]


def near(dtype, values):
    """Values not far from `values`, so that sums cancel and quotients come near to ties."""
    rng = random.Random(f"near {dtype.element}")  # noqa: S311 - reproducible, not secret
    if dtype.is_integer:
        return [max(dtype.minimum, min(dtype.maximum, value + rng.randrange(-8, 9))) for value in values]
    return [rounded_to(dtype, value * rng.choice((1, -1)) * (1 + rng.random())) for value in values]


def columns(operands, lists):
    """Arrays of the C types that hold the operands."""
    return [np.array(values, value_type(dtype)) for dtype, values in zip(operands, lists, strict=True)]


def expected(function, lists, *, may_be_undefined):
    """What the value function says: results (0 where there is none), where it is undefined, where there is a result."""
    if not may_be_undefined:
        results = list(map(function, *lists))
        return results, np.zeros(len(results), bool), np.ones(len(results), bool)
    results, undefined, known = [], [], []
    for operands in zip(*lists, strict=True):
        try:
            results.append(function(*operands))
            undefined.append(False)
            known.append(True)
        except UndefinedValue as finding:
            results.append(0 if finding.wrapped is None else finding.wrapped)
            undefined.append(True)
            known.append(finding.wrapped is not None)
    return results, np.array(undefined), np.array(known)


def differing(found, wanted):
    """Where two arrays differ: NaN is one value, 0 and -0 are two."""
    wanted = np.array(wanted, found.dtype)
    same = found == wanted
    if found.dtype.kind == "f":
        same = (same & (np.signbit(found) == np.signbit(wanted))) | (np.isnan(found) & np.isnan(wanted))
    return ~same


def first_lines(where, lists, found, wanted):
    """A few of the points where something differs, to read."""
    return [
        f"{tuple(values[i] for values in lists)}: C {found[i]!r}, Python {wanted[i]!r}"
        for i in np.flatnonzero(where)[:5]
    ]
