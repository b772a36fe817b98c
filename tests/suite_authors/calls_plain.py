"""TensorIR by hand: fused products, what hints and promises are, and views that begin somewhere in their storage."""

import numpy as np
from calls_outside import called
from calls_packed import module, typed
from hand import K, ask, f32, f64, i32, new, tir, undefined

INF, NAN = np.inf, np.nan
PRODUCTS = [
    (2.0, 3.0, -6.0, 0.0),
    (-1.0, 0.0, -0.0, -0.0),
    (-0.0, 5.0, 0.0, 0.0),
    (-0.0, 5.0, -0.0, -0.0),
    (0.0, INF, 1.0, NAN),
    (INF, 2.0, -INF, NAN),
    (INF, -2.0, 1.0, -INF),
    (2.0, 3.0, INF, INF),
    (2.0, 3.0, -INF, -INF),
    (NAN, 1.0, 1.0, NAN),
    (1.0, NAN, 1.0, NAN),
    (1.0, 1.0, NAN, NAN),
    (2.0**100, 2.0**100, -1.0, INF),
    (-(2.0**100), 2.0**100, 1.0, -INF),
    (1.5, -2.5, 4.0, 0.25),
]
ONCE = [  # the product is halfway between two float32, the sum is not
    (97.0, 172961 * 2.0**-24, 2.0**-70, 1 + 2.0**-23),
    (97.0, 172961 * 2.0**-24, -(2.0**-70), 1.0),
    (-97.0, 172961 * 2.0**-24, -(2.0**-70), -1 - 2.0**-23),
]


def plain(book):
    """Intrinsics that are values, and buffers on parts of storage."""
    fused(book)
    values(book)
    begins(book)
    pointers(book)
    written(book)
    returned(book)
    first(book)


def fused(book):
    """A product and a sum, rounded once: zeros, infinities, NaN."""
    params = 'a: T.float32, b: T.float32, c: T.float32, R: T.Buffer((1,), "float32")'
    text = tir(params, "R[0] = T.fma(a, b, c)")
    rows = {
        "once": ONCE,
        "zeros": PRODUCTS[:4],
        "infinities": PRODUCTS[4:9],
        "nan": PRODUCTS[9:12],
        "overflow": PRODUCTS[12:],
    }
    for name, points in rows.items():
        calls = []
        for *args, expected in points:
            calls.append(([typed(spelled(x), "float32") for x in args] + [new([1], "float32")], f32(expected)))
        ask(book, f"tir.fma.{name}", "TIR-309", text, *calls)
    params = 'A: T.Buffer((3,), "float64"), R: T.Buffer((1,), "float64")'
    ask(
        book,
        "tir.fma.float64",
        "TIR-309",
        tir(params, "R[0] = T.fma(A[0], A[1], A[2])"),
        ([f64(1.5, -4, 7), new([1], "float64")], [K, f64(1)]),
        ([f64(3, 5, 0.5), new([1], "float64")], [K, f64(15.5)]),
    )
    ask(
        book,
        "tir.fma.once-float64",
        "TIR-309",
        tir(params, "R[0] = T.fma(A[0], A[1], A[2])"),
        ([f64(1 + 2.0**-30, 1 + 2.0**-30, -1 - 2.0**-29), new([1], "float64")], [K, f64(2.0**-60)]),
    )


def spelled(x):
    """A float as the files have it."""
    return "nan" if np.isnan(x) else str(x) if np.isinf(x) else float(x).hex()


def values(book):
    """Promises have a value; halves have half of the lanes."""
    one = 'A: T.Buffer((1,), "int32"), R: T.Buffer((1,), "int32")'
    ask(
        book,
        "tir.plain.assume-is-true",
        "TIR-306",
        tir(one, "R[0] = T.if_then_else(T.assume(A[0] > 1), A[0] * 10, -1)"),
        ([i32(2), new([1], "int32")], [K, i32(20)]),
    )
    two = 'A: T.Buffer((8,), "int32"), R: T.Buffer((4,), "int32")'
    eight = i32(4, -9, 2, 7, 1, 0, -3, 6)
    vector = "A.vload([T.Ramp(0, 1, 8)])"
    for half, expected in (("low", eight[:4]), ("high", eight[4:])):
        ask(
            book,
            f"tir.plain.vector-{half}",
            "TIR-304",
            tir(two, f'R[0:4] = T.vector{half}("int32x4", {vector})'),
            ([eight, new([4], "int32")], [K, expected]),
        )
    again = 'A: T.Buffer((8,), "int32"), R: T.Buffer((8,), "int32")'
    for half, expected in (("low", eight[:4]), ("high", eight[4:])):
        part = f'T.vector{half}("int32x4", {vector})'
        ask(
            book,
            f"tir.plain.twice-the-{half}-half",
            "TIR-304",
            tir(again, f'R[0:8] = T.vectorcombine("int32x8", {part}, {part})'),
            ([eight, new([8], "int32")], [K, np.tile(expected, 2)]),
        )
    ask(
        book,
        "tir.plain.wrappers",
        "TIR-302",
        tir(
            one,
            "R[0] = T.tvm_thread_invariant(A[0] + 1) * 2 + T.if_then_else(T.ignore_loop_partition(A[0] < 3), 100, 200)",
        ),
        ([i32(2), new([1], "int32")], [K, i32(106)]),
        ([i32(3), new([1], "int32")], [K, i32(208)]),
    )


def begins(book):
    """Views with a pointer, an element offset, and strides of their own."""
    source = np.array([7, -3, 5, 11, -2, 9, 4, 8], np.int16)
    params = 'A: T.Buffer((8,), "int16"), R: T.Buffer((3,), "int16")'
    rows = {
        "pointer-and-offset": ("data=T.handle_add_byte_offset(A.data, 4), elem_offset=1", [3, 4, 5]),
        "offset": ("data=A.data, elem_offset=2", [2, 3, 4]),
        "strides": ("data=A.data, elem_offset=1, strides=[3]", [1, 4, 7]),
        "stride-of-zero": ("data=A.data, elem_offset=5, strides=[0]", [5, 5, 5]),
        "back-and-forth": ("data=T.handle_add_byte_offset(T.handle_add_byte_offset(A.data, 20), -12)", [4, 5, 6]),
    }
    for name, (made, places) in rows.items():
        text = tir(params, f'V = T.decl_buffer((3,), "int16", {made})\nfor i in range(3):\n    R[i] = V[i]')
        ask(book, f"tir.view.{name}", "TIR-005 TIR-207", text, ([source, new([3], "int16")], [K, source[places]]))
        after = source.copy()
        after[places] = [1, 2, 3]
        text = tir(
            params,
            f'V = T.decl_buffer((3,), "int16", {made})\nfor i in range(3):\n    R[i] = V[i]\nfor i in range(3):\n    V[i] = T.Cast("int16", i + 1)',
        )
        ask(
            book,
            f"tir.view.{name}-written",
            "TIR-005 TIR-207",
            text,
            ([source, new([3], "int16")], [after, source[places]]),
        )
    beyond = {
        "behind-the-end": ("data=A.data, elem_offset=9", 0),
        "at-the-end": ("data=A.data, elem_offset=8", 0),
        "last-one": ("data=A.data, elem_offset=6", 2),
        "far-behind": ("data=T.handle_add_byte_offset(A.data, 64)", 1),
        "before-the-begin": ("data=T.handle_add_byte_offset(A.data, -2)", 0),
        "strides": ("data=A.data, elem_offset=1, strides=[4]", 2),
    }
    for name, (made, at) in beyond.items():
        for verb, access in (("read", f"R[0] = «V[{at}]»"), ("written", f"«V[{at}] = T.int16(1)»")):
            text = tir(params, f'V = T.decl_buffer((3,), "int16", {made})\nR[0] = T.int16(0)\n{access}')
            ask(
                book,
                f"undefined.view.{name}-{verb}",
                "TIR-006 TIR-207",
                text,
                ([source, new([3], "int16")], undefined("RM304")),
            )
    text = tir(
        params,
        'V = T.decl_buffer((0,), "int16", data=A.data, elem_offset=8)\nfor i in range(0):\n    R[i] = V[i]\nfor i in range(3):\n    R[i] = A[i]',
    )
    ask(book, "tir.view.of-nothing", "TIR-005 TIR-207", text, ([source, new([3], "int16")], [K, source[:3]]))


def pointers(book):
    """`A.data` of a parameter: the first element of the tensor, or before its element offset."""
    a = np.array([7, -3, 5, 11, -2, 9], np.int32)
    plain = tir(
        'A: T.Buffer((4,), "int32"), R: T.Buffer((2,), "int32")',
        'V = T.decl_buffer((2,), "int32", data=A.data)\nR[0] = V[0]\nR[1] = A[3] * 100 + V[1]',
    )
    held = {"dtype": "int32", "shape": [4], "values": a[2:].tolist(), "offset": 2}
    wanted = [K, i32(5, 911)]
    ask(book, "tir.view.data-of-a-tensor-further-on", "TIR-003 TIR-113", plain, ([held, new([2], "int32")], wanted))
    made = "T.tvm_stack_make_array(A.data, T.tvm_stack_make_shape(3), 0, 1, 0, 2)"
    main = (
        "main",
        'A: T.Buffer((6,), "int32"), R: T.Buffer((3,), "int32")',
        f'T.evaluate(T.call_packed("see", {made}, R))',
    )
    lines = called("see") + '{}R = T.match_buffer(r, (3,), "int32")\n'
    lines += 'V = T.decl_buffer((3,), "int32", data=A.data)\nR[0] = A[0]\nR[1] = V[0]\nR[2] = V[2]'
    rows = {
        "with-offset": ('o = T.int32()\nA = T.match_buffer(a, (3,), "int32", elem_offset=o)\n', (5, 7, 5)),
        "without-offset": ('A = T.match_buffer(a, (3,), "int32")\n', (5, 5, -2)),
    }
    for name, (line, expected) in rows.items():
        text = module(main, ("see", "a: T.handle, r: T.handle", lines.replace("{}", line)))
        out = new([3], "int32")
        ask(book, f"tir.view.data-{name}", "TIR-003 TIR-113 TIR-004", text, ([a, out], [K, i32(*expected)]))


def written(book):
    """What counts as written through views: element by element, from where the view begins."""
    out = 'R: T.Buffer((1,), "int32")'
    rows = {
        "int8-one-on": ("int8", "int8", "elem_offset=1", 0, 0),
        "int8-one-back": ("int8", "int8", "elem_offset=1", 3, 2),
        "int16-one-on": ("int16", "int16", "elem_offset=1", 0, 0),
        "wider": ("int8", "int16", "elem_offset=0", 0, 0),
        "narrower": ("int16", "int8", "elem_offset=0", 0, 1),
        "same": ("int32", "int32", "elem_offset=0", 2, 1),
    }
    for name, (kind, seen, made, put, at) in rows.items():
        value = f"T.{kind}(5)"
        body = f"""
B = T.alloc_buffer((4,), "{kind}")
V = T.decl_buffer((2,), "{seen}", data=B.data, {made})
B[{put}] = {value}
R[0] = T.Cast("int32", {{}}V[{at}]{{}})
"""
        here = {
            "int8-one-on": False,
            "int8-one-back": True,
            "int16-one-on": False,
            "wider": False,
            "narrower": True,
            "same": False,
        }
        body = body if name != "int8-one-back" else body.replace("(2,)", "(3,)")
        if here[name]:
            expected = 5 if name == "int8-one-back" else 0
            ask(
                book,
                f"tir.view.written-{name}",
                "TIR-005 TIR-007",
                tir(out, body.format("", "").strip()),
                ([new([1], "int32")], i32(expected)),
            )
        else:
            ask(
                book,
                f"undefined.view.unwritten-{name}",
                "TIR-005 TIR-007",
                tir(out, body.format("«", "»").strip()),
                ([new([1], "int32")], undefined("RM305")),
            )


def returned(book):
    """Expressions that are all there is of a function."""
    head = "@T.prim_func(s_tir=True)\ndef main({}) -> T.{}:\n    {}return {}\n"
    rows = [
        (
            "and",
            "n: T.int32, m: T.int32",
            "bool",
            "T.And(n > 0, m > 0)",
            [((1, 1), True), ((1, 0), False), ((0, 1), False)],
        ),
        (
            "or",
            "n: T.int32, m: T.int32",
            "bool",
            "T.Or(n > 0, m > 0)",
            [((1, 0), True), ((0, 0), False), ((0, 1), True)],
        ),
        ("not", "n: T.int32", "bool", "T.Not(n > 0)", [((1,), False), ((0,), True)]),
        ("select", "n: T.int32, m: T.int32", "int32", "T.Select(n > 0, n, m)", [((4, 9), 4), ((-4, 9), 9)]),
        ("choice", "n: T.int32, m: T.int32", "int32", "T.if_then_else(n > 0, m, n)", [((4, 9), 9), ((-4, 9), -4)]),
        ("let", "n: T.int32", "int32", "T.Let(x * x - n, where={x: n + 1})", [((4,), 21), ((-4,), 13)]),
        ("variable", "n: T.int32, m: T.int32", "int32", "m", [((4, 9), 9)]),
        ("constant", "n: T.int32", "int32", "-7", [((4,), -7)]),
        ("truth", "n: T.int32", "bool", "T.bool(True)", [((4,), True)]),
        ("least", "n: T.int32, m: T.int32", "int32", "T.min(n, m)", [((4, 9), 4), ((4, -9), -9)]),
        (
            "element",
            'n: T.int32, A: T.Buffer((3,), "int32")',
            "int32",
            "A[n]",
            [((2, i32(4, 5, 6)), 6), ((0, i32(4, 5, 6)), 4)],
        ),
    ]
    for name, params, result, value, points in rows:
        text = head.format(params, result, "x = T.int32()\n    " if "where" in value else "", value)
        calls = []
        for args, expected in points:
            given = [typed(one, "int32") if isinstance(one, int) else one for one in args]
            calls.append((given, [expected, *(K for one in args if not isinstance(one, int))]))
        ask(book, f"tir.returned.{name}", "TIR-308 TIR-215", text, *calls)
    casts = [
        ("half-to-int", "float16", "int32", "0x1.4p+1", 2),
        ("half-to-int-below", "float16", "int8", "-0x1.ep+1", -3),
        ("int-to-int8", "int32", "int8", 200, -56),
        ("int8-to-int", "int8", "int32", -56, -56),
        ("int8-to-uint16", "int8", "uint16", -1, 65535),
        ("uint8-to-int8", "uint8", "int8", 128, -128),
        ("uint8-to-int16", "uint8", "int16", 255, 255),
        ("uint16-to-int16", "uint16", "int16", 32768, -32768),
        ("bool-to-int", "bool", "int32", True, 1),
        ("int-to-bool", "int32", "bool", 6, True),
        ("int-to-uint", "int32", "uint32", -1, 2**32 - 1),
        ("uint-to-int64", "uint32", "int64", 2**32 - 1, 2**32 - 1),
    ]
    for name, source, target, value, expected in casts:
        text = head.format(f"x: T.{source}", target, "", f'T.Cast("{target}", x)')
        ask(book, f"tir.returned.{name}", "TIR-106 TIR-308", text, ([typed(value, source)], [expected]))


def first(book):
    """Vectors that a function begins with."""
    params = 'A: T.Buffer((4,), "int32"), R: T.Buffer((4,), "{}")'
    a = i32(5, -6, 7, 0)
    rows = [
        ("or", "bool", "T.Or(A[0:4] > T.Broadcast(5, 4), A[0:4] < T.Broadcast(0, 4))", [False, True, True, False]),
        ("and", "bool", "T.And(A[0:4] > T.Broadcast(-1, 4), A[0:4] < T.Broadcast(6, 4))", [True, False, False, True]),
        ("select", "int32", "T.Select(A[0:4] > T.Broadcast(0, 4), A[0:4], T.Broadcast(9, 4))", [5, 9, 7, 9]),
        ("shuffle", "int32", "T.Shuffle([A[0:4]], [3, 1, 0, 2])", [0, -6, 5, 7]),
        ("ramp", "int32", "T.Ramp(A[0], A[1], 4)", [5, -1, -7, -13]),
        ("cast", "int8", 'T.Cast("int8x4", A[0:4] * T.Broadcast(30, 4))', [-106, 76, -46, 0]),
        ("load", "int32", "A[T.Ramp(3, -1, 4)]", [0, 7, -6, 5]),
    ]
    for name, dtype, value, expected in rows:
        text = tir(params.format(dtype), f"R[0:4] = {value}")
        ask(
            book,
            f"tir.lanes.first-{name}",
            "TIR-105 TIR-112",
            text,
            ([a, new([4], dtype)], [K, np.array(expected, dtype)]),
        )
    between = 'A: T.Buffer((4,), "int32"), R: T.Buffer((8,), "int32")'
    for name, at, places in (("two", "T.Ramp(0, 2, 4)", [0, 2, 4, 6]), ("back", "T.Ramp(6, -2, 4)", [6, 4, 2, 0])):
        body = f"for i in range(8):\n    R[i] = -1\nR[{at}] = A[0:4]"
        expected = np.full(8, -1, np.int32)
        expected[places] = a
        text = tir(between, body)
        ask(book, f"tir.lanes.first-by-{name}", "TIR-205 TIR-114", text, ([a, new([8], "int32")], [K, expected]))
    one = 'n: T.int32, R: T.Buffer((1,), "int32")'
    text = tir(one, "R[0] = 1\nif n > 3:\n    T.evaluate(T.ret(0))\nR[0] = 2")
    out = new([1], "int32")
    calls = [([typed(4, "int32"), out], [0, i32(1)]), ([typed(3, "int32"), out], i32(2))]
    ask(book, "tir.returned.by-a-call", "TIR-308", text, *calls)
    chosen = 'n: T.int32, A: T.Buffer((4,), "int32"), R: T.Buffer((4,), "int32")'
    text = tir(chosen, "R[0:4] = T.Select(n > 2, A[0:4], T.Ramp(1, 1, 4))")
    ask(
        book,
        "tir.lanes.first-choice-of-one",
        "TIR-109",
        text,
        ([typed(3, "int32"), a, new([4], "int32")], [K, a]),
        ([typed(2, "int32"), a, new([4], "int32")], [K, i32(1, 2, 3, 4)]),
    )
