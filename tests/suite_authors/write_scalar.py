"""Area `scalar`: every scalar operator on every dtype. The witness is exact arithmetic, or mpmath; see `rounding`.

| operators                              | computed as                                                            |
|----------------------------------------|------------------------------------------------------------------------|
| of integers                            | Python's integers, put into the dtype; what does not fit is left out   |
| + - * / fmod, rounding, comparison     | rationals, rounded once                                                 |
| sqrt, exp and the like                 | mpmath at 200 bits; the interval is the clause's bound, rounded          |
"""

import math
import operator
import sys
from fractions import Fraction

import numpy as np
from book import KEPT, Asked, Book, empty, given, want, written
from points import edges, pairs, some
from rounding import (
    FINITE,
    FLOATS,
    INTS,
    SMALL_INTS,
    array,
    bits_of,
    exact,
    format_of,
    limits,
    rounded,
    stored,
    wrapped,
)
from transcendental import BOUNDS, enclosed

FUNCTION = """    @T.prim_func(s_tir=True)
    def {name}({params}):
        for i in range({n}):
            R[i] = {form}
"""
HEAD = "# from tvm.script import ir as I, tirx as T\n@I.ir_module\nclass Module:\n"
ALL_INTS = (*INTS, *SMALL_INTS)
APART = ("isnan", "isinf", "isfinite", "abs", "pow")
"""Operators that TVM's parser refuses of some dtypes: each dtype has a module of its own."""
NO = object()
"""No value: undefined there, or no value of the dtype."""


def put(value, name):
    """An exact integer in a dtype: narrow ones wrap, of wide ones it must be a value."""
    low, high = limits(name)
    return value if low <= value <= high else wrapped(value, name) if bits_of(name) < 32 else NO


def trunc_quotient(a, b):
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def quotient(of):
    def value(a, b, name):
        low, _high = limits(name)
        if b == 0 or (low < 0 and a == low and b == -1):
            return NO
        return of(a, b)

    return value


def ceildiv(a, b, name):
    if b == 0:
        return NO
    step = put(a + b, name)
    step = NO if step is NO else put(step - 1, name)
    return NO if step is NO or (b == -1 and step == limits(name)[0]) else step // b


def shifted_left(a, b, name):
    return wrapped(a << b, name) if 0 <= b < bits_of(name) else NO


def shifted_right(a, b, name):
    return a >> b if 0 <= b < bits_of(name) else NO


INTEGER = {
    "add": ("NUM-101", "{0} + {1}", lambda a, b, n: put(a + b, n)),
    "sub": ("NUM-101", "{0} - {1}", lambda a, b, n: put(a - b, n)),
    "mul": ("NUM-101", "{0} * {1}", lambda a, b, n: put(a * b, n)),
    "div": ("NUM-103", "T.Div({0}, {1})", quotient(trunc_quotient)),
    "truncdiv": ("NUM-104", "T.truncdiv({0}, {1})", quotient(trunc_quotient)),
    "truncmod": ("NUM-104", "T.truncmod({0}, {1})", quotient(lambda a, b: a - b * trunc_quotient(a, b))),
    "floordiv": ("NUM-104", "{0} // {1}", quotient(operator.floordiv)),
    "floormod": ("NUM-104", "{0} % {1}", quotient(operator.mod)),
    "ceildiv": ("NUM-105", "T.ceildiv({0}, {1})", ceildiv),
    "max": ("NUM-106", "T.max({0}, {1})", lambda a, b, n: max(a, b)),
    "min": ("NUM-106", "T.min({0}, {1})", lambda a, b, n: min(a, b)),
    "bitwise_and": ("NUM-201", "T.bitwise_and({0}, {1})", lambda a, b, n: a & b),
    "bitwise_or": ("NUM-201", "T.bitwise_or({0}, {1})", lambda a, b, n: a | b),
    "bitwise_xor": ("NUM-201", "T.bitwise_xor({0}, {1})", lambda a, b, n: a ^ b),
    "shift_left": ("NUM-202", "T.shift_left({0}, {1})", shifted_left),
    "shift_right": ("NUM-202", "T.shift_right({0}, {1})", shifted_right),
    "abs": ("NUM-107", "T.fabs({0})", lambda a, n: put(abs(a), n)),
    "bitwise_not": ("NUM-201", "~{0}", lambda a, n: wrapped(~a, n)),
    "popcount": ("NUM-203", "T.popcount({0})", lambda a, n: wrapped((a % 2 ** bits_of(n)).bit_count(), n)),
}
COMPARE = {
    "eq": ("{0} == {1}", operator.eq),
    "ne": ("{0} != {1}", operator.ne),
    "lt": ("{0} < {1}", operator.lt),
    "le": ("{0} <= {1}", operator.le),
    "gt": ("{0} > {1}", operator.gt),
    "ge": ("{0} >= {1}", operator.ge),
}


def exactly(of):
    """A function of two finite rationals; everything else is as Python's floats have it."""

    def value(a, b, name):
        if math.isfinite(a) and math.isfinite(b):
            found = of(Fraction(a), Fraction(b))
            return signed_zero(of, a, b) if found == 0 else found
        return of(a, b)

    return value


def signed_zero(of, a, b):
    """The sign of an exact zero: IEEE 754, 6.3. Python's own operators have it for zero operands and a - a."""
    if of is operator.mul:
        return math.copysign(1, a) * math.copysign(0.0, b)
    return of(a, b) if of in (operator.add, operator.sub) else math.copysign(0.0, a)


def divided(a, b, name):
    if math.isnan(a) or math.isnan(b) or (math.isinf(a) and math.isinf(b)) or (a == 0 and b == 0):
        return math.nan
    sign = math.copysign(1, a) * math.copysign(1, b)
    if math.isinf(a) or b == 0:
        return math.copysign(math.inf, sign)
    if a == 0 or math.isinf(b):
        return math.copysign(0.0, sign)
    return Fraction(a) / Fraction(b)


def remainder(a, b, name):
    if math.isnan(a) or math.isnan(b) or math.isinf(a) or b == 0:
        return math.nan
    if math.isinf(b) or a == 0:
        return exact(a)
    left = abs(Fraction(a)) % abs(Fraction(b))
    return (left if a > 0 else -left) if left else math.copysign(0.0, a)


def next_after(a, b, name):
    if math.isnan(a) or math.isnan(b):
        return math.nan
    if a == b:
        return exact(b)
    return beside(a, b > a, name)


def beside(a, up, name):
    """The next value of the dtype, found by bisection on what rounds to `a`: doubling steps until it changes."""
    table = values_of(name)
    if table is not None:
        near = next((v for v in (table if up else table[::-1]) if (v > a if up else v < a)), NO)
        return math.copysign(0.0, a) if near == 0 else exact(near)
    kind = np.float32 if name == "float32" else np.float64
    return exact(float(np.nextafter(kind(a), kind(math.inf if up else -math.inf))))


def values_of(name):
    """All values of a dtype of at most 16 bits in order."""
    kind = stored(name)
    if kind.itemsize > 2:
        return None
    width = {"float6_e2m3fn": 6, "float6_e3m2fn": 6, "float4_e2m1fn": 4}.get(name, 8 * kind.itemsize)
    with np.errstate(all="ignore"):
        codes = np.arange(1 << width, dtype=f"u{kind.itemsize}").view(kind).astype(np.float64)
    return sorted({float(v) for v in codes if not math.isnan(v)})


def keeps_sign(of):
    """Rounding to an integer: a zero result has the sign of the operand."""

    def value(a, name):
        if not math.isfinite(a):
            return a
        found = Fraction(of(Fraction(a)))
        return found or math.copysign(0.0, a)

    return value


def has_sign(b):
    return not math.isnan(b) and math.copysign(1, b) < 0


FLOATING = {
    "add": ("NUM-101", "{0} + {1}", exactly(operator.add)),
    "sub": ("NUM-101", "{0} - {1}", exactly(operator.sub)),
    "mul": ("NUM-101", "{0} * {1}", exactly(operator.mul)),
    "div": ("NUM-103", "{0} / {1}", divided),
    "truncmod": ("NUM-104", "T.truncmod({0}, {1})", remainder),
    "fmod": ("NUM-504", "T.fmod({0}, {1})", remainder),
    "max": ("NUM-106", "T.max({0}, {1})", lambda a, b, n: exact(max(b, a))),
    "min": ("NUM-106", "T.min({0}, {1})", lambda a, b, n: exact(min(b, a))),
    "copysign": ("NUM-505", "T.copysign({0}, {1})", lambda a, b, n: exact(-abs(a) if has_sign(b) else abs(a))),
    "nextafter": ("NUM-505", "T.nextafter({0}, {1})", next_after),
    "abs": ("NUM-107", "T.fabs({0})", lambda a, n: exact(abs(a))),
    "ceil": ("NUM-401", "T.ceil({0})", keeps_sign(math.ceil)),
    "floor": ("NUM-401", "T.floor({0})", keeps_sign(math.floor)),
    "trunc": ("NUM-401", "T.trunc({0})", keeps_sign(math.trunc)),
    "round": ("NUM-402", "T.round({0})", keeps_sign(round)),
    "nearbyint": ("NUM-402", "T.nearbyint({0})", keeps_sign(round)),
}
CLASSES = {
    "isnan": ("T.isnan({0})", math.isnan),
    "isinf": ("T.isinf({0})", math.isinf),
    "isfinite": ("T.isfinite({0})", math.isfinite),
}


def main():
    """All operators."""
    book = Book("scalar", "exact arithmetic", strict=False)
    for op, (clause, form, of) in INTEGER.items():
        arity = 2 if "{1}" in form else 1
        rows = []
        for name in ALL_INTS:
            points = pairs(name, 56) if arity == 2 else [(v,) for v in [*edges(name), *some(name, 8)]]
            if op.startswith("shift"):
                points = shift_points(name)
            rows.append((name, clause, form, points, lambda *p, n=name, f=of: f(*p, n), name))
        family(book, op, "integers", rows)
    for op, (form, of) in COMPARE.items():
        rows = [(n, "NUM-301", form, pairs(n, 56), of, "bool") for n in ("bool", *ALL_INTS)]
        family(book, op, "integers", rows)
        family(book, op, "floats", [(n, "NUM-301", form, pairs(n, 56), of, "bool") for n in FLOATS])
    for op, (clause, form, of) in FLOATING.items():
        rows = []
        for name in FLOATS:
            arity = 2 if "{1}" in form else 1
            points = pairs(name, 60) if arity == 2 else [(v,) for v in [*edges(name), *some(name, 8)]]
            rows.append((name, clause, form, points, lambda *p, n=name, f=of: in_format(f(*p, n), n), name))
        family(book, op, "floats", rows)
    for op, (form, of) in CLASSES.items():
        family(book, op, "floats", [(n, "NUM-304", form, [(v,) for v in edges(n)], of, "bool") for n in FLOATS])
    others(book)
    transcendentals(book)
    sys.stdout.write("".join(f"{line}\n" for line in book.disagreements))


def others(book):
    """Booleans, clz, ldexp."""
    logic = {"bitwise_and": operator.and_, "bitwise_or": operator.or_, "bitwise_xor": operator.xor}
    rows = [("bool", "NUM-201", f"T.{op}({{0}}, {{1}})", pairs("bool", 4), of, "bool") for op, of in logic.items()]
    for (op, _), row in zip(logic.items(), rows, strict=True):
        family(book, op, "bool", [row])
    family(book, "not", "bool", [("bool", "NUM-302", "not {0}", [(False,), (True,)], operator.not_, "bool")])
    family(book, "bitwise_not", "bool", [("bool", "NUM-201", "~{0}", [(False,), (True,)], operator.not_, "bool")])
    family(book, "likely", "bool", [("bool", "NUM-303", "T.likely({0})", [(False,), (True,)], bool, "bool")])
    rows = []
    for name in ("int32", "uint32", "int64", "uint64"):
        points = [(v,) for v in [*edges(name), *some(name, 16)] if v]
        rows.append(
            (
                name,
                "NUM-203",
                "T.clz({0})",
                points,
                lambda a, n=name: bits_of(n) - (a % 2 ** bits_of(n)).bit_length(),
                "int32",
            )
        )
    family(book, "clz", "integers", rows)
    rows = []
    for name in FLOATS:
        points = [(v, k) for v in edges(name)[:16] for k in (-20, -1, 0, 3)] + [
            (1.0, 40),
            (1.0, -40),
            (1.0, -1100),
            (1.0, 2000),
        ]
        points = [p for p in points if p[0] in edges(name) or math.isnan(p[0])]
        rows.append(
            (
                (name, "int32"),
                "NUM-505",
                "T.ldexp({0}, {1})",
                points,
                lambda a, k, n=name: in_format(scaled(a, k), n),
                name,
            )
        )
    family(book, "ldexp", "floats", rows)


def scaled(a, k):
    return Fraction(a) * Fraction(2) ** k if math.isfinite(a) and a else a


def shift_points(name):
    width = bits_of(name)
    counts = sorted({k for k in (0, 1, 2, width // 2, width - 1) if k <= limits(name)[1]})
    return [(v, k) for v in edges(name)[:14] for k in counts]


def in_format(value, name):
    if value is NO:
        return NO
    found = rounded(value, name)
    return NO if found is None else found


def family(book, op, group, rows):
    """The functions of one operator as one module; a case for each dtype."""
    made = []
    for source, clause, form, points, of, result in rows:
        sources = (source,) * len(points[0]) if isinstance(source, str) else source
        kept = [(point, of(*point)) for point in points]
        kept = [(point, value) for point, value in kept if value is not NO]
        letters = "AB"[: len(sources)]
        params = ", ".join(
            f'{x}: T.Buffer(({len(kept)},), "{d}")' for x, d in zip((*letters, "R"), (*sources, result), strict=True)
        )
        name = f"{op}_{sources[0]}"
        text = FUNCTION.format(name=name, params=params, n=len(kept), form=form.format(*(f"{x}[i]" for x in letters)))
        args = [given(array([point[k] for point, _ in kept], d)) for k, d in enumerate(sources)]
        made.append((name, sources[0], clause, text, args, array([value for _, value in kept], result)))
    size = 1 if op in APART else 6
    for start in range(0, len(made), size):
        part = made[start : start + size]
        module = HEAD + "\n".join(text for _, _, _, text, _, _ in part)
        for name, dtype, clause, _, args, expected in part:
            clauses = [clause, *formats(dtype, expected)]
            call = Asked([*args, empty(expected.shape, str(expected.dtype))], [KEPT] * len(args) + [want(expected)])
            book.case(f"scalar.{op}.{dtype}", clauses, module, name, [call])
    book.write(
        f"{op}-{group}" if group != "integers" else f"{op}-integers", f"{op} of {group}: the edges of each dtype."
    )


def formats(dtype, expected):
    """The clause by which a float result was rounded."""
    name = str(expected.dtype)
    if name != dtype or "float" not in name:
        return []
    if name in FINITE:
        return ["NUM-004"]
    if "e8m0" in name:
        return ["NUM-005"]
    if "fnuz" in name:
        return ["NUM-003"]
    return ["NUM-002"] if name == "float8_e4m3fn" else ["NUM-001"]


def transcendentals(book):
    """Functions whose exact values are no rationals, within the bound of the clause."""
    book.witness = "mpmath"
    for op in BOUNDS:
        rows = [(name, *enclosed(op, name)) for name in FLOATS]
        clause = "NUM-502" if op in ("sqrt", "rsqrt") else "NUM-503" if op in ("pow", "atan2", "hypot") else "NUM-501"
        size = 1 if op in APART else 5
        for start in range(0, len(rows), size):
            part = rows[start : start + size]
            texts = []
            for name, points, _, _, _ in part:
                letters = "AB"[: len(points[0])]
                params = ", ".join(f'{x}: T.Buffer(({len(points)},), "{name}")' for x in (*letters, "R"))
                form = f"T.{op}({', '.join(f'{x}[i]' for x in letters)})"
                texts.append(FUNCTION.format(name=f"{op}_{name}", params=params, n=len(points), form=form))
            module = HEAD + "\n".join(texts)
            for name, points, values, low, high in part:
                one(book, op, clause, name, module, (points, values, low, high))
        book.write(f"{op}-floats", f"{op}: the edges of each dtype.")


def one(book, op, clause, name, module, found):
    points, values, low, high = found
    expected = array(values, name)
    part = want(expected)
    if any(repr(a) != repr(b) for a, b in zip(low, high, strict=True)):
        ends = [interval(*pair, name) for pair in zip(low, high, strict=True)]
        part = want(
            expected,
            rule="certified",
            low=[e[0] for e in ends],
            high=[e[1] for e in ends],
            specials=[e[2] for e in ends],
        )
    args = [given(array([p[k] for p in points], name)) for k in range(len(points[0]))]
    call = Asked([*args, empty(expected.shape, name)], [KEPT] * len(args) + [part])
    modes = ["NUM-506"] if clause != "NUM-502" else []
    book.case(f"scalar.{op}.{name}", [clause, *modes, *formats(name, expected)], module, f"{op}_{name}", [call])


def interval(low, high, name):
    """The ends as they are written: infinite ones and NaN are specials, an empty interval has its ends exchanged."""
    if math.isnan(low):
        return "inf", "-inf", "nan"
    top = float(format_of(name).top)
    told = " ".join(str(v) for v in dict.fromkeys((low, high)) if math.isinf(v))
    if low == high and math.isinf(low):
        return "inf", "-inf", told
    return written(np.float64(max(low, -top))), written(np.float64(min(high, top))), told


if __name__ == "__main__":
    main()
