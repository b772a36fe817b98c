"""Relax by hand: the virtual machine."""

import numpy as np
from hand import K, boolean, f32, trap, undefined
from relax_usual import case

HEAP = 'h = R.call_builtin_with_ctx("vm.builtin.alloc_shape_heap", (3,), ty_args=(R.Any,))\n'


def by_name(name, *args):
    return f'R.call_packed("vm.builtin.{name}", {", ".join(args)}, ty_args=(R.Any,))'


def machine(book):
    lines = f"{HEAP}a = {by_name('match_shape', 'x', 'h', '3', '1', '0', '0', '4', '2', '0')}\ncls.double_heap(h)\nb = {by_name('match_prim_value', '6', 'h', '3', '2')}\nc = {by_name('match_prim_value', '9', 'h', '1', '1')}\ns = {by_name('make_shape', 'h', '3', '1', '2', '0', '5', '1', '1')}\np = {by_name('make_prim_value', 'h', '1', '0')}\nreturn (s, p)"
    case(
        book,
        "relax.heap",
        "RLX-401 RLX-402 RLX-403",
        lines,
        ([np.zeros((3, 4, 5), np.float32)], [(6, 5, 9), 3, K]),
        params="x: R.Any",
    )
    x = np.zeros((2, 3), np.float32)
    for name, form, code in (
        ("number", by_name("match_shape", "x", "h", "2", "0", "2", "0", "4"), "RM405"),
        ("rank", by_name("match_shape", "x", "h", "1", "2", "0"), "RM405"),
    ):
        case(
            book, f"trap.heap.{name}", "RLX-402", f"{HEAP}y = «{form}»\nreturn y", ([x], trap(code)), params="x: R.Any"
        )
    for name, form, code in (
        ("unwritten", by_name("match_shape", "x", "h", "2", "3", "0", "2", "0"), "RM305"),
        ("no-such-place", by_name("match_shape", "x", "h", "2", "1", "7", "2", "0"), "RM304"),
        ("make-unwritten", by_name("make_shape", "h", "1", "1", "0"), "RM305"),
    ):
        case(
            book,
            f"undefined.heap.{name}",
            "RLX-402 RLX-403",
            f"{HEAP}y = «{form}»\nreturn y",
            ([x], undefined(code)),
            params="x: R.Any",
        )
    one = f32(1)
    rows = [
        (
            "tensor",
            'check_tensor_info", x, 1, R.dtype("float32"), R.str("e")',
            one,
            [np.zeros((1, 1), np.float32), np.zeros(1, np.float64), 5],
        ),
        ("tensor-any-rank", 'check_tensor_info", x, -1, R.null_value(), R.str("e")', np.zeros((2, 2), np.int8), [5]),
        ("shape", 'check_shape_info", x, 2, R.str("e")', (2, 3), [(2,), one]),
        ("prim", 'check_prim_value_info", x, R.dtype("int64"), R.str("e")', 5, [one]),
        ("tuple", 'check_tuple_info", x, 2, R.str("e")', [one, one], [[one], one]),
    ]
    for name, form, good, bad in rows:
        lines = f'y = R.call_packed("vm.builtin.{form}, ty_args=(R.Any,))\nreturn R.prim_value(1)'
        parts = [1] if isinstance(good, (tuple, int)) else [1, K] if not isinstance(good, list) else [1, K, K]
        case(book, f"relax.check.{name}", "RLX-404", lines, ([good], parts), params="x: R.Any")
        case(
            book,
            f"trap.check.{name}",
            "RLX-404",
            lines.replace("y = R", "y = «R"),
            *(([b], trap("RM405")) for b in bad),
            params="x: R.Any",
        )
    case(
        book,
        "relax.builtin.copy",
        "RLX-405",
        f"y = {by_name('copy', 'x')}\nreturn y",
        ([one], [one, K]),
        params="x: R.Any",
    )
    case(
        book,
        "relax.builtin.read-if-cond",
        "RLX-406",
        f"y = {by_name('read_if_cond', 'x')}\nreturn y",
        ([boolean(True).reshape(())], [True, K]),
        params="x: R.Any",
    )
    case(
        book,
        "relax.builtin.tuple-getitem",
        "RLX-407",
        f"y = {by_name('tuple_getitem', '(x, 2)', '1')}\nreturn y",
        ([5], 2),
        params="x: R.Any",
    )
    case(
        book,
        "undefined.builtin.tuple-getitem",
        "RLX-407",
        f"y = «{by_name('tuple_getitem', '(x, 2)', '2')}»\nreturn y",
        ([5], undefined("RM304")),
        params="x: R.Any",
    )
    func = 'y = R.call_packed("vm.builtin.check_func_info", {}, R.str("e"), ty_args=(R.Any,))\nreturn R.prim_value(1)'
    case(book, "relax.check.func", "RLX-404", func.format("cls.add_relax"), ([5], 1), params="x: R.Any")
    wrong = func.format("x").replace("y = R", "y = «R")
    case(book, "trap.check.func", "RLX-404", wrong, ([5], trap("RM405")), ([one], trap("RM405")), params="x: R.Any")
    book.write("relax-machine", "Functions of the virtual machine by name.")
