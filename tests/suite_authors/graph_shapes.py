"""Relax by hand, densely: reshape, shapes from tensors and back, what a tensor says of itself, views and storages."""

import numpy as np
from book import given
from graph_usual import graph
from hand import K, f32, i64, new, reject, undefined
from relax_machine import by_name
from relax_usual import FUNCS, T2

M = np.arange(6, dtype=np.float32).reshape(2, 3)
EMPTY = np.zeros((0, 3), np.float32)
V6 = 'x: R.Tensor((6,), "float32")'
V = np.arange(6, dtype=np.float32)


def reshapes(book):
    """Each of as many elements; one extent that is left; the memory is shared."""
    both = "x: R.Any, s: R.Any"
    for name, call in (("operator", "R.reshape(x, s)"), ("builtin", by_name("reshape", "x", "s"))):
        lines = f"y = «{call}»\nreturn y"
        plain = lines.replace("«", "").replace("»", "")
        good = [
            (M, (3, 2), M.reshape(3, 2)),
            (M, (6,), M.reshape(6)),
            (M, (1, 6, 1), M.reshape(1, 6, 1)),
            (EMPTY, (0,), f32()),
            (EMPTY, (5, 0), np.zeros((5, 0), np.float32)),
            (f32(4), (), np.float32(4).reshape(())),
            (np.float32(4).reshape(()), (1, 1), f32(4).reshape(1, 1)),
        ]
        calls = [([x, s], [y, K]) for x, s, y in good]
        if name == "builtin":
            graph(book, "relax.graph-reshape.builtin", "RLX-241", plain, *calls, params=both)
        bad = [(M, (3, 3)), (M, (7,)), (EMPTY, (1,)), (M, (2, 3, 2))]
        fewer = [(M, (5,)), (M, ()), (M, (0,))] if name == "operator" else []
        calls = [([x, s], reject("RM202")) for x, s in (*bad, *fewer)]
        graph(book, f"reject.graph-reshape.{name}", "RLX-241", lines, *calls, params=both)
    left = [
        (M, (2, -1), M),
        (M, (-1,), V),
        (M, (-1, 1, 2), M.reshape(3, 1, 2)),
        (EMPTY, (-1, 3), EMPTY),
        (EMPTY, (4, -1), np.zeros((4, 0), np.float32)),
        (np.float32(4).reshape(()), (-1,), f32(4)),
    ]
    for number, (x, s, y) in enumerate(left):
        params = f'x: R.Tensor({x.shape}, "float32")'
        lines = f"y = R.reshape(x, {s})\nreturn y"
        graph(book, f"relax.graph-reshape.left-{number}", "RLX-241", lines, ([x], [y, K]), params=params)
    lines = "y = «R.reshape(x, s)»\nreturn y"
    bad = [
        (M, (-1, -1)),
        (M, (4, -1)),
        (M, (-2, -3)),
        (M, (0, -1)),
        (M, (-1, 0)),
        (M, (-6, -1)),
        (EMPTY, (-2, 0)),
        (V, (-1, -1, 6)),
    ]
    bad += [(f32(1), (-1, -1)), (f32(1, 2), (-1, 2, -1)), (f32(1, 2), (-1, -2))]
    calls = [([x, s], reject("RM202")) for x, s in bad]
    graph(book, "reject.graph-reshape.left", "RLX-241", lines, *calls, params=both)
    calls = [
        ([5, (1,)], reject("RM201")),
        ([M, 6], reject("RM201")),
        ([M, M], reject("RM201")),
        ([M, [2, M]], reject("RM201")),
    ]
    graph(book, "reject.graph-reshape.kinds", "RLX-241", lines, *calls, params=both)
    lines = f"y = {by_name('reshape', 'x', 'R.shape([1, 2])')}\ncls.bump(x)\nreturn y"
    calls = ([f32(2, 3)], [f32(3, 4).reshape(1, 2), f32(3, 4)])
    graph(book, "relax.graph-reshape.shared", "RLX-241 RLX-131", lines, calls, funcs=FUNCS, params=f"x: {T2}")


def strided(book):
    """A field of a tuple may have strides: `reshape` copies it, a view needs it compact."""
    column = {**given(M.T.copy()), "strides": [1, 3]}
    column["values"] = given(M.T.copy())["values"]
    params = 'x: R.Tuple(R.Tensor((3, 2), "float32"))'
    lines = f"y = {by_name('reshape', 'x[0]', 'R.shape([6])')}\nreturn y"
    graph(
        book, "relax.graph-strided.reshape", "RLX-241", lines, ([[column]], [M.T.copy().reshape(6), K]), params=params
    )
    lines = "n = R.null_value()\ny = «R.memory.view(x[0], R.shape([2]), n, R.prim_value(0))»\nreturn y"
    graph(book, "reject.graph-strided.view", "RLX-305", lines, ([[column]], reject("RM202")), params=params)


def shapes(book):
    """`shape_of`, `tensor_to_shape`, `shape_to_tensor`."""
    lines = f"y = «{by_name('tensor_to_shape', 'x')}»\nreturn y"
    plain = lines.replace("«", "").replace("»", "")
    i32 = np.array([4, -1, 7], np.int32)
    graph(
        book,
        "relax.graph-shape.from-tensor",
        "RLX-232",
        plain,
        ([i64(4, 0, 2**40)], [(4, 0, 2**40), K]),
        ([i64()], [(), K]),
        ([i32], [(4, -1, 7), K]),
    )
    bad = [
        np.float32(2).reshape(()),
        f32(1, 2),
        i64(2).reshape(1, 1),
        np.array(3),
        (1, 2),
        5,
    ]
    graph(book, "reject.graph-shape.from-tensor", "RLX-232", lines, *(([one], reject("RM201")) for one in bad))
    unwritten = ([new([2], "int64")], undefined("RM305"))
    graph(book, "undefined.graph-shape.from-tensor", "RLX-232 TIR-007", lines, unwritten)
    lines = 'y = «R.call_packed("relax.run.shape_to_tensor", x, ty_args=(R.Any,))»\nreturn y'
    plain = lines.replace("«", "").replace("»", "")
    good = [((4, 0, 2**40), i64(4, 0, 2**40)), ((-3,), i64(-3))]
    graph(book, "relax.graph-shape.to-tensor", "RLX-233", plain, *(([s], t) for s, t in good))
    used = plain.replace("return y", 'z = R.call_packed("vm.builtin.tensor_to_shape", y, ty_args=(R.Any,))\nreturn z')
    graph(book, "relax.graph-shape.to-tensor-and-back", "RLX-233 RLX-232", used, *(([s], [s]) for s, _ in good))
    graph(book, "reject.graph-shape.to-tensor", "RLX-233", lines, *(([s], reject("RM201")) for s in (M, 5, [M])))
    lines = f"y = «{by_name('shape_of', 'x')}»\nreturn y"
    plain = lines.replace("«", "").replace("»", "")
    good = [M, EMPTY, np.float32(1).reshape(()), np.zeros((1, 2, 3, 4), np.int8)]
    graph(book, "relax.graph-shape.of", "RLX-231", plain, *(([one], [one.shape, K]) for one in good))
    graph(book, "reject.graph-shape.of", "RLX-231", lines, *(([one], reject("RM201")) for one in ((2,), 5, [M])))


def inspections(book):
    """Every number, of tensors of several dtypes and ranks, and of a view."""
    four = np.zeros((2, 3, 4, 5), np.float32)
    for what, wanted in (("shape_i", (2, 3, 4, 5)), ("stride_i", (60, 20, 5, 1))):
        lines = f"a: R.Any = «R.inspect.tensor_{what}(x, n)»\nreturn a"
        plain = lines.replace("«", "").replace("»", "")
        both = 'x: R.Tensor((2, 3, 4, 5), "float32"), n: R.Prim("int64")'
        name = what.replace("_", "-")
        calls = [([four, at], [value, K]) for at, value in enumerate(wanted)]
        graph(book, f"relax.graph-inspect.{name}", "RLX-234", plain, *calls, params=both)
        calls = [([four, at], undefined("RM304")) for at in (-1, 4)]
        graph(book, f"undefined.graph-inspect.{name}", "RLX-234", lines, *calls, params=both)
    rows = [
        ("int8", 0, 8, np.int8),
        ("uint16", 1, 16, np.uint16),
        ("float64", 2, 64, np.float64),
        ("float16", 2, 16, np.float16),
        ("bool", 6, 8, np.bool_),
    ]
    for name, code, bits, dtype in rows:
        tensor = np.zeros((1, 2, 3), dtype)
        lines = "a: R.Any = R.inspect.tensor_{}(x)\n"
        for what, wanted in (("dtype_code", code), ("dtype_bits", bits), ("dtype_lanes", 1), ("ndim", 3)):
            text = lines.format(what) + "return a"
            params = f'x: R.Tensor((1, 2, 3), "{name}")'
            graph(
                book,
                f"relax.graph-inspect.{name}-{what.replace('_', '-')}",
                "RLX-234",
                text,
                ([tensor], [wanted, K]),
                params=params,
            )
    view = 'v = R.memory.view(x, R.shape([2]), R.dtype("{}"), R.prim_value({}))\ny: R.Any = R.inspect.tensor_{}(v)\nreturn y'
    rows = [
        ("float32", 8, "byte_offset", 8),
        ("float32", 8, "elem_offset", 2),
        ("int16", 12, "elem_offset", 6),
        ("int16", 20, "byte_offset", 20),
    ]
    for dtype, offset, what, wanted in rows:
        name = f"relax.graph-inspect.{dtype}-{offset}-{what.replace('_', '-')}"
        graph(book, name, "RLX-234 RLX-305", view.format(dtype, offset, what), ([V], [wanted, K]), params=V6)


def views(book):
    """Shape, dtype and offset, each given or not; the border of the tensor."""
    lines = "n = R.null_value()\n{}"
    rows = [
        ("shape", "R.shape([3, 2]), n, n", V.reshape(3, 2)),
        ("fewer", "R.shape([4]), n, n", V[:4]),
        ("none", "n, n, n", V),
        ("offset", "R.shape([2]), n, R.prim_value(16)", V[4:]),
        ("nothing-at-the-end", "R.shape([0]), n, R.prim_value(24)", V[6:]),
        ("dtype", 'n, R.dtype("int32"), n', V.view(np.int32)),
        ("narrow", 'R.shape([3]), R.dtype("int16"), R.prim_value(18)', V.view(np.int16)[9:]),
        ("wide", 'R.shape([2]), R.dtype("int64"), R.prim_value(8)', V.view(np.int64)[1:]),
    ]
    for name, args, wanted in rows:
        text = lines.format(f"y = R.memory.view(x, {args})\nreturn y")
        graph(book, f"relax.graph-view.{name}", "RLX-305", text, ([V], [wanted, K]), params=V6)
    bad = [
        ("too-many", "R.shape([7]), n, n", "RM304"),
        ("too-wide", 'n, R.dtype("int64"), n', "RM304"),
        ("offset-with-all", "n, n, R.prim_value(4)", "RM304"),
        ("offset-below", "R.shape([1]), n, R.prim_value(-4)", "RM304"),
        ("after-the-end", "R.shape([1]), n, R.prim_value(24)", "RM304"),
        ("nothing-after-the-end", "R.shape([0]), n, R.prim_value(28)", "RM304"),
    ]
    for name, args, code in bad:
        text = lines.format(f"y = «R.memory.view(x, {args})»\nreturn y")
        graph(book, f"undefined.graph-view.{name}", "RLX-305", text, ([V], undefined(code)), params=V6)
    twice = "n = R.null_value()\nv = R.memory.view(x, R.shape([4]), n, R.prim_value(8))\n"
    text = twice + "w = R.memory.view(v, R.shape([2]), n, R.prim_value(4))\nreturn w"
    graph(book, "relax.graph-view.of-view", "RLX-305", text, ([V], [V[3:5], K]), params=V6)
    for name, args in (("before", "R.shape([2]), n, R.prim_value(-4)"), ("after", "R.shape([5]), n, n")):
        text = f"{twice}w = «R.memory.view(v, {args})»\nreturn w"
        graph(book, f"undefined.graph-view.of-view-{name}", "RLX-305", text, ([V], undefined("RM304")), params=V6)


def offsets(book):
    """`ensure_zero_offset`: the tensor itself, or a copy; a write shows which."""
    two = "n = R.null_value()\na = R.memory.view(x, R.shape([2]), n, R.prim_value({}))\nb = R.memory.ensure_zero_offset(a)\ncls.bump(b)\nreturn b"
    params = V6
    after = np.array([1, 2, 2, 3, 4, 5], np.float32)
    graph(
        book,
        "relax.graph-zero-offset.itself",
        "RLX-306",
        two.format(0),
        ([V], [after[:2], after]),
        params=params,
        funcs=FUNCS,
    )
    graph(
        book,
        "relax.graph-zero-offset.copy",
        "RLX-306",
        two.format(4),
        ([V], [f32(2, 3), K]),
        params=params,
        funcs=FUNCS,
    )
    graph(
        book,
        "relax.graph-zero-offset.copy-last",
        "RLX-306",
        two.format(16),
        ([V], [f32(5, 6), K]),
        params=params,
        funcs=FUNCS,
    )


def reshaping(book):
    """All of them."""
    for part in (reshapes, strided, shapes, inspections, views, offsets):
        part(book)
    book.write("relax-graph-shapes", "Reshape, shapes, inspection and views, densely.")
