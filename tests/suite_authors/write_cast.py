"""Area `cast`: from every dtype to every other, and the same bits as another dtype. The witness is exact arithmetic."""

import itertools
import math
import sys
from fractions import Fraction

import numpy as np
from book import KEPT, Asked, Book, empty, given, want
from points import edges, some
from rounding import FLOATS, INTS, SMALL_INTS, array, exact, is_int, limits, rounded, stored, wrapped
from write_scalar import FUNCTION, HEAD, formats

NO = object()
STORED = ("bool", *INTS, *SMALL_INTS, *FLOATS)
WIDTHS = (8, 16, 32, 64)


def cast(value, source, target):
    """The clauses NUM-701 to NUM-704; NO where it is undefined."""
    if target == "bool":
        return bool(value != 0 or (isinstance(value, float) and math.isnan(value)))
    if is_int(target):
        if isinstance(value, float):
            if not math.isfinite(value):
                return NO
            low, high = limits(target)
            whole = math.trunc(value)
            return whole if low <= whole <= high else NO
        return wrapped(int(value), target)
    found = rounded(exact(value) if isinstance(value, float) else Fraction(int(value)), target)
    return NO if found is None else found


def clause(source, target):
    if target == "bool" or is_int(target):
        return "NUM-701" if "float" not in source else "NUM-703" if target == "bool" else "NUM-702"
    return "NUM-704"


def operands(source, target):
    """Edges, values at random, and of floats the numbers around the ends of the target."""
    if source == "bool":
        return [False, True]
    if is_int(source):
        return list(
            dict.fromkeys(
                [
                    *edges(source),
                    *some(source, 8),
                    *(v for v in around(target) if limits(source)[0] <= v <= limits(source)[1]),
                ]
            )
        )
    return list({repr(v): v for v in [*edges(source), *some(source, 6), *ends(source, target)]}.values())


def around(target):
    """Integers between two values of a float dtype."""
    return [(1 << 24) + 1, (1 << 24) + 3, (1 << 53) + 1, (1 << 62) + 12345, 65519, 65520, 464, 465, 2049, 2051]


def ends(source, target):
    if not is_int(target):
        return []
    low, high = limits(target)
    near = (high, high + 1, low, low - 1, high + 0.5, low - 0.5, 0.9, -0.9)
    return [v for v in (rounded(exact(float(x)), source) for x in near) if v is not None]


def casts(book):
    for source in STORED:
        made = []
        for target in STORED:
            if target == source:
                continue
            kept = [(v, cast(v, source, target)) for v in operands(source, target)]
            made.append((target, [(v, w) for v, w in kept if w is not NO]))
        for start in range(0, len(made), 7):
            part = made[start : start + 7]
            module = HEAD + "\n".join(
                function(f"cast_{t}", source, t, len(kept), f'T.Cast("{t}", A[i])') for t, kept in part
            )
            for target, kept in part:
                expected = array([w for _, w in kept], target)
                call = Asked(
                    [given(array([v for v, _ in kept], source)), empty(expected.shape, target)], [KEPT, want(expected)]
                )
                clauses = [clause(source, target), *formats("", expected)]
                book.case(f"cast.{source}.{target}", clauses, module, f"cast_{target}", [call])
        book.write(f"from-{source}", f"Casts from {source}: edges, and the ends of the targets.")


def function(name, source, target, n, form):
    params = f'A: T.Buffer(({n},), "{source}"), R: T.Buffer(({n},), "{target}")'
    return FUNCTION.format(name=name, params=params, n=n, form=form)


def codes(name):
    """Codes of a dtype as an unsigned integer, without those of NaN."""
    bits = 8 * stored(name).itemsize
    draw = (
        np.random.default_rng(bits)
        .integers(0, 1 << bits, 40, np.uint64 if bits == 64 else np.int64)
        .astype(f"u{bits // 8}")
    )
    near = [0, 1, 2, (1 << (bits - 1)) - 1, 1 << (bits - 1), (1 << (bits - 1)) + 1, (1 << bits) - 1]
    return np.concatenate([np.array(near, f"u{bits // 8}"), draw])


def reinterprets(book):
    """The bits are NumPy's and ml_dtypes' view of them."""
    book.witness = "numpy"
    for bits in WIDTHS:
        names = [
            n for n in (*INTS, *FLOATS) if 8 * stored(n).itemsize == bits and not n.startswith(("float6", "float4"))
        ]
        made = []
        for source, target in itertools.permutations(names, 2):
            if f"uint{bits}" not in (source, target):
                continue
            taken = codes(source)
            numbers = [
                taken.view(stored(n)).astype(np.float64) if "float" in n else np.zeros(len(taken))
                for n in (source, target)
            ]
            taken = taken[~(np.isnan(numbers[0]) | np.isnan(numbers[1]))]
            made.append((source, target, taken.view(stored(source)), taken.view(stored(target))))
        for start in range(0, len(made), 6):
            part = made[start : start + 6]
            module = HEAD + "\n".join(
                function(f"{s}_as_{t}", s, t, len(a), f'T.reinterpret("{t}", A[i])') for s, t, a, _ in part
            )
            for source, target, a, expected in part:
                call = Asked([given(a), empty(expected.shape, target)], [KEPT, want(expected)])
                book.case(
                    f"cast.reinterpret.{source}.{target}",
                    ["NUM-705", "NUM-006"],
                    module,
                    f"{source}_as_{target}",
                    [call],
                )
    book.write("reinterpret", "The same bits as another dtype.")


def nan_codes(book):
    """A NaN has one code, by NUM-006: written by hand."""
    canonical = {"float16": ("uint16", 0x7E00), "bfloat16": ("uint16", 0x7FC0), "float32": ("uint32", 0x7FC00000),
                 "float64": ("uint64", 0x7FF8 << 48), "float8_e5m2": ("uint8", 0x7E), "float8_e4m3": ("uint8", 0x7C),
                 "float8_e3m4": ("uint8", 0x78), "float8_e4m3fn": ("uint8", 0x7F), "float8_e4m3fnuz": ("uint8", 0x80),
                 "float8_e5m2fnuz": ("uint8", 0x80), "float8_e4m3b11fnuz": ("uint8", 0x80), "float8_e8m0fnu": ("uint8", 0xFF)}  # fmt: skip
    for name, (code, value) in canonical.items():
        module = HEAD + function("code", name, code, 1, f'T.reinterpret("{code}", A[i])')
        call = Asked(
            [given(np.array([np.nan]).astype(stored(name))), empty([1], code)], [KEPT, want(np.array([value], code))]
        )
        book.case(f"cast.nan-code.{name}", ["NUM-006", "NUM-705"], module, "code", [call], witness="hand")
    book.write("nan-code", "The one code of NaN.")


if __name__ == "__main__":
    pages = Book("cast", "exact arithmetic", strict=False)
    casts(pages)
    reinterprets(pages)
    nan_codes(pages)
    sys.stdout.write("".join(f"{line}\n" for line in pages.disagreements))
