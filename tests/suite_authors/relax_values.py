"""Relax by hand: values."""

import numpy as np
from hand import K, f32
from relax_usual import FUNCS, X, case


def values(book):
    case(
        book,
        "relax.any",
        "RLX-011",
        "return x",
        ([X], [X, K]),
        ([5], 5),
        ([(2, 3)], (2, 3)),
        params="x: R.Any",
        head="@R.function",
    )
    symbolic = 'y = R.call_tir(cls.twice, (x,), out_ty=R.Tensor((n,), "float32"))\nreturn (y, R.shape([n, n * 2 + 1]))'
    case(
        book,
        "relax.symbolic.parameter",
        "RLX-021 RLX-012 RLX-022",
        "n = T.int64()\n" + symbolic,
        ([f32(1, 2, 3)], [f32(2, 4, 6), (3, 7), K]),
        ([f32()], [f32(), (0, 1), K]),
        params='x: R.Tensor(("n",), "float32")',
    )
    case(
        book,
        "relax.symbolic.two-parameters",
        "RLX-021",
        "n = T.int64()\nm = T.int64()\nreturn R.shape([n, m, n + m])",
        ([np.zeros((2, 3), np.float32), np.zeros((3,), np.float32)], [(2, 3, 5), K, K]),
        params='x: R.Tensor(("n", "m"), "float32"), y: R.Tensor(("m",), "float32")',
    )
    inner = """
    @R.function
    def takes(y: {type}) -> R.Any:
        return y
"""
    rows = [
        ("tensor-dtype", "RLX-012", 'R.Tensor((2,), "int32")', [X]),
        ("tensor-rank", "RLX-012", 'R.Tensor((2, 1), "float32")', [X]),
        ("tensor-extent", "RLX-012", 'R.Tensor((3,), "float32")', [X]),
        ("tensor-kind", "RLX-012", 'R.Tensor((3,), "float32")', [5]),
        ("shape-extent", "RLX-013", "R.Shape([2, 4])", [(2, 3)]),
        ("shape-rank", "RLX-013", "R.Shape(ndim=3)", [(2, 3)]),
        ("prim-kind", "RLX-014", 'R.Prim("int64")', [X]),
        ("tuple-length", "RLX-015", "R.Tuple(R.Any, R.Any)", [[X]]),
        ("tuple-field", "RLX-015", 'R.Tuple(R.Any, R.Tensor((3,), "float32"))', [[X, X]]),
        ("callable-kind", "RLX-016", "R.Callable", [X]),
    ]
    for name, clause, kind, given in rows:
        case(
            book,
            f"undefined.type.{name}",
            f"{clause} RLX-116",
            "y = cls.takes(x)\nreturn y",
            (given, {"kind": "undefined", "code": "RM317"}),
            params="x: R.Any",
            funcs=FUNCS + inner.format(type=kind),
        )
    case(
        book,
        "undefined.type.binding",
        "RLX-121 RLX-012",
        'y: R.Tensor((3,), "float32") = x\nreturn y',
        ([X], {"kind": "undefined", "code": "RM317"}),
        params="x: R.Any",
    )
    case(
        book,
        "undefined.dimension.division",
        "RLX-022",
        "return R.shape([«6 // n»])",
        ([0], {"kind": "undefined", "code": "RM307"}),
        params='n: R.Prim("int64")',
    )
    case(
        book,
        "undefined.dimension.overflow",
        "RLX-022",
        "return R.shape([n * n])",
        ([2**40], {"kind": "undefined", "code": "RM306"}),
        params='n: R.Prim("int64")',
    )
    case(
        book,
        "relax.symbolic.lazy",
        "RLX-022",
        "return R.shape([T.if_then_else(n > 0, 6 // T.max(n, 1), 0)])",
        ([0], (0,)),
        ([4], (1,)),
        params='n: R.Prim("int64")',
    )
    book.write("relax-values", "Types and symbolic dimensions.")
