"""TensorIR by hand: the structures that lowered calls are made of, field by field."""

import numpy as np
from hand import K, ask, i32, i64, new, tir, undefined

FIELDS = tir(
    'p: T.handle, R: T.Buffer((12,), "int64")',
    """
for i in range(12):
    R[i] = T.int64(-9)
R[0] = T.Cast("int64", T.tvm_struct_get(p, 0, 4, "int32"))
R[1] = T.Cast("int64", T.tvm_struct_get(p, 0, 5, "uint8"))
R[2] = T.Cast("int64", T.tvm_struct_get(p, 0, 6, "uint8"))
R[3] = T.Cast("int64", T.tvm_struct_get(p, 0, 7, "uint16"))
R[4] = T.Cast("int64", T.tvm_struct_get(p, 0, 8, "uint64"))
R[5] = T.Cast("int64", T.tvm_struct_get(p, 0, 9, "int32"))
R[6] = T.Cast("int64", T.tvm_struct_get(p, 0, 10, "int32"))
q: T.let[T.handle] = T.tvm_struct_get(p, 0, 0, T.handle().ty)
shape: T.let[T.handle("int64")] = T.tvm_struct_get(q, 0, 2, T.handle("int64").ty)
for i in range(T.tvm_struct_get(q, 0, 4, "int32")):
    R[8 + i] = T.tvm_struct_get(shape, i, 17, "int64")
""",
)
# DLPack: 0 int, 1 uint, 2 float, 4 bfloat, 6 bool; the bits of one lane
TENSORS = [
    ("float32", (2, 3), 2, 32),
    ("int8", (5,), 0, 8),
    ("uint16", (), 1, 16),
    ("bool", (1, 0, 4), 6, 8),
    ("bfloat16", (4, 1, 3, 2), 4, 16),
    ("int64", (7,), 0, 64),
]
STRIDED = tir(
    'p: T.handle, R: T.Buffer((4,), "float64")',
    """
strides: T.let[T.handle("int64")] = T.tvm_struct_get(p, 0, 3, T.handle("int64").ty)
D = T.decl_buffer((9,), "float64", data=T.tvm_struct_get(p, 0, 1, T.handle("float64").ty))
R[0] = D[0]
R[1] = D[T.tvm_struct_get(strides, 0, 17, "int64")]
R[2] = D[T.tvm_struct_get(strides, 1, 17, "int64")]
R[3] = D[T.tvm_struct_get(strides, 0, 17, "int64") + T.tvm_struct_get(strides, 1, 17, "int64") * T.int64(2)]
""",
)
DATA = tir(
    'p: T.handle, R: T.Buffer((3,), "int32")',
    """
D = T.decl_buffer((3,), "int32", data=T.tvm_struct_get(p, 0, 1, T.handle("int32").ty))
for i in range(3):
    R[i] = D[2 - i]
    D[2 - i] = i
""",
)


def fields(book):
    """The fields of a tensor, of an array of values, of an array of tensors."""
    calls = []
    for dtype, shape, code, bits in TENSORS:
        row = [len(shape), code, bits, 1, 0, 0, 1, -9, *shape]
        given = {"dtype": dtype, "shape": list(shape), "generator": "fill", "value": False if dtype == "bool" else 0}
        given["value"] = "0x0p+0" if "float" in dtype else given["value"]
        calls.append(([given, new([12], "int64")], [K, i64(*row, *[-9] * (12 - len(row)))]))
    ask(book, "tir.record.fields-of-a-tensor", "TIR-330", FIELDS, *calls)
    strided = {"dtype": "float64", "shape": [2, 3], "values": [f"0x{v:x}p+0" for v in range(6)]}
    ask(
        book,
        "tir.record.strides-of-a-tensor",
        "TIR-330",
        STRIDED,
        (
            [{**strided, "strides": [1, 3]}, new([4], "float64")],
            [K, np.array([0, 3, 1, 5], np.float64)],
        ),
        (
            [{**strided, "strides": [4, 1], "offset": 3}, new([4], "float64")],
            [K, np.array([0, 3, 1, 5], np.float64)],
        ),
    )
    ask(
        book,
        "tir.record.data-of-a-tensor",
        "TIR-330 TIR-207",
        DATA,
        ([i32(7, 8, 9), new([3], "int32")], [i32(2, 1, 0), i32(9, 8, 7)]),
        (
            [{"dtype": "int32", "shape": [3], "values": [4, 5, 6], "offset": 2}, new([3], "int32")],
            [i32(2, 1, 0), i32(6, 5, 4)],
        ),
    )
    no_field(book)
    each_field(book)
    values(book)


def no_field(book):
    """What has no such field, or no such element."""
    get = 'p: T.handle, R: T.Buffer((1,), "int64")'
    for field in (11, 12, 13, 15, 17, -1):
        ask(
            book,
            f"undefined.record.tensor-field-{field}".replace("--1", "-below"),
            "TIR-330",
            tir(get, f'R[0] = «T.tvm_struct_get(p, 0, {field}, "int64")»'),
            ([i32(1, 2), new([1], "int64")], undefined("RM313")),
        )
    null = 'R: T.Buffer((1,), "int64")'
    ask(
        book,
        "undefined.record.field-of-null",
        "TIR-330 TIR-332",
        tir(null, 'R[0] = «T.tvm_struct_get(T.reinterpret("handle", T.uint64(0)), 0, 4, "int64")»'),
        ([new([1], "int64")], undefined("RM313")),
    )
    stacks = {"values": "tvm_ffi_any", "tensors": "array", "extents": "shape"}
    for name, kind in stacks.items():
        made = f's: T.let[T.handle] = T.tvm_stack_alloca("{kind}", 2)\n'
        well = {"values": 15, "tensors": 4, "extents": 17}[name]
        rows = {"beyond": (2, well), "field-of-another": (0, {"values": 17, "tensors": 15, "extents": 15}[name])}
        for what, (at, field) in rows.items():
            if (name, what) == ("extents", "beyond"):
                continue
            ask(
                book,
                f"undefined.record.{name}-{what}-read",
                "TIR-330 TIR-329",
                tir(null, made + f'R[0] = «T.tvm_struct_get(s, {at}, {field}, "int64")»'),
                ([new([1], "int64")], undefined("RM313")),
            )
            if name == "extents" or (name, what) == ("tensors", "field-of-another"):
                continue
            ask(
                book,
                f"undefined.record.{name}-{what}-written",
                "TIR-330 TIR-329",
                tir(null, made + f"R[0] = T.int64(1)\n«T.tvm_struct_set(s, {at}, {field}, T.int64(3))»"),
                ([new([1], "int64")], undefined("RM313")),
            )
    ask(
        book,
        "undefined.record.tensor-never-set",
        "TIR-330 TIR-329",
        tir(
            null,
            's: T.let[T.handle] = T.tvm_stack_alloca("array", 2)\nT.tvm_struct_set(s, 1, 4, 3)\n'
            'R[0] = T.Cast("int64", T.tvm_struct_get(s, 1, 4, "int32"))\n'
            'R[0] = T.Cast("int64", «T.tvm_struct_get(s, 0, 4, "int32")»)',
        ),
        ([new([1], "int64")], undefined("RM313")),
    )


VALUES = tir(
    'n: T.int64, x: T.float64, R: T.Buffer((10,), "int64"), S: T.Buffer((4,), "float64")',
    """
s: T.let[T.handle] = T.tvm_stack_alloca("tvm_ffi_any", 4)
for i in range(4):
    T.tvm_struct_set(s, i, 13, 1 + i % 2 * 2)
    T.tvm_struct_set(s, i, 14, 0)
for i in range(2):
    T.tvm_struct_set(s, i * 2, 15, n + T.Cast("int64", i))
    T.tvm_struct_set(s, i * 2 + 1, 15, x + T.Cast("float64", i))
for i in range(4):
    R[i] = T.Cast("int64", T.tvm_struct_get(s, i, 13, "int32"))
for i in range(2):
    R[4 + i] = T.tvm_struct_get(s, i * 2, 15, "int64")
    S[i] = T.tvm_struct_get(s, i * 2 + 1, 15, "float64")
    T.tvm_struct_set(s, i * 2, 15, T.int64(100) + T.Cast("int64", i))
    R[6 + i] = T.tvm_struct_get(s, i * 2, 15, "int64")
    R[8 + i] = T.tvm_struct_get(s, 2, 15, "int64")
    S[2 + i] = T.tvm_struct_get(s, 3, 15, "float64")
""",
)
SHAPES = tir(
    'R: T.Buffer((4,), "int64")',
    """
s: T.let[T.handle("int64")] = T.tvm_stack_alloca("shape", 3)
E = T.decl_buffer((3,), "int64", data=s)
for i in range(3):
    E[i] = T.int64(5) * T.Cast("int64", i * i) - T.int64(1)
for i in range(3):
    R[i] = T.tvm_struct_get(s, i, 17, "int64")
R[3] = T.tvm_struct_get(T.handle_add_byte_offset(s, 8), 1, 17, "int64")
""",
)
TENSOR_RECORDS = tir(
    'R: T.Buffer((8,), "int64")',
    """
s: T.let[T.handle] = T.tvm_stack_alloca("array", 3)
for i in range(3):
    T.tvm_struct_set(s, i, 4, 2 + i)
    T.tvm_struct_set(s, i, 8, T.Cast("uint64", i * 8))
    T.tvm_struct_set(s, i, 9, i)
q: T.let[T.handle] = T.tvm_struct_get(s, 1, 0, T.handle().ty)
T.tvm_struct_set(s, 2, 4, 9)
for i in range(3):
    R[i] = T.Cast("int64", T.tvm_struct_get(s, i, 4, "int32"))
    R[3 + i] = T.Cast("int64", T.tvm_struct_get(s, i, 8, "uint64"))
R[6] = T.Cast("int64", T.tvm_struct_get(q, 0, 4, "int32")) + T.Cast("int64", T.tvm_struct_get(q, 0, 9, "int32"))
T.tvm_struct_set(q, 0, 4, 7)
p: T.let[T.handle] = T.tvm_struct_get(q, 0, 0, T.handle().ty)
R[7] = T.Cast("int64", T.tvm_struct_get(s, 1, 4, "int32")) * T.int64(10) + T.Cast("int64", T.tvm_struct_get(p, 0, 4, "int32"))
""",
)


def values(book):
    """Fields keep what was put into them, each element its own."""
    ask(
        book,
        "tir.record.values",
        "TIR-330 TIR-329",
        VALUES,
        (
            [5, 0.5, new([10], "int64"), new([4], "float64")],
            [i64(1, 3, 1, 3, 5, 6, 100, 101, 6, 101), np.array([0.5, 1.5, 1.5, 1.5])],
        ),
        (
            [-1, -8.0, new([10], "int64"), new([4], "float64")],
            [i64(1, 3, 1, 3, -1, 0, 100, 101, 0, 101), np.array([-8.0, -7.0, -7.0, -7.0])],
        ),
    )
    ask(
        book,
        "tir.record.extents",
        "TIR-330 TIR-329 TIR-323",
        SHAPES,
        ([new([4], "int64")], i64(-1, 4, 19, 19)),
    )
    ask(
        book,
        "tir.record.tensors",
        "TIR-330 TIR-329",
        TENSOR_RECORDS,
        ([new([8], "int64")], i64(2, 3, 9, 0, 8, 16, 4, 77)),
    )


def each_field(book):
    """One structure and one field at a time."""
    out = 'R: T.Buffer((1,), "int32")'
    rows = [
        (
            "address-of-an-address",
            (
                's: T.let[T.handle] = T.tvm_stack_alloca("array", 2)\nT.tvm_struct_set(s, 1, 4, 7)\n'
                "q: T.let[T.handle] = T.tvm_struct_get(s, 1, 0, T.handle().ty)\n"
                "p: T.let[T.handle] = T.tvm_struct_get(q, 0, 0, T.handle().ty)\n"
                'R[0] = T.tvm_struct_get(p, 0, 4, "int32")'
            ),
            7,
        ),
        (
            "written-at-an-address",
            (
                's: T.let[T.handle] = T.tvm_stack_alloca("array", 2)\n'
                "q: T.let[T.handle] = T.tvm_struct_get(s, 1, 0, T.handle().ty)\n"
                "T.tvm_struct_set(q, 0, 9, 6)\nT.tvm_struct_set(s, 0, 9, 5)\n"
                'R[0] = T.tvm_struct_get(s, 1, 9, "int32")'
            ),
            6,
        ),
        (
            "type-of-a-value",
            (
                's: T.let[T.handle] = T.tvm_stack_alloca("tvm_ffi_any", 2)\nT.tvm_struct_set(s, 1, 13, 3)\n'
                'T.tvm_struct_set(s, 0, 13, 1)\nR[0] = T.tvm_struct_get(s, 1, 13, "int32")'
            ),
            3,
        ),
        (
            "padding-apart",
            (
                's: T.let[T.handle] = T.tvm_stack_alloca("tvm_ffi_any", 2)\nT.tvm_struct_set(s, 1, 14, 0)\n'
                "T.tvm_struct_set(s, 1, 15, T.int64(9))\nT.tvm_struct_set(s, 1, 14, 0)\n"
                'R[0] = T.Cast("int32", T.tvm_struct_get(s, 1, 15, "int64"))'
            ),
            9,
        ),
        (
            "extent-behind-a-pointer",
            (
                'E = T.decl_buffer((3,), "int64", data=T.tvm_stack_alloca("shape", 3))\n'
                "E[0] = T.int64(4)\nE[1] = T.int64(5)\nE[2] = T.int64(6)\n"
                'R[0] = T.Cast("int32", T.tvm_struct_get(T.handle_add_byte_offset(E.data, 8), 1, 17, "int64"))'
            ),
            6,
        ),
    ]
    for name, body, expected in rows:
        ask(book, f"tir.record.{name}", "TIR-330 TIR-329", tir(out, body), ([new([1], "int32")], i32(expected)))
    tensor = 'p: T.handle, R: T.Buffer((1,), "int32")'
    given = {"dtype": "float32", "shape": [2, 5], "generator": "fill", "value": "0x0p+0"}
    rows = [
        ("rank", 'R[0] = T.tvm_struct_get(p, 0, 4, "int32")', 2),
        ("code", 'R[0] = T.Cast("int32", T.tvm_struct_get(p, 0, 5, "uint8"))', 2),
        ("bits", 'R[0] = T.Cast("int32", T.tvm_struct_get(p, 0, 6, "uint8"))', 32),
        ("lanes", 'R[0] = T.Cast("int32", T.tvm_struct_get(p, 0, 7, "uint16"))', 1),
        ("byte-offset", 'R[0] = T.Cast("int32", T.tvm_struct_get(p, 0, 8, "uint64"))', 0),
        ("device", 'R[0] = T.tvm_struct_get(p, 0, 9, "int32")', 0),
        ("kind-of-device", 'R[0] = T.tvm_struct_get(p, 0, 10, "int32")', 1),
        (
            "address",
            'R[0] = T.tvm_struct_get(T.tvm_struct_get(p, 0, 0, T.handle().ty), 0, 4, "int32")',
            2,
        ),
        (
            "last-extent",
            'R[0] = T.Cast("int32", T.tvm_struct_get(T.tvm_struct_get(p, 0, 2, T.handle().ty), 1, 17, "int64"))',
            5,
        ),
    ]
    for name, body, expected in rows:
        ask(
            book,
            f"tir.record.tensor-{name}",
            "TIR-330",
            tir(tensor, body),
            ([given, new([1], "int32")], [K, i32(expected)]),
        )
    extents = "T.tvm_struct_get(p, 0, 2, T.handle().ty)"
    for name, at, field in (("beyond", 2, 17), ("other-field", 0, 15)):
        ask(
            book,
            f"undefined.record.extents-of-a-tensor-{name}",
            "TIR-330",
            tir(tensor, f'R[0] = T.Cast("int32", «T.tvm_struct_get({extents}, {at}, {field}, "int64")»)'),
            ([given, new([1], "int32")], undefined("RM313")),
        )
    for count in (2, 8, 16):
        body = f"""
E = T.decl_buffer(({count + 1},), "int64", data=T.tvm_stack_alloca("shape", {count}))
E[{count - 1}] = T.int64(3)
R[0] = 1
«E[{count}] = T.int64(4)»
"""
        text = tir(out, body.strip("\n"))
        ask(
            book,
            f"undefined.record.room-for-{count}",
            "TIR-329 TIR-207",
            text,
            ([new([1], "int32")], undefined("RM304")),
        )
    held = 's: T.let[T.handle] = T.tvm_stack_alloca("tvm_ffi_any", 1)\nT.tvm_struct_set(s, 0, 15, {})\nR[0] = 1\n{}'
    for name, value, dtype in (
        ("too-large", "T.int64(2147483648)", "int32"),
        ("below-zero", "T.int64(-1)", "uint8"),
        ("fraction", "T.float64(0.5)", "int64"),
        ("no-truth", "T.int64(2)", "bool"),
        ("handle", "R.data", "int64"),
    ):
        read = f'T.evaluate(T.Cast("int32", «T.tvm_struct_get(s, 0, 15, "{dtype}")»))'
        ask(
            book,
            f"undefined.record.value-{name}",
            "TIR-330",
            tir(out, held.format(value, read)),
            ([new([1], "int32")], undefined("RM313")),
        )
    for name, value, dtype, expected in (
        ("truth", "T.int64(1)", "bool", 1),
        ("no-truth", "T.int64(0)", "bool", 0),
    ):
        read = f'R[0] = T.Cast("int32", T.tvm_struct_get(s, 0, 15, "{dtype}"))'
        ask(
            book,
            f"tir.record.value-{name}",
            "TIR-330",
            tir(out, held.format(value, read)),
            ([new([1], "int32")], i32(expected)),
        )
