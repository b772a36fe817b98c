"""Pipelines of three blocks as in `pipelines`, whose sizes are symbolic, or one of them; rolled from a seed."""

import random

from pipelines import expression, mapped, reduced

from refmlc.lang.wellformed.reader_checks import read

HEAD = """@T.prim_func(s_tir=True)
def main(A: T.Buffer(({a}, {b}), {d}), B: T.Buffer(({a}, {b}), {d}), X: T.Buffer(({a}, {b}), {d})):
{sizes}    P = T.sblock_alloc_buffer(({a}, {b}), {d})
    Q = T.sblock_alloc_buffer(({a}, {b}), {d})
"""
DTYPES = ("float32", "float16", "uint8", "int16")
SHAPES = (("n", "m"), ("n", "m"), ("n", "6"), ("4", "m"), ("n", "n"))
ROWS, COLUMNS = (
    ("vi", "vi", "vi + 1", "{a} - 2 - vi", "0", "vi // 2 * 2"),
    ("vj", "vj", "vj + 1", "{b} - 2 - vj", "vj // 2"),
)


def sized_pipeline(seed):
    """The function: `first` makes P, `second` makes Q of it, `third` makes X of both or of Q."""
    rng = random.Random(f"sized/{seed}")  # noqa: S311 - a seed, no secret
    (a, b), dtype, at = rng.choice(SHAPES), rng.choice(DTYPES), "[vi, vj]"
    sizes = "".join(f"    {name} = T.int64()\n" for name in dict.fromkeys((a, b)) if name.isalpha())
    declared = [f'"{name}"' if name.isalpha() else name for name in (a, b)]
    head = HEAD.format(a=a, b=b, d=f'"{dtype}"', sizes=sizes)
    text = [head.replace(f"A: T.Buffer(({a}, {b})", f"A: T.Buffer(({declared[0]}, {declared[1]})")]
    zero, full = f"T.{dtype}(0)", f"{a}, {b}"
    if rng.random() < 0.4:
        term = rng.choice(("A[vi, vk]", "A[vi, vk] * B[vi, vj]", "B[vi, vk]"))
        text.append(reduced("first", "P", f"{full}, {b}", zero, rng.choice(("+", "max", "min")), term))
    else:
        text.append(mapped("first", "P", full, expression(rng, dtype, ["A" + at, "B" + at])))
    choice = rng.random()
    if choice < 0.4:
        text.append(mapped("second", "Q", full, expression(rng, dtype, ["P" + at, "A" + at])))
    elif choice < 0.7:
        reads = [f"P[{rng.choice(ROWS)}, {rng.choice(COLUMNS)}]".format(a=a, b=b) for _ in range(2)]
        full = f"{a} - 1, {b} - 1"
        text.append(mapped("second", "Q", full, expression(rng, dtype, reads)))
    else:
        text.append(reduced("second", "Q", f"{full}, {b}", zero, rng.choice(("+", "max")), "P[vi, vk]"))
    third = ["Q" + at] + (["P" + at] if rng.random() < 0.2 else ["B" + at] if rng.random() < 0.5 else [])
    text.append(mapped("third", "X", full, expression(rng, dtype, third)))
    return read("".join(text), "pipeline.py")["main"]
