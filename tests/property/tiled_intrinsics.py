"""Tiles of functions and intrinsics that may be what they are: rolled from a seed.

The function computes `X` in tiles; the description is one tile of it, or differs from it in one thing:
an operator, an operand's place, a size, the order of the loops. The implementation is the description in other words.
"""

import random

from refmlc.lang.wellformed.reader_checks import read

HEAD = "# from tvm.script import tirx as T\n@T.prim_func(s_tir=True)\ndef main("
MAPS = ("{a} * T.{d}(2) + {b}", "T.max({a}, {b})", "{a} - {b}", "T.min({a} + {b}, {a})")
SUMS = ("{x} + {a} * {b}", "T.max({x}, {a})", "{x} + T.max({a}, {b})")
SAME = 0.6  # the share of descriptions that are what they should be


def tiled(seed):
    """The function, and the words of the step."""
    rng = random.Random(f"tile/{seed}")  # noqa: S311 - a seed, no secret
    dtype = rng.choice(("float32", "float16", "int32", "int16", "uint8"))
    tile = [rng.choice((1, 2, 3)) for _ in range(2)]
    counts = [rng.choice((1, 2, 3)) for _ in range(2)]
    depth = rng.choice((0, 0, 2, 3))
    value = rng.choice(SUMS if depth else MAPS)
    ahead = rng.choice((0, 0, 1))  # A has this many columns that are not read
    func = read(_function(dtype, tile, counts, depth, value, ahead), "tiled.py")["main"]
    desc_value, order = value, "id"
    if rng.random() > SAME:
        other = [one for one in (SUMS if depth else MAPS) if one != value]
        match rng.randrange(4):
            case 0:
                desc_value = rng.choice(other)
            case 1:
                order = "turned"
            case 2:
                tile = [tile[0], tile[1] + 1]
            case _:
                desc_value = value.replace("{a}", "{t}", 1)
    desc = _described(dtype, tile, depth, desc_value, order, strided=False)
    impl = _described(dtype, tile, depth, desc_value, order, strided=True, kind=rng.choice(("serial", "unroll")))
    return func, ["tensorize", "work", 3 if depth else 2, desc, impl]


def _function(dtype, tile, counts, depth, value, ahead):
    """All tiles; with a depth, a reduction whose terms come in rounds of it."""
    rows, columns = tile[0] * counts[0], tile[1] * counts[1]
    inner = depth * 2 if depth else columns
    a, b = ("A[vi, vk]", "B[vk, vj]") if depth else (f"A[vi, vj + {ahead}]", "B[vi, vj]")
    params = f'A: T.Buffer(({rows}, {inner + ahead}), "{dtype}"), '
    params += (
        f'B: T.Buffer(({inner if depth else rows}, {columns}), "{dtype}"), X: T.Buffer(({rows}, {columns}), "{dtype}")'
    )
    at = f"vi = T.axis.spatial({rows}, i0 * {tile[0]} + i1)\n            "
    at += f"vj = T.axis.spatial({columns}, j0 * {tile[1]} + j1)"
    sizes = [*counts, *tile]
    loops, init = "i0, j0, i1, j1", ""
    if depth:
        loops, sizes = "i0, j0, k0, i1, j1, k1", [*counts, 2, *tile, depth]
        at += f"\n            vk = T.axis.reduce({inner}, k0 * {depth} + k1)"
        init = f"\n            with T.init():\n                X[vi, vj] = T.{dtype}(0)"
    text = value.format(a=a, b=b, x="X[vi, vj]", d=dtype, t=a)
    return f"""{HEAD}{params}):
    for {loops} in T.grid({", ".join(map(str, sizes))}):
        with T.sblock("work"):
            {at}{init}
            X[vi, vj] = {text}
"""


def _described(dtype, tile, depth, value, order, *, strided, kind="serial"):
    """A function of one tile; `strided`: of one that may lie in any memory."""
    shapes = {"A": (tile[0], depth), "B": (depth, tile[1])} if depth else {"A": tile, "B": tile}
    shapes["X"] = tile
    rows = ["    s = T.int32()\n    t = T.int32()\n    u = T.int32()\n"] if strided else []
    for (name, shape), stride in zip(shapes.items(), "stu", strict=True):
        strides = f"strides=[{stride}, 1], " if strided else ""
        kind_of = f'({shape[0]}, {shape[1]}), "{dtype}", {strides}offset_factor=1'
        rows.append(f"    {name} = T.match_buffer({name.lower()}, {kind_of})\n")
    a, b = ("A[vi, vk]", "B[vk, vj]") if depth else ("A[vi, vj]", "B[vi, vj]")
    other = "A[vi, 0]"
    text = value.format(a=a, b=b, x="X[vi, vj]", d=dtype, t=other)
    names, sizes, kinds = ["i", "j"], [*tile], "SS"
    if order == "turned":
        names, sizes = names[::-1], sizes[::-1]
    if depth:
        names, sizes, kinds = [*names, "k"], [*sizes, depth], "SSR"
    axes = ", ".join(f"v{name}" for name in "ijk"[: len(kinds)])
    nest = "".join(
        f"{'    ' * at}for {name} in T.{kind}({size}):\n        "
        for at, (name, size) in enumerate(zip(names, sizes, strict=True))
    )
    reads = (f"X[0:{tile[0]}, 0:{tile[1]}], " if depth else "") + ", ".join(
        f"{name}[0:{shape[0]}, 0:{shape[1]}]" for name, shape in shapes.items() if name != "X"
    )
    inside = "    " * (len(names) + 2)
    return f"""{HEAD}a: T.handle, b: T.handle, x: T.handle):
{"".join(rows)}    with T.sblock("root"):
        T.reads({reads})
        T.writes(X[0:{tile[0]}, 0:{tile[1]}])
        {nest}{"    " * len(names)}with T.sblock("inner"):
{inside}    {axes} = T.axis.remap("{kinds}", [{", ".join("ijk"[: len(kinds)])}])
{inside}    X[vi, vj] = {text}
"""
