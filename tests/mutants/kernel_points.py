"""What C helpers must give on points, computed once from the value functions; and a library of helpers against it.

The points are few, so that thousands of wrong libraries can be looked at: the ends of each dtype, numbers near them,
and random ones. What survives them is looked at again on the points of `tests/unit/kernels`.
"""

import ctypes
import itertools
import math
import random
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests" / "unit" / "kernels"))

import points  # noqa: E402 - after the path
import wrappers  # noqa: E402 - the same

from refmlc.lang.dtypes import SCALARS  # noqa: E402 - the same
from refmlc.lang.dtypes.bits import encoder, from_bits  # noqa: E402 - the same
from refmlc.lang.dtypes.rounding import rounder  # noqa: E402 - the same
from refmlc.lang.dtypes.storage import storage_dtype  # noqa: E402 - the same
from refmlc.lang.ops.contract import UndefinedValue  # noqa: E402 - the same
from refmlc.lang.ops.scalar import SCALAR_OPS, converter  # noqa: E402 - the same
from refmlc.lang.ops.scalar.libm import LIBM_OPS  # noqa: E402 - the same
from refmlc.native import kernels  # noqa: E402 - the same

HEADERS = ROOT / "kernels_c"
INT64 = SCALARS["int64"]
FEW, SOME = 14, 250
DENSE = ("exp", "tanh", "erf", "sigmoid")  # of float32: polynomials of our own


@dataclass(frozen=True)
class Expected:
    """One helper: columns of operands, the results, where it is undefined, where the result counts."""

    helper: wrappers.Helper
    columns: list
    results: np.ndarray
    undefined: np.ndarray
    known: np.ndarray


def few(dtype, seed=0):
    """The ends of a dtype, what lies near them, and some more."""
    edges = points.boundary(dtype)
    rng = random.Random(f"{dtype.element} {seed}")  # noqa: S311 - reproducible, not secret
    return edges if len(edges) <= FEW else [*edges[:3], *edges[-3:], *rng.sample(edges, FEW - 6)]


def operands_of(contract, dtype):
    """The dtypes of operands and columns of values."""
    rng = random.Random(f"{contract.name} {dtype.element}")  # noqa: S311 - the same
    if contract.name == "ldexp":
        powers = (0, 1, -1, 7, -9, -30, 127, -149, 150, 1023, -1074, 2200, -2200, 2**62)
        rows = list(itertools.product(few(dtype), powers))
        return (dtype, INT64), columns_of(rows)
    if contract.name.startswith("q_multiply"):
        return fixed_point(contract, rng)
    if contract.arity == 1:
        values = points.boundary(dtype) if dtype.bits > 16 else points.every(dtype)
        values = rng.sample(values, min(len(values), 700)) + few(dtype)
        return (dtype,), [values + points.chance(dtype, SOME, 3)]
    rows = list(itertools.product(few(dtype), few(dtype, 1)))
    some = points.chance(dtype, SOME, 1)
    rows += [*zip(some, points.chance(dtype, SOME, 2), strict=True)]
    if dtype.bits > 8:
        rows += [*zip(some, points.near(dtype, some), strict=True)]
    return (dtype,) * 2, columns_of(rows)


def columns_of(rows):
    return [list(column) for column in zip(*rows, strict=True)]


def fixed_point(contract, rng):
    """Numbers and shifts around the ends of their ranges."""
    x, y = ([*points.chance(SCALARS["int32"], 12, seed), 3, -1, -(2**31), 2**31 - 1] for seed in (6, 7))
    q, s = (-1, 0, 1, 15, 31, 32, 62, 63, 64), (-64, -32, -1, 0, 1, 30, 31, 32, 62, 63, 64)
    if contract.arity == 4:
        others, kinds = [q, s], ("int32",) * 4
    else:
        others = [s, s, q, (False, True), (False, True)]
        kinds = ("int32", "int32", "int32", "int32", "int32", "bool", "bool")
    rows = [(rng.choice(x), rng.choice(y), *(rng.choice(other) for other in others)) for _ in range(4000)]
    return tuple(SCALARS[kind] for kind in kinds), columns_of(rows)


def expected_of(helper, function, types, lists, result, *, known_where_undefined=True):
    """What the value function says."""
    results, undefined, known = [], [], []
    for row in zip(*lists, strict=True):
        try:
            results.append(function(*row))
            undefined.append(False)
            known.append(True)
        except UndefinedValue as finding:
            results.append(0 if finding.wrapped is None else finding.wrapped)
            undefined.append(True)
            known.append(finding.wrapped is not None and known_where_undefined)
    columns = points.columns(types, lists)
    return Expected(helper, columns, np.array(results, points.value_type(result)), np.array(undefined), np.array(known))


def operators():
    """Every operator on every dtype."""
    found = []
    for (name, element), helper in wrappers.operator_helpers().items():
        dtype, row = SCALARS[element], SCALAR_OPS[name]
        operands, lists = operands_of(row.contract, dtype)
        types = operands if row.contract.rest is None else (dtype, *(INT64,) * (len(operands) - 1))
        result = row.contract.result_dtype(operands)
        value = row.value(operands, result)
        found.append(expected_of(helper, value, types, lists, result, known_where_undefined=name != "ceildiv"))
    return found


def transcendentals(mode):
    """Every transcendental on some dtypes; `mode` is cr or libm."""
    rows, found = {"cr": SCALAR_OPS, "libm": LIBM_OPS}[mode], []
    for name in SCALAR_OPS:
        contract = rows[name].contract
        if kernels.header_of(name) != kernels.TRANSCENDENTAL_HEADER:
            continue
        for element in ("float32", "float64", "float16", "bfloat16", "float8_e4m3fn", "float4_e2m1fn"):
            dtype = SCALARS[element]
            lists = [floats(dtype, contract.name, seed) for seed in range(contract.arity)]
            if (name, element) == ("hypot", "float64"):
                lists = [[*some, *more] for some, more in zip(lists, half_way(), strict=True)]
            helper = wrappers.operator_helper(contract, dtype)
            operands = (dtype,) * contract.arity
            found.append(expected_of(helper, rows[name].value(operands, dtype), operands, lists, dtype))
    return found


def half_way():
    """Legs of right triangles whose third side has 54 bits: the middle of two doubles; and numbers near those."""
    rng, rows = random.Random(3), []  # noqa: S311 - reproducible, not secret
    while len(rows) < 400:
        u, v = rng.getrandbits(27), rng.getrandbits(27)
        a, b, c = abs(u * u - v * v), 2 * u * v, u * u + v * v
        if c.bit_length() == 54 and c % 2 and int(float(a)) == a and int(float(b)) == b:
            rows += [(float(a), float(b)), (float(b), float(a)), (math.nextafter(a, 0), float(b)), (float(a), b + 1.0)]
    return columns_of(rows)


def floats(dtype, name, seed):
    """Numbers of the sizes where the functions do something, many for those that are computed here."""
    dense = (dtype.element == "float32" and name in DENSE) or name == "hypot"
    count = 20_000 if dense and dtype.bits >= 32 else 1200 if dtype.bits >= 32 else 300
    rng = random.Random(f"{dtype.element} {name} {seed}")  # noqa: S311 - reproducible, not secret
    sizes = [rng.gauss(0, 3) for _ in range(count // 2)]
    sizes += [rng.gauss(0, 1) * 2.0 ** rng.randint(-30, 8) for _ in range(count // 4)]
    found = [rounder(dtype)(size) for size in sizes] + points.chance(dtype, count // 4, seed) + points.boundary(dtype)
    values = [value for value in found if value == value or dtype.format.has_nan]  # noqa: PLR0124 - not NaN
    rng.shuffle(values)
    return values[: count + 20]


def cells():
    """Codes, and rounding."""
    found = []
    for (name, element), helper in wrappers.cell_helpers().items():
        dtype = SCALARS[element]
        match name:
            case "encode":
                values = few(dtype) + points.chance(dtype, SOME, 8)
                types, result = (dtype,), points.code_type(dtype)
                wanted = list(map(encoder(dtype), values))
            case "decode":
                codes = [random.Random(at).getrandbits(dtype.bits) for at in range(SOME)]  # noqa: S311 - the same
                values = [code & 1 for code in codes] if dtype.kind == "bool" else codes
                types, result = None, points.value_type(dtype)
                wanted = [from_bits(dtype, code) for code in values]
            case _:
                double = name == "rounded" or element in ("float64", "float8_e8m0fnu")
                types = (SCALARS["float64" if double else "float32"],)
                values = points.boundary(types[0]) + points.chance(types[0], SOME, 9) + ties(dtype)
                if not double:
                    values = [rounder(types[0])(value) for value in values]
                result, wanted = points.value_type(dtype), list(map(rounder(dtype), values))
        column = np.array(values, points.code_type(dtype) if types is None else points.value_type(types[0]))
        every = np.ones(len(values), bool)
        found.append(Expected(helper, [column], np.array(wanted, result), ~every, every))
    return found


class Stored(wrappers.Helper):
    """A store, or a load, in the shape of an operator."""

    @property
    def wrapper(self):
        verb, element = self.name.split(" ")
        value, cell = f"rm_{element}", f"rm_{element}_cell"
        body = (
            f"rm_put_{element}(({cell} *)out, i, ((const {value} *)columns[0])[i])"
            if verb == "put"
            else f"(({value} *)out)[i] = rm_get_{element}((const {cell} *)columns[0], i)"
        )
        return (
            f"void all_{verb}_{element}(const void **columns, void *out, uint8_t *undefined, int64_t count) {{\n"
            f"  for (int64_t i = 0; i < count; i++) {{ {body}; undefined[i] = 0; }}\n}}\n"
        )

    @property
    def symbol(self):
        return f"all_{self.name.replace(' ', '_')}"


def stores():
    """Stores and loads, against what NumPy and ml_dtypes hold for a value; every byte can be loaded."""
    found = []
    for dtype in wrappers.DTYPES:
        stored = storage_dtype(dtype)
        values = [value for value in few(dtype) + points.chance(dtype, SOME, 8) if value == value]  # noqa: PLR0124
        column = np.array(values, points.value_type(dtype))
        cells = np.array(values, stored).view(f"u{stored.itemsize}")
        every = np.ones(len(values), bool)
        for verb, given, wanted in (("put", column, cells), ("get", cells, column)):
            helper = Stored(f"{verb} {dtype.element}", (), "", undefined=False)
            found.append(Expected(helper, [given], wanted, ~every, every))
        found.append(junk(dtype))
    return found


def junk(dtype):
    """Loads of codes with bits above them, which nobody looks at: of bool any bit counts."""
    size = 8 * storage_dtype(dtype).itemsize
    rng = random.Random(dtype.element)  # noqa: S311 - reproducible, not secret
    cells = [rng.getrandbits(size) for _ in range(SOME)]
    code = (1 << dtype.bits) - 1
    values = (
        [cell != 0 for cell in cells] if dtype.kind == "bool" else [from_bits(dtype, cell & code) for cell in cells]
    )
    every = np.ones(len(values), bool)
    helper = Stored(f"get {dtype.element}", (), "", undefined=False)
    return Expected(
        helper, [np.array(cells, f"u{size // 8}")], np.array(values, points.value_type(dtype)), ~every, every
    )


def ties(dtype):
    """Numbers half way between neighbours, and next to these, below the greatest and above the least."""
    if not dtype.is_float or dtype.bits > 32:
        return []
    step = 2.0**-dtype.format.fraction_bits
    middles = [(1 + (2 * at + 1) * step / 2) * 2.0**power for at in range(4) for power in (0, 1, -1, 3)]
    top, least = dtype.format.maximum, dtype.format.smallest
    middles += [top * (1 + step / 4), top * (1 + step), least / 2, least * 1.5, least * 2.5, top, top * 1.01, top * 1.5]
    near = [np.nextafter(one, way) for one in middles for way in (0.0, np.inf)]
    return [float(sign * one) for one in (*middles, *near) for sign in (1, -1)]


def conversions():
    """Every conversion and reinterpretation."""
    found = []
    for (source, target), helper in wrappers.cast_helpers().items():
        a, b = SCALARS[source], SCALARS[target]
        lists = [few(a) + points.chance(a, 60, 4) + crossing(a, b)]
        found.append(expected_of(helper, converter(a, b), (a,), lists, b))
    for (source, target), helper in wrappers.reinterpret_helpers().items():
        a, b = SCALARS[source], SCALARS[target]
        values = SCALAR_OPS["reinterpret"].value((a,), b)
        lists = [[value for value in few(a) + points.chance(a, 60, 4) if value == value]]  # noqa: PLR0124 - not NaN
        found.append(expected_of(helper, values, (a,), lists, b))
    return found


def crossing(a, b):
    """Values of `a` around the ends of `b`, and around its ties."""
    if a.is_integer and b.is_float:
        places = [1 << bits for bits in range(a.bits)]
        near = [place + by for place in places for by in (-1, 0, 1)]
        near += [sum(1 << bit for bit in bits) for bits in itertools.combinations(range(0, a.bits, 5), 2)]
        digits = b.format.precision
        tops = range(digits, a.bits)  # ties, and next to them by any bit below
        near += [
            (1 << top) + (1 << (top - digits)) + side
            for top in tops
            for low in range(13)
            for side in (1 << low, -1 << low, 0)
        ]
        return [value for one in near for value in (one, -one) if a.minimum <= value <= a.maximum]
    if not a.is_float:
        return []
    ends = [b.minimum, b.maximum] if b.is_integer else [float(value) for value in ties(b)]
    near = [end + by for end in ends for by in ((-1, -0.5, 0, 0.5, 1) if b.is_integer else (0,))]
    return [value for value in map(rounder(a), map(float, near)) if value == value]  # noqa: PLR0124 - not NaN


class Wrapped:
    """The wrappers of many helpers as one translation unit, to be compiled against other headers."""

    def __init__(self, name, expected, before="", head="") -> None:
        self.name = name
        self.expected = expected
        calls = "".join({one.helper.name: one.helper.wrapper for one in expected}.values())
        self.text = f"{head}#define RM_USE_ALL\n{wrappers.INCLUDES}{before}{calls}"

    def compiled(self, command, headers, folder):
        """The library, or None where this is not C."""
        source, target = folder / f"{self.name}.c", folder / f"{self.name}.so"
        source.write_text(self.text, encoding="ascii")
        flags = ["-w", "-shared", "-fPIC", f"-I{headers}"]
        done = subprocess.run(
            [*command, *flags, str(source), "-o", str(target), "-lm"], capture_output=True, check=False, timeout=120
        )
        return target if done.returncode == 0 else None

    def first_difference(self, library):
        """The first helper that is wrong, and a point; empty: none is."""
        loaded = ctypes.CDLL(str(library))
        for one in self.expected:
            wrong = differs(loaded[getattr(one.helper, "symbol", f"all_{one.helper.name}")], one)
            if wrong:
                return wrong
        return ""


def differs(function, one):
    """A point on which the helper is wrong."""
    count = len(one.columns[0])
    out, undefined = np.zeros(count, one.results.dtype), np.zeros(count, np.uint8)
    pointers = (ctypes.c_void_p * len(one.columns))(*(column.ctypes.data for column in one.columns))
    function.restype = None
    function(pointers, ctypes.c_void_p(out.ctypes.data), ctypes.c_void_p(undefined.ctypes.data), ctypes.c_int64(count))
    wrong = (points.differing(out, one.results) & one.known) | (undefined.astype(bool) != one.undefined)
    places = np.flatnonzero(wrong)
    if not len(places):
        return ""
    at = places[0]
    operands = ", ".join(str(column[at]) for column in one.columns)
    if undefined[at] != one.undefined[at]:
        return f"{one.helper.name}_undefined({operands}) is {bool(undefined[at])}"
    return f"{one.helper.name}({operands}) gives {out[at]}, not {one.results[at]}"
