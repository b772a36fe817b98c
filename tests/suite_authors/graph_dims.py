"""Relax by hand, densely: arithmetic on symbolic dimensions."""

import numpy as np
from graph_usual import graph
from hand import undefined

VALUES = (5, 1, 0, -7, 2**40)
N = 'n: R.Prim("int64")'
ROWS = [
    ("plus", "n * 3 + 4", lambda n: n * 3 + 4),
    ("minus", "2 - n * n", lambda n: 2 - n * n),
    ("floor", "n // 3", lambda n: n // 3),
    ("floormod", "n % 3", lambda n: n % 3),
    ("truncdiv", "T.truncdiv(n, 3)", lambda n: int(n / 3) if abs(n) < 2**40 else n // 3),
    ("truncmod", "T.truncmod(n, 3)", lambda n: int(np.fmod(n, 3))),
    ("bits", "(n & 6) | 1", lambda n: n & 6 | 1),
    ("shifts", "(n << 2) + (n >> 1)", lambda n: (n << 2) + (n >> 1)),
    ("ends", "T.min(n, 3) * 10 + T.max(n, -2)", lambda n: min(n, 3) * 10 + max(n, -2)),
    ("select", "T.Select(n > 0, n, 8 - n)", lambda n: n if n > 0 else 8 - n),
    ("lazy", "T.if_then_else(n == 0, 9, 60 // n)", lambda n: 9 if n == 0 else 60 // n),
    ("let", "T.Let(m * m - n, where={m: n + 1})", lambda n: (n + 1) ** 2 - n),
    ("let-twice", "T.Let(T.Let(m + k, where={k: m * 2}), where={m: n - 1})", lambda n: (n - 1) * 3),
    ("cast", 'T.Cast("int64", T.Cast("int8", n % 100))', lambda n: n % 100),
    ("narrow", 'T.Cast("int64", T.Cast("int8", n + 128))', lambda n: n + 128 + 256 * -((n + 256) // 256)),
    ("int8", 'T.Cast("int8", n)', lambda n: (n + 128) % 256 - 128),
    ("bool", 'T.Cast("int64", n > 0) * 7', lambda n: 7 * (n > 0)),
]
CONDITIONS = [
    ("and", "T.And(n < 100, n * n > 9)", lambda n: n < 100 and n * n > 9, (5, 1, 100, 2**40)),
    ("or", "T.Or(n > 100, n * n > 9)", lambda n: n > 100 or n * n > 9, (5, 1, 101, 2**40)),
    ("and-first", "T.And(n > 3, n < 6)", lambda n: 3 < n < 6, (2, 5, 7)),
    ("or-last", "T.Or(n > 3, n < 0)", lambda n: n > 3 or n < 0, (5, 2, -1)),
    ("not", "T.Not(n > 3)", lambda n: not n > 3, (3, 4)),
    ("compare", "T.And(n >= 2, T.And(n != 4, n <= 6))", lambda n: 2 <= n <= 6 and n != 4, (1, 2, 4, 6, 7)),
]


def small(value):
    """Whether the numbers of the rows stay far from where int64 ends."""
    return abs(value) < 2**31


def numbers(book):
    """Values of expressions, as a primitive value and as an extent."""
    for name, expr, law in ROWS:
        values = [n for n in VALUES if small(n) or name not in ("minus", "let", "truncdiv", "truncmod")]
        head = "m, k = T.int64(), T.int64()\n" if "where" in expr else ""
        lines = f"{head}y = R.prim_value({expr})\nreturn y"
        calls = [([n], int(law(n))) for n in values]
        graph(book, f"relax.graph-arith.{name}", "RLX-022 RLX-105", lines, *calls, params=N)
        lines = f"{head}return R.shape([n, {expr}])"
        calls = [([n], [(n, int(law(n)))]) for n in values if name != "int8"]
        if calls:
            graph(book, f"relax.graph-arith.{name}-extent", "RLX-022 RLX-108", lines, *calls, params=N)


def conditions(book):
    """Truths of primitive values; `and` and `or` leave out what they need not ask."""
    for name, expr, law, values in CONDITIONS:
        lines = f"y = R.prim_value({expr})\nreturn y"
        calls = [([n], bool(law(n))) for n in values]
        graph(book, f"relax.graph-arith.{name}", "RLX-022 RLX-105", lines, *calls, params=N)
        lines = f"return R.shape([T.if_then_else({expr}, n + 1, n - 3)])"
        calls = [([n], [(n + 1 if law(n) else n - 3,)]) for n in values]
        graph(book, f"relax.graph-arith.{name}-extent", "RLX-022 RLX-108", lines, *calls, params=N)
    for name, expr, value in (("true", "T.bool(True)", True), ("false", "T.bool(False)", False)):
        graph(
            book, f"relax.graph-arith.{name}", "RLX-105", f"y = R.prim_value({expr})\nreturn y", ([5], value), params=N
        )


def floats(book):
    """Floats are primitive values too."""
    rows = [
        ("constant", "T.float64(1.5)", [(0, 1.5)]),
        ("half", 'T.Cast("float64", n) / T.float64(2)', [(5, 2.5), (-3, -1.5), (0, 0.0)]),
        ("rounded", 'T.Cast("float64", T.Cast("float32", n))', [(2**24 + 1, 2.0**24), (3, 3.0)]),
        ("root", 'T.sqrt(T.Cast("float64", n))', [(4, 2.0), (2, float(np.sqrt(2.0)))]),
    ]
    for name, expr, values in rows:
        lines = f"y = R.prim_value({expr})\nreturn y"
        graph(book, f"relax.graph-float.{name}", "RLX-022 RLX-105", lines, *(([n], v) for n, v in values), params=N)


def stops(book):
    """What has no value, at the place of the operator."""
    rows = [
        ("division", "«6 // n»", "RM307", [0]),
        ("remainder", "1 + «n % (n - 2)»", "RM307", [2]),
        ("trunc", "«T.truncdiv(6, n)» + 1", "RM307", [0]),
        ("overflow", "1 + «n * n»", "RM306", [2**32, -(2**32), 2**40]),
        ("add", "«n + 1»", "RM306", [2**63 - 1]),
        ("minus", "«n - 2»", "RM306", [-(2**63), -(2**63) + 1]),
        ("select", "T.Select(n == 0, 1, «6 // n»)", "RM307", [0]),
        ("lazy", "T.if_then_else(n == 0, «6 // n», 1)", "RM307", [0]),
        ("and", 'T.Cast("int64", T.And(n == 0, «6 // n» > 1))', "RM307", [0]),
        ("or", 'T.Cast("int64", T.Or(n != 0, «6 // n» > 1))', "RM307", [0]),
    ]
    for name, expr, code, values in rows:
        for form, lines in (("extent", "return R.shape([{}])"), ("value", "y = R.prim_value({})\nreturn y")):
            calls = [([n], undefined(code)) for n in values]
            text = lines.replace("{}", expr)
            graph(book, f"undefined.graph-arith.{name}-{form}", "RLX-022", text, *calls, params=N)


def dims(book):
    """All of them."""
    for part in (numbers, conditions, floats, stops):
        part(book)
    book.write("relax-graph-dims", "Arithmetic on symbolic dimensions, densely.")
