"""TensorIR by hand: loads and stores of single elements, in each form that a buffer has.

Of each form: points inside, one below and one beyond each axis, an element that nothing was written to, one beyond the
storage, memory that is locked or was freed. Element `i` of what is read is `7 i + 3` in row-major order.
"""

import math

import numpy as np
from hand import K, ask, i32, new, tir, undefined

BOUNDS, UNWRITTEN, LOCKED, FREED = (undefined(f"RM{code}") for code in (304, 305, 313, 316))
SHAPES = {0: (), 1: (5,), 2: (3, 4), 3: (2, 3, 4), 4: (2, 3, 4, 5), 5: (2, 1, 3, 2, 2)}
ONE = new([1], "int32")
BLOCK = 'for i in range(1):\n        with T.sblock("B"):\n            vi = T.axis.spatial(1, i)\n'

CONSTANT = """
@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def poke(A: T.Buffer((6,), "int32"), N: T.Buffer((1,), "int32")):
        T.func_attr({{"global_symbol": "poke"}})
        W = T.decl_buffer({shape}, "int32", data=A.data)
        for i, j in T.grid(2, 3):
            if N[0] == 0:
                «W[{at}] = 7

    @R.function(pure=False)
    def main(n: R.Tensor((1,), "int32")):
        cls = Module
        c: R.Tensor((6,), "int32") = R.const([3, 1, 4, 1, 5, 9], "int32")
        u: R.Tuple = cls.poke(c, n)
        return c
"""


def elements(book):
    for rank, shape in SHAPES.items():
        if rank:
            _load(book, rank, shape)
            _store(book, rank, shape)
    _beyond(book)
    _within(book)
    _freed(book)
    _order(book)
    _scalar(book)
    _constant(book)
    book.write("elements", "Loads and stores of single elements.")


def series(shape):
    """The elements that are read."""
    return (np.arange(math.prod(shape), dtype=np.int32) * 7 + 3).reshape(shape)


def points(shape):
    """Indices inside: the last ones, and two others."""
    last = [extent - 1 for extent in shape]
    return [last, [extent // 2 for extent in shape], [(axis + 1) % extent for axis, extent in enumerate(shape)]]


def outside(shape):
    """Indices of which one is one too low or too high."""
    zeros = [0] * len(shape)
    return [[*zeros[:at], value, *zeros[at + 1 :]] for at, extent in enumerate(shape) for value in (-1, extent)]


def of(rank):
    return ", ".join(f"I[{axis}]" for axis in range(rank))


def _load(book, rank, shape):
    text = tir(f'A: T.Buffer({shape}, "int32"), I: T.Buffer(({rank},), "int32"), R: T.Buffer((1,), "int32")', "{}")
    a = series(shape)
    calls = [([a, i32(*at), ONE], [K, K, i32(a[tuple(at)])]) for at in points(shape)]
    calls += [([a, i32(*at), ONE], BOUNDS) for at in outside(shape)]
    calls.append(([new(list(shape), "int32"), i32(*points(shape)[0]), ONE], UNWRITTEN))
    ask(book, f"undefined.element.load-{rank}", "TIR-006 TIR-007", text.format(f"R[0] = «A[{of(rank)}]»"), *calls)
    region = ", ".join(f"0:{extent}" if axis else "0:1" for axis, extent in enumerate(shape))
    block = (
        BLOCK
        + f"            T.reads(A[{region}], I[0:{rank}])\n            T.writes(R[0])\n            R[0] = «A[{of(rank)}]»"
    )
    inside = [0, *points(shape)[0][1:]]
    watched = [([a, i32(*inside), ONE], [K, K, i32(a[tuple(inside)])])]
    watched += [([a, i32(*points(shape)[0]), ONE], undefined("RM318"))]
    watched += [([a, i32(*at), ONE], BOUNDS) for at in outside(shape)]
    watched.append(([new(list(shape), "int32"), i32(*inside), ONE], UNWRITTEN))
    name = f"undefined.element.load-{rank}-in-a-region"
    ask(book, name, "TIR-006 TIR-007 TIR-221", text.format(block), *watched)


def _store(book, rank, shape):
    params = f'V: T.Buffer((1,), "int32"), I: T.Buffer(({rank},), "int32"), A: T.Buffer({shape}, "int32")'
    text = tir(params, "{}")
    a, v = series(shape), i32(-9)

    def after(at):
        found = a.copy()
        found[tuple(at)] = -9
        return found

    calls = [([v, i32(*at), a], [K, K, after(at)]) for at in points(shape)]
    calls += [([v, i32(*at), a], BOUNDS) for at in outside(shape)]
    ask(book, f"undefined.element.store-{rank}", "TIR-006 TIR-205", text.format(f"«A[{of(rank)}] = V[0]"), *calls)
    region = ", ".join(f"0:{extent}" if axis else "0:1" for axis, extent in enumerate(shape))
    block = (
        BLOCK
        + f"            T.reads(V[0], I[0:{rank}])\n            T.writes(A[{region}])\n            «A[{of(rank)}] = V[0]"
    )
    inside = [0, *points(shape)[0][1:]]
    watched = [([v, i32(*inside), a], [K, K, after(inside)])]
    watched += [([v, i32(*points(shape)[0]), a], undefined("RM318"))]
    watched += [([v, i32(*at), a], BOUNDS) for at in outside(shape)]
    name = f"undefined.element.store-{rank}-in-a-region"
    ask(book, name, "TIR-006 TIR-205 TIR-221", text.format(block), *watched)


def _beyond(book):
    """A view that is declared larger than its storage of 7 elements: the first one that is not there, and the last."""
    seven = series((7,))
    for rank, shape in SHAPES.items():
        if not rank:
            continue
        size = math.prod(shape)
        view = f'W = T.decl_buffer({shape}, "int32", data=A.data)\n'
        params = f'A: T.Buffer((7,), "int32"), I: T.Buffer(({rank},), "int32"), R: T.Buffer((1,), "int32")'
        if size <= 7:
            continue
        calls = [([seven, i32(*np.unravel_index(at, shape)), ONE], BOUNDS) for at in (7, size - 1)]
        text = tir(params, view + f"R[0] = «W[{of(rank)}]»")
        ask(book, f"undefined.element.load-beyond-{rank}", "TIR-006 TIR-207", text, *calls)
        text = tir(params, view + f"«W[{of(rank)}] = 5\nR[0] = 1")
        ask(book, f"undefined.element.store-beyond-{rank}", "TIR-006 TIR-207 TIR-205", text, *calls)


def _within(book):
    """Indices that loops keep inside of the declared shape, but not of the storage."""
    head = '@T.prim_func(s_tir=True)\ndef main(a: T.handle, R: T.Buffer((2, 4), "int32")):\n    n = T.int32()\n    A = T.match_buffer(a, (n,), "int32")\n'
    body = '    W = T.decl_buffer((2, 4), "int32", data=A.data)\n    for i in range(2):\n        for j in range(4):\n            {}\n'
    out, eight = new([2, 4], "int32"), series((2, 4))
    for name, line, calls in (
        ("load", "R[i, j] = «W[i, j]»", [([series((8,)), out], [K, eight]), ([series((7,)), out], BOUNDS)]),
        (
            "store",
            "«W[i, j] = i * 10 + j\n            R[i, j] = 5",
            [
                ([series((8,)), out], [i32(0, 1, 2, 3, 10, 11, 12, 13), np.full((2, 4), 5, np.int32)]),
                ([series((7,)), out], BOUNDS),
            ],
        ),
    ):
        if name == "load":
            calls.append(([new([8], "int32"), out], UNWRITTEN))
        ask(book, f"undefined.element.{name}-in-loops", "TIR-006 TIR-207", head + body.format(line), *calls)
    narrow = '    W = T.decl_buffer((2, 3), "int32", data=A.data)\n    for i in range(2):\n        for j in range(n):\n            R[i, j] = «W[i, j]»\n    for i in range(2):\n        for j in range(n, 4):\n            R[i, j] = 0\n'
    ask(
        book,
        "undefined.element.load-loops-too-far",
        "TIR-006",
        head + narrow,
        ([series((3,)), out], BOUNDS),
        ([series((4,)), out], BOUNDS),
    )
    constant = 'W = T.decl_buffer((2, 3), "int32", data=A.data)\nfor i in range(1, 3):\n    R[i - 1] = {}'
    params = 'A: T.Buffer((6,), "int32"), R: T.Buffer((2,), "int32")'
    two = new([2], "int32")
    ask(
        book,
        "tir.element.constant-index",
        "TIR-006",
        tir(params, constant.format("W[1, 2] + W[0, 2] + W[1, 0]")),
        ([series((6,)), two], [K, i32(79, 79)]),
    )
    for name, index in (
        ("row", "«W[2, 0]»"),
        ("column", "«W[0, 3]»"),
        ("negative", "«W[-1, 0]»"),
        ("loop", "«W[i, 1]»"),
    ):
        ask(
            book,
            f"undefined.element.constant-{name}",
            "TIR-006",
            tir(params, constant.format(index)),
            ([series((6,)), two], BOUNDS),
        )


def _freed(book):
    """Memory of a workspace after its end, in each form."""
    for rank, shape in SHAPES.items():
        size = math.prod(shape)
        at = ", ".join(["0"] * rank) or "()"
        lines = f'W = T.decl_buffer({shape}, "int32", data=T.TVMBackendAllocWorkspace(1, 0, T.uint64({size * 4}), 0, 32))\nW[{at}] = 4\nR[0] = W[{at}]\nif n > 0:\n    T.evaluate(T.TVMBackendFreeWorkspace(1, 0, W.data))\n'
        params = 'n: T.int32, R: T.Buffer((1,), "int32")'
        done = ([0, ONE], i32(5))
        ask(
            book,
            f"undefined.element.load-freed-{rank}",
            "TIR-325",
            tir(params, lines + f"R[0] = «W[{at}]» + 1"),
            done,
            ([1, ONE], FREED),
        )


def _order(book):
    """The value of a store before its indices, indices from left to right, and only then bounds."""
    params = 'I: T.Buffer((4,), "int32"), A: T.Buffer({shape}, "int32")'
    for rank in (1, 2, 3, 4):
        shape = SHAPES[rank]
        rest = ", ".join(["I[0]"] * (rank - 1) + ["«T.truncdiv(1, I[1])»"])
        text = tir(params.format(shape=shape), f"A[{rest}] = I[2]")
        ask(
            book,
            f"undefined.element.index-first-{rank}",
            "TIR-008",
            text,
            ([i32(9, 0, 5, 0), series(shape)], undefined("RM307")),
        )
        text = tir(params.format(shape=shape), f"I[3] = A[{rest}]")
        ask(
            book,
            f"undefined.element.index-first-of-a-load-{rank}",
            "TIR-008",
            text,
            ([i32(9, 0, 5, 0), series(shape)], undefined("RM307")),
        )
        text = tir(params.format(shape=shape), f"A[{', '.join(['I[0]'] * rank)}] = «T.truncdiv(1, I[1])»")
        ask(
            book,
            f"undefined.element.value-first-{rank}",
            "TIR-008",
            text,
            ([i32(9, 0, 5, 0), series(shape)], undefined("RM307")),
        )


def _scalar(book):
    """A buffer of rank 0, one with strides, and `T.undef()` stored to each."""
    params = 'A: T.Buffer((), "int32"), R: T.Buffer((1,), "int32")'
    zero = {"dtype": "int32", "shape": [], "values": [41]}
    one = {"rule": "exact", "dtype": "int32", "shape": [], "values": [42]}
    ask(
        book,
        "tir.element.rank-0",
        "TIR-006 TIR-205",
        tir(params, "A[()] = A[()] + 1\nR[0] = A[()]"),
        ([zero, ONE], [one, i32(42)]),
    )
    ask(
        book,
        "undefined.element.rank-0",
        "TIR-007",
        tir(params, "R[0] = «A[()]»"),
        ([zero, ONE], [K, i32(41)]),
        ([new([], "int32"), ONE], UNWRITTEN),
    )
    for rank, shape in SHAPES.items():
        index = of(rank) or "()"
        params = f'I: T.Buffer((5,), "int32"), A: T.Buffer({shape}, "int32"), R: T.Buffer((1,), "int32")'
        text = tir(params, f"«A[{index}] = T.undef()\nR[0] = 1")
        args = [i32(*points(shape)[0], *[0] * (5 - rank)), series(shape), ONE]
        left = [*series(shape).reshape(-1)[:-1].tolist(), "_"]
        wanted = {"rule": "exact", "dtype": "int32", "shape": list(shape), "values": left}
        calls = [(args, [K, wanted, i32(1)])]
        calls += [([i32(*at, *[0] * (5 - rank)), series(shape), ONE], BOUNDS) for at in outside(shape)]
        ask(book, f"undefined.element.forgotten-{rank}", "TIR-307 TIR-006", text, *calls)


def _constant(book):
    """Stores to a constant of Relax, which may not be written, in each form."""
    for rank, shape in {1: (6,), 2: (2, 3), 3: (1, 2, 3), 4: (1, 2, 1, 3)}.items():
        for name, index in (("loops", "i, j"), ("sums", "i + 0, j + 0")) if rank == 2 else (("at", ""),):
            at = index or ", ".join([*["0"] * (rank - 1), "j"])
            text = CONSTANT.format(shape=shape, at=at)
            case = f"undefined.element.store-constant-{rank}-{name}"
            ask(book, case, "TIR-205", text, ([i32(1)], [i32(3, 1, 4, 1, 5, 9), K]), ([i32(0)], LOCKED))
