"""Areas `cast`, `scalar`, `undefined`: where conversions and integers change their mind. The witness is exact arithmetic.

| function                       | asked of it                                                                          |
|--------------------------------|--------------------------------------------------------------------------------------|
| `rounds`                       | casts from float64 to the middle of two neighbours, and to what lies next to it       |
| `integers`                     | casts from integers that binary64 does not hold                                       |
| `codes` and the like, `bits`   | every code of 8 bits, of wider formats those where its meaning changes; one bit        |
| `results`, `beyond`            | the least and the greatest result of a dtype, and the first that it does not hold      |
| `lanes`, `lanes_beyond`        | the same in vectors                                                                  |
| `products`, `ones` and the like | fixed-point products at the ends of the shifts                                        |
"""

import itertools
import math
import random
import sys
from fractions import Fraction

import numpy as np
from book import KEPT, Asked, Book, empty, given, want
from hand import ask, i32, new, tir, undefined
from rounding import FLOAT8, FLOATS, INTS, SMALL_INTS, WIDE, array, bits_of, exact, format_of, limits, rounded, stored
from write_cast import function
from write_scalar import HEAD, NO, ceildiv, formats, quotient, trunc_quotient, values_of

NARROW = tuple(name for name in FLOATS if name not in ("float32", "float64"))


def one(book, name, clauses, form, sources, result, points, values):
    """A case: the form at each point, in one loop. `values` are exact; they must be values of the dtype."""
    letters = "ABCD"[: len(sources)]
    params = ", ".join(
        f'{x}: T.Buffer(({len(points)},), "{d}")' for x, d in zip((*letters, "R"), (*sources, result), strict=True)
    )
    text = tir(params, f"for i in range({len(points)}):\n    R[i] = " + form.format(*(f"{x}[i]" for x in letters)))
    columns = [array([point[k] for point in points], d) for k, d in enumerate(sources)]
    ask(
        book,
        name,
        clauses,
        text,
        ([*columns, new([len(points)], result)], [KEPT] * len(columns) + [array(values, result)]),
    )


def kept(points, of):
    """The points that have a value, and the values."""
    found = [(point, of(*point)) for point in points]
    found = [(point, value) for point, value in found if value is not NO and value is not None]
    return [point for point, _ in found], [value for _, value in found]


def middles(name):
    """Numbers of binary64 between neighbours of a dtype: the middle, what is next to it, and a quarter."""
    row = format_of(name)
    table = values_of(name)
    least = 2.0 ** (row.low - row.digits + 1) if name != "float8_e8m0fnu" else 2.0**-127
    top = float(row.top)
    if table is not None:
        positive = [v for v in table if v > 0 and math.isfinite(v)]
        draw = random.Random(f"middles {name}")  # noqa: S311 - the same in every run
        low = positive.index(2.0**row.low) if 2.0**row.low in positive else 1
        starts = {0, 1, low - 1, low, len(positive) - 2, *(draw.randrange(len(positive) - 1) for _ in range(7))}
        between = [(positive[at], positive[at + 1]) for at in sorted(starts) if at >= 0]
    else:
        first = (least, 2.0**row.low - least, 2.0**row.low, 0.7, 1.1)
        between = [(v, v + max(least, math.ulp(v) * 2**29)) for v in first]
    between += [(0.0, least), (top, top + (top - below(top, row)))]
    numbers = []
    for first, second in between:
        middle = first + (second - first) / 2
        numbers += [middle, math.nextafter(middle, 0.0), math.nextafter(middle, math.inf), first + (second - first) / 4]
    return [*numbers, *(-x for x in numbers[::3]), 2 * top, -2 * top, 1e300, -1e300, 5e-324, -5e-324, least / 4]


def below(top, row):
    return float(row.top - Fraction(2) ** (math.frexp(top)[1] - row.digits)) if row.digits > 1 else top / 2


def rounds(book):
    for name in (*NARROW, "float32"):
        points, values = kept([(x,) for x in middles(name)], lambda x, n=name: rounded(exact(x), n))
        clauses = ["NUM-704", *formats("", np.zeros(1, stored(name)))]
        one(book, f"cast.middle.float64.{name}", clauses, f'T.Cast("{name}", {{0}})', ["float64"], name, points, values)
    book.write("cast-middle", "Casts from float64 of what lies between two neighbours of the target.")


def wholes(name, signed):
    """Integers of 64 bits, most beyond 2**53: in the middle of two values of a float dtype, and next to it."""
    digits = format_of(name).digits
    found = [2**53 - 1, 2**53, 2**53 + 1, 2**53 + 2, 2**53 + 3, 2**54 + 2, 2**54 + 6, 2**62 + 12345]
    for power, even in itertools.product((53, 54, 57, 62), (0, 1)):
        step = 2 ** (power - digits + 1) if digits < 53 else 2 ** (power - 52)
        middle = 2**power + even * step + step // 2
        found += [middle - 1, middle, middle + 1]
    found += [2**63 - 1, 2**62 + 2**61, 2**62 + 2**61 - 1, 65519, 65520, 464, 465, 240, 61440]
    more = (
        [-x for x in found] + [-(2**63)]
        if signed
        else [2**64 - 1, 2**63, 2**63 + 2**10, 2**63 + 2**10 + 1, 2**63 + 3 * 2**10]
    )
    low, high = limits("int64" if signed else "uint64")
    return [x for x in dict.fromkeys([*found, *more]) if low <= x <= high]


def integers(book):
    for name, source in itertools.product(FLOATS, ("int64", "uint64")):
        points, values = kept(
            [(x,) for x in wholes(name, source == "int64")], lambda x, n=name: rounded(Fraction(x), n)
        )
        clauses = ["NUM-704", *formats("", np.zeros(1, stored(name)))]
        one(book, f"cast.beyond.{source}.{name}", clauses, f'T.Cast("{name}", {{0}})', [source], name, points, values)
    book.write("cast-beyond", "Casts of integers of 64 bits, in the middle of two floats and next to it.")


def turning(name):
    """Codes of a float dtype where their meaning changes, of both signs, with NaN of any payload."""
    bits = 8 * stored(name).itemsize
    if bits == 8:
        return list(range(256))
    fraction = format_of(name).digits - 1
    top = ((1 << (bits - 1 - fraction)) - 1) << fraction
    plain = [0, 1, 2, (1 << fraction) - 1, 1 << fraction, (1 << fraction) + 1, 3 << (fraction - 1), top >> 1, top - 1]
    plain += [top - (1 << fraction), top, top + 1, top + 2, top + (1 << (fraction - 1)), top + (1 << fraction) - 1]
    return [code | sign for sign in (0, 1 << (bits - 1)) for code in plain]


def codes(book):
    for name in (*FLOAT8, *WIDE):
        bits = 8 * stored(name).itemsize
        taken = np.array(turning(name), f"u{bits // 8}")
        expected = taken.view(stored(name))
        text = HEAD + function("decoded", f"uint{bits}", name, len(taken), f'T.reinterpret("{name}", A[i])')
        call = Asked([given(taken), empty(expected.shape, name)], [KEPT, want(expected)])
        book.case(f"cast.code.{name}", ["NUM-705", "NUM-006"], text, "decoded", [call], witness="numpy")
    book.write("cast-code", "Every code of 8 bits as a float; of wider formats the codes where the meaning changes.")


def not_numbers(book):
    """Which codes of 8 bits are NaN: by ml_dtypes."""
    for name in FLOAT8:
        taken = np.arange(256, dtype=np.uint8)
        expected = np.isnan(taken.view(stored(name)).astype(np.float32))
        text = HEAD + function("nan", "uint8", "bool", 256, f'T.isnan(T.reinterpret("{name}", A[i]))')
        call = Asked([given(taken), empty(expected.shape, "bool")], [KEPT, want(expected)])
        book.case(f"cast.code-nan.{name}", ["NUM-705", "NUM-304"], text, "nan", [call], witness="numpy")
    book.write("cast-code-nan", "Which codes of 8 bits are NaN.")


CANONICAL = {"float16": 0x7E00, "bfloat16": 0x7FC0, "float32": 0x7FC00000, "float64": 0x7FF8 << 48}


def one_code(book):
    """A NaN that an operator made, or that came with a sign or a payload, has the one code of NaN; by hand."""
    book.witness = "hand"
    for name, code in CANONICAL.items():
        bits = 8 * stored(name).itemsize
        unsigned = f"uint{bits}"
        if name != "bfloat16":
            made = [(math.inf, -math.inf), (-math.inf, math.inf), (math.nan, 1.0)]
            form = f'T.reinterpret("{unsigned}", {{0}} + {{1}})'
            one(book, f"cast.code-made.{name}", ["NUM-006", "NUM-705"], form, [name] * 2, unsigned, made, [code] * 3)
        others = [(code + 1,), (code | 1 << (bits - 1),), ((1 << bits) - 1,)]
        form = f'T.reinterpret("{unsigned}", T.reinterpret("{name}", {{0}}) * T.Cast("{name}", T.float32(1)))'
        one(book, f"cast.code-given.{name}", ["NUM-006", "NUM-705"], form, [unsigned], unsigned, others, [code] * 3)
    book.write("cast-code-one", "The one code of NaN, wherever it comes from.")
    book.witness = "exact arithmetic"


def signed_codes(book):
    """Integers with a sign as floats, and floats as such integers: negative codes first."""
    book.witness = "numpy"
    for name in (*WIDE, *FLOAT8):
        bits = 8 * stored(name).itemsize
        taken = np.array(turning(name), f"u{bits // 8}")
        taken = taken[~np.isnan(taken.view(stored(name)).astype(np.float64))][::-1]
        numbers, integers_of = taken.view(stored(name)), taken.view(f"i{bits // 8}")
        for source, target, a, r in (
            (f"int{bits}", name, integers_of, numbers),
            (name, f"int{bits}", numbers, integers_of),
        ):
            text = HEAD + function("decoded", source, target, len(a), f'T.reinterpret("{target}", A[i])')
            call = Asked([given(a), empty(a.shape, target)], [KEPT, want(r)])
            book.case(f"cast.code-signed.{source}.{target}", ["NUM-705", "NUM-006"], text, "decoded", [call])
    book.write("cast-code-signed", "Integers with a sign as floats, and floats as such integers.")
    book.witness = "exact arithmetic"


def narrow_integers(book):
    """Sums in the dtypes of less than a byte, over every pair of values; by way of memory."""
    for name in SMALL_INTS:
        low, high = limits(name)
        points = list(itertools.product(range(low, high + 1), repeat=2))
        points = points if len(points) < 30 else points[::5]
        for op, of in (("+", lambda a, b: a + b), ("*", lambda a, b: a * b), ("-", lambda a, b: a - b)):
            words = {"+": "add", "*": "mul", "-": "sub"}
            values = [(of(a, b) - low) % 2 ** bits_of(name) + low for a, b in points]
            one(
                book,
                f"scalar.small.{words[op]}.{name}",
                ["NUM-101"],
                f"{{0}} {op} {{1}}",
                [name] * 2,
                name,
                points,
                values,
            )
    book.write("scalar-small", "Integers of 2 and 4 bits: every pair, or every fifth.")


def mixed(name, count, seed):
    """Values of a dtype over a few binades."""
    draw = random.Random(f"{name} {seed}")  # noqa: S311 - the same in every run
    near = [draw.choice((-1, 1)) * draw.uniform(1, 2) * 2.0 ** draw.randint(-3, 3) for _ in range(count)]
    return [rounded(exact(x), name) for x in near]


def step(of, name):
    """An operator of the dtype: exact, then rounded once."""
    return lambda a, b: rounded(of(Fraction(a), Fraction(b)), name) if of(Fraction(a), Fraction(b)) else 0.0


def parted(number, name):
    """Pairs of a dtype of which the sum, the difference or the product is a number."""
    low, high = limits(name)
    inside = [
        x
        for x in (0, 1, 2, 3, -1, -2, 7, 100, high // 2, high // 2 + 1, high // 3, low // 2, low, high)
        if low <= x <= high
    ]
    for x in inside:
        yield "add", (x, number - x)
        yield "sub", (x, x - number)
        if x and number % x == 0:
            yield "mul", (x, number // x)


def results(book):
    """The least and the greatest result that a dtype holds."""
    for name in INTS:
        low, high = limits(name)
        found = [pair for number in (low, low + 1, high - 1, high, 0) for pair in parted(number, name)]
        for op, (form, of) in SUMS.items():
            points = list(dict.fromkeys(p for word, p in found if word == op and all(low <= x <= high for x in p)))
            one(
                book,
                f"scalar.result.{op}.{name}",
                ["NUM-101"],
                form,
                [name] * 2,
                name,
                points,
                [of(*p) for p in points],
            )
        divisions(book, name, low, high)
    book.write("scalar-result", "Results of integers at the ends of the dtype.")


def divisions(book, name, low, high):
    """Quotients and remainders of every pair of signs, and at the ends."""
    near = [x for x in (low, low + 1, -8, -7, -3, -2, -1, 0, 1, 2, 3, 7, 8, high - 1, high) if low <= x <= high]
    table = {
        "truncdiv": ("T.truncdiv({0}, {1})", quotient(trunc_quotient)),
        "truncmod": ("T.truncmod({0}, {1})", quotient(lambda a, b: a - b * trunc_quotient(a, b))),
        "floordiv": ("{0} // {1}", quotient(lambda a, b: a // b)),
        "floormod": ("{0} % {1}", quotient(lambda a, b: a % b)),
        "ceildiv": ("T.ceildiv({0}, {1})", ceildiv),
    }
    for op, (form, of) in table.items():
        points, values = kept(itertools.product(near, repeat=2), lambda a, b, f=of: f(a, b, name))
        one(
            book,
            f"scalar.result.{op}.{name}",
            ["NUM-105" if op == "ceildiv" else "NUM-104"],
            form,
            [name] * 2,
            name,
            points,
            values,
        )


LANES = 4


def lanes(book):
    """Vectors of four: results at the ends of the dtype, positive divisors, and floats that are rounded."""
    for name in INTS:
        low, high = limits(name)
        found = [pair for number in (low, low + 1, high - 1, high, 0, 5) for pair in parted(number, name)]
        wraps = [("add", (high, 1)), ("sub", (low, 1)), ("mul", (high, 3))] if bits_of(name) < 32 else []
        for op, (form, of) in SUMS.items():
            points = list(
                dict.fromkeys(p for word, p in [*found, *wraps] if word == op and all(low <= x <= high for x in p))
            )
            values = [(of(*p) - low) % 2 ** bits_of(name) + low for p in points]
            vectors(book, f"scalar.lanes.{op}.{name}", "NUM-101", form, name, points, values)
        near = [x for x in (low, low + 1, -7, -1, 0, 1, 6, high - 1, high) if low <= x <= high]
        points = list(itertools.product(near, (1, 2, 7, high)))
        vectors(
            book, f"scalar.lanes.floordiv.{name}", "NUM-104", "{0} // {1}", name, points, [a // b for a, b in points]
        )
        vectors(book, f"scalar.lanes.floormod.{name}", "NUM-104", "{0} % {1}", name, points, [a % b for a, b in points])
    for name, (op, (form, of)) in itertools.product(("float16", "float32", "float64"), SUMS.items()):
        points = list(zip(mixed(name, 12, 7), mixed(name, 12, 8), strict=True))
        vectors(book, f"scalar.lanes.{op}.{name}", "NUM-101", form, name, points, [step(of, name)(*p) for p in points])
    book.write("scalar-lanes", "Operators of vectors.")


SUMS = {
    "add": ("{0} + {1}", lambda a, b: a + b),
    "sub": ("{0} - {1}", lambda a, b: a - b),
    "mul": ("{0} * {1}", lambda a, b: a * b),
}


def vectors(book, name, clause, form, dtype, points, values):
    """A case: the form of four points at a time; the last ones as often as it takes."""
    more = -len(points) % LANES
    points, values = [*points, *points[-1:] * more], [*values, *values[-1:] * more]
    params = ", ".join(f'{x}: T.Buffer(({len(points)},), "{dtype}")' for x in "ABR")
    form = form.format(*(f"{x}[T.Ramp(i * {LANES}, 1, {LANES})]" for x in "AB"))
    text = tir(params, f"for i in range({len(points) // LANES}):\n    R[T.Ramp(i * {LANES}, 1, {LANES})] = {form}")
    a, b = (array([point[k] for point in points], dtype) for k in (0, 1))
    ask(book, name, [clause], text, ([a, b, new([len(points)], dtype)], [KEPT, KEPT, array(values, dtype)]))


def lanes_beyond(book):
    """The one lane of a vector whose result a wide dtype does not hold; the last, by one."""
    for name, (op, (form, _)) in itertools.product(("int32", "uint32", "int64", "uint64"), SUMS.items()):
        low, high = limits(name)
        pairs = {
            "add": [(high, 1), (low, -1)],
            "sub": [(low, 1), (high, -1)],
            "mul": [(high // 2 + 1, 2), (low // 2 - 1, 2)],
        }
        calls = []
        for pair in pairs[op]:
            if all(low <= x <= high for x in pair):
                a, b = (array([1, 2, 3, x], name) for x in pair)
                calls.append(([a, b, new([4], name)], undefined("RM306")))
        params = ", ".join(f'{x}: T.Buffer((4,), "{name}")' for x in "ABR")
        text = tir(params, "R[0:4] = «" + form.format("A[0:4]", "B[0:4]") + "»")
        ask(book, f"undefined.lanes.{op}.{name}", "NUM-101", text, *calls)
    book.write("scalar-lanes", "A lane that a wide dtype does not hold.")


def beyond(book):
    """Results that are one beyond the least and the greatest of a wide dtype."""
    for name in ("int32", "uint32", "int64", "uint64"):
        low, high = limits(name)
        found = {word: [] for word in SUMS}
        for number in (low - 1, high + 1):
            for word, pair in parted(number, name):
                if all(low <= x <= high for x in pair) and pair not in found[word]:
                    found[word].append(pair)
        for op, points in found.items():
            params = ", ".join(f'{x}: T.Buffer((1,), "{name}")' for x in "ABR")
            text = tir(params, f"R[0] = «{SUMS[op][0].format('A[0]', 'B[0]')}»")
            calls = [([array([a], name), array([b], name), new([1], name)], undefined("RM306")) for a, b in points[:8]]
            ask(book, f"undefined.beyond.{op}.{name}", "NUM-101", text, *calls)
        ceilings(book, name, low, high)
    book.write("scalar-beyond", "Results that are one beyond the ends of a wide dtype.")


def ceilings(book, name, low, high):
    """Where a step of ceildiv does not fit."""
    points = [(high, 1 + 1), (high - 1, 3), (low, -1), (low + 1, -1), (low + 3, -3), (low, low), (low + 1, -1)]
    points = [p for p in points if all(low <= x <= high for x in p) and ceildiv(*p, name) is NO]
    params = ", ".join(f'{x}: T.Buffer((1,), "{name}")' for x in "ABR")
    text = tir(params, "R[0] = «T.ceildiv(A[0], B[0])»")
    calls = [([array([a], name), array([b], name), new([1], name)], undefined("RM306")) for a, b in points]
    ask(book, f"undefined.beyond.ceildiv.{name}", "NUM-105", text, *calls)


GREAT = 2**31 - 1


PER_AXIS = [
    *((12345, 5, 0, 0, 1, True), (7, 3, 1, 0, 1, True), (GREAT, GREAT, 0, 32, 31, True), (5, 11, 3, 2, 1, True)),
    *((-77, 2**29 + 5, 40, 3, 27, False), (-77, 2**29 + 5, 2, 3, 27, True), (-5, 7, 1, 0, 2, False)),
    *((0, 7, 63, 0, 5, True), (0, 7, 62, 2, 5, True), (5, 3, 5, 0, 5, True)),
]


def products(book):
    """Fixed-point products whose shift is none, the last that is allowed, or does not count."""
    for number, (x, y, ls, rs, q, left) in enumerate(PER_AXIS, 1):
        exact_product = Fraction(x * y) * Fraction(2) ** ((ls if left else 0) - rs - q)
        form = f"T.q_multiply_shift_per_axis(A[0], {y}, {ls}, {rs}, {q}, T.bool({left}), T.bool({rs > 0}))"
        text = tir(ONE, f"R[0] = {form}")
        call = ([i32(x), new([1], "int32")], [KEPT, i32(math.floor(exact_product + Fraction(1, 2)))])
        ask(book, f"scalar.fixed.per-axis-{number}", "NUM-601", text, call)
    for number, (x, y, q, s) in enumerate(
        [
            (GREAT, 1, 1, 1),
            (-(2**31), 1, 5, 5),
            (3, 5, 2, 3),
            (-3, 5, 3, 2),
            (5, 7, 62, -1),
            (GREAT, GREAT, 1, -62),
            (0, 9, 2, 63),
            (0, 9, 63, 63),
        ],
        1,
    ):
        value = math.floor(Fraction(x * y) * Fraction(2) ** (s - q) + Fraction(1, 2))
        text = tir(ONE, f"R[0] = T.q_multiply_shift(A[0], {y}, {q}, {s})")
        ask(book, f"scalar.fixed.shift-{number}", "NUM-601", text, ([i32(x), new([1], "int32")], [KEPT, i32(value)]))
    book.write("scalar-fixed", "Fixed-point products at the ends of the shifts.")


def ones(book):
    """A multiplier of one bit, which is 1/2 only where it has 31 fractional bits."""
    numbers = [5, 100, -7, 0, 12345, -12346, 1]
    array_of = f'T.Buffer(({len(numbers)},), "int32")'
    for power, q, s in ((30, 30, 0), (30, 20, 0), (30, 30, -2), (30, 31, -3), (29, 31, 0), (20, 20, 3)):
        values = [math.floor(Fraction(x) * Fraction(2) ** (power + s - q) + Fraction(1, 2)) for x in numbers]
        body = f"for i in range({len(numbers)}):\n    R[i] = T.q_multiply_shift(A[i], {2**power}, {q}, {s})"
        text = tir(f"A: {array_of}, R: {array_of}", body)
        name = f"scalar.fixed.one-bit-{power}-{q}-{'minus-' if s < 0 else ''}{abs(s)}"
        ask(book, name, "NUM-601", text, ([i32(*numbers), new([len(numbers)], "int32")], [KEPT, i32(*values)]))
    book.write("scalar-fixed-one", "Fixed-point products by a number of one bit.")


ONE = 'A: T.Buffer((1,), "int32"), R: T.Buffer((1,), "int32")'


def no_products(book):
    """Fixed-point products that have no value: one beyond the shifts, one beyond int32."""
    forms = {
        "shift-1": ("T.q_multiply_shift(A[0], 5, 64, 1)", 5, "RM311"),
        "shift-2": ("T.q_multiply_shift(A[0], 5, 63, -1)", 5, "RM311"),
        "shift-3": ("T.q_multiply_shift(A[0], 5, -1, 0)", 5, "RM311"),
        "shift-4": ("T.q_multiply_shift(A[0], 1, 1, 2)", 2**30, "RM306"),
        "shift-5": ("T.q_multiply_shift(A[0], -3, 1, 1)", 2**30, "RM306"),
        "per-axis-1": ("T.q_multiply_shift_per_axis(A[0], 5, 0, 0, -1, T.bool(True), T.bool(True))", 5, "RM311"),
        "per-axis-2": ("T.q_multiply_shift_per_axis(A[0], 5, 1, 63, 1, T.bool(True), T.bool(True))", 5, "RM311"),
        "per-axis-3": ("T.q_multiply_shift_per_axis(A[0], 1, 2, 0, 1, T.bool(True), T.bool(False))", 2**30, "RM306"),
        "per-axis-4": ("T.q_multiply_shift_per_axis(A[0], -3, 2, 0, 2, T.bool(True), T.bool(False))", 2**30, "RM306"),
        "per-axis-5": ("T.q_multiply_shift_per_axis(A[0], 5, 63, -1, 63, T.bool(True), T.bool(True))", 5, "RM311"),
    }
    for name, (form, x, code) in forms.items():
        text = tir(ONE, f"R[0] = «{form}»")
        ask(book, f"undefined.fixed.beyond-{name}", "NUM-601", text, ([i32(x), new([1], "int32")], undefined(code)))
    book.write("scalar-fixed", "Fixed-point products that have no value.")


def bits(book):
    """Integers of one bit: a bool of them is the only bit, which in int1 is the sign; bool of a bool."""
    points = [(False,), (True,)]
    one(
        book,
        "cast.one-bit.bool.int1",
        ["NUM-701"],
        'T.Cast("int32", T.Cast("int1", {0}))',
        ["bool"],
        "int32",
        points,
        [0, -1],
    )
    one(
        book,
        "cast.one-bit.bool.uint1",
        ["NUM-701"],
        'T.Cast("int32", T.Cast("uint1", {0}))',
        ["bool"],
        "int32",
        points,
        [0, 1],
    )
    numbers = [(x,) for x in (0, 1, 2, 3, -1, -2, 6, 7)]
    for kind, of in (("int1", lambda x: -(x % 2)), ("uint1", lambda x: x % 2)):
        one(
            book,
            f"cast.one-bit.int32.{kind}",
            ["NUM-701"],
            f'T.Cast("int32", T.Cast("{kind}", {{0}}))',
            ["int32"],
            "int32",
            numbers,
            [of(x) for (x,) in numbers],
        )
    one(book, "cast.same.bool", ["NUM-701"], 'T.Cast("bool", {0})', ["bool"], "bool", points, [False, True])
    book.write("cast-one-bit", "Integers of one bit, and a bool as a bool.")


if __name__ == "__main__":
    books = {area: Book(area, "exact arithmetic", strict=False) for area in ("cast", "scalar", "undefined")}
    books["undefined"].witness = "hand"
    makers = {
        "cast": (rounds, integers, codes, not_numbers, one_code, signed_codes, bits),
        "scalar": (narrow_integers, results, lanes, products, ones),
        "undefined": (lanes_beyond, beyond, no_products),
    }
    for area, functions in makers.items():
        for make in functions:
            if len(sys.argv) == 1 or make.__name__ in sys.argv:
                make(books[area])
        sys.stdout.write("".join(f"{line}\n" for line in books[area].disagreements))
