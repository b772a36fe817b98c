"""Relax by hand, densely: whether a value is of a type, and what symbolic dimensions are then."""

import numpy as np
from graph_usual import graph, kept
from hand import K, boolean, f32, reject, trap, undefined
from relax_machine import by_name
from relax_usual import T2, X

M = np.zeros((2, 3), np.float32)
SCALAR = np.float32(1).reshape(())
D2 = 'R.Tensor((2, 3), "float32")'


def tensor(*shape, dtype="float32"):
    return np.zeros(shape, dtype)


TENSORS = [
    ("tensor", "RLX-012", "R.Tensor", [M, SCALAR, tensor(0, dtype="int8")], [(2, 3), 5, [M], None]),
    (
        "tensor-dtype",
        "RLX-012",
        'R.Tensor(dtype="float32")',
        [M, SCALAR],
        [tensor(2, 3, dtype="float64"), tensor(2, dtype="int32"), (2, 3)],
    ),
    ("tensor-rank", "RLX-012", "R.Tensor(ndim=2)", [M, tensor(0, 1, dtype="int8")], [SCALAR, f32(1), tensor(1, 2, 3)]),
    ("tensor-rank-1", "RLX-012", "R.Tensor(ndim=1)", [f32(1), tensor(0)], [SCALAR, M]),
    ("tensor-rank-0", "RLX-012", "R.Tensor(ndim=0)", [SCALAR], [f32(1), M]),
    (
        "tensor-both",
        "RLX-012",
        'R.Tensor("float32", ndim=2)',
        [M, tensor(1, 1)],
        [f32(1), tensor(2, 3, dtype="float16"), tensor(2, 3, 1)],
    ),
    (
        "tensor-shape",
        "RLX-012",
        "R.Tensor((2, 3))",
        [M, tensor(2, 3, dtype="int8")],
        [tensor(3, 2), tensor(2, 4), tensor(1, 3), tensor(2), tensor(2, 3, 1), tensor(6)],
    ),
    (
        "tensor-shape-dtype",
        "RLX-012",
        D2,
        [M],
        [tensor(2, 3, dtype="int32"), tensor(3, 2), tensor(2, 2), tensor(3, 3), (2, 3)],
    ),
    ("tensor-scalar", "RLX-012", 'R.Tensor((), "float32")', [SCALAR], [f32(1), np.float64(1), 1.0]),
]
OTHERS = [
    ("shape", "RLX-013", "R.Shape", [(), (2, 3)], [M, 5, [2, 3], None]),
    ("shape-rank", "RLX-013", "R.Shape(ndim=2)", [(2, 3), (0, -1)], [(2,), (), (1, 2, 3), M, [2, 3]]),
    ("shape-rank-1", "RLX-013", "R.Shape(ndim=1)", [(4,)], [(), (1, 1)]),
    ("shape-rank-0", "RLX-013", "R.Shape(ndim=0)", [()], [(0,), (1, 1)]),
    ("shape-extents", "RLX-013", "R.Shape([2, 3])", [(2, 3)], [(2, 4), (3, 3), (3, 2), (2,), (2, 3, 1), [2, 3], M]),
    ("tuple-empty", "RLX-015", "R.Tuple()", [], [[1], [M], (), 5]),
    (
        "tuple",
        "RLX-015",
        f"R.Tuple({D2}, R.Shape(ndim=1))",
        [[M, (4,)]],
        [[M], [M, (4,), 1], [(4,), M], [M, (4, 5)], [tensor(2, 4), (4,)], (2, 3), M, [], None],
    ),
    (
        "tuple-nested",
        "RLX-015",
        f"R.Tuple(R.Tuple({D2}), R.Any)",
        [[[M], M]],
        [[M, M], [[M, M], M], [[f32(1)], M], [[M]]],
    ),
    ("callable", "RLX-016", "R.Callable", [], [M, 5, (1,), [1], None]),
]
PRIMS = [
    ("prim-int64", 'R.Prim("int64")', [0, -5, 2**63 - 1, -(2**63)], [0.5, True, M, (1,), [1], None]),
    ("prim-int32", 'R.Prim("int32")', [2**31 - 1, -(2**31), 0], [2**31, -(2**31) - 1, 1.0, False]),
    ("prim-int8", 'R.Prim("int8")', [127, -128], [128, -129]),
    ("prim-uint8", 'R.Prim("uint8")', [0, 255], [256, -1, True]),
    ("prim-float64", 'R.Prim("float64")', [0.5, -0.0, float("inf")], [1, True, M, (1,)]),
    ("prim-bool", 'R.Prim("bool")', [True, False, 1, 0], [2, -1, 1.0, 0.0, boolean(True).reshape(()), (1,)]),
    ("prim-handle", 'R.Prim("handle")', [], [5, 0.5, True]),
]
TAKES = """
@I.ir_module
class Module:
    @R.function
    «def takes(p: {}) -> R.Any:
        return p
"""


def each(book, name, clause, kind, good, bad):
    """A value of the type is bound and comes back; any other stops `match_cast`, and has no meaning in a binding."""
    bind, cast = f"«y: {kind} = x»\nreturn y", f"«y = R.match_cast(x, {kind})»\nreturn y"
    plain = bind.replace("«", "").replace("»", "") + "\n"
    both = plain.replace("return y\n", f"z = R.match_cast(y, {kind})\nreturn z")
    if good:
        results = [([one], kept(one, *(one if isinstance(one, list) else [one]))) for one in good]
        results = [(args, parts) for args, parts in results if all(not isinstance(each, list) for each in parts)]
        if results:
            graph(book, f"relax.graph-type.{name}", f"{clause} RLX-121 RLX-122", both, *results)
    graph(
        book, f"undefined.graph-type.{name}", f"{clause} RLX-121", bind, *(([one], undefined("RM317")) for one in bad)
    )
    bad = [one for one in bad if one is not None]
    graph(book, f"trap.graph-type.{name}", f"{clause} RLX-122", cast, *(([one], trap("RM405")) for one in bad))


def kinds(book):
    """Each kind of type."""
    for row in (*TENSORS, *OTHERS):
        each(book, *row)
    nothing = "n = R.null_value()\ny: R.Tuple() = n\nreturn x"
    graph(book, "relax.graph-type.null", "RLX-015 RLX-221", nothing, ([M], [M, K]))
    for name, kind in (("tuple", "R.Tuple(R.Any)"), ("any-tuple", "R.Tuple(R.Any, R.Any)")):
        lines = f"n: R.Any = R.null_value()\n«y: {kind} = n»\nreturn x"
        graph(book, f"undefined.graph-type.null-{name}", "RLX-015 RLX-221", lines, ([M], undefined("RM317")))
    lines = 'b: R.Any = R.prim_value(T.bool(True))\n«y: R.Prim("int64") = b»\nreturn y'
    graph(book, "undefined.graph-type.bool-is-no-int", "RLX-014 RLX-105", lines, ([M], undefined("RM317")))


def prims(book):
    """A number of a dtype: as the virtual machine checks it, and as a parameter."""
    for name, kind, good, bad in PRIMS:
        dtype = kind.removeprefix("R.Prim(").removesuffix(")")
        form = by_name("check_prim_value_info", "x", f"R.dtype({dtype})", 'R.str("e")')
        use, funcs = "y = cls.takes(x)\nreturn y", TAKES.format(kind)
        if good:
            calls = [([one], 1) for one in good]
            graph(book, f"relax.graph-prim.{name}", "RLX-404 RLX-014", f"y = {form}\nreturn R.prim_value(1)", *calls)
            calls = [([one], one) for one in good if name != "prim-bool" or isinstance(one, bool)]
            more = {"funcs": funcs.replace("«", ""), "params": f"x: {kind}"}
            graph(book, f"relax.graph-prim.{name}-given", "RLX-014 RLX-116", use, *calls, **more)
        calls = [([one], undefined("RM317")) for one in bad]
        graph(book, f"undefined.graph-prim.{name}", "RLX-014 RLX-116", use, *calls, funcs=funcs)
    lines = "«y: R.Prim(value=T.int64(5)) = x»\nreturn y"
    plain = lines.replace("«", "").replace("»", "")
    graph(book, "relax.graph-prim.value", "RLX-014", plain, ([5], 5), dialect="2023")
    calls = [([one], undefined("RM317")) for one in (4, 6, 5.0, -5, f32(5))]
    graph(book, "undefined.graph-prim.value", "RLX-014", lines, *calls, dialect="2023")


def dimensions(book):
    """Variables take the extent that they meet first; expressions are compared after all is met."""
    two, four, seven = tensor(2, 4), tensor(4, 2), tensor(3, 5)
    rows = [
        ("order", 'R.Tensor((n, m), "float32")', "[n, m, n * m]", [(two, (2, 4, 8)), (four, (4, 2, 8))], [f32(1)]),
        ("twice", 'R.Tensor((n, n), "float32")', "[n, n + 1]", [(tensor(3, 3), (3, 4))], [two, four]),
        ("expression", 'R.Tensor((n, n * 2), "float32")', "[n]", [(two, (2,))], [seven, four]),
        ("expression-first", 'R.Tensor((n * 2, n), "float32")', "[n]", [(four, (2,))], [seven, two]),
        ("shape", "R.Shape([n, m, n + m])", "[m, n]", [((2, 3, 5), (3, 2))], [(2, 3, 6), (2, 3)]),
        ("first-misfit", 'R.Tensor((n, 2, n * 4611686018427387904), "float32")', "[n]", [], [tensor(4, 3, 0)]),
        ("shape-number", "R.Shape([n, 3])", "[n]", [((2, 3), (2,))], [(2, 4)]),
        ("shape-negative", "R.Shape([n, n + 1])", "[n]", [((-2, -1), (-2,))], [(-2, -3)]),
        ("prim", "R.Prim(value=n)", "[n, n + 1]", [(5, (5, 6)), (-5, (-5, -4))], [0.5, M]),
    ]
    for name, kind, shape, good, bad in rows:
        lines = f"n, m = T.int64(), T.int64()\n«y = R.match_cast(x, {kind})»\nreturn R.shape({shape})"
        plain = lines.replace("«", "").replace("»", "")
        calls = [([one], kept(one, want)) for one, want in good]
        more = {"dialect": "2023"} if "Prim" in kind else {}
        if calls:
            graph(book, f"relax.graph-dim.{name}", "RLX-021 RLX-022 RLX-122", plain, *calls, **more)
        calls = [([one], trap("RM405")) for one in bad]
        graph(book, f"trap.graph-dim.{name}", "RLX-021 RLX-122", lines, *calls, **more)
    kind = 'R.Tuple(R.Tensor((n * 2, n), "float32"), R.Shape([n, m]), R.Prim(value=m))'
    lines = f"n, m = T.int64(), T.int64()\n«y = R.match_cast(x, {kind})»\nreturn R.shape([n, m])"
    plain = lines.replace("«", "").replace("»", "")
    graph(book, "relax.graph-dim.tuple", "RLX-021 RLX-015", plain, ([[four, (2, 7), 7]], [(2, 7), K]), dialect="2023")
    bad = [[four, (3, 7), 7], [four, (2, 7), 8], [two, (4, 7), 7], [four, (2, 7), True], [four, (2, 7, 7), 7]]
    calls = [([one], trap("RM405")) for one in bad]
    graph(book, "trap.graph-dim.tuple", "RLX-021 RLX-015", lines, *calls, dialect="2023")


def known_dimensions(book):
    """A variable that has a value is compared, in a binding too."""
    both = 'a: R.Tensor(("n", "m"), "float32"), x: R.Any'
    head = "n, m = T.int64(), T.int64()\n"
    rows = [
        ("tensor", 'R.Tensor((m, n), "float32")', [tensor(4, 2)], [tensor(2, 4), tensor(4, 3)]),
        ("expression", 'R.Tensor((n * m,), "float32")', [tensor(8)], [tensor(6), tensor(9)]),
        ("shape", "R.Shape([n + m, n])", [(6, 2)], [(6, 4), (5, 2), (6,)]),
        ("prim", "R.Prim(value=m)", [4], [2, 5]),
        ("prim-expression", "R.Prim(value=n * m)", [8], [6, 9]),
    ]
    for name, kind, good, bad in rows:
        lines = f"{head}«y: {kind} = x»\nz = R.match_cast(x, {kind})\nreturn (y, z)"
        plain = lines.replace("«", "").replace("»", "")
        more = {"params": both, "dialect": "2023" if "Prim" in kind else "0.27"}
        calls = [([tensor(2, 4), one], kept([M, one] if isinstance(one, np.ndarray) else M, one, one)) for one in good]
        graph(book, f"relax.graph-known-dim.{name}", "RLX-021 RLX-121", plain, *calls, **more)
        calls = [([tensor(2, 4), one], undefined("RM317")) for one in bad]
        graph(book, f"undefined.graph-known-dim.{name}", "RLX-021 RLX-121", lines, *calls, **more)
    lines = f'{head}«y = R.match_cast(x, R.Tensor((m, n), "float32"))»\nreturn y'
    calls = [([tensor(2, 4), one], trap("RM405")) for one in (tensor(2, 4), tensor(4, 3))]
    graph(book, "trap.graph-known-dim.cast", "RLX-021 RLX-122", lines, *calls, params=both)


def shape_variables(book):
    """The shape of a tensor may be a variable."""
    lines = '«y: R.Tensor(s, "float32") = x»\nreturn y'
    plain = lines.replace("«", "").replace("»", "")
    both = "s: R.Shape(ndim=2), x: R.Any"
    good, other = tensor(2, 3), tensor(3, 2)
    graph(
        book,
        "relax.graph-shape-var.binding",
        "RLX-012 RLX-121",
        plain,
        ([(2, 3), good], [good, K]),
        ([(3, 2), other], [other, K]),
        params=both,
    )
    calls = [
        ([(2, 3), one], undefined("RM317")) for one in (other, tensor(2, 4), tensor(6), tensor(2, 3, dtype="int32"))
    ]
    graph(book, "undefined.graph-shape-var.binding", "RLX-012 RLX-121", lines, *calls, params=both)
    later = 's: R.Shape(ndim=2) = R.shape([n, 3])\n«y: R.Tensor(s, "float32") = x»\nreturn y'
    of_prim = 'n: R.Prim("int64"), x: R.Any'
    plain = later.replace("«", "").replace("»", "")
    graph(book, "relax.graph-shape-var.bound-later", "RLX-012 RLX-108", plain, ([2, good], [good, K]), params=of_prim)
    calls = [([3, good], undefined("RM317")), ([2, other], undefined("RM317"))]
    graph(book, "undefined.graph-shape-var.bound-later", "RLX-012 RLX-108", later, *calls, params=of_prim)
    lines = 's: R.Shape(ndim=2) = R.shape([3, n])\nr: R.Shape(ndim=2) = R.shape([n, 3])\n«y: R.Tensor({}, "float32") = x»\nreturn y'
    for name, shape in (("of-two", "r"), ("bound-twice", "s")):
        text = lines.format(shape) if name == "of-two" else lines.format(shape).replace("r: R.Shape", "s: R.Shape")
        plain = text.replace("«", "").replace("»", "")
        graph(book, f"relax.graph-shape-var.{name}", "RLX-012", plain, ([2, good], [good, K]), params=of_prim)
        calls = [([2, other], undefined("RM317")), ([3, good], undefined("RM317"))]
        graph(book, f"undefined.graph-shape-var.{name}", "RLX-012", text, *calls, params=of_prim)
    text = lines.format("s")
    plain = text.replace("«", "").replace("»", "")
    graph(book, "relax.graph-shape-var.first-of-two", "RLX-012", plain, ([2, other], [other, K]), params=of_prim)
    graph(
        book, "undefined.graph-shape-var.first-of-two", "RLX-012", text, ([2, good], undefined("RM317")), params=of_prim
    )
    typed = 's: R.Shape(ndim=2), x: R.Tensor(s, "float32")'
    calls = [([(3, 2), good], reject("RM111")), ([(2, 3), other], reject("RM111"))]
    graph(book, "reject.graph-shape-var.parameter", "RLX-012 RLX-116", "return x", *calls, params=typed)


def functions(book):
    """Arguments and results of functions of the module are of their types, those of values that are called too."""
    inner = f"""
@I.ir_module
class Module:
    @R.function
    def two(a: {T2}) -> {T2}:
        return a

    @R.function
    def any_two(a: R.Any) -> {T2}:
        «return a»

    @R.function
    def shared(a: R.Tensor(("n", "m"), "float32"), b: R.Tensor(("m", "n"), "float32")) -> R.Shape([]):
        return R.shape([])

"""
    of_prim = """
@I.ir_module
class Module:
    @R.function
    «def prim(k: R.Prim("int64")) -> R.Shape:
        return R.shape([k, k + 1])
"""
    plain = inner.replace("«", "").replace("»", "")
    other = [f32(1), tensor(2, dtype="int32"), tensor(1, 2), (2,)]
    use = "y = cls.any_two(x)\nreturn y"
    graph(book, "relax.graph-function.result", "RLX-116", use, ([X], [X, K]), funcs=plain)
    graph(
        book,
        "undefined.graph-function.result",
        "RLX-116",
        use,
        *(([o], undefined("RM317")) for o in other),
        funcs=inner,
    )
    use = "f: R.Callable = cls.two\ny = f(x)\nreturn y"
    of_two = {"funcs": plain, "params": f"x: {T2}"}
    graph(book, "relax.graph-function.value", "RLX-116 RLX-133", use, ([X], [X, K]), **of_two)
    calls = [([one], undefined("RM317")) for one in other]
    at_two = plain.replace("def two", "«def two")
    graph(book, "undefined.graph-function.value", "RLX-116 RLX-133", use, *calls, funcs=at_two)
    both = "x: R.Any, y: R.Any"
    use = "z = cls.shared(x, y)\nreturn z"
    good, bad = (tensor(2, 4), tensor(4, 2)), [(tensor(2, 4), tensor(2, 4)), (tensor(2, 4), tensor(4, 3))]
    typed = 'x: R.Tensor(("a", "b"), "float32"), y: R.Tensor(("b", "a"), "float32")'
    graph(book, "relax.graph-function.shared", "RLX-116 RLX-021", use, ([*good], [(), K, K]), funcs=plain, params=typed)
    calls = [([*one], undefined("RM317")) for one in bad]
    graph(book, "undefined.graph-function.shared", "RLX-116 RLX-021", use, *calls, funcs=plain, params=both)
    use = "z = cls.prim(x)\nreturn z"
    graph(
        book,
        "relax.graph-function.prim",
        "RLX-116 RLX-014",
        use,
        ([5], [(5, 6)]),
        ([-3], [(-3, -2)]),
        funcs=of_prim.replace("«", ""),
        params='x: R.Prim("int64")',
    )
    calls = [([one], undefined("RM317")) for one in (0.5, M, True)]
    graph(book, "undefined.graph-function.prim", "RLX-116 RLX-014", use, *calls, funcs=of_prim)
    for name, form in (("few", "f()"), ("many", "f(x, x)")):
        use = f"f: R.Any = cls.two\ny = {form}\nreturn y"
        graph(book, f"reject.graph-function.{name}", "RLX-116 RLX-133", use, ([X], reject("RM206")), funcs=at_two)


def types(book):
    """All of them."""
    for part in (kinds, prims, dimensions, known_dimensions, shape_variables, functions):
        part(book)
    book.write("relax-graph-types", "Types and symbolic dimensions, densely.")
