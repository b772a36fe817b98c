"""Area `undefined`, scalars: each operator and dtype at operands where it has no value. By hand: clause and place.

| code  | where                                                                        |
|-------|------------------------------------------------------------------------------|
| RM306 | exact results beyond 32 and 64 bits, the least value by -1, |least|           |
| RM307 | a divisor of 0                                                               |
| RM308 | counts outside of 0 … bits - 1                                               |
| RM309 | floats outside of the range of an integer, NaN, infinities                   |
| RM311 | clz of 0, a NaN where there is none, parameters of fixed-point multiplication |
"""

import math
import sys

from book import Book
from hand import ask, i32, new, tir, undefined
from rounding import FINITE, FLOATS, INTS, SMALL_INTS, array, bits_of, exact, limits, rounded

WIDE = ("int32", "uint32", "int64", "uint64")
DIVISIONS = {
    "truncdiv": "T.truncdiv",
    "truncmod": "T.truncmod",
    "floordiv": "T.FloorDiv",
    "floormod": "T.FloorMod",
    "ceildiv": "T.ceildiv",
    "div": "T.Div",
}
CLAUSE = {"div": "NUM-103", "ceildiv": "NUM-105"}


def binary(book, name, clause, dtype, form, points, code, *, second=None, out=None):
    """The operator on one pair at a time: a call for each."""
    second, out = second or dtype, out or dtype
    text = tir(
        f'A: T.Buffer((1,), "{dtype}"), B: T.Buffer((1,), "{second}"), R: T.Buffer((1,), "{out}")',
        "R[0] = " + form.format("A[0]", "B[0]"),
    )
    calls = [([array([a], dtype), array([b], second), new([1], out)], undefined(code)) for a, b in points]
    ask(book, name, clause, text, *calls)


def unary(book, name, clause, dtype, out, form, points, code):
    text = tir(f'A: T.Buffer((1,), "{dtype}"), R: T.Buffer((1,), "{out}")', "R[0] = " + form.format("A[0]"))
    ask(book, name, clause, text, *(([array([a], dtype), new([1], out)], undefined(code)) for a in points))


def overflow(book):
    for dtype in WIDE:
        low, high = limits(dtype)
        binary(
            book,
            f"undefined.overflow.add.{dtype}",
            "NUM-101",
            dtype,
            "«{0} + {1}»",
            [(high, 1), (high, high), *([(low, -1)] if low else [])],
            "RM306",
        )
        binary(
            book,
            f"undefined.overflow.sub.{dtype}",
            "NUM-101",
            dtype,
            "«{0} - {1}»",
            [(low, 1), (low, high), *([(high, -1)] if low else [])],
            "RM306",
        )
        binary(
            book,
            f"undefined.overflow.mul.{dtype}",
            "NUM-101",
            dtype,
            "«{0} * {1}»",
            [(high, 2), (high // 2 + 1, 2), *([(low, -1)] if low else [])],
            "RM306",
        )
        points = [(high, 2), (high, high)]
        binary(book, f"undefined.overflow.ceildiv.{dtype}", "NUM-105", dtype, "«T.ceildiv({0}, {1})»", points, "RM306")
        if low:
            unary(book, f"undefined.overflow.abs.{dtype}", "NUM-107", dtype, dtype, "«T.fabs({0})»", [low], "RM306")
    for dtype in (*INTS, *SMALL_INTS):
        low, _ = limits(dtype)
        for op, text in DIVISIONS.items():
            if low and op != "ceildiv":
                binary(
                    book,
                    f"undefined.overflow.{op}.{dtype}",
                    CLAUSE.get(op, "NUM-104"),
                    dtype,
                    f"«{text}({{0}}, {{1}})»",
                    [(low, -1)],
                    "RM306",
                )
    book.write("overflow", "Exact results that a dtype does not hold.")


def zero(book):
    for dtype in (*INTS, *SMALL_INTS):
        low, high = limits(dtype)
        for op, text in DIVISIONS.items():
            binary(
                book,
                f"undefined.division.{op}.{dtype}",
                CLAUSE.get(op, "NUM-104"),
                dtype,
                f"«{text}({{0}}, {{1}})»",
                [(1, 0), (5 if bits_of(dtype) > 2 else 1, 0)]
                if op == "ceildiv"
                else [(0, 0), (1, 0), (low, 0), (high, 0)],
                "RM307",
            )
    book.write("division", "Divisors of 0.")


def counts(book):
    for dtype in (*INTS, *SMALL_INTS):
        low, high = limits(dtype)
        bad = [
            c
            for c in (bits_of(dtype), bits_of(dtype) + 1, high, -1, low)
            if low <= c <= high and not 0 <= c < bits_of(dtype)
        ]
        if bad:
            binary(
                book, f"undefined.shift.left.{dtype}", "NUM-202", dtype, "«{0} << {1}»", [(1, c) for c in bad], "RM308"
            )
            binary(
                book, f"undefined.shift.right.{dtype}", "NUM-202", dtype, "«{0} >> {1}»", [(1, c) for c in bad], "RM308"
            )
    book.write("shift", "Counts of shifts out of range.")


def conversions(book):
    for source in FLOATS:
        for target in (*INTS, "int4"):
            low, high = limits(target)
            near = (math.nan, math.inf, -math.inf, float(high) * 2 + 2, float(high + 1), float(low) * 2 - 2, low - 1.0)
            kept = []
            for x in near:
                v = rounded(exact(x), source)
                if (
                    v is None
                    or (math.isfinite(v) and low <= math.trunc(v) <= high)
                    or any(repr(v) == repr(k) for k in kept)
                ):
                    continue
                kept.append(v)
            if kept:
                unary(
                    book,
                    f"undefined.cast.{source}.{target}",
                    "NUM-702",
                    source,
                    target,
                    f'«T.Cast("{target}", {{0}})»',
                    kept,
                    "RM309",
                )
    for target in FINITE:
        for source in ("float16", "bfloat16", "float32", "float64", "float8_e4m3fn", "float8_e5m2", "float8_e8m0fnu"):
            unary(
                book,
                f"undefined.cast.{source}.{target}",
                ["NUM-704", "NUM-004"],
                source,
                target,
                f'«T.Cast("{target}", {{0}})»',
                [math.nan],
                "RM311",
            )
    book.write("cast", "Floats that an integer, or a format without NaN, does not hold.")


def arguments(book):
    for dtype in WIDE:
        unary(book, f"undefined.clz.{dtype}", "NUM-203", dtype, "int32", "«T.clz({0})»", [0], "RM311")
    for dtype in FINITE:
        binary(book, f"undefined.nan.div.{dtype}", ["NUM-004", "NUM-103"], dtype, "«{0} / {1}»", [(0.0, 0.0)], "RM311")
        unary(
            book, f"undefined.nan.sqrt.{dtype}", ["NUM-004", "NUM-502"], dtype, dtype, "«T.sqrt({0})»", [-1.0], "RM311"
        )
        unary(book, f"undefined.nan.log.{dtype}", ["NUM-004", "NUM-501"], dtype, dtype, "«T.log({0})»", [-1.0], "RM311")
    for q, s, name in ((0, 1, "no-fraction"), (-1, 1, "negative-fraction"), (31, -40, "shift")):
        text = tir(
            'A: T.Buffer((1,), "int32"), R: T.Buffer((1,), "int32")',
            f"R[0] = «T.q_multiply_shift(A[0], 1073741824, {q}, {s})»",
        )
        ask(book, f"undefined.fixed.{name}", "NUM-601", text, ([i32(5), new([1], "int32")], undefined("RM311")))
    text = tir(
        'A: T.Buffer((1,), "int32"), R: T.Buffer((1,), "int32")', "R[0] = «T.q_multiply_shift(A[0], 2147483647, 31, 5)»"
    )
    ask(
        book,
        "undefined.fixed.overflow",
        "NUM-601",
        text,
        ([i32(2**31 - 1), new([1], "int32")], undefined("RM306")),
        ([i32(-(2**31)), new([1], "int32")], undefined("RM306")),
    )
    book.write("arguments", "Operands outside of what an operator is defined on.")


def fixed(book):
    """q_multiply_shift where it has a value: floor(x * y * 2**(s - q) + 1/2), in rationals."""
    from fractions import Fraction  # noqa: PLC0415 - here only

    x = [0, 1, -1, 5, -5, 100, -100, 12345678, -12345678, 2**30, -(2**30), 2**31 - 1, -(2**31), 3, -3]
    for y, q, s in (
        (1073741824, 31, 0),
        (1395864371, 31, 1),
        (1395864371, 31, -3),
        (1518500250, 31, -7),
        (-1073741825, 31, 0),
        (3, 1, 0),
        (1, 15, -2),
        (1610612736, 30, -1),
    ):
        kept = [(v, math.floor(Fraction(v) * y * Fraction(2) ** (s - q) + Fraction(1, 2))) for v in x]
        kept = [(v, w) for v, w in kept if -(2**31) <= w < 2**31]
        n = len(kept)
        text = tir(
            f'A: T.Buffer(({n},), "int32"), R: T.Buffer(({n},), "int32")',
            f"for i in range({n}):\n        R[i] = T.q_multiply_shift(A[i], {y}, {q}, {s})",
        )
        name = f"scalar.q-multiply-shift.{y}-{q}-{s}".replace("--", "-minus-").replace(".-", ".minus-")
        ask(
            book,
            name,
            "NUM-601",
            text,
            ([i32(*(v for v, _ in kept)), new([n], "int32")], [KEPT, i32(*(w for _, w in kept))]),
        )
    for y, ls, rs, q, fl, fr in (
        (1395864371, 2, 0, 31, True, False),
        (1395864371, 2, 3, 31, False, True),
        (1395864371, 1, 4, 31, True, True),
    ):
        kept = [
            (v, math.floor(Fraction(v) * y * Fraction(2) ** ((ls if fl else 0) - rs - q) + Fraction(1, 2))) for v in x
        ]
        kept = [(v, w) for v, w in kept if -(2**31) <= w < 2**31]
        n = len(kept)
        form = f"T.q_multiply_shift_per_axis(A[i], {y}, {ls}, {rs}, {q}, T.bool({fl}), T.bool({fr}))"
        text = tir(
            f'A: T.Buffer(({n},), "int32"), R: T.Buffer(({n},), "int32")',
            f"for i in range({n}):\n        R[i] = {form}",
        )
        ask(
            book,
            f"scalar.q-multiply-shift-per-axis.{ls}-{rs}-{str(fl).lower()}",
            "NUM-601",
            text,
            ([i32(*(v for v, _ in kept)), new([n], "int32")], [KEPT, i32(*(w for _, w in kept))]),
        )
    book.write("fixed", "Fixed-point multiplication.")


if __name__ == "__main__":
    from book import KEPT

    pages = Book("undefined", "hand", strict=False)
    overflow(pages)
    zero(pages)
    counts(pages)
    conversions(pages)
    arguments(pages)
    sys.stdout.write("".join(f"{line}\n" for line in pages.disagreements))
    pages = Book("scalar", "exact arithmetic", strict=False)
    fixed(pages)
    sys.stdout.write("".join(f"{line}\n" for line in pages.disagreements))
