"""Relax by hand, densely: one call of an operator in several runs, many calls, deep calls."""

import numpy as np
from graph_usual import graph
from hand import K, f32, i64, reject, undefined
from relax_usual import T2, X

M = np.arange(6, dtype=np.float32).reshape(2, 3)


def shared_calls(book):
    """What an operator makes of arguments of other shapes, dtypes and numbers, each in its turn, and the first again."""
    n_of = 'x: R.Tensor(("n",), "float32")'
    calls = [([v], [v + v, K]) for v in (X, f32(1, 2, 3), f32(), X)]
    graph(book, "relax.graph-library.extents", "RLX-135", "y = R.add(x, x)\nreturn y", *calls, params=n_of)
    n_m = 'x: R.Tensor(("n", "m"), "float32")'
    calls = [([m], [m.T.copy(), K]) for m in (M, M.T.copy(), M[:1], M[:, :1].copy(), M)]
    lines = "y = R.permute_dims(x)\nreturn y"
    graph(book, "relax.graph-library.axes", "RLX-135", lines, *calls, params=n_m)
    lines = "y = R.broadcast_to(x, R.shape([n, 2]))\nreturn y"
    calls = [([X, n], [np.tile(X, (n, 1)), K]) for n in (2, 3, 1, 4, 2)]
    graph(book, "relax.graph-library.shapes", "RLX-135", lines, *calls, params=f'x: {T2}, n: R.Prim("int64")')
    text = TILED.format(calls="\n".join(f"        y{n} = cls.tiled(x, R.prim_value({n}))" for n in range(1, 9)))
    wanted = [np.tile(X, (n, 1)) for n in range(1, 9)]
    graph(book, "relax.graph-library.shapes-in-turn", "RLX-135", "", ([X], [*wanted, K]), text=text)
    lines = "a = R.add(x, x)\nb = R.add(y, y)\nc = R.concat((a, b), axis=0)\nreturn c"
    both = 'x: R.Tensor(("n",), "float32"), y: R.Tensor(("m",), "float32")'
    pairs = [(X, f32(1)), (f32(1), X), (f32(4, 5, 6), f32()), (X, f32(1))]
    calls = [([x, y], [np.concatenate([x + x, y + y]), K, K]) for x, y in pairs]
    graph(book, "relax.graph-library.tuples", "RLX-135", lines, *calls, params=both)
    lines = "y = R.split(x, 2)\na = y[0]\nb = y[1]\nz = R.subtract(b, a)\nreturn (z, a)"
    calls = [([v], [v[2:] - v[:2], v[:2], K]) for v in (f32(1, 2, 4, 8), f32(5, 0, 1, 1))]
    graph(book, "relax.graph-library.several", "RLX-135", lines, *calls, params='x: R.Tensor((4,), "float32")')


def counted(book):
    """Operators whose result has as many elements as their argument says."""
    lines = "y = R.nonzero(x)\nreturn y"
    values = [f32(1, 0, 3), f32(0, 0, 3), f32(0, 0, 0), f32(0, 1, 0), f32(1, 1, 1), f32(1, 0, 3)]
    calls = [([v], [np.stack(np.nonzero(v)).astype(np.int64), K]) for v in values]
    graph(book, "relax.graph-library.nonzero", "RLX-135", lines, *calls, params='x: R.Tensor((3,), "float32")')
    calls = [([v.reshape(1, 3)], [np.stack(np.nonzero(v.reshape(1, 3))).astype(np.int64), K]) for v in values]
    graph(book, "relax.graph-library.nonzero-2", "RLX-135", lines, *calls, params='x: R.Tensor((1, 3), "float32")')


def misfits(book):
    """What does not fit is told at the call that it does not fit in."""
    of_any = 'x: R.Tensor("float32", ndim=1), a: R.Tensor("float32", ndim=1)'
    for name, lines in (
        ("inner", "y = R.add(x, «R.multiply(x, a)»)\nreturn y"),
        ("outer", "y = «R.add(a, R.multiply(x, x))»\nreturn y"),
    ):
        calls = [([X, f32(1, 2, 3)], reject("RM202")), ([f32(1, 2, 3), X], reject("RM202"))]
        graph(book, f"reject.graph-library.{name}", "RLX-135 RLX-909", lines, *calls, params=of_any)
    lines = "y = «R.broadcast_to(x, s)»\nreturn y"
    calls = [([X, (3, 3)], reject("RM202")), ([X, (2, 1)], reject("RM202"))]
    graph(book, "reject.graph-library.broadcast", "RLX-135", lines, *calls, params=f"x: {T2}, s: R.Shape(ndim=2)")


TILED = """
@I.ir_module
class Module:
    @R.function
    def tiled(x: R.Tensor((2,), "float32"), n: R.Prim("int64")) -> R.Tensor("float32", ndim=2):
        y = R.broadcast_to(x, R.shape([n, 2]))
        return y

    @R.function
    def main(x: R.Tensor((2,), "float32")):
        cls = Module
{calls}
        return (y1, y2, y3, y4, y5, y6, y7, y8)
"""


def places(book):
    """What an operator's function stops at is told at the call, which is a part of what is bound."""
    ints = 'x: R.Tensor((2,), "int32"), z: R.Tensor((2,), "int32")'
    six = np.array([6, 7], np.int32)
    rows = [
        ("division", "R.floor_divide(x, z)", [2, 0], "RM307"),
        ("overflow", "R.multiply(x, z)", [1, 2**30], "RM306"),
        ("index", "R.take(x, z)", [1, 5], "RM304"),
    ]
    for name, form, other, code in rows:
        lines = f"y = R.add(x, «{form}»)\nreturn y"
        call = ([six, np.array(other, np.int32)], undefined(code))
        graph(book, f"undefined.graph-library.{name}", "RLX-135", lines, call, params=ints)


DEEP = """
@I.ir_module
class Module:
    @R.function
    def main(n: R.Tensor((), "int64")) -> R.Tensor((), "int64"):
        cls = Module
        c = R.less_equal(n, R.const(0, "int64"))
        if c:
            y = R.const(0, "int64")
        else:
            r = cls.main(R.subtract(n, R.const(1, "int64")))
            y = R.add(n, r)
        return y
"""
MANY = """
@I.ir_module
class Module:
    @T.prim_func
    def next(A: T.Buffer((1,), "int64")):
        A[0] = A[0] + T.int64(1)

    @R.function(pure=False)
    def again(x: R.Tensor((1,), "int64")) -> R.Tensor((1,), "int64"):
        cls = Module
{calls}
        return x

    @R.function(pure=False)
    def main(x: R.Tensor((1,), "int64")) -> R.Tensor((1,), "int64"):
        cls = Module
{agains}
        return x
"""


def depth(book):
    """Calls that nest, and calls one after the other."""
    scalar = [i64(value).reshape(()) for value in (150, 11325, 0)]
    calls = [([scalar[0]], [scalar[1], K]), ([scalar[2]], [scalar[2], K])]
    graph(book, "relax.graph-depth.nested", "RLX-131 RLX-114", "", *calls, text=DEEP)
    text = MANY.format(
        calls="        cls.next(x)\n" * 15, agains="".join(f"        a{n} = cls.again(x)\n" for n in range(20))
    ).replace("\n\n        ", "\n        ")
    graph(book, "relax.graph-depth.one-after-the-other", "RLX-131", "", ([i64(5)], [i64(305), i64(305)]), text=text)


def library(book):
    """All of them."""
    for part in (shared_calls, counted, misfits, places, depth):
        part(book)
    book.write("relax-graph-library", "Operators called again, many calls, deep calls.")
