"""Relax by hand, densely: the shape heap and the checks of the virtual machine."""

import numpy as np
from graph_usual import graph, kept
from hand import K, boolean, f32, reject, trap, undefined
from relax_machine import by_name
from relax_usual import FUNCS, T2, X

TEXT = 'R.str("e")'
HEAP = 'h = R.call_builtin_with_ctx("vm.builtin.alloc_shape_heap", (4,), ty_args=(R.Any,))\n'
KEEP = f"k = {by_name('match_prim_value', '6', 'h', '1', '2', TEXT)}\n"
M = np.zeros((2, 3), np.float32)


def heap(book):
    """Each code, each place, extents and numbers of any sign."""
    lines = (
        HEAP + f"a = {by_name('match_shape', 'x', 'h', '5', '1', '0', '0', '7', '2', '9', '1', '3', '3', '0', TEXT)}\n"
        f"b = {by_name('match_prim_value', '-5', 'h', '1', '1', TEXT)}\n"
        f"c = {by_name('match_prim_value', '1099511627776', 'h', '1', '2', TEXT)}\n"
        f"d = {by_name('match_prim_value', '-5', 'h', '3', '1', TEXT)}\n"
        f"e = {by_name('match_prim_value', '-5', 'h', '0', '-5', TEXT)}\n"
        f"f = {by_name('match_prim_value', '8', 'h', '2', '99', TEXT)}\n"
        f"s = {by_name('make_shape', 'h', '5', '0', '6', '1', '0', '1', '1', '1', '2', '1', '3')}\n"
        f"z = {by_name('make_shape', 'h', '0')}\n"
        f"p = {by_name('make_prim_value', 'h', '0', '3')}\n"
        f"q = {by_name('make_prim_value', 'h', '1', '3')}\n"
        f"r = {by_name('make_prim_value', 'h', '1', '0')}\n"
        "return (s, z, p, q, r)"
    )
    extents = (3, 7, 1, 0, 3)
    wanted = [(6, 3, -5, 1 << 40, 0), (), 3, 0, 3]
    tensor = np.zeros(extents, np.float32)
    graph(
        book,
        "relax.graph-heap.codes",
        "RLX-401 RLX-402 RLX-403",
        lines,
        ([tensor], [*wanted, K]),
        ([extents], wanted),
    )
    lines = f"{HEAP}a = {by_name('match_shape', 'x', 'h', '{count}', '{pairs}')}\nreturn R.prim_value(1)"
    rows = [
        ("no-extent", "0", 'R.str("e")', [np.zeros((), np.float32), ()]),
        ("with-text", "2", '0, 2, 0, 3, R.str("e")', [M, (2, 3)]),
        ("keeps-twice", "2", '1, 3, 1, 3, R.str("e")', [M, (2, 3)]),
    ]
    for name, count, pairs, good in rows:
        text = lines.replace("{count}", count).replace("{pairs}", pairs)
        calls = [([one], [1, K] if isinstance(one, np.ndarray) else 1) for one in good]
        graph(book, f"relax.graph-heap.{name}", "RLX-402", text, *calls)


def heap_stops(book):
    """What stops: an extent or number that is another one, another rank, a place that is not there or not written."""
    rows = [
        ("number", "match_shape", 'x, h, 2, 0, 2, 0, 4, R.str("e")', "trap", "RM405"),
        ("first-number", "match_shape", 'x, h, 2, 0, 1, 0, 3, R.str("e")', "trap", "RM405"),
        ("kept-extent", "match_shape", 'x, h, 2, 1, 0, 3, 0, R.str("e")', "trap", "RM405"),
        ("kept-before", "match_shape", 'x, h, 2, 3, 2, 0, 3, R.str("e")', "trap", "RM405"),
        ("rank-below", "match_shape", 'x, h, 3, 0, 2, 0, 3, 2, 0, R.str("e")', "trap", "RM405"),
        ("rank-above", "match_shape", 'x, h, 1, 0, 2, R.str("e")', "trap", "RM405"),
        ("rank-none", "match_shape", 'x, h, 0, R.str("e")', "trap", "RM405"),
        ("prim-number", "match_prim_value", '5, h, 0, 6, R.str("e")', "trap", "RM405"),
        ("prim-kept", "match_prim_value", '5, h, 3, 2, R.str("e")', "trap", "RM405"),
        ("store-after-last", "match_prim_value", "5, h, 1, 4", "undefined", "RM304"),
        ("store-before-first", "match_shape", "x, h, 2, 1, -1, 2, 0", "undefined", "RM304"),
        ("load-after-last", "match_prim_value", "5, h, 3, 4", "undefined", "RM304"),
        ("load-before-first", "match_prim_value", "5, h, 3, -1", "undefined", "RM304"),
        ("make-after-last", "make_shape", "h, 2, 0, 1, 1, 4", "undefined", "RM304"),
        ("make-before-first", "make_prim_value", "h, 1, -2", "undefined", "RM304"),
        ("load-unwritten", "match_prim_value", "5, h, 3, 1", "undefined", "RM305"),
        ("make-prim-unwritten", "make_prim_value", "h, 1, 3", "undefined", "RM305"),
        ("make-shape-unwritten", "make_shape", "h, 2, 1, 2, 1, 0", "undefined", "RM305"),
    ]
    for name, function, args, kind, code in rows:
        form = by_name(function, args)
        calls = [([M], {"kind": kind, "code": code})]
        if function == "match_shape":
            calls.append(([(2, 3)], {"kind": kind, "code": code}))
        text = f"{HEAP}{KEEP}y = «{form}»\nreturn y"
        graph(book, f"{kind}.graph-heap.{name}", "RLX-402 RLX-403", text, *calls)


def heap_codes(book):
    """Codes that are none, pairs that are not there, arguments of another kind."""
    rows = [
        ("match-code-4", "match_prim_value", "5, h, 4, 2", "RM311"),
        ("match-code-below", "match_shape", "x, h, 2, 2, 0, -1, 2", "RM311"),
        ("make-code-2", "make_shape", "h, 1, 2, 2", "RM311"),
        ("make-code-below", "make_prim_value", "h, -1, 2", "RM311"),
        ("pairs-missing", "match_shape", "x, h, 2, 0, 2, 0", "RM311"),
        ("all-pairs-missing", "make_shape", "h, 1", "RM311"),
        ("count-below", "match_shape", "x, h, -1", "RM311"),
    ]
    for name, function, args, code in rows:
        text = f"{HEAP}{KEEP}y = «{by_name(function, args)}»\nreturn y"
        graph(book, f"undefined.graph-heap.{name}", "RLX-402 RLX-403", text, ([M], undefined(code)))


INFO = [
    (
        "tensor-rank",
        'check_tensor_info", x, 2, R.str("e")',
        [M, np.zeros((1, 0), np.int8)],
        [f32(1), f32(1).reshape(1, 1, 1), (2, 3), 2, [M, M]],
    ),
    ("tensor-scalar", 'check_tensor_info", x, 0, R.str("e")', [f32(1).reshape(())], [f32(1), f32(1).reshape(1, 1)]),
    (
        "tensor-dtype",
        'check_tensor_info", x, -1, R.dtype("int16"), R.str("e")',
        [np.zeros((2, 1), np.int16), np.int16(3)],
        [np.zeros((2, 1), np.uint16), np.zeros((2, 1), np.int32), np.zeros((2, 1), np.float16)],
    ),
    (
        "tensor-both",
        'check_tensor_info", x, 1, R.dtype("float32"), R.str("e")',
        [f32(1, 2), f32()],
        [np.zeros(2, np.float64), M, np.zeros((2, 3), np.int8)],
    ),
    (
        "tensor-null",
        'check_tensor_info", x, 1, R.null_value(), R.str("e")',
        [f32(1), np.zeros(2, np.int8)],
        [M, (3,)],
    ),
    ("shape", 'check_shape_info", x, 2, R.str("e")', [(2, 3), (0, -1)], [(2,), (), (1, 2, 3), M, 2, [1, 2]]),
    ("shape-any", 'check_shape_info", x, -1, R.str("e")', [(), (1, 2, 3)], [M, [1, 2]]),
    ("shape-none", 'check_shape_info", x, 0, R.str("e")', [()], [(1,), (1, 1)]),
    ("tuple", 'check_tuple_info", x, 2, R.str("e")', [[1, 2], [f32(1), (3,)]], [[1], [1, 2, 3], [], (2, 3), f32(1, 2)]),
    ("tuple-empty", 'check_tuple_info", x, 0, R.str("e")', [[]], [[1], [[]], f32()]),
    (
        "prim-int64",
        'check_prim_value_info", x, R.dtype("int64"), R.str("e")',
        [5, -1, 0, 2**63 - 1],
        [0.5, f32(1), (1,), [1]],
    ),
    ("prim-float64", 'check_prim_value_info", x, R.dtype("float64"), R.str("e")', [0.5, -0.0], [f32(1), (1,), [1]]),
]


def info(book):
    """The checks: what passes, and what is another kind, rank, dtype or length."""
    for name, form, good, bad in INFO:
        lines = f'y = «R.call_packed("vm.builtin.{form}, ty_args=(R.Any,))»\nreturn R.prim_value(1)'
        plain = lines.replace("«", "").replace("»", "")
        graph(book, f"relax.graph-check.{name}", "RLX-404", plain, *(([g], kept(g, 1)) for g in good))
        graph(book, f"trap.graph-check.{name}", "RLX-404", lines, *(([b], trap("RM405")) for b in bad))
    func = "y = «{}»\nreturn R.prim_value(1)"
    form = by_name("check_func_info", "x", TEXT)
    bad = [5, f32(1), (1,), [1], []]
    graph(
        book,
        "trap.graph-check.func",
        "RLX-404",
        func.format(form),
        *(([b], trap("RM405")) for b in bad),
    )
    form = by_name("check_func_info", "f", TEXT)
    lines = f'f = R.make_closure(cls.add_relax, (x,))\ny = {form}\ng: R.Any = R.ExternFunc("vm.builtin.copy")\n'
    lines += f"z = {by_name('check_func_info', 'g', TEXT)}\nreturn R.prim_value(1)"
    graph(book, "relax.graph-check.func", "RLX-404", lines, ([X], [1, K]), funcs=FUNCS, params=f"x: {T2}")


def conditions(book):
    """`read_if_cond` and fields of tuples."""
    lines = f"y = {by_name('read_if_cond', 'x')}\nreturn y"
    true, false = (boolean(each).reshape(()) for each in (True, False))
    graph(
        book,
        "relax.graph-cond.read",
        "RLX-406 RLX-114",
        lines,
        ([true], [True, K]),
        ([false], [False, K]),
    )
    wrong = lines.replace("y = R", "y = «R").replace(")\nret", ")»\nret")
    graph(
        book,
        "reject.graph-cond.read",
        "RLX-406 RLX-114",
        wrong,
        *(([bad], reject("RM201")) for bad in (f32(1).reshape(()), (1,), [1], 0.5)),
    )
    item = "y = «{}»\nreturn y"
    rows = [("0", 5), ("2", 7)]
    for index, value in rows:
        form = by_name("tuple_getitem", "x", index)
        text = item.format(form).replace("«", "").replace("»", "")
        graph(book, f"relax.graph-tuple.item-{index}", "RLX-407", text, ([[5, 6, 7]], value))
    for name, index in (("before-first", "-1"), ("after-last", "3")):
        form = by_name("tuple_getitem", "x", index)
        text = item.format(form)
        graph(
            book,
            f"undefined.graph-tuple.{name}",
            "RLX-407",
            text,
            ([[5, 6, 7]], undefined("RM304")),
        )
    form = by_name("tuple_getitem", "x", "0")
    graph(
        book,
        "reject.graph-tuple.no-tuple",
        "RLX-407",
        item.format(form),
        *(([bad], reject("RM201")) for bad in (f32(1), 5, (1, 2))),
    )


def machine(book):
    """All of them."""
    for part in (heap, heap_stops, heap_codes, info, conditions):
        part(book)
    book.write("relax-graph-machine", "The shape heap and checks of the virtual machine, densely.")
