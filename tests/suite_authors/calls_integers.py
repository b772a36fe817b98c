"""TensorIR by hand: integer operators on variables and on values, at the ends of their dtypes; operators of vectors."""

import numpy as np
from calls_packed import typed
from hand import K, ask, f32, i32, new, tir, undefined
from tir_usual import INTS, IOUT, IR, simple

OPERATORS = {"add": "{} + {}", "sub": "{} - {}", "mul": "{} * {}", "floordiv": "{} // {}", "floormod": "{} % {}"}


def exact(name, x, y):
    """The integer, or None where there is none."""
    match name:
        case "add":
            return x + y
        case "sub":
            return x - y
        case "mul":
            return x * y
        case "floordiv":
            return x // y if y else None
        case _:
            return x % y if y else None


def integers(book):
    """Operands that are variables, constants, or other expressions."""
    for dtype in ("int8", "uint8", "int32", "int64"):
        for name in OPERATORS:
            points(book, dtype, name)
    constants(book)
    lanes(book)


def points(book, dtype, name):
    """The operator about the ends of the dtype: of all elements in one call, of variables in a call for each."""
    info = np.iinfo(dtype)
    found = [(x, y, exact(name, x, y)) for x, y in pairs(info.min, info.max, name)]
    wraps = info.bits < 32
    good = [one for one in found if wraps or info.min <= one[2] <= info.max]
    bad = [(one[:2], "RM306") for one in found if one not in good]
    if "floor" in name:
        bad = [((7, 0), "RM307"), *bad]
    clauses = "NUM-101 TIR-105" if name in ("add", "sub", "mul") else "NUM-104 TIR-105"
    x, y, totals = (np.array([one[k] for one in good], object) for k in range(3))
    totals = ((totals - info.min) % (info.max - info.min + 1) + info.min).astype(dtype)
    both = np.stack([x, y]).astype(dtype)
    count = len(good)
    form = OPERATORS[name]
    params = f'A: T.Buffer((2, {count}), "{dtype}"), R: T.Buffer(({count},), "{dtype}")'
    text = tir(params, f"for i in range({count}):\n    R[i] = {form.format('A[0, i]', 'A[1, i]')}")
    ask(book, f"tir.integer.{name}-elements-{dtype}", clauses, text, ([both, new([count], dtype)], [K, totals]))
    params = f'n: T.{dtype}, m: T.{dtype}, R: T.Buffer((1,), "{dtype}")'
    text = tir(params, f"R[0] = «{form.format('n', 'm')}»")
    if dtype in ("int8", "int32"):
        calls = [
            ([typed(a, dtype), typed(b, dtype), new([1], dtype)], totals[k : k + 1]) for k, (a, b, _) in enumerate(good)
        ]
        plain = text.replace("«", "").replace("»", "")
        ask(book, f"tir.integer.{name}-variables-{dtype}", clauses, plain, *calls)
    if bad:
        ends = [([typed(a, dtype), typed(b, dtype), new([1], dtype)], undefined(code)) for (a, b), code in bad]
        ask(book, f"undefined.integer.{name}-variables-{dtype}", clauses, text, *ends)
        text = tir(
            f'A: T.Buffer((2,), "{dtype}"), R: T.Buffer((1,), "{dtype}")', f"R[0] = «{form.format('A[0]', 'A[1]')}»"
        )
        ends = [([np.array(pair, dtype), new([1], dtype)], undefined(code)) for pair, code in bad]
        ask(book, f"undefined.integer.{name}-elements-{dtype}", clauses, text, *ends)


def pairs(least, most, name):
    """Operands about the ends."""
    if name in ("add", "sub"):
        own = [(most - 1, 1), (most, 1), (least + 1, 1), (least, 1), (5, 3), (3, 5), (most, most), (least, most)]
        if least:
            own += [(least + 1, -1), (least, -1), (most, -1), (-5, -3), (0, least)]
        return own
    if name == "mul":
        half = most // 2
        return [(half, 2), (half + 1, 2), (7, 5), (0, most), (1, most), (most, most), (least, 1), (least, 2)] + (
            [(least // 2, 2), (least // 2 - 1, 2), (-7, 5), (-7, -5), (most, -1), (least, -1)] if least else []
        )
    own = [(7, 2), (6, 3), (5, 7), (most, 1), (most, most), (0, 3), (most, 2)]
    return own + ([(-7, 2), (7, -2), (-7, -2), (least, 1), (-1, most), (least, 2), (6, -3)] if least else [])


def constants(book):
    """A variable and a constant, a constant and an element."""
    body = """
R[0] = n + 3
R[1] = 3 - n
R[2] = n * -5
R[3] = n // 4
R[4] = n % 4
R[5] = 17 // (n * n + 1)
R[6] = (n + 1) - A[0]
R[7] = A[0] * (n - 2)
"""
    calls = []
    for n in (-9, -1, 0, 6):
        row = [n + 3, 3 - n, n * -5, n // 4, n % 4, 17 // (n * n + 1), n + 1 - 11, 11 * (n - 2)]
        calls.append(([typed(n, "int32"), i32(11), new([8], "int32")], [K, i32(*row)]))
    params = 'n: T.int32, A: T.Buffer((1,), "int32"), R: T.Buffer((8,), "int32")'
    ask(book, "tir.integer.constants", "TIR-105 TIR-102", tir(params, body), *calls)


def lanes(book):
    """Operators of vectors, of which one lane has no value."""
    both = 'A: T.Buffer((4,), "int32"), B: T.Buffer((4,), "int32"), R: T.Buffer((4,), "int32")'
    rows = {
        "floordiv": ("«A[0:4] // B[0:4]»", (5, 2), (5, 0), "RM307"),
        "floormod": ("«A[0:4] % B[0:4]»", (-5, 3), (5, 0), "RM307"),
        "add": ("«A[0:4] + B[0:4]»", (2**31 - 2, 1), (2**31 - 1, 1), "RM306"),
        "mul": ("«A[0:4] * B[0:4]»", (-(2**30), 2), (2**30, 2), "RM306"),
    }
    for name, (value, good, bad, code) in rows.items():
        text = tir(both, f"R[0:4] = {value}")
        for at in (0, 3):
            a, b = i32(7, -3, 2, 9), i32(1, 2, 3, 4)
            a[at], b[at] = bad
            ask(book, f"undefined.lanes.{name}-{at}", "TIR-105 NUM-104", text, ([a, b, IOUT], undefined(code)))
        a, b = i32(7, -3, 2, 9), i32(1, 2, 3, 4)
        a[2], b[2] = good
        found = [exact(name, int(x), int(y)) for x, y in zip(a, b, strict=True)]
        plain = text.replace("«", "").replace("»", "")
        ask(book, f"tir.lanes.{name}", "TIR-105 NUM-104", plain, ([a, b, IOUT], [K, K, i32(*found)]))
    unary = 'A: T.Buffer((1,), "int32"), R: T.Buffer((1,), "int32")'
    ask(
        book,
        "undefined.integer.abs",
        "TIR-105",
        tir(unary, "R[0] = «T.abs(A[0])»"),
        ([i32(-(2**31)), new([1], "int32")], undefined("RM306")),
        ([i32(-(2**31) + 1), new([1], "int32")], [K, i32(2**31 - 1)]),
    )
    simple(
        book,
        "tir.lanes.reinterpret",
        "TIR-105",
        'R[0:4] = T.reinterpret("int32x4", A.vload([T.Ramp(0, 1, 4)]))',
        f32(1, -2, 0.5, 3).view(np.int32),
        'A: T.Buffer((4,), "float32"), R: T.Buffer((4,), "int32")',
        f32(1, -2, 0.5, 3),
        IOUT,
    )
    simple(
        book,
        "tir.integer.min-and-max",
        "TIR-105",
        "for i in range(4):\n    R[i] = T.max(T.min(A[i], 35), 15)",
        i32(15, 20, 30, 35),
        IR,
        INTS,
    )
