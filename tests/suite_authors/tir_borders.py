"""TensorIR by hand: workspaces after their life, the last bytes of a shape, field numbers that no record has."""

from calls_outside import called
from calls_packed import module
from hand import K, ask, f32, i64, new, tir, undefined

WORKSPACE = """W = T.decl_buffer((2,), "float32", data=T.TVMBackendAllocWorkspace(1, 0, T.uint64(8), 2, 32))
W[0] = T.float32(1)
R[0] = W[0]
T.evaluate(T.TVMBackendFreeWorkspace(1, 0, W.data))
"""


def borders(book):
    """Each is one step beyond what is defined, beside the last step that is."""
    out = 'R: T.Buffer((1,), "float32")'
    for name, store in {
        "written-after": "«W[0] = T.float32(2)»",
        "lanes-written-after": "«W[T.Ramp(0, 1, 2)] = T.Broadcast(T.float32(2), 2)»",
    }.items():
        text = tir(out, WORKSPACE + store)
        ask(book, f"undefined.workspace.{name}", "TIR-325", text, ([new([1], "float32")], undefined("RM316")))
    ask(book, "tir.workspace.written-before", "TIR-325", tir(out, WORKSPACE), ([new([1], "float32")], f32(1)))
    callee = ("put", 'p: T.handle("float32")', 'V = T.decl_buffer((1,), "float32", data=p)\n«V[0] = T.float32(2)»')
    main = ("main", out, WORKSPACE + "Module.put(W.data)")
    text = module(main, callee)
    ask(book, "undefined.workspace.written-by-another", "TIR-325", text, ([new([1], "float32")], undefined("RM316")))

    params = 'E: T.Buffer((2,), "int64"), p: T.int64, R: T.Buffer((1,), "int64")'
    get = 'R[0] = «T.tvm_struct_get(T.handle_add_byte_offset(E.data, p), 1, 17, "int64")»'
    for at in (1, 7, 8):
        args = [i64(3, 4), at, new([1], "int64")]
        name = f"undefined.record.extent-{at}-bytes-on"
        ask(book, name, "TIR-330 TIR-323", tir(params, get), (args, undefined("RM313")))
    text = tir(params, get.replace("«", "").replace("»", ""))
    ask(
        book, "tir.record.extent-no-bytes-on", "TIR-330 TIR-323", text, ([i64(3, 4), 0, new([1], "int64")], [K, i64(4)])
    )

    for kind, number in (("array", 11), ("array", 12), ("tvm_ffi_any", 11)):
        body = f's: T.let[T.handle] = T.tvm_stack_alloca("{kind}", 1)\nR[0] = T.float32(1)\n«T.tvm_struct_set(s, 0, {number}, 1)»'
        name = f"undefined.record.{kind.replace('_', '-')}-field-{number}"
        ask(book, name, "TIR-330 TIR-329", tir(out, body), ([new([1], "float32")], undefined("RM313")))

    main = ("main", out, 'R[0] = T.call_extern("float32", "give")')
    body = 'B = T.alloc_buffer((1,), "int64")\nB[0] = T.int64(-1)\nT.ret(T.Cast("uint64", B[0]))'
    text = module(main, ("give", "", called("give") + body, "T.uint64"))
    ask(book, "tir.extern.declared-largest", "TIR-342 TIR-117", text, ([new([1], "float32")], f32(2.0**64)))
    book.write("borders", "One step beyond what is defined: workspaces, shapes, fields of records.")
