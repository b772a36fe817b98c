"""TensorIR by hand: calls of other functions, what they are given, and functions of C and LLVM."""

import mpmath
import numpy as np
from book import want
from calls_packed import module
from hand import K, ask, f32, f64, i32, new, tir, undefined
from tir_usual import FOUR, INTS, IOUT, OUT


def outside(book):
    """Who is called, and with what."""
    buffers(book)
    symbols(book)
    kernels(book)
    direct(book)
    matched(book)
    passed(book)


def called(name):
    """The attribute of a function that others call by name."""
    return f'T.func_attr({{"global_symbol": "{name}"}})\n'


SEEN = 'A: T.Buffer((3,), "{0}", strides=[S0]), R: T.Buffer((3,), "{0}")'
FOLD = called("fold") + "for i in range(3):\n    R[i] = A[i]\n    A[i] = A[i] + A[i]"


def buffers(book):
    """A buffer is passed as a tensor: where it begins, how it is strided, who sees what is written."""
    made = {
        "pointer": 'B = T.decl_buffer((3,), "int16", data=T.handle_add_byte_offset(A.data, 4))',
        "offset": 'B = T.decl_buffer((3,), "int16", data=A.data, elem_offset=2)',
        "both": 'B = T.decl_buffer((3,), "int16", data=T.handle_add_byte_offset(A.data, 2), elem_offset=1)',
        "strided": 'B = T.decl_buffer((3,), "int16", data=A.data, strides=[2], elem_offset=1)',
    }
    own = {"strided": [1, 3, 5]}
    source = np.array([7, -3, 5, 11, -2, 9], np.int16)
    for name, line in made.items():
        places = own.get(name, [2, 3, 4])
        strides = ", strides=[2]" if name == "strided" else ""
        fold = ("fold", f'A: T.Buffer((3,), "int16"{strides}), R: T.Buffer((3,), "int16")', FOLD)
        after = source.copy()
        after[places] *= 2
        for kind in ("packed", "direct")[: 2 if name == "both" else 1]:
            call = 'T.evaluate(T.call_packed("fold", B, R))' if kind == "packed" else "Module.fold(B, R)"
            main = ("main", 'A: T.Buffer((6,), "int16"), R: T.Buffer((3,), "int16")', f"{line}\n{call}")
            clauses = "TIR-117 TIR-005" + (" TIR-341" if kind == "packed" else "")
            text = module(main, fold)
            ask(book, f"tir.call.{kind}-{name}", clauses, text, ([source, new([3], "int16")], [after, source[places]]))
    wide = """
V = T.decl_buffer((2,), "float32x4", data=A.data, elem_offset=1)
T.evaluate(T.call_packed("sum", V, R))
"""
    total = (
        "sum",
        'V: T.Buffer((2,), "float32x4"), R: T.Buffer((4,), "float32")',
        called("sum") + "R[0:4] = V[0] + V[1] * T.Broadcast(T.float32(2), 4)",
    )
    a = np.arange(12, dtype=np.float32) ** 2
    text = module(("main", 'A: T.Buffer((12,), "float32"), R: T.Buffer((4,), "float32")', wide), total)
    ask(book, "tir.call.packed-vectors", "TIR-117 TIR-005 TIR-341", text, ([a, OUT], [K, a[4:8] + 2 * a[8:12]]))
    beyond = """
B = T.decl_buffer((3,), "int16", data=A.data, elem_offset=4)
«T.evaluate(T.call_packed("fold", B, R))
"""
    text = module(
        (
            "main",
            'A: T.Buffer((6,), "int16"), R: T.Buffer((3,), "int16")',
            beyond.replace("«", "").replace("B = ", "«B = "),
        ),
        ("fold", 'A: T.Buffer((3,), "int16"), R: T.Buffer((3,), "int16")', FOLD),
    )
    ask(
        book,
        "undefined.call.beyond-the-storage",
        "TIR-117 TIR-003 TIR-006",
        text,
        ([source, new([3], "int16")], {"kind": "undefined", "code": "RM304"}),
    )


def symbols(book):
    """C's linker knows symbols: which function of the module is meant."""
    add = """
B = T.decl_buffer((4,), "float32", data=p)
B[1] = B[1] * T.float32(10)
B[0] = T.float32({})
"""
    rows = {
        "by-symbol": ("other", [("own", called("other") + add.format(5)), ("other", called("own") + add.format(6))], 5),
        "by-name": ("other", [("own", called("own") + add.format(5)), ("other", add.format(6))], 6),
        "hides-c": ("fabsf", [("fabsf", add.format(7))], 7),
    }
    params = 'A: T.Buffer((4,), "float32"), R: T.Buffer((4,), "float32")'
    for name, (symbol, functions, first) in rows.items():
        main = (
            "main",
            params,
            f'for i in range(4):\n    R[i] = A[i]\nT.evaluate(T.call_extern("int32", "{symbol}", R.data))',
        )
        text = module(main, *((own, 'p: T.handle("float32")', body) for own, body in functions))
        ask(book, f"tir.extern.{name}", "TIR-342", text, ([FOUR, OUT], [K, f32(first, 20, 3, 4)]))
    main = ("main", params, 'for i in range(4):\n    R[i] = T.call_pure_extern("float32", "sqrtf", A[i])')
    text = module(main, ("sqrtf", 'p: T.handle("float32")', called("root") + add.format(1)))
    ask(book, "tir.extern.exported-under-another", "TIR-342", text, ([FOUR * FOUR, OUT], [K, FOUR]))
    ret = ("scale", "x: T.float32, n: T.int32", called("scale") + 'T.ret(x * T.Cast("float32", n))', "T.float32")
    main = ("main", params, 'for i in range(4):\n    R[i] = T.call_extern("float32", "scale", A[i], i) + T.float32(1)')
    ask(book, "tir.extern.value", "TIR-342 TIR-308", module(main, ret), ([FOUR, OUT], [K, f32(1, 3, 7, 13)]))
    given = (
        "third",
        'p: T.handle("float32"), R: T.handle("float32")',
        called("third")
        + 'P = T.decl_buffer((2,), "float32", data=p)\nQ = T.decl_buffer((4,), "float32", data=R)\nfor i in range(4):\n    Q[i] = P[i % 2]',
    )
    main = ("main", params, 'T.evaluate(T.call_extern("int32", "third", T.address_of(A[2]), R.data))')
    ask(book, "tir.extern.pointers", "TIR-342 TIR-321", module(main, given), ([FOUR, OUT], [K, f32(3, 4, 3, 4)]))


def kernels(book):
    """A kernel gets its own arguments and no others; its value is 0."""
    text = """
T.func_attr({"global_symbol": "kernel", "calling_conv": 2, "tirx.kernel_launch_params": ["threadIdx.x"]})
A = T.decl_buffer((4,), "float32", data=a)
R = T.decl_buffer((4,), "float32", data=r)
t = T.launch_thread("threadIdx.x", 4)
R[t] = A[t] + T.Cast("float32", n)
"""
    kernel = ("kernel", 'a: T.handle("float32"), n: T.int32, r: T.handle("float32")', text)
    params = 'A: T.Buffer((4,), "float32"), R: T.Buffer((4,), "float32"), S: T.Buffer((1,), "int32")'
    body = 'S[0] = T.call_ffi_kernel("kernel", A.data, 7, R.data, 4, launch_params=["threadIdx.x"], ret_ty="int32")'
    ask(
        book,
        "tir.call.kernel-status",
        "TIR-333",
        module(("main", params, body), kernel),
        ([FOUR, OUT, new([1], "int32")], [K, FOUR + 7, i32(0)]),
    )


def direct(book):
    """Functions of the module by their names: values, orders, recursion."""
    params = 'n: T.int32, R: T.Buffer((2,), "int32")'
    minus = ("minus", "a: T.int32, b: T.int32", "T.ret(a * 10 - b)", "T.int32")
    body = "R[0] = Module.minus(n, 3)\nR[1] = Module.minus(Module.minus(1, n), n + 1)"
    ask(
        book,
        "tir.call.values",
        "TIR-117 TIR-308",
        module(("main", params, body), minus),
        ([4, new([2], "int32")], i32(37, 55)),
        ([-4, new([2], "int32")], i32(-43, 143)),
    )
    early = (
        "early",
        'a: T.int32, r: T.handle("int32")',
        'R = T.decl_buffer((2,), "int32", data=r)\nR[0] = a\nfor i in range(5):\n    R[1] = i\n    if i == a:\n        T.ret(0)\nR[0] = 99\nT.ret(1)',
        "T.int32",
    )
    ask(
        book,
        "tir.call.returns-early",
        "TIR-308 TIR-215",
        module(("main", params, "T.evaluate(Module.early(n, R.data))"), early),
        ([2, new([2], "int32")], i32(2, 2)),
        ([0, new([2], "int32")], i32(0, 0)),
        ([7, new([2], "int32")], i32(99, 4)),
    )


def matched(book):
    """Shapes, strides and offsets of tensors that are made inside of the module."""
    make = """
T.evaluate(T.call_packed("see", T.tvm_stack_make_array(A.data, T.tvm_stack_make_shape({}), 0, {}, {}, {}), R))
"""
    see = "R[0] = A[0]\nR[1] = A[1]\nR[2] = {}"
    result = 'R = T.match_buffer(r, (3,), "int32")\n'
    params = 'A: T.Buffer((12,), "int32"), R: T.Buffer((3,), "int32")'
    a = np.array([7, -3, 5, 11, -2, 9, 4, 8, -6, 2, 1, 3], np.int32)
    line = 'o = T.int32()\nn = T.int32()\nA = T.match_buffer(a, (n,), "int32", elem_offset=o)\n'
    taken = ("see", "a: T.handle, r: T.handle", called("see") + line + result + see.format("o * 10 + n"))
    for offset in (0, 1, 5):
        main = ("main", params, make.format(4, 1, 0, offset))
        ask(
            book,
            f"tir.match.offset-{offset}",
            "TIR-004 TIR-328",
            module(main, taken),
            ([a, new([3], "int32")], [K, i32(a[offset], a[offset + 1], offset * 10 + 4)]),
        )
    odd = """
B = T.decl_buffer((4,), "int32", data=T.handle_add_byte_offset(A.data, 2))
T.evaluate(T.call_packed("see", B, R))
"""
    shifted = np.frombuffer(a.tobytes()[2:10], np.int32)
    line = 'A = T.match_buffer(a, (4,), "int32")\n'
    none = ("see", "a: T.handle, r: T.handle", called("see") + line + result + see.format("A[3]"))
    ask(
        book,
        "tir.match.within-an-element",
        "TIR-003 TIR-005",
        module(("main", params, odd), none),
        ([a, new([3], "int32")], [K, np.append(shifted, np.frombuffer(a.tobytes()[14:18], np.int32))]),
    )
    rows = {
        "rank": '(2, 2), "int32"',
        "extent": '(3,), "int32"',
        "dtype": '(4,), "float32"',
        "lanes": '(4,), "int32x2"',
    }
    for name, declared in rows.items():
        body = called("see") + f"A = «T.match_buffer(a, {declared})»\n{result}R[0] = 1"
        main = ("main", params, make.format(4, 1, 0, 0))
        ask(
            book,
            f"undefined.match.{name}",
            "TIR-003 TIR-004",
            module(main, ("see", "a: T.handle, r: T.handle", body)),
            ([a, new([3], "int32")], undefined("RM314")),
        )
    spaced = 'T.evaluate(T.call_packed("see", T.tvm_stack_make_array(A.data, T.tvm_stack_make_shape(4), T.tvm_stack_make_shape({}), 1, 0, 0), R))'
    body = called("see") + 'A = «T.match_buffer(a, (4,), "int32")»\n' + result + "R[0] = A[1]"
    own = ("see", "a: T.handle, r: T.handle", body)
    ask(
        book,
        "undefined.match.not-compact",
        "TIR-003",
        module(("main", params, spaced.format(2)), own),
        ([a, new([3], "int32")], undefined("RM314")),
    )
    body = body.replace("«", "").replace("»", "").replace("R[0] = A[1]", "R[0] = A[1]\nR[1] = A[0]\nR[2] = A[3]")
    ask(
        book,
        "tir.match.compact-strides",
        "TIR-003",
        module(("main", params, spaced.format(1)), ("see", "a: T.handle, r: T.handle", body)),
        ([a, new([3], "int32")], [K, i32(-3, 7, 11)]),
    )


def passed(book):
    """Numbers as parameters of other dtypes, and what is no such number."""
    rows = [
        ("int8-most", "int8", "127", 127.0),
        ("int8-least", "int8", "-128", -128.0),
        ("uint8-most", "uint8", "255", 255.0),
        ("uint8-zero", "uint8", "0", 0.0),
        ("bool-one", "bool", "1", 1.0),
        ("bool-zero", "bool", "0", 0.0),
        ("int32-truth", "int32", "T.bool(True)", 1.0),
        ("float32-whole", "float32", "-7", -7.0),
        ("float32-rounded", "float32", "T.float64(0.1)", float(np.float32(0.1))),
        ("float16-rounded", "float16", "T.float32(2049)", 2048.0),
        ("float64-truth", "float64", "T.bool(True)", 1.0),
    ]
    for name, dtype, value, expected in rows:
        own = ("see", f'x: T.{dtype}, R: T.Buffer((1,), "float64")', called("see") + 'R[0] = T.Cast("float64", x)')
        main = ("main", 'R: T.Buffer((1,), "float64")', f'T.evaluate(T.call_packed("see", {value}, R))')
        ask(book, f"tir.passed.{name}", "TIR-002 TIR-341", module(main, own), ([new([1], "float64")], f64(expected)))
    wrong = [
        ("int8-above", "int8", "128"),
        ("int8-below", "int8", "-129"),
        ("uint8-above", "uint8", "256"),
        ("uint8-below", "uint8", "-1"),
        ("bool-two", "bool", "2"),
        ("bool-below", "bool", "-1"),
        ("int32-float", "int32", "T.float32(1)"),
        ("int32-tensor", "int32", "R"),
        ("float32-text", "float32", '"word"'),
        ("bool-float", "bool", "T.float32(1)"),
    ]
    for name, dtype, value in wrong:
        own = ("see", f'«x: T.{dtype}», R: T.Buffer((1,), "float64")', called("see") + 'R[0] = T.Cast("float64", x)')
        main = ("main", 'R: T.Buffer((1,), "float64")', f'T.evaluate(T.call_packed("see", {value}, R))')
        ask(
            book,
            f"undefined.passed.{name}",
            "TIR-002 TIR-341",
            module(main, own),
            ([new([1], "float64")], undefined("RM314")),
        )
    own = ("see", 'A: T.Buffer((1,), "float64"), R: T.Buffer((1,), "float64")', called("see") + "R[0] = A[0]")
    for name, value in (("number", "5"), ("null", 'T.reinterpret("handle", T.uint64(0))'), ("pointer", "R.data")):
        main = ("main", 'R: T.Buffer((1,), "float64")', f'T.evaluate(T.call_packed("see", {value}, R))')
        text = module(main, own).replace("def see(A", "def see(«A")
        ask(
            book,
            f"undefined.passed.buffer-{name}",
            "TIR-003 TIR-341",
            text,
            ([new([1], "float64")], undefined("RM314")),
        )
    for name, values in (("too-few", "R"), ("too-many", "R, R, R")):
        main = ("main", 'R: T.Buffer((1,), "float64")', f'T.evaluate(T.call_packed("see", {values}))')
        text = module(main, own).replace("def see", "«def see")
        ask(book, f"undefined.passed.{name}", "TIR-001 TIR-341", text, ([new([1], "float64")], undefined("RM314")))


# ------------------------------------------------------------------------------------------ C and LLVM

FIRST = ("exp", "exp2", "exp10", "sin", "cos", "tan", "sinh", "cosh", "tanh", "atan", "asinh", "erf")
SECOND = ("log", "log2", "log10", "log1p", "sqrt", "ceil", "floor", "asin", "acos", "acosh", "atanh")
POINTS = {"acosh": (1.75, 3.5), "asin": (0.75, -0.375), "acos": (0.75, -0.375), "atanh": (0.75, -0.375)}


def value(name, x):
    """The function at a point, rounded once to binary64."""
    with mpmath.workprec(300):
        x = mpmath.mpf(x)
        match name:
            case "exp2" | "exp10":
                return float(mpmath.mpf(int(name[3:])) ** x)
            case "log2":
                return float(mpmath.log(x, 2))
            case _:
                return float(getattr(mpmath, name)(x))


def functions(book):
    """Functions of C's library, and of LLVM, that a scalar operator means."""
    for dtype, suffix in (("float32", "f"), ("float64", "")):
        for names_of, kind in ((FIRST, "first"), (SECOND, "second")):
            count = len(names_of)
            body = "".join(
                f'R[{k}] = T.call_pure_extern("{dtype}", "{name}{suffix}", A[{k}])\n' for k, name in enumerate(names_of)
            )
            text = tir(f'A: T.Buffer(({count},), "{dtype}"), R: T.Buffer(({count},), "{dtype}")', body)
            calls = []
            for which in (0, 1):
                points = [POINTS.get(name, (1.375, 2.625))[which] for name in names_of]
                found = np.array([value(name, x) for name, x in zip(names_of, points, strict=True)]).astype(dtype)
                close = want(found, rule="ulp", ulps=1 if suffix else 4)
                calls.append(([np.array(points, dtype), new([count], dtype)], [K, close]))
            ask(book, f"tir.extern.library-{kind}-{dtype}", "TIR-342 NUM-501", text, *calls, witness="mpmath")
    exact(book)
    llvm(book)


def exact(book):
    """Functions whose value is exact: which operand is which, halves, signs, and the names without an operator's."""
    for dtype, suffix in (("float32", "f"), ("float64", "")):
        lines = [
            ("fabs", "A[0]"),
            ("rint", "A[1]"),
            ("nearbyint", "A[1]"),
            ("pow", "A[2], A[3]"),
            ("fmod", "A[4], A[3]"),
            ("copysign", "A[3], A[0]"),
            ("hypot", "A[3], A[5]"),
            ("trunc", "A[0]"),
            ("floor", "A[0]"),
            ("ceil", "A[0]"),
        ]
        body = "".join(
            f'R[{k}] = T.call_extern("{dtype}", "{name}{suffix}", {args})\n' for k, (name, args) in enumerate(lines)
        )
        a = np.array([-2.5, 3.5, 2.0, 3.0, -7.5, 4.0], dtype)
        expected = np.array([2.5, 4.0, 4.0, 8.0, -1.5, -3.0, 5.0, -2.0, -3.0, -2.0], dtype)
        count = len(lines)
        text = tir(f'A: T.Buffer((6,), "{dtype}"), R: T.Buffer(({count},), "{dtype}")', body)
        ask(book, f"tir.extern.exact-{dtype}", "TIR-342", text, ([a, new([count], dtype)], [K, expected]))


def llvm(book):
    """LLVM's intrinsics."""
    lines = [
        ("fabs", "A[0]", 2.5),
        ("rint", "A[1]", 4.0),
        ("nearbyint", "A[0]", -2.0),
        ("roundeven", "A[1]", 4.0),
        ("pow", "A[2], A[3]", 8.0),
        ("copysign", "A[3], A[0]", -3.0),
        ("trunc", "A[0]", -2.0),
        ("floor", "A[0]", -3.0),
        ("ceil", "A[0]", -2.0),
        ("sqrt", "A[5]", 2.0),
        ("fmuladd", "A[0], A[3], A[5]", -3.5),
        ("exp2", "A[3]", 8.0),
    ]
    for dtype, short in (("float32", "f32"), ("float64", "f64")):
        body = "".join(
            f'R[{k}] = T.call_llvm_pure_intrin("{dtype}", "llvm.{name}.{short}", {args})\n'
            for k, (name, args, _) in enumerate(lines)
        )
        a = np.array([-2.5, 3.5, 2.0, 3.0, -7.5, 4.0], dtype)
        expected = np.array([value for _, _, value in lines], dtype)
        text = tir(f'A: T.Buffer((6,), "{dtype}"), R: T.Buffer((12,), "{dtype}")', body)
        ask(book, f"tir.llvm.exact-{dtype}", "TIR-343", text, ([a, new([12], dtype)], [K, expected]))
    small = f32(1 + 2.0**-12, -(1 + 2.0**-11), 0, 0)
    body = 'R[0] = T.call_llvm_pure_intrin("float32", "llvm.fmuladd.f32", A[0], A[0], A[1])'
    ask(
        book,
        "tir.llvm.fmuladd-rounds-twice",
        "TIR-343",
        tir('A: T.Buffer((4,), "float32"), R: T.Buffer((1,), "float32")', body),
        ([small, new([1], "float32")], [K, f32(0)]),
    )
    body = 'for i in range(4):\n    R[i] = T.call_llvm_pure_intrin("int32", "llvm.ctpop.i32", A[i])'
    count = i32(0, -1, 5, -(2**31))
    ints = 'A: T.Buffer((4,), "int32"), R: T.Buffer((4,), "int32")'
    ask(book, "tir.llvm.ctpop", "TIR-343", tir(ints, body), ([count, IOUT], [K, i32(0, 32, 2, 1)]))
    body = 'T.evaluate(T.call_llvm_intrin("void", "llvm.prefetch", T.address_of(A[0]), 0, 3, 1))\nfor i in range(4):\n    R[i] = A[3 - i]'
    ask(book, "tir.llvm.prefetch", "TIR-343", tir(ints, body), ([INTS, IOUT], [K, INTS[::-1].copy()]))
    load = "A.vload([T.Ramp(0, 1, 4)])"
    vector = 'A: T.Buffer((4,), "float32"), R: T.Buffer((4,), "float32")'
    for name, args, expected in (
        ("sqrt", load, f32(1, 2, 3, 4)),
        ("fmuladd", f"{load}, {load}, {load}", f32(2, 20, 90, 272)),
        ("copysign", f"{load}, T.Broadcast(T.float32(-1), 4)", f32(-1, -4, -9, -16)),
    ):
        body = f'R[0:4] = T.call_llvm_pure_intrin("float32x4", "llvm.{name}.v4f32", {args})'
        ask(book, f"tir.llvm.vector-{name}", "TIR-343", tir(vector, body), ([FOUR * FOUR, OUT], [K, expected]))
