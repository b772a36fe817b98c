"""Pipelines for steps that move blocks: one makes P, one makes Q of it, one makes X of these; rolled from a seed."""

import random

from refmlc.lang.wellformed.reader_checks import read

HEAD = """@T.prim_func(s_tir=True)
def main(A: T.Buffer(({a}, {b}), {d}), B: T.Buffer(({a}, {b}), {d}), X: T.Buffer(({a}, {b}), {d})):
    P = T.sblock_alloc_buffer(({a}, {b}), {d})
    Q = T.sblock_alloc_buffer(({a}, {b}), {d})
"""
FLOATS, INTEGERS = ("float32", "float16"), ("int32", "uint8", "int16", "uint32")


def expression(rng, dtype, operands):
    """An operand, or two of them under an operator."""
    if rng.random() < 0.4:
        return f"{rng.choice(operands)} * T.{dtype}({rng.randint(0, 3)})"
    one, two = rng.choice(operands), rng.choice(operands)
    return rng.choice((f"{one} + {two}", f"T.max({one}, {two})", f"T.min({one}, {two})", one))


def mapped(name, target, sizes, value, axes="vi, vj"):
    """A block that computes elements one by one."""
    return f"""
    for i, j in T.grid({sizes}):
        with T.sblock("{name}"):
            vi, vj = T.axis.remap("SS", [i, j])
            {target}[{axes}] = {value}
"""


def reduced(name, target, sizes, start, op, term):
    """A block that reduces along two loops, or one."""
    loops = "i, j, k" if sizes.count(",") == 2 else "i, j, k, m"
    kinds = "SSR" if loops == "i, j, k" else "SSRR"
    axes = "vi, vj, vk" if loops == "i, j, k" else "vi, vj, vk, vm"
    value = f"T.{op}({target}[vi, vj], {term})" if op in ("max", "min") else f"{target}[vi, vj] {op} {term}"
    return f"""
    for {loops} in T.grid({sizes}):
        with T.sblock("{name}"):
            {axes} = T.axis.remap("{kinds}", [{loops}])
            with T.init():
                {target}[vi, vj] = {start}
            {target}[vi, vj] = {value}
"""


def index(rng, a, b):
    """Indices within a by b, of `vi` and `vj` that run over a - 1 by b - 1."""
    rows = ("vi", "vi", "vi + 1", f"{a - 2} - vi", "0", "vi // 2 * 2", f"vi % {a}")
    columns = ("vj", "vj", "vj + 1", f"{b - 2} - vj", "1", "vj // 2")
    return f"[{rng.choice(rows)}, {rng.choice(columns)}]"


def pipeline(seed):
    """The function: `first` makes P, `second` makes Q of it, `third` makes X of both or of Q."""
    rng = random.Random(seed)  # noqa: S311 - a seed, no secret
    a, b = rng.choice((2, 3, 4, 6, 8)), rng.choice((2, 4, 5, 6))
    dtype = rng.choice(FLOATS + INTEGERS)
    at = "[vi, vj]"
    text = [HEAD.format(a=a, b=b, d=f'"{dtype}"')]
    zero = f"T.{dtype}(0)"
    if rng.random() < 0.4:
        op = rng.choice(("+", "max", "min"))
        term = rng.choice(("A[vi, vk]", "A[vi, vk] * B[vi, vj]", "B[vi, vk]"))
        sizes = f"{a}, {b}, {b}"
        if rng.random() < 0.3:
            term, sizes = "A[vm, vk]", f"{a}, {b}, {b}, {a}"
        text.append(reduced("first", "P", sizes, zero, op, term))
    else:
        text.append(mapped("first", "P", f"{a}, {b}", expression(rng, dtype, ["A" + at, "B" + at])))
    choice = rng.random()
    if choice < 0.4:
        text.append(mapped("second", "Q", f"{a}, {b}", expression(rng, dtype, ["P" + at, "A" + at])))
    elif choice < 0.7:
        small = ["P" + index(rng, a, b) for _ in range(2)]
        text.append(mapped("second", "Q", f"{a - 1}, {b - 1}", expression(rng, dtype, small)))
    else:
        text.append(reduced("second", "Q", f"{a}, {b}, {b}", zero, rng.choice(("+", "max")), "P[vi, vk]"))
    third = ["Q" + at] + (["P" + at] if rng.random() < 0.2 else ["B" + at] if rng.random() < 0.5 else [])
    size = f"{a - 1}, {b - 1}" if 0.4 <= choice < 0.7 else f"{a}, {b}"
    text.append(mapped("third", "X", size, expression(rng, dtype, third)))
    return read("".join(text), "pipeline.py")["main"]
