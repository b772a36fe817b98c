"""TensorIR by hand: elements that arrays of structures do not have, fields that nothing set, memory that is locked."""

from calls_outside import called
from calls_packed import module
from hand import ask, f32, i32, new, tir, undefined


def mended(book):
    """What was found out of bounds, unset or unsuited."""
    out = 'R: T.Buffer((1,), "int32")'
    get = 's: T.let[T.handle] = T.tvm_stack_alloca("{}", 2)\nR[0] = 1\n{}'
    values = 'T.tvm_struct_set(s, 1, 15, T.int64(5))\nR[0] = T.Cast("int32", «T.tvm_struct_get(s, -1, 15, "int64")»)'
    kinds = 'T.tvm_struct_set(s, 1, 13, 3)\nR[0] = «T.tvm_struct_get(s, -1, 13, "int32")»'
    ranks = 'T.tvm_struct_set(s, 1, 4, 3)\nR[0] = «T.tvm_struct_get(s, -1, 4, "int32")»'
    rows = {
        "value-below": ("tvm_ffi_any", values),
        "kind-below": ("tvm_ffi_any", kinds),
        "rank-below": ("array", ranks),
        "value-written-below": ("tvm_ffi_any", "«T.tvm_struct_set(s, -1, 15, T.int64(5))»"),
        "rank-written-below": ("array", "«T.tvm_struct_set(s, -1, 4, 3)»"),
        "value-of-a-tensor-written": ("array", "«T.tvm_struct_set(s, 0, 15, T.int64(3))»"),
        "address-written": ("array", "«T.tvm_struct_set(s, 0, 0, R.data)»"),
        "extent-unset": ("shape", 'R[0] = T.Cast("int32", «T.tvm_struct_get(s, 0, 17, "int64")»)'),
        "extent-beyond": ("shape", 'R[0] = T.Cast("int32", «T.tvm_struct_get(s, 2, 17, "int64")»)'),
        "extent-below": ("shape", 'R[0] = T.Cast("int32", «T.tvm_struct_get(s, -1, 17, "int64")»)'),
    }
    for name, (kind, body) in rows.items():
        text = tir(out, get.format(kind, body))
        ask(book, f"undefined.record.{name}", "TIR-330 TIR-329", text, ([new([1], "int32")], undefined("RM313")))
    shape = "T.tvm_struct_get(p, 0, 2, T.handle().ty)"
    text = tir("p: T.handle, " + out, f'R[0] = T.Cast("int32", «T.tvm_struct_get({shape}, -1, 17, "int64")»)')
    given = i32(1, 2, 3)
    ask(
        book,
        "undefined.record.extent-of-a-tensor-below",
        "TIR-330",
        text,
        ([given, new([1], "int32")], undefined("RM313")),
    )
    give = ("give", "", called("give") + "T.ret(T.int64(4294967296))", "T.int64")
    main = ("main", 'R: T.Buffer((1,), "float32")', 'R[0] = T.call_extern("float32", "give")')
    ask(book, "tir.extern.declared-large", "TIR-342 TIR-117", module(main, give), ([new([1], "float32")], f32(2.0**32)))
    locked = {"dtype": "int32", "shape": [4], "values": [1, 2, 3, 4], "locked": True}
    rows = {"element": "«V[2] = 7»", "lanes": "«V[0:4] = T.Ramp(0, 1, 4)»"}
    for name, store in rows.items():
        text = tir('A: T.Buffer((4,), "int32")', f'V = T.decl_buffer((4,), "int32", data=A.data)\n{store}')
        ask(book, f"undefined.locked.{name}", "TIR-205", text, ([locked], undefined("RM313")))
