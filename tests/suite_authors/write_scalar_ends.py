"""Area `scalar`: functions of floats at the ends of a format or a domain. Exact arithmetic, C99 Annex F, mpmath.

| function                          | asked of it                                                                 |
|-----------------------------------|-----------------------------------------------------------------------------|
| `steps`                           | expressions of which every operator rounds on its own                         |
| `fused`                           | products and sums that are rounded once                                       |
| `lengths`                         | hypot: roots just beside the middle of two numbers, operands far from each other |
| `neighbours`, `scalings`, `signs` | nextafter, ldexp, copysign around 0 and at the ends                           |
| `ends`, `poles`                   | the last operands of a domain, and the first beyond it                        |
"""

import itertools
import math
import random
import sys
from fractions import Fraction

import mpmath
import numpy as np
from book import KEPT, Book, want
from hand import ask, f64, new, tir
from rounding import FLOATS, WIDE, exact, format_of, rounded, stored
from transcendental import computed, enclosed
from write_scalar import NO, formats, interval, next_after
from write_scalar_borders import kept, mixed, one, step

E8M0 = "float8_e8m0fnu"


def steps(book):
    """Two operators after each other, where rounding once gives something else."""
    plus, times = (lambda a, b: a + b), (lambda a, b: a * b)
    over = lambda a, b: a / b  # noqa: E731 - one of a table
    table = {"sum-of-product": ("{0} * {1} + {2}", times, plus), "product-of-sum": ("({0} + {1}) * {2}", plus, times)}
    table["product-of-quotient"] = ("{0} / {1} * {2}", over, times)
    table["difference-of-product"] = ("{0} * {1} - {2}", times, lambda a, b: a - b)
    table["product-of-difference"] = ("({0} - {1}) * {2}", lambda a, b: a - b, times)
    for name in ("float16", "float32", "float64"):
        for word, (form, first, second) in table.items():
            points = list(zip(*(mixed(name, 24, k) for k in (1, 2, 3)), strict=True))
            values = [step(second, name)(step(first, name)(a, b), c) for a, b, c in points]
            once = [rounded(second(first(Fraction(a), Fraction(b)), Fraction(c)), name) for a, b, c in points]
            assert values != once, (name, word)
            one(
                book,
                f"scalar.steps.{word}.{name}",
                ["NUM-101", "NUM-103"][: 1 + ("/" in form)],
                form,
                [name] * 3,
                name,
                points,
                values,
            )
    book.write("scalar-steps", "Each operator of an expression rounds on its own.")


def fused(book):
    """The number a * b + c, exactly, rounded once: by the table of formats."""
    for name in FLOATS:
        points = [tuple(2.0**k for k in powers) for powers in POWERS] if name == E8M0 else products(name)
        of = lambda x, y, z, n=name: rounded(exactly(x, y, z), n)  # noqa: E731 - with the name
        points, values = kept([p for p in points if all(x is not None for x in p)], of)
        clauses = ["TIR-309", *formats(name, np.zeros(1, stored(name)))]
        one(book, f"scalar.fma.{name}", clauses, "T.fma({0}, {1}, {2})", [name] * 3, name, points, values)
    book.write("scalar-fma", "A product and a sum that are rounded once.")


POWERS = ((0, 0, 0), (3, -1, 0), (-127, 0, -127), (-127, -127, -127), (2, 2, 3), (127, 1, 0), (-3, -4, -2), (-1, 0, -1))


def products(name):
    """Operands of a product and a sum: at random, cancelling, and at the ends of the format."""
    a, b, c = (mixed(name, 20, k) for k in (4, 5, 6))
    row = format_of(name)
    least, top = 2.0 ** (row.low - row.digits + 1), float(row.top)
    points = list(zip(a, b, c, strict=True))
    points += [(x, y, rounded(-Fraction(x) * Fraction(y), name)) for x, y in zip(a[:8], b[8:], strict=False)]
    points += [(least, 0.5, 0.0), (least, 0.5, least), (-least, 0.5, 0.0), (least, 1.0, -least), (0.0, 1.0, 0.0)]
    points += [(top, 1.0, top), (top, -1.0, -top), (top, 1.0, 0.0), (top, -1.0, 0.0), (top, 1.0, least)]
    return [*points, (1.0, 1.0, -1.0), (1.0, 0.5, 0.5), (-1.0, 0.5, -0.5)]


def exactly(x, y, z):
    """The number x * y + z; a zero as IEEE 754 has it: of numbers that cancel 0, else as the sum of zeros."""
    if not all(map(math.isfinite, (x, y, z))):
        return x * y + z
    return Fraction(x) * Fraction(y) + Fraction(z) or x * y + z


LENGTHS = [
    *((1.0, 2.0**-27 * 1.9), (1.0, 2.0**-26), (1.0, 2.0**-26 * 1.5), (1.0, 2.0**-26 * (1 + 2.0**-52)), (3.0, 4.0)),
    *(
        (5e-324, 5e-324),
        (5e-324, 1.5e-323),
        (-1e-310, 3e-311),
        (2.0**-1022, 2.0**-1023),
        (1.7e308, 1e308),
        (-5.0, 12.0),
    ),
    *((1.2e308, 1.2e308), (3.0 * 2.0**1000, 4.0 * 2.0**1000), (2.0**57, 2.0**58), (3.0 * 2.0**56, 2.0**58)),
    *((2.0**58, 3.0 * 2.0**55), (1e308, 1.0), (0.0, -3.5), (-7.25, 0.0), (2.0**57, 1.3 * 2.0**55)),
]


def lengths(book):
    """Roots that end just beside the middle of two numbers, operands far apart, at the ends of binary64."""
    draw = random.Random("hypot")  # noqa: S311 - the same in every run
    powers = [(a, b) for a in (0, 70, -60, 900, -950) for b in (a, a - 1, a + 3, a - 9)]
    points = [(draw.uniform(1, 2) * 2.0**a, draw.uniform(1, 2) * 2.0**b) for a, b in powers]
    far = [(a, a - apart) for a in (0, 5, 120) for apart in (24, 25, 26, 27, 28, 29, 40)]
    points += [(draw.uniform(1, 2) * 2.0**a, -draw.uniform(1, 2) * 2.0**b) for a, b in far]
    points += [*LENGTHS, *just_above(draw)]
    book.witness = "mpmath"
    for name in ("float64", "float32", "float16"):
        near = list(dict.fromkeys((rounded(exact(a), name), rounded(exact(b), name)) for a, b in points))
        near = [p for p in near if all(math.isfinite(x) for x in p)]
        values = [rounded(length(a, b), name) for a, b in near]
        clauses = ["NUM-503", "NUM-506"]
        one(book, f"scalar.border.hypot.{name}", clauses, "T.hypot({0}, {1})", [name] * 2, name, near, values)
    book.write("scalar-hypot", "hypot of operands near and far from each other.")
    book.witness = "exact arithmetic"


def just_above(draw):
    """Pairs whose root lies next to the middle of two numbers of binary64: less than a 32nd of a place beyond it."""
    found = []
    while len(found) < 8:
        a, b = draw.uniform(1, 2), draw.uniform(1, 2)
        root = computed(mpmath.hypot, a, b)
        places = root / Fraction(math.ulp(float(root)))
        if Fraction(1, 2) < places % 1 < Fraction(1, 2) + Fraction(1, 32) and int(places) % 2 == len(found) % 2:
            found.append((a, b))
    return found


def length(a, b):
    return computed(mpmath.hypot, a, b) if a and b else exact(abs(a) + abs(b))


def neighbours(book):
    """Neighbours where a sign or an exponent changes, in an expression that shows the sign of a zero."""
    for name in FLOATS:
        row = format_of(name)
        least = 2.0 ** (row.low - row.digits + 1) if name != E8M0 else 2.0**-127
        top, normal = float(row.top), 2.0**row.low
        inf = math.inf if rounded(math.inf, name) == math.inf else top
        positive = (0.0, least, 2 * least, normal, 1.0, top, inf)
        ends = (*itertools.chain(*((x, -x) for x in positive)), math.nan)
        near = list({repr(v): v for v in (rounded(exact(x), name) for x in ends) if v is not None}.values())
        points, values = kept(itertools.product(near, repeat=2), lambda a, b, n=name: after(a, b, n))
        clauses = ["NUM-505", *formats(name, np.zeros(1, stored(name)))]
        one(book, f"scalar.border.nextafter.{name}", clauses, "T.nextafter({0}, {1})", [name] * 2, name, points, values)
        if name == E8M0:
            continue
        signs = [math.copysign(1.0, v) if v == v else 1.0 for v in values]
        form = f'T.copysign(T.Cast("{name}", T.float32(1)), T.nextafter({{0}}, {{1}}))'
        one(book, f"scalar.border.nextafter-sign.{name}", clauses, form, [name] * 2, name, points, signs)
    book.write("scalar-nextafter", "Neighbours where a sign, an exponent or the format ends.")


def after(a, b, name):
    found = next_after(a, b, name)
    return NO if found is NO else rounded(found, name)


def scalings(book):
    """Exponents of 32 and 64 bits that lead out of the format and back into it."""
    for name, kind in [(n, k) for n in FLOATS for k in ("int32", "int64") if k == "int32" or n in (*WIDE, E8M0)]:
        row = format_of(name)
        least = 2.0 ** (row.low - row.digits + 1) if name != E8M0 else 2.0**-127
        top, span = float(row.top), math.frexp(float(row.top))[1] - math.frexp(least)[1]
        numbers = [
            rounded(exact(x), name)
            for x in (1.0, -1.5, 0.0, -0.0, least, -3 * least, top, -top, math.inf, -math.inf, math.nan)
        ]
        powers = [-3000, -1100, -span - 1, -span, 1 - span, -3, 0, 2, span - 1, span, span + 1, 1100, 3000]
        powers += [-(2**31), 2**31 - 1] if kind == "int32" else [-(2**63), 2**63 - 1, 2**32, -(2**32)]
        points, values = kept(
            itertools.product([x for x in numbers if x is not None], powers),
            lambda x, k, n=name: rounded(scaled(x, k), n),
        )
        clauses = ["NUM-505", *formats(name, np.zeros(1, stored(name)))]
        one(
            book, f"scalar.border.ldexp.{name}.{kind}", clauses, "T.ldexp({0}, {1})", [name, kind], name, points, values
        )
    book.write("scalar-ldexp", "Powers of two that lead out of the format, and back into it.")


def scaled(x, power):
    """A number times 2**power, which beyond 10000 either way is what it is there."""
    if not math.isfinite(x) or x == 0:
        return x
    return Fraction(x) * Fraction(2) ** max(-10000, min(power, 10000))


def signs(book):
    """The sign of a NaN that an operator made: it counts as positive."""
    for name in ("float16", "bfloat16", "float32", "float64"):
        points = [(1.5, math.inf), (-1.5, math.inf), (-0.0, math.inf), (-2.0, -math.inf)]
        clauses = ["NUM-505", "NUM-006"]
        form = "T.copysign({0}, {1} + {2})"
        points = [(x, y, -y) for x, y in points] + [(x, -y, y) for x, y in points]
        values = [abs(point[0]) for point in points]
        one(book, f"scalar.border.copysign-nan.{name}", clauses, form, [name] * 3, name, points, values)
    book.write("scalar-copysign", "The sign of a NaN that an operator made.")


GREATEST = math.ldexp((1 << 53) - 1, 971)
MORE, LESS, TINY = math.nextafter(1.0, 2.0), math.nextafter(1.0, 0.0), 5e-324
LAST = {
    **dict.fromkeys(("asin", "acos", "atanh"), (1.0, -1.0, MORE, -MORE, LESS, 2.0, -math.inf, 0.25)),
    **dict.fromkeys(("sin", "cos", "tan"), (GREATEST, -GREATEST, math.nextafter(GREATEST, 0.0), 2.0**1023, 1e22)),
    **dict.fromkeys(("sqrt", "rsqrt", "log", "log2", "log10"), (0.0, -0.0, TINY, -TINY, GREATEST, 1.0, 2.0, -math.inf)),
    "log1p": (-1.0, math.nextafter(-1.0, -2.0), math.nextafter(-1.0, 0.0), -0.0, TINY, GREATEST),
    "acosh": (LESS, 1.0, MORE, -1.0, -math.inf, GREATEST),
    "asinh": (TINY, -TINY, GREATEST, -GREATEST),
    "exp": (709.0, 710.0, -745.0, -800.0, 1e4, -1e4),
    "exp2": (1023.0, 1024.0, -1074.0, -1100.0, 1e4, -1e4),
    "exp10": (308.0, 309.0, -323.0, -400.0, 1e4, -1e4),
    **dict.fromkeys(("sinh", "cosh"), (709.0, -709.0, 711.0, -711.0, 1e4, -1e4, TINY)),
    **dict.fromkeys(("tanh", "erf"), (25.0, -25.0, TINY, -TINY, 1e4, -1e4)),
    "sigmoid": (40.0, -40.0, 709.0, -709.0, -745.0, 800.0, -800.0, 1e4, -1e4, TINY, -TINY),
}


def ends(book):
    """The last operands of a domain and the first beyond it, of float64: what the bound of the clause leaves."""
    book.witness = "mpmath"
    for op, operands in LAST.items():
        points, values, low, high = enclosed(op, "float64", [(x,) for x in operands])
        n = len(points)
        params = f'A: T.Buffer(({n},), "float64"), R: T.Buffer(({n},), "float64")'
        text = tir(params, f"for i in range({n}):\n    R[i] = T.{op}(A[i])")
        told = [interval(*pair, "float64") for pair in zip(low, high, strict=True)]
        part = want(f64(*values), rule="certified", low=[t[0] for t in told], high=[t[1] for t in told])
        part["specials"] = [t[2] for t in told]
        clauses = ["NUM-502"] if op in ("sqrt", "rsqrt") else ["NUM-501", "NUM-506"]
        numbers = f64(*(x for (x,) in points))
        ask(book, f"scalar.border.{op}.float64", clauses, text, ([numbers, new([n], "float64")], [KEPT, part]))
    book.write("scalar-ends", "The last operands of a domain, and the first beyond it.")
    book.witness = "exact arithmetic"


def first_neighbours(book):
    """The neighbour of the least value on the side of 0, and its sign; roots that lie in the middle of two numbers."""
    for name in FLOATS:
        if name == E8M0:
            continue
        row = format_of(name)
        least = 2.0 ** (row.low - row.digits + 1)
        points = [(-least, least), (-least, 0.0), (least, -least)]
        signs = [-1.0 if row.has_negative_zero else 1.0, -1.0 if row.has_negative_zero else 1.0, 1.0]
        form = f'T.copysign(T.Cast("{name}", T.float32(1)), T.nextafter({{0}}, {{1}}))'
        clauses = ["NUM-505", *formats(name, np.zeros(1, stored(name)))]
        one(book, f"scalar.border.toward-zero.{name}", clauses, form, [name] * 2, name, points, signs)
    points = [triple(80000001, 60000000), triple(90000001, 40000000), triple(85000003, 50000000)]
    values = [rounded(Fraction(c), "float64") for _, _, c in points]
    assert all(Fraction(value) != c for value, (_, _, c) in zip(values, points, strict=True))
    legs = [(float(a), float(b)) for a, b, _ in points]
    one(
        book,
        "scalar.border.hypot-tie.float64",
        ["NUM-503"],
        "T.hypot({0}, {1})",
        ["float64"] * 2,
        "float64",
        legs,
        values,
    )
    book.write("scalar-zero", "Neighbours of the least value toward 0; roots in the middle of two numbers.")


def triple(m, n):
    """The sides of a right triangle, in whole numbers; the legs are numbers of binary64."""
    a, b, c = m * m - n * n, 2 * m * n, m * m + n * n
    assert a * a + b * b == c * c
    assert int(float(a)) == a
    assert int(float(b)) == b
    return a, b, c


POLES = [
    *((-0.0, -2.0, math.inf), (-0.0, -1.0, -math.inf), (-8.0, 0.5, math.nan)),
    *((-10.0, 309.0, -math.inf), (-10.0, 310.0, math.inf), (10.0, 309.0, math.inf)),
    *((0.0, -2.0, math.inf), (0.0, -3.0, math.inf), (-8.0, 1.5, math.nan)),
    *((-0.0, -0.5, math.inf), (-0.0, -math.inf, math.inf), (-0.25, -600.0, math.inf)),
    *((-0.25, -601.0, -math.inf), (-0.5, 1e300, 0.0), (-2.0, -1e300, 0.0)),
]


def poles(book):
    """Powers that are infinite or no number, three at a time: C99 F.9.4.4."""
    book.witness = "hand"
    for number in range(0, len(POLES), 3):
        rows = POLES[number : number + 3]
        points, values = [row[:2] for row in rows], [row[2] for row in rows]
        name = f"scalar.border.pow-{number // 3 + 1}.float64"
        one(book, name, ["NUM-503"], "T.pow({0}, {1})", ["float64"] * 2, "float64", points, values)
    book.write("scalar-poles", "Powers that are infinite or no number.")
    book.witness = "exact arithmetic"


if __name__ == "__main__":
    pages = Book("scalar", "exact arithmetic", strict=False)
    for make in (steps, fused, lengths, neighbours, scalings, signs, ends, poles, first_neighbours):
        if len(sys.argv) == 1 or make.__name__ in sys.argv:
            make(pages)
    sys.stdout.write("".join(f"{line}\n" for line in pages.disagreements))
