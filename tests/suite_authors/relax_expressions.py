"""Relax by hand: expressions."""

import numpy as np
from hand import K, ask, boolean, f32, i64
from relax_usual import FUNCS, T2, X, case

BRANCH = f"""
@I.ir_module
class Module:
    @R.function
    def main(c: R.Tensor((), "bool"), x: {T2}) -> {T2}:
        if c:
            y = R.add(x, x)
            z = R.add(y, x)
        else:
            z = R.multiply(x, x)
        return z
"""
RECURSIVE = """
@I.ir_module
class Module:
    @R.function
    def main(n: R.Tensor((), "int64")) -> R.Tensor((), "int64"):
        cls = Module
        c = R.less_equal(n, R.const(1, "int64"))
        if c:
            y = R.const(1, "int64")
        else:
            m = R.subtract(n, R.const(1, "int64"))
            r = cls.main(m)
            y = R.multiply(n, r)
        return y
"""
LOCAL = f"""
@I.ir_module
class Module:
    @R.function
    def main(x: {T2}) -> {T2}:
        @R.function
        def inner(y: {T2}) -> {T2}:
            return R.add(x, y)

        z = inner(R.multiply(x, x))
        return z
"""


def expressions(book):
    case(book, "relax.var.shared", "RLX-101 RLX-123", "y = x\ncls.bump(x)\nreturn y", ([X], [f32(3, 4), f32(3, 4)]))
    case(
        book,
        "relax.global-var.value",
        "RLX-102 RLX-133 RLX-016",
        "f: R.Callable = cls.add_relax\ny = f(x, x)\nreturn y",
        ([X], [f32(4, 6), K]),
    )
    case(
        book,
        "relax.constant",
        "RLX-103",
        'y = R.add(x, R.const([0.5, -0.0], "float32"))\nreturn y',
        ([X], [f32(2.5, 3), K]),
    )
    case(
        book,
        "reject.relax.metadata-without-text",
        "RLX-104",
        'y = R.add(x, metadata["relax.expr.Constant"][0])\nreturn y',
        ([X], {"kind": "reject", "code": "RM108"}),
    )
    case(
        book,
        "relax.prim-value",
        "RLX-105 RLX-022",
        "y = R.prim_value(n * 3 + 1)\nreturn y",
        ([5], 16),
        ([-5], -14),
        params='n: R.Prim("int64")',
    )
    case(
        book,
        "relax.string-and-dtype",
        "RLX-106 RLX-107",
        't = R.builtin.alloc_tensor(R.shape([2]), R.dtype("int64"), R.prim_value(0), R.str("global"))\ncls.fill(t, R.prim_value(4))\nreturn t',
        ([X], [i64(4, 4), K]),
        funcs=FUNCS.replace(
            "def fill(a: T.handle, n: T.int64, k: T.int64):\n        A = T.match_buffer(a, (n,)",
            "def fill(a: T.handle, k: T.int64):\n        n = T.int64()\n        A = T.match_buffer(a, (n,)",
        ),
    )
    case(
        book,
        "relax.shape-expr",
        "RLX-108 RLX-022",
        "return R.shape([n * 2, n // 2, n - 9])",
        ([5], (10, 2, -4)),
        params='n: R.Prim("int64")',
    )
    case(
        book,
        "relax.tuple",
        "RLX-109 RLX-110",
        "t = (x, (x, n))\nu = t[1]\ny = u[1]\nreturn (y, t[0])",
        ([X, 7], [7, X, K]),
        params=f'x: {T2}, n: R.Prim("int64")',
    )
    case(
        book,
        "relax.extern-func",
        "RLX-111 RLX-133",
        'f = R.ExternFunc("plus_one")\ny = R.call_packed("plus_one", n, ty_args=R.Prim("int64"))\nreturn y',
        ([3], 4),
        params='n: R.Prim("int64")',
    )
    case(
        book,
        "relax.op-called",
        "RLX-112 RLX-113 RLX-135",
        "y = R.subtract(R.multiply(x, x), R.add(x, x))\nreturn y",
        ([X], [f32(0, 3), K]),
    )
    ask(
        book,
        "relax.if",
        "RLX-114",
        BRANCH,
        ([boolean(True).reshape(()), X], [f32(6, 9), K, K]),
        ([boolean(False).reshape(()), X], [f32(4, 9), K, K]),
    )
    ask(
        book,
        "relax.recursion",
        "RLX-131 RLX-114 RLX-116",
        RECURSIVE,
        ([i64(5).reshape(())], [i64(120).reshape(()), K]),
        ([i64(0).reshape(())], [i64(1).reshape(()), K]),
    )
    ask(book, "relax.local-function", "RLX-116 RLX-133", LOCAL, ([X], [f32(6, 12), K]))
    case(
        book,
        "relax.sequence",
        "RLX-115 RLX-124 RLX-121",
        f"with R.dataflow():\n    a = R.add(x, x)\n    b = R.add(a, x)\n    R.output(b)\nc: {T2} = R.multiply(b, b)\nwith R.dataflow():\n    d = R.add(c, b)\n    R.output(d)\nreturn d",
        ([X], [f32(42, 90), K]),
    )
    case(
        book,
        "relax.match-cast",
        "RLX-122 RLX-021",
        'n, m = T.int64(), T.int64()\ny = R.match_cast(x, R.Tensor((n, m), "float32"))\nreturn (y, R.shape([m, n, n * m]))',
        ([np.ones((2, 3), np.float32)], [np.ones((2, 3), np.float32), (3, 2, 6), K]),
        params='x: R.Tensor("float32", ndim=2)',
    )
    for name, target, given in (
        ("rank", 'R.Tensor((n,), "float32")', np.ones((2, 3), np.float32)),
        ("dtype", 'R.Tensor((n, n), "int32")', np.ones((2, 2), np.float32)),
        ("extent", 'R.Tensor((n, 4), "float32")', np.ones((2, 3), np.float32)),
        ("twice", 'R.Tensor((n, n), "float32")', np.ones((2, 3), np.float32)),
        ("expression", 'R.Tensor((n, n * 2), "float32")', np.ones((2, 3), np.float32)),
    ):
        case(
            book,
            f"trap.match-cast.{name}",
            "RLX-122 RLX-021",
            f"n = T.int64()\ny = R.match_cast(x, {target})\nreturn y",
            ([given], {"kind": "trap", "code": "RM405"}),
            params="x: R.Any",
        )
    case(
        book,
        "relax.direct-call-of-tensorir",
        "RLX-131 RLX-123",
        "cls.bump(x)\ncls.bump(x)\nreturn x",
        ([X], [f32(4, 5), f32(4, 5)]),
    )
    case(
        book,
        "relax.operator-not-reached",
        "RLX-114 RLX-134 LIB-980",
        'if c:\n    y = R.ccl.allreduce(x, "sum", False)\nelse:\n    y = R.add(x, x)\nreturn y',
        ([X, boolean(False).reshape(())], [f32(4, 6), K, K]),
        params=f'x: {T2}, c: R.Tensor((), "bool")',
    )
    book.write("relax-expressions", "Expressions, bindings and blocks of Relax.")
