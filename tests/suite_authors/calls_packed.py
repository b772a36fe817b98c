"""TensorIR by hand: lowered calls and packed functions, what they take and what they give."""

import numpy as np
from hand import K, ask, f32, f64, i32, i64, new, tir, trap, undefined

HEAD = "@I.ir_module\nclass Module:\n"


def typed(value, dtype):
    """A number as an argument of a dtype."""
    return {"number": dtype, "value": value}


def module(*functions):
    """A module of functions: name, parameters, body, and what it returns."""
    made = HEAD
    for name, params, body, *result in functions:
        arrow = f" -> {result[0]}" if result else ""
        lines = "".join(f"        {line}\n" for line in body.strip("\n").split("\n"))
        made += f"    @T.prim_func(s_tir=True)\n    def {name}({params}){arrow}:\n{lines}\n"
    return made


def lowered(book):
    """Arguments in arrays of values, tensors in records, results."""
    ranges(book)
    results(book)
    records(book)
    entries(book)


SUM = (
    "sum",
    "a: T.int64, b: T.int64",
    'T.func_attr({"global_symbol": "sum"})\nT.ret(a * T.int64(10) + b)',
    "T.int64",
)
PART = """
s: T.let[T.handle] = T.tvm_stack_alloca("tvm_ffi_any", 5)
for i in range(5):
    T.tvm_struct_set(s, i, 13, 1)
    T.tvm_struct_set(s, i, 14, 0)
    T.tvm_struct_set(s, i, 15, T.int64(1) + T.Cast("int64", i))
R[0] = T.Cast("int64", {})
for i in range(5):
    R[1 + i] = T.tvm_struct_get(s, i, 15, "int64")
"""


def ranges(book):
    """Which elements of the array are arguments, and where the result is put."""
    whole = 'R: T.Buffer((6,), "int64")'
    out = new([6], "int64")
    for begin, end, expected in (
        (0, 2, (12, 1, 2, 12, 4, 5)),
        (1, 3, (23, 1, 2, 3, 23, 5)),
        (2, 4, (34, 1, 2, 3, 4, 34)),
    ):
        for name in ("packed", "cpacked"):
            call = f'T.call_{name}_lowered("sum", s, {begin}, {end})'
            text = module(("main", whole, PART.format(call)), SUM)
            ask(book, f"tir.lowered.{name}-arguments-{begin}", "TIR-331 TIR-330", text, ([out], i64(*expected)))
    for name, begin, end in (("no-room", 3, 5), ("turned", 2, 1), ("before-the-first", -1, 1), ("beyond", 4, 6)):
        text = module(("main", whole, PART.format(f'«T.call_packed_lowered("sum", s, {begin}, {end})»')), SUM)
        ask(book, f"undefined.lowered.{name}", "TIR-331", text, ([out], undefined("RM313")))
    none = (
        "main",
        'R: T.Buffer((2,), "int64")',
        (
            's: T.let[T.handle] = T.tvm_stack_alloca("tvm_ffi_any", 1)\n'
            'R[0] = T.Cast("int64", T.call_packed_lowered("seven", s, 0, 0))\n'
            'R[1] = T.tvm_struct_get(s, 0, 15, "int64")'
        ),
    )
    seven = ("seven", "", 'T.func_attr({"global_symbol": "seven"})\nT.ret(T.int64(7))', "T.int64")
    ask(book, "tir.lowered.no-arguments", "TIR-331", module(none, seven), ([new([2], "int64")], i64(7, 7)))
    for kind in ("array", "shape"):
        body = f's: T.let[T.handle] = T.tvm_stack_alloca("{kind}", 2)\nR[0] = T.int64(1)\nT.evaluate(«T.call_packed_lowered("seven", s, 0, 0)»)'
        text = module(("main", 'R: T.Buffer((2,), "int64")', body), seven)
        ask(book, f"undefined.lowered.arguments-in-{kind}", "TIR-331", text, ([new([2], "int64")], undefined("RM313")))
    text = module(("main", whole, PART.format('«T.call_packed_lowered("no.such.function", s, 0, 1)»')))
    ask(book, "trap.lowered.missing", "TIR-331 TIR-341", text, ([out], trap("RM402")))


GIVES = """
s: T.let[T.handle] = T.tvm_stack_alloca("tvm_ffi_any", 2)
T.tvm_struct_set(s, 0, 13, kind)
T.tvm_struct_set(s, 0, 14, 0)
T.tvm_struct_set(s, 0, 15, {value})
T.evaluate(T.call_packed_lowered("same", s, 0, 1))
R[0] = T.Cast("int64", T.tvm_struct_get(s, 1, 13, "int32"))
R[1] = {result}
"""


def results(book):
    """The kind of a result, and of an argument: null, integer, bool, float."""
    params = 'kind: T.int32, n: T.int64, x: T.float64, R: T.Buffer((2,), "int64")'
    twice = 'T.Cast("int64", T.tvm_struct_get(s, 1, 15, "float64") * T.float64(2))'
    whole = 'T.tvm_struct_get(s, 1, 15, "int64")'
    rows = [
        ("int", "int64", "n", whole, [(1, 5, 0.0, 1, 5), (1, -1, 0.0, 1, -1), (1, 0, 0.0, 1, 0)]),
        ("float", "float64", "x", twice, [(3, 0, 2.5, 3, 5), (3, 0, -0.5, 3, -1)]),
        ("bool", "bool", "n", whole, [(2, 1, 0.0, 2, 1), (2, 0, 0.0, 2, 0)]),
    ]
    for name, dtype, value, result, points in rows:
        same = ("same", f"a: T.{dtype}", 'T.func_attr({"global_symbol": "same"})\nT.ret(a)', f"T.{dtype}")
        calls = []
        for kind, n, x, *expected in points:
            args = [typed(kind, "int32"), typed(n, "int64"), typed(x.hex(), "float64"), new([2], "int64")]
            calls.append((args, i64(*expected)))
        text = module(("main", params, GIVES.format(value=value, result=result)), same)
        ask(book, f"tir.lowered.result-{name}", "TIR-331 TIR-330", text, *calls)
    nothing = """
s: T.let[T.handle] = T.tvm_stack_alloca("tvm_ffi_any", 2)
T.tvm_struct_set(s, 0, 13, kind)
T.tvm_struct_set(s, 0, 14, 0)
T.tvm_struct_set(s, 0, 15, T.int64(0))
T.evaluate(T.call_packed_lowered("null", s, 0, 1))
R[0] = T.Cast("int64", T.tvm_struct_get(s, 1, 13, "int32"))
R[1] = T.if_then_else(T.isnullptr(T.tvm_struct_get(s, 1, 15, T.handle().ty)), T.int64(5), T.int64(6))
"""
    null = (
        "null",
        "a: T.handle",
        'T.func_attr({"global_symbol": "null"})\nassert T.isnullptr(a), "it is not null"',
    )
    text = module(("main", 'kind: T.int32, R: T.Buffer((2,), "int64")', nothing), null)
    ask(book, "tir.lowered.null", "TIR-331 TIR-330", text, ([typed(0, "int32"), new([2], "int64")], i64(0, 5)))
    for name, dtype, value in (
        ("float", "float64", "T.float64(0.5)"),
        ("too-large", "int64", "T.int64(2147483648)"),
        ("too-small", "int64", "T.int64(-2147483649)"),
    ):
        give = ("give", "", f'T.func_attr({{"global_symbol": "give"}})\nT.ret({value})', f"T.{dtype}")
        main = 's: T.let[T.handle] = T.tvm_stack_alloca("tvm_ffi_any", 1)\nR[0] = 1\nR[0] = «{}»'
        for kind, call in (("packed", 'T.call_packed("give")'), ("lowered", 'T.call_packed_lowered("give", s, 0, 0)')):
            text = module(("main", 'R: T.Buffer((1,), "int32")', main.format(call)), give)
            clauses = "TIR-341 TIR-117" if kind == "packed" else "TIR-331 TIR-117"
            ask(book, f"trap.{kind}.result-{name}", clauses, text, ([new([1], "int32")], trap("RM404")))
    bounds = module(
        (
            "main",
            'R: T.Buffer((3,), "int32")',
            'R[0] = T.call_packed("most")\nR[1] = T.call_packed("least")\nR[2] = T.call_packed("truth")',
        ),
        ("most", "", 'T.func_attr({"global_symbol": "most"})\nT.ret(T.int64(2147483647))', "T.int64"),
        ("least", "", 'T.func_attr({"global_symbol": "least"})\nT.ret(T.int64(-2147483648))', "T.int64"),
        ("truth", "", 'T.func_attr({"global_symbol": "truth"})\nT.ret(T.bool(True))', "T.bool"),
    )
    ask(book, "tir.packed.results", "TIR-341", bounds, ([new([3], "int32")], i32(2**31 - 1, -(2**31), 1)))


RECORD = """
E = T.decl_buffer((2,), "int64", data=T.tvm_stack_alloca("shape", 2))
G = T.decl_buffer((2,), "int64", data=T.tvm_stack_alloca("shape", 2))
E[0] = n
E[1] = m
G[0] = p
G[1] = q
t: T.let[T.handle] = T.tvm_stack_alloca("array", 2)
{}
s: T.let[T.handle] = T.tvm_stack_alloca("tvm_ffi_any", 3)
T.tvm_struct_set(s, 0, 13, 7)
T.tvm_struct_set(s, 0, 14, 0)
T.tvm_struct_set(s, 0, 15, T.tvm_struct_get(t, 1, 0, T.handle().ty))
T.tvm_struct_set(s, 1, 13, 7)
T.tvm_struct_set(s, 1, 14, 0)
T.tvm_struct_set(s, 1, 15, T.tvm_struct_get(t, 0, 0, T.handle().ty))
T.evaluate(T.call_packed_lowered("see", s, 0, 2))
"""
NULL = 'T.reinterpret("handle", T.uint64(0))'


def record(number, **fields):
    """The lines that fill one record; each field has a default."""
    values = {
        1: "A.data",
        2: "E.data",
        3: NULL,
        4: 2,
        5: "T.uint8(2)",
        6: "T.uint8(32)",
        7: "T.uint16(1)",
        8: "T.uint64(0)",
    }
    values |= {9: 0, 10: 1} | {int(name[1:]): value for name, value in fields.items()}
    lines = [f"T.tvm_struct_set(t, {number}, {field}, {value})" for field, value in values.items() if value != ""]
    return "\n".join(lines)


OUTPUT = record(0, f1="R.data", f2='T.tvm_stack_alloca("shape", 1)', f4=0)
EXTENTS = 'A: T.Buffer((12,), "float32"), n: T.int64, m: T.int64, p: T.int64, q: T.int64, R: T.Buffer((1,), "float32")'
SEE = """
T.func_attr({"global_symbol": "see"})
n = T.int64()
m = T.int64()
A = T.match_buffer(a, (n, m), "float32"STRIDES)
R = T.match_buffer(r, (), "float32")
R[()] = T.Cast("float32", n * T.int64(1000) + m * T.int64(100))
for i, j in T.grid(n, m):
    R[()] = R[()] * T.float32(3) + A[i, j]
"""


def folded(array):
    """What `see` does."""
    n, m = array.shape
    total = 1000.0 * n + 100 * m
    for value in array.flatten():
        total = 3 * total + value
    return f32(total)


def records(book):
    """Tensors described field by field."""
    a = np.array([1, -2, 3, 5, -7, 0, 4, 9, -6, 8, 2, -3], np.float32)
    n = [[2, 3, 0, 0], [1, 4, 9, 9], [3, 1, 5, 5], [0, 4, 1, 1]]
    see = ("see", "a: T.handle, r: T.handle", SEE.replace("STRIDES", ""))
    calls = [([a, *row, new([1], "float32")], [K, folded(a[: row[0] * row[1]].reshape(row[:2]))]) for row in n]
    text = module(("main", EXTENTS, RECORD.format(OUTPUT + "\n" + record(1))), see)
    ask(book, "tir.lowered.record-compact", "TIR-331 TIR-330 TIR-329", text, *calls)
    strided = "\ns = T.int64()\nt = T.int64()"
    see = SEE.replace("STRIDES", ", strides=[s, t]").replace("m = T.int64()", "m = T.int64()" + strided)
    see = ("see", "a: T.handle, r: T.handle", see)
    rows = [(2, 3, 5, 1), (3, 2, 1, 4), (2, 2, 7, 3), (2, 3, 0, 2)]
    calls = []
    for row in rows:
        view = np.lib.stride_tricks.as_strided(a, row[:2], tuple(4 * step for step in row[2:]))
        calls.append(([a, *row, new([1], "float32")], [K, folded(view.copy())]))
    text = module(("main", EXTENTS, RECORD.format(OUTPUT + "\n" + record(1, f3="G.data"))), see)
    ask(book, "tir.lowered.record-strided", "TIR-331 TIR-330 TIR-329", text, *calls)
    offset(book, a)
    dtypes(book)
    wrong(book, a)


def offset(book, a):
    """Where the elements begin: the data pointer, and bytes from there on."""
    see = """
T.func_attr({"global_symbol": "see"})
R = T.match_buffer(r, (), "float32")
begin: T.let[T.handle] = T.tvm_struct_get(a, 0, 1, T.handle().ty)
B = T.decl_buffer((2,), "float32", data=T.handle_add_byte_offset(begin, T.Cast("int64", T.tvm_struct_get(a, 0, 8, "uint64"))))
R[()] = B[0] * T.float32(16) + B[1]
"""
    data = "T.handle_add_byte_offset(A.data, p)"
    bytes_on = 'T.Cast("uint64", q)'
    text = module(
        ("main", EXTENTS, RECORD.format(OUTPUT + "\n" + record(1, f1=data, f8=bytes_on))),
        ("see", "a: T.handle, r: T.handle", see),
    )
    calls = []
    for p, q in ((0, 0), (4, 0), (0, 8), (12, 20)):
        first = (p + q) // 4
        calls.append(([a, 1, 2, p, q, new([1], "float32")], [K, f32(16 * a[first] + a[first + 1])]))
    ask(book, "tir.lowered.record-offset", "TIR-331 TIR-330 TIR-323", text, *calls)


def dtypes(book):
    """DLPack's three numbers, there and back."""
    params = 'c: T.uint8, b: T.uint8, l: T.uint16, A: T.Buffer((16,), "int64"), R: T.Buffer((4,), "int32")'
    lines = """
E = T.decl_buffer((1,), "int64", data=T.tvm_stack_alloca("shape", 1))
E[0] = T.int64(2)
t: T.let[T.handle] = T.tvm_stack_alloca("array", 1)
{}
s: T.let[T.handle] = T.tvm_stack_alloca("tvm_ffi_any", 3)
T.tvm_struct_set(s, 0, 13, 7)
T.tvm_struct_set(s, 0, 14, 0)
T.tvm_struct_set(s, 0, 15, T.tvm_struct_get(t, 0, 0, T.handle().ty))
T.tvm_struct_set(s, 1, 13, 4)
T.tvm_struct_set(s, 1, 14, 0)
T.tvm_struct_set(s, 1, 15, R.data)
{}
"""
    see = """
T.func_attr({"global_symbol": "see"})
R = T.decl_buffer((4,), "int32", data=r)
R[0] = T.Cast("int32", T.tvm_struct_get(a, 0, 5, "uint8"))
R[1] = T.Cast("int32", T.tvm_struct_get(a, 0, 6, "uint8"))
R[2] = T.Cast("int32", T.tvm_struct_get(a, 0, 7, "uint16"))
R[3] = T.tvm_struct_get(a, 0, 4, "int32")
"""
    filled = record(0, f4=1, f5="c", f6="b", f7="l")
    call = 'T.evaluate({}T.call_packed_lowered("see", s, 0, 2){})'
    text = module(
        ("main", params, lines.format(filled, call.format("", ""))), ("see", 'a: T.handle, r: T.handle("int32")', see)
    )
    points = [(0, 8, 1), (0, 16, 1), (0, 32, 4), (0, 64, 1), (1, 8, 2), (1, 16, 1), (1, 32, 1), (1, 64, 1)]
    points += [(2, 16, 1), (2, 32, 8), (2, 64, 2), (4, 16, 1), (6, 8, 1)]
    source = np.arange(16, dtype=np.int64)
    calls = [
        (
            [typed(code, "uint8"), typed(bits, "uint8"), typed(count, "uint16"), source, new([4], "int32")],
            [K, i32(code, bits, count, 1)],
        )
        for code, bits, count in points
    ]
    ask(book, "tir.lowered.record-dtypes", "TIR-331 TIR-330", text, *calls)
    text = module(
        ("main", params, lines.format(filled, call.format("«", "»"))), ("see", 'a: T.handle, r: T.handle("int32")', see)
    )
    for code, bits, count in ((2, 33, 1), (99, 8, 1), (3, 64, 1)):
        args = [typed(code, "uint8"), typed(bits, "uint8"), typed(count, "uint16"), source, new([4], "int32")]
        ask(book, f"undefined.lowered.dtype-{code}-{bits}", "TIR-331 TIR-330", text, (args, undefined("RM313")))


def wrong(book, a):
    """Records that describe no tensor."""
    see = ("see", "a: T.handle, r: T.handle", SEE.replace("STRIDES", ""))
    marked = RECORD.replace('T.call_packed_lowered("see", s, 0, 2)', '«T.call_packed_lowered("see", s, 0, 2)»')
    rows = {
        "without-data": {"f1": ""},
        "without-shape": {"f2": ""},
        "without-strides": {"f3": ""},
        "without-rank": {"f4": ""},
        "without-code": {"f5": ""},
        "without-bits": {"f6": ""},
        "without-lanes": {"f7": ""},
        "without-offset": {"f8": ""},
        "null-data": {"f1": NULL},
        "null-shape": {"f2": NULL},
        "pointer-as-rank": {"f4": "A.data"},
        "null-as-offset": {"f8": NULL},
        "number-as-shape": {"f2": "5"},
        "number-as-data": {"f1": "5"},
        "fraction-as-rank": {"f4": "T.float32(2)"},
    }
    for name, fields in rows.items():
        text = module(("main", EXTENTS, marked.format(OUTPUT + "\n" + record(1, **fields))), see)
        args = [a, 2, 3, 0, 0, new([1], "float32")]
        ask(book, f"undefined.lowered.record-{name}", "TIR-331 TIR-330", text, (args, undefined("RM313")))


def entries(book):
    """Functions with the C interface, and kernels that are called so."""
    kernel(book)
    entry(book)


KERNEL = """
T.func_attr({"global_symbol": "kernel", "calling_conv": 2ATTRS})
A = T.decl_buffer((4,), "float32", data=a)
t = T.launch_thread("threadIdx.x", 4)
A[t] = A[t] * T.float32(2) + x
"""
LAUNCH = """
s: T.let[T.handle] = T.tvm_stack_alloca("tvm_ffi_any", 5)
T.tvm_struct_set(s, 0, 13, 4)
T.tvm_struct_set(s, 0, 15, A.data)
T.tvm_struct_set(s, 1, 13, 3)
T.tvm_struct_set(s, 1, 15, T.float64(1))
for i in range(2):
    T.tvm_struct_set(s, 2 + i, 13, 1)
    T.tvm_struct_set(s, 2 + i, 15, T.int64(4))
T.tvm_struct_set(s, 4, 15, T.int64(9))
S[0] = {call}
S[1] = T.Cast("int32", T.tvm_struct_get(s, {end}, 15, "int64"))
"""


def kernel(book):
    """A kernel takes as many values as it has parameters; its value is 0."""
    four = f32(1, 2, 3, 4)
    params = 'A: T.Buffer((4,), "float32"), S: T.Buffer((2,), "int32")'
    attrs = ', "tirx.kernel_launch_params": ["threadIdx.x"]'
    own = ("kernel", 'a: T.handle("float32"), x: T.float32', KERNEL.replace("ATTRS", attrs))
    for extra in (0, 1, 2):
        end = 2 + extra
        main = ("main", params, LAUNCH.format(call=f'T.call_packed_lowered("kernel", s, 0, {end})', end=end))
        ask(
            book,
            f"tir.lowered.kernel-{extra}",
            "TIR-331 TIR-333",
            module(main, own),
            ([four, new([2], "int32")], [four * 2 + 1, i32(0, 0)]),
        )
    few = ("main", params, LAUNCH.format(call='T.call_packed_lowered("kernel", s, 0, 1)', end=1))
    ask(
        book,
        "undefined.lowered.kernel-too-few",
        "TIR-331 TIR-001",
        module(few, own).replace("def kernel", "«def kernel"),
        ([four, new([2], "int32")], {"kind": "undefined", "code": "RM314"}),
    )
    plain = ("kernel", 'a: T.handle("float32"), x: T.float32', KERNEL.replace("ATTRS", ""))
    ask(
        book,
        "undefined.lowered.no-kernel-too-many",
        "TIR-331 TIR-001",
        module(("main", params, LAUNCH.format(call='T.call_packed_lowered("kernel", s, 0, 3)', end=3)), plain),
        ([four, new([2], "int32")], {"kind": "undefined", "code": "RM314"}),
    )


ENTRY = """
T.func_attr({"calling_conv": 1, "global_symbol": "__tvm_ffi_main"})
assert num_args == 4, "four arguments"
first: T.let[T.int32] = T.tvm_struct_get(args, 0, 13, "int32")
assert first == 7 or first >= 64, "a tensor"
assert T.tvm_struct_get(args, 1, 13, "int32") == 1, "an integer"
assert T.tvm_struct_get(args, 2, 13, "int32") == 3, "a float"
n: T.let[T.int64] = T.tvm_struct_get(args, 1, 15, "int64")
x: T.let[T.float64] = T.tvm_struct_get(args, 2, 15, "float64")
a: T.let[T.handle] = T.if_then_else(first == 70, T.handle_add_byte_offset(T.tvm_struct_get(args, 0, 15, T.handle().ty), 24), T.tvm_struct_get(args, 0, 15, T.handle().ty))
r: T.let[T.handle] = T.if_then_else(first == 70, T.handle_add_byte_offset(T.tvm_struct_get(args, 3, 15, T.handle().ty), 24), T.tvm_struct_get(args, 3, 15, T.handle().ty))
A = T.decl_buffer((2,), "float64", data=T.tvm_struct_get(a, 0, 1, T.handle("float64").ty))
R = T.decl_buffer((4,), "float64", data=T.tvm_struct_get(r, 0, 1, T.handle("float64").ty))
R[0] = A[0] + x
R[1] = A[1] - T.Cast("float64", n)
R[2] = T.Cast("float64", T.tvm_struct_get(a, 0, 4, "int32"))
R[3] = T.Cast("float64", T.tvm_struct_get(r, 0, 10, "int32"))
T.ret(0)
"""


def entry(book):
    """A function with the C interface is called as others are."""
    head = "@T.prim_func(s_tir=True)"
    params = "self_handle: T.handle, args: T.handle, num_args: T.int32, result: T.handle"
    text = tir(params, ENTRY, head).replace("):\n", ") -> T.int32:\n", 1)
    calls = [
        ([f64(1, 2), 5, 0.25, new([4], "float64")], [K, f64(1.25, -3, 1, 1)]),
        ([f64(-1, 8), -9, -0.5, new([4], "float64")], [K, f64(-1.5, 17, 1, 1)]),
    ]
    ask(book, "tir.function.c-interface", "TIR-001 TIR-330", text, *calls)
    kinds = """
T.func_attr({"calling_conv": 1, "global_symbol": "__tvm_ffi_main"})
T.tvm_struct_set(result, 0, 13, 1)
T.tvm_struct_set(result, 0, 14, 0)
T.tvm_struct_set(result, 0, 15, T.int64(num_args) * T.int64(1000) + T.Cast("int64", T.tvm_struct_get(args, 0, 13, "int32")))
T.ret(0)
"""
    text = tir(params, kinds, head).replace("):\n", ") -> T.int32:\n", 1)
    calls = [
        ([{"null": True}], [1000]),
        ([5, 6], [2001]),
        ([True], [1002]),
        ([0.5], [1003]),
        ([(2, 3)], [1069]),
    ]
    ask(book, "tir.function.c-interface-kinds", "TIR-001 TIR-330", text, *calls)
    for name, passed, kind in (("text", '"word"', 8), ("float", "T.float32(2)", 3), ("truth", "T.bool(True)", 2)):
        main = ("main", 'R: T.Buffer((1,), "int32")', f'R[0] = T.call_packed("kind", {passed})')
        own = ("kind", params, kinds.replace("__tvm_ffi_main", "kind"), "T.int32")
        ask(
            book,
            f"tir.packed.kind-of-{name}",
            "TIR-341 TIR-330",
            module(main, own),
            ([new([1], "int32")], i32(1000 + kind)),
        )
    given = """
t: T.let[T.handle] = T.tvm_stack_alloca("array", 2)
{}
s: T.let[T.handle] = T.tvm_stack_alloca("tvm_ffi_any", 3)
T.tvm_struct_set(s, 0, 13, 7)
T.tvm_struct_set(s, 0, 15, T.tvm_struct_get(t, 1, 0, T.handle().ty))
T.tvm_struct_set(s, 1, 13, 7)
T.tvm_struct_set(s, 1, 15, T.tvm_struct_get(t, 0, 0, T.handle().ty))
T.evaluate(T.call_packed_lowered("see", s, 0, 2))
"""
    shape = "T.tvm_struct_get(p, 0, 2, T.handle().ty)"
    data = "T.tvm_struct_get(p, 0, 1, T.handle().ty)"
    main = (
        "main",
        'p: T.handle, R: T.Buffer((1,), "float32")',
        given.format(OUTPUT + "\n" + record(1, f1=data, f2=shape)),
    )
    a = np.array([[1, -2, 3], [5, -7, 4]], np.float32)
    see = ("see", "a: T.handle, r: T.handle", SEE.replace("STRIDES", ""))
    ask(
        book,
        "tir.lowered.record-of-a-tensor",
        "TIR-331 TIR-330",
        module(main, see),
        ([a, new([1], "float32")], [K, folded(a)]),
        ([a.T.copy(), new([1], "float32")], [K, folded(a.T)]),
    )
